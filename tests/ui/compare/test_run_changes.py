"""Naming, noting, tagging, hiding and removing runs: undone by key, menu and button, kept in the study."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton
from waiting import wait_until
from windows import Opened, finish, press_keys, settle, slowly, write_folds
from wording import naming

from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import RunLabel
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.widgets import Question


def prepare(window: MainWindow) -> None:
    """Run twice."""
    finish(window)
    finish(window)


def write(window: MainWindow, text: str) -> None:
    """Type into the cell that is being edited."""
    table = window.sections.compare.panel.table
    editor = table.viewport().findChild(QLineEdit)
    editor.selectAll()
    QTest.keyClicks(editor, text)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    wait_until(lambda: table.viewport().findChild(QLineEdit) is None)
    settle(window)


def texts(window: MainWindow) -> list[dict[str, str]]:
    table = window.sections.compare.panel.table
    rows = sorted(table.rows(), key=lambda row: row.key)
    return [{c.key: c.text(row) for c in table.rows_model.columns} for row in rows]


def test_a_run_is_named_noted_and_tagged_and_all_of_it_comes_back_with_the_study(
    opened: Opened, window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rankstudio.plugins.queries")  # its folder may be absent
    finish(window)
    finish(window)
    window.workspace.show_page("compare")
    settle(window)
    panel = window.sections.compare.panel
    panel.mark(1)
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_F2)
    write(window, "for the paper")
    actions = {action.text: action for action in panel._actions(panel.rows()[0])}
    actions["Tags…"].do()
    write(window, "paper,  good , paper")
    actions["Note…"].do()
    write(window, "grid at its end")
    first, second = texts(window)
    assert (first["method"].removesuffix(" ⚠"), first["tags"], first["note"]) == (
        "for the paper",
        "paper, good",
        "grid at its end",
    )
    assert (second["method"], second["tags"]) == ("Greedy RankRLS ⚠", "–")
    assert "⚠" not in panel.table.rows_as_csv(), (
        "the mark is the window's, not the file's"
    )
    assert window.sections.compare.curves.plot.curves[0].label == "1 for the paper"
    window.commands["page_queries"].trigger()
    settle(window)
    bar = window.sections.queries.bar
    window.runs.show(window.runs.record(1))
    settle(window)
    assert window.toolbar.line.text("run") == "run 1 for the paper"
    assert "run 1 · for the paper" in [bar.a.itemText(i) for i in range(bar.a.count())]
    panel.filter.setText("good end")
    assert [row["key"] for row in texts(window)] == ["1"]
    panel.filter.clear()
    file = tmp_path / "kept.rankstudio"
    window.models.study_store.save_as(file)
    with opened(config="other") as again:
        window.models.study_store.close_all()
        again.open_path(str(file))
        wait_until(lambda: len(again.runs.records) == 2)
        settle(again)
        wanted = RunLabel("for the paper", "grid at its end", ("paper", "good"))
        assert [record.label for record in again.runs.records] == [wanted, RunLabel()]


def test_a_hidden_run_is_neither_listed_nor_compared_until_it_is_shown_again(
    ran: MainWindow,
) -> None:
    ran.workspace.show_page("compare")
    settle(ran)
    panel = ran.sections.compare.panel
    panel.hiddenAsked.emit(1)
    settle(ran)
    assert [row["key"] for row in texts(ran)] == ["2"]
    assert [curve.key for curve in ran.sections.compare.curves.plot.curves] == [2]
    assert "1 of 2 runs" in panel.caption()
    panel._show_hidden(True)
    assert [row["key"] for row in texts(ran)] == ["1", "2"]
    panel.hiddenAsked.emit(1)
    settle(ran)
    assert [curve.key for curve in ran.sections.compare.curves.plot.curves] == [1, 2]


def test_to_write_the_method_s_own_name_is_to_give_none(ran: MainWindow) -> None:
    panel = ran.sections.compare.panel
    panel.written.emit(1, "method", " my  run ")
    assert ran.runs.records[0].title == "my run"
    panel.written.emit(1, "method", "Greedy RankRLS")
    assert ran.runs.records[0].label == RunLabel()
    settle(ran)


def test_what_is_written_of_a_run_is_undone_and_done_again(ran: MainWindow) -> None:
    record, undo = ran.runs.shown, ran.session.undo
    written = ran.sections.compare.panel.written
    written.emit(record.key, "name", "first")
    written.emit(record.key, "tags", "paper, good")
    written.emit(record.key, "note", "grid at its end")
    before = RunLabel(name="first", tags=("paper", "good"))
    assert undo.undoText() == f"the note of run {record.key}"
    ran.commands["undo"].trigger()
    assert record.label == before
    ran.commands["undo"].trigger()
    ran.commands["undo"].trigger()
    assert record.label == RunLabel()
    for _ in range(3):
        ran.commands["redo"].trigger()
    assert record.label == replace(before, note="grid at its end")
    count = undo.count()
    written.emit(record.key, "note", "grid at its end")  # the same again is no change
    assert undo.count() == count


pytestmark = pytest.mark.usefixtures("shelf_folder")


def listed(window: MainWindow) -> dict[int, tuple[str, int]]:
    """What the table of runs shows: number, state and colour."""
    panel = window.sections.compare.panel
    dots = next(
        column for column in panel.table.rows_model.columns if column.key == "dot"
    )
    return {row.key: (row.state, dots.value_in(row).category) for row in panel.rows()}


def press_delete(window: MainWindow, key: int) -> None:
    table = window.sections.compare.panel.table
    window.activateWindow()
    wait_until(window.isActiveWindow)
    table.select(next(row for row in table.rows() if row.key == key))
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Delete)


def remove_by_menu(window: MainWindow, key: int) -> None:
    panel = window.sections.compare.panel
    actions = panel.table.row_actions(
        next(row for row in panel.rows() if row.key == key)
    )
    next(action for action in actions if action.text.startswith("Remove")).do()


def file_of(window: MainWindow) -> Path:
    path = window.models.study_store.path
    assert path is not None
    return path


def test_delete_asks_nothing_and_ctrl_z_brings_the_run_back(
    opened: Opened, folds: Path, questions: list[str]
) -> None:
    with opened(folds) as window:
        for _ in range(3):
            finish(window)
        before, second, file = listed(window), window.runs.record(2), file_of(window)
        window.workspace.show_page("compare")
        press_delete(window, 2)
        assert not questions
        assert listed(window) == {key: before[key] for key in (1, 3)}
        assert second not in window.runs.records
        settle(window)
        press_keys(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
        assert listed(window) == before
        assert list(listed(window)) == [1, 2, 3]
        assert window.runs.record(2) is second
        settle(window)
    with Study.open(file) as study:
        assert [run.key.id for run in study.runs()] == [1, 2, 3]


def test_the_menus_remove_undo_and_redo(ran: MainWindow, questions: list[str]) -> None:
    remove_by_menu(ran, 2)
    assert ran.runs.shown is ran.runs.record(1)
    assert ran.commands["undo"].text() == "&Undo removing run 2"
    ran.commands["undo"].trigger()
    assert list(listed(ran)) == [1, 2]
    assert ran.runs.shown is ran.runs.record(2)
    ran.commands["redo"].trigger()
    assert list(listed(ran)) == [1]
    settle(ran)
    assert not questions


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
    opened: Opened, folds: Path, questions: list[str]
) -> None:
    with opened(folds) as window:
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
    opened: Opened, folds: Path, questions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(folds, slowly) as window:
        window.commands["run"].trigger()
        record = window.runs.records[0]
        wait_until(lambda: record.units_done)
        with monkeypatch.context() as no:
            no.setattr(Question, "ask", lambda *_: False)
            remove_by_menu(window, 1)
        assert window.runs.records == (record,)
        remove_by_menu(window, 1)
        assert naming("Stop remove 1").search(questions[0])
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
    assert record.result.complete


def test_a_run_removed_before_the_window_hears_of_its_study_is_marked_there_too(
    opened: Opened, folds: Path, questions: list[str]
) -> None:
    with opened(folds, slowly) as window:
        window.commands["run"].trigger()
        while (
            window.models.study_store.study is None
            or not window.models.study_store.study.last_id
        ):
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
    opened: Opened,
    folds: Path,
    questions: list[str],
    monkeypatch: pytest.MonkeyPatch,
    leave: str,
) -> None:
    begun, go = threading.Event(), threading.Event()

    def read() -> None:
        begun.set()
        go.wait(10)

    with opened(folds) as window:
        finish(window)
        file = file_of(window)
        window.models.task_worker.task("Reading much", read)
        assert begun.wait(10)
        remove_by_menu(window, 1)
        if leave == "close":
            thread = window.models.task_worker._thread
            stop = thread.stop
            # what waits is dropped first
            monkeypatch.setattr(thread, "stop", lambda: (stop(), go.set()))
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
    opened: Opened, folds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers: set[int] = set()

    def note(record: RunRecord, name: str, value: Any) -> None:
        writers.add(threading.get_ident())
        object.__setattr__(record, name, value)

    monkeypatch.setattr(RunRecord, "__setattr__", note)
    with opened(folds) as window:
        finish(window)
        assert window.runs.records[0].stored is not None
    assert writers == {threading.get_ident()}
