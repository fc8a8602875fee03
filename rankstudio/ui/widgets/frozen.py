"""The header of a table whose first columns stay where they are while the others are scrolled sideways."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QWidget

_MOST = 0.7  # of the width, that columns which stay take at most: else all are scrolled


class FrozenHeader(QHeaderView):
    """A header whose first sections stay in sight.

    Parameters
    ----------
    parent : QWidget

    Attributes
    ----------
    n_frozen : int
        How many sections stay.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.n_frozen = 0

    def frozen_width(self) -> int:
        """Return the width of the sections that stay; 0 where nothing is scrolled, or they take too much."""
        if not self.n_frozen or not self.offset():
            return 0
        width = sum(self.sectionSize(section) for section in range(min(self.n_frozen, self.count())))
        return width if width <= _MOST * self.viewport().width() else 0

    def frozen_section(self, x: int) -> int:
        """Return the section that stays at a horizontal pixel; -1 where there is none."""
        if not 0 <= x < self.frozen_width():
            return -1
        sections = (section for section in range(self.n_frozen) if not self.isSectionHidden(section))
        return next((section for section in sections if x < self.frozen_rect(section).right() + 1), -1)

    def frozen_rect(self, section: int) -> QRect:
        """Return the room of a section that stays."""
        return QRect(self.sectionPosition(section), 0, self.sectionSize(section), self.viewport().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the sections that stay over the others."""
        super().paintEvent(event)
        width = self.frozen_width()
        if not width:
            return
        painter = QPainter(self.viewport())
        painter.fillRect(QRect(0, 0, width, self.viewport().height()), self.palette().base())
        for section in range(self.n_frozen):
            if not self.isSectionHidden(section):
                painter.save()
                self.paintSection(painter, self.frozen_rect(section), section)
                painter.restore()
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Press the section that is seen."""
        super().mousePressEvent(self._meant(event))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move over the section that is seen."""
        super().mouseMoveEvent(self._meant(event))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Release the section that is seen."""
        super().mouseReleaseEvent(self._meant(event))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Double-click the section that is seen."""
        super().mouseDoubleClickEvent(self._meant(event))

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the tooltip of the section under the mouse."""
        if isinstance(event, QHelpEvent) and self.frozen_section(event.pos().x()) >= 0:
            position = event.pos()
            position.setX(position.x() - self.offset())
            return super().viewportEvent(QHelpEvent(event.type(), position, event.globalPos()))
        return super().viewportEvent(event)

    def _meant(self, event: QMouseEvent) -> QMouseEvent:
        """Return an event where the section lies that is seen at its place."""
        x = event.position().x()
        if self.frozen_section(int(x)) < 0:
            return event
        return QMouseEvent(
            event.type(),
            QPointF(x - self.offset(), event.position().y()),
            event.globalPosition(),
            event.button(),
            event.buttons(),
            event.modifiers(),
        )
