"""Preferences in place of labels, through the real window."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hands import drop
from preference_oracles import write_preferences
from PySide6.QtWidgets import QFileDialog, QToolButton
from waiting import wait_until
from windows import finish, open_window, settle
from wording import naming

from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.plan.toml import load_plan
from rankstudio.engine.experiment.results.events import UnitFinished
from rankstudio.engine.experiment.runner import open_data, run
from rankstudio.plugins.preferences.window.preferences_view import (
    USUAL_ETA,
    PreferencesController,
)
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme


def controller_of(window: MainWindow) -> PreferencesController:
    controller = window.sections.contributed.controllers["preferences"]
    assert isinstance(controller, PreferencesController)
    return controller


@pytest.fixture
def preferences(window: MainWindow, tmp_path: Path) -> Path:
    assert window.session.dataset is not None
    return write_preferences(tmp_path / "clicks.csv", window.session.dataset)


def test_they_are_opened_counted_learned_from_and_taken_off(
    window: MainWindow,
    preferences: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    finish(window)
    monkeypatch.setattr(
        QFileDialog, "getOpenFileName", lambda *_: (str(preferences), "")
    )
    window.commands["open_preferences"].trigger()
    wait_until(lambda: bool(preferences_of(window.session.plan)))
    form = window.sections.select.method.form
    assert naming("clicks.csv").search(form._preferences.text())

    view = controller_of(window).view
    window.session.show_fold(1)
    window.workspace.show_page("data")
    wait_until(lambda: bool(view.rows))
    shown = {fact.key: fact for fact in view.rows}
    lines = preferences.read_text().splitlines()[1:]
    dataset = window.session.dataset
    assert dataset is not None
    here = [
        line.split(",")
        for line in lines
        if line.split(",")[0] in dataset.folds[0].train.query_ids
    ]
    assert shown["preferences"].value == f"{len(here):,}"
    pairs = {(qid, *sorted((a, b))) for qid, a, b, _ in here}
    assert shown["pairs"].value == f"{len(pairs):,}"
    assert shown["contradictions"].value == "1" and shown["cycles"].value != "0"
    window.session.show_fold(None)
    wait_until(lambda: bool(view.rows) and view.rows[0].value == f"{len(lines):,}")

    window.workspace.show_page("select")
    window.session.show_fold(1)
    finish(window)
    record = window.runs.records[-1]
    assert (
        preferences_of(record.plan)["path"] == str(preferences)
        and record.result is not None
    )
    assert "preferences: clicks.csv" in window.sections.select.strip._state.text()
    before = window.runs.records[0].paths[1, 0].steps[-1].coef
    assert not np.array_equal(record.paths[1, 0].steps[-1].coef, before)

    plan_file = tmp_path / "plan.toml"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(plan_file), ""))
    window.commands["save_plan"].trigger()
    plan = load_plan(plan_file)
    again = [
        event.path
        for event in run(plan, open_data(plan))
        if isinstance(event, UnitFinished)
    ]
    assert len(again) == len(record.paths)
    for found in again:
        path = record.paths[found.unit.fold, found.unit.position]
        assert [s.selected for s in found.steps] == [s.selected for s in path.steps]
        np.testing.assert_array_equal(found.steps[-1].coef, path.steps[-1].coef)

    form.findChild(QToolButton, "preferences-note-remove").click()
    assert not preferences_of(window.session.plan) and not view.isVisibleTo(
        window.sections.data.panel
    )
    window.session.undo.undo()
    assert preferences_of(window.session.plan)


def test_a_dropped_table_of_preferences_is_no_table_of_documents(
    window: MainWindow, preferences: Path
) -> None:
    dataset = window.session.dataset
    drop(window, preferences)
    wait_until(lambda: bool(preferences_of(window.session.plan)))
    settle(window)
    assert window.session.dataset is dataset


def test_wrong_files_are_refused_by_one_sentence(
    window: MainWindow, tmp_path: Path
) -> None:
    said: list[str] = []
    controller_of(window).failed.connect(said.append)
    for text, expected in (
        ("qid,winner,loser\n1,a\n", "line 2"),
        ("qid,winner,loser\nnobody,1,2\n", "a query of the data"),
        ("qid,winner,loser,points,of\n1,1,2\n", "line 1"),
        ("", "no preference"),
    ):
        path = tmp_path / "wrong.csv"
        path.write_text(text)
        said.clear()
        controller_of(window).open(str(path))
        wait_until(lambda: bool(said))
        assert expected in said[0] and "\n" not in said[0]
    assert not preferences_of(window.session.plan)


def test_a_method_that_learns_from_labels_says_so(
    window: MainWindow, preferences: Path
) -> None:
    controller_of(window).open(str(preferences))
    wait_until(lambda: bool(preferences_of(window.session.plan)))
    window.session.change("another method", method="fsmrank", parameters={})
    assert naming("FSMRank preferences").search(
        window.sections.select.method.form._preferences.text()
    )
    window.commands["run"].trigger()
    wait_until(lambda: window.runs.records and not window.runs.busy)
    assert "cannot learn from preferences" in window.runs.records[0].failure


@pytest.mark.thorough
def test_without_data_they_wait_for_them(
    theme: Theme, tmp_path: Path, preferences: Path
) -> None:
    with open_window(theme, tmp_path / "other") as empty:
        said: list[str] = []
        controller_of(empty).failed.connect(said.append)
        empty.open_path(str(preferences))
        assert said == ["Preferences refer to documents: open the data first."]


def test_other_data_have_none(window: MainWindow, preferences: Path) -> None:
    controller_of(window).open(str(preferences))
    wait_until(lambda: bool(preferences_of(window.session.plan)))
    window.open_controller.load_sample()
    wait_until(lambda: window.session.plan.data == "sample")
    assert not preferences_of(window.session.plan)


@pytest.mark.thorough
def test_clicks_are_said_to_be_clicks_and_their_rule_can_be_changed(
    window: MainWindow, tmp_path: Path
) -> None:
    dataset = window.session.dataset
    assert dataset is not None
    lines = ["qid,docid,position,click"]
    parts = [part for fold in dataset.folds for part in fold.parts.values()]
    for query in dict.fromkeys(query for part in parts for query in part.query_ids):
        lines += [
            f"{query},{d},{place},{place < 3:d}" for place, d in enumerate((1, 2, 3), 1)
        ]
        lines += [
            f"{query},{d},{place},{place == 2:d}"
            for place, d in enumerate((3, 1, 2), 1)
        ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines))
    drop(window, path)
    wait_until(lambda: bool(preferences_of(window.session.plan)))
    window.workspace.show_page("data")
    view, session = controller_of(window).view, window.session
    wait_until(lambda: bool(view.rows))
    assert session.dataset is dataset
    shown = {fact.key: fact for fact in view.rows}
    assert "clicks: log.csv" in view.title.text() and view.rule.isVisible()
    assert (
        naming("Clicks not judgments estimated").search(shown["clicks"].tooltip)
        and "η" in shown
    )
    assert naming("clicks position").search(
        window.sections.select.method.form._preferences.text()
    )
    before = shown["clicks"].note

    view.pairs.setCurrentIndex(view.pairs.findData("skipped"))
    view.pairs.activated.emit(view.pairs.currentIndex())
    wait_until(lambda: preferences_of(session.plan)["pairs"] == "skipped")
    settle(window)
    assert view.rows[0].note != before
    view.eta.setText("1.5")
    view.eta.editingFinished.emit()
    wait_until(lambda: preferences_of(session.plan)["eta"] == "1.5")
    settle(window)
    assert naming("position^1.5 given").search(view.rows[0].tooltip)
    assert "η" not in {fact.key for fact in view.rows}
    said: list[str] = []
    controller_of(window).failed.connect(said.append)
    for wrong in ("-1", "given"):
        said.clear()
        view.eta.setText(wrong)
        view.eta.editingFinished.emit()
        wait_until(lambda: bool(said))
        settle(window)
        assert preferences_of(session.plan)["eta"] == "1.5" and view.eta.text() == "1.5"
    session.undo.undo()
    assert (
        preferences_of(session.plan)["eta"] == "estimated"
        and view.eta.text() == "estimated"
    )
    window.session.change(
        "quick", parameters={"n_features_to_select": 2, "regularization": 1.0}
    )
    finish(window)
    assert "clicks over skipped: log.csv" in window.sections.select.strip._state.text()


def test_clicks_at_one_position_each_open_with_the_usual_exponent(
    window: MainWindow, tmp_path: Path
) -> None:
    dataset = window.session.dataset
    assert dataset is not None
    query = dataset.folds[0].train.query_ids[0]
    path = tmp_path / "log.csv"
    path.write_text(f"qid,docid,position,click\n{query},1,1,0\n{query},2,2,1\n")
    drop(window, path)
    wait_until(lambda: bool(preferences_of(window.session.plan)))
    assert preferences_of(window.session.plan)["eta"] == USUAL_ETA
    assert naming("log.csv η 1 Data").search(window.status.text())
    window.workspace.show_page("data")
    view = controller_of(window).view
    assert view.eta.text() == USUAL_ETA
    view.eta.setText("estimated")
    view.eta.editingFinished.emit()
    wait_until(window.notice.text)
    settle(window)
    assert (
        naming("η estimated").search(window.notice.text())
        and view.eta.text() == USUAL_ETA
    )
