"""Removing runs: asked first, undone by key, menu and button, and nothing of the other runs changes."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from waiting import wait_until
from windows import finish, open_window, settle, slowly, write_folds
from wording import naming

from rankstudio.engine.experiment.storage.study import Study
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Question

pytestmark = pytest.mark.usefixtures("shelf_folder")


def listed(window: MainWindow) -> dict[int, tuple[str, int]]:
    """What the table of runs shows: number, state and colour."""
    panel = window.sections.compare.panel
    dots = next(column for column in panel.table.rows_model.columns if column.key == "dot")
    return {row.key: (row.state, dots.of(row).category) for row in panel.rows()}


def press_delete(window: MainWindow, key: int) -> None:
    table = window.sections.compare.panel.table
    window.activateWindow()
    wait_until(window.isActiveWindow)
    table.select(next(row for row in table.rows() if row.key == key))
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Delete)


def remove_by_menu(window: MainWindow, key: int) -> None:
    panel = window.sections.compare.panel
    actions = panel.table.row_actions(next(row for row in panel.rows() if row.key == key))
    next(action for action in actions if action.text().startswith("Remove")).trigger()


def file_of(window: MainWindow) -> Path:
    path = window.models.study_store.path
    assert path is not None
    return path


def test_delete_asks_first_and_ctrl_z_brings_the_run_back(
    theme: Theme, tmp_path: Path, folds: Path, questions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_window(theme, tmp_path / "config", folds) as window:
        for _ in range(3):
            finish(window)
        before, second, file = listed(window), window.runs.record(2), file_of(window)
        window.workspace.show_page("compare")
        with monkeypatch.context() as no:
            no.setattr(Question, "ask", lambda *_: False)
            press_delete(window, 2)
        assert listed(window) == before
        press_delete(window, 2)
        assert len(questions) == 1 and naming("Delete 2 Greedy RankRLS Small").search(questions[0])
        assert listed(window) == {key: before[key] for key in (1, 3)}
        assert second not in window.runs.records
        settle(window)
        QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert listed(window) == before
        assert list(listed(window)) == [1, 2, 3]
        assert window.runs.record(2) is second
        settle(window)
    with Study.open(file) as study:
        assert [run.key.id for run in study.runs()] == [1, 2, 3]


def test_the_menus_remove_undo_and_redo(window: MainWindow, questions: list[str]) -> None:
    finish(window)
    finish(window)
    remove_by_menu(window, 2)
    assert window.runs.shown is window.runs.record(1)
    assert window.commands["undo"].text() == "&Undo removing run 2"
    window.commands["undo"].trigger()
    assert list(listed(window)) == [1, 2]
    assert window.runs.shown is window.runs.record(2)
    window.commands["redo"].trigger()
    assert list(listed(window)) == [1]
    settle(window)
    assert len(questions) == 1


def test_the_message_offers_to_undo_until_something_else_is_done(
    window: MainWindow, questions: list[str]
) -> None:
    finish(window)
    remove_by_menu(window, 1)
    assert window.notice.text() == "Run 1 is removed."
    window.notice.newest.findChild(QPushButton).click()
    assert window.notice.text() == ""
    assert list(listed(window)) == [1]
    remove_by_menu(window, 1)
    window.session.change("editing", seed=3)
    assert window.notice.text() == ""
    settle(window)


def test_other_data_opened_meanwhile_do_not_make_it_final(
    window: MainWindow, tmp_path: Path, questions: list[str]
) -> None:
    finish(window)
    finish(window)
    remove_by_menu(window, 1)
    window.session.change("editing", seed=3)
    window.open_path(str(write_folds(tmp_path / "Other")))
    wait_until(lambda: window.session.dataset.name == "Other")
    assert window.commands["undo"].text() == "&Undo removing run 1"
    window.commands["undo"].trigger()
    assert list(listed(window)) == [1, 2]
    assert not window.session.undo.canUndo()
    settle(window)


def test_a_removed_run_stays_away_and_the_others_keep_their_numbers_and_colours(
    theme: Theme, tmp_path: Path, folds: Path, questions: list[str]
) -> None:
    with open_window(theme, tmp_path / "config", folds) as window:
        for _ in range(3):
            finish(window)
        before, file = listed(window), file_of(window)
        remove_by_menu(window, 1)
        remove_by_menu(window, 3)
        settle(window)
        window.commands["new_study"].trigger()
        assert not window.session.undo.canUndo()
        finish(window)
        assert list(listed(window)) == [1]
        window.open_path(str(file))
        wait_until(lambda: list(listed(window)) == [2])
        settle(window)
        assert listed(window) == {2: before[2]}
        finish(window)
        assert list(listed(window)) == [2, 4]
    with Study.open(file) as study:
        assert [run.key.id for run in study.runs()] == [2, 4]
        assert study._file.rows("SELECT count(DISTINCT run) FROM unit") == [(4,)]


def test_a_run_that_works_is_stopped_and_goes_on_after_an_undo(
    theme: Theme, tmp_path: Path, folds: Path, questions: list[str]
) -> None:
    with open_window(theme, tmp_path / "config", folds, slowly) as window:
        window.commands["run"].trigger()
        record = window.runs.records[0]
        wait_until(lambda: record.units_done)
        remove_by_menu(window, 1)
        assert naming("Stop delete 1").search(questions[0])
        assert listed(window) == {}
        assert not window.runs.busy
        assert window.status.text() == "Run 1 is removed"
        heard: list[object] = []
        for signal in (window.runs.eventNoted, window.runs.changed, window.runs.ended):
            signal.connect(lambda *given: heard.append(given))
        wait_until(lambda: not window.models.run_worker.jobs)
        assert (heard, listed(window)) == ([], {})
        window.commands["undo"].trigger()
        assert listed(window)[1][0] == "cancelled"
        settle(window)
        assert record.can_go_on
        window.restorer.go_on(record)
        wait_until(lambda: record.state is RunState.DONE)
        settle(window)
    assert record.result is not None
    assert record.result.complete


def test_a_run_removed_before_the_window_hears_of_its_study_is_marked_there_too(
    theme: Theme, tmp_path: Path, folds: Path, questions: list[str]
) -> None:
    with open_window(theme, tmp_path / "config", folds, slowly) as window:
        window.commands["run"].trigger()
        while window.models.study_store.study is None or not window.models.study_store.study.last_id:
            threading.Event().wait(0.001)  # the worker has begun it
        assert window.runs.records[0].stored is None
        assert window.runs.records[0].state is RunState.QUEUED
        remove_by_menu(window, 1)
        wait_until(lambda: not window.models.run_worker.jobs)
        settle(window)
        file = file_of(window)
    with Study.open(file) as study:
        assert study.runs() == []
        assert study.last_id == 1


@pytest.mark.parametrize("leave", ["close", "new_study"])
def test_a_removal_is_noted_before_the_study_is_closed_whatever_the_worker_does(
    theme: Theme,
    tmp_path: Path,
    folds: Path,
    questions: list[str],
    monkeypatch: pytest.MonkeyPatch,
    leave: str,
) -> None:
    begun, go = threading.Event(), threading.Event()

    def read() -> None:
        begun.set()
        go.wait(10)

    with open_window(theme, tmp_path / "config", folds) as window:
        finish(window)
        file = file_of(window)
        window.models.task_worker.task("Reading much", read)
        assert begun.wait(10)
        remove_by_menu(window, 1)
        if leave == "close":
            thread = window.models.task_worker._thread
            stop = thread.stop
            monkeypatch.setattr(thread, "stop", lambda: (stop(), go.set()))  # what waits is dropped first
            window.close()
        else:
            window.commands["new_study"].trigger()
            wait_until(lambda: not window.models.run_worker.jobs)
            go.set()
            settle(window)
    with Study.open(file) as study:
        assert study.runs() == []
        assert study.last_id == 1


def test_the_worker_never_writes_a_record_of_the_window(
    theme: Theme, tmp_path: Path, folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers: set[int] = set()

    def note(record: RunRecord, name: str, value: Any) -> None:
        writers.add(threading.get_ident())
        object.__setattr__(record, name, value)

    monkeypatch.setattr(RunRecord, "__setattr__", note)
    with open_window(theme, tmp_path / "config", folds) as window:
        finish(window)
        assert window.runs.records[0].stored is not None
    assert writers == {threading.get_ident()}
