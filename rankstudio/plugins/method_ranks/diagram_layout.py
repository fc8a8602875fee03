"""Where the lines and texts of a critical-difference diagram are, in sizes of the text.

Paper, window and TikZ draw what :func:`laid_out` returns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from rankstudio.engine.support.escaping import one_line

Point = tuple[float, float]

_MAX_NAME_SHARE = 0.34  # of the width that names have at one side, on average of both

_NAME_GAP = 0.5  # between a line and the name at its end
_ROW = 1.45  # height of a name
_LEVEL = 0.6  # from one bar of a group to the next
_OVERHANG = 0.25  # of a bar beyond its first and last method
_MIN_TICK_GAP = 2.6  # from one rank to the next with a number


@dataclass(frozen=True)
class Stroke:
    """A line of a critical-difference diagram.

    Attributes
    ----------
    points : tuple of (float, float)
        Points of the line, measured from left and top, in sizes of the text.
    kind : {"axis", "stem", "group", "difference"}
        Axis with its ticks, line from the axis to a name, bar of a
        group, or length of the critical difference.
    """

    points: tuple[Point, ...]
    kind: Literal["axis", "stem", "group", "difference"]


@dataclass(frozen=True)
class DiagramText:
    """A text of a critical-difference diagram, with its place.

    Attributes
    ----------
    text : str
    x, y : float
        Place in sizes of the text: `y` is the middle of the text's
        height, and `x` its end at the side of `align`, or its middle.
    align : {"left", "center", "right"}
    max_width : float
        Width to which the text is shortened when it is drawn.
    """

    text: str
    x: float
    y: float
    align: Literal["left", "center", "right"]
    max_width: float = math.inf


@dataclass(frozen=True)
class DiagramLayout:
    """Lines and texts of a critical-difference diagram, with all lengths in sizes of the text.

    Attributes
    ----------
    width, height : float
    strokes : tuple of Stroke
    texts : tuple of DiagramText
    """

    width: float
    height: float
    strokes: tuple[Stroke, ...]
    texts: tuple[DiagramText, ...]


class DrawnRanks(Protocol):
    """Methods with their mean ranks, the best first, and the groups that do not differ."""

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        ...

    @property
    def ranks(self) -> tuple[float, ...]:
        """Mean ranks, ascending."""
        ...

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Methods that do not differ, each group by rank."""
        ...

    @property
    def difference(self) -> float:
        """Critical difference; NaN without tests."""
        ...


def laid_out(
    diagram: DrawnRanks, width: float, text_width: Callable[[str], float]
) -> DiagramLayout:
    """Place the lines and texts of a critical-difference diagram.

    Parameters
    ----------
    diagram : DrawnRanks
        Methods with their mean ranks, best first, and groups that do not differ.
    width : float
        Width of the diagram, in sizes of the text, as all lengths here.
    text_width : callable
        Returns the width of a text, in sizes of the text. The names of
        both sides have at most two thirds of the diagram; short names
        at one side leave more to the other side.

    Returns
    -------
    DiagramLayout
        The better half of the methods is named at the left, the other
        half at the right.
    """
    # All numbers here are lengths in sizes of the text.
    n_left = (len(diagram.methods) + 1) // 2

    # Margins for the names at both sides.
    left_names, right_names = _name_widths(
        [text_width(one_line(name)) for name in diagram.methods],
        n_left,
        _MAX_NAME_SHARE * width,
    )
    left = left_names + 1.0
    right = right_names + 1.0
    axis = _RankAxis(left, max(width - right, left + 1.0), max(2, len(diagram.methods)))
    strokes: list[Stroke] = []
    texts: list[DiagramText] = []

    # From the top: critical difference, axis, bars of the groups, names.
    top = _place_difference(diagram, axis, strokes, texts)
    axis_y = top + 1.5
    _place_axis(axis, axis_y, strokes, texts)
    below = _place_groups(diagram, axis, axis_y + 0.8, strokes)
    for column, (name, rank) in enumerate(
        zip(diagram.methods, diagram.ranks, strict=True)
    ):
        # From the axis down, then to the name: lines of the best and
        # the worst method end uppermost, so that lines do not cross.
        is_left = column < n_left
        row = column if is_left else len(diagram.methods) - 1 - column
        y = below + 0.6 + row * _ROW
        end = left - _NAME_GAP if is_left else axis.right + _NAME_GAP
        x = axis.x_of(rank)
        strokes.append(Stroke(((x, axis_y), (x, y), (end, y)), "stem"))
        name_x = end - 0.3 if is_left else end + 0.3  # a gap between line and name
        texts.append(
            DiagramText(
                one_line(name),
                name_x,
                y,
                "right" if is_left else "left",
                # A little wider, so that rounding shortens no name that fits.
                max_width=(left_names if is_left else right_names) + 0.1,
            )
        )
    return DiagramLayout(
        width, below + 0.6 + n_left * _ROW, tuple(strokes), tuple(texts)
    )


