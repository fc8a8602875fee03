"""The command palette: a search field for commands, settings, pages, methods, features and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.palette_entry import PaletteEntry
from rankstudio.ui.shell.actions import SUBMENUS, Actions
from rankstudio.ui.shell.sections import Sections
from rankstudio.ui.shell.workspace import Workspace
from rankstudio.ui.style.fonts import scaled
from rankstudio.ui.style.plain_text import key_text, plain
from rankstudio.ui.widgets.layout import fill, named

_MAX_ENTRIES = 60  # entries that are listed at most
_WIDTH = 560  # size of the palette in pixels
_HEIGHT = 380
_FROM_TOP = 90  # pixels from the top of the window
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


def matching(entries: Sequence[PaletteEntry], typed: str) -> list[PaletteEntry]:
    """Return the entries that contain every typed word, the best matches first.

    A word may be in the text, kind or note of an entry. The order is by
    the text. Entries with all typed words as whole words come first
    ("Theme › Light" before "LightGBM" for "light"), then entries whose
    words begin with the typed words, then all others. In each of these
    groups, entries that begin with the typed text come first.
    Otherwise, the entries keep their order. An empty text matches all
    entries.
    """
    typed_words = typed.lower().split()

    def rank(entry: PaletteEntry) -> tuple[int, bool]:
        """Return a sort key of two parts, of which lower values come first.

        The first part is 0 if the typed words are whole words of the
        entry, 1 if they begin its words, else 2. The second part is
        False if the entry begins with the typed text. The typed text is
        known to the enclosing function.
        """
        text = entry.text.lower()
        entry_words = text.split()
        begins_with_text = text.startswith(" ".join(typed_words))
        if all(word in entry_words for word in typed_words):
            return 0, not begins_with_text

        # For each typed word, the beginnings of the entry's words that
        # are as long as it.
        beginnings = {
            entry_word[: len(word)]
            for word in typed_words
            for entry_word in entry_words
        }
        words_begin = begins_with_text or all(
            word in beginnings for word in typed_words
        )
        return 1 if words_begin else 2, not begins_with_text

    matches = [
        entry
        for entry in entries
        if all(
            word in f"{entry.text} {entry.kind} {entry.note}".lower()
            for word in typed_words
        )
    ]
    return sorted(matches, key=rank)


class CommandPalette(QDialog):
    """A popup over the upper part of the window, with a search field and the list of matching entries.

    Parameters
    ----------
    entries : sequence of PaletteEntry
        The entries that are searched.
    parent : QWidget
        The window.
    search : callable, optional
        Returns further entries for a typed text; these are listed first.
    """

    def __init__(
        self,
        entries: Sequence[PaletteEntry],
        parent: QWidget,
        search: Callable[[str], list[PaletteEntry]] = lambda _: [],
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        named(self, "command-palette", tr("find anything"), role="palette")
        self._entries = entries
        self._search = search  # returns further entries for a typed text
        self._matches: list[PaletteEntry] = []  # one for each row of the list
        self.field = named(
            QLineEdit(),
            "palette-field",
            tr("find a command, setting, page, method, feature, run or query"),
        )
        self.field.setPlaceholderText(
            tr("Find a command, setting, page, method, feature, run or query")
        )
        self.list = named(QListWidget(), "palette-list", tr("Matches"))
        self.list.setUniformItemSizes(True)

        # The field keeps the focus; `eventFilter` passes on the arrow keys.
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        fill(
            QVBoxLayout(self),
            self.field,
            (self.list, 1),
            margins=(10, 10, 10, 10),
            spacing=8,
        )
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._find)
        self.field.returnPressed.connect(self._choose)
        self.list.itemClicked.connect(self._choose)

        # In the middle of the upper part of the window, in coordinates
        # of the screen. At least 20 pixels of the window are visible at
        # either side.
        self.resize(min(scaled(_WIDTH), parent.width() - 40), _HEIGHT)
        corner = parent.mapToGlobal(parent.rect().topLeft())
        self.move(
            corner.x() + (parent.width() - self.width()) // 2, corner.y() + _FROM_TOP
        )
        self._find("")
        self.field.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the arrow keys move in the list while the field has the focus.

        ``watched`` is the field of the search. Return True for the
        arrow keys, which the field then does not get.
        """
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        if event.key() in _LIST_KEYS:
            self.list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    @Slot(str)
    def _find(self, typed: str) -> None:
        """List the entries that match the typed text."""
        # Matches of the search function come first.
        self._matches = [*self._search(typed), *matching(self._entries, typed)][
            :_MAX_ENTRIES
        ]
        self.list.clear()
        for entry in self._matches:
            note = f" · {entry.note}" if entry.note else ""
            item = QListWidgetItem(f"{entry.text}   ({entry.kind}{note})")
            item.setToolTip(plain(item.text()))
            self.list.addItem(item)
        if self._matches:
            # Return chooses the current row.
            self.list.setCurrentRow(0)
        else:
            no_match = QListWidgetItem(
                tr("Nothing matches “{typed}”.").format(typed=typed)
            )

            # It cannot be chosen.
            no_match.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(no_match)

    @Slot()
    def _choose(self) -> None:
        """Close the palette, and carry out the entry of the current row."""
        row = self.list.currentRow()
        if 0 <= row < len(self._matches):
            self.close()
            self._matches[row].act()


def palette_entries(
    models: Models, sections: Sections, actions: Actions, workspace: Workspace
) -> tuple[PaletteEntry, ...]:
    """Return the entries of the palette: enabled commands, settings of submenus, pages, and the pages' own entries.

    Without open data there are no pages.
    """
    entries = [*_command_entries(actions), *_submenu_entries(actions)]
    if models.session.dataset is not None:
        entries += [
            PaletteEntry(tr("page"), page.label, partial(workspace.show_page, page.key))
            for page in workspace.entries
        ]
        for controller in sections.controllers.values():
            entries += controller.palette_entries()
    return tuple(entries)


def _command_entries(actions: Actions) -> Iterator[PaletteEntry]:
    """Yield the enabled commands of the menus as entries of the palette."""
    for commands in actions.menus.values():
        for command in commands:
            # None is a line between two commands; entries of submenus are listed apart.
            if command is None or command.key in SUBMENUS:
                continue

            # Pages are entries of their own, and the palette is open already.
            if command.key.startswith("page_") or command.key == "palette":
                continue
            action = actions[command.key]
            if action.isEnabled():
                yield PaletteEntry(
                    tr("command"),
                    action.iconText(),
                    action.trigger,
                    key_text(command.shortcuts),
                )


def _submenu_entries(actions: Actions) -> Iterator[PaletteEntry]:
    """Yield the enabled entries of submenus: themes, languages, measures, scalings, recent files.

    The text of an entry begins with that of its submenu: "Theme › Light".
    """
    for key, menu in actions.submenus.items():
        if key == "pages":  # pages are entries of their own
            continue
        title = menu.title().replace("&", "")
        for action in menu.actions():
            # A line between two entries is an action without a text.
            if action.text() and action.isEnabled() and action.menu() is None:
                text = f"{title} › {action.text().replace('&', '')}"

                # The palette also searches the note, such as the
                # English name of a language.
                yield PaletteEntry(
                    tr("setting"), text, action.trigger, action.whatsThis()
                )
