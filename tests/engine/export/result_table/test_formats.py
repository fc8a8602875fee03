"""A table of results is read back by each format's own reader, which knows nothing of what wrote it."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from math import nan
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.errors import MissingExtraError, OutputError, ParameterError
from rankstudio.engine.export.result_table.formats import FORMATS, table_format
from rankstudio.engine.export.result_table.table import (
    ResultCell,
    ResultColumn,
    ResultRow,
    ResultTable,
    TableStyle,
)
from rankstudio.engine.support.escaping import one_line, unguarded

VOID = {"meta", "br", "hr", "img"}


def table(title: str = "λ 2^0 & 50 % of <b>Größe</b>") -> ResultTable:
    """Return two groups of columns, three rows, one of them with a name that is markup everywhere."""
    columns = (
        ResultColumn("MAP", "MQ2008"),
        ResultColumn("NDCG@10", "MQ2008"),
        ResultColumn("Disagreement", "OHSUMED", higher_is_better=False),
    )
    rows = (
        ResultRow(
            "GAS",
            (
                ResultCell(0.51236, 0.04, 5, 0.03),
                ResultCell(0.25, 0.01, 5),
                ResultCell(),
            ),
        ),
        ResultRow(
            title,
            (
                ResultCell(0.4, 0.02, 5),
                ResultCell(0.2500001, 0.0, 5, 0.5),
                ResultCell(0.31, nan, 1, 0.004),
            ),
        ),
        ResultRow(
            "=1+1",
            (ResultCell(0.3, 0.1, 5, 0.05), ResultCell(), ResultCell(0.1234, nan, 1)),
        ),
    )
    return ResultTable(
        "MAP & more_things of 100 %.", columns, rows, ("By LETOR 4.0.",), "† p < 0.05."
    )


class TableReader(HTMLParser):
    """Reads cells, and refuses tags that are not closed in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.within: list[str] = []
        self.marked: list[tuple[str, str]] = []
        self.spans: list[int] = []
        self.feed(text)
        self.close()
        assert self.within == []

    def handle_starttag(self, tag, attrs) -> None:
        if tag not in VOID:
            self.within.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
            self.spans.append(int(dict(attrs).get("colspan") or 1))

    def handle_endtag(self, tag) -> None:
        assert self.within.pop() == tag

    def handle_data(self, data) -> None:
        if {"th", "td"} & set(self.within):
            self.rows[-1][-1] += data
        if self.within and self.within[-1] in ("b", "u", "sup"):
            self.marked.append((self.within[-1], data))


def booktabs(text: str) -> list[list[str]]:
    """Return the cells of a table in LaTeX, of which every part has to be as booktabs wants it."""
    assert text.count("{") == text.count("}")
    begun = re.findall(r"\\begin\{(\w+)\}", text)
    assert begun[0] == "table"
    assert sorted(begun) == sorted(re.findall(r"\\end\{(\w+)\}", text))
    assert [
        text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")
    ] == [1, 1, 1]
    columns = re.search(r"\\begin\{tabular\}\{([lcr]+)\}", text)
    assert columns
    assert "|" not in columns[1]
    inside = text[columns.end() : text.index(r"\end{tabular}")]
    rows = []
    for line in inside.splitlines():
        if not line.endswith(r"\\"):
            assert re.fullmatch(
                r"(\\(top|mid|bottom)rule|(\\cmidrule\(lr\)\{\d+-\d+\})+|)", line
            ), line
            continue
        cells = re.split(r"(?<!\\)&", line.removesuffix(r"\\"))
        width = sum(
            int(m[1]) if (m := re.match(r"\s*\\multicolumn\{(\d+)\}", c)) else 1
            for c in cells
        )
        assert width == len(columns[1])
        rows.append([cell.strip() for cell in cells])
    return rows


PLAIN, WHOLE = TableStyle(), TableStyle(None, True, True, True)


def text(key: str, style: TableStyle = WHOLE, of: ResultTable | None = None) -> str:
    return table_format(key).content(of or table(), style).decode("utf-8")


def workbook(of: ResultTable, style: TableStyle) -> Any:
    return openpyxl.load_workbook(
        io.BytesIO(table_format("excel").content(of, style))
    ).active


def parquet(of: ResultTable) -> Any:
    return pq.read_table(io.BytesIO(table_format("parquet").content(of, WHOLE)))


