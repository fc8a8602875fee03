"""Figures as values: their points, axes and names, but not how they are painted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Literal

from rankstudio.engine.export.figures.style import FigureStyle

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Paper

Cell = str | float | int
Table = tuple[list[str], list[list[Cell]]]
Kind = Literal["line", "steps", "points", "area", "bars"]


@dataclass(frozen=True)
class FigureAxis:
    """An axis of a figure, or the range of its colors.

    Attributes
    ----------
    title : str
        Quantity of the axis.
    unit : str
        Unit: "s"; "" for a number without one.
    whole : bool
        Whether the quantity is a count, with ticks only at whole numbers.
    logarithmic : bool
        Whether the axis is logarithmic; all its values are then positive.
    low, high : float, optional
        Range that is visible at least; by default that of the values.
    """

    title: str
    unit: str = ""
    whole: bool = False
    logarithmic: bool = False
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """Title with unit: "time (s)"."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True)
class Series:
    """One series of a figure: points over two axes, with a label and a style.

    Attributes
    ----------
    label : str
        Label in the legend; "" to leave it out.
    x, y : tuple of float
        Coordinates; values that are not finite leave gaps.
    low, high : tuple of float
        Ends of an interval around each point, drawn as a band or as
        whiskers; empty for none.
    kind : {"line", "steps", "points", "area", "bars"}
        How the points are shown.
    number : int
        Style number, from 0; equal numbers look the same in all figures.
    order : float, optional
        Position of the series from 0 to 1, if the series of the figure
        are ordered, as for a grid.
    note : str
        Note next to the label in the table, such as the number of the run.
    dashes : tuple of float, optional
        Lengths of dashes and gaps in line widths, if different from the style.
    bold : bool
        Whether the line is thick and above the others, as that of the
        current choice.
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
    bold: bool = False


@dataclass(frozen=True)
class Level:
    """A reference line across a figure, at a value to compare with.

    Attributes
    ----------
    label : str
        Label in the legend.
    value : float
        Position of the line on its axis.
    vertical : bool
        Whether the value is one of the x axis, so that the line is vertical.
    """

    label: str
    value: float
    vertical: bool = False


@dataclass(frozen=True)
class Mark:
    """A highlighted point of a figure.

    Attributes
    ----------
    label : str
        Label of the point in the legend.
    x, y : float
        Coordinates of the point.
    """

    label: str
    x: float
    y: float


@dataclass(frozen=True)
class CurvesFigure:
    """A figure with several series over two axes.

    Attributes
    ----------
    name : str
        Name of the figure and of its file.
    title : str
        Short title.
    caption : str
        Caption below the figure.
    x, y : FigureAxis
        The two axes.
    series : tuple of Series
        The series, in the order of the legend.
    levels : tuple of Level
        Reference lines across the figure.
    marks : tuple of Mark
        Highlighted points.
    family : str
        Quantity that orders the series: "λ".
    square : bool
        Whether both axes have the same range and scale, with the diagonal.
    bands : str
        Meaning of the bands, for the legend; "" without bands, or if a
        name explains them.
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
        """Whether the figure is empty."""
        return not any(_has_finite_point(series.x, series.y) for series in self.series)

    def table(self) -> Table:
        """Return the header and the rows of a table of the plotted values, one row per point.

        The points are those of the series, then levels (lines to
        compare with) and marked points.
        """
        # Points of the series; their ranges have two further columns if
        # any series has ranges.
        has_ranges = any(series.low for series in self.series)
        header = [
            "series",
            self.x.text,
            self.y.text,
            *(["low", "high"] if has_ranges else []),
        ]
        rows: list[list[Cell]] = []
        for series in self.series:
            low = _nan_if_empty(series.low, series)
            high = _nan_if_empty(series.high, series)
            for index, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
                range_cells = [low[index], high[index]] if has_ranges else []
                rows.append([series.label or series.note, x, y, *range_cells])
        # Levels have one coordinate, marks have both. NaN is an empty cell.
        blanks: list[Cell] = [float("nan")] * 2 if has_ranges else []
        for level in self.levels:
            x, y = (
                (level.value, float("nan"))
                if level.vertical
                else (float("nan"), level.value)
            )
            rows.append([level.label, x, y, *blanks])
        rows += [[mark.label, mark.x, mark.y, *blanks] for mark in self.marks]
        return header, rows


@dataclass(frozen=True)
class RowSeries:
    """One value in each row of a figure of rows, with a label and a style.

    Attributes
    ----------
    label : str
        Label in the legend, if the figure has several series.
    values : tuple of float
        Value of each row; NaN for none.
    low, high : tuple of float
        Ends of an interval around each value; empty for none.
    number : int
        Style number, from 0; equal numbers look the same in all figures.
    marks : tuple of str
        Marks beside the values, such as "*" for significance; empty for none.
    """

    label: str
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    number: int = 0
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class RowHistograms:
    """Histograms in the rows of a figure, each scaled to its highest bin.

    Attributes
    ----------
    edges : tuple of float
        Edges of the bins, ascending.
    shares : tuple of tuple of float
        For each row, the share of its values in each bin.
    """

    edges: tuple[float, ...]
    shares: tuple[tuple[float, ...], ...]

    @property
    def columns(self) -> list[str]:
        """Names of the bins in a table."""
        return [
            f"{low:g} to {high:g}"
            for low, high in zip(self.edges, self.edges[1:], strict=False)
        ]


