"""The table of a paper from the window: what is ticked, previewed, copied and saved."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import openpyxl
from compare_page import run_with
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from waiting import wait_until
from windows import settle
from wording import naming

from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.statistics.paired import signed_ranks
from rankstudio.ui.compare.paper_table import TableController, TableDialog
from rankstudio.ui.main_window import MainWindow


def opened(window: MainWindow) -> TableDialog:
    """Open the dialog from the Compare page, and wait for its first table."""
    window.workspace.show_page("compare")
    settle(window)
    controller: TableController = window.sections.compare.table
    controller.button.click()
    dialog = controller.dialog
    assert dialog is not None
    made(dialog)
    return dialog


def made(dialog: TableDialog) -> None:
    wait_until(lambda: dialog.save.isEnabled() and not dialog.message.text())


def shown(dialog: TableDialog) -> str:
    return dialog.sheet.toPlainText()


def tick(dialog: TableDialog, *names: str) -> None:
    for row in range(dialog.measures.count()):
        item = dialog.measures.item(row)
        item.setCheckState(
            Qt.CheckState.Checked if item.text() in names else Qt.CheckState.Unchecked
        )


def prepare(window: MainWindow) -> None:
    run_with(window)
    run_with(window, method="rankrls", parameters={"regularization": (0.5, 2.0)})


def test_the_command_is_there_when_a_run_is_done(window: MainWindow) -> None:
    assert not window.commands["export_table"].isEnabled()
    run_with(window)
    assert window.commands["export_table"].isEnabled()
    window.commands["export_table"].trigger()
    dialog = window.sections.compare.table.dialog
    assert dialog is not None
    made(dialog)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert window.sections.compare.table.dialog is None


def test_the_test_of_the_marks_can_be_chosen(ran: MainWindow) -> None:
    dialog = opened(ran)
    assert naming("Fisher 100,000").search(shown(dialog))
    first, second = (
        record.result.per_query("MAP") for record in ran.runs.records if record.result
    )
    dialog.test.setCurrentIndex(dialog.test.findData("wilcoxon"))
    dialog.test.activated.emit(dialog.test.currentIndex())
    made(dialog)
    assert naming("Wilcoxon").search(shown(dialog))
    assert "Fisher" not in shown(dialog)
    (p,) = (
        row.cells[0].p for row in dialog._table.rows if not np.isnan(row.cells[0].p)
    )
    assert p == signed_ranks(first, second).p


def test_the_preview_shows_the_measures_of_the_ticked_runs_with_marks_and_notes(
    ran: MainWindow,
) -> None:
    dialog = opened(ran)
    text = shown(dialog)
    assert text.startswith(
        "MAP, P@10 and MeanNDCG on Small: test, 2 folds, 12 queries; mean over the folds."
    )
    for record in ran.runs.records:
        assert record.plan.title in text
        assert f"{record.result.average['MAP']:.4f}" in text
    assert naming("Holm 1").search(text)
    assert [dialog.against.itemText(at) for at in range(dialog.against.count())] == [
        "best row by the first column",
        *(record.plan.title for record in ran.runs.records),
    ]
    dialog.marks.click()
    assert "Holm" not in shown(dialog)
    assert not dialog.against.isEnabled() and not dialog.test.isEnabled()
    dialog.digits.setCurrentIndex(dialog.digits.findData("2"))
    assert f"{ran.runs.records[0].result.average['MAP']:.4f}" not in shown(dialog)
    ran.models.marks.tick(1, False)
    dialog.ask()
    made(dialog)
    assert ran.runs.records[0].plan.title not in shown(dialog)
    dialog.close()
    settle(ran)
    assert ran.sections.compare.table.dialog is None


def test_a_measure_that_no_run_reported_is_computed_and_columns_can_be_folds(
    ran: MainWindow,
) -> None:
    dialog = opened(ran)
    dialog.by._group.buttons()[1].click()
    tick(dialog, "ERR")
    made(dialog)
    lines = shown(dialog).splitlines()
    assert lines[:5] == [
        "ERR on Small: test, 2 folds, 12 queries; values by fold.",
        "Method",
        "Fold 1",
        "Fold 2",
        "Mean",
    ]
    dialog.others.setFocus()
    QTest.keyClicks(dialog.others, "P@3, ndcg@2")
    QTest.keyClick(dialog.others, Qt.Key.Key_Tab)
    made(dialog)
    assert shown(dialog).startswith("ERR, P@3 and NDCG@2 on Small")
    dialog.others.setText("MOP")
    dialog.others.setModified(True)
    dialog.others.editingFinished.emit()
    assert "measure: expected" in dialog.message.text()
    assert not dialog.save.isEnabled()
    dialog.others.clear()
    tick(dialog)
    assert dialog.message.text() == "Nothing to show: select a measure."
    dialog.close()


def test_it_is_copied_as_text_and_html_as_a_table(ran: MainWindow) -> None:
    dialog = opened(ran)
    clipboard = QGuiApplication.clipboard()
    dialog.copy.click()
    assert "\\toprule" in clipboard.text()
    assert dialog.message.text() == "The table is on the clipboard as LaTeX."
    dialog.shown._group.buttons()[1].click()
    assert "\\begin{tabular}{lccc}" in shown(dialog)
    dialog.format.setCurrentIndex(dialog.format.findData("html"))
    dialog.copy.click()
    assert "<tbody>" in clipboard.mimeData().html()
    dialog.format.setCurrentIndex(dialog.format.findData("csv"))
    dialog.copy.click()
    rows = list(csv.DictReader(io.StringIO(clipboard.text())))
    averages = [
        record.result.average["MAP"] for record in ran.runs.records if record.result
    ]
    assert [float(row["MAP"]) for row in rows] == averages
    dialog.format.setCurrentIndex(dialog.format.findData("excel"))
    assert not dialog.copy.isEnabled()
    assert not dialog.shown.isEnabled()
    dialog.close()


def test_it_is_saved_and_nothing_is_replaced_unasked(
    ran: MainWindow, tmp_path: Path, monkeypatch
) -> None:
    dialog = opened(ran)
    chosen = [str(tmp_path / "table"), ""]
    asked = []

    def answer(*words: object) -> tuple[str, str]:
        asked.append(words[2:])
        return chosen[0], ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    dialog.format.setCurrentIndex(dialog.format.findData("excel"))
    dialog.save.click()
    path = tmp_path / "table.xlsx"
    assert asked[0][0].endswith("small-table.xlsx")
    assert asked[0][1] == "Excel (*.xlsx)"
    sheet = openpyxl.load_workbook(path).active
    assert sheet["A3"].value == "Method"
    results = [record.result for record in ran.runs.records if record.result]
    cells = {cell.value for row in sheet.iter_rows() for cell in row}
    # all digits, whatever is shown of them
    assert {result.average["MAP"] for result in results} <= cells
    assert dialog.message.text() == f"Written to {path}."
    path.write_bytes(b"old")
    dialog.save.click()
    assert path.read_bytes() == b"old"
    assert naming("table.xlsx replace").search(dialog.message.text())
    dialog.save.click()
    assert path.read_bytes() != b"old"
    chosen[0] = str(tmp_path / "no" / "table.xlsx")
    dialog.save.click()
    assert "could not be written" in dialog.message.text()
    dialog.close()


def test_nothing_of_a_sealed_test_part_is_shown(ran: MainWindow) -> None:
    ran.session.seal(True)
    settle(ran)
    dialog = opened(ran)
    text = shown(dialog)
    assert "validation part" in text
    assert naming("sealed").search(text)
    for record in ran.runs.records:
        assert f"{record.result.average['MAP']:.4f}" not in text
        assert f"{record.result.average_on(Part.CROSS_FITTED)['MAP']:.4f}" in text
    dialog.close()


def test_without_a_ticked_run_it_says_so(ran: MainWindow) -> None:
    for key in (1, 2):
        ran.models.marks.tick(key, False)
    ran.sections.compare.table.open()
    dialog = ran.sections.compare.table.dialog
    wait_until(lambda: bool(dialog.message.text()))
    assert not dialog.save.isEnabled()
    dialog.close()
