"""The command ``rankstudio``: it opens the window, or with a command works in the terminal."""

from __future__ import annotations

import gc
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankstudio import __version__
from rankstudio.cli import streams
from rankstudio.cli.code_options import add_named_code, leave_out
from rankstudio.cli.command_parser import CommandParser, HelpFormatter, did_you_mean
from rankstudio.cli.memory_option import within_memory
from rankstudio.cli.terminal import tell
from rankstudio.cli.word_kinds import refuse_other_kinds
from rankstudio.engine.errors import AnalysisError, Cancelled, RankStudioError
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.plugins.terminal_commands import (
    recorded_commands,
    terminal_commands,
)
from rankstudio.engine.support import memory

if TYPE_CHECKING:
    from rankstudio.cli.analysis_command import AnalysisCommand

    # name of the command's module, or the command of an analysis
    CommandSource = str | AnalysisCommand

CORE_COMMANDS = (
    "run",
    "compare",
    "figures",
    "plan",
    "studies",
    "evaluate",
    "predict",
    "export",
    "convert",
    "generate",
    "methods",
    "plugins",
    "completion",
)
"""The core's commands, each with a module of its name: HELP, DESCRIPTION, ``add_options`` and ``run``."""

_COMMAND = re.compile(r"[a-z][a-z0-9-]*")

LANGUAGES = ("en", "de")
"""Languages of the window."""

FAILED = 1
INTERRUPTED = 130

_DESCRIPTION = """\
Feature selection in learning to rank.

  rankstudio                      open the window
  rankstudio FOLDER               open the window with a LETOR file or a folder of folds
  rankstudio --sample             open the window with the bundled sample and its finished run
  rankstudio --language de        open the window in German, regardless of settings and system language
  rankstudio --without NAME       leave a plug-in out, in the window and in each command
  rankstudio COMMAND …            work in the terminal; see rankstudio COMMAND --help"""

_EPILOG = """\
exit status:
  0    success
  1    the data or the request cannot be used; the reason is on standard error
  2    invalid command line
  130  stopped by Ctrl+C or SIGTERM; completed results are printed, and kept in the study if there is one"""


def main(argv: Sequence[str] | None = None) -> int:
    """Carry a command line out and return the exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments without the program's name; those of this process by default.
    """
    # Set up the output before anything is printed. Warnings of
    # libraries are printed as notes.
    arguments = list(sys.argv[1:] if argv is None else argv)
    warnings.showwarning = _Notes().show
    streams.set_up()
    try:
        try:
            return _dispatch(arguments)
        finally:
            sys.stdout.flush()  # an error of this output is handled below, too
    # Each kind of end has its own status and message.
    except (KeyboardInterrupt, Cancelled):
        tell("Interrupted.", file=sys.stderr)
        return INTERRUPTED
    except RankStudioError as error:
        # The text may name the temporary file that holds the standard input.
        tell(
            f"rankstudio: {streams.with_input_named(error.terminal_text)}",
            file=sys.stderr,
        )
        return FAILED
    except MemoryError:
        tell(
            f"rankstudio: Not enough memory: {memory.size(memory.available())} are free.",
            file=sys.stderr,
        )
        return FAILED
    except BrokenPipeError:
        # The program that reads the output has ended, as ``| head``
        # does. Nothing more is written, so that the end of this program
        # causes no further error.
        streams.silence()
        return FAILED
    except OSError as error:
        # The output itself may be what failed: its rest is dropped.
        streams.silence()
        target = str(error.filename or "The output could not be written")
        tell(f"rankstudio: {target}: {error.strerror or error}.", file=sys.stderr)
        return FAILED


class _Notes:
    """Printer of the warnings of libraries as notes; only the first warning of each class is printed."""

    def __init__(self) -> None:
        self._seen: set[type[Warning]] = set()

    def show(
        self, message: Warning | str, category: type[Warning], *_: object, **__: object
    ) -> None:
        """Print a warning as a note, without the line of code that gave it.

        Of each class of warnings (``category``), only the first is
        printed. Python calls this for a warning; the arguments that are
        not named are the line of code.
        """
        if category not in self._seen:
            self._seen.add(category)
            tell(f"Note: {message}", file=sys.stderr)


@cache
def known_commands() -> Mapping[str, CommandSource]:
    """Return all commands by name: those of the program, then those of plug-ins, then analyses of plug-ins.

    The value of a command is the import path of its module, or an
    object for an analysis.
    """
    from rankstudio.cli.analysis_command import AnalysisCommand
    from rankstudio.engine.methods.catalog.analysis import analyses

    # A module is imported when its command is needed. Both functions
    # get the names that are in use, and leave out an entry that has one
    # of them.
    modules = {**_core_commands(), **terminal_commands(CORE_COMMANDS)}
    return {
        **modules,
        **{key: AnalysisCommand(entry) for key, entry in analyses(modules).items()},
    }


def _core_commands() -> dict[str, CommandSource]:
    """Return the import paths of the core's commands, by name."""
    return {name: f"rankstudio.cli.commands.{name}" for name in CORE_COMMANDS}


def _is_command(word: str) -> bool:
    """Return whether a word is a command; plug-ins are loaded only for a word that may be their command."""
    return word in CORE_COMMANDS or (
        _COMMAND.fullmatch(word) is not None and word in known_commands()
    )


