"""The pages of the window, one of which is shown, and the rail beside them with a button for each page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.plugins.window_parts import WindowPage
from rankstudio.ui.language import tr
from rankstudio.ui.page.page import Page
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.shell.plugin_parts import PluginParts
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.icons import set_icon
from rankstudio.ui.style.plain_text import key_text, plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.choices import ButtonChoice
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import Panel

WIDTH = 76
"""Width of the rail, in logical pixels."""

_ICON = 20  # size of an icon in pixels
_MAX_BUTTONS = 11  # most pages that have a button; the menu *View* contains all pages


class PageRail(ButtonChoice):
    """A column of buttons, one for each page.

    Parameters
    ----------
    theme : Theme
    pages : sequence of rankstudio.api.WindowPage
        Pages from top to bottom.

    Attributes
    ----------
    chosen : Signal(str)
        Key of the page that the user chose.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, pages: Sequence[WindowPage]) -> None:
        super().__init__()
        named(self, "page-rail", tr("pages"), role="rail")

        # Qt draws no background of a plain QWidget
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedWidth(scaled(WIDTH))
        self._theme = theme
        self._keys = [page.key for page in pages]
        self._hidden_keys = {page.key for page in pages if not page.on_rail}
        column = fill(QVBoxLayout(self), margins=(6, 8, 6, 8), spacing=3)

        # The group of the base class lets only one button be checked.
        for position, page in enumerate(pages[:_MAX_BUTTONS]):
            button = self._button(page, position + 1)
            self._group.addButton(button, position)
            column.addWidget(button)
            button.setVisible(page.on_rail)
        column.addStretch(1)

        # The id of a button in the group is the index of its page.
        self._group.idClicked.connect(
            lambda position: self.chosen.emit(self._keys[position])
        )

    def select(self, key: str) -> None:
        """Check the button of the shown page, by the page's key; no signal is emitted.

        A page may have no button: then no button is checked.
        """
        button = self._group.button(self._keys.index(key))
        if button is not None:
            button.setChecked(True)
        elif (checked := self._group.checkedButton()) is not None:
            # Qt unchecks a button only while neither the group nor the
            # button is exclusive.
            self._group.setExclusive(False)
            checked.setAutoExclusive(False)
            checked.setChecked(False)
            checked.setAutoExclusive(True)
            self._group.setExclusive(True)
        self._keep_one_tab_stop()

    def has_button(self, key: str) -> bool:
        """Return whether a page belongs on the rail, even if the rail has no room for its button."""
        return key not in self._hidden_keys

    def show_button(self, key: str, *, is_shown: bool) -> None:
        """Show or hide the button of a page, by the page's key.

        Pages after the first eleven have no button. For them, it is
        only noted whether the user wants one. ``is_shown`` says whether
        to show it.
        """
        button = self._group.button(self._keys.index(key))
        if button is not None:
            button.setVisible(is_shown)
        if is_shown:
            self._hidden_keys.discard(key)
        else:
            self._hidden_keys.add(key)

    def changeEvent(self, event: QEvent) -> None:
        """Make room for larger text."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.setFixedWidth(scaled(WIDTH))

    def _button(self, page: WindowPage, number: int) -> QToolButton:
        """Return the button of a page; ``number`` is its position, from 1."""
        button = named(
            QToolButton(),
            f"page-{page.key}",
            tr("{label} page").format(label=page.label),
            role="page-button",
        )

        # Pages of plug-ins come after the window's own, and name their shortcuts.
        shortcut = f"Ctrl+{number}" if number <= len(PAGES) else page.shortcut
        keys = f" ({key_text(shortcut)})" if shortcut else ""
        button.setToolTip(plain(f"{page.summary}{keys}"))
        button.setText(page.label.replace("&", "&&"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setCheckable(True)
        button.setAutoExclusive(True)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        set_icon(button, self._theme, page.icon, "muted", _ICON)

        # The icon of the shown page has the accent color.
        button.toggled.connect(
            lambda on: set_icon(
                button, self._theme, page.icon, "accent" if on else "muted", _ICON
            )
        )
        return button


FIRST = "select"
"""Key of the page that is shown first."""


class Workspace(QWidget):
    """The rail with the buttons of the pages, and beside it the page that is chosen there.

    Parameters
    ----------
    theme : Theme
    pages : dict of str to Page
        Pages by the keys of their entries. A page without a button on
        the rail is added when first shown.
    parts : PluginParts, optional
        Pages and panels of plug-ins.
    make : callable, optional
        Makes the page of a key that is not in `pages`.

    Attributes
    ----------
    pageChanged : Signal(str)
        Key of the page that is shown now.
    pageMade : Signal(object)
        A page that was added (Page).
    railChanged : Signal(str, bool)
        Key of a page, and whether the page now has a button on the rail.
    entries : tuple of rankstudio.api.WindowPage
        Entries of all pages, from top to bottom.
    """

    pageChanged = Signal(str)
    pageMade = Signal(object)
    railChanged = Signal(str, bool)

    def __init__(
        self,
        theme: Theme,
        pages: dict[str, Page],
        parts: PluginParts | None = None,
        make: Callable[[str], Page] | None = None,
    ) -> None:
        super().__init__()
        named(self, "workspace", role="ground")
        self._pages = pages
        self._theme = theme
        self._make = make  # makes the page of a key that is not in `pages`
        self._settings: Settings | None = None  # set by `restore`
        self.parts = parts  # pages and panels of plug-ins
        self.entries = (*PAGES, *(parts.entries if parts is not None else ()))
        self.rail = PageRail(theme, self.entries)
        self._stack = QStackedWidget()

        # A page is styled when it is first shown, so that the window opens sooner.
        for page in pages.values():
            self._stack.addWidget(page)
            theme.style_later(page)
        fill(
            QHBoxLayout(self),
            self.rail,
            (self._stack, 1),
            margins=(0, 0, 0, 0),
            spacing=0,
        )
        self.rail.chosen.connect(self.show_page)
        self.show_page(FIRST)

    def page_for(self, key: str) -> Page:
        """Return the page of a key, which is made if it does not exist yet.

        A new page gets its layout of the last session.
        """
        if key not in self._pages:
            assert self._make is not None
            page = self._pages[key] = self._make(key)
            self._stack.addWidget(page)
            if self._settings is not None:
                page.restore(self._settings)
            self.pageMade.emit(page)
        return self._pages[key]

    @property
    def page(self) -> str:
        """Key of the page that is shown."""
        return next(
            key
            for key, page in self._pages.items()
            if page is self._stack.currentWidget()
        )

    @property
    def optional(self) -> tuple[WindowPage, ...]:
        """Pages that have no button on the rail by default."""
        return tuple(page for page in self.entries if not page.on_rail)

    def show_on_rail(self, key: str, *, is_shown: bool) -> None:
        """Show or hide the button of a page on the rail, by the page's key.

        If the page that is shown loses its button, show the first page.
        """
        if is_shown != self.rail.has_button(key):
            self.rail.show_button(key, is_shown=is_shown)
            self.railChanged.emit(key, is_shown)
            if not is_shown and self.page == key:
                self.show_page(FIRST)

    @Slot(str)
    def show_page(self, key: str) -> None:
        """Show another page, by its key, and its button on the rail.

        The page is made and styled if needed.
        """
        self.show_on_rail(key, is_shown=True)
        self.rail.select(key)
        previous = self._pages[self.page]
        page = self.page_for(key)
        if page is not previous:
            self._theme.style_page(page)
            self._stack.setCurrentWidget(page)
            previous.leave()
            page.show_again()
            self.pageChanged.emit(key)

    def pop_out(self) -> None:
        """Move the panel with the focus to a window of its own."""
        panel = _focused_panel()
        if panel is not None:
            self._pages[self.page].pop_out(panel)

    def toggle_whole_page(self) -> None:
        """Let the panel with the keyboard focus fill its page, or put it back into its place.

        The panel is put back if it fills the page already, or is in a
        window of its own. If no panel has the focus, the one that fills
        the shown page is put back.
        """
        panel = _focused_panel()
        maximised_panel = self._pages[self.page].maximised

        # The focused panel may be in its own window, and belong to any
        # page; a page ignores a panel that it does not have.
        if panel is not None:
            for page in self._pages.values():
                page.toggle(panel)
        elif maximised_panel is not None:
            self._pages[self.page].restore_panels()

    def bring_back(self) -> None:
        """Move all panels back from their own windows to their pages."""
        for page in self._pages.values():
            page.bring_back()

    def save(self, settings: Settings) -> None:
        """Save the shown page, the optional pages on the rail, and the layout of all pages."""
        settings.set("window/page", self.page)

        # None removes the setting.
        keys_on_rail = [
            page.key for page in self.optional if self.rail.has_button(page.key)
        ]
        settings.set("window/pages", " ".join(keys_on_rail) or None)
        for page in self._pages.values():
            page.save(settings)
        if self.parts is not None:
            self.parts.save(settings)

    def restore(self, settings: Settings) -> None:
        """Restore the shown page, the optional pages on the rail, and the layout of all pages."""
        self._settings = settings
        for page in self._pages.values():
            page.restore(settings)
        if self.parts is not None:
            self.parts.restore(settings)
        keys_on_rail = settings.text("window/pages").split()
        for entry in self.optional:
            if entry.key in keys_on_rail:
                self.page_for(entry.key)
            self.show_on_rail(entry.key, is_shown=entry.key in keys_on_rail)

        # The last page may be that of a plug-in that is not installed any more.
        key = settings.text("window/page", FIRST)
        self.show_page(key if key in self._pages else FIRST)

    def reopen_windows(self) -> None:
        """Move the panels that had their own windows in the last session to windows again."""
        for page in self._pages.values():
            page.reopen_windows()


def _focused_panel() -> Panel | None:
    """Return the panel that contains the widget with the focus.

    Return None if no panel does.
    """
    widget = QApplication.focusWidget()
    while widget is not None and not isinstance(widget, Panel):
        widget = widget.parentWidget()
    return widget
