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
    """Add the methods and measures that options name by their code, and return the arguments with their keys.

    Typing the name of a file or a library allows its code to run. The
    options of a method depend on its code, so this is done before the
    command line is read.

    Parameters
    ----------
    arguments : sequence of str
        Arguments of a command.

    Raises
    ------
    PlanError
        If the code cannot be run, or is no method.
    """
    replaced: list[str] = []

    # The function for the next word, if that is the value of the option
    # before it; otherwise ``str``, which changes nothing.
    replace_value: Callable[[str], str] = str
    for word in arguments:
        option, equals, value = word.partition("=")

        # The function for the value of this option; `str`, if it takes no code.
        replace_code = _code_replacer(option)

        # "--method=file.py:Name" is one word, "--method file.py:Name" are two.
        is_value = replace_value is not str
        if equals and not is_value:
            replaced.append(f"{option}={replace_code(value)}")
        else:
            replaced.append(replace_value(word))
        replace_value = str if is_value or equals else replace_code
    return replaced


def _code_replacer(option: str) -> Callable[[str], str]:
    """Return the function that replaces code in the value of an option by the key of a method or measure.

    For an option that takes no code, the function is ``str``.
    """
    if option in OPTIONS:
        return _method_key
    return _measure_names if option in MEASURE_OPTIONS else str


def _measure_names(text: str) -> str:
    """Return comma-separated names of measures, with keys in place of code.

    Measures of files are added to the known measures. A name may end
    with a cut-off, as in "my_measure.py:gain@10", which stays.
    """
    if ".py:" not in text:
        return text
    from rankstudio.engine.methods.foreign.measures import (
        file_and_cutoff,
        names_measure_file,
    )
    from rankstudio.engine.methods.foreign.permission import add_user_measure

    names = []
    for name in text.split(","):
        if names_measure_file(name):
            source, cutoff = file_and_cutoff(name.strip())
            names.append(f"{add_user_measure(source).key}{cutoff}")
        else:
            names.append(name)
    return ",".join(names)


def _method_key(text: str) -> str:
    """Return the key of a method; a method that is named by its code is added first."""
    if not _may_name_code(text):
        return text
    from rankstudio.engine.methods.catalog import find_method
    from rankstudio.engine.methods.foreign.code import names_code
    from rankstudio.engine.methods.foreign.permission import add_by_user

    # find_method also finds methods by their labels; the option takes keys only.
    entry = find_method(text)
    is_known_key = entry is not None and entry.key == text
    if is_known_key or not names_code(text):
        return text
    return add_by_user(text).key


def _may_name_code(text: str) -> bool:
    """Return whether a word may name code.

    Code is named by a file, an import path or a command. This quick
    test loads nothing of the engine, and also passes other words with a
    dot.
    """
    return "." in text or text.startswith("command:")


def leave_out(arguments: Sequence[str]) -> list[str]:
    """Leave out the plug-ins that ``--without`` names, and return the other arguments.

    The names are stored in an environment variable, which worker
    processes inherit.
    """
    from rankstudio.engine.plugins.loader import WITHOUT

    # The name follows as the next word, or after an equals sign.
    names: list[str] = []
    other_arguments: list[str] = []
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
            other_arguments.append(word)

    # Names that are already in the environment stay.
    if names:
        earlier_names = os.environ.get(WITHOUT, "")
        os.environ[WITHOUT] = ",".join(
            [earlier_names, *names] if earlier_names else names
        )
    return other_arguments


def settings_from(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of methods that the options ``--set NAME=VALUE`` set.

    The values are texts, by the names of the parameters. A command
    without the option sets none.
    """
    values: dict[str, Any] = {}
    for text in getattr(args, "set", None) or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise PlanError(
                tr("--set: expected NAME=VALUE, got {text}.").format(text=text)
            )
        values[name.strip()] = value.strip()
    return values


def allow_named_code(args: argparse.Namespace, path: Path) -> None:
    """Add the methods that the plans of a TOML file name by their code, where the user allows it.

    The file is at ``path``. The code is looked for beside the file, and
    in the current folder.

    Raises
    ------
    CodeNotAllowedError
        If the user has allowed the code neither now, with ``--allow-code``, nor before.
    PlanError
        If the code cannot be run, or is no method.
    """
    from rankstudio.engine.experiment.plan.toml import method_keys, read_toml
    from rankstudio.engine.methods.foreign.permission import add_code_of_plan

    keys = list(method_keys(read_toml(path)))
    if keys:
        add_code_of_plan(
            keys,
            (path.absolute().parent, Path.cwd()),
            allow_code=bool(getattr(args, "allow_code", False)),
        )


def allow_code_of(args: argparse.Namespace, plans: Iterable[Plan], path: Path) -> None:
    """Add the methods and measures that the plans of a study name by their code, where the user allows it.

    The code is looked for beside the study (``path``), and in the current folder.
    """
    from rankstudio.engine.experiment.plan.toml import measure_keys
    from rankstudio.engine.methods.foreign.permission import add_code_of_plan

    plans = [*plans]
    keys = [entry.key for plan in plans for entry in plan.entries]
    keys += [key for plan in plans for key in measure_keys(plan)]
    add_code_of_plan(
        keys, (path.absolute().parent, Path.cwd()), allow_code=bool(args.allow_code)
    )
