"""The best models of a run's paths against the same, model by model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from experiment.small import dataset, ended, part
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.analysis.tried_models.tried_models import (
    TriedPath,
    best_of_sizes,
    can_measure,
    tried_models,
    values_by_query,
)
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.steps import Step

VALUES = st.sampled_from([0.0, 0.1, 0.3, 0.7, float("nan")])


def path_of(values: list[float], fold: int) -> PathResult:
    steps = tuple(
        Step(i + 1, tuple(range(1 + i // 2)), np.zeros(9), 0.0, np.empty(0))
        for i in range(len(values))
    )
    return PathResult(
        Unit(fold, 0, ()), HeldSteps(steps), {"MAP": np.array(values)}, 1.0
    )


@given(
    st.lists(
        st.lists(st.lists(VALUES, min_size=7, max_size=7), min_size=3, max_size=3),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from(["MAP", "Disagreement"]),
)
def test_the_best_of_a_size_is_the_first_with_the_best_mean(
    grid: list[list[list[float]]], name: str
) -> None:
    paths = [
        TriedPath(
            number,
            tuple(path_of(values, fold) for fold, values in enumerate(folds)),
            np.repeat(np.arange(7)[:, None], 3, axis=1),
            np.array(folds).T.copy(),
        )
        for number, folds in enumerate(grid)
    ]
    best: dict[float, tuple[float, int, int]] = {}
    for path in paths:
        for position, model in enumerate(path):
            np.testing.assert_equal(path.means[position], model.mean)
            known = best.get(model.size)
            better = known is None or (
                model.mean < known[0]
                if name == "Disagreement"
                else model.mean > known[0]
            )
            if np.isfinite(model.mean) and better:
                best[model.size] = model.mean, path.combination, model.x_value
    found = best_of_sizes(paths, name)
    assert [one.size for one in found] == sorted(best)
    assert {one.size: (one.mean, one.combination, one.x_value) for one in found} == best


@pytest.mark.parametrize("method", ["greedy-rankrls", "fsmrank"])
def test_a_model_has_the_steps_and_values_of_all_folds(method: str) -> None:
    plan = Plan("small", method)
    result = ended(run(plan, dataset(2)))
    for number, tried in enumerate(tried_models(result, "MAP")):
        for model in tried:
            for fold, step, value in zip(
                result.folds, model.steps, model.values, strict=True
            ):
                path = fold.paths[number]
                position = next(i for i, own in enumerate(path.steps) if own is step)
                assert path.validation["MAP"][position] == value
            assert model.mean == np.mean(model.values)
    assert best_of_sizes(tried_models(result, "RR"), "RR") == []


DATA = dataset(3)


@pytest.mark.parametrize(
    "plan",
    [
        Plan("small", parameters={"regularization": (0.25, 4.0)}),
        Plan("small", "lambdamart", {"n_rounds": 4, "min_data_in_leaf": 5}),
        Plan("small", "ranksvm", {"C": 1.0, "max_iter": 20}),
    ],
    ids=lambda plan: plan.method,
)
@pytest.mark.parametrize("name", ["MAP", "MeanNDCG"])
def test_the_means_over_queries_are_the_paths_own(plan: Plan, name: str) -> None:
    result = ended(run(plan, DATA))
    assert can_measure(result, DATA, "MAP")
    for tried in tried_models(result, name):
        rows = values_by_query(
            result, DATA, list(zip(*(one.steps for one in tried), strict=True)), name
        )
        means = np.array([fold.mean(axis=1) for fold in rows]).T
        assert means == pytest.approx(np.array([one.values for one in tried]))
        kept = best_of_sizes([tried], name)
        assert [one.size for one in kept] == sorted({one.size for one in tried})
        for one in kept:
            assert one.mean == max(
                other.mean for other in tried if other.size == one.size
            )


def test_without_documents_to_validate_with_there_is_nothing_to_measure() -> None:
    result = ended(run(Plan("small", parameters={"regularization": 1.0}), DATA))
    without = FoldedDataset(
        "Small", None, tuple(replace(fold, vali=None) for fold in DATA.folds)
    )
    assert not can_measure(result, without, "MAP")
    assert not can_measure(result, FoldedDataset("Small", None, DATA.folds[:2]), "MAP")
    assert not can_measure(replace(result, folds=()), DATA, "MAP")
    none = part(1)
    bare = replace(
        none, X=none.X[:0], y=none.y[:0], query_ptr=none.query_ptr[:1], query_ids=()
    )
    empty = FoldedDataset(
        "Small", None, tuple(replace(fold, vali=bare) for fold in DATA.folds)
    )
    assert not can_measure(result, empty, "MAP")
    nested = replace(result, plan=result.plan.changed(protocol="3-fold, nested 2-fold"))
    assert not can_measure(nested, DATA, "MAP")
