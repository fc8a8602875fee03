import pytest
from feature_table import click
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from wording import naming

from rankstudio.engine.errors import OutputError


def test_copying_takes_the_selected_rows_with_a_header_and_all_digits(table):
    click(table, 1)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == (
        "id\tfeature\tweight\tgain\n7\tBM25 of title\t-0.3123456789\t9.0\n"
    )


def test_copying_without_a_selection_takes_everything_in_the_order_shown(table):
    table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    table.copy()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["id", "7", "23", "25", "39"]


def test_csv_is_the_whole_table_quoted_where_needed(table, tmp_path):
    table.export(tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text(encoding="utf-8")
    assert text == table.rows_as_csv()
    assert text.splitlines()[3] == '25,"bm25, of anchor",,'


def test_latex_and_markdown_have_the_digits_that_are_shown(table, tmp_path):
    copied = []
    for action in table.menu().actions()[1:3]:
        action.trigger()
        copied.append(QGuiApplication.clipboard().text())
    for name in ("a.tex", "a.md"):
        table.export(tmp_path / name)
    assert copied == [(tmp_path / name).read_text(encoding="utf-8") for name in ("a.tex", "a.md")]
    latex, markdown = (text.splitlines() for text in copied)
    assert r"\begin{tabular}{rllr}" in latex
    assert r"7 & BM25 of title & $-$0.31 & 9.0 \\" in latex
    cells = [[cell.strip(" -") for cell in line.split("|")[1:-1]] for line in markdown[1:4:2]]
    assert cells == [[":", "", "", ":"], ["7", "BM25 of title", "−0.31", "9.0"]]


def test_saving_takes_the_format_that_was_chosen(table, tmp_path, monkeypatch):
    answer = (str(tmp_path / "a"), "LaTeX (*.tex)")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: answer)
    table.save_as()
    assert (tmp_path / "a.tex").read_text(encoding="utf-8") == table.rows_as(".tex")


def test_saving_says_when_it_cannot(table, tmp_path, monkeypatch):
    said = []
    table.failed.connect(said.append)
    for name in ("a", "no/b.csv", ""):
        answer = (str(tmp_path / name) if name else "", "CSV (*.csv)")
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, answer=answer: answer)
        table.save_as()
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    assert len(said) == 1 and naming("b.csv").search(said[0])
    with pytest.raises(OutputError):
        table.export(tmp_path / "no" / "b.csv")
