"""The parser of the command line: what is not understood is answered with what may have been meant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.errors import ParameterError, one_line


def did_you_mean(word: str, known: Iterable[str], before: str = "") -> str:
    """Return "; did you mean X?" where a known word is close, else ""; before it what it follows."""
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {before}{close[0]}?" if close else ""


def check_numbers(args: argparse.Namespace, **least: float) -> None:
    """Refuse numbers that are too small, before any work begins.

    Parameters
    ----------
    args : argparse.Namespace
    **least : float
        The smallest number of each option, by its name in the arguments.

    Raises
    ------
    ParameterError
    """
    for name, smallest in least.items():
        value = getattr(args, name)
        if value is not None and not value >= smallest:  # NaN, too
            kind = "a whole number" if isinstance(value, int) else "a number"
            raise ParameterError(f"--{name.replace('_', '-')}", value, f"{kind} from {smallest:g} up")


def place_name(text: str) -> str:
    """Return the name of a file or folder as it was typed; an empty one is refused by the parser."""
    return text


class CommandParser(argparse.ArgumentParser):
    """A parser that says what may have been meant, and does not hide that its help could not be written.

    An option is its whole name: what begins like one may be meant for another method's.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **options})

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Return the arguments.

        A word that no option is called by ends the process with status 2 and a sentence, by the parser of the
        command it was typed behind.
        """
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser: CommandParser = getattr(parsed, "parser", self)
            word = unknown[0].partition("=")[0]
            options = [name for action in parser._actions for name in action.option_strings if _shown(action)]
            hint = did_you_mean(word, options) if word.startswith("-") else ""
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed

    def error(self, message: str) -> NoReturn:
        """End the process with status 2 and a sentence of one line, whatever was typed."""
        super().error(one_line(message))

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        # An empty name is an unset variable of the shell, and would be the current folder.
        if not arg_string and action.type in (Path, place_name):
            raise argparse.ArgumentError(action, "expected the name of a file or folder, got an empty name")
        return super()._get_value(action, arg_string)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            hint = did_you_mean(str(value), known) or f" (choose from {', '.join(known)})"
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}{hint}")

    def _print_message(self, message: str, file: Any = None) -> None:
        tell(Block(message), file=file or sys.stderr, end="")


def _shown(action: argparse.Action) -> bool:
    return action.help is not argparse.SUPPRESS
