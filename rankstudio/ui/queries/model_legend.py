"""What A and B are, and in which colour a query is drawn that one of them ranks better."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.queries.colors import loss_and_gain
from rankstudio.ui.style.fonts import LEFT, SMALL, font, scaled
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import named

_LINE = 18  # logical pixels of an entry
_DOT, _GAP = 9.0, 6.0  # pixels of a dot, and between it and its text
_BETWEEN = 14.0  # pixels between A and B


class ModelLegend(QWidget):
    """The colour of queries that A ranks better with the model that is A, and the same of B.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._texts: tuple[str, ...] = ()
        named(self, "query-legend", tr("Models and their colours"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self.show_models("", "")

    def texts(self) -> tuple[str, ...]:
        """Return what is written: of A and of B."""
        return self._texts

    def show_models(self, a: str, b: str) -> None:
        """Show what A and B are called; without names the legend is hidden."""
        better_in_a = tr("A better: {model}").format(model=a)
        better_in_b = tr("B better: {model}").format(model=b)
        self._texts = (better_in_a, better_in_b) if a and b else ()
        self.setToolTip(plain("\n".join(self._texts)))
        self.setAccessibleDescription("; ".join(self._texts))
        self.setVisible(bool(self._texts))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of one line, or of two where the entries do not fit beside each other."""
        return QSize(0, (1 if self._fits() else 2) * scaled(_LINE))

    def minimumSizeHint(self) -> QSize:
        """Return the same height: no entry is cut off."""
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take another line where the width has changed."""
        super().resizeEvent(event)
        self.updateGeometry()

    def changeEvent(self, event: QEvent) -> None:
        """Take the height of another text size."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a dot and a text for each model."""
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font(SMALL))
        metrics = QFontMetricsF(painter.font())
        for corner, color, text in zip(self.corners(), loss_and_gain(colors), self._texts, strict=False):
            dot = QRectF(corner.x() + 0.5, corner.y() + (scaled(_LINE) - _DOT) / 2, _DOT, _DOT)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(dot)
            left = corner.x() + _DOT + _GAP
            room = QRectF(left, corner.y(), max(0.0, self.width() - left), scaled(_LINE))
            painter.setPen(colors.q("text"))
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room.width())
            painter.drawText(room, LEFT, elided)

    def corners(self) -> tuple[QPointF, QPointF]:
        """Return the top left corners of the entries."""
        beside = QPointF(self._widths()[0] + _BETWEEN, 0.0) if self._texts else QPointF()
        below = QPointF(0.0, scaled(_LINE))
        return QPointF(), beside if self._fits() else below

    def _widths(self) -> list[float]:
        metrics = QFontMetricsF(font(SMALL))
        return [metrics.horizontalAdvance(text) + _DOT + _GAP for text in self._texts]

    def _fits(self) -> bool:
        """Return whether both entries have room in one line."""
        return sum(self._widths()) + _BETWEEN <= self.width()
