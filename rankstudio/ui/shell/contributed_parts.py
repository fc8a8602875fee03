"""Parts of the window that plug-ins add with a controller: pages, parts of pages, and commands of menus."""

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
from rankstudio.engine.plugins.window_parts import WindowPage
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import CommandController, Controller
from rankstudio.ui.page.page import Page, Part
from rankstudio.ui.page.tabs import PageTabs
from rankstudio.ui.style.theme import Theme

_log = logging.getLogger(__name__)


Contributed = PagePart | WindowPage | WindowCommands


class ContributedParts:
    """Makes and stores the controllers of plug-ins, and returns their panels, pages and commands.

    Parameters
    ----------
    theme : Theme
    models : Models
    parent : QObject
        Owner of the controllers of pages and panels.
    window : QWidget
        Owner of the controllers of commands without a panel, and parent
        of their dialogs.

    Attributes
    ----------
    controllers : dict of str to Controller
        Controllers by the keys of their entries. The controller of a
        page is added when the page is made.
    problems : list of str
        Error messages on controllers that could not be made.
    """

    def __init__(
        self, theme: Theme, models: Models, parent: QObject, window: QWidget
    ) -> None:
        self._theme = theme
        self._models = models
        self._parent = parent
        self._window = window
        self.controllers: dict[str, Controller] = {}
        self.problems: list[str] = []

        # Each plug-in with a part of a page, or with commands, that it
        # adds. Controllers of whole pages are made later, with their
        # pages.
        entries: list[tuple[LoadedPlugin, PagePart | WindowCommands]] = [
            *page_parts(),
            *window_commands(),
        ]
        for loaded, entry in entries:
            self._make(entry, loaded)

        # Entries whose controllers failed have no panels or commands.
        self._entries = [entry for _, entry in entries if entry.key in self.controllers]

    @property
    def command_controllers(self) -> tuple[CommandController, ...]:
        """The controllers of commands without a panel."""
        controllers = self.controllers.values()
        return tuple(
            controller
            for controller in controllers
            if isinstance(controller, CommandController)
        )

    def _make(self, entry: Contributed, loaded: LoadedPlugin) -> None:
        """Make and store the controller of an entry of a plug-in.

        If that fails, store the reason for the user, with the plug-in's
        package and version, and log it.
        """
        try:
            controller = self._new_controller(entry)
        except Exception as error:
            text = tr(
                "{package} {version} failed with {name}: {error}. See the log for details."
            )
            reason = one_line(str(error)).rstrip(".")
            kind = type(error).__name__
            self.problems.append(
                text.format(
                    package=loaded.package,
                    version=loaded.version,
                    name=kind,
                    error=reason,
                )
            )
            _log.warning("%s failed", entry.controller, exc_info=error)
        else:
            self.controllers[entry.key] = controller

    def _new_controller(self, entry: Contributed) -> Controller:
        """Return a new controller of an entry, after a check of its type or its widget.

        The caller has to handle every kind of exception, as code of a
        plug-in may raise any.
        """
        controller_class = imported(entry.controller)
        if isinstance(entry, WindowCommands):
            command_controller = controller_class(self._models, self._window)

            # `_make` reports a failed check like any other error.
            assert isinstance(command_controller, CommandController)
            return command_controller
        controller: Controller = controller_class(
            self._theme, self._models, self._parent
        )

        # A part of a page is a panel; the controller of a page has its whole content.
        widget_attribute = "panel" if isinstance(entry, PagePart) else "content"
        assert isinstance(getattr(controller, widget_attribute), QWidget)
        return controller

    def panels_of(self, column: str) -> Iterator[Part]:
        """Yield the panels of a column or row of a page, with stretch and size."""
        for entry in self._entries:
            if isinstance(entry, PagePart) and entry.column == column:
                yield self.controllers[entry.key].panel, entry.stretch, entry.size  # type: ignore[attr-defined]

    def page(
        self, entry: WindowPage, loaded: LoadedPlugin, controllers: Sequence[Controller]
    ) -> Page | None:
        """Make a page with its controller; return None if the controller could not be made.

        Parameters
        ----------
        entry : WindowPage
            The page, as the plug-in describes it.
        loaded : LoadedPlugin
            The plug-in.
        controllers : sequence of Controller
            The controllers whose panels are on the page, besides its own.
        """
        self._make(entry, loaded)
        controller = self.controllers.get(entry.key)
        if controller is None:
            return None

        # A head is a widget above the content, such as tabs; it is optional.
        head = getattr(controller, "head", None)
        content = controller.content  # type: ignore[attr-defined]
        page = Page(entry.key, content, [*controllers, controller], head=head)

        # A panel that fills the page would hide the panels of the next tab.
        if isinstance(head, PageTabs):
            head.left.connect(page.restore_panels)
        return page

    def export_items(self) -> Iterator[Any]:
        """Yield the controllers' entries for export."""
        for controller in self.controllers.values():
            yield from controller.export_items()

    def commands(self) -> Iterator[PartCommand]:
        """Yield the commands of all entries."""
        for entry in self._entries:
            yield from entry.commands

    def possible(self) -> Mapping[str, bool]:
        """Return whether each command can be carried out now, by its key."""
        return {
            command.key: bool(getattr(self.controllers[entry.key], command.possible))
            for entry in self._entries
            for command in entry.commands
        }

    def calls(
        self, show_page: Callable[[str], object]
    ) -> Mapping[str, Callable[[], None]]:
        """Return the functions of the commands, by their keys.

        Parameters
        ----------
        show_page : callable
            Shows the page of a key. The command of a part first shows
            the page of the part.
        """
        calls: dict[str, Callable[[], None]] = {}
        for entry in self._entries:
            for command in entry.commands:
                # A command has the name of a method of its controller.
                slot = getattr(self.controllers[entry.key], command.slot)
                page = entry.page if isinstance(entry, PagePart) else ""
                calls[command.key] = (
                    partial(_call, show_page, page, slot) if page else slot
                )
        return calls


def _call(
    show_page: Callable[[str], object], page: str, slot: Callable[[], object]
) -> None:
    """Show a page, and then call the function of a command.

    ``page`` is the key of the page, and ``slot`` the function.
    """
    show_page(page)
    slot()
