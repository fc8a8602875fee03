"""The chips of the window, in the empty part of the menu bar, where nothing moves when they appear."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMainWindow,
    QMenuBar,
    QSizePolicy,
    QToolBar,
    QWidget,
)

from rankstudio.ui.language import tr
from rankstudio.ui.widgets.chip import Chip
from rankstudio.ui.widgets.layout import fill, named

_BESIDE = 24  # pixels between the menus and the chips


class ChipBar(QWidget):
    """A row of chips in the part of the menu bar that has no menus.

    Parameters
    ----------
    menus : QMenuBar
        The menu bar of the window.

    Attributes
    ----------
    choice, form : Chip
        Chips on a model that was chosen by hand, and on a form that
        differs from the shown run.
    """

    def __init__(self, menus: QMenuBar) -> None:
        super().__init__()
        named(self, "chip-bar", tr("Notes on the shown model"))
        self._menus = menus
        self.choice = Chip("choice-chip", tr("Model chosen by hand"))
        self.form = Chip("form-chip", tr("Form and shown run"))

        # The text of the choice is never cut; where there is little
        # room, that of the form is.
        self.choice.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)

        # The number is an empty space, which takes the width that is left.
        row = fill(
            QHBoxLayout(self),
            self.choice,
            self.form,
            1,
            margins=(0, 3, 8, 3),
            spacing=8,
        )

        # Otherwise long texts would make the bar wider than the space beside the menus.
        row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)

    def lie_beside_menus(self) -> None:
        """Place the bar beside the menus, and follow changes of the menu bar's size.

        A corner widget of the menu bar would keep its first width, as
        Qt asks for the width only once.
        """
        self.setParent(self._menus)
        self._menus.installEventFilter(self)
        self._fill_free_width()
        self.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the menu bar and of its texts; let the menu bar handle the event, too."""
        if event.type() in (
            QEvent.Type.Resize,
            QEvent.Type.Show,
            QEvent.Type.FontChange,
        ):
            self._fill_free_width()
        return super().eventFilter(watched, event)

    def _fill_free_width(self) -> None:
        """Give this bar the width of the menu bar that the menus leave free.

        This bar begins a gap after the last menu, and ends at the right
        end of the menu bar.
        """
        ends_of_menus = [
            self._menus.actionGeometry(action).right()
            for action in self._menus.actions()
        ]
        left_edge = max(ends_of_menus, default=0) + _BESIDE
        self.setGeometry(
            left_edge, 0, max(0, self._menus.width() - left_edge), self._menus.height()
        )


def add_chips(window: QMainWindow) -> ChipBar:
    """Put a bar with chips beside the menus of a window, and return the bar.

    Where the desktop shows the menus elsewhere, the bar is in a toolbar.
    """
    menus = window.menuBar()
    bar = ChipBar(menus)

    # A native menu bar is drawn by the desktop, outside the window.
    if menus.isNativeMenuBar():
        toolbar = QToolBar(tr("Notes"))
        toolbar.setObjectName("chip-toolbar")
        toolbar.setMovable(False)
        toolbar.addWidget(bar)
        window.addToolBarBreak()
        window.addToolBar(toolbar)
    else:
        bar.lie_beside_menus()
    return bar
