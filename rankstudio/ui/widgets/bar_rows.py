"""Counts by category as rows of label, bar and number: how many documents have which relevance."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rankstudio.ui.style import palettes
from rankstudio.ui.style.fonts import SMALL, font, scaled
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.theme import Theme

_ROW = 19
_BAR = 8.0
_GAP = 10


class BarRows(QWidget):
    """Rows of label, bar and count, the longest bar for the greatest count.

    Parameters
    ----------
    theme : Theme
    name : str
        What is counted, for screen readers: "documents by relevance".
    """

    def __init__(self, theme: Theme, name: str = "") -> None:
        super().__init__()
        self._theme = theme
        self._rows: tuple[tuple[str, int], ...] = ()
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_rows(self, rows: Sequence[tuple[str, int]]) -> None:
        """Show other labels and counts."""
        self._rows = tuple(rows)
        told = "\n".join(f"{label}: {count:,}" for label, count in rows)
        self.setAccessibleDescription(told)
        self.setToolTip(plain(told))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of all rows."""
        return QSize(160, max(1, len(self._rows)) * scaled(_ROW))

    def minimumSizeHint(self) -> QSize:
        """Return the height of all rows."""
        return QSize(80, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows."""
        if not self._rows:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font(SMALL))
        metrics = QFontMetrics(font(SMALL))
        label = max(metrics.horizontalAdvance(text) for text, _ in self._rows)
        number = max(metrics.horizontalAdvance(f"{count:,}") for _, count in self._rows)
        most = max(count for _, count in self._rows) or 1
        height = scaled(_ROW)
        for i, (text, count) in enumerate(self._rows):
            row = QRect(0, i * height, self.width(), height)
            track = row.adjusted(label + _GAP, 0, -number - 2 * _GAP, 0)
            self._draw_row(painter, row, QRectF(track), text, count, count / most, i)

    def _draw_row(
        self, painter: QPainter, row: QRect, track: QRectF, text: str, count: int, share: float, index: int
    ) -> None:
        """Draw one row."""
        colors = self._theme.colors
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(colors.q("muted"))
        painter.drawText(row, Qt.AlignmentFlag.AlignLeft | middle, text)
        painter.drawText(row, Qt.AlignmentFlag.AlignRight | middle, f"{count:,}")
        bar = QRectF(track.left(), track.center().y() - _BAR / 2 + 0.5, track.width(), _BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colors.q("line_soft"))
        painter.drawRoundedRect(bar, 2, 2)
        if count:
            bar.setWidth(max(3.0, share * bar.width()))
            painter.setBrush(palettes.category(self._theme.colors, index).color)
            painter.drawRoundedRect(bar, 2, 2)
