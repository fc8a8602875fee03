"""Readers of tables that know nothing of what wrote them, and a table for them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from math import nan

from rankstudio.engine.export.result_table.table import ResultCell, ResultColumn, ResultRow, ResultTable

VOID = {"meta", "br", "hr", "img"}


def table(title: str = "λ 2^0 & 50 % of <b>Größe</b>") -> ResultTable:
    """Return two groups of columns, three rows, one of them with a name that is markup everywhere."""
    columns = (
        ResultColumn("MAP", "MQ2008"),
        ResultColumn("NDCG@10", "MQ2008"),
        ResultColumn("Disagreement", "OHSUMED", higher_is_better=False),
    )
    rows = (
        ResultRow("GAS", (ResultCell(0.51236, 0.04, 5, 0.03), ResultCell(0.25, 0.01, 5), ResultCell())),
        ResultRow(
            title,
            (
                ResultCell(0.4, 0.02, 5),
                ResultCell(0.2500001, 0.0, 5, 0.5),
                ResultCell(0.31, nan, 1, 0.004),
            ),
        ),
        ResultRow("=1+1", (ResultCell(0.3, 0.1, 5, 0.05), ResultCell(), ResultCell(0.1234, nan, 1))),
    )
    return ResultTable("MAP & more_things of 100 %.", columns, rows, ("By LETOR 4.0.",), "† p < 0.05.")


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
    assert [text.count(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [1, 1, 1]
    columns = re.search(r"\\begin\{tabular\}\{([lcr]+)\}", text)
    assert columns
    assert "|" not in columns[1]
    inside = text[columns.end() : text.index(r"\end{tabular}")]
    rows = []
    for line in inside.splitlines():
        if not line.endswith(r"\\"):
            assert re.fullmatch(r"(\\(top|mid|bottom)rule|(\\cmidrule\(lr\)\{\d+-\d+\})+|)", line), line
            continue
        cells = re.split(r"(?<!\\)&", line.removesuffix(r"\\"))
        width = sum(int(m[1]) if (m := re.match(r"\s*\\multicolumn\{(\d+)\}", c)) else 1 for c in cells)
        assert width == len(columns[1])
        rows.append([cell.strip() for cell in cells])
    return rows
