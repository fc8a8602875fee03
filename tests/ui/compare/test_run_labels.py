"""Naming runs, noting and tagging them in the table, by the keyboard; and finding it again in the study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from waiting import wait_until
from windows import finish, open_window, settle

from rankstudio.engine.experiment.storage.run_index import RunLabel
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme


def write(window: MainWindow, text: str) -> None:
    """Type into the cell that is being edited."""
    table = window.sections.compare.panel.table
    editor = table.viewport().findChild(QLineEdit)
    assert editor is not None
    editor.selectAll()
    QTest.keyClicks(editor, text)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    wait_until(lambda: table.viewport().findChild(QLineEdit) is None)
    settle(window)


def texts(window: MainWindow) -> list[dict[str, str]]:
    model = window.sections.compare.panel.table.rows_model
    return [{c.key: c.text(row) for c in model.columns} for row in model.shown_rows()]


def test_a_run_is_named_noted_and_tagged_and_all_of_it_comes_back_with_the_study(
    window: MainWindow, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(window)
    finish(window)
    window.workspace.show_page("compare")
    settle(window)
    panel = window.sections.compare.panel
    panel.mark(1)
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_F2)
    write(window, "for the paper")
    actions = {action.text(): action for action in panel._actions(panel.rows()[0])}
    actions["Tags…"].trigger()
    write(window, "paper,  good , paper")
    actions["Note…"].trigger()
    write(window, "grid at its end")
    first, second = texts(window)
    assert (first["method"].removesuffix(" ⚠"), first["tags"], first["note"]) == (
        "for the paper",
        "paper, good",
        "grid at its end",
    )
    assert (second["method"], second["tags"]) == ("Greedy RankRLS ⚠", "–")
    assert window.sections.compare.curves.plot.curves[0].label == "1 for the paper"
    panel.filter.setText("good end")
    assert [row["key"] for row in texts(window)] == ["1"]
    panel.filter.clear()
    file = tmp_path / "kept.rankstudio"
    window.models.study_store.save_as(file)
    with open_window(theme, tmp_path / "other") as again:
        window.models.study_store.close_all()
        again.open_path(str(file))
        wait_until(lambda: len(again.runs.records) == 2)
        settle(again)
        wanted = RunLabel("for the paper", "grid at its end", ("paper", "good"))
        assert [record.label for record in again.runs.records] == [wanted, RunLabel()]


def test_a_hidden_run_is_neither_listed_nor_compared_until_it_is_shown_again(window: MainWindow) -> None:
    finish(window)
    finish(window)
    window.workspace.show_page("compare")
    settle(window)
    panel = window.sections.compare.panel
    panel.hiddenAsked.emit(1)
    settle(window)
    assert [row["key"] for row in texts(window)] == ["2"]
    assert [curve.key for curve in window.sections.compare.curves.plot.curves] == [2]
    assert "1 of 2 runs" in panel.caption()
    panel._show_hidden(True)
    assert [row["key"] for row in texts(window)] == ["1", "2"]
    panel.hiddenAsked.emit(1)
    settle(window)
    assert [curve.key for curve in window.sections.compare.curves.plot.curves] == [1, 2]


def test_to_write_the_method_s_own_name_is_to_give_none(window: MainWindow) -> None:
    finish(window)
    panel = window.sections.compare.panel
    panel.written.emit(1, "method", " my  run ")
    assert window.runs.records[0].title == "my run"
    panel.written.emit(1, "method", "Greedy RankRLS")
    assert window.runs.records[0].label == RunLabel()
    settle(window)


def test_what_is_written_of_a_run_is_undone_and_done_again(window: MainWindow) -> None:
    finish(window)
    record, undo = window.runs.shown, window.session.undo
    assert record is not None
    written = window.sections.compare.panel.written
    written.emit(record.key, "name", "first")
    written.emit(record.key, "tags", "paper, good")
    written.emit(record.key, "note", "grid at its end")
    before = RunLabel(name="first", tags=("paper", "good"))
    assert undo.undoText() == f"the note of run {record.key}"
    window.commands["undo"].trigger()
    assert record.label == before
    window.commands["undo"].trigger()
    window.commands["undo"].trigger()
    assert record.label == RunLabel()
    for _ in range(3):
        window.commands["redo"].trigger()
    assert record.label == replace(before, note="grid at its end")
    count = undo.count()
    written.emit(record.key, "note", "grid at its end")  # the same again is no change
    assert undo.count() == count
