"""Candidates of a step as sorted bars: who won, and by how much."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isnan

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter

from rankstudio.engine.export.figures.values import (
    FigureAxis,
    RowSeries,
    RowsFigure,
)
from rankstudio.ui.language import tr
from rankstudio.ui.plots.axes import AIR, Axes
from rankstudio.ui.plots.base import (
    DEFAULT_FILE_NAME,
    MOST_BARS,
    Numbers,
    Plot,
    describe,
)
from rankstudio.ui.plots.layers import Frame, hairline
from rankstudio.ui.plots.readout import Line
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import BELOW, SMALL, TINY, font
from rankstudio.ui.style.theme import Theme

_MIN_COLUMN_WIDTH = 21.0  # pixels of a bar with the gap to the next one
_MAX_COLUMN_WIDTH = 44.0
_BAR_SHARE = 0.72  # of that width
_GAP = 10.0  # pixels between the title and the count
_SCALE_WIDTH = 56.0  # pixels left of the bars, for the numbers of their axis


@dataclass(frozen=True)
class Bar:
    """The bar of one candidate of a step.

    Attributes
    ----------
    id : hashable
        Id of the candidate, written below the bar and emitted when the
        bar is clicked.
    name : str
        Shown when the mouse is over the bar.
    value : float
        Length of the bar, greater is better; NaN for a candidate
        without a score, which gets no bar.
    """

    id: Hashable
    name: str
    value: float


class BarsPlot(Plot):
    """Bars of the candidates of a step of selection, as many as fit, the best first.

    The bar of the winner, the candidate that was selected, has the
    accent color.

    Parameters
    ----------
    theme : Theme
    title : str
        What the bars measure: "drop in criterion".

    Attributes
    ----------
    bars : list of Bar
        All candidates, the best first.
    winner : hashable or None
        Id of the candidate that was selected.
    picked : Signal(object)
        Id of the bar that was clicked.
    """

    picked = Signal(object)

    def __init__(self, theme: Theme, title: str = "") -> None:
        self.bars: list[Bar] = []
        self.winner: Hashable | None = None
        self._outlined_id: Hashable | None = None
        super().__init__(theme, Axes(title, show_x=False))
        self.add_layer(self._draw, 0.0, clipped=False)

    def set_bars(self, bars: Sequence[Bar], winner: Hashable | None = None) -> None:
        """Show other candidates.

        Parameters
        ----------
        bars : sequence of Bar
            The bars in any order. They are sorted by value; bars of
            equal values keep their order.
        winner : hashable, optional
            Id of the selected candidate, where it is not the longest
            bar (a pinned feature).
        """
        scored = [bar for bar in bars if not isnan(bar.value)]
        self.bars = sorted(scored, key=lambda bar: -bar.value)
        self.winner = self.bars[0].id if winner is None and self.bars else winner
        self.show_anew()

    def select(self, bar_id: Hashable | None) -> None:
        """Outline the bar of an id; None removes the outline."""
        self._outlined_id = bar_id
        self.mark_dirty()

    def count_text(self, frame: Frame) -> str:
        """Return the number of candidates that are shown, and of all: "14 of 41".

        ``frame`` is the layout of the drawing. Return "" where all
        candidates are shown.
        """
        total = len(self.bars)
        n_shown = len(self.shown(frame.area.width()))
        return (
            tr("{shown} of {total}").format(shown=n_shown, total=total)
            if total > n_shown
            else ""
        )

    def beside_title(self, frame: Frame) -> float:
        """Return the width in pixels of the count of shown bars, at the right of the title."""
        text = self.count_text(frame)
        return (
            QFontMetricsF(font(SMALL)).horizontalAdvance(text) + _GAP if text else 0.0
        )

    def shown(self, width: float | None = None) -> list[Bar]:
        """Return the bars, with the winner, that fit into a width in pixels.

        The width is the plot's by default. A bar is at least as wide as
        its id below it.
        """
        available_width = self._room(self.width()) if width is None else width
        metrics = QFontMetricsF(font(TINY))
        # The first 60 ids are taken as typical of all.
        widest = max(
            (metrics.horizontalAdvance(str(bar.id)) for bar in self.bars[:60]),
            default=0.0,
        )
        # 7 pixels are between two ids
        count = max(1, int(available_width // max(_MIN_COLUMN_WIDTH, widest + 7)))
        bars = self.bars[:count]
        if len(self.bars) > count and self.winner not in [bar.id for bar in bars]:
            # The winner takes the last place, unless it has no score
            # and therefore no bar.
            winner_bars = [bar for bar in self.bars if bar.id == self.winner]
            bars[-1:] = winner_bars or bars[-1:]
        return bars

    def slots(self, frame: Frame, bars: Sequence[Bar]) -> list[QRectF]:
        """Return the rectangle of each bar: above the line of zero, or below it for a negative value."""
        # Each bar is in the middle of a column of the plot area.
        area = frame.area
        column_width = min(_MAX_COLUMN_WIDTH, area.width() / max(1, len(bars)))
        zero = frame.y_px(0.0)
        rects = []
        for i, bar in enumerate(bars):
            # at least 1.5 pixels high, so that a value near 0 is visible
            height = max(1.5, abs(frame.y_px(bar.value) - zero))
            gap = column_width * (1 - _BAR_SHARE)
            left_edge = area.left() + i * column_width + gap / 2
            top = zero - height if bar.value >= 0 else zero
            rects.append(
                QRectF(
                    round(left_edge),
                    top,
                    round(column_width * _BAR_SHARE),
                    height,
                )
            )
        return rects

    # Plot

    def frame_for(self, size: QSizeF) -> Frame:
        """Lay out a drawing of a size: y shows zero and the values of the bars that fit into it."""
        # Bars share the width evenly, so x has no range of its own.
        values = [0.0, *(bar.value for bar in self.shown(self._room(size.width())))]
        low = min(values)
        high = max(values)
        upper_end = high if high > low else low + 1.0
        frame = self.axes.frame(size, x_range=(0.0, 1.0), y_range=(low, upper_end))
        # The numbers of the y axis get the same width each time; only
        # numbers of many digits get more.
        frame.area.setLeft(max(_SCALE_WIDTH, frame.area.left()))
        return frame

    @staticmethod
    def _room(width: float) -> float:
        """Return the width that the bars have in a plot of ``width`` pixels."""
        return max(1.0, width - _SCALE_WIDTH - 2 * AIR)

    def is_empty(self) -> bool:
        """Return whether there are no candidates."""
        return not self.bars

    def figure(self) -> RowsFigure:
        """Return the bars as a figure for print, the best first, with the winner emphasised."""
        # A printed figure has room for some bars, and says so in its title.
        bars = self.bars[:MOST_BARS]
        title = self.axes.title
        if len(self.bars) > len(bars):
            title = tr("{title}, the first {n} of {of}").format(
                title=title, n=len(bars), of=len(self.bars)
            )
        selected = frozenset(
            index for index, bar in enumerate(bars) if bar.id == self.winner
        )
        return RowsFigure(
            name=DEFAULT_FILE_NAME,
            title=title,
            caption="",
            axis=FigureAxis(self.axes.title),
            # a name with the id, unless the name contains it
            rows=tuple(
                f"{bar.name} ({bar.id})" if str(bar.id) not in bar.name else bar.name
                for bar in bars
            ),
            series=(RowSeries("", tuple(bar.value for bar in bars)),),
            bars=True,
            strong=selected,
            strong_label=tr("selected") if selected else "",
            row_title=tr("feature"),
        )

    def numbers(self) -> Numbers:
        """Return a table of all candidates, the best first: column names, and rows of id, name and value."""
        return ["id", "name", self.axes.title or "value"], [
            [str(b.id), b.name, b.value] for b in self.bars
        ]

    def readout(self, number: int) -> list[Line]:
        """Return the lines of the box on a bar: name, value, id, and how far it is behind the longest one.

        ``number`` is the position of the bar among those that are shown.
        """
        first = self.shown()[0]  # the bars are sorted by value
        bar = self.shown()[number]
        lines = [
            Line(bar.name, f"{bar.value:.4g}", bold=True),
            Line(tr("id {id}").format(id=bar.id)),
        ]
        if bar is not first:
            lines.append(
                Line(tr("behind the longest by"), f"{first.value - bar.value:.2g}")
            )
        return lines

    def feature_of(self, number: int) -> int:
        """Return the id of a bar's feature; 0 where the bars are not features."""
        bar_id = self.shown()[number].id
        return bar_id if isinstance(bar_id, int) else 0

    def pick(self, number: int) -> None:
        """Emit `picked` with the id of a bar; ``number`` is its position among the shown bars."""
        self.picked.emit(self.shown()[number].id)

    def step(self, right: int, down: int) -> bool:
        """Move along the bars by an arrow key to the right or left; begin at the first bar.

        ``right`` is 1 or -1, and ``down`` is 0 for such a key. Emit
        `picked` with the id of the new bar. Return whether the key has
        an effect: keys up and down have none.
        """
        ids = [bar.id for bar in self.shown()]
        if down or not ids:
            return False
        index = ids.index(self._outlined_id) + right if self._outlined_id in ids else 0
        self.picked.emit(ids[max(0, min(len(ids) - 1, index))])
        return True

    def hit_test(self, point: QPointF) -> int | None:
        """Return the number of the bar whose column a pixel is in; None beside the bars."""
        frame = self.frame()
        bars = self.shown()
        # the ids stand up to 22 pixels below the plot area; 4 pixels
        # above it count as the bars, too
        bars_and_ids = frame.area.adjusted(0, -4, 0, 22)
        if not bars or not bars_and_ids.contains(point):
            return None
        column_width = min(_MAX_COLUMN_WIDTH, frame.area.width() / len(bars))
        number = int((point.x() - frame.area.left()) // column_width)
        return number if 0 <= number < len(bars) else None

    def summary(self) -> str:
        """Return in words which candidate won, the best other one, and by how much it won.

        A pinned feature may win without the longest bar, or without a bar.
        """
        # The bars are sorted, so the first one that is not the winner
        # is the best other one.
        winner = next((bar for bar in self.bars if bar.id == self.winner), self.bars[0])
        other = next((bar for bar in self.bars if bar is not winner), None)
        parts = [f"{winner.name} {winner.value:.4g}"]
        if other is not None:
            lead = winner.value - other.value
            word = tr("ahead of") if lead >= 0 else tr("behind")
            if lead:
                parts.append(
                    tr("{word} {name} by {lead:.2g}").format(
                        word=word, name=other.name, lead=abs(lead)
                    )
                )
            else:
                parts.append(tr("tied with {name}").format(name=other.name))
        return describe([self.axes.title, ", ".join(parts)])

    def _draw(self, painter: QPainter, frame: Frame, colors: Colors) -> None:
        """Draw the bars, their ids below, and how many of them are shown.

        The winner has the accent color, and the bar that was clicked
        last an outline.
        """
        bars = self.shown(frame.area.width())
        if self.is_empty():
            return
        for i, (bar, rect) in enumerate(
            zip(bars, self.slots(frame, bars), strict=True)
        ):
            is_winner = bar.id == self.winner
            # colors are named by their roles in the theme
            color_of_others = "muted" if i == self.under_mouse else "bar"
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.q("accent" if is_winner else color_of_others))
            radius = min(2.5, rect.height() / 2)
            painter.drawRoundedRect(rect, radius, radius)
            if bar.id == self._outlined_id:
                painter.setPen(colors.q("text"))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                # 2.5 pixels around the bar
                painter.drawRoundedRect(rect.adjusted(-2.5, -2.5, 2.5, 2.5), 4, 4)
            painter.setFont(font(TINY, bold=is_winner))
            painter.setPen(colors.q("text" if is_winner else "muted"))
            # the id, centered below the bar in a box of 60 by 16 pixels
            box = QRectF(rect.center().x() - 30, frame.area.bottom() + 4, 60, 16)
            painter.drawText(box, BELOW, str(bar.id))
        # The line of zero, and above the plot how many candidates are shown.
        zero = frame.y_px(0.0)
        area = frame.area
        hairline(
            painter,
            colors.q("line"),
            QPointF(area.left(), zero),
            QPointF(area.right(), zero),
        )
        painter.setFont(font(SMALL))
        painter.setPen(colors.q("muted"))
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
        painter.drawText(
            QRectF(0, 0, frame.outer.width(), 18), flags, self.count_text(frame)
        )
