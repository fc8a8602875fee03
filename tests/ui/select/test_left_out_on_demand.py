"""Measures of left-out queries for runs that are not chosen by them, asked for in the real window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.test_preferences_in_the_window import write_preferences
from hands import pick
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from waiting import wait_until
from windows import finish, open_window, settle, write_folds

from rankstudio.engine.experiment.runner import run_plan
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.select.curves_panel import LeftOutBox
from rankstudio.ui.style.theme import Theme

MAP = "leave-query-out MAP"
GREEDY = {"regularization": (0.5, 2.0), "n_features_to_select": 4}
KERNEL = {"regularization": (0.25, 1.0, 4.0), "gamma": (0.5, 2.0), "n_basis": 20}
NAME = "left-out queries, selected with them"


def ran(window: MainWindow, **changes: Any) -> RunRecord:
    window.session.change("a method", **changes)
    finish(window)
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


def chosen_by_it(window: MainWindow, record: RunRecord) -> dict[tuple[int, int], list[float]]:
    """Return what a run that is chosen by left-out queries measures, by fold and combination."""
    result = run_plan(record.plan.changed(select_by=MAP), window.session.dataset)
    paths = [path for fold in result.folds for path in fold.paths]
    return {(path.unit.fold, path.unit.position): path.validation[MAP].tolist() for path in paths}


def drawn(window: MainWindow) -> tuple[str, list[float]]:
    header, rows = window.sections.select.curves.validation_plot.numbers()
    return header[-1], [row[-1] for row in rows]


def test_a_finished_run_shows_left_out_queries_when_asked_and_to_the_bit(window: MainWindow) -> None:
    record = ran(window, method="greedy-rankrls", parameters=GREEDY)
    window.session.look_at(1)
    settle(window)
    box, plot = box_of(window), window.sections.select.curves.validation_plot
    assert box.isVisible() and not box.isChecked() and box.text() == "Left-out queries"
    assert NAME not in plot.numbers()[0]
    shares: list[float] = []
    window.models.left_out.grew.connect(lambda: shares.append(window.models.left_out.share or 0.0))
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert box.text() == "Left-out: 0%"
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
    window.sections.select.curves.picked.emit(1 - chosen, 2)
    measured(window)
    assert drawn(window)[1] == expected[1, 1 - chosen]
    window.session.show_measure("NDCG@10")
    assert window.models.left_out.share is None
    settle(window)
    assert drawn(window)[0] == NAME and drawn(window)[1] != expected[1, 1 - chosen]
    window.session.show_measure("MAP")
    window.session.look_at(2)
    measured(window)
    assert drawn(window)[1] == expected[2, window.current.model.key]  # type: ignore[union-attr,index]
    box.click()
    settle(window)
    assert NAME not in plot.numbers()[0]


def test_over_all_folds_it_is_the_mean(window: MainWindow) -> None:
    record = ran(window, method="rankrls", parameters={"regularization": (0.5, 2.0)})
    window.session.look_at(None)
    window.session.select((2.0,), 5)
    asked(window)
    expected = chosen_by_it(window, record)
    curves = window.sections.select.curves
    beside = curves.validation_plot.family["left_out"]
    assert beside.label == "left-out queries"
    assert beside.ys == [np.mean([expected[fold, 1] for fold in record.folds])]


def test_another_convention_and_a_measure_that_nobody_offers(window: MainWindow) -> None:
    record = ran(window, method="greedy-rankrls", parameters=GREEDY)
    window.session.look_at(1)
    asked(window)
    window.session.look_by("letor3")
    measured(window)
    plan = record.plan.changed(select_by="leave-query-out NDCG@7", convention="letor3")
    path = run_plan(plan.changed(folds=(1,)), window.session.dataset).folds[0].paths
    at = record.folds[1].chosen.unit.position
    window.session.show_measure("NDCG@7")
    measured(window)
    assert window.session.convention == "letor3"
    assert drawn(window)[1] == path[at].validation["leave-query-out NDCG@7"].tolist()


def test_the_path_of_the_slider_is_measured_too(window: MainWindow) -> None:
    record = ran(window, method="greedy-rankrls", parameters=GREEDY)
    window.session.look_at(1)
    asked(window)
    window.session.select((1.0,), 2)
    wait_until(lambda: window.current.model is not None and window.current.model.key == "live")
    measured(window)
    parameters = {**GREEDY, "regularization": (1.0,)}
    plan = record.plan.changed(select_by=MAP, parameters=parameters, folds=(1,))
    expected = run_plan(plan, window.session.dataset).folds[0].paths[0].validation[MAP]
    assert window.sections.select.curves.validation_plot.family["left_out"].ys == expected.tolist()


def test_the_map_of_two_grids_shows_them_of_all_combinations(window: MainWindow) -> None:
    record = ran(window, method="kernel-rankrls", parameters=KERNEL)
    window.session.look_at(1)
    heat = window.sections.select.heat
    assert heat.of.isHidden()
    asked(window)
    assert not heat.of.isHidden() and heat.plot.axes.title == "validation MAP"
    pick_left_out(window)
    assert heat.plot.axes.title == "leave-query-out MAP"
    measured(window)
    expected = chosen_by_it(window, record)
    found = heat.plot.values
    assert sorted(found.ravel().tolist()) == sorted(expected[1, at][0] for at in range(6))
    box_of(window).click()
    settle(window)
    assert heat.of.isHidden() and heat.plot.axes.title == "validation MAP"


def pick_left_out(window: MainWindow) -> None:
    heat = window.sections.select.heat
    heat.of.setCurrentIndex(1)
    heat.of.activated.emit(1)


def test_without_a_validation_part_there_are_curves_of_left_out_queries(theme: Theme, tmp_path: Path) -> None:
    file = write_folds(tmp_path / "data", 1) / "Fold1" / "train.txt"
    with open_window(theme, tmp_path / "config") as window:
        window.open_controller.open_path(str(file), run=False)
        wait_until(lambda: window.session.dataset is not None)
        record = ran(window, method="greedy-rankrls", parameters=GREEDY)
        panel = window.sections.select.curves
        assert panel.validation_plot.isHidden() and panel.left_out.isVisibleTo(window)
        asked(window)
        assert not panel.validation_plot.isHidden()
        assert panel.validation_plot.axes.title == "leave-query-out MAP"
        expected = chosen_by_it(window, record)
        assert [panel.validation_plot.family[at].ys for at in (0, 1)] == [expected[1, 0], expected[1, 1]]


def test_it_stops_where_another_run_is_shown_and_waits_while_one_works(window: MainWindow) -> None:
    first = ran(window, method="greedy-rankrls", parameters=GREEDY)
    window.session.look_at(1)
    settle(window)
    left_out, box = window.models.left_out, box_of(window)
    box.click()
    assert left_out.share is not None
    window.session.change("a method", method="gas", parameters={})
    finish(window)
    settle(window)
    assert window.runs.shown is not first and left_out.share is None
    assert not box.isVisible() and not left_out.shown
    waited: list[str] = []
    window.runs.changed.connect(lambda _: waited.append(box.text()) if window.runs.busy else None)
    ran(window, method="rankrls", parameters={"regularization": 1.0})
    assert set(waited) == {"Left-out: waiting"}
    measured(window)
    assert box.text() == "Left-out queries"


@pytest.mark.parametrize("method", ["ranksvm", "gas"])
def test_a_method_without_such_predictions_has_no_box(window: MainWindow, method: str) -> None:
    pick(window.sections.method.form, "method", method)
    settle(window)
    assert not box_of(window).isVisible()
    assert not window.commands["left_out"].isEnabled()
    pick(window.sections.method.form, "method", "rankrls")
    settle(window)
    assert box_of(window).isVisible() and not box_of(window).isChecked()
    window.commands["left_out"].trigger()
    assert box_of(window).isChecked()


def test_a_run_that_is_chosen_by_them_shows_them_without_a_box(window: MainWindow) -> None:
    record = ran(window, method="greedy-rankrls", parameters=GREEDY, select_by=MAP)
    window.session.look_at(1)
    settle(window)
    assert not box_of(window).isVisible() and window.models.left_out.share is None
    at = record.folds[1].chosen.unit.position
    assert drawn(window)[1] == record.paths[1, at].validation[MAP].tolist()
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
            "ranker_parameters": {"regularization": (0.5,), "gamma": (0.5,), "n_basis": 20},
        },
    ],
)
def test_a_run_from_preferences_has_the_box_too(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    assert window.session.dataset is not None
    path = write_preferences(tmp_path / "clicks.csv", window.session.dataset)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    window.commands["open_preferences"].trigger()
    wait_until(lambda: bool(window.session.plan.preferences))
    record = ran(window, **changes)
    assert record.plan.preferences
    window.session.look_at(1)
    settle(window)
    box = box_of(window)
    assert box.isVisible() and window.commands["left_out"].isEnabled()
    asked(window)
    chosen = record.folds[1].chosen.unit.position
    found = drawn(window)[1]
    assert found == chosen_by_it(window, record)[1, chosen]
    labels = run_plan(record.plan.changed(select_by=MAP, preferences={}, folds=(1,)), window.session.dataset)
    assert found != labels.folds[0].paths[chosen].validation[MAP].tolist()
