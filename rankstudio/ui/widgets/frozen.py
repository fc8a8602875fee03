"""The header of a table with frozen columns: the first ones, which stay visible when others are scrolled."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QWidget

# share of the width; if frozen columns would take more, all columns are scrolled
_MAX_SHARE = 0.7


class FrozenHeader(QHeaderView):
    """A header whose first sections are frozen: they stay visible when the table is scrolled sideways.

    Parameters
    ----------
    parent : QWidget

    Attributes
    ----------
    n_frozen : int
        Number of frozen sections.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.n_frozen = 0

    def frozen_width(self) -> int:
        """Return the width of the frozen sections in pixels, 0 if they need not be drawn over others.

        Frozen sections need not be drawn if nothing is scrolled
        sideways, and are not drawn if they would cover too much of the
        table.
        """
        if not self.n_frozen or not self.offset():
            return 0
        width = sum(
            self.sectionSize(section)
            for section in range(min(self.n_frozen, self.count()))
        )
        return width if width <= _MAX_SHARE * self.viewport().width() else 0

    def frozen_section(self, x: int) -> int:
        """Return the frozen section at a horizontal pixel of the visible header; -1 for none.

        A section is the part of the header that belongs to a column.
        """
        if not 0 <= x < self.frozen_width():
            return -1
        sections = (
            section
            for section in range(self.n_frozen)
            if not self.isSectionHidden(section)
        )

        # In Qt, right() is the last pixel of a rectangle.
        return next(
            (
                section
                for section in sections
                if x < self.frozen_rect(section).right() + 1
            ),
            -1,
        )

    def frozen_rect(self, section: int) -> QRect:
        """Return the rectangle in which a frozen section is drawn, which is not scrolled."""
        return QRect(
            self.sectionPosition(section),
            0,
            self.sectionSize(section),
            self.viewport().height(),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frozen sections over the others."""
        super().paintEvent(event)
        width = self.frozen_width()
        if not width:
            return
        painter = QPainter(self.viewport())
        painter.fillRect(
            QRect(0, 0, width, self.viewport().height()), self.palette().base()
        )
        for section in range(self.n_frozen):
            if not self.isSectionHidden(section):
                painter.save()
                self.paintSection(painter, self.frozen_rect(section), section)
                painter.restore()
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Press the visible section."""
        super().mousePressEvent(self._moved_to_section(event))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move over the visible section."""
        super().mouseMoveEvent(self._moved_to_section(event))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Release the visible section."""
        super().mouseReleaseEvent(self._moved_to_section(event))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Double-click the visible section."""
        super().mouseDoubleClickEvent(self._moved_to_section(event))

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the tooltip of the visible section under the mouse."""
        # Qt adds the offset (the pixels by which the header is
        # scrolled) to a position. It is subtracted for a frozen
        # section, which is not scrolled.
        if isinstance(event, QHelpEvent) and self.frozen_section(event.pos().x()) >= 0:
            position = event.pos()
            position.setX(position.x() - self.offset())
            return super().viewportEvent(
                QHelpEvent(event.type(), position, event.globalPos())
            )
        return super().viewportEvent(event)

    def _moved_to_section(self, event: QMouseEvent) -> QMouseEvent:
        """Return an event on a frozen section with the position where the section would be unfrozen.

        Qt knows only that position, and so handles the event for the
        section. Any other event is returned as it is.
        """
        x = event.position().x()
        if self.frozen_section(int(x)) < 0:
            return event

        # The offset is the number of pixels by which the header is scrolled.
        return QMouseEvent(
            event.type(),
            QPointF(x - self.offset(), event.position().y()),
            event.globalPosition(),
            event.button(),
            event.buttons(),
            event.modifiers(),
        )
