"""Tables of rows as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import chain
from math import isnan
from pathlib import Path

from rankstudio.engine.support.csv_cells import guarded
from rankstudio.engine.support.escaping import latex_escaped, markdown_escaped
from rankstudio.engine.support.files import write_text

_LEAST_P = 0.0001


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    """Return rows as CSV: commas, quotes where needed, floats so that they read back bit for bit, None as "".

    Texts that a spreadsheet would compute are guarded; see `rankstudio.engine.support.csv_cells`.
    """
    return "".join(_csv_line([guarded(cell) for cell in row], separator) for row in chain([header], rows))


def csv_of_values(header: Sequence[str], rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    """Return values that are drawn as CSV: as :func:`csv_text`, and NaN, where nothing is drawn, as ""."""
    known = ([None if isinstance(cell, float) and isnan(cell) else cell for cell in row] for row in rows)
    return csv_text(header, known, separator)


def _csv_line(cells: Sequence[object], separator: str) -> str:
    out = io.StringIO()
    # What is in the line's end is quoted in cells, and a lone \r would be read as one.
    csv.writer(out, delimiter=separator, lineterminator="\r\n").writerow(cells)
    return out.getvalue().removesuffix("\r\n") + "\n"


def save_csv(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows as CSV.

    Raises
    ------
    OutputError
        Where the file cannot be written.
    """
    write_text(path, csv_text(header, rows))


def markdown_text(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    """Return rows of text as a table in Markdown.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
        An empty cell will hold a dash: some readers of Markdown, Qt's among them, melt empty cells together.
    left : sequence of int
        Columns aligned to the left; the others hold numbers.
    """
    ruler = ["---" if c in left else "---:" for c in range(len(header))]
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in (_markdown_row(header), ruler, *map(_markdown_row, rows))
    )


def _markdown_row(cells: Sequence[str]) -> list[str]:
    return [markdown_escaped(cell) or "–" for cell in cells]


def latex_text(
    header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,), caption: str = ""
) -> str:
    """Return rows of text as a table in LaTeX, for the package booktabs; parameters as for Markdown.

    Parameters
    ----------
    header, rows, left
        As for :func:`markdown_text`.
    caption : str, optional
        Above the table.
    """
    columns = "".join("l" if c in left else "r" for c in range(len(header)))
    lines = [" & ".join(latex_escaped(cell) for cell in row) + r" \\" for row in (header, *rows)]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            *([rf"\caption{{{latex_escaped(caption)}}}"] if caption else []),
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def p_text(p: float) -> str:
    """Return a p-value as it is printed: four decimals, and never 0."""
    return f"<{_LEAST_P}" if p < _LEAST_P else f"{p:.4f}"


def range_text(sizes: Sequence[int]) -> str:
    """Return from where to where numbers go: "1–7", "46" where all are one, "" for none."""
    low, high = min(sizes, default=0), max(sizes, default=0)
    return "" if not sizes else str(low) if low == high else f"{low}–{high}"
