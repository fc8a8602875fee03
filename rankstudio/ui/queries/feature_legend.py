"""Which colour of the stacked contributions is which feature."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.queries.cell_paint import feature_color
from rankstudio.ui.style.fonts import SMALL, font
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import named

_LINE, _SWATCH, _GAP, _PAD = 20, 14, 14, 12


class FeatureLegend(QWidget):
    """Swatches and names, on as many lines as they need.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._title = ""
        self._names: tuple[str, ...] = ()
        named(self, "feature-legend", tr("Features of the contributions"))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self.set_names("", ())

    def set_names(self, title: str, names: Sequence[str], about: str = "") -> None:
        """Show other features, in the order of their colours; ``about`` is the tooltip's first line."""
        self._title, self._names = title, tuple(names)
        self.setAccessibleDescription(", ".join(names))
        self.setToolTip(plain("\n".join((about or title, *names))))
        self.setVisible(bool(names))
        self.updateGeometry()
        self.update()

    def hasHeightForWidth(self) -> bool:
        """Tell that it is higher where it is narrow."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines."""
        spots = self._spots(width)
        return int(spots[-1].bottom()) + 3 if spots else 0

    def sizeHint(self) -> QSize:
        """Return the height at the present width."""
        return QSize(200, self.heightForWidth(max(200, self.width())))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw swatches and names."""
        colors = self._theme.colors
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font(SMALL))
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        for place, box in enumerate(self._spots(self.width()), start=-1):
            text = self._title if place < 0 else self._names[place]
            room = box
            if place >= 0:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(feature_color(colors, place))
                painter.drawRoundedRect(QRectF(box.left(), box.center().y() - 4, 9, 9), 2, 2)
                room = box.adjusted(_SWATCH, 0, 0, 0)
            painter.setPen(colors.q("muted" if place < 0 else "text"))
            width = int(room.width() + 2)
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width)
            painter.drawText(room.adjusted(0, 0, 4, 0), middle, shown)

    def _spots(self, width: int) -> list[QRectF]:
        """Return where title and names stand."""
        metrics = QFontMetricsF(font(SMALL))
        spots: list[QRectF] = []
        x, y, most = float(_PAD), 3.0, float(width - 2 * _PAD)
        for place, text in enumerate((self._title, *self._names) if self._names else ()):
            wide = min(most, metrics.horizontalAdvance(text) + (_SWATCH if place else 0))
            if x > _PAD and x + wide > width - _PAD:
                x, y = float(_PAD), y + _LINE
            spots.append(QRectF(x, y, wide, _LINE))
            x += wide + _GAP
        return spots
