"""Paths averaged over folds."""

from __future__ import annotations

import numpy as np
from experiment.small import dataset

from rankstudio.engine.analysis.fold_average import average_paths
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.units.fold_context import make_fold_context


def test_mean_and_one_standard_deviation_over_the_folds() -> None:
    plan, data = Plan("small", parameters={"regularization": 1.0}), dataset()
    paths = [make_fold_context(plan, f).path(Unit(f.number, 0, plan.combinations[0])) for f in data.folds]
    found = average_paths(paths)
    np.testing.assert_array_equal(found.x_values, paths[0].sizes)
    for k in range(len(found.x_values)):
        values = [path.validation["MAP"][k] for path in paths]
        mean = sum(values) / len(values)
        spread = (sum((v - mean) ** 2 for v in values) / (len(values) - 1)) ** 0.5
        across = found.validation["MAP"]
        np.testing.assert_allclose(
            [across.mean[k], across.low[k], across.high[k]], [mean, mean - spread, mean + spread]
        )
        criteria = [path.steps[k].criterion / path.divisor for path in paths]
        np.testing.assert_allclose(found.criterion.mean[k], np.mean(criteria))


def test_one_fold_has_no_spread_and_the_shortest_path_says_how_far() -> None:
    plan, data = Plan("small", parameters={"regularization": 1.0}), dataset()
    short = plan.changed(parameters={"regularization": 1.0, "n_features_to_select": 2})
    first, second = data.folds[:2]
    long_path = make_fold_context(plan, first).path(Unit(1, 0, plan.combinations[0]))
    alone = average_paths([long_path])
    np.testing.assert_array_equal(alone.criterion.low, alone.criterion.high)
    short_path = make_fold_context(short, second).path(Unit(2, 0, short.combinations[0]))
    assert average_paths([long_path, short_path]).x_values.tolist() == [1, 2]


def test_iterations_stand_side_by_side_by_their_number() -> None:
    plan, data = Plan("small", "ranksvm", {"C": 1.0, "max_iter": 3, "tol": 1e-12}), dataset()
    paths = [make_fold_context(plan, f).path(Unit(f.number, 0, plan.combinations[0])) for f in data.folds]
    found = average_paths(paths)
    assert found.x_values.tolist() == [1, 2, 3]
    objectives = [[step.criterion for step in path.steps] for path in paths]
    np.testing.assert_allclose(found.criterion.mean, np.mean(objectives, axis=0))