@dataclass(frozen=True)
class RowsFigure:
    """A figure with named rows, in each of which are bars or points.

    Attributes
    ----------
    name, title, caption : str
        As in :class:`CurvesFigure`.
    axis : FigureAxis
        Axis of the values.
    rows : tuple of str
        Names of the rows, from top to bottom.
    series : tuple of RowSeries
        The series, each with a value per row.
    bars : bool
        Whether values are bars from 0 instead of points.
    zero : bool
        Whether there is a line at 0.
    strong : frozenset of int
        Positions of the highlighted rows, from 0.
    strong_label : str
        Meaning of the highlighted rows.
    row_title : str
        Meaning of the rows, for the table.
    numbers : tuple of int
        Style number of each row, if the rows have styles of their own.
    histograms : RowHistograms, optional
        Histograms behind the points.
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
        """Whether the figure is empty."""
        return all(isnan(value) for series in self.series for value in series.values)

    def table(self) -> Table:
        """Return header and rows of the plotted values, one row per name."""
        header = [self.row_title]
        columns = list[tuple[Cell, ...]]()

        # Columns of each series: values, their range, and marks, if there are any.
        for series in self.series:
            title = series.label or self.axis.text
            header += [
                title,
                *([f"{title}, low", f"{title}, high"] if series.low else []),
            ]
            columns += [
                series.values,
                *((series.low, series.high) if series.low else ()),
            ]
            header += [f"{title}, marks"] if series.marks else []
            columns += [series.marks] if series.marks else []

        # Further columns for emphasized rows, whose numbers are in
        # `strong`, and for histograms.
        if self.strong:
            header.append(self.strong_label or "marked")
            strong_rows = [row in self.strong for row in range(len(self.rows))]
            columns.append(
                tuple("yes" if is_strong else "no" for is_strong in strong_rows)
            )
        if self.histograms is not None:
            header += self.histograms.columns
            columns += list(zip(*self.histograms.shares, strict=True))

        # So far the values are columns: make rows of them.
        return header, [
            [name, *(column[row] for column in columns)]
            for row, name in enumerate(self.rows)
        ]


@dataclass(frozen=True)
class MapFigure:
    """A figure with a cell for each row and column, whose color shows a value.

    Attributes
    ----------
    name, title, caption : str
        As in :class:`CurvesFigure`.
    rows, columns : tuple of str
        Names of rows from top to bottom, and of columns from left to right.
    values : tuple of tuple of float
        Values of each row; NaN for none.
    row_title, column_title : str
        Meaning of rows and columns; "" for rows with self-explanatory names.
    color : FigureAxis
        Quantity of the colors, and its range; values beyond have the
        last color.
    decimals : int
        Number of decimals of the written values.
    written : bool
        Whether cells with enough space show their value.
    first_dark : bool
        Whether the smallest value is the strongest, as for ranks.
    marked : tuple of (int, int)
        Row and column of the highlighted cells.
    mark_label : str
        Meaning of the highlighted cells.
    ends : tuple of (float, str)
        Values of the color bar with words instead of numbers; empty for
        numbers.
    groups : tuple of (str, int)
        Groups of adjacent columns, by name and count; empty for none.
    named : tuple of str
        Names of the columns in a table; by default the title of the
        columns with each name.
    short_rows : tuple of str
        Short names of rows, used if there is no space for the full
        ones; empty if there always is space.
    short_title : str
        Meaning of the short names.
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
        """Whether the figure is empty."""
        return all(isnan(value) for row in self.values for value in row)

    def table(self) -> Table:
        """Return header and rows of the plotted values, as they are in the map."""
        # Full names of the columns, where those of the map are short.
        columns = self.named or [
            f"{self.column_title} {name}".strip() for name in self.columns
        ]
        header = [self.row_title or "row", *columns]
        return header, [
            [name, *row] for name, row in zip(self.rows, self.values, strict=True)
        ]


@dataclass(frozen=True)
class OwnFigure(ABC):
    """Base class of figures of other kinds, which a plug-in adds with code that paints them.

    Attributes
    ----------
    name, title, caption : str
        As in :class:`CurvesFigure`.
    """

    name: str
    title: str
    caption: str

    @property
    @abstractmethod
    def empty(self) -> bool:
        """Whether the figure is empty."""

    @abstractmethod
    def table(self) -> Table:
        """Return the drawn values: column names, and rows of texts and numbers."""

    @abstractmethod
    def paper(self, style: FigureStyle) -> Paper:
        """Return the figure as a page with its final layout; a `FigurePage` helps to make one.

        The class is in
        :mod:`rankstudio.engine.export.figures.page`. The
        method is called within
        :func:`rankstudio.engine.export.figures.painter.painting`,
        and imports matplotlib only there.
        """


Figure = CurvesFigure | RowsFigure | MapFigure | OwnFigure


def _has_finite_point(x: Sequence[float], y: Sequence[float]) -> bool:
    """Return whether any point of a curve has two finite coordinates."""
    return any(
        abs(a) < float("inf") and abs(b) < float("inf")
        for a, b in zip(x, y, strict=True)
    )


def _nan_if_empty(values: tuple[float, ...], series: Series) -> tuple[float, ...]:
    """Return values, or NaN for each point without any."""
    return values or (float("nan"),) * len(series.x)