def _dispatch(arguments: list[str]) -> int:
    """Carry out the command with which the arguments begin, and return the exit status.

    Without a command, open the window.
    """
    # This removes --without, which leaves out plug-ins.
    arguments = leave_out(arguments)
    if arguments and _is_command(arguments[0]):
        # Called for its error: the system may allow too little memory.
        memory.refuse_small_limit()

        # Methods of files become known before the options of methods are read.
        arguments = add_named_code(arguments)
        args = command_line(arguments[:1]).parse_args(arguments)
        args.typed = arguments  # to print how a stopped run is resumed

        # Called for its error: such as a study where data are needed.
        refuse_other_kinds(args)
        with within_memory(args):  # the limit of --memory
            return int(args.run(args))
    return _open_window(arguments)


def command_line(names: Sequence[str]) -> CommandParser:
    """Return the parser of the command line, with the named commands only.

    The modules of other commands are not imported. Each command sets
    ``run``, the function that carries it out, and its own ``parser``.
    """
    parser = CommandParser(
        prog="rankstudio",
        usage="rankstudio [FILE | FOLDER …] [--sample] [--run] [--language LANGUAGE]\n"
        "       rankstudio COMMAND …",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=HelpFormatter,
    )

    # Options of the window, which opens without a command.
    parser.add_argument(
        "--sample",
        action="store_true",
        help="open the bundled sample with its finished run",
    )
    parser.add_argument(
        "--run", action="store_true", help="also run the plan of what is opened"
    )
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        help="language of the window: English or German",
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"RankStudio {__version__}",
        help="print the version",
    )
    subparsers = parser.add_subparsers(
        title="commands", metavar="COMMAND [OPTION …]", prog="rankstudio"
    )

    # Only the modules of the named commands are imported.
    for name in names:
        module = _loaded_command(name)
        command = subparsers.add_parser(
            name,
            help=module.HELP,
            usage=getattr(module, "USAGE", None),
            description=module.DESCRIPTION,
            epilog="\n\n".join(filter(None, [getattr(module, "EPILOG", ""), _EPILOG])),
            formatter_class=HelpFormatter,
        )
        try:
            module.add_options(command)
        except AnalysisError:
            # The code of an analysis of another package fails. A list
            # of commands goes on without its options; a single command
            # is what the user asks for.
            if len(names) == 1:
                raise
        command.set_defaults(run=module.run, parser=command)
    return parser


def _loaded_command(name: str) -> Any:
    """Return the command with a name: an object with HELP, DESCRIPTION, ``add_options`` and ``run``.

    The command is a module, or an object for an analysis. No plug-in is
    loaded for a command of RankStudio itself.
    """
    commands = _core_commands() if name in CORE_COMMANDS else known_commands()
    source = commands[name]
    return import_module(source) if isinstance(source, str) else source


def _open_window(arguments: list[str]) -> int:
    """Open the window with the files of the command line, and return the exit status.

    If no window can be opened, say why; with --sample, run the sample
    in the terminal instead.
    """
    # Options are words with a dash, and the word after --language (the
    # slice of one word before it is empty for the first word).
    options = [
        word
        for index, word in enumerate(arguments)
        if word.startswith("-") or arguments[index - 1 : index] == ["--language"]
    ]
    files = [word for word in arguments if word not in options]

    # Only the help needs the parsers of the commands, which look texts
    # up and import the engine.
    is_help = bool({"-h", "--help"} & set(options))
    parser = command_line(tuple(known_commands()) if is_help else ())
    if files[:1] and files[0] in recorded_commands() and not Path(files[0]).exists():
        # The command of an absent plug-in. This error comes first, as
        # the parser below would complain of the command's options
        # instead.
        parser.error(_no_such_command(files[0]))
    args = parser.parse_args(options)
    for file in files:
        if not Path(file).exists():
            parser.error(_no_such_command(file))

    from rankstudio.ui.process.display_check import why_no_window

    memory.refuse_small_limit()  # called for its error
    reason = why_no_window()
    if reason is None:
        from rankstudio.ui.language import install
        from rankstudio.ui.process.settings import Settings

        # Before the window's modules look their texts up.
        install(args.language or Settings().language)

        # The window collects garbage itself, later. Objects that
        # imports make stay anyway, and looking for garbage among them
        # took a tenth of the time.
        gc.disable()
        from rankstudio.ui.app import main as open_window

        flags = [f"--{name}" for name in ("sample", "run") if getattr(args, name)]
        return int(open_window([*files, *flags]))
    tell(reason, file=sys.stderr)
    if not args.sample:
        tell(
            "To work in the terminal, use rankstudio run --data FOLDER (see rankstudio run --help).",
            file=sys.stderr,
        )
        return FAILED
    tell("Running the sample study in the terminal instead.", file=sys.stderr)
    return _dispatch(["run", "--sample"])


def _no_such_command(name: str) -> str:
    """Return the text of the error for a word that is neither a file nor a command.

    ``name`` is the word. The text suggests a similar command. The
    commands of RankStudio's own plug-ins are recorded, so that they are
    known even where their plug-in is absent.
    """
    plugin = recorded_commands().get(name)
    for failed in plugins().failed:
        if failed.name == plugin:
            return f"{name}: the plug-in {plugin} cannot be loaded: {failed.reason}."
    if plugin is not None:
        return f"{name}: this command belongs to the plug-in {plugin}, which is absent or left out."
    hint = (
        did_you_mean(name, tuple(known_commands()), before="rankstudio ")
        or f" ({', '.join(known_commands())})."
    )
    return f"{name}: no file, folder or command of this name{hint}"
