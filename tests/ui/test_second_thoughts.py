"""Scenarios of second thoughts: going back to a run, other conventions, other data, the same key twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from hands import choose_on_curve
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import turn, wait_until
from windows import Opened, finish, settle, slowly

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import save_plan
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_queue import leave
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.model.selected_model import LIVE
from rankstudio.ui.model.session import Choice

prepare = settle


@pytest.fixture
def window(ran: MainWindow) -> MainWindow:
    """The window that the tests of this module share: runs that a test adds are removed after it."""
    return ran


def measured_by(window: MainWindow, key: str) -> None:
    next(
        a for a in window.commands.submenus["convention"].actions() if a.data() == key
    ).trigger()
    settle(window)


def drawn(window: MainWindow, key: object) -> list[float]:
    return list(window.sections.select.curves.validation_plot.family[key].ys)


def test_a_run_that_is_looked_at_again_brings_back_its_plan_and_its_model(
    window: MainWindow,
) -> None:
    finish(window)
    window.session.show_fold(1)
    window.session.change("editing", method="rankrls", parameters={})
    finish(window)
    window.session.show_fold(1)
    ranker = window.current.model
    window.sections.compare.panel.selected.emit(1)
    settle(window)
    first = window.runs.record(1)
    assert window.session.plan == first.plan
    assert window.sections.select.method.form.method_key() == "greedy-rankrls"
    assert window.current.model.step is first.folds[1].chosen.step
    window.sections.compare.panel.selected.emit(2)
    window.sections.compare.panel.selected.emit(1)
    assert window.commands["undo"].text() == "&Undo going to run 1"
    window.commands["undo"].trigger()  # a look at several runs is one change
    settle(window)
    assert (
        window.session.plan.method == "rankrls"
        and "going" not in window.commands["undo"].text()
    )
    window.sections.compare.panel.selected.emit(2)
    assert window.current.model.step is ranker.step
    window.sections.compare.panel.selected.emit(1)
    choose_on_curve(window, 0, 2)
    picked = window.current.model.step
    assert picked is not first.folds[1].chosen.step
    for key in (2, 1):  # what was chosen of it last comes back
        window.sections.compare.panel.selected.emit(key)
    assert window.current.model.step is picked
    between = Choice((3.0,), 2)  # of which the slider computes a path: the run has none
    assert 3.0 not in first.plan.axes[0].values
    window.session.select((3.0,), 2)
    for key in (2, 1):
        window.sections.compare.panel.selected.emit(key)
    assert window.session.choice == first.choice == between
    settle(window)


def test_the_same_key_twice_pins_a_feature_and_lets_it_go(window: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    finish(window)
    window.activateWindow()
    table = window.sections.features.features.table
    table.setFocus()
    wait_until(window.isActiveWindow)
    marked = table.rows()[4]
    table.setCurrentIndex(table.model().index(4, 0))
    QTest.keyClick(table, Qt.Key.Key_P)
    wait_until(lambda: table.rows()[0].pinned)
    assert table.current().feature_id == marked.feature_id
    assert window.sections.features.feature == marked.feature_id
    QTest.keyClick(table, Qt.Key.Key_P)
    assert window.session.plan.parameters["pinned"] == ()
    QTest.keyClick(table, Qt.Key.Key_B)
    wait_until(lambda: table.rows()[-1].banned)
    assert table.current().feature_id == marked.feature_id
    QTest.keyClick(table, Qt.Key.Key_B)
    assert window.session.plan.parameters["banned"] == ()
    choose_on_curve(window, 1, 3)
    assert table.current().rank == 3
    settle(window)


def test_a_convention_changed_while_a_run_works_leaves_the_run_its_own(
    opened: Opened, folds: Path
) -> None:
    with opened(folds, slowly) as window:
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].units_done)
        measured_by(window, "trec_eval")
        wait_until(lambda: not window.runs.busy)
        assert window.runs.records[0].state is RunState.DONE
        assert window.runs.records[0].result.plan.convention == "standard"
        settle(window)


def test_a_run_that_waited_does_not_take_away_data_opened_since(
    opened: Opened, folds: Path
) -> None:
    with opened(folds, slowly) as window:
        window.commands["run"].trigger()
        window.session.change("another run", seed=window.session.plan.seed + 1)
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].progress > 0)
        window.open_path(str(folds / "Fold1"))
        wait_until(lambda: len(window.session.dataset.folds) == 1)
        window.commands["stop"].trigger()
        wait_until(lambda: window.runs.records[1].state is RunState.RUNNING)
        turn(0.05)
        assert window.runs.shown is None
        assert window.windowTitle() == "Small Fold1 – RankStudio"
        window.sections.compare.panel.selected.emit(2)
        assert window.windowTitle() == "Small – RankStudio"
        assert window.runs.shown is window.runs.records[1]
        window.commands["stop"].trigger()
        wait_until(lambda: not window.runs.busy)
        settle(window)


def test_a_plan_names_its_data_from_its_own_folder(opened: Opened, folds: Path) -> None:
    save_plan(Plan("Small"), folds.parent / "plan.toml")
    with opened(folds.parent / "plan.toml") as window:
        assert window.session.plan.data == str(folds)
        settle(window)


def test_a_plan_that_is_none_changes_nothing(
    window: MainWindow, tmp_path: Path
) -> None:
    before = window.session.plan
    (tmp_path / "plan.toml").write_text("data = 3")
    window.open_path(str(tmp_path / "plan.toml"))
    assert window.notice.text().endswith("plan.toml: data: expected a text, got 3.")
    assert window.session.plan is before


def test_a_method_without_pins_offers_none(window: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    finish(window)
    assert window.commands["pin"].isEnabled()
    window.session.change(
        "editing", method="l1-path", parameters={"regularization": (1.0,)}
    )
    finish(window)
    assert window.runs.records[-1].state is RunState.DONE
    assert not window.commands["pin"].isEnabled()
    features = window.sections.features.features
    assert not features._pin.isEnabled()
    offered = features.table.row_actions(features.table.current())
    assert not any(
        action.enabled for action in offered if action.text in ("Pin", "Ban")
    )


def test_a_path_of_another_method_is_not_drawn_among_curves_of_other_axes(
    window: MainWindow,
) -> None:
    window.session.change(
        "two axes", method="fsmsvm", parameters={"lambda1": (0.1, 1.0), "C": (0.1, 1.0)}
    )
    finish(window)
    window.session.show_fold(1)
    window.session.change("one axis", method="greedy-rankrls", parameters={})
    settle(window)
    assert (
        window.current.model is not None
        and window.current.model.plan.method == "fsmsvm"
    )
    assert LIVE not in window.sections.select.curves.validation_plot.family
    window.session.change(
        "two axes again",
        method="fsmsvm",
        parameters={"lambda1": (0.1, 1.0), "C": (0.1, 1.0)},
    )
    wait_until(
        lambda: window.current.model is not None and window.current.model.key != LIVE
    )
    settle(window)


def test_the_first_run_of_a_new_study_has_no_choice_of_the_study_before(
    opened: Opened, folds: Path
) -> None:
    with opened(folds) as window:
        one = {"method": "greedy-rankrls", "parameters": {"regularization": (1.0, 4.0)}}
        words = {"importance": ("map", "ndcg@10"), "regularization": (1.0,)}
        window.session.change("an axis of words", method="gas", parameters=words)
        finish(window)
        window.session.show_fold(1)
        window.session.select(("ndcg@10",), 2)
        window.commands["page_compare"].trigger()
        window.study_files.new()
        settle(window)
        window.comparison.start([window.session.plan.changed(**one)])
        wait_until(lambda: window.runs.records and not window.runs.busy)
        settle(window)
        assert [row.by_hand for row in window.sections.compare.panel.rows()] == [""]
        leave(window.session, window.runs)
        assert window.runs.records[0].choice == Choice()
