"""A panel in a window of its own."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import Panel

_LEAST = QSize(420, 320)


class PanelWindow(QWidget):
    """Holds a panel until it is closed, by its frame or by Esc; commands of the main window work here too.

    Parameters
    ----------
    panel : Panel
        It has no parent any more.
    main : QWidget
        The main window, with which this one closes.

    Attributes
    ----------
    closed : Signal()
        The panel can go back to its place.
    """

    closed = Signal()

    def __init__(self, panel: Panel, main: QWidget) -> None:
        super().__init__(main, Qt.WindowType.Window)
        named(self, f"{panel.objectName()}-window", role="ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle(f"{panel.accessibleName()} – RankStudio")
        size = panel.size().expandedTo(_LEAST)
        fill(QVBoxLayout(self), (panel, 1), margins=(8, 8, 8, 8))
        self.resize(size)
        self.addActions([action for action in main.findChildren(QAction) if action.shortcuts()])

    def event(self, event: QEvent) -> bool:
        """Keep Esc, which stops runs in the main window, for closing this one."""
        asked = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride
        if asked and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell of it."""
        super().closeEvent(event)
        self.closed.emit()
