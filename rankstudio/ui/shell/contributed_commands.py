"""The commands of menus that plug-ins add without a panel, and their controllers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping

from PySide6.QtWidgets import QWidget

from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.page_parts import PartCommand
from rankstudio.engine.plugins.window_commands import WindowCommands, window_commands
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import CommandController
from rankstudio.ui.shell.contributed_parts import problem_of

_log = logging.getLogger(__name__)


class ContributedCommands:
    """Makes the controllers of commands of plug-ins, and finds them again.

    Parameters
    ----------
    models : Models
    window : QWidget
        Owner of the controllers, over which dialogs open.

    Attributes
    ----------
    controllers : dict of str to CommandController
        By the keys of their entries.
    problems : tuple of str
        Sentences about those that could not be made.
    """

    def __init__(self, models: Models, window: QWidget) -> None:
        self.controllers: dict[str, CommandController] = {}
        self._entries: list[WindowCommands] = []
        problems: list[str] = []
        for loaded, entry in window_commands():
            try:
                controller = imported(entry.controller)(models, window)
                assert isinstance(controller, CommandController)
            except Exception as error:
                problems.append(problem_of(loaded, error))
                _log.warning("%s failed", entry.controller, exc_info=error)
                continue
            self.controllers[entry.key] = controller
            self._entries.append(entry)
        self.problems = tuple(problems)

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

    def calls(self) -> Mapping[str, Callable[[], object]]:
        """Return what the commands do, by their keys."""
        return {
            command.key: getattr(self.controllers[entry.key], command.slot)
            for entry in self._entries
            for command in entry.commands
        }
