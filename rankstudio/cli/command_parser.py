"""The parser of the command line.

Its error for an unknown word suggests a similar known word.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.errors import ParameterError, nearest, one_line


def did_you_mean(word: str, known_words: Iterable[str], before: str = "") -> str:
    """Return "; did you mean X?" where a known word X is similar, else ""; the text `before` precedes X."""
    close = nearest(word, known_words)
    return f"; did you mean {before}{close}?" if close else ""


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
        If a number is too small; the text names its option.
    """
    for name, smallest in least.items():
        value = getattr(args, name)

        # Not "value < smallest", so that NaN is refused, too.
        if value is not None and not value >= smallest:
            kind = "a whole number" if isinstance(value, int) else "a number"
            raise ParameterError(
                f"--{name.replace('_', '-')}", value, f"{kind} from {smallest:g} up"
            )


def place_name(text: str) -> str:
    """Return the name of a file or folder as it was typed.

    An option with this type takes a path: the parser then refuses an
    empty name.
    """
    return text


class CommandParser(argparse.ArgumentParser):
    """A parser that suggests similar words, and raises the error if its help cannot be written.

    Options cannot be abbreviated: an abbreviation may be meant for an
    option of another method.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **options})
        self.by_method = False  # whether the help depends on the method
        self._typed: list[str] = []  # the words that are parsed

        # The path that --sample puts in the place of DATA; "" for a
        # command that reads --sample itself.
        self.sample_word = ""

        # Whether parse_known_intermixed_args runs, which calls parse_known_args.
        self._is_mixing = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Return the values of the arguments, and the unknown words.

        With a ``sample_word``, --sample stands for DATA: the
        ``sample_word`` is put before all other words, because DATA is
        the first positional argument.
        """
        words = list(sys.argv[1:] if args is None else args)
        self._typed = words

        # `parse_known_intermixed_args`, called below, calls this method
        # again, with words that need no changes.
        if self._is_mixing:
            return super().parse_known_args(words, namespace)
        words = self._with_data_first(words)
        if not self.sample_word:
            return super().parse_known_args(words, namespace)
        self._is_mixing = True  # options may stand between the words
        try:
            first = [self.sample_word] if "--sample" in words else []
            return self.parse_known_intermixed_args([*first, *words], namespace)
        finally:
            self._is_mixing = False

    def _with_data_first(self, words: list[str]) -> list[str]:
        """Return the words with the value of --data first, for a command with a positional argument DATA.

        Other commands have an option --data in place of DATA; this
        makes both ways understood everywhere.
        """
        has_positional_data = any(
            action.dest == "data" for action in self._get_positional_actions()
        )
        if not has_positional_data or "--data" in self._option_string_actions:
            return words
        for index, word in enumerate(words):
            if word == "--data" and index + 1 < len(words):
                return [words[index + 1], *words[:index], *words[index + 2 :]]
            if word.startswith("--data="):
                return [
                    word.removeprefix("--data="),
                    *words[:index],
                    *words[index + 1 :],
                ]
        return words

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Return the values of the arguments.

        The result is a namespace. An unknown word ends the process with
        status 2; the parser of the typed command prints the error,
        which suggests a similar option.
        """
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            # A command has set its parser; without a command, it is this one.
            parser: CommandParser = getattr(parsed, "parser", self)
            word = unknown[0].partition("=")[0]
            options = [
                name
                for action in parser._actions
                for name in action.option_strings
                if _is_shown(action)
            ]
            hint = did_you_mean(word, options) if word.startswith("-") else ""
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return parsed

    def format_help(self) -> str:
        """Return the text that --help prints.

        The help of a command with parameters of methods is brief, and
        has the options that all methods share; with --method NAME or
        --ranker NAME it is complete.
        """
        if not self.by_method:
            return super().format_help()

        # argparse has the texts as attributes: change them, format, and restore them.
        methods = {
            option: self._typed_value(option) for option in ("--method", "--ranker")
        }
        brief = not any(methods.values())
        texts = [(action, action.help, action.metavar) for action in self._actions]
        groups = [(group, group.description) for group in self._action_groups]
        description = self.description
        epilog = self.epilog
        try:
            for action in self._actions:
                # Parameters are shown for the methods on the command
                # line only. add_parameters has set ``owners``, the help
                # of a parameter by method, and ``of``, the option that
                # names the method.
                owners = getattr(action, "owners", None)
                if owners is not None:
                    action.help = owners.get(methods[action.of], argparse.SUPPRESS)  # type: ignore[attr-defined]
                # Without a method the help is short.
                elif brief and _is_shown(action):
                    hidden = action.dest.startswith(_SELDOM_OPTIONS)
                    action.help = (
                        argparse.SUPPRESS
                        if hidden
                        else _first_clause(action.help or "")
                    )

                    # Without a metavar, argparse would print all
                    # choices, or the long name of the option, and leave
                    # no room for the help.
                    if action.choices is not None or len(action.dest) > _MAX_METAVAR:
                        action.metavar = action.metavar or "NAME"
            if brief:
                for group, _ in groups:
                    group.description = None
                self.description = _up_to_examples(description or "")
                self.epilog = f"{_MORE_HELP.format(prog=self.prog)}\n\n{epilog or ''}"
            return super().format_help()
        finally:
            self.description = description
            self.epilog = epilog
            for action, text, metavar in texts:
                action.help = text
                action.metavar = metavar
            for group, text in groups:
                group.description = text

    def _typed_value(self, option: str) -> str:
        """Return the typed value of an option, "" without one; the rest of the line may be invalid."""
        # Each word with the next one; after the last comes "".
        for word, following in pairwise((*self._typed, "")):
            if word == option or word.startswith(f"{option}="):
                return following if word == option else word.partition("=")[2]
        return ""

    def error(self, message: str) -> NoReturn:
        """End the process with status 2 and an error of one line.

        ``message`` is the error. Control characters in it are escaped.
        """
        super().error(one_line(message))

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Return the value of a typed text; refuse an empty name of a file.

        ``action`` is the option or argument, and ``arg_string`` the text.
        """
        # An empty name is an unset variable of the shell, and would be
        # the current folder.
        if not arg_string and action.type in (Path, place_name):
            raise argparse.ArgumentError(
                action, "expected the name of a file or folder, got an empty name"
            )
        return super()._get_value(action, arg_string)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Raise an error for a value that is none of an option's choices.

        The error suggests a similar choice, or lists a few. For the
        method of an absent plug-in, the error names the plug-in.
        ``action`` is the option, as argparse describes it, and
        ``value`` what was typed.
        """
        if action.choices is not None and value not in action.choices:
            choices = [str(choice) for choice in action.choices]
            choices_text = "; --help lists all"
            if len(choices) <= _MAX_NAMES_IN_ERROR:
                choices_text = f" (choose from {', '.join(choices)})"
            hint = did_you_mean(str(value), choices) or choices_text
            problem = (
                _absent_plugin_text(action, value) or f"invalid choice: {value!r}{hint}"
            )
            raise argparse.ArgumentError(action, problem)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print a message of argparse, by default to the error stream."""
        tell(Block(message), file=file or sys.stderr, end="")


