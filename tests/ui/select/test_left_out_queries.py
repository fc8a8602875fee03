"""Left-out queries in the real window: they choose, or are asked for of runs that are chosen otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hands import choose_on_curve, double_click, pick
from preference_oracles import write_preferences
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from waiting import wait_until
from windows import finish, open_window, pages_present, settle, write_folds

from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.ui.background import tasks
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.plots.maps.heat_map import HeatMapPlot
from rankstudio.ui.select.curve_controls import LeftOutBox
from rankstudio.ui.style.theme import Theme

MAP = "leave-query-out MAP"
GREEDY = {"regularization": (0.5, 2.0), "n_features_to_select": 4}
KERNEL = {"regularization": (0.25, 1.0, 4.0), "gamma": (0.5, 2.0), "n_basis": 20}
NAME = "left-out queries, selection not repeated"

prepare = settle


@pytest.fixture
def window(ran: MainWindow) -> Iterator[MainWindow]:
    """The window that most of these tests share: runs that they add are removed, and nothing is asked."""
    yield ran
    if box_of(ran).isChecked():
        box_of(ran).click()


def ran(window: MainWindow, fold: int = 0, **changes: Any) -> RunRecord:
    """Run a method, and look at one of its folds."""
    window.session.change("a method", **changes)
    finish(window)
    if fold:
        window.session.show_fold(fold)
    settle(window)
    record = window.runs.shown
    assert record is not None and record.result is not None
    return record


def box_of(window: MainWindow) -> LeftOutBox:
    return window.sections.select.curves.left_out


def asked(window: MainWindow) -> None:
    box_of(window).click()
    measured(window)


def measured(window: MainWindow) -> None:
    wait_until(lambda: window.models.left_out.share is None)
    settle(window)


def chosen_by_it(
    window: MainWindow, record: RunRecord
) -> dict[tuple[int, int], list[float]]:
    """Return what a run that is chosen by left-out queries measures, by fold and combination."""
    result = run_plan(record.plan.changed(select_by=MAP), window.session.dataset)
    paths = [path for fold in result.folds for path in fold.paths]
    return {
        (path.unit.fold, path.unit.position): path.validation[MAP].tolist()
        for path in paths
    }


def drawn(window: MainWindow) -> tuple[str, list[float]]:
    header, rows = window.sections.select.curves.validation_plot.numbers()
    return header[-1], [row[-1] for row in rows]


def test_a_finished_run_shows_left_out_queries_when_asked_and_to_the_bit(
    window: MainWindow,
) -> None:
    record = ran(window, 1, method="greedy-rankrls", parameters=GREEDY)
    box, plot = box_of(window), window.sections.select.curves.validation_plot
    assert box.isVisible() and not box.isChecked() and box.text() == "Left-out queries"
    assert NAME not in plot.numbers()[0]
    shares: list[float] = []
    window.models.left_out.grew.connect(
        lambda: shares.append(window.models.left_out.share or 0.0)
    )
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert box.text() == "Left-out: 0 %"
    measured(window)
    assert shares[-1] == 1.0 and box.text() == "Left-out queries"
    expected = chosen_by_it(window, record)
    chosen = record.folds[1].chosen.unit.position
    plot.flush()
    assert drawn(window) == (NAME, expected[1, chosen])
    assert f"{NAME}, best" in plot.accessibleDescription()
    model = window.current.model
    assert model is not None
    assert f"left-out MAP {expected[1, chosen][model.position]:.4f}" in plot._note
    figure = plot.figure()
    assert figure.series[-1].label == NAME
    assert "leave-query-out MAP" not in record.folds[1].paths[0].validation

    # Another path is measured when it is looked at, another measure is known by now, another fold's is not.
    choose_on_curve(window, 1 - chosen, 2)
    measured(window)
    assert drawn(window)[1] == expected[1, 1 - chosen]
    window.session.show_measure("NDCG@10")
    assert window.models.left_out.share is None
    settle(window)
    assert drawn(window)[0] == NAME and drawn(window)[1] != expected[1, 1 - chosen]
    window.session.show_measure("MAP")
    window.session.show_fold(2)
    measured(window)
    assert drawn(window)[1] == expected[2, window.current.model.key]  # type: ignore[union-attr,index]
    box.click()
    settle(window)
    assert NAME not in plot.numbers()[0]


def test_over_all_folds_it_is_the_mean(window: MainWindow) -> None:
    record = ran(window, method="rankrls", parameters={"regularization": (0.5, 2.0)})
    window.session.show_fold(None)
    window.session.select((2.0,), 5)
    asked(window)
    expected = chosen_by_it(window, record)
    curves = window.sections.select.curves
    beside = curves.validation_plot.family["left_out"]
    assert beside.label == "left-out queries"
    assert beside.ys == [np.mean([expected[fold, 1] for fold in record.folds])]


def test_another_convention_and_a_measure_that_nobody_offers(
    window: MainWindow,
) -> None:
    record = ran(window, 1, method="greedy-rankrls", parameters=GREEDY)
    asked(window)
    window.session.measure_by_convention("letor3")
    at = record.folds[1].chosen.unit.position
    for name in ("P@10", "NDCG@7"):
        by = f"leave-query-out {name}"
        plan = record.plan.changed(select_by=by, convention="letor3", folds=(1,))
        path = run_plan(plan, window.session.dataset).folds[0].paths[at]
        window.session.show_measure(name)
        measured(window)
        assert window.session.convention == "letor3"
        assert drawn(window)[1] == path.validation[by].tolist()


def test_the_path_of_the_slider_is_measured_too(window: MainWindow) -> None:
    record = ran(window, 1, method="greedy-rankrls", parameters=GREEDY)
    asked(window)
    window.session.select((1.0,), 2)
    wait_until(
        lambda: window.current.model is not None and window.current.model.key == "live"
    )
    measured(window)
    parameters = {**GREEDY, "regularization": (1.0,)}
    plan = record.plan.changed(select_by=MAP, parameters=parameters, folds=(1,))
    expected = run_plan(plan, window.session.dataset).folds[0].paths[0].validation[MAP]
    assert (
        window.sections.select.curves.validation_plot.family["left_out"].ys
        == expected.tolist()
    )


def test_the_map_of_two_grids_shows_them_of_all_combinations(
    window: MainWindow,
) -> None:
    record = ran(window, 1, method="kernel-rankrls", parameters=KERNEL)
    heat = window.sections.select.heat
    assert heat.part_box.isHidden()
    asked(window)
    assert not heat.part_box.isHidden() and heat.plot.axes.title == "validation MAP"
    pick_left_out(window)
    assert heat.plot.axes.title == "leave-query-out MAP"
    measured(window)
    expected = chosen_by_it(window, record)
    found = heat.plot.values
    assert sorted(found.ravel().tolist()) == sorted(
        expected[1, at][0] for at in range(6)
    )
    box_of(window).click()
    settle(window)
    assert heat.part_box.isHidden() and heat.plot.axes.title == "validation MAP"


def pick_left_out(window: MainWindow) -> None:
    heat = window.sections.select.heat
    heat.part_box.setCurrentIndex(1)
    heat.part_box.activated.emit(1)


def test_without_a_validation_part_left_out_queries_have_curves_and_map(
    theme: Theme, tmp_path: Path
) -> None:
    file = write_folds(tmp_path / "data", 1) / "Fold1" / "train.txt"
    with open_window(theme, tmp_path / "config") as window:
        window.open_controller.open_path(str(file), run=False)
        wait_until(lambda: window.session.dataset is not None)
        record = ran(window, method="greedy-rankrls", parameters=GREEDY)
        window.workspace.show_page("select")
        panel = window.sections.select.curves
        assert panel.validation_plot.isHidden() and panel.left_out.isVisibleTo(window)
        asked(window)
        assert not panel.validation_plot.isHidden()
        assert panel.validation_plot.axes.title == "leave-query-out MAP"
        expected = chosen_by_it(window, record)
        assert [panel.validation_plot.family[at].ys for at in (0, 1)] == [
            expected[1, 0],
            expected[1, 1],
        ]
        box_of(window).click()
        record = ran(window, method="kernel-rankrls", parameters=KERNEL, select_by=MAP)
        assert not panel.validation_plot.isHidden()
        assert panel.validation_plot.axes.title == "leave-query-out MAP"
        heat = window.sections.select.heat
        panel.view._buttons()[1].click()
        assert heat.isVisibleTo(window)
        assert panel.validation_plot.isHidden()
        assert heat.part_box.isHidden()
        assert heat.plot.axes.title == "leave-query-out MAP"
        assert float(np.nanmax(heat.plot.values)) == record.folds[1].left_out[MAP]


def test_it_stops_where_another_run_is_shown_and_waits_while_one_works(
    window: MainWindow,
) -> None:
    first = ran(window, 1, method="greedy-rankrls", parameters=GREEDY)
    left_out, box = window.models.left_out, box_of(window)
    box.click()
    assert left_out.share is not None
    window.session.change("a method", method="gas", parameters={})
    finish(window)
    settle(window)
    assert window.runs.shown is not first and left_out.share is None
    assert not box.isVisible() and not left_out.shown
    waited: list[tuple[str, float | None]] = []

    def note(_: RunRecord) -> None:
        if window.runs.busy:
            look_at(window.session, window.runs, first)
            waited.append((box.text(), left_out.share))

    window.runs.changed.connect(note)
    ran(window, method="rankrls", parameters={"regularization": 1.0})
    window.runs.changed.disconnect(note)
    assert set(waited) == {("Left-out: waiting", None)}
    measured(window)
    assert box.text() == "Left-out queries"


def test_what_is_known_of_a_path_is_gone_on_with(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_MAX_WAIT_SECONDS", 0.0)  # each step arrives alone
    record = ran(window, 1, method="greedy-rankrls", parameters=GREEDY)
    box_of(window).click()
    wait_until(lambda: window.models.left_out.share)
    for fold in (2, 1):
        window.session.show_fold(fold)
    measured(window)
    chosen = record.folds[1].chosen.unit.position
    assert drawn(window)[1] == chosen_by_it(window, record)[1, chosen]


@pytest.mark.parametrize("method", ["ranksvm", "gas"])
def test_a_method_without_such_predictions_has_no_box(
    window: MainWindow, method: str
) -> None:
    pick(window.sections.select.method.form, "method", method)
    settle(window)
    assert not box_of(window).isVisible()
    assert not window.commands["left_out"].isEnabled()
    pick(window.sections.select.method.form, "method", "rankrls")
    settle(window)
    assert box_of(window).isVisible() and not box_of(window).isChecked()
    window.commands["left_out"].trigger()
    assert box_of(window).isChecked()


def test_a_run_that_is_chosen_by_them_shows_them_without_a_box(
    window: MainWindow,
) -> None:
    record = ran(window, 1, method="greedy-rankrls", parameters=GREEDY, select_by=MAP)
    assert not box_of(window).isVisible() and window.models.left_out.share is None
    plot, chosen = window.sections.select.curves.validation_plot, record.folds[1].chosen
    plot.flush()
    at = chosen.unit.position
    path = record.paths[1, at].validation[MAP]
    assert drawn(window) == (NAME, path.tolist())
    assert f"{NAME}, best" in plot.accessibleDescription()
    assert chosen.step.number == int(np.argmax(path)) + 1
    again = run_plan(record.plan, window.session.dataset)
    assert again.folds[0].left_out == record.folds[1].left_out
    choose_on_curve(window, 1 - at, 2)
    assert drawn(window)[1] == record.paths[1, 1 - at].validation[MAP].tolist()
    choose_on_curve(window, at, chosen.step.number)
    window.session.show_measure("NDCG@5")
    measured(window)
    plan = record.plan.changed(select_by="leave-query-out NDCG@5", folds=(1,))
    expected = run_plan(plan, window.session.dataset).folds[0].paths[at]
    assert drawn(window)[1] == expected.validation["leave-query-out NDCG@5"].tolist()


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "greedy-rankrls", "parameters": GREEDY},
        {
            "method": "greedy-rankrls",
            "parameters": {"regularization": (1.0,), "n_features_to_select": 2},
            "ranker": "kernel-rankrls",
            "ranker_parameters": {
                "regularization": (0.5,),
                "gamma": (0.5,),
                "n_basis": 20,
            },
        },
    ],
)
@pytest.mark.ability("preferences")
def test_a_run_from_preferences_has_the_box_too(
    window: MainWindow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
) -> None:
    assert window.session.dataset is not None
    path = write_preferences(tmp_path / "clicks.csv", window.session.dataset)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    window.commands["open_preferences"].trigger()
    wait_until(lambda: bool(preferences_of(window.session.plan)))
    record = ran(window, **changes)
    assert preferences_of(record.plan)
    window.session.show_fold(1)
    settle(window)
    box = box_of(window)
    assert box.isVisible() and window.commands["left_out"].isEnabled()
    asked(window)
    chosen = record.folds[1].chosen.unit.position
    found = drawn(window)[1]
    assert found == chosen_by_it(window, record)[1, chosen]
    labels = run_plan(
        record.plan.changed(select_by=MAP, preferences={}, folds=(1,)),
        window.session.dataset,
    )
    assert found != labels.folds[0].paths[chosen].validation[MAP].tolist()


def choose(plot: HeatMapPlot, row: int, column: int) -> None:
    plot.flush()
    double_click(plot, plot.cell_rect(plot.frame(), row, column).center())


def test_the_form_offers_left_out_measures_to_methods_that_have_them(
    window: MainWindow,
) -> None:
    form = window.sections.select.method.form
    pick(form, "select_by", MAP)
    assert window.session.plan.select_by == MAP
    assert window.session.undo.undoText() == "choosing by leave-query-out MAP"
    pick(form, "method", "gas")
    assert window.session.plan.select_by == "MAP"
    window.session.undo.undo()
    assert window.session.plan.select_by == MAP
    pick(form, "ranked_by", "ranksvm")
    assert window.session.plan.select_by == "MAP"


def test_a_map_of_two_grids_is_read_clicked_and_walked_by_keys(
    window: MainWindow,
) -> None:
    kernel = ran(window, method="kernel-rankrls", parameters=KERNEL, select_by=MAP)
    heat = window.sections.select.heat
    header, rows = heat.plot.numbers()
    assert header == ["γ", "λ = 2⁻²", "λ = 2⁰", "λ = 2²"]
    assert [row[0] for row in rows] == ["2⁻¹", "2¹"]
    figure = heat.plot.figure()
    assert (figure.row_title, figure.column_title, figure.color.title) == (
        "γ",
        "λ",
        "leave-query-out MAP",
    )
    assert figure.mark_label == "chosen, best"
    window.sections.select.curves.view._buttons()[1].click()
    assert heat.isVisibleTo(window)
    assert heat.accessibleName() == "γ × λ"
    assert heat.left_out()
    window.session.show_fold(1)
    path_of = {path.unit.values: path for path in kernel.folds[1].paths}
    expected = [
        [path_of[value, gamma].validation[MAP][0] for value in (0.25, 1.0, 4.0)]
        for gamma in (0.5, 2.0)
    ]
    np.testing.assert_array_equal(heat.plot.values, expected)
    best = np.unravel_index(int(np.argmax(expected)), (2, 3))
    assert heat.plot.best == best
    assert heat.plot.chosen == best
    choose(heat.plot, 1, 2)
    model = window.current.model
    assert model is not None
    assert model.values == (4.0, 2.0)
    assert heat.plot.chosen == (1, 2)
    QTest.keyClick(heat.plot, Qt.Key.Key_Left)
    QTest.keyClick(heat.plot, Qt.Key.Key_Down)
    assert window.current.model is model  # inspected only
    QTest.keyClick(heat.plot, Qt.Key.Key_Return)
    assert window.current.model is not None
    assert window.current.model.values == (1.0, 0.5)
    heat.part_box.setCurrentIndex(0)
    heat.part_box.activated.emit(0)
    assert heat.plot.axes.title == "validation MAP"
    assert heat.plot.values[0, 0] == path_of[0.25, 0.5].validation["MAP"][0]
    window.session.show_fold(None)
    mean = np.mean(
        [fold.paths[0].validation["MAP"][0] for fold in kernel.folds.values()]
    )
    assert heat.plot.values[0, 0] == pytest.approx(mean)


def test_a_kernel_judges_a_greedy_selection(window: MainWindow) -> None:
    record = ran(
        window,
        method="greedy-rankrls",
        parameters={"regularization": (1.0,), "n_features_to_select": 3},
        ranker="kernel-rankrls",
        ranker_parameters=KERNEL,
        select_by=MAP,
    )
    heat = window.sections.select.heat
    assert [heat.map_box.itemText(i) for i in range(heat.map_box.count())] == [
        "γ × λ",
        "settings × k",
    ]
    assert (
        heat.caption()
        == "each cell with its best k · double-click a cell to choose its model"
    )
    window.session.show_fold(1)
    choose(heat.plot, 0, 1)
    model = window.current.model
    assert model is not None
    assert model.values == (1.0, 1.0, 0.5)
    path = next(
        path for path in record.folds[1].paths if path.unit.values == (1.0, 1.0, 0.5)
    )
    assert model.position == int(np.argmax(path.validation[MAP]))
    heat.map_box.setCurrentIndex(1)
    heat.map_box.activated.emit(1)
    assert heat.plot.values.shape == (6, 3)
    fields = [
        field.parameter.name
        for field in window.sections.select.method.form._ranker_section.shown()
    ]
    assert "ranker-gamma" in fields
    assert "ranker-degree" not in fields
    for page in pages_present(window, "features", "queries", "compare", "select"):
        window.workspace.show_page(page)
        settle(window)
