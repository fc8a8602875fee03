"""``rankstudio completion``: a script that completes commands, options, choices and files in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from rankstudio.cli.streams import STANDARD, write_output

HELP = "print a shell completion script"
DESCRIPTION = """\
Print a script that completes commands, options, choices and file names in a shell.

  rankstudio completion bash     for ~/.local/share/bash-completion/completions/rankstudio
  rankstudio completion zsh      for _rankstudio in a folder of $fpath
  rankstudio completion fish     for ~/.config/fish/completions/rankstudio.fish
  rankstudio completion tcsh     for a file that .tcshrc reads with source

Completion is active in the next shell you start."""

SHELLS = ("bash", "zsh", "fish", "tcsh")
"""The shells that shtab writes scripts for."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the shell."""
    parser.add_argument("shell", choices=SHELLS, help=f"shell: {', '.join(SHELLS)}")


def run(args: argparse.Namespace) -> int:
    """Print the script that completes command lines in a shell; return 0."""
    import shtab

    from rankstudio.cli import command_line, known_commands

    parser = command_line(tuple(known_commands()))

    # Names of files are completed for arguments that are files; shtab
    # reads the attribute.
    for action in _all_actions(parser):
        is_path = action.type is Path or action.dest == "data"
        if is_path and not action.choices:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    write_output(STANDARD, shtab.complete(parser, args.shell) + "\n")
    return 0


def _all_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _all_actions(command)
