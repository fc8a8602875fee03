"""Cross-fitted measures against a plain loop that calls `select_model` on the other queries."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results import cross_fit
from rankstudio.engine.experiment.results.cross_fit import (
    N_GROUPS,
    N_SPLITS,
    ChosenModel,
    choose_on_subsets,
    chosen_models,
    query_groups,
    query_subsets,
    weighted_values,
)
from rankstudio.engine.experiment.results.model_selection import p_values, select_model
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.evaluator import average, standard_error
from rankstudio.engine.steps import Step

RULES = ("best", "at most 2", "one-se", "smallest")
MEASURES = ("MAP", "Disagreement")
PLAN = Plan("small", parameters={"regularization": (0.5, 1.0, 2.0)}, measures=MEASURES)
nan = float("nan")
_EVERY = 11  # subsets of all groups and divisions, by a slow loop


def path_of(
    setting: int, sizes: Sequence[int], kind: StepKind = StepKind.FEATURES
) -> PathResult:
    """A path of steps with these numbers of features."""
    steps = [
        Step(number, tuple(range(size)), np.zeros(9), 0.0, np.empty(0))
        for number, size in enumerate(sizes, start=1)
    ]
    return PathResult(
        Unit(1, setting, PLAN.combinations[setting]), HeldSteps(steps), {}, 1.0, kind
    )


def on_subset(
    plan: Plan, path: PathResult, parts: Sequence[Floats], subset: Bools
) -> PathResult:
    """The path as if there were only the queries of a subset."""
    ends = np.cumsum([values.shape[1] for values in parts])[:-1]
    some = [
        np.ascontiguousarray(values[:, mask])
        for values, mask in zip(parts, np.split(subset, ends), strict=True)
    ]
    means = [
        average(values) if values.shape[1] else np.full(len(values), nan)
        for values in some
    ]
    if len(parts) == 1:
        mean = means[0]
        errors = [standard_error(row) for row in some[0]]
    else:
        table = np.stack(means, axis=1)
        mean = average(table)
        errors = [standard_error(row) for row in table]
    measured = PathResult(
        path.unit,
        path.steps,
        {plan.select_by: mean},
        1.0,
        path.step_kind,
        standard_errors={plan.select_by: np.array(errors)},
    )
    p = p_values(plan, measured, some)
    return PathResult(
        path.unit,
        path.steps,
        measured.validation,
        1.0,
        path.step_kind,
        standard_errors=measured.standard_errors,
        p_values=p,
    )


def chosen_by_loop(
    plan: Plan, paths: Sequence[PathResult], values: Sequence[Sequence[Floats]]
) -> list[tuple[int, int]]:
    """Path and position of the model that `select_model` chooses on some subsets."""
    n_queries = sum(part.shape[1] for part in values[0])
    choices = []
    for subset in query_subsets(n_queries)[::_EVERY]:
        some = [
            on_subset(plan, path, parts, subset)
            for path, parts in zip(paths, values, strict=True)
        ]
        chosen = select_model(plan, some)
        choices.append(
            (
                chosen.unit.position,
                paths[chosen.unit.position].steps.position(chosen.step.number),
            )
        )
    return choices


def chosen_at_once(
    plan: Plan, paths: Sequence[PathResult], values: Sequence[Sequence[Floats]]
) -> list[tuple[int, int]]:
    """The same by the functions under test, read from the shares: the model of each query and division."""
    n_queries = sum(part.shape[1] for part in values[0])
    choices = [
        choose_on_subsets(plan, path, parts)
        for path, parts in zip(paths, values, strict=True)
    ]
    gains = np.stack([one.gains for one in choices if one])
    positions = np.stack([one.positions for one in choices if one])
    assert gains.shape == (len(paths), len(query_subsets(n_queries)))
    gains = np.where(positions < 0, -np.inf, gains)
    first = np.array(
        [
            next(i for i in np.argsort(-column, kind="stable") if places[i] >= 0)
            for column, places in zip(gains.T, positions.T, strict=True)
        ]
    )
    return [(int(i), int(positions[i, s])) for s, i in enumerate(first)]


COARSE = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
FINE = st.floats(0.0, 1.0)
WITH_NAN = st.sampled_from([0.0, 0.5, 1.0, nan])


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[PathResult], list[list[Floats]], str]:
    """Paths with values in each query: ties, undefined values, one part or several inner folds."""
    elements = draw(st.sampled_from([COARSE, FINE, WITH_NAN]))
    n_parts = draw(st.sampled_from([1, 1, 1, 2, 3]))
    n_queries = [draw(st.integers(1 if n_parts > 1 else 2, 14)) for _ in range(n_parts)]
    kind = draw(
        st.sampled_from([StepKind.FEATURES, StepKind.FEATURES, StepKind.ITERATIONS])
    )
    paths = []
    values = []
    for setting in range(draw(st.integers(1, 3))):
        sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
        sizes[0] = 1 if setting == 0 and kind is StepKind.FEATURES else sizes[0]
        if kind is StepKind.ITERATIONS:
            sizes[-1] = 1
        paths.append(path_of(setting, sizes, kind))
        values.append(
            [
                draw(arrays(np.float64, (len(sizes), n), elements=elements))
                for n in n_queries
            ]
        )
    return paths, values, draw(st.sampled_from(MEASURES))


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=10, deadline=None)
@given(problem=problems())
def test_choices_are_those_of_the_rule_on_the_other_queries(
    rule: str, problem: tuple[list[PathResult], list[list[Floats]], str]
) -> None:
    paths, values, name = problem
    plan = PLAN.changed(rule=rule, select_by=name)
    choices = chosen_at_once(plan, paths, values)
    assert choices[::_EVERY] == chosen_by_loop(plan, paths, values)
    n_queries = sum(part.shape[1] for part in values[0])
    offered = [
        choose_on_subsets(plan, *pair) for pair in zip(paths, values, strict=True)
    ]
    models = chosen_models([one for one in offered if one], n_queries)
    assert {(model.path, model.position) for model in models} == set(choices)
    rows = [
        np.concatenate(values[model.path], axis=1)[model.position] for model in models
    ]
    fitted = weighted_values(models, [{"MAP": row} for row in rows])["MAP"]
    groups = query_groups(n_queries)
    for query in range(n_queries):
        measured = []
        for split, group in enumerate(groups[:, query]):
            path, position = choices[split * min(n_queries, N_GROUPS) + group]
            measured.append(np.concatenate(values[path], axis=1)[position, query])
        np.testing.assert_allclose(
            fitted[query], average(np.array(measured)), rtol=1e-12, atol=1e-15
        )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("decimals", [1, 6])
def test_choices_along_a_path_of_similar_models_are_those_of_the_rule(
    rule: str, decimals: int
) -> None:
    rng = np.random.default_rng(11)
    noise = 0.03 * rng.normal(size=(40, 90)).cumsum(axis=0)
    values = np.round(np.clip(rng.random(90) + noise, 0.0, 1.0), decimals)
    values[:, 7] = nan
    plan, path = PLAN.changed(rule=rule), path_of(0, [k // 2 + 1 for k in range(40)])
    assert chosen_at_once(plan, [path], [[values]])[::_EVERY] == chosen_by_loop(
        plan, [path], [[values]]
    )


@pytest.mark.parametrize("rule", RULES)
def test_blocks_do_not_change_choices(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    values = rng.choice(5, size=(40, 31)) / 4.0
    plan, path = PLAN.changed(rule=rule), path_of(0, [k // 4 + 1 for k in range(40)])
    whole = choose_on_subsets(plan, path, [values])
    monkeypatch.setattr(cross_fit, "_MAX_VALUES", 100)
    blocks = choose_on_subsets(plan, path, [values])
    assert whole is not None and blocks is not None
    assert whole.positions.tobytes() == blocks.positions.tobytes()
    assert whole.gains.tobytes() == blocks.gains.tobytes()


@pytest.mark.parametrize("n_queries", [5, 6, 31, 157])
def test_groups_divide_the_queries_evenly_and_stay_the_same(n_queries: int) -> None:
    groups = query_groups(n_queries)
    assert groups.shape == (N_SPLITS, n_queries)
    for row in groups:
        counts = np.bincount(row, minlength=N_GROUPS)
        assert counts.min() >= n_queries // N_GROUPS
        assert counts.max() <= -(-n_queries // N_GROUPS)
    assert len({row.tobytes() for row in groups}) > 1
    query_groups.cache_clear()
    assert query_groups(n_queries).tobytes() == groups.tobytes()


def test_no_query_chooses_the_model_that_measures_it() -> None:
    for n_queries in (2, 4, 5, 23):
        groups, subsets = query_groups(n_queries), query_subsets(n_queries)
        per_split = min(n_queries, N_GROUPS)
        for split, row in enumerate(groups):
            for query, group in enumerate(row):
                assert not subsets[split * per_split + group, query]
        assert np.count_nonzero(~subsets) == len(groups) * n_queries


def test_one_query_chooses_nothing() -> None:
    assert choose_on_subsets(PLAN, path_of(0, [1, 2]), [np.ones((2, 1))]) is None
    assert chosen_models([], 1) == []


def test_a_measure_that_is_never_defined_chooses_the_first_model() -> None:
    choices = choose_on_subsets(PLAN, path_of(0, [1, 2, 3]), [np.full((3, 8), nan)])
    assert choices is not None
    assert set(choices.positions.tolist()) == {0}
    (model,) = chosen_models([choices], 8)
    assert np.isnan(weighted_values([model], [{"MAP": np.full(8, nan)}])["MAP"]).all()


def test_the_only_model_keeps_its_values_bit_by_bit() -> None:
    values = np.random.default_rng(1).random((1, 157))
    choices = choose_on_subsets(PLAN, path_of(0, [1]), [values])
    assert choices is not None
    (model,) = chosen_models([choices], 157)
    assert (
        weighted_values([model], [{"MAP": values[0]}])["MAP"].tobytes()
        == values[0].tobytes()
    )


def test_choices_of_another_number_of_queries_are_none() -> None:
    choices = choose_on_subsets(PLAN, path_of(0, [1]), [np.ones((1, 4))])
    assert choices is not None
    assert chosen_models([choices], 157) == []


def test_undefined_values_do_not_count() -> None:
    models = [
        ChosenModel(0, 0, np.array([0.25, 0.25, 0.0])),
        ChosenModel(0, 1, np.array([0.75, 0.75, 1.0])),
    ]
    rows = [{"MAP": np.array([nan, 0.5, nan])}, {"MAP": np.array([0.25, nan, 1.0])}]
    assert weighted_values(models, rows)["MAP"].tolist() == [0.25, 0.5, 1.0]


@pytest.mark.parametrize("n_models", [9, 50, 500])
def test_the_mean_estimates_the_measure_of_the_choice_on_new_queries(
    n_models: int,
) -> None:
    # True measures differ by 0.003, values in 157 queries by much more, so that the best one is lucky.
    rng = np.random.default_rng(n_models)
    path = path_of(0, [1] * n_models)
    n_queries = 157
    plain = []
    fitted = []
    for _ in range(60 if n_models > 100 else 200):
        truth = rng.normal(0.4, 0.003, n_models)
        values = truth[:, None] + rng.normal(0.0, 0.08, (n_models, n_queries))
        chosen = int(average(values).argmax())
        choices = choose_on_subsets(PLAN, path, [values])
        assert choices is not None
        models = chosen_models([choices], n_queries)
        row = weighted_values(
            models, [{"MAP": values[model.position]} for model in models]
        )["MAP"]
        plain.append(values[chosen].mean() - truth[chosen])
        fitted.append(row.mean() - truth[chosen])
    bias = np.mean(fitted)
    error = np.std(fitted, ddof=1) / np.sqrt(len(fitted))
    assert np.mean(plain) > 0.006
    assert bias < 3.0 * error  # not optimistic beyond the noise of the simulation
    assert abs(bias) < np.mean(plain) / 10.0 + 3.0 * error


@pytest.mark.parametrize("rule", ["best", "one-se", "smallest"])
def test_memory_does_not_grow_with_the_number_of_subsets(rule: str) -> None:
    values = np.random.default_rng(0).random(
        (150, 2000)
    )  # 2.4 MB, 100 subsets 192 MB, differences as much again
    path, plan = path_of(0, [1] * 150), PLAN.changed(rule=rule)
    tracemalloc.start()
    choose_on_subsets(plan, path, [values])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150e6
