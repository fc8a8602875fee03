"""A table of results as a value: runs by measures, folds or datasets, each cell with what is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from math import isnan, nan
from typing import Literal

from rankstudio.engine.support.number_format import NOTHING

Rank = Literal["", "best", "second"]

MARKS: tuple[tuple[float, str], ...] = ((0.01, "‡"), (0.05, "†"))
"""Below which corrected p a cell bears which mark, the strictest first."""

DIGITS = 4
"""How many are shown where nobody says how many."""


@dataclass(frozen=True)
class ResultCell:
    """What a run measured in a column.

    Attributes
    ----------
    mean : float
        Over the folds; NaN where nothing was measured.
    sd : float
        Standard deviation over the folds (n - 1 in its denominator); NaN with fewer than two.
    n : int
        Folds in which the measure is defined.
    p : float
        Of the difference to the reference, corrected; NaN where nothing was tested.
    """

    mean: float = nan
    sd: float = nan
    n: int = 0
    p: float = nan

    @property
    def mark(self) -> str:
        """The mark of the corrected p: one of `MARKS`, or ""."""
        return next((mark for below, mark in MARKS if self.p < below), "")


@dataclass(frozen=True)
class ResultColumn:
    """What the cells of a column have in common.

    Attributes
    ----------
    title : str
        "NDCG@10", or the number of a fold, or a dataset.
    group : str
        What stands above neighbouring columns; "" for nothing.
    higher_is_better : bool
    """

    title: str
    group: str = ""
    higher_is_better: bool = True

    @property
    def name(self) -> str:
        """Group and title, where a header has one line: "MQ2008 MAP"."""
        return f"{self.group} {self.title}".strip()


@dataclass(frozen=True)
class ResultRow:
    """A run: what it is called, and a cell for each column."""

    title: str
    cells: tuple[ResultCell, ...]


@dataclass(frozen=True)
class TableStyle:
    """How a table is printed.

    Attributes
    ----------
    digits : int or None
        After the point; None for four, or all there are where numbers stay numbers.
    bold : bool
        Whether the best of a column is bold and the second underlined.
    marks : bool
        Whether cells bear the marks of significance.
    sd : bool
        Whether the standard deviation stands behind the mean.
    """

    digits: int | None = None
    bold: bool = False
    marks: bool = False
    sd: bool = False

    @property
    def shown_digits(self) -> int:
        """How many digits are seen."""
        return DIGITS if self.digits is None else self.digits

    def number(self, value: float) -> str:
        """Return a number as it is shown."""
        return NOTHING if isnan(value) else f"{value:.{self.shown_digits}f}"

    def deviation(self, cell: ResultCell) -> str:
        """Return the standard deviation of a cell as it is shown behind its mean; "" where it is not."""
        return self.number(cell.sd) if self.sd and not isnan(cell.sd) else ""


@dataclass(frozen=True)
class ResultTable:
    """Runs side by side.

    Attributes
    ----------
    caption : str
    columns : tuple of ResultColumn
    rows : tuple of ResultRow
    notes : tuple of str
        What has to be known of the numbers.
    mark_note : str
        What the marks mean: reference, test, correction and how many hypotheses; "" without any test.
    corner : str
        What stands above the titles of the rows.
    """

    caption: str
    columns: tuple[ResultColumn, ...]
    rows: tuple[ResultRow, ...]
    notes: tuple[str, ...] = ()
    mark_note: str = ""
    corner: str = "Method"

    def groups(self) -> list[tuple[str, int]]:
        """Return what stands above the columns, and above how many; nothing where that is blank."""
        found = [(group, len(list(one))) for group, one in groupby(c.group for c in self.columns)]
        return found if any(group for group, _ in found) else []

    def notes_of(self, style: TableStyle) -> tuple[str, ...]:
        """Return the notes of a table that is printed so."""
        found = list(self.notes)
        if style.sd and any(not isnan(cell.sd) for row in self.rows for cell in row.cells):
            found.append("± is the standard deviation over the folds.")
        if style.bold and any(any(ranks) for ranks in self.ranks(style.shown_digits)):
            found.append("The best of each column is bold, the second is underlined.")
        if style.marks and self.mark_note:
            found.append(self.mark_note)
        return tuple(found)

    def ranks(self, digits: int) -> list[tuple[Rank, ...]]:
        """Return for each row which of its cells are the best and second of their columns, as rounded."""
        columns = [
            _ranks([round(row.cells[at].mean, digits) for row in self.rows], column.higher_is_better)
            for at, column in enumerate(self.columns)
        ]
        return list(zip(*columns, strict=True)) if columns else [() for _ in self.rows]

    def styled(self, style: TableStyle) -> Iterator[tuple[ResultRow, list[tuple[ResultCell, Rank, str]]]]:
        """Yield each row with its cells, the rank and the mark that they are to be printed with."""
        for row, ranks in zip(self.rows, self.ranks(style.shown_digits), strict=True):
            yield (
                row,
                [
                    (cell, rank if style.bold else "", cell.mark if style.marks else "")
                    for cell, rank in zip(row.cells, ranks, strict=True)
                ],
            )

    def numbers(self, style: TableStyle) -> tuple[list[str], list[list[str | float | None]]]:
        """Return header and rows as plain values, one line each: means, and what else is asked for.

        A column of deviations and one of corrected p stand behind each mean, where the style wants them and
        there are any.
        """
        header = [self.corner]
        kinds = [
            ("", "mean"),
            *([(" sd", "sd")] if style.sd else []),
            *([(" p", "p")] if style.marks else []),
        ]
        values: list[list[str | float | None]] = [[row.title for row in self.rows]]
        for at, column in enumerate(self.columns):
            for suffix, kind in kinds:
                own: list[str | float | None] = [
                    _plain(getattr(row.cells[at], kind), style, kind) for row in self.rows
                ]
                if kind == "mean" or any(value is not None for value in own):
                    header.append(column.name + suffix)
                    values.append(own)
        return header, [list(row) for row in zip(*values, strict=True)]


def _plain(value: float, style: TableStyle, kind: str) -> float | None:
    if isnan(value):
        return None
    return value if style.digits is None or kind == "p" else round(value, style.digits)


def _ranks(values: list[float], higher_is_better: bool) -> list[Rank]:
    """Return which values are the best and the second; none of them where all are equal."""
    levels = sorted({value for value in values if not isnan(value)}, reverse=higher_is_better)
    named: dict[float, Rank] = dict(zip(levels, ("best", "second"), strict=False)) if len(levels) > 1 else {}
    return [named.get(value, "") for value in values]
