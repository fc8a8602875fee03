"""A table of results as a value: runs by measures, folds or datasets.

Cells have a mean, a deviation and a p.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from math import isnan, nan
from typing import Literal

from rankstudio.engine.support.number_format import NOTHING

Rank = Literal["", "best", "second"]

MARKS: tuple[tuple[float, str], ...] = ((0.01, "‡"), (0.05, "†"))
"""Limits of the corrected p, each with its mark, the strictest limit first.

A cell has the mark of the first limit that is above its p.
"""

DIGITS = 4
"""Default number of digits."""

NO_ESTIMATE = "Values in italics are no estimates for new queries and are not ranked."
"""Note on the cells that are muted."""


@dataclass(frozen=True)
class ResultCell:
    """The result of a run in one column of a table: the mean of a measure, with its test.

    Attributes
    ----------
    mean : float
        Mean of the measure over the folds; NaN without a value.
    sd : float
        Standard deviation over the folds (n - 1 in the denominator);
        NaN with fewer than two.
    n : int
        Number of folds in which the measure is defined.
    p : float
        Corrected p value of the difference from the reference run; NaN
        without a test.
    is_estimate : bool
        Whether the mean estimates that of new queries; other means are
        not ranked.
    """

    mean: float = nan
    sd: float = nan
    n: int = 0
    p: float = nan
    is_estimate: bool = True

    @property
    def is_muted(self) -> bool:
        """Whether the cell has a mean that is not an estimate."""
        return not self.is_estimate and not isnan(self.mean)

    @property
    def mark(self) -> str:
        """The mark of the corrected p: one of `MARKS`, or ""."""
        return next((mark for limit, mark in MARKS if self.p < limit), "")


@dataclass(frozen=True)
class ResultColumn:
    """Properties of a column of a table of results.

    Attributes
    ----------
    title : str
        Title: "NDCG@10", the number of a fold, or a dataset.
    group : str
        Group title above adjacent columns; "" for none.
    higher_is_better : bool
        Whether larger means are better.
    """

    title: str
    group: str = ""
    higher_is_better: bool = True

    @property
    def name(self) -> str:
        """Group and title, for single-line headers: "MQ2008 MAP"."""
        return f"{self.group} {self.title}".strip()


@dataclass(frozen=True)
class ResultRow:
    """A row of a table of results: the name of a run, and a cell per column.

    Attributes
    ----------
    title : str
        Name of the run.
    cells : tuple of ResultCell
        Results of the run, one per column.
    block : int
        Position of the row's block in the table; only rows of the same
        block are ranked and tested together.
    """

    title: str
    cells: tuple[ResultCell, ...]
    block: int = 0


@dataclass(frozen=True)
class TableStyle:
    """Style of a printed table.

    Attributes
    ----------
    digits : int or None
        Decimals; None for four, or all digits in formats that store numbers.
    bold : bool
        Whether the best value of a column is bold and the second underlined.
    marks : bool
        Whether cells show significance marks.
    sd : bool
        Whether the standard deviation follows the mean.
    """

    digits: int | None = None
    bold: bool = False
    marks: bool = False
    sd: bool = False

    @property
    def shown_digits(self) -> int:
        """Number of visible digits."""
        return DIGITS if self.digits is None else self.digits

    def number(self, value: float) -> str:
        """Return a number as displayed."""
        return NOTHING if isnan(value) else f"{value:.{self.shown_digits}f}"

    def deviation(self, cell: ResultCell) -> str:
        """Return the standard deviation of a cell as the text after its mean.

        The result is "" if this style does not show deviations, or the
        cell has none.
        """
        return self.number(cell.sd) if self.sd and not isnan(cell.sd) else ""


@dataclass(frozen=True)
class ResultTable:
    """A table of results: a row per run, a column per measure, fold or dataset.

    Attributes
    ----------
    caption : str
        Caption of the table.
    columns : tuple of ResultColumn
    rows : tuple of ResultRow
    notes : tuple of str
        Notes on the numbers.
    mark_note : str
        Legend of the marks: reference, test, correction and number of
        hypotheses; "" without tests.
    corner : str
        Title of the first column.
    block_captions : tuple of str
        Content of each block of rows; empty for a single block.
    references : tuple of str
        Keys of the entries of BibTeX that ``rankstudio cite`` prints
        for the runs.
    """

    caption: str
    columns: tuple[ResultColumn, ...]
    rows: tuple[ResultRow, ...]
    notes: tuple[str, ...] = ()
    mark_note: str = ""
    corner: str = "Method"
    block_captions: tuple[str, ...] = ()
    references: tuple[str, ...] = ()

    def groups(self) -> list[tuple[str, int]]:
        """Return the group titles above the columns, each with its number of columns.

        Columns without a group have the title "". The result is [] if
        there are no groups.
        """
        group_widths = [
            (group, len(list(members)))
            for group, members in groupby(c.group for c in self.columns)
        ]
        return group_widths if any(group for group, _ in group_widths) else []

    def notes_of(self, style: TableStyle) -> tuple[str, ...]:
        """Return the notes below a table in a style.

        The notes are those of the table itself, and explanations of the
        symbols and type faces that the style uses.
        """
        # Deviations, ranks, muted cells, and marks.
        notes = list(self.notes)
        if style.sd and any(
            not isnan(cell.sd) for row in self.rows for cell in row.cells
        ):
            notes.append("± is the standard deviation over the folds.")
        if style.bold and any(any(ranks) for ranks in self.ranks(style.shown_digits)):
            scope = " in each block" if self.block_captions else ""
            notes.append(
                f"The best of each column{scope} is bold, the second is underlined."
            )
        if any(cell.is_muted for row in self.rows for cell in row.cells):
            notes.append(NO_ESTIMATE)
        if style.marks and self.mark_note:
            notes.append(self.mark_note)
        return tuple(notes)

    def ranks(self, digits: int) -> list[tuple[Rank, ...]]:
        """Return the rank of each cell, by row: "best", "second" or "".

        Cells are compared within their column and block. Means that are
        equal after rounding to `digits` decimals have the same rank.
        """
        ranks: list[list[Rank]] = [[""] * len(self.columns) for _ in self.rows]
        for block in sorted({row.block for row in self.rows}):
            rows = [index for index, row in enumerate(self.rows) if row.block == block]
            for column_index, column in enumerate(self.columns):
                cells = [self.rows[index].cells[column_index] for index in rows]
                # A mean that does not estimate that of new queries has no rank.
                means = [
                    round(cell.mean, digits) if cell.is_estimate else nan
                    for cell in cells
                ]
                for index, rank in zip(
                    rows, _ranks(means, column.higher_is_better), strict=True
                ):
                    ranks[index][column_index] = rank
        return [tuple(row) for row in ranks]

    def styled(
        self, style: TableStyle
    ) -> Iterator[tuple[ResultRow, list[tuple[ResultCell, Rank, str]]]]:
        """Yield each row with a tuple (cell, rank, mark) for each of its cells.

        The rank is "best", "second" or "", and the mark shows
        significance. Both are "" if the style does not show them.
        """
        for row, ranks in zip(self.rows, self.ranks(style.shown_digits), strict=True):
            cells: list[tuple[ResultCell, Rank, str]] = [
                (cell, rank if style.bold else "", cell.mark if style.marks else "")
                for cell, rank in zip(row.cells, ranks, strict=True)
            ]
            yield row, cells

    def styled_blocks(
        self, style: TableStyle
    ) -> Iterator[
        tuple[str, list[tuple[ResultRow, list[tuple[ResultCell, Rank, str]]]]]
    ]:
        """Yield each block with its caption and its rows, as from :meth:`styled`.

        The caption of a single block is "".
        """
        for block, rows in groupby(self.styled(style), lambda styled: styled[0].block):
            yield self.block_captions[block] if self.block_captions else "", list(rows)

    def numbers(
        self, style: TableStyle
    ) -> tuple[list[str], list[list[str | float | None]]]:
        """Return header and rows of the table as plain values, for data files.

        A column of means is followed by a column of deviations, and by
        a column of corrected p values, if the style requires them and
        they have any values. A missing value is None.
        """
        # Columns of values for each column of the table: the mean, and
        # what the style adds.
        header = [self.corner]
        kinds = [
            ("", "mean"),
            *([(" sd", "sd")] if style.sd else []),
            *([(" p", "p")] if style.marks else []),
        ]
        values: list[list[str | float | None]] = [[row.title for row in self.rows]]
        if self.block_captions:
            header.append("Contents")
            values.append([self.block_captions[row.block] for row in self.rows])

        # A column without any value is left out, unless it is a mean.
        for column_index, column in enumerate(self.columns):
            for suffix, kind in kinds:
                cells: list[str | float | None] = [
                    _rounded_or_none(
                        getattr(row.cells[column_index], kind), style, kind
                    )
                    for row in self.rows
                ]
                if kind == "mean" or any(value is not None for value in cells):
                    header.append(column.name + suffix)
                    values.append(cells)
        return header, [list(row) for row in zip(*values, strict=True)]


def _rounded_or_none(value: float, style: TableStyle, kind: str) -> float | None:
    """Return a number of a cell as data files have it: rounded, and None for NaN.

    `kind` is "mean", "sd" or "p". The value is rounded to the digits of
    the style, except p.
    """
    if isnan(value):
        return None
    return value if style.digits is None or kind == "p" else round(value, style.digits)


def _ranks(values: list[float], higher_is_better: bool) -> list[Rank]:
    """Return for each value of a column whether it is "best", "second", or neither, "".

    Equal values share a rank. If all values are equal, no value is the best.
    """
    levels = sorted(
        {value for value in values if not isnan(value)}, reverse=higher_is_better
    )
    # Only the first two levels have a rank.
    rank_of_level: dict[float, Rank] = (
        dict(zip(levels, ("best", "second"), strict=False)) if len(levels) > 1 else {}
    )
    return [rank_of_level.get(value, "") for value in values]
