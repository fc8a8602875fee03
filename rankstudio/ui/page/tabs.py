"""The line of tabs at the top of a page: one of several contents is visible at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QTabBar, QWidget

from rankstudio.ui.widgets.layout import fill, named


@dataclass(frozen=True, eq=False)
class Tab:
    """A tab of a page, with the content that it shows.

    Attributes
    ----------
    label : str
    content : QWidget
        Shown while the tab is chosen.
    beside : QWidget, optional
        Widget at the right end of the line of tabs, shown with the content.
    """

    label: str
    content: QWidget
    beside: QWidget | None = None


class PageTabs(QWidget):
    """A bar of tabs that shows the content of one tab at a time, at first that of the first tab.

    Parameters
    ----------
    name : str
        Object name of the bar.
    accessible_name : str
        Name for screen readers: what is chosen with the bar.
    tabs : mapping of str to Tab
        The tabs by their keys, from left to right.

    Attributes
    ----------
    left : Signal()
        Another tab is going to be shown.
    chosen : Signal(str)
        Key of the tab that is visible now.
    bar : QTabBar
    """

    left = Signal()
    chosen = Signal(str)

    def __init__(
        self, name: str, accessible_name: str, tabs: Mapping[str, Tab]
    ) -> None:
        super().__init__()
        self._tabs = dict(tabs)
        self.keys = tuple(tabs)
        self.bar = named(QTabBar(), name, accessible_name)
        self.bar.setExpanding(False)
        self.bar.setDrawBase(False)
        stretch = 1  # pushes the widgets beside the bar to the right end
        row = fill(
            QHBoxLayout(self), self.bar, stretch, margins=(0, 0, 0, 0), spacing=8
        )
        for tab in tabs.values():
            self.bar.addTab(tab.label)
            if tab.beside is not None:
                row.addWidget(tab.beside)
        self.bar.currentChanged.connect(self._show)
        hidden_tabs = list(tabs.values())[1:]
        # The first tab is visible anyway. To show its widgets here,
        # while they have no parent yet, would open a window for each.
        for tab in hidden_tabs:
            for part in (tab.content, tab.beside):
                if part is not None:
                    part.hide()

    @property
    def key(self) -> str:
        """Key of the visible tab."""
        return self.keys[self.bar.currentIndex()]

    def select(self, key: str) -> None:
        """Show a tab."""
        self.bar.setCurrentIndex(self.keys.index(key))

    @Slot()
    def _show(self) -> None:
        """Show the content of the chosen tab, and hide that of the others."""
        self.left.emit()  # the tab that was shown before is left
        # The title of the chosen tab is bold, and so wider. Without
        # room for it, Qt would scroll the bar.
        self.bar.updateGeometry()
        for key, tab in self._tabs.items():
            tab.content.setVisible(key == self.key)
            if tab.beside is not None:
                tab.beside.setVisible(key == self.key)
        self.chosen.emit(self.key)
