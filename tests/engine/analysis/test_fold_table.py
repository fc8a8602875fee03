"""Folds as rows, with what they have in common below: over those in which a measure is defined."""

from __future__ import annotations

from math import isnan
from statistics import mean, stdev

import pytest
from experiment.runs import fold, result

from rankstudio.engine.analysis.fold_table import best_of_several, fold_rows, measure_rows, measure_summary
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult

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
    assert (found.sizes, found.part) == ((1, 3), "test")
    folds[1].test["MAP"] = NAN  # type: ignore[index]
    found = measure_summary(MAP, folds)
    assert (found.means, found.deviations) == ({"MAP": 0.5}, {})
    assert measure_summary(MAP, []).means == {}


def test_without_a_test_part_the_validation_part_is_summed_up() -> None:
    one = fold(1, [0.5])
    one.test.clear()  # type: ignore[attr-defined]
    found = measure_summary(MAP, [one])
    assert (found.part, found.means) == ("validation", {"MAP": 0.5})
