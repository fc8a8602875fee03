"""Descriptions of the commands of the terminal that plug-ins add."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.errors import PlanError, one_line, shown
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import entries_of
from rankstudio.engine.support.resources import resource

_KEY = re.compile(r"[a-z][a-z0-9-]{0,39}")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


@dataclass(frozen=True)
class TerminalCommand:
    """A command of the terminal that a plug-in adds.

    Attributes
    ----------
    key : str
        Name of the command: lower-case letters, digits and hyphens.
    module : str
        Module with ``HELP`` and ``DESCRIPTION``, the function
        ``add_options(parser)``, and ``run(args)``, which returns the
        exit status. It is imported when the command is used or listed.

    Examples
    --------
    >>> TerminalCommand("words", "my_package.words_command").key
    'words'
    """

    key: str
    module: str


def commands_to_record() -> dict[str, str]:
    """Return the plug-in's name for each command that an ability adds to the terminal, by the command.

    Abilities are RankStudio's own removable plug-ins. The names are
    stored in a file, so that the commands of absent abilities are
    known, too.
    """
    # Built-in entries are not checked (the lambda), and need no texts
    # of warnings (""). Analyses are commands, too.
    return {
        entry.key: loaded.plugin.name
        for kind in ("commands", "analyses")
        for loaded, entry in entries_of(kind, lambda _: None, "", "")
        if loaded.built_in
    }


def recorded_commands() -> dict[str, str]:
    """Return the recorded plug-in's name for each command that an ability adds, by the command.

    Abilities are RankStudio's own removable plug-ins. Commands of
    absent abilities are included.
    """
    commands: dict[str, str] = json.loads(
        resource("abilities", "commands.json").read_text(encoding="utf-8")
    )
    return commands


def terminal_commands(used_keys: Collection[str]) -> dict[str, str]:
    """Return the modules of the commands that plug-ins add, by the name of the command.

    Commands that cannot be used are left out with a warning.

    Parameters
    ----------
    used_keys : collection of str
        Names of the program's own commands.
    """

    def refuse_invalid(entry: object) -> None:
        """Raise a PlanError for an entry that is no valid command."""
        problem = _problem_of_terminal_command(entry, used_keys)
        if problem:
            raise PlanError(problem)

    # Texts of the warnings: for a key that is taken, and for an invalid entry.
    exists = tr("A command {key} exists already. Choose another name.")
    unusable = tr("A command of the plug-in {name} cannot be used: {reason}")
    return {
        entry.key: entry.module
        for _, entry in entries_of("commands", refuse_invalid, exists, unusable)
    }


def _problem_of_terminal_command(entry: object, used_keys: Collection[str]) -> str:
    """Return why an entry of a plug-in is no valid terminal command, as a sentence; "" if it is valid.

    ``used_keys`` are the names of the program's own commands.
    """
    # Another class is a problem, too; the second condition is for the type checker.
    problem = problem_of_command(entry, TerminalCommand, used_keys)
    if problem or not isinstance(entry, TerminalCommand):
        return problem
    if not isinstance(entry.module, str) or not _MODULE.fullmatch(entry.module):
        text = tr("{key}: expected the name of a module, got {module}.")
        return text.format(key=entry.key, module=one_line(shown(entry.module)))
    return ""


def problem_of_command(entry: Any, kind: type, used_keys: Collection[str]) -> str:
    """Return why an entry of a plug-in cannot be a command, as a sentence; "" if it can.

    Parameters
    ----------
    entry : object
        Entry of a plug-in.
    kind : type
        Expected class of the entry.
    used_keys : collection of str
        Names of other commands.
    """
    if not isinstance(entry, kind):
        text = tr("{value} is not of the class {kind}.")
        return text.format(value=one_line(shown(entry)), kind=kind.__name__)
    key = getattr(entry, "key", None)
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        return tr(
            "key: expected lower-case letters, digits and hyphens, got {key}."
        ).format(key=shown(key))
    if key in used_keys:
        return tr("A command {key} exists already. Choose another name.").format(
            key=shown(key)
        )
    return ""