def test_the_best_is_what_is_seen_to_be_best() -> None:
    assert table().ranks(4) == [
        ("best", "", ""),
        ("second", "", "second"),
        ("", "", "best"),
    ]
    assert table().ranks(7)[0] == ("best", "second", "")
    one = ResultTable("", (ResultColumn("MAP"),), (ResultRow("a", (ResultCell(nan),)),))
    assert one.ranks(4) == [("",)]


def test_marks_are_those_of_the_corrected_p() -> None:
    cells = [ResultCell(p=p) for p in (0.0099, 0.01, 0.0499, 0.05, nan)]
    assert [cell.mark for cell in cells] == ["‡", "†", "†", "", ""]


def test_latex_has_the_structure_of_booktabs_and_nothing_of_a_name_is_markup() -> None:
    written = text("latex")
    rows = booktabs(written)
    assert rows[0] == [
        "",
        r"\multicolumn{2}{c}{MQ2008}",
        r"\multicolumn{1}{c}{OHSUMED}",
    ]
    assert r"\cmidrule(lr){2-3}\cmidrule(lr){4-4}" in written
    assert rows[1] == ["Method", "MAP", "NDCG@10", "Disagreement"]
    assert rows[2] == [
        "GAS",
        r"\textbf{0.5124} $\pm$ 0.0400\rlap{$^{\dagger}$}",
        r"0.2500 $\pm$ 0.0100",
        "--",
    ]
    assert rows[3][0] == r"$\lambda$ $2^{0}$ \& 50 \% of $<$b$>$Größe$<$/b$>$"
    assert rows[3][3] == r"\underline{0.3100}\rlap{$^{\ddagger}$}"
    assert r"\caption{MAP \& more\_things of 100 \%.}" in written
    bare = text("latex", PLAIN)
    assert booktabs(bare)[2] == ["GAS", "0.5124", "0.2500", "--"]
    assert "textbf" not in bare
    assert "dagger" not in bare


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex")
def test_latex_compiles_and_the_pdf_has_the_numbers(tmp_path: Path) -> None:
    (tmp_path / "table.tex").write_text(text("latex"), encoding="utf-8")
    page = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\\input{table}\\end{document}"
    (tmp_path / "page.tex").write_text(page, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    if shutil.which("pdftotext"):
        subprocess.run(
            ["pdftotext", "-layout", "page.pdf"], cwd=tmp_path, timeout=60, check=True
        )
        read = (tmp_path / "page.txt").read_text(encoding="utf-8")
        assert all(
            number in read
            for number in ("0.5124", "0.0400", "0.3100", "0.1234", "NDCG@10")
        )


def test_html_is_read_back_and_its_tags_are_closed() -> None:
    read = TableReader(text("html"))
    assert read.rows[0] == ["", "MQ2008", "OHSUMED"]
    assert read.rows[1] == ["Method", "MAP", "NDCG@10", "Disagreement"]
    assert read.rows[2] == ["GAS", "0.5124 ± 0.0400†", "0.2500 ± 0.0100", "–"]
    assert read.rows[3][0] == "λ 2^0 & 50 % of <b>Größe</b>"
    assert read.marked[:3] == [("b", "0.5124"), ("sup", "†"), ("u", "0.4000")]
    assert read.spans[:3] == [1, 2, 1]


def test_markdown_is_a_table_and_escapes_names() -> None:
    lines = text("markdown").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in lines
        if line[:1] == "|"
    ]
    assert cells[0] == [
        "Method",
        "MQ2008 MAP",
        "MQ2008 NDCG@10",
        "OHSUMED Disagreement",
    ]
    assert cells[2] == ["GAS", "**0.5124** ± 0.0400†", "0.2500 ± 0.0100", "–"]
    assert cells[3][0] == r"λ 2^0 \& 50 % of \<b\>Größe\</b\>"
    assert cells[3][3] == "<ins>0.3100</ins>‡"
    assert len({len(line) for line in lines if line[:1] == "|"}) == 1


@pytest.mark.parametrize(("key", "separator"), [("csv", ","), ("tsv", "\t")])
def test_separated_values_have_all_digits_and_no_formula(
    key: str, separator: str
) -> None:
    header, *rows = csv.reader(io.StringIO(text(key), newline=""), delimiter=separator)
    assert header[:5] == [
        "Method",
        "MQ2008 MAP",
        "MQ2008 MAP sd",
        "MQ2008 MAP p",
        "MQ2008 NDCG@10",
    ]
    assert "OHSUMED Disagreement sd" not in header
    first = dict(zip(header, rows[0], strict=True))
    assert float(first["MQ2008 MAP"]) == 0.51236
    assert float(first["MQ2008 MAP p"]) == 0.03
    assert first["OHSUMED Disagreement"] == ""
    assert rows[2][0] == "'=1+1"
    rounded = next(
        csv.DictReader(io.StringIO(text(key, TableStyle(2))), delimiter=separator)
    )
    assert rounded["MQ2008 MAP"] == "0.51"


