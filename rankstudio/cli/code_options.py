"""Methods that a command line names by their code: a Python file, or an import path."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio.engine.errors import PlanError
from rankstudio.engine.language import tr

if TYPE_CHECKING:
    from rankstudio.engine.experiment.plan.plan import Plan

OPTIONS = ("--method", "--ranker")
"""Options with the key of a method."""

MEASURE_OPTIONS = ("--measure", "--measures", "--select-by")
"""Options with names of measures, separated by commas."""


def add_named_code(arguments: Sequence[str]) -> list[str]:
    """Add the methods that the options name by their code, and return the arguments with their keys.

    Typing the name of a file or a library allows its code to run. The options of a method depend on
    its code, so this is done before the command line is read.

    Parameters
    ----------
    arguments : sequence of str
        Arguments of a command.

    Raises
    ------
    PlanError
        If the code cannot be run, or is no method.
    """
    read: list[str] = []
    convert: Callable[[str], str] = str
    for word in arguments:
        option, equals, value = word.partition("=")
        of_option = _code_replacer(option)
        read.append(f"{option}={of_option(value)}" if equals and convert is str else convert(word))
        convert = of_option if convert is str and not equals else str
    return read


def _code_replacer(option: str) -> Callable[[str], str]:
    """Return the function that replaces code in the value of an option by the key of the added method."""
    if option in OPTIONS:
        return _method_key
    return _measure_names if option in MEASURE_OPTIONS else str


def _measure_names(text: str) -> str:
    """Return names of measures; measures of files are added, and replaced by their keys."""
    if ".py:" not in text:
        return text
    from rankstudio.engine.methods.foreign.measures import file_and_cutoff, names_measure_file
    from rankstudio.engine.methods.foreign.permission import add_user_measure

    names = []
    for name in text.split(","):
        source, cutoff = file_and_cutoff(name.strip()) if names_measure_file(name) else (name, "")
        names.append(f"{add_user_measure(source).key}{cutoff}" if names_measure_file(name) else name)
    return ",".join(names)


def _method_key(text: str) -> str:
    if not _may_name_code(text):
        return text
    from rankstudio.engine.methods.catalog import find_method
    from rankstudio.engine.methods.foreign.code import names_code
    from rankstudio.engine.methods.foreign.permission import add_by_user

    entry = find_method(text)
    if (entry is not None and entry.key == text) or not names_code(text):
        return text
    return add_by_user(text).key


def _may_name_code(text: str) -> bool:
    """Return whether a word may name code, before anything of the engine is loaded."""
    return "." in text or text.startswith("command:")


def leave_out(arguments: Sequence[str]) -> list[str]:
    """Leave out the plug-ins that the option names, and return the other arguments.

    Workers inherit it from the environment.
    """
    from rankstudio.engine.plugins.loader import WITHOUT

    names: list[str] = []
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--without":
            name = next(words, "")
            if not name:
                raise PlanError(tr("--without: expected the name of a plug-in."))
            names.append(name)
        elif word.startswith("--without="):
            names.append(word.partition("=")[2])
        else:
            rest.append(word)
    if names:
        os.environ[WITHOUT] = ",".join([*filter(None, [os.environ.get(WITHOUT, "")]), *names])
    return rest


def settings_from(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that ``--set NAME=VALUE`` gives."""
    values: dict[str, Any] = {}
    for text in getattr(args, "set", None) or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise PlanError(tr("--set: expected NAME=VALUE, got {text}.").format(text=text))
        values[name.strip()] = value.strip()
    return values


def allow_named_code(args: argparse.Namespace, path: Path) -> None:
    """Add the methods that the plans of a TOML file name by their code, where the user allows it.

    Raises
    ------
    CodeNotAllowedError, PlanError
        As in :func:`rankstudio.engine.methods.foreign.permission.add_of_plan`.
    """
    from rankstudio.engine.experiment.plan.toml import method_keys, read_toml
    from rankstudio.engine.methods.foreign.permission import add_of_plan

    keys = list(method_keys(read_toml(path)))
    if keys:
        add_of_plan(
            keys, (path.absolute().parent, Path.cwd()), allow_code=bool(getattr(args, "allow_code", False))
        )


def allow_code_of(args: argparse.Namespace, plans: Iterable[Plan], path: Path) -> None:
    """Add the methods and measures that the plans of a study name by their code, as above."""
    from rankstudio.engine.experiment.plan.toml import measure_keys
    from rankstudio.engine.methods.foreign.permission import add_of_plan

    plans = [*plans]
    keys = [entry.key for plan in plans for entry in plan.entries]
    keys += [key for plan in plans for key in measure_keys(plan)]
    add_of_plan(keys, (path.absolute().parent, Path.cwd()), allow_code=bool(args.allow_code))
