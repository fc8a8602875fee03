"""Tables of rows as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isnan
from pathlib import Path

from rankstudio.engine.support.escaping import guarded, latex_escaped, markdown_escaped
from rankstudio.engine.support.files import write_text

_MIN_SHOWN_P = 0.0001  # four decimals are shown


def csv_text(
    header: Sequence[str], rows: Iterable[Sequence[object]], separator: str = ","
) -> str:
    """Return a header and rows as CSV: quotes if needed, floats with all bits, None as "".

    Texts that a spreadsheet would execute are escaped; see
    `rankstudio.engine.support.escaping`.
    """
    guarded_rows = ([guarded(cell) for cell in row] for row in chain([header], rows))
    return "".join(_csv_line(row, separator) for row in guarded_rows)


def csv_of_values(
    header: Sequence[str], rows: Iterable[Sequence[object]], separator: str = ","
) -> str:
    """Return plotted values as CSV, as in :func:`csv_text`, with NaN as ""."""
    blanked_rows = (
        [None if isinstance(cell, float) and isnan(cell) else cell for cell in row]
        for row in rows
    )
    return csv_text(header, blanked_rows, separator)


def _csv_line(cells: Sequence[object], separator: str) -> str:
    r"""Return cells as a line of CSV that ends with \n."""
    out = io.StringIO()
    # The writer quotes cells that contain a character of the line end. With
    # \r\n it also quotes a lone \r, which readers would take for the end of a
    # line.
    csv.writer(out, delimiter=separator, lineterminator="\r\n").writerow(cells)
    return out.getvalue().removesuffix("\r\n") + "\n"


def save_csv(
    path: str | Path, header: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Write a header and rows to a file as CSV.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    write_text(path, csv_text(header, rows))


@dataclass(frozen=True)
class TextTable:
    """A table of texts, to be printed or exported.

    Attributes
    ----------
    title : str
        Title above the table.
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequences of str
        Texts of the cells, row by row.
    left : sequence of int
        Indices of the left-aligned columns; the others contain numbers.
    note : str
        Note below the table.
    bold : frozenset of (int, int)
        Highlighted cells by row and column, for formats that support it.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Sequence[int] = (0,)
    note: str = ""
    bold: frozenset[tuple[int, int]] = frozenset()

    def side(self, column: int) -> str:
        """Return the alignment of a column."""
        return "left" if column in self.left else "right"


def markdown_text(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    left_columns: Sequence[int] = (0,),
    bold: Collection[tuple[int, int]] = (),
) -> str:
    """Return a header and rows of text as a Markdown table.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequences of str
        Texts of the cells. Empty cells get a dash, because some
        Markdown readers, including Qt's, merge empty cells.
    left_columns : sequence of int
        Indices of the left-aligned columns; the others contain numbers.
    bold : collection of (int, int)
        Highlighted cells, by row (without the header) and column.
    """
    escaped_rows = [
        [markdown_escaped(cell) or "–" for cell in row] for row in (header, *rows)
    ]
    for row, column in bold:
        escaped_rows[row + 1][column] = f"**{escaped_rows[row + 1][column]}**"
    return markdown_lines(escaped_rows, left_columns)


def markdown_lines(
    rows: Sequence[Sequence[str]], left_columns: Sequence[int] = (0,)
) -> str:
    """Return rows of text as a table of Markdown, padded for readability.

    The first row is the header. The columns in `left_columns`, counted
    from 0, are aligned to the left, all others to the right.
    """
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    ruler = [
        "-" * width if column in left_columns else "-" * (width - 1) + ":"
        for column, width in enumerate(widths)
    ]
    lines = []
    for row in (rows[0], ruler, *rows[1:]):
        cells = [
            cell.ljust(width) if column in left_columns else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def latex_text(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    left_columns: Sequence[int] = (0,),
    caption: str = "",
) -> str:
    """Return a header and rows of text as a LaTeX table for the package booktabs.

    Parameters
    ----------
    header, rows, left_columns
        As in :func:`markdown_text`.
    caption : str, optional
        Caption above the table.
    """
    columns = "".join("l" if c in left_columns else "r" for c in range(len(header)))
    head, *body = (
        latex_line(latex_escaped(cell) for cell in row) for row in (header, *rows)
    )
    return latex_float(columns, [head], body, latex_escaped(caption))


def latex_line(cells: Iterable[str]) -> str:
    """Return a row of LaTeX."""
    return " & ".join(cells) + r" \\"


def latex_float(
    columns: str,
    head: Sequence[str],
    body: Sequence[str],
    caption: str = "",
    below: Sequence[str] = (),
) -> str:
    """Return a LaTeX table for the package booktabs, with its caption above.

    Parameters
    ----------
    columns : str
        Alignment of the columns: "lrr".
    head, body, below : sequence of str
        Lines above the rule in the table, lines below this rule, and
        lines below the table.
    caption : str
        Caption in LaTeX; "" for none.
    """
    above = (
        [r"\setlength{\belowcaptionskip}{\smallskipamount}", rf"\caption{{{caption}}}"]
        if caption
        else []
    )
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            *above,
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *below,
            r"\end{table}",
        ]
    )


def p_text(p: float) -> str:
    """Return a p value for print: four decimals, and never 0."""
    return f"<{_MIN_SHOWN_P}" if p < _MIN_SHOWN_P else f"{p:.4f}"


def range_text(sizes: Sequence[int]) -> str:
    """Return the range of numbers: "1–7", "46" if all are equal, "" for none."""
    low = min(sizes, default=0)
    high = max(sizes, default=0)
    if not sizes:
        return ""
    return str(low) if low == high else f"{low}–{high}"
