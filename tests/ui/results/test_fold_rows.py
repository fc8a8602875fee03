from math import isnan
from statistics import mean, stdev

import pytest
from experiment.runs import fold

from rankstudio.ui.results.fold_rows import fold_rows

NAN = float("nan")


def test_mean_and_deviation_are_over_the_folds_that_have_a_value():
    rows = fold_rows([fold(i, [value]) for i, value in enumerate((0.4, 0.6, 0.5), 1)])
    assert [row.label for row in rows] == ["1", "2", "3", "mean", "sd"]
    assert rows[3].test["MAP"] == pytest.approx(mean([0.4, 0.6, 0.5]))
    assert rows[4].test["MAP"] == pytest.approx(stdev([0.4, 0.6, 0.5]))
    folds = [fold(1, [0.4]), fold(2, [0.6]), fold(3, [0.1])]
    folds[2].test["MAP"] = NAN
    assert fold_rows(folds)[3].test["MAP"] == pytest.approx(0.5)
    folds[1].test["MAP"] = NAN
    *_, average, spread = fold_rows(folds)
    assert average.test["MAP"] == 0.4
    assert isnan(spread.test["MAP"])


def test_one_fold_has_no_mean():
    assert [row.label for row in fold_rows([fold(3, [0.4])])] == ["3"]
    assert fold_rows([]) == []
