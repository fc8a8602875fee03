"""The Report page in the real window: made while it is seen, kept in the study, saved as by the terminal."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until
from windows import finish, open_window, settle, write_folds
from wording import naming

from rankstudio.cli import main
from rankstudio.plugins.report.document import SECTIONS, every_section
from rankstudio.plugins.report.window.controller import ReportController
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme

HOSTILE = "<img src=x><b>bold</b> & more"


pytestmark = pytest.mark.usefixtures("shelf_folder")


def seen(window: MainWindow) -> ReportController:
    """Show the page, and wait for the report."""
    page = window.sections.report
    window.commands["page_report"].trigger()
    settle(window)
    wait_until(
        lambda: page.report is not None and page.preview.sheet.toPlainText() != ""
    )
    return page


def headings(page: ReportController) -> list[str]:
    """Return the titles of the sections in the preview."""
    document, found = page.preview.sheet.document(), []
    block = document.begin()
    while block.isValid():
        if block.blockFormat().headingLevel() == 2:
            found.append(block.text())
        block = block.next()
    return found


def test_the_report_is_made_while_it_is_seen(window: MainWindow) -> None:
    finish(window)
    page = window.sections.report
    assert page.report is None
    seen(window)
    assert headings(page) == [
        SECTIONS[key]
        for key in every_section(())
        if key not in ("question", "ranks")  # the latter is of several datasets
    ]
    text = page.preview.sheet.toPlainText()
    record = window.runs.records[0]
    assert record.result is not None
    assert f"{record.result.average['MAP']:.4f}" in text
    assert "1 finished run on" in text
    before = page.report
    window.commands["page_select"].trigger()
    finish(window)
    assert page.report == before
    seen(window)
    assert "2 finished runs on" in page.preview.sheet.toPlainText()


def test_a_report_that_is_ready_while_another_page_is_seen_is_shown_later(
    window: MainWindow,
) -> None:
    finish(window)
    page = window.sections.report
    window.commands["page_report"].trigger()
    window.commands["page_select"].trigger()
    wait_until(lambda: page.report is not None)
    window.commands["page_report"].trigger()
    assert page.preview.sheet.toPlainText() != ""


def test_sections_are_ticked_and_moved_by_keyboard(window: MainWindow) -> None:
    finish(window)
    page = seen(window)
    rows = page.outline.list
    rows.setFocus()
    rows.setCurrentRow(1)
    QTest.keyClick(rows, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    assert headings(page)[:2] == ["Paired tests", "Results"]
    assert rows.currentItem().text() == "Results"
    QTest.keyClick(rows, Qt.Key.Key_Space)
    assert headings(page)[0] == "Paired tests" and "Results" not in headings(page)
    QTest.mouseClick(page.outline.usual, Qt.MouseButton.LeftButton)
    assert headings(page)[:2] == ["Results", "Paired tests"]
    assert headings(page)[-2:] == ["Data", "References"]
    rows.setCurrentRow(0)
    page.outline.move_section(-1)
    assert [key for key, _ in page.outline.sections()] == list(every_section(()))


@pytest.mark.thorough
def test_a_section_that_is_dragged_is_moved(window: MainWindow) -> None:
    finish(window)
    page = seen(window)
    model = page.outline.list.model()
    row = [key for key, _ in page.outline.sections()].index("stability")
    index = model.index(row, 0).parent()
    assert model.moveRow(index, row, index, 1)
    assert headings(page)[:2] == ["Stability of the selection", "Results"]


def test_what_is_written_is_shown_kept_and_stays_text(
    theme: Theme, tmp_path: Path
) -> None:
    data = write_folds(tmp_path / "Small")
    with open_window(theme, tmp_path / "config", data) as window:
        page = seen(window)
        page.words.question.setPlainText(HOSTILE)  # before there is a study
        finish(window)
        seen(window)
        page.words.notes.setPlainText("One.\n\nTwo.")
        keys = [key for key, _ in page.outline.sections()]
        row = keys.index("stability")
        page.outline.list.setCurrentRow(row)
        page.outline.move_section(-1)
        wait_until(lambda: "Two." in page.preview.sheet.toPlainText())
        assert HOSTILE in page.preview.sheet.toPlainText()
        study = window.models.study_store.path
        assert study is not None
    with open_window(theme, tmp_path / "other") as window:
        window.open_path(str(study))
        wait_until(lambda: bool(window.runs.records))
        settle(window)
        page = window.sections.report
        assert page.words.question.toPlainText() == HOSTILE
        assert page.words.notes.toPlainText() == "One.\n\nTwo."
        keys[row - 1 : row + 1] = keys[row], keys[row - 1]
        assert [key for key, _ in page.outline.sections()] == keys
        window.commands["new_study"].trigger()
        settle(window)
        assert page.words.question.toPlainText() == ""
        assert [key for key, _ in page.outline.sections()] == list(every_section(()))


@pytest.mark.thorough
def test_no_number_of_a_sealed_test_part_is_seen(window: MainWindow) -> None:
    finish(window)
    page = seen(window)
    record = window.runs.records[0]
    assert record.result is not None
    tested = {f"{fold.test['MAP']:.4f}" for fold in record.result.folds}
    validated = {
        f"{v:.4f}" for fold in record.result.folds for v in fold.validation.values()
    }
    assert all(number in page.preview.sheet.toPlainText() for number in tested)
    window.commands["seal"].trigger()
    assert page.report is None, "at once, not only when the other one is made"
    assert page.preview.sheet.toPlainText() == ""
    seen(window)
    text = page.preview.sheet.toPlainText()
    assert naming("sealed").search(text)
    assert not [
        number for number in tested - validated if number in re.findall(r"[\d.]+", text)
    ]
    assert page.preview.covered.isVisible()
    page.preview.covered.click()
    assert not page.preview.covered.isVisible()
    seen(window)
    assert naming("once").search(page.preview.sheet.toPlainText())


def test_window_and_terminal_write_the_same_bytes(theme: Theme, tmp_path: Path) -> None:
    data = write_folds(tmp_path / "Small")
    with open_window(theme, tmp_path / "config", data) as window:
        finish(window)
        page = seen(window)
        page.words.question.setPlainText("Why?")
        settle(window)
        page.save(tmp_path / "window.html")
        page.save(tmp_path / "window.pdf")
        settle(window)
        study = window.models.study_store.path
        assert study is not None
        wait_until((tmp_path / "window.pdf").exists)
    assert main(["report", str(study), "--out", str(tmp_path / "terminal.html")]) == 0
    assert (tmp_path / "window.html").read_bytes() == (
        tmp_path / "terminal.html"
    ).read_bytes()
    assert "Why?" in (tmp_path / "window.html").read_text(encoding="utf-8")
    assert (tmp_path / "window.pdf").read_bytes().startswith(b"%PDF-")


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="the administrator may write anywhere"
)
def test_a_place_that_may_not_be_written_is_told(
    window: MainWindow, tmp_path: Path
) -> None:
    finish(window)
    page = seen(window)
    said: list[str] = []
    page.failed.connect(said.append)
    (tmp_path / "closed").mkdir(mode=0o500)
    page.save(tmp_path / "closed" / "report.html")
    settle(window)
    assert "could not be written" in said[0]
