"""How table cells are drawn: texts in their tone, weights as small bars, dots of a category, progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QToolTip

from rankstudio.ui.style import palettes
from rankstudio.ui.style.fonts import BASE, font
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.columns import (
    MISSING,
    ROW_ROLE,
    Column,
    ColumnModel,
    Dot,
    HistogramCell,
    Index,
    ProgressCell,
    Tick,
)

if TYPE_CHECKING:
    from rankstudio.ui.widgets.table import TableView

PAD = 8
"""Room at both sides of a cell, in pixels."""

WEIGHT_BAR = 44
_BAR = 7.0

# Flags are combined once: Python takes a microsecond each time, and a table has hundreds of cells.
_SELECTED = QStyle.StateFlag.State_Selected.value
_FOCUSED = QStyle.StateFlag.State_HasFocus.value
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_FLAGS = {
    "left": Qt.AlignmentFlag.AlignLeft | _MIDDLE,
    "right": Qt.AlignmentFlag.AlignRight | _MIDDLE,
    "center": Qt.AlignmentFlag.AlignHCenter | _MIDDLE,
}


class Cells(QStyledItemDelegate):
    """Draws the cells of a `TableView`.

    Parameters
    ----------
    theme : Theme
    table : TableView
    """

    def __init__(self, theme: Theme, table: TableView) -> None:
        super().__init__(table)
        self._theme = theme
        self._table = table

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the width of the text with its decorations."""
        column, row = self._table.column_at(index.column()), index.data(ROW_ROLE)
        width = option.fontMetrics.horizontalAdvance(column.text(row)) + 2 * PAD + 2
        if column.kind == "weight":
            width += WEIGHT_BAR + 8
        if column.mark is not None:
            width += 16
        return QSize(width, 29)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw ground and contents of a cell."""
        colors = self._theme.colors
        rect: QRect = option.rect
        state: int = option.state.value
        number = index.column()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & _SELECTED:
            painter.fillRect(rect, colors.q("tint"))
        elif index.row() == self._table.hovered_row:
            painter.fillRect(rect, colors.q("inset"))
        column, row = self._table.column_at(number), index.data(ROW_ROLE)
        self._paint_contents(painter, rect.adjusted(PAD, 0, -PAD, 0), column, row, number)
        if state & _FOCUSED and self._table.shows_focus():
            painter.setPen(colors.q("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(rect).adjusted(1.5, 1.5, -1.5, -1.5), 4, 4)
        painter.restore()

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index
    ) -> bool:
        """Show a cell's own tooltip, or its text where that is cut off."""
        if not index.isValid():
            return False
        column, row = self._table.column_at(index.column()), index.data(ROW_ROLE)
        text = column.hint(row) if column.hint else ""
        if not text and self.sizeHint(option, index).width() > view.visualRect(index).width():
            text = column.text(row)
        QToolTip.showText(event.globalPos(), plain(text), view)
        return True

    def _paint_contents(
        self, painter: QPainter, rect: QRect, column: Column, row: object, number: int
    ) -> None:
        """Draw what the column's kind asks for."""
        value = column.of(row)
        if isinstance(value, Dot):
            self._paint_dot(painter, rect, value)
            return
        if isinstance(value, Tick):
            self._paint_tick(painter, rect, value)
            return
        if isinstance(value, HistogramCell):
            self._paint_histogram(painter, rect, value)
            return
        bold = column.bold is not None and column.bold(row)
        painter.setFont(font(BASE, bold))
        text = column.text(row)
        if column.paint is not None:
            painter.save()
            left = column.paint(painter, rect, self._theme.colors, row)
            painter.restore()
            if left is None:
                return
            rect = left
        if isinstance(value, ProgressCell):
            rect = self._paint_progress(painter, rect, value)
        elif column.kind == "weight" and self._has_room_for_bar(painter, rect, text):
            rect = self._paint_weight(painter, rect, float(value), number)
        painter.setPen(self._theme.colors.q(column.color(row)))
        marked = column.mark is not None and column.mark(row)
        room = rect.adjusted(0, 0, -16 if marked else 0, 0)
        text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, _FLAGS[column.align], text)
        if marked:
            at = room.left() + painter.fontMetrics().horizontalAdvance(text) + 10
            self._paint_diamond(painter, QPointF(at, rect.center().y() + 1))

    def _paint_dot(self, painter: QPainter, rect: QRect, dot: Dot) -> None:
        """Draw a category's colour as a dot."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(palettes.category(self._theme.colors, dot.category).color)
        painter.drawEllipse(QPointF(rect.left() + 4.5, rect.center().y() + 0.5), 4.5, 4.5)

    def _paint_tick(self, painter: QPainter, rect: QRect, tick: Tick) -> None:
        """Draw a box like that of a check box."""
        colors = self._theme.colors
        box = QRectF(rect.left() + 0.5, rect.center().y() - 6.5, 14, 14)
        painter.setPen(QPen(colors.q("accent" if tick.on else "line_hover"), 1.0))
        painter.setBrush(colors.q("accent" if tick.on else "panel"))
        painter.drawRoundedRect(box, 3.5, 3.5)
        if tick.on:
            hook = [QPointF(3.6, 7.4), QPointF(6.2, 10.0), QPointF(10.6, 4.4)]
            painter.setPen(QPen(colors.q("on_accent"), 1.8))
            painter.drawPolyline(QPolygonF([box.topLeft() + at for at in hook]))

    def _paint_histogram(self, painter: QPainter, rect: QRect, histogram: HistogramCell) -> None:
        """Draw the shares of all as grey bars, and those of the part as a line of steps over them.

        Heights are square roots, so that a spike at zero leaves something of the rest to be seen.
        """
        if not histogram.all:
            return
        area = QRectF(rect).adjusted(0, 5, 0, -4)
        tallest = max((*histogram.all, *histogram.part))
        width = area.width() / len(histogram.all)
        colors = self._theme.colors

        def top(share: float) -> float:
            return area.bottom() - area.height() * (share / tallest) ** 0.5 if tallest else area.bottom()

        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.q("line_hover"))
        for number, share in enumerate(histogram.all):
            left = area.left() + number * width
            painter.drawRect(QRectF(left, top(share), width - 0.6, area.bottom() - top(share)))
        steps = [
            QPointF(area.left() + (number + side) * width, top(share))
            for number, share in enumerate(histogram.part)
            for side in (0, 1)
        ]
        painter.setPen(QPen(palettes.category(colors, 2).color, 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(steps))

    def _paint_diamond(self, painter: QPainter, at: QPointF) -> None:
        """Draw the mark after a text."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colors.q("accent"))
        moves = ((0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0))
        painter.drawPolygon(QPolygonF([at + QPointF(dx, dy) for dx, dy in moves]))

    @staticmethod
    def _has_room_for_bar(painter: QPainter, rect: QRect, text: str) -> bool:
        """Tell whether there is a weight, and room for its bar beside its number."""
        room = rect.width() - painter.fontMetrics().horizontalAdvance(text)
        return text != MISSING and room >= WEIGHT_BAR + PAD

    def _paint_weight(self, painter: QPainter, rect: QRect, value: float, number: int) -> QRect:
        """Draw a bar from zero for a weight; what is left of the cell is for its number.

        Zero stands where the column's least and greatest values leave it: at the left where none is negative.
        A negative weight's bar goes to the left of it, in another colour.
        """
        colors = self._theme.colors
        low, high = self._model().bar_range(number)
        scale = WEIGHT_BAR / (high - low) if high > low else 0.0
        zero = rect.left() - low * scale
        top = rect.center().y() - _BAR / 2 + 1
        painter.setPen(Qt.PenStyle.NoPen)
        length = abs(value) * scale
        if length:
            length = max(1.5, length)
            painter.setBrush(palettes.category(colors, 0 if value > 0 else 2).color)
            left = zero if value > 0 else zero - length
            painter.drawRoundedRect(QRectF(left, top, length, _BAR), 1.5, 1.5)
        painter.setBrush(colors.q("line_hover"))
        painter.drawRect(QRectF(zero - 0.5, top - 3, 1.0, _BAR + 6))
        return rect.adjusted(WEIGHT_BAR + PAD, 0, 0, 0)

    def _paint_progress(self, painter: QPainter, rect: QRect, progress: ProgressCell) -> QRect:
        """Draw a thin progress bar; what is left of the cell is for the text beside it."""
        colors = self._theme.colors
        text = painter.fontMetrics().horizontalAdvance(progress.text) + 12 if progress.text else 0
        width = max(24, min(110, rect.width() - text))
        track = QRectF(rect.left(), rect.center().y() - 2, width, 6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.q("line"))
        painter.drawRoundedRect(track, 3, 3)
        done = min(1.0, max(0.0, progress.share)) * width
        if done > 0:
            painter.setBrush(colors.q("accent"))
            painter.drawRoundedRect(QRectF(track.left(), track.top(), max(6.0, done), 6), 3, 3)
        return rect.adjusted(width + 10, 0, 0, 0)

    def _model(self) -> ColumnModel:
        """Return the table's model below its sorting."""
        return self._table.rows_model