def test_a_workbook_has_numbers_as_numbers_and_ranks_as_formats() -> None:
    sheet = workbook(table(), WHOLE)
    rows = list(sheet.iter_rows())
    assert rows[0][0].value == "MAP & more_things of 100 %."
    assert [cell.value for cell in rows[2]] == [
        None,
        "MQ2008",
        None,
        None,
        None,
        "OHSUMED",
    ]
    assert [str(one) for one in sheet.merged_cells.ranges] == ["B3:E3"]
    assert [c.value for c in rows[3]] == [
        "Method",
        "MAP",
        "MAP sd",
        "NDCG@10",
        "NDCG@10 sd",
        "Disagreement",
    ]
    best, spread, *_ = rows[4][1:]
    assert (best.value, best.data_type, best.font.b) == (0.51236, "n", True)
    assert best.number_format == '0.0000"†"'
    assert (spread.value, spread.number_format) == (0.04, "0.0000")
    assert rows[4][5].value is None
    assert (rows[5][5].font.u, rows[5][5].number_format) == ("single", '0.0000"‡"')
    assert (rows[6][0].value, rows[6][0].data_type) == ("=1+1", "s")
    assert rows[8][0].value == "By LETOR 4.0."
    cell = workbook(table(), TableStyle(0))["B5"]
    assert (cell.value, cell.number_format) == (1, "0")


def test_parquet_has_columns_of_numbers() -> None:
    read = parquet(table())
    assert [str(kind) for kind in read.schema.types] == [
        "string",
        *["double"] * (read.num_columns - 1),
    ]
    assert read["Method"].to_pylist()[0] == "GAS"
    assert read["MQ2008 MAP"].to_pylist() == [0.51236, 0.4, 0.3]
    assert read["OHSUMED Disagreement"].to_pylist() == [None, 0.31, 0.1234]
    assert read.schema.metadata[b"caption"] == b"MAP & more_things of 100 %."


@pytest.mark.parametrize("key", [one.key for one in FORMATS])
def test_a_table_without_groups_or_rows_can_be_written(key: str) -> None:
    rows = (ResultRow("a", (ResultCell(0.5),)),)
    for found in (
        ResultTable("c", (ResultColumn("MAP"),), rows),
        ResultTable("c", (ResultColumn("MAP"),), ()),
    ):
        assert table_format(key).content(found, WHOLE)
    if key == "latex":
        assert [len(row) for row in booktabs(text(key, WHOLE, found))] == [2]


def test_what_cannot_be_written_is_told(monkeypatch) -> None:
    with pytest.raises(
        ParameterError, match=r"format: expected one of latex \(\.tex\), .* got 'docx'"
    ):
        table_format("docx")
    for key in ("csv", "tsv", "parquet"):
        with pytest.raises(OutputError, match="Expected names in UTF-8"):
            table_format(key).content(table("a\udcff"), PLAIN)
    for key, module, extra in (
        ("excel", "xlsxwriter", "excel"),
        ("parquet", "pyarrow", "parquet"),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError, match=rf"rankstudio\[{extra}\]"):
            table_format(key).content(table(), PLAIN)


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(name=names, caption=names)
def test_whatever_a_run_is_called_it_is_one_cell_and_no_markup(
    name: str, caption: str
) -> None:
    found = replace(table(name), caption=caption)
    said = one_line(name)
    assert TableReader(text("html", of=found)).rows[3][0] == said
    rows = list(csv.reader(io.StringIO(text("csv", of=found), newline="")))
    assert [len(row) for row in rows] == [len(rows[0])] * 4
    assert unguarded(rows[2][0]) == name
    assert [len(row) for row in booktabs_rows(found)] == [3, 4, 4, 4, 4]
    lines = text("markdown", of=found).split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith("| Method")]
    assert all(
        line.startswith("| ") and line.endswith(" |")
        for line in lines[starts[-1] : starts[-1] + 5]
    )
    assert (workbook(found, WHOLE)["A6"].value or "") == said
    assert parquet(found)["Method"].to_pylist()[1] == name


def booktabs_rows(found: ResultTable) -> list[list[str]]:
    """Return the rows of the table in LaTeX: what of a name is escaped counts no brace."""
    return booktabs(re.sub(r"\\[{}]", "", text("latex", of=found)))
