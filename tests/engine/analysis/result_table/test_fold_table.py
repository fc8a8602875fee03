"""Folds as rows, with what they have in common below: over those in which a measure is defined."""

from __future__ import annotations

from math import isnan
from statistics import mean, stdev

import numpy as np
import pytest
from experiment.runs import fold, result
from experiment.small import dataset

from rankstudio.engine.analysis.result_table.fold_table import (
    average_paths,
    best_of_several,
    fold_rows,
    measure_rows,
    measure_summary,
)
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.units.fold_context import make_fold_context

NAN = float("nan")
MAP = Plan("x", measures=("MAP",))


def runs(*columns: list[float]) -> dict[int, RunResult]:
    return {
        key: result([fold(i, [value]) for i, value in enumerate(column, 1)])
        for key, column in enumerate(columns, 1)
    }


def test_mean_and_deviation_are_over_the_folds_that_have_a_value() -> None:
    rows = fold_rows([fold(i, [value]) for i, value in enumerate((0.4, 0.6, 0.5), 1)])
    assert [row.label for row in rows] == ["1", "2", "3", "mean", "sd"]
    assert rows[3].test["MAP"] == pytest.approx(mean([0.4, 0.6, 0.5]))
    assert rows[4].test["MAP"] == pytest.approx(stdev([0.4, 0.6, 0.5]))
    folds = [fold(1, [0.4]), fold(2, [0.6]), fold(3, [0.1])]
    folds[2].test["MAP"] = NAN  # type: ignore[index]
    assert fold_rows(folds)[3].test["MAP"] == pytest.approx(0.5)
    folds[1].test["MAP"] = NAN  # type: ignore[index]
    *_, average, spread = fold_rows(folds)
    assert average.test["MAP"] == 0.4
    assert isnan(spread.test["MAP"])


def test_one_fold_has_no_mean() -> None:
    assert [row.label for row in fold_rows([fold(3, [0.4])])] == ["3"]
    assert fold_rows([]) == []
    assert [row.label for row in measure_rows(runs([0.4]), "MAP")] == ["1"]
    assert measure_rows({}, "MAP") == []


def test_the_best_of_each_row_is_told_unless_all_are_equal() -> None:
    rows = measure_rows(runs([0.4, 0.5, 0.6], [0.4, 0.7, 0.5]), "MAP")
    assert [row.label for row in rows] == ["1", "2", "3", "mean", "sd"]
    assert [row.best for row in rows] == [None, 0.7, 0.6, pytest.approx(1.6 / 3), None]
    assert [row.values[1] for row in rows] == pytest.approx([0.4, 0.5, 0.6, 0.5, 0.1])


def test_of_an_error_the_least_is_best() -> None:
    made = runs([0.4, 0.5], [0.3, 0.6])
    for run in made.values():
        for one in run.folds:
            one.test["Disagreement"] = one.test["MAP"]  # type: ignore[index]
    assert [row.best for row in measure_rows(made, "Disagreement")][:2] == [0.3, 0.5]
    assert best_of_several([0.2, NAN, 0.1], "disagreement") == 0.1
    assert best_of_several([0.2, NAN, 0.1], "map") == 0.2
    assert best_of_several([0.2, NAN], "MAP") is None


def test_a_summary_has_means_deviations_and_sizes_over_the_folds() -> None:
    folds = [fold(1, [0.5]), fold(2, [0.6], (1, 2, 3))]
    found = measure_summary(MAP, folds)
    assert found.means["MAP"] == pytest.approx(0.55)
    assert found.deviations["MAP"] == pytest.approx(stdev([0.5, 0.6]))
    assert found.over_single["MAP"] == pytest.approx(0.55 - 0.1)
    assert (found.sizes, found.part) == ((1, 3), Part.TEST)
    folds[1].test["MAP"] = NAN  # type: ignore[index]
    found = measure_summary(MAP, folds)
    assert (found.means, found.deviations) == ({"MAP": 0.5}, {})
    assert measure_summary(MAP, []).means == {}


def test_without_a_test_part_the_validation_part_is_summed_up() -> None:
    one = fold(1, [0.5])
    one.test.clear()  # type: ignore[attr-defined]
    found = measure_summary(MAP, [one])
    assert (found.part, found.means) == (Part.CHOSEN_ON, {"MAP": 0.5})


def test_mean_and_one_standard_deviation_over_the_folds() -> None:
    plan, data = Plan("small", parameters={"regularization": 1.0}), dataset()
    paths = [
        make_fold_context(plan, f).path(Unit(f.number, 0, plan.combinations[0]))
        for f in data.folds
    ]
    found = average_paths(paths)
    np.testing.assert_array_equal(found.x_values, paths[0].sizes)
    for k in range(len(found.x_values)):
        values = [path.validation["MAP"][k] for path in paths]
        mean = sum(values) / len(values)
        spread = (sum((v - mean) ** 2 for v in values) / (len(values) - 1)) ** 0.5
        across = found.validation["MAP"]
        np.testing.assert_allclose(
            [across.mean[k], across.low[k], across.high[k]],
            [mean, mean - spread, mean + spread],
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
    short_path = make_fold_context(short, second).path(
        Unit(2, 0, short.combinations[0])
    )
    assert average_paths([long_path, short_path]).x_values.tolist() == [1, 2]


def test_iterations_stand_side_by_side_by_their_number() -> None:
    plan, data = (
        Plan("small", "ranksvm", {"C": 1.0, "max_iter": 3, "tol": 1e-12}),
        dataset(),
    )
    paths = [
        make_fold_context(plan, f).path(Unit(f.number, 0, plan.combinations[0]))
        for f in data.folds
    ]
    found = average_paths(paths)
    assert found.x_values.tolist() == [1, 2, 3]
    objectives = [[step.criterion for step in path.steps] for path in paths]
    np.testing.assert_allclose(found.criterion.mean, np.mean(objectives, axis=0))
