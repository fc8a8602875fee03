"""A path as bytes and back: the same bits for every method; what is kept of models that are not linear."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from experiment.small import dataset, quick
from hypothesis import given
from hypothesis.extra.numpy import arrays
from representatives import every
from wording import naming

from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.plan.combinations import ParameterCombination, Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.results.subset_choices import SubsetChoices
from rankstudio.engine.experiment.runner import select_model
from rankstudio.engine.experiment.storage.codec import (
    StoredStep,
    pack_path,
    unpack_path,
)
from rankstudio.engine.experiment.units.fold_context import make_fold_context
from rankstudio.engine.methods.catalog import Method, methods
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Iteration, Step

UNIT = Unit(1, 0, ParameterCombination())
FLOATS = st.floats(width=64)  # with NaN, infinity, -0.0 and what is subnormal
COMMON = ("number", "selected", "coef", "criterion", "candidates", "before")


def bits(value: Any) -> object:
    """What is equal only for equal bits; NaN has its bits too."""
    return (
        np.asarray(value).tobytes() if isinstance(value, float | np.ndarray) else value
    )


def assert_same(step: Step, again: Step, names: tuple[str, ...] = COMMON) -> None:
    for name in names:
        assert bits(getattr(again, name)) == bits(getattr(step, name)), name


@st.composite
def steps(draw: st.DrawFn, n: int = 4) -> Step:
    common = {
        "number": draw(st.integers(1, 10**9)),
        "selected": tuple(draw(st.permutations(range(n)))[: draw(st.integers(0, n))]),
        "coef": draw(
            arrays(np.float64, n, elements=FLOATS | st.sampled_from([0.0, -0.0]))
        ),
        "criterion": draw(FLOATS),
        "candidates": draw(
            arrays(np.float64, draw(st.sampled_from([0, n])), elements=FLOATS)
        ),
        "before": draw(FLOATS),
    }
    finite = st.floats(allow_nan=False)
    made: list[Step] = [
        Step(**common),
        Iteration(**common, gap=draw(finite), converged=draw(st.booleans())),
    ]
    return draw(st.sampled_from(made))


@given(
    path=st.lists(steps(), max_size=4),
    divisor=st.sampled_from([1.0, 7, 0.1]),
    data=st.data(),
)
def test_linear_steps_come_back_whole(
    path: list[Step], divisor: float, data: st.DataObject
) -> None:
    validation = {
        name: data.draw(arrays(np.float64, len(path), elements=FLOATS))
        for name in data.draw(st.sampled_from([(), ("MAP",), ("NDCG@10", "MAP")]))
    }
    along = data.draw(st.sampled_from(StepKind))
    given = PathResult(UNIT, HeldSteps(path), validation, divisor, along)
    again = unpack_path(
        pack_path(given, path[-1] if path else None, range(1, 5)), UNIT, range(1, 5)
    )
    assert (again.unit, again.divisor, again.step_kind) == (UNIT, divisor, along)
    assert [(k, bits(v)) for k, v in again.validation.items()] == [
        (k, bits(v)) for k, v in validation.items()
    ]
    for step, back in zip(given.steps, again.steps, strict=True):
        assert type(back) is type(step)
        extras = tuple(name for name in ("gap", "converged") if hasattr(step, name))
        assert_same(step, back, COMMON + extras)
        assert all(
            type(getattr(back, name)) is type(getattr(step, name)) for name in extras
        )


def test_a_step_of_an_unknown_class_becomes_a_plain_one() -> None:
    @dataclass(frozen=True, eq=False)
    class Other(Step):
        depth: int

    step = Other(1, (0,), np.ones(2), 0.5, np.empty(0), 7)
    again = unpack_path(
        pack_path(PathResult(UNIT, HeldSteps((step,)), {}, 1.0), step, (1, 2)),
        UNIT,
        (1, 2),
    )
    assert type(again.steps[0]) is Step
    assert_same(step, again.steps[0])


def ranked_by(entry: Method) -> Plan:
    return Plan(
        "small", "single-feature", ranker=entry.key, ranker_parameters=quick(entry)
    )


PLANS = {entry.key: Plan("small", entry.key, quick(entry)) for entry in methods()}
PLANS |= {
    f"ranked by {entry.key}": ranked_by(entry)
    for entry in methods()
    if not entry.selects
}


@every("plan", PLANS)
def test_the_path_of_every_method_comes_back(plan: Plan) -> None:
    fold = dataset(1).folds[0]
    path = make_fold_context(plan, fold).path(Unit(1, 0, plan.combinations[0]))
    chosen = select_model(plan, [path])
    ids = fold.train.feature_ids.tolist()
    again = unpack_path(pack_path(path, chosen.step, ids), path.unit, ids)
    assert select_model(plan, [again]).step.number == chosen.step.number
    assert fold.test is not None
    columns = np.ascontiguousarray(fold.test.X.T)
    for step, back in zip(path.steps, again.steps, strict=True):
        assert_same(step, back)
        # what others know besides is of interest to no one later
        kinds = {Step: Step, Iteration: Iteration}
        assert type(back) is (
            kinds.get(type(step), Step) if step.linear else StoredStep
        )
        if step.linear or step is chosen.step:
            assert bits(back.scores(columns)) == bits(step.scores(columns))
            assert back.beyond_weights(ids) == step.beyond_weights(ids)


@pytest.mark.ability("baselines")
def test_a_model_that_was_not_kept_says_so() -> None:
    entry = next(m for m in methods() if m.key == "rankboost")
    plan = Plan("small", entry.key, quick(entry))
    fold = dataset(1).folds[0]
    path = make_fold_context(plan, fold).path(Unit(1, 0, plan.combinations[0]))
    ids = fold.train.feature_ids.tolist()
    last, first = (
        path.steps[-1],
        unpack_path(pack_path(path, path.steps[-1], ids), path.unit, ids).steps[0],
    )
    assert not last.linear
    for ask in (
        lambda: first.scores(np.zeros((6, 2))),
        lambda: first.beyond_weights(ids),
    ):
        with pytest.raises(StoreError, match=naming("1 study model")):
            ask()


def test_damaged_bytes_are_told() -> None:
    rng = np.random.default_rng(0)
    step = Step(1, (0,), rng.normal(size=5), 0.5, rng.normal(size=5))
    content = pack_path(
        PathResult(UNIT, HeldSteps((step,)), {"MAP": np.ones(1)}, 1.0),
        step,
        range(1, 6),
    )
    for damaged in (
        b"",
        content[: len(content) // 2],
        content[:100] + b"\0\0\0\0" + content[104:],
    ):
        with pytest.raises(StoreError, match=naming("1 fold")):
            unpack_path(damaged, UNIT, range(1, 6))


def with_choices(per_query: dict[str, np.ndarray]) -> PathResult:
    steps = [Step(number, (0,), np.ones(2), 0.5, np.empty(0)) for number in (1, 2, 3)]
    choices = SubsetChoices(
        np.array([2, -1, 0, 2]), np.array([0.5, -np.inf, 0.25, 0.1 + 0.2]), per_query
    )
    return PathResult(UNIT, HeldSteps(steps), {"MAP": np.ones(3)}, 1.0, choices=choices)


@pytest.mark.parametrize(
    "per_query",
    [{}, {"MAP": np.array([[0.1, np.nan, 0.3]] * 2), "ERR": np.zeros((2, 3))}],
)
def test_choices_on_subsets_come_back(per_query: dict[str, np.ndarray]) -> None:
    path = with_choices(per_query)
    again = unpack_path(pack_path(path, path.steps[0], (1, 2)), UNIT, (1, 2))
    assert path.choices
    assert again.choices
    assert bits(again.choices.positions) == bits(path.choices.positions)
    assert bits(again.choices.gains) == bits(path.choices.gains)
    assert {k: bits(v) for k, v in again.choices.per_query.items()} == {
        k: bits(v) for k, v in per_query.items()
    }


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("choices", np.array([3, 0, 0, 0])),
        ("choices", np.array([-2, 0, 0, 0])),
        ("choices", np.array([0.0, 1.0, 2.0, 2.0])),
        ("choices", np.empty(0, dtype=np.int64)),
        ("choice_gains", np.zeros(3)),
        ("choice_measures", np.zeros((1, 3, 3))),
        ("choice_measures", np.zeros((2, 2, 3))),
    ],
)
def test_choices_that_cannot_be_are_told(name: str, values: np.ndarray) -> None:
    path = with_choices({"MAP": np.zeros((2, 3))})
    with np.load(io.BytesIO(pack_path(path, path.steps[0], (1, 2)))) as archive:
        arrays = {**archive, name: values}
    changed = io.BytesIO()
    np.savez_compressed(changed, **arrays)
    with pytest.raises(StoreError, match=naming("1 fold")):
        unpack_path(changed.getvalue(), UNIT, (1, 2))
