"""A table of results in LaTeX, for the package booktabs."""

from __future__ import annotations

from rankstudio.engine.export.result_table.table import Rank, ResultCell, ResultTable, TableStyle
from rankstudio.engine.export.tables import latex_float, latex_line
from rankstudio.engine.support.escaping import latex_escaped

_RANKS: dict[Rank, str] = {"best": r"\textbf{%s}", "second": r"\underline{%s}", "": "%s"}


def latex_table(table: ResultTable, style: TableStyle) -> str:
    """Return a table as a float of LaTeX with its caption above and its notes below.

    Columns are centred. Marks stand beside the numbers and need no room, so that the digits of a column stay
    one below the other.
    """
    head = [
        *_group_lines(table),
        latex_line(latex_escaped(title) for title in (table.corner, *(c.title for c in table.columns))),
    ]
    body = [
        latex_line([latex_escaped(row.title), *(_cell(*cell, style) for cell in cells)])
        for row, cells in table.styled(style)
    ]
    text = " ".join(map(latex_escaped, table.notes_of(style)))
    below = ["", r"\smallskip", rf"\begin{{minipage}}{{\linewidth}}\footnotesize {text}\end{{minipage}}"]
    columns = f"l{'c' * len(table.columns)}"
    float_ = latex_float(columns, head, body, latex_escaped(table.caption), below if text else ())
    return f"% \\usepackage{{booktabs}}\n{float_}\n"


def _group_lines(table: ResultTable) -> list[str]:
    """Return the line of groups, and the rules below those that have a name."""
    groups = table.groups()
    if not groups:
        return []
    cells, rules, first = [""], "", 2
    for group, width in groups:
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{latex_escaped(group)}}}")
        rules += rf"\cmidrule(lr){{{first}-{first + width - 1}}}" if group else ""
        first += width
    return [latex_line(cells), rules]


def _cell(cell: ResultCell, rank: Rank, mark: str, style: TableStyle) -> str:
    text = _RANKS[rank] % latex_escaped(style.number(cell.mean))
    if style.deviation(cell):
        text += rf" $\pm$ {style.deviation(cell)}"
    return text + (rf"\rlap{{$^{{{_MARKS[mark]}}}$}}" if mark else "")


_MARKS = {"†": r"\dagger", "‡": r"\ddagger"}