def _name_widths(
    widths: Sequence[float], n_left: int, limit: float
) -> tuple[float, float]:
    """Return the width of the names at the left and at the right side.

    Parameters
    ----------
    widths : sequence of float
        Width of the name of each method.
    n_left : int
        The first ``n_left`` names are at the left, the others at the right.
    limit : float
        Width for each side; a side gets more if the other side needs less.
    """
    left = max(widths[:n_left], default=0.0)
    right = max(widths[n_left:], default=0.0)
    return (
        min(left, max(limit, 2.0 * limit - right)),
        min(right, max(limit, 2.0 * limit - left)),
    )


@dataclass(frozen=True)
class _RankAxis:
    """The axis of ranks from 1 to the number n of methods, between two x values."""

    left: float
    right: float
    n: int

    def x_of(self, rank: float) -> float:
        """Return the x value of a rank."""
        return self.left + (rank - 1.0) / (self.n - 1) * (self.right - self.left)


def _place_difference(
    diagram: DrawnRanks,
    axis: _RankAxis,
    strokes: list[Stroke],
    texts: list[DiagramText],
) -> float:
    """Place a bar as long as the critical difference above the axis.

    The bar's lines and text are added to ``strokes`` and ``texts``.
    Return the y at which the room below begins; y grows downwards.
    Without a difference, nothing is added. Lengths are in sizes of the
    text.
    """
    if math.isnan(diagram.difference):
        return 0.0

    # The text at 0.7, and below it the bar at 1.7, with ticks at its ends.
    end = min(axis.x_of(1.0 + diagram.difference), axis.right)
    strokes.append(Stroke(((axis.left, 1.7), (end, 1.7)), "difference"))
    strokes.append(Stroke(((axis.left, 1.4), (axis.left, 2.0)), "difference"))
    if 1.0 + diagram.difference <= axis.n:  # a longer one has an open end
        strokes.append(Stroke(((end, 1.4), (end, 2.0)), "difference"))
    texts.append(DiagramText(f"CD = {diagram.difference:.2f}", axis.left, 0.7, "left"))
    return 2.2


def _place_axis(
    axis: _RankAxis, y: float, strokes: list[Stroke], texts: list[DiagramText]
) -> None:
    """Add the axis of ranks at ``y`` to the strokes, with numbered ticks above it.

    Without room for all ranks, only every second, third … one has a
    tick. Lengths are in sizes of the text.
    """
    strokes.append(Stroke(((axis.left, y), (axis.right, y)), "axis"))
    rank_width = (axis.right - axis.left) / (axis.n - 1)
    step = max(1, math.ceil(_MIN_TICK_GAP / rank_width))
    for rank in range(1, axis.n + 1, step):
        x = axis.x_of(rank)
        strokes.append(Stroke(((x, y - 0.35), (x, y)), "axis"))
        texts.append(DiagramText(str(rank), x, y - 0.95, "center"))


def _place_groups(
    diagram: DrawnRanks, axis: _RankAxis, y: float, strokes: list[Stroke]
) -> float:
    """Add a bar for each group of methods that do not differ, from ``y`` downwards.

    Bars that overlap are on different levels. Return the y at which the
    room below begins.
    """
    ends: list[float] = []  # of the last bar of each level
    for group in diagram.groups:
        start = axis.x_of(diagram.ranks[group[0]]) - _OVERHANG
        end = axis.x_of(diagram.ranks[group[-1]]) + _OVERHANG

        # the first level whose last bar ends before this one, or a new level
        level = next(
            (n for n, last in enumerate(ends) if last + _OVERHANG < start), len(ends)
        )
        ends[level : level + 1] = [end]  # replaces the end, or appends it
        strokes.append(
            Stroke(((start, y + level * _LEVEL), (end, y + level * _LEVEL)), "group")
        )
    return y + len(ends) * _LEVEL
