"""A walk in the real window: left-out queries choose, curves and a map of two grids show them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hands import pick
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until
from windows import finish, open_window, settle, write_folds

from rankstudio.engine.experiment.runner import run_plan
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.plots.maps.heat_map import HeatMapPlot
from rankstudio.ui.style.theme import Theme

MAP = "leave-query-out MAP"
GRIDS = {"regularization": (0.25, 1.0, 4.0), "gamma": (0.5, 2.0), "n_basis": 20}


def ran(window: MainWindow, **changes: Any) -> RunRecord:
    window.session.change("a method", **changes)
    finish(window)
    settle(window)
    record = window.runs.shown
    assert record is not None
    assert record.result is not None
    return record


def click(plot: HeatMapPlot, row: int, column: int) -> None:
    plot.flush()
    at = plot.cell_rect(plot.frame(), row, column).center().toPoint()
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=at)


@pytest.fixture
def kernel(window: MainWindow) -> RunRecord:
    return ran(window, method="kernel-rankrls", parameters=GRIDS, select_by=MAP)


def test_the_form_offers_left_out_measures_to_methods_that_have_them(window: MainWindow) -> None:
    form = window.sections.method.form
    pick(form, "select_by", MAP)
    assert window.session.plan.select_by == MAP
    assert window.session.undo.undoText() == "choosing by leave-query-out MAP"
    pick(form, "method", "gas")
    assert window.session.plan.select_by == "MAP"
    window.session.undo.undo()
    assert window.session.plan.select_by == MAP
    pick(form, "ranked_by", "ranksvm")
    assert window.session.plan.select_by == "MAP"


def test_a_map_of_two_grids_is_clicked_and_walked_by_keys(window: MainWindow, kernel: RunRecord) -> None:
    heat = window.sections.select.heat
    window.sections.select.curves.view._buttons()[1].click()
    assert heat.isVisibleTo(window)
    assert heat.accessibleName() == "γ × λ"
    assert heat.left_out()
    window.session.look_at(1)
    path_of = {path.unit.values: path for path in kernel.folds[1].paths}
    expected = [
        [path_of[value, gamma].validation[MAP][0] for value in (0.25, 1.0, 4.0)] for gamma in (0.5, 2.0)
    ]
    np.testing.assert_array_equal(heat.plot.values, expected)
    best = np.unravel_index(int(np.argmax(expected)), (2, 3))
    assert heat.plot.best == best
    assert heat.plot.chosen == best
    click(heat.plot, 1, 2)
    model = window.current.model
    assert model is not None
    assert model.values == (4.0, 2.0)
    assert heat.plot.chosen == (1, 2)
    QTest.keyClick(heat.plot, Qt.Key.Key_Left)
    QTest.keyClick(heat.plot, Qt.Key.Key_Down)
    assert window.current.model is not None
    assert window.current.model.values == (1.0, 0.5)
    heat.of.setCurrentIndex(0)
    heat.of.activated.emit(0)
    assert heat.plot.axes.title == "validation MAP"
    assert heat.plot.values[0, 0] == path_of[0.25, 0.5].validation["MAP"][0]
    window.session.look_at(None)
    mean = np.mean([fold.paths[0].validation["MAP"][0] for fold in kernel.folds.values()])
    assert heat.plot.values[0, 0] == pytest.approx(mean)


def test_the_map_is_written_as_a_table(window: MainWindow, kernel: RunRecord, tmp_path: Path) -> None:
    plot = window.sections.select.heat.plot
    header, rows = plot.numbers()
    assert header == ["γ", "λ = 2⁻²", "λ = 2⁰", "λ = 2²"]
    assert [row[0] for row in rows] == ["2⁻¹", "2¹"]
    figure = plot.figure()
    assert (figure.row_title, figure.column_title, figure.color.title) == ("γ", "λ", "leave-query-out MAP")
    assert figure.mark_label == "chosen, best"


def test_left_out_queries_are_drawn_along_the_greedy_path(window: MainWindow) -> None:
    grid = {"regularization": (0.5, 2.0), "n_features_to_select": 4}
    record = ran(window, method="greedy-rankrls", parameters=grid, select_by=MAP)
    window.session.look_at(1)
    chosen = record.folds[1].chosen
    plot = window.sections.select.curves.validation_plot
    plot.flush()
    name = "left-out queries, selected with them"
    header, rows = plot.numbers()
    assert header[-1] == name
    path = record.paths[1, chosen.unit.position]
    assert [row[-1] for row in rows] == path.validation[MAP].tolist()
    assert f"{name}, best" in plot.accessibleDescription()
    assert chosen.step.number == int(np.argmax(path.validation[MAP])) + 1
    other = 1 - chosen.unit.position
    window.sections.select.curves.picked.emit(other, 2)
    assert [row[-1] for row in plot.numbers()[1]] == record.paths[1, other].validation[MAP].tolist()
    again = run_plan(record.plan, window.session.dataset)
    assert again.folds[0].left_out == record.folds[1].left_out


def test_a_kernel_judges_a_greedy_selection(window: MainWindow) -> None:
    record = ran(
        window,
        method="greedy-rankrls",
        parameters={"regularization": (1.0,), "n_features_to_select": 3},
        ranker="kernel-rankrls",
        ranker_parameters=GRIDS,
        select_by=MAP,
    )
    heat = window.sections.select.heat
    assert [heat.views.itemText(i) for i in range(heat.views.count())] == ["γ × λ", "settings × k"]
    assert heat.caption() == "each cell with its best k · click a cell to choose its model"
    window.session.look_at(1)
    click(heat.plot, 0, 1)
    model = window.current.model
    assert model is not None
    assert model.values == (1.0, 1.0, 0.5)
    path = next(path for path in record.folds[1].paths if path.unit.values == (1.0, 1.0, 0.5))
    assert model.position == int(np.argmax(path.validation[MAP]))
    heat.views.setCurrentIndex(1)
    heat.views.activated.emit(1)
    assert heat.plot.values.shape == (6, 3)
    fields = [field.parameter.name for field in window.sections.method.form._ranker_section.shown()]
    assert "ranker-gamma" in fields
    assert "ranker-degree" not in fields
    for page in ("features", "queries", "compare", "select"):
        window.workspace.show_page(page)
        settle(window)


def test_without_a_validation_part_left_out_queries_have_curves_and_map(theme: Theme, tmp_path: Path) -> None:
    folder = write_folds(tmp_path / "data", 1)
    file = folder / "Fold1" / "train.txt"
    with open_window(theme, tmp_path / "config") as window:
        window.open_controller.open_path(str(file), run=False)
        wait_until(lambda: window.session.dataset is not None)
        record = ran(window, method="kernel-rankrls", parameters=GRIDS, select_by=MAP)
        panel = window.sections.select.curves
        assert not panel.validation_plot.isHidden()
        assert panel.validation_plot.axes.title == "leave-query-out MAP"
        heat = window.sections.select.heat
        panel.view._buttons()[1].click()
        assert heat.isVisibleTo(window)
        assert panel.validation_plot.isHidden()
        assert heat.of.isHidden()
        assert heat.plot.axes.title == "leave-query-out MAP"
        assert float(np.nanmax(heat.plot.values)) == record.folds[1].left_out[MAP]
