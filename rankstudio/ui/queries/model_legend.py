"""What A and B are, and in which colour a query is drawn that one of them ranks better."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
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
    """A line with the colour of queries that are better in A and the model that is A, and the same of B.

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
        better_in_a = tr("better in A: {model}").format(model=a)
        better_in_b = tr("better in B: {model}").format(model=b)
        self._texts = (better_in_a, better_in_b) if a and b else ()
        self.setToolTip(plain("\n".join(self._texts)))
        self.setAccessibleDescription("; ".join(self._texts))
        self.setVisible(bool(self._texts))
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of a line."""
        return QSize(0, scaled(_LINE))

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
        height = self.height()
        half = (self.width() - _BETWEEN) / 2
        left = 0.0
        for color, text in zip(loss_and_gain(colors), self._texts, strict=False):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(QRectF(left + 0.5, (height - _DOT) / 2, _DOT, _DOT))
            room = QRectF(left + _DOT + _GAP, 0.0, max(0.0, half - _DOT - _GAP), height)
            painter.setPen(colors.q("text"))
            elided = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room.width())
            painter.drawText(room, LEFT, elided)
            left += half + _BETWEEN
