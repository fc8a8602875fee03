"""The views of the Compare page by themselves: folds, stability and published results."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from experiment.runs import NAMES, fold, result
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from wording import naming

from rankstudio.engine.analysis.features.selection_stability import selection_stability
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.compare.folds_view import FoldsView
from rankstudio.ui.compare.literature_views import PublishedView
from rankstudio.ui.compare.stability_view import StabilityView
from rankstudio.ui.style.theme import Theme


@pytest.fixture
def folds_view(theme: Theme, stage: Callable[..., QWidget]) -> FoldsView:
    made = FoldsView(theme)
    stage(made, 900, 300)
    return made


def test_a_fold_without_measured_parts_is_shown_when_it_is_done(
    folds_view: FoldsView,
) -> None:
    plan = Plan(data="one file")
    folds_view.show_run("run 1", plan, ())
    assert not folds_view.table.rows_model.columns
    done = replace(fold(1, [0.5], (1, 2)), validation={}, test={})
    for _ in range(2):  # once more as each part of the run is finished
        folds_view.show_run("run 1", plan, [done])
    assert [column.key for column in folds_view.table.rows_model.columns][:1] == [
        "label"
    ]
    assert folds_view.table.rows()[0].size == 2


IDS = np.arange(1, len(NAMES) + 1)


@pytest.fixture
def stability_view(theme, stage):
    made = StabilityView(theme)
    stage(made, 1100, 300)
    return made


def found(n_folds):
    chosen = [(1, 2), (2, 3), (1, 2, 4)]
    return selection_stability(
        [fold(i + 1, [0.5], chosen[i % 3]) for i in range(n_folds)], IDS, NAMES
    )


def test_as_many_folds_as_queries_make_no_map_and_no_column_each(stability_view):
    stability_view.show_stability("run 1", found(200))
    assert stability_view.plot.is_empty()
    assert naming("folds map").search(stability_view.plot.placeholder)
    titles = [column.title for column in stability_view.table.rows_model.columns]
    assert titles == ["feature", "id", "folds"]
    assert [row.name for row in stability_view.table.rows()] == ["b", "a", "c", "d"]
    assert not stability_view.warning.isVisible()
    stability_view.show_stability("run 2", found(3))
    assert stability_view.plot.values.shape == (3, 3)
    assert [column.title for column in stability_view.table.rows_model.columns][3:] == [
        "fold 1",
        "fold 2",
        "fold 3",
    ]


def test_the_index_that_fits_the_sizes_is_offered(stability_view):
    stability_view.show_stability("run 1", found(3))
    assert [button.text() for button in stability_view.index._group.buttons()] == [
        "Jaccard",
        "Lustgarten",
    ]
    stability_view.index._group.buttons()[1].click()
    np.testing.assert_array_equal(
        stability_view.plot.values[::-1], found(3).indices.corrected
    )
    stability_view.show_stability("run 2", found(2))
    assert [button.text() for button in stability_view.index._group.buttons()] == [
        "Jaccard",
        "Kuncheva",
    ]
    stability_view.clear("nothing")
    assert stability_view.plot.is_empty()
    assert stability_view.caption() == "nothing"


def test_cells_are_read_by_the_keyboard(stability_view):
    stability_view.show_stability("run 1", found(3))
    stability_view.plot.flush()
    assert stability_view.plot.accessibleDescription().endswith(
        "mean over the pairs of folds 0.42"
    )  # 1/3, 2/3, 1/4
    stability_view.plot.setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right):
        QTest.keyClick(stability_view.plot, key)
    assert stability_view.plot.chosen == (0, 1)
    stability_view.plot.flush()
    assert stability_view.plot.accessibleDescription().endswith(
        "at fold = 2 · fold = 3"
    )


def test_all_indices_have_two_decimals(stability_view):
    told = found(3)
    nogueira = told.indices.nogueira._replace(value=-0.001, low=-0.4, high=0.00004)
    stability_view.show_stability(
        "run 1",
        replace(told, indices=replace(told.indices, nogueira=nogueira, jaccard=0.5)),
    )
    said = [label.text() for label in stability_view.facts.findChildren(QLabel)]
    numbers = [
        text for text in said if re.fullmatch(r"[−\d. …]+", text) and "." in text
    ]
    assert {"0.00", "−0.40 … 0.00", "0.50"} <= set(numbers)
    assert all(re.fullmatch(r"−?\d\.\d\d( … −?\d\.\d\d)?", text) for text in numbers)


FIVE = [fold(i, [0.47, 0.48]) for i in range(1, 6)]


@pytest.mark.ability("papers")
def test_printed_averages_are_listed(theme, stage):
    view = PublishedView(theme)
    stage(view, 900, 240)
    view.show_runs([(1, result(FIVE, "MQ2008"))])
    assert len(view.table.rows()) == 1
    assert "0.472" in view.table.rows_as_csv()
    view.show_runs([])
    assert view.table.rows() == []
    assert view.caption() == ""


def test_the_highlighted_row_is_the_fold_that_is_shown(folds_view: FoldsView) -> None:
    folds_view.foldChosen.connect(folds_view.mark)
    plan = Plan("x", parameters={"regularization": 1.0})
    folds_view.show_run("run 1", plan, [fold(number, [0.5, 0.6]) for number in (1, 2)])
    folds_view.mark(1)
    table, seen = folds_view.table, []
    folds_view.foldChosen.connect(seen.append)
    for label, highlighted in (
        ("2", "2"),
        ("mean", "mean"),
        ("sd", "mean"),
        ("1", "1"),
        ("sd", "1"),
    ):
        row = [one.label for one in table.rows()].index(label)
        at = table.visualRect(table.model().index(row, 0)).center()
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert [one.label for one in table.selected()] == [highlighted]
    assert seen == [2, None, 1]
