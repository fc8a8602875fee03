"""The option ``--log``: logs of runs in other programs, which plug-ins add."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rankstudio.cli.terminal import tell
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.run_logs import RunListener, RunLog, run_logs


@dataclass(frozen=True)
class LogStore:
    """A program that logs runs, and the place in the program where runs are logged.

    Attributes
    ----------
    entry : RunLog
        The program, as a plug-in describes it.
    location : str
        Location of the log, as ``entry.store`` returned it.
    """

    entry: RunLog
    location: str


def add_log_option(parser: argparse._ActionsContainer) -> None:
    """Add the option ``--log``."""
    programs = "; or to ".join(entry.help for entry in run_logs().values())
    without_programs = "also log the run; no plug-in for it is installed"
    text = f"also log the run to {programs}" if programs else without_programs
    parser.add_argument("--log", metavar="STORE", help=text)


def log_store(target: str | None) -> LogStore | None:
    """Return the program and place for logs that ``--log`` names; None without the option.

    ``target`` is the value of the option.

    Raises
    ------
    ParameterError
        For a program that no plug-in adds, or a place that the program refuses.
    MissingExtraError
        If the program's library is not installed.
    """
    if target is None:
        return None

    # "mlflow", or "mlflow:PLACE"
    key, _, location = target.partition(":")
    entries = run_logs()
    if key not in entries:
        words = ", or ".join(f"{store}, or {store}:PLACE" for store in entries)
        raise ParameterError(
            "--log",
            target,
            words or "nothing, because no plug-in for logs is installed",
        )

    # `store` names a function that checks the place, "" for none, and
    # returns the location of the log.
    return LogStore(entries[key], imported(entries[key].store)(location))


@contextmanager
def logged(store: LogStore | None, data_name: str) -> Iterator[RunListener | None]:
    """Provide the log of a run in another program during a ``with`` block; None without a store.

    The log receives the events of the run. An error that ends the run
    is logged, too.

    Parameters
    ----------
    store : LogStore or None
        The program, and the place in it; None for no log.
    data_name : str
        Name of the dataset.
    """
    # The class of the log is called with the location, the name of the
    # data, and a function that shows a sentence.
    log = (
        None
        if store is None
        else imported(store.entry.listener)(store.location, data_name, _print_to_stderr)
    )
    try:
        yield log
    except BaseException:
        if log is not None:
            log.fail()
        raise


def _print_to_stderr(sentence: str) -> None:
    """Print a sentence to the error stream."""
    tell(sentence, file=sys.stderr)
