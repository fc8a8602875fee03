"""Descriptions of controllers of the window that plug-ins add, with their commands in menus; without Qt."""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.errors import PlanError, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of
from rankstudio.engine.plugins.page_parts import PartCommand
from rankstudio.engine.plugins.plugin import LoadedPlugin


@dataclass(frozen=True)
class WindowCommands:
    """Commands that a plug-in adds to menus of the window, with the controller that carries them out.

    Attributes
    ----------
    key : str
        Key, unique among the window commands.
    label : str
        Subject of the commands.
    controller : str
        ``"module:Class"`` of a
        :class:`~rankstudio.ui.page.controller.CommandController`:
        called with the models and the window.
    commands : tuple of PartCommand
        Commands in menus; empty for a controller that only adds to the dialog
        *Export*.
    """

    key: str
    label: str
    controller: str
    commands: tuple[PartCommand, ...] = ()


def window_commands() -> list[tuple[LoadedPlugin, WindowCommands]]:
    """Return (plug-in, commands) for the menus of the window that abilities add.

    Abilities are RankStudio's own removable plug-ins. Commands of other
    packages are left out with a warning.
    """
    exists = tr(
        "Commands of the window with the key {key} exist already. Choose another key."
    )
    unusable = tr("A command of the plug-in {name} cannot be used: {reason}")
    return entries_of("window_commands", _refuse_invalid, exists, unusable)


def _refuse_invalid(entry: object) -> None:
    """Raise a PlanError for any commands of the window's menus that a package's plug-in adds.

    The controller of the commands would see what the window keeps sealed.
    """
    text = tr(
        "only RankStudio itself has commands of menus; use a WindowPanel instead of {value}."
    )
    raise PlanError(text.format(value=shown(entry)))