_MORE_HELP = """\
{prog} --method NAME --help explains all options and the parameters of a method, and with
--ranker NAME those of the final ranker. rankstudio methods lists both."""
# options that the brief help leaves out
_SELDOM_OPTIONS = ("tls_", "allow_code", "set")
# letters of an option up to which its value has the name of the option
_MAX_METAVAR = 8
# letters that the line of an option has for its help at a width of 80
_MAX_HELP_LETTERS = 55
_CLAUSE_END = re.compile(r"; |: | \(|, (?:such as|as in)|\. ")


def _first_clause(text: str) -> str:
    """Return the first clause of a text, without what explains it."""
    first = _CLAUSE_END.split(text, maxsplit=1)[0].rstrip(".,")
    return first if len(first) <= _MAX_HELP_LETTERS else first.split(", ")[0]


def _up_to_examples(description: str) -> str:
    """Return the first paragraphs of a description, up to its examples, which are indented.

    Without examples, return all paragraphs.
    """
    paragraphs = description.split("\n\n")
    last = next(
        (index for index, text in enumerate(paragraphs) if text.startswith("  ")),
        len(paragraphs),
    )

    # The examples are included.
    return "\n\n".join(paragraphs[: last + 1])


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """A formatter that breaks no name at its hyphen."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        """Return a help text as lines, without breaks at hyphens."""
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


_MAX_NAMES_IN_ERROR = 8  # names that an error can list


def _is_shown(action: argparse.Action) -> bool:
    """Return whether an option is in the help.

    ``action`` describes an option or an argument, as argparse has it.
    """
    return action.help is not argparse.SUPPRESS


def _absent_plugin_text(action: argparse.Action, value: object) -> str:
    """Return a sentence that names the absent plug-in of a method or format.

    Return "" for any other value. ``action`` is the option that has the
    value: ``--to`` takes formats, other options take methods.
    """
    from rankstudio.engine.data.formats.format_catalog import absent_data_format
    from rankstudio.engine.export.formats.registry import absent_plugin_of
    from rankstudio.engine.methods.catalog import find_method

    if action.dest == "to":
        return absent_plugin_of(str(value)) or absent_data_format(str(value))
    entry = find_method(str(value)) if action.dest in ("method", "ranker") else None

    # `lacking` says what a method cannot be run without.
    return entry.lacking if entry is not None else ""
