"""Painted cells of the table of runs: a difference with its interval, and counts of better queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QPainter

from rankstudio.engine.analysis.comparisons.significance import ALPHA, ComparedRun
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.statistics.paired import PairedComparison
from rankstudio.engine.support.number_format import signed
from rankstudio.ui.language import tr
from rankstudio.ui.plots.layers import pen
from rankstudio.ui.style import palettes
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import LEFT, SMALL, font
from rankstudio.ui.widgets import Column

Scale = tuple[float, float]
"""Least and greatest difference of a group of runs; the range contains 0."""

_SCALE_MARGIN = 10.0  # pixels at each end of the scale
_DOT_RADIUS = 4.5
# a ring looks as large as a dot, as half its line lies outside the radius
_RING_RADIUS = 3.5
_BAR_WIDTH = 96.0  # pixels of the bar of counts
_MIN_BAR_WIDTH = 32.0  # a shorter bar is not drawn
_BAR_HEIGHT = 7.0
_GAP = 8.0  # pixels between the bar and its numbers


def draw_difference(
    painter: QPainter,
    rect: QRect,
    colors: Colors,
    category: int,
    test: PairedComparison,
    scale: Scale,
) -> None:
    """Draw the reference as a dotted line, and a difference to it as a dot with its 95 % interval.

    Parameters
    ----------
    painter : QPainter
    rect : QRect
        Room of the cell.
    colors : Colors
    category : int
        Number of the run's color. The run is a dot on a line, or a ring
        on a dashed line if an earlier run has this color.
    test : PairedComparison
        The test of the run against the reference: difference and interval.
    scale : tuple of float
        Range of the differences of the group.
    """
    # Pixels per unit of the difference; the line of the interval is in
    # the middle, half a pixel lower so that it is sharp.
    low, high = scale
    per_unit = (rect.width() - 2 * _SCALE_MARGIN) / (high - low) if high > low else 0.0
    middle = rect.center().y() + 0.5

    def x_of(value: float) -> float:
        # values outside the scale, such as infinite ends, are drawn at its ends
        return (
            rect.left() + _SCALE_MARGIN + (min(max(value, low), high) - low) * per_unit
        )

    # The reference has the difference 0.
    zero = x_of(0.0)
    painter.setPen(pen(colors.q("muted"), 1.0, (1.5, 2.5)))
    painter.drawLine(QPointF(zero, rect.top() - 1), QPointF(zero, rect.bottom() + 2))
    category_look = palettes.category(colors, category)
    painter.setPen(
        pen(
            category_look.color,
            2.0,
            category_look.dash if category_look.repeats else (),
        )
    )
    painter.drawLine(QPointF(x_of(test.low), middle), QPointF(x_of(test.high), middle))
    painter.setPen(
        pen(category_look.color, 2.0) if category_look.repeats else Qt.PenStyle.NoPen
    )
    painter.setBrush(
        colors.q("panel") if category_look.repeats else category_look.color
    )
    radius = _RING_RADIUS if category_look.repeats else _DOT_RADIUS
    painter.drawEllipse(QPointF(x_of(test.mean_difference), middle), radius, radius)


def draw_counts(
    painter: QPainter, rect: QRect, colors: Colors, test: PairedComparison
) -> None:
    """Draw a bar of better, equal and worse queries, and beside it the numbers of better and worse ones.

    A cell too narrow for a bar shows the numbers alone.
    """
    text = f"{test.wins} · {test.losses}"
    painter.setFont(font(SMALL))
    text_width = painter.fontMetrics().horizontalAdvance(text)
    length = min(_BAR_WIDTH, rect.width() - text_width - _GAP)
    text_box = QRectF(rect)
    if length >= _MIN_BAR_WIDTH:
        _draw_parts(painter, rect, length, colors, test)
        text_box.setLeft(rect.left() + length + _GAP)
    painter.setPen(colors.q("muted"))
    painter.drawText(text_box, LEFT, text)


def _draw_parts(
    painter: QPainter,
    rect: QRect,
    length: float,
    colors: Colors,
    test: PairedComparison,
) -> None:
    """Draw the bar of better, equal and worse queries, of ``length`` pixels, at the left of a cell."""
    n_queries = test.wins + test.ties + test.losses
    per_query = length / n_queries if n_queries else 0.0  # pixels
    # + 1, as the center of a QRect is the pixel above its middle
    top = rect.center().y() - _BAR_HEIGHT / 2 + 1
    x = float(rect.left())
    painter.setPen(Qt.PenStyle.NoPen)
    # each part in a color of the theme, from left to right
    for count, role in (
        (test.wins, "ok"),
        (test.ties, "line_hover"),
        (test.losses, "error"),
    ):
        painter.setBrush(colors.q(role))
        painter.drawRect(QRectF(x, top, count * per_query, _BAR_HEIGHT))
        x += count * per_query


_ROLE_TEXTS = {
    "waiting": tr("comparing …"),
    "left out": tr("left out"),
    "reference": tr("reference"),
}
"""Labels of runs that were not tested."""


def is_better(run: ComparedRun, name: str) -> bool:
    """Return whether a run is significantly better than the reference by a measure."""
    # A run that was not tested has no comparison, or no corrected p-value yet.
    if run.paired_test is None or run.p_holm is None:
        return False
    is_above = run.paired_test.mean_difference > 0
    return run.p_holm < ALPHA and is_above is measure(name).higher_is_better


class DifferenceCells:
    """Table columns that show the paired test of each run against the reference of its group.

    The attribute ``key`` of a row is the number of its run.

    Parameters
    ----------
    compared : callable
        Returns the comparison of a run, given the run's number; None if
        it has none.
    scale : callable
        Returns the common scale of a run's group, given the run's
        number; None if the group has none.
    """

    def __init__(
        self,
        compared: Callable[[int], ComparedRun | None],
        scale: Callable[[int], Scale | None],
    ) -> None:
        self._compared = compared
        self._scale = scale

    def columns(self, name: str) -> list[Column]:
        """Return the columns for a measure: the difference, its corrected p-value, and counts of queries.

        ``name`` is that of the measure. The parts of a column are the
        columns that replace it in an exported file, where nothing is
        painted.
        """
        about_difference = tr(
            "{name} minus that of the reference, mean over all queries, with its bootstrap interval. "
            "The dotted line is the reference. R makes the chosen run the reference."
        )
        about_p = tr(
            "Fisher's randomisation test over queries, corrected for all ticked runs of the group"
        )
        return [
            Column(
                "difference",
                tr("difference from the reference, 95 %"),
                "center",
                value=self._difference,
                spoken=self._difference_spoken,
                paint=self._paint_difference,
                hint=self._difference_hint,
                tooltip=about_difference.format(name=name),
                tone="muted",
                sort=lambda row: self._value(row, "mean_difference"),
                width=244,
                parts=(
                    Column("role", tr("comparison"), value=self._role),
                    self._number("mean_difference", tr("difference")),
                    self._number("low", tr("95 % interval from")),
                    self._number("high", tr("95 % interval to")),
                ),
            ),
            Column(
                "p_holm",
                "p (Holm)",
                "right",
                lambda value: "< 0.0001" if value < 0.0001 else f"{value:.4f}",
                value=self._p_holm,
                tooltip=about_p,
                bold=self._is_significant,
                tone=lambda row: "muted" if self._p_holm(row) is None else "text",
                width=78,
            ),
            Column(
                "counts",
                tr("better · equal · worse"),
                value=self._counts,
                spoken=self._counts_spoken,
                paint=self._paint_counts,
                hint=self._counts_spoken,
                tooltip=tr(
                    "Queries in which the run is better than the reference, equal, worse"
                ),
                tone="muted",
                sort=lambda row: self._value(row, "wins"),
                width=184,
                parts=(
                    self._number("wins", tr("better")),
                    self._number("ties", tr("equal")),
                    self._number("losses", tr("worse")),
                ),
            ),
        ]

    def _number(self, attribute: str, title: str) -> Column:
        return Column(attribute, title, value=lambda row: self._value(row, attribute))

    def _test(self, row: Any) -> PairedComparison | None:
        run = self._compared(row.key)
        return run.paired_test if run is not None else None

    def _value(self, row: Any, attribute: str) -> object:
        test = self._test(row)
        return getattr(test, attribute) if test is not None else None

    def _p_holm(self, row: Any) -> float | None:
        run = self._compared(row.key)
        return run.p_holm if run is not None else None

    def _is_significant(self, row: Any) -> bool:
        p = self._p_holm(row)
        return p is not None and p < ALPHA

    def _role(self, row: Any) -> str:
        """Return why a run has no difference: it waits, is left out or is the reference; else ""."""
        # The comparison of the run with its reference; its
        # `paired_test` is the paired test, once it is computed. A role
        # without a text is shown as it is.
        run = self._compared(row.key)
        return (
            ""
            if run is None or run.paired_test is not None
            else _ROLE_TEXTS.get(run.role, run.role)
        )

    def _difference(self, row: Any) -> str | None:
        test = self._test(row)
        if test is None:
            return self._role(row) or ""
        text = tr("{difference} ({low} … {high})")
        return text.format(**_number_texts(test))

    def _difference_spoken(self, row: Any) -> str:
        """Return the difference and its interval as a screen reader says them.

        ``row`` is that of the run. Without a test, return why there is none.
        """
        test = self._test(row)
        if test is None:
            return self._role(row)
        return tr("{difference}, 95 % interval from {low} to {high}").format(
            **_number_texts(test)
        )

    def _difference_hint(self, row: Any) -> str:
        run = self._compared(row.key)
        differs = run.differs if run is not None else ""
        return "\n".join(filter(None, (self._difference_spoken(row), differs)))

    def _paint_difference(
        self, painter: QPainter, rect: QRect, colors: Colors, row: Any
    ) -> QRect | None:
        """Paint the difference of a run, and return None.

        ``row`` is that of the run, and ``rect`` the cell. Without a
        test, paint nothing, and return the area of the cell, in which
        the table then writes the cell's text.
        """
        # The lowest and the highest difference in the group of the run.
        scale = self._scale(row.key)
        test = self._test(row)
        if scale is None or test is None:
            return rect
        # Runs are numbered from 1, colors from 0.
        draw_difference(painter, rect, colors, row.key - 1, test, scale)
        return None

    def _counts(self, row: Any) -> str:
        test = self._test(row)
        return f"{test.wins} / {test.ties} / {test.losses}" if test is not None else ""

    def _counts_spoken(self, row: Any) -> str:
        test = self._test(row)
        if test is None:
            return ""
        text = tr("{wins} queries better, {ties} equal, {losses} worse")
        return text.format(wins=test.wins, ties=test.ties, losses=test.losses)

    def _paint_counts(
        self, painter: QPainter, rect: QRect, colors: Colors, row: Any
    ) -> QRect | None:
        """Paint the counts of a run; return the cell if the table has to write its text there."""
        test = self._test(row)
        if test is None:
            return rect
        draw_counts(painter, rect, colors, test)
        return None


def _number_texts(test: PairedComparison) -> dict[str, str]:
    values = {"difference": test.mean_difference, "low": test.low, "high": test.high}
    return {name: signed(value, 4) for name, value in values.items()}
