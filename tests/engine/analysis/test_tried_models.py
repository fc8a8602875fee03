"""The best models of a run's paths against the same, model by model."""

from __future__ import annotations

import numpy as np
import pytest
from experiment.small import dataset
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.analysis.tried_models import TriedPath, best_of_sizes, tried_models
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.steps import Step

VALUES = st.sampled_from([0.0, 0.1, 0.3, 0.7, float("nan")])


def path_of(values: list[float], fold: int) -> PathResult:
    steps = tuple(
        Step(i + 1, tuple(range(1 + i // 2)), np.zeros(9), 0.0, np.empty(0)) for i in range(len(values))
    )
    return PathResult(Unit(fold, 0, ()), HeldSteps(steps), {"MAP": np.array(values)}, 1.0)


@given(
    st.lists(
        st.lists(st.lists(VALUES, min_size=7, max_size=7), min_size=3, max_size=3), min_size=1, max_size=3
    ),
    st.sampled_from(["MAP", "Disagreement"]),
)
def test_the_best_of_a_size_is_the_first_with_the_best_mean(grid: list[list[list[float]]], name: str) -> None:
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
                model.mean < known[0] if name == "Disagreement" else model.mean > known[0]
            )
            if np.isfinite(model.mean) and better:
                best[model.size] = model.mean, path.combination, model.place
    found = best_of_sizes(paths, name)
    assert [one.size for one in found] == sorted(best)
    assert {one.size: (one.mean, one.combination, one.place) for one in found} == best


@pytest.mark.parametrize("method", ["greedy-rankrls", "fsmrank"])
def test_a_model_has_the_steps_and_values_of_all_folds(method: str) -> None:
    plan = Plan("small", method)
    result = next(event.result for event in run(plan, dataset(2)) if isinstance(event, RunFinished))
    for number, tried in enumerate(tried_models(result, "MAP")):
        for model in tried:
            for fold, step, value in zip(result.folds, model.steps, model.values, strict=True):
                path = fold.paths[number]
                position = next(i for i, own in enumerate(path.steps) if own is step)
                assert path.validation["MAP"][position] == value
            assert model.mean == np.mean(model.values)
    assert best_of_sizes(tried_models(result, "RR"), "RR") == []
