"""Base of the page's legends, of features and of the models A and B: colored names on several lines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rankstudio.ui.plots.legend import flow
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.fonts import LEFT, SMALL, font, scaled
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import named

_LINE_HEIGHT = 19  # logical pixels of a line
_SWATCH_SIZE = 9.0  # pixels
_GAP = 5.0  # pixels between a swatch and its name
BETWEEN = 14.0
"""Pixels between two entries of a line."""


class Legend(QWidget):
    """A title and names beside color swatches, on as many lines as they need; hidden without names.

    Parameters
    ----------
    theme : Theme
    name, accessible_name : str
        Object name, and name for screen readers.
    """

    pad = 0  # pixels at the left and at the right
    radius = _SWATCH_SIZE / 2  # radius of the corners of a swatch

    def __init__(self, theme: Theme, name: str, accessible_name: str) -> None:
        super().__init__()
        self._theme = theme
        self._title = ""
        self._names: tuple[str, ...] = ()
        named(self, name, accessible_name)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self._show("", ())

    def texts(self) -> tuple[str, ...]:
        """Return the names."""
        return self._names

    def _show(self, title: str, names: Sequence[str], about: str = "") -> None:
        """Show other names in the legend, with a title.

        ``about`` is the first line of the tooltip, by default the title.
        """
        self._title = title
        self._names = tuple(names)
        self.setAccessibleDescription("; ".join(names))
        self.setToolTip(plain("\n".join(filter(None, (about or title, *names)))))
        self.setVisible(bool(names))
        self.updateGeometry()
        self.update()

    def color(self, colors: Colors, position: int) -> QColor:
        """Return the color of the swatch beside a name, given by its position."""
        raise NotImplementedError

    def max_entry_width(self, line_width: float) -> float:
        """Return the maximum width of an entry on a line of the width ``line_width``."""
        return line_width

    def hasHeightForWidth(self) -> bool:
        """Return True: a narrow legend has more lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines."""
        boxes = self.boxes(width)
        return int(boxes[-1].bottom()) + 1 if boxes else 0

    def sizeHint(self) -> QSize:
        """Return the height at the present width."""
        return QSize(0, self.heightForWidth(max(200, self.width())))

    def minimumSizeHint(self) -> QSize:
        """Return the size hint, so that no line is cut off."""
        return self.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the number of lines to a new width."""
        super().resizeEvent(event)
        self.updateGeometry()

    def changeEvent(self, event: QEvent) -> None:
        """Fit the height to a new text size."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange:
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the title, and each name with a swatch in its color; long names are shortened."""
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font(SMALL))
        texts = self._texts()
        n_titles = int(bool(self._title))  # 1 if the first text is a title, otherwise 0

        for position, (text, box) in enumerate(
            zip(texts, self.boxes(self.width()), strict=True)
        ):
            text_box = box
            is_title = position < n_titles
            if not is_title:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(self.color(colors, position - n_titles))
                painter.drawRoundedRect(self.swatch(box), self.radius, self.radius)
                text_box = box.adjusted(_SWATCH_SIZE + _GAP, 0, 0, 0)
            painter.setPen(colors.q("muted" if is_title else "text"))
            width = int(text_box.width() + 2)
            elided = painter.fontMetrics().elidedText(
                text, Qt.TextElideMode.ElideMiddle, width
            )
            painter.drawText(text_box.adjusted(0, 0, 4, 0), LEFT, elided)

    @staticmethod
    def swatch(box: QRectF) -> QRectF:
        """Return the rectangle of the swatch in the box of an entry."""
        corner = QPointF(box.left() + 0.5, box.center().y() - _SWATCH_SIZE / 2)
        return QRectF(corner.x(), corner.y(), _SWATCH_SIZE, _SWATCH_SIZE)

    def boxes(self, width: int) -> list[QRectF]:
        """Return the boxes of the title, if there is one, and of the names, for a legend ``width``.

        The boxes follow each other in lines of text.
        """
        metrics = QFontMetricsF(font(SMALL))
        line_width = float(width - 2 * self.pad)  # `pad`: pixels free at both sides
        n_titles = int(bool(self._title))

        # A name has a swatch beside it; the title has none.
        widths = [
            min(
                self.max_entry_width(line_width),
                metrics.horizontalAdvance(text) + _SWATCH_SIZE + _GAP,
            )
            if position >= n_titles
            else min(line_width, metrics.horizontalAdvance(text))
            for position, text in enumerate(self._texts())
        ]

        # `flow` puts boxes side by side, and returns pixel x and line of each.
        places = zip(flow(widths, line_width, BETWEEN), widths, strict=True)
        line = float(scaled(_LINE_HEIGHT))
        return [
            QRectF(self.pad + x, row * line, box_width, line)
            for (x, row), box_width in places
        ]

    def _texts(self) -> tuple[str, ...]:
        """Return the texts of the legend: the title, if there is one, and the names.

        The result is () without names.
        """
        if not self._names:
            return ()
        return (self._title, *self._names) if self._title else self._names
