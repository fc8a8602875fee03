"""A label that gives way: too long a text ends in "…" and shows in full as a tooltip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption

from rankstudio.ui.style.plain_text import plain


class ElidedLabel(QLabel):
    """A one-line label that never asks for more width than there is.

    Parameters
    ----------
    text : str
    mode : Qt.TextElideMode
        Where the "…" goes; in the middle for paths.
    """

    def __init__(self, text: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__()
        self._mode = mode
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        self._tell_in_full()

    def shown_text(self) -> str:
        """Return the text as it is drawn at the present width; nothing where two letters would be left."""
        room, metrics = self.contentsRect().width(), self.fontMetrics()
        shown = metrics.elidedText(self.text(), self._mode, room)
        return "" if shown != self.text() and room < metrics.horizontalAdvance("mm…") else shown

    def minimumSizeHint(self) -> QSize:
        """Return a width of a few letters: the label yields before its neighbours do."""
        widest = self.fontMetrics().horizontalAdvance("mm…")
        hint = super().minimumSizeHint()
        return QSize(min(widest, hint.width()), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Offer the tooltip only where something is cut off."""
        super().resizeEvent(event)
        self._tell_in_full()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, cut to the width there is."""
        painter = QPainter(self)
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        self.style().drawItemText(
            painter,
            self.contentsRect(),
            int(self.alignment().value),
            self.palette(),
            self.isEnabled(),
            self.shown_text(),
            self.foregroundRole(),
        )

    def _tell_in_full(self) -> None:
        """Set the tooltip to the whole text where the label cuts it."""
        self.setToolTip(plain(self.text()) if self.shown_text() != self.text() else "")
