"""What plug-ins add to the window with a controller: pages, parts of pages, and commands of menus."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from rankstudio.engine.errors import one_line
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.page_parts import PagePart, PartCommand, page_parts
from rankstudio.engine.plugins.plugin import LoadedPlugin
from rankstudio.engine.plugins.window_commands import WindowCommands, window_commands
from rankstudio.engine.plugins.window_parts import WindowPage, window_parts
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import CommandController, Controller
from rankstudio.ui.page.page import Page, Part
from rankstudio.ui.page.tabs import PageTabs
from rankstudio.ui.style.theme import Theme

_log = logging.getLogger(__name__)


Contributed = PagePart | WindowPage | WindowCommands


class ContributedParts:
    """Makes the controllers of plug-ins, and finds them again.

    Parameters
    ----------
    theme : Theme
    models : Models
    parent : QObject
        Owner of the controllers of pages and panels.
    window : QWidget
        Owner of the controllers of commands without a panel, over which dialogs open.

    Attributes
    ----------
    controllers : dict of str to Controller
        By the keys of their entries.
    over_window : tuple of CommandController
        Those of commands without a panel.
    problems : tuple of str
        Sentences about controllers that could not be made.
    """

    def __init__(self, theme: Theme, models: Models, parent: QObject, window: QWidget) -> None:
        self.controllers: dict[str, Controller] = {}
        self._parts: list[PagePart] = []
        self._entries: list[PagePart | WindowCommands] = []
        problems: list[str] = []
        pages = [(loaded, page) for page, loaded in window_parts().pages if page.controller]
        entries: list[tuple[LoadedPlugin, Contributed]] = [*page_parts(), *pages, *window_commands()]
        for loaded, entry in entries:
            try:
                controller = _made(entry, theme, models, parent, window)
            except Exception as error:
                problems.append(_problem(loaded, error))
                _log.warning("%s failed", entry.controller, exc_info=error)
                continue
            self.controllers[entry.key] = controller
            if isinstance(entry, PagePart):
                self._parts.append(entry)
            if not isinstance(entry, WindowPage):
                self._entries.append(entry)
        controllers = self.controllers.values()
        self.over_window = tuple(one for one in controllers if isinstance(one, CommandController))
        self.problems = tuple(problems)

    def panels_of(self, column: str) -> Iterator[Part]:
        """Yield the panels of a column or row of a page, with stretch and size."""
        for entry in self._parts:
            if entry.column == column:
                yield self.controllers[entry.key].panel, entry.stretch, entry.size  # type: ignore[attr-defined]

    def page(self, entry: WindowPage, controllers: Sequence[Controller]) -> Page | None:
        """Return a page with a controller; None where that could not be made."""
        controller = self.controllers.get(entry.key)
        if controller is None:
            return None
        head = getattr(controller, "head", None)
        page = Page(entry.key, controller.content, controllers, head=head)  # type: ignore[attr-defined]
        if isinstance(head, PageTabs):
            head.left.connect(page.restore_panels)
        return page

    def export_items(self) -> Iterator[Any]:
        """Yield what the controllers offer for export."""
        for controller in self.controllers.values():
            yield from controller.export_items()

    def commands(self) -> Iterator[PartCommand]:
        """Yield the commands."""
        for entry in self._entries:
            yield from entry.commands

    def possible(self) -> Mapping[str, bool]:
        """Return which commands can be carried out now."""
        return {
            command.key: bool(getattr(self.controllers[entry.key], command.possible))
            for entry in self._entries
            for command in entry.commands
        }

    def calls(self, show_page: Callable[[str], object]) -> Mapping[str, Callable[[], None]]:
        """Return what the commands do, by their keys.

        Parameters
        ----------
        show_page : callable
            Shows the page of a key: that of a part before its command is carried out.
        """
        calls: dict[str, Callable[[], None]] = {}
        for entry in self._entries:
            for command in entry.commands:
                slot = getattr(self.controllers[entry.key], command.slot)
                page = entry.page if isinstance(entry, PagePart) else ""
                calls[command.key] = partial(_call, show_page, page, slot) if page else slot
        return calls


def _made(entry: Contributed, theme: Theme, models: Models, parent: QObject, window: QWidget) -> Controller:
    """Return the controller of an entry, which has what the entry promises."""
    if isinstance(entry, WindowCommands):
        over_window = imported(entry.controller)(models, window)
        assert isinstance(over_window, CommandController)
        return over_window
    controller: Controller = imported(entry.controller)(theme, models, parent)
    widget = "panel" if isinstance(entry, PagePart) else "content"
    assert isinstance(getattr(controller, widget), QWidget)
    return controller


def _problem(loaded: LoadedPlugin, error: Exception) -> str:
    """Return what went wrong where something of a plug-in was made, as a sentence."""
    text = tr("{package} {version} failed with {name}: {error}. See the log for details.")
    reason = one_line(str(error)).rstrip(".")
    kind = type(error).__name__
    return text.format(package=loaded.package, version=loaded.version, name=kind, error=reason)


def _call(show_page: Callable[[str], object], page: str, slot: Callable[[], object]) -> None:
    """Show a page, and carry a command out there."""
    show_page(page)
    slot()
