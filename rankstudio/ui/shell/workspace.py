"""The pages of the window, one at a time, and the rail beside them."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStackedWidget, QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.page.page import Page
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.shell.page_rail import PageName, PageRail
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import Panel

PAGES = (
    PageName("data", tr("Data"), "data", tr("Documents, queries, labels and features of the open data")),
    PageName("select", tr("Select"), "select", tr("A method, its parameters, and the selection as it grows")),
    PageName(
        "features",
        tr("Features"),
        "features",
        tr("The selected features, the margins, and every feature in detail"),
    ),
    PageName("compare", tr("Compare"), "compare", tr("Runs side by side, with tests and stability")),
    PageName(
        "queries", tr("Queries"), "search", tr("Two models query by query, with reasons for each ranking")
    ),
    PageName("report", tr("Report"), "report", tr("The study as a single file to share")),
    PageName("lab", tr("Lab"), "lab", tr("Simulations of how far estimates are from the truth")),
)
"""From top to bottom."""

FIRST = "select"
"""Where one begins."""


class Workspace(QWidget):
    """The rail, and the page that is chosen there.

    Parameters
    ----------
    theme : Theme
    pages : mapping of str to Page
        By the keys of `PAGES`.

    Attributes
    ----------
    pageChanged : Signal(str)
        Key of the page that is shown now.
    """

    pageChanged = Signal(str)

    def __init__(self, theme: Theme, pages: Mapping[str, Page]) -> None:
        super().__init__()
        named(self, "workspace", role="ground")
        self._pages, self._theme = pages, theme
        self.rail = PageRail(theme, PAGES)
        self._stack = QStackedWidget()
        for page in pages.values():
            self._stack.addWidget(page)
        fill(QHBoxLayout(self), self.rail, (self._stack, 1), margins=(0, 0, 0, 0), spacing=0)
        self.rail.chosen.connect(self.show_page)
        self.show_page(FIRST)

    @property
    def page(self) -> str:
        """Key of the page that is shown."""
        return next(key for key, page in self._pages.items() if page is self._stack.currentWidget())

    def show_page(self, key: str) -> None:
        """Show another page."""
        self.rail.select(key)
        left, page = self._pages[self.page], self._pages[key]
        if page is not left:
            self._theme.style_page(page)
            self._stack.setCurrentWidget(page)
            left.leave()
            page.show_again()
            self.pageChanged.emit(key)

    def pop_out(self) -> None:
        """Give the panel where the keyboard is a window of its own."""
        panel = _panel_at_the_keyboard()
        if panel is not None:
            self._pages[self.page].pop_out(panel)

    def toggle_whole_page(self) -> None:
        """Give the panel where the keyboard is the whole page, or take it back from there or its window."""
        panel, alone = _panel_at_the_keyboard(), self._pages[self.page].maximised
        if panel is not None:
            for page in self._pages.values():
                page.toggle(panel)
        elif alone is not None:
            self._pages[self.page].restore_panels()

    def bring_back(self) -> None:
        """Take all panels back from windows of their own."""
        for page in self._pages.values():
            page.bring_back()

    def save(self, settings: Settings) -> None:
        """Remember the page and the sizes of all panels."""
        settings.set("window/page", self.page)
        for page in self._pages.values():
            page.save(settings)

    def restore(self, settings: Settings) -> None:
        """Take page and sizes of the last time."""
        for page in self._pages.values():
            page.restore(settings)
        key = settings.text("window/page", FIRST)
        self.show_page(key if key in self._pages else FIRST)

    def reopen_windows(self) -> None:
        """Give the panels of all pages a window of their own that had one the last time."""
        for page in self._pages.values():
            page.reopen_windows()


def _panel_at_the_keyboard() -> Panel | None:
    """Return the panel in which the widget with the focus is."""
    widget = QApplication.focusWidget()
    while widget is not None and not isinstance(widget, Panel):
        widget = widget.parentWidget()
    return widget
