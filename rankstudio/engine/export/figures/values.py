"""Figures as values: what is shown, over which axes, with which names; not how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal

Cell = str | float | int
Table = tuple[list[str], list[list[Cell]]]
Kind = Literal["line", "steps", "points", "area", "bars"]


@dataclass(frozen=True)
class FigureAxis:
    """An axis.

    Attributes
    ----------
    title : str
        What it measures.
    unit : str
        In which that is counted: "s"; "" for a number without one.
    whole : bool
        Whether it counts something, and has ticks at whole numbers alone.
    logarithmic : bool
        Whether equal lengths are equal ratios; then everything on it is above 0.
    low, high : float, optional
        What it shows at least; else what the values ask for.
    """

    title: str
    unit: str = ""
    whole: bool = False
    logarithmic: bool = False
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """What stands beside it: "time (s)"."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True)
class Series:
    """Points of one kind.

    Attributes
    ----------
    label : str
        In the legend; "" for what is not in it.
    x, y : tuple of float
        Where one is not finite there is a gap.
    low, high : tuple of float
        Ends of an interval around each point, drawn as a band or, around points, as whiskers; empty for none.
    kind : {"line", "steps", "points", "area", "bars"}
    number : int
        Which look it has, from 0: the same number looks the same in all figures.
    order : float, optional
        From 0 to 1, where the series of a figure have an order, as those of a grid.
    note : str
        In the table beside the label, such as which run it is.
    dashes : tuple of float, optional
        Lengths of strokes and gaps in widths of the line, where they are not those of the look.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    kind: Kind = "line"
    number: int = 0
    order: float | None = None
    note: str = ""
    dashes: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Level:
    """A value to compare with, across the figure.

    Attributes
    ----------
    label : str
    value : float
    vertical : bool
        Whether it is a value of the x axis.
    """

    label: str
    value: float
    vertical: bool = False


@dataclass(frozen=True)
class Mark:
    """A point that stands out.

    Attributes
    ----------
    label : str
    x, y : float
    """

    label: str
    x: float
    y: float


@dataclass(frozen=True)
class CurvesFigure:
    """Series over two axes.

    Attributes
    ----------
    name : str
        By which it is asked for, and called as a file.
    title : str
        What it is of, in a few words.
    caption : str
        What is to be read below it.
    x, y : FigureAxis
    series : tuple of Series
    levels : tuple of Level
    marks : tuple of Mark
    family : str
        What orders the series, where they have an order: "λ".
    square : bool
        Whether both axes show the same range at the same scale, with the diagonal.
    bands : str
        What the bands around series are, for the legend; "" where there are none, or a name says it.
    """

    name: str
    title: str
    caption: str
    x: FigureAxis
    y: FigureAxis
    series: tuple[Series, ...]
    levels: tuple[Level, ...] = ()
    marks: tuple[Mark, ...] = ()
    family: str = ""
    square: bool = False
    bands: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(_finite(one.x, one.y) for one in self.series)

    def table(self) -> Table:
        """Return the values that are drawn: a row a point."""
        ranged = any(one.low for one in self.series)
        header = ["series", self.x.text, self.y.text, *(["low", "high"] if ranged else [])]
        rows: list[list[Cell]] = []
        for one in self.series:
            ends = _padded(one.low, one), _padded(one.high, one)
            for at, (x, y) in enumerate(zip(one.x, one.y, strict=True)):
                rows.append([one.label or one.note, x, y, *([e[at] for e in ends] if ranged else [])])
        nothing: list[Cell] = [float("nan")] * 2 if ranged else []
        for level in self.levels:
            ends_of: list[Cell] = (
                [level.value, float("nan")] if level.vertical else [float("nan"), level.value]
            )
            rows.append([level.label, *ends_of, *nothing])
        rows += [[mark.label, mark.x, mark.y, *nothing] for mark in self.marks]
        return header, rows


@dataclass(frozen=True)
class RowSeries:
    """A value of each row.

    Attributes
    ----------
    label : str
        In the legend, where there are several.
    values : tuple of float
        NaN for none.
    low, high : tuple of float
        Ends of an interval around each value; empty for none.
    number : int
        Which look it has, from 0.
    """

    label: str
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    number: int = 0


@dataclass(frozen=True)
class RowHistograms:
    """How often values of rows occur, each up to its highest bin.

    Attributes
    ----------
    edges : tuple of float
        Of the bins, ascending.
    shares : tuple of tuple of float
        Of each row, in each bin.
    """

    edges: tuple[float, ...]
    shares: tuple[tuple[float, ...], ...]

    @property
    def columns(self) -> list[str]:
        """What the bins are called in a table."""
        return [f"{low:g} to {high:g}" for low, high in zip(self.edges, self.edges[1:], strict=False)]


@dataclass(frozen=True)
class RowsFigure:
    """Names below each other, with bars or points beside them.

    Attributes
    ----------
    name, title, caption : str
        As of :class:`CurvesFigure`.
    axis : FigureAxis
        Of the values.
    rows : tuple of str
        Their names, from top to bottom.
    series : tuple of RowSeries
    bars : bool
        Whether values are bars from 0; else they are points.
    zero : bool
        Whether there is a line at 0.
    strong : frozenset of int
        Rows that stand out.
    strong_label : str
        What these are.
    row_title : str
        What the rows are, in the table.
    numbers : tuple of int
        Looks of the rows, where each has its own.
    histograms : RowHistograms, optional
        What stands behind the points.
    """

    name: str
    title: str
    caption: str
    axis: FigureAxis
    rows: tuple[str, ...]
    series: tuple[RowSeries, ...]
    bars: bool = False
    zero: bool = False
    strong: frozenset[int] = frozenset()
    strong_label: str = ""
    row_title: str = "feature"
    numbers: tuple[int, ...] = ()
    histograms: RowHistograms | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return all(isnan(value) for one in self.series for value in one.values)

    def table(self) -> Table:
        """Return the values that are drawn: a row a name."""
        header, columns = [self.row_title], list[tuple[Cell, ...]]()
        for one in self.series:
            called = one.label or self.axis.text
            header += [called, *([f"{called}, low", f"{called}, high"] if one.low else [])]
            columns += [one.values, *((one.low, one.high) if one.low else ())]
        if self.strong:
            header.append(self.strong_label or "marked")
            columns.append(tuple("yes" if at in self.strong else "no" for at in range(len(self.rows))))
        if self.histograms is not None:
            header += self.histograms.columns
            columns += list(zip(*self.histograms.shares, strict=True))
        return header, [[name, *(c[at] for c in columns)] for at, name in enumerate(self.rows)]


@dataclass(frozen=True)
class MapFigure:
    """A value of each row and column, as a colour.

    Attributes
    ----------
    name, title, caption : str
        As of :class:`CurvesFigure`.
    rows, columns : tuple of str
        From top to bottom, and from left to right.
    values : tuple of tuple of float
        Of each row; NaN for none.
    row_title, column_title : str
        What they are; "" for rows whose names say it.
    color : FigureAxis
        What the colours measure, and from where to where they go; what lies beyond has the last one.
    decimals : int
        Of the values that are written.
    written : bool
        Whether cells with enough room bear their value.
    first_dark : bool
        Whether the least value is the strongest one, as of ranks.
    marked : tuple of (int, int)
        Row and column of the cells that stand out.
    mark_label : str
        What these are.
    ends : tuple of (float, str)
        Values of the colour bar with words instead of numbers; empty for numbers.
    groups : tuple of (str, int)
        Columns that belong together, by name and count; empty for none.
    named : tuple of str
        What the columns are called in a table; empty for their title with each one's label.
    short_rows : tuple of str
        What rows are called where there is no room for the name of each; empty where there always is.
    short_title : str
        What they are then.
    """

    name: str
    title: str
    caption: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    row_title: str
    column_title: str
    color: FigureAxis
    decimals: int = 4
    written: bool = False
    first_dark: bool = False
    marked: tuple[tuple[int, int], ...] = ()
    mark_label: str = ""
    ends: tuple[tuple[float, str], ...] = ()
    groups: tuple[tuple[str, int], ...] = ()
    named: tuple[str, ...] = ()
    short_rows: tuple[str, ...] = ()
    short_title: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return all(isnan(value) for row in self.values for value in row)

    def table(self) -> Table:
        """Return the values that are drawn: a row and a column of the map is one of the table."""
        columns = self.named or [f"{self.column_title} {name}".strip() for name in self.columns]
        header = [self.row_title or "row", *columns]
        return header, [[name, *row] for name, row in zip(self.rows, self.values, strict=True)]


Figure = CurvesFigure | RowsFigure | MapFigure


def _finite(x: Sequence[float], y: Sequence[float]) -> bool:
    return any(abs(a) < float("inf") and abs(b) < float("inf") for a, b in zip(x, y, strict=True))


def _padded(values: tuple[float, ...], one: Series) -> tuple[float, ...]:
    return values or (float("nan"),) * len(one.x)
