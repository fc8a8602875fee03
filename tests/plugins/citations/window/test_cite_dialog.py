"""The dialog of *Help, Cite…* in the real window: what it shows, copies and saves."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication
from waiting import wait_until
from windows import finish, settle

from rankstudio.engine.support.bibtex import parse_bibtex
from rankstudio.plugins.citations.window.cite import CiteDialog
from rankstudio.ui.main_window import MainWindow

pytestmark = pytest.mark.usefixtures("shelf_folder")


def shown(window: MainWindow) -> CiteDialog:
    """Choose the command, and return the dialog."""
    window.commands["cite"].trigger()
    wait_until(lambda: window.findChild(CiteDialog) is not None)
    dialog = window.findChild(CiteDialog)
    assert dialog is not None
    settle(window)
    return dialog


def keys(text: str) -> list[str]:
    """Return the keys of the entries in a text."""
    return [entry.key for entry in parse_bibtex(text)]


def test_without_a_run_the_plan_of_the_form_is_cited(window: MainWindow) -> None:
    dialog = shown(window)
    assert dialog.choice.count() == 1
    assert keys(dialog.view.toPlainText())[:2] == ["rankstudio", "pahikkala2010greedy"]
    dialog.reject()


def test_runs_are_cited_together_and_alone_copied_and_saved(
    window: MainWindow, tmp_path
) -> None:
    finish(window)
    dialog = shown(window)
    assert dialog.choice.count() == 2
    all_entries = dialog.view.toPlainText()
    assert "pahikkala2010greedy" in keys(all_entries)
    dialog.choice.setCurrentIndex(1)
    program_entry = dialog.view.toPlainText()
    assert {*keys(program_entry)} <= {*keys(all_entries)}
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == program_entry
    path = tmp_path / "references.bib"
    dialog.save_to(path)
    assert path.read_text(encoding="utf-8") == program_entry
    assert str(path) in dialog.message.text()
    dialog.reject()
