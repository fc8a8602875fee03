"""Who does the work of a command: the threads of this process, processes, or a cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rankstudio.engine import threads
from rankstudio.engine.errors import PlanError


@dataclass(frozen=True)
class Workers:
    """An executor, and from how many units on it is worth while.

    Attributes
    ----------
    executor : Executor or None
        None for one unit after the other.
    least : int
        With fewer units a method's own threads make more of the processors.
    """

    executor: Executor | None = None
    least: int = 1

    def serve(self, n_units: int) -> Executor | None:
        """Return the executor for so many units, None for one after the other."""
        return self.executor if n_units >= self.least else None


ALONE = Workers()
"""One unit after the other, on the main thread."""


def add_worker_options(parser: Any) -> None:
    """Add the options that say who does the work."""
    group = parser.add_argument_group("who does the work; the numbers are the same, bit for bit")
    group.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="N processes of this machine; without it the threads of this one process, and 1 for one thread",
    )
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a running dask scheduler, such as tcp://10.0.0.1:8786 (needs the extra cluster)",
    )


@contextmanager
def workers(args: argparse.Namespace) -> Iterator[Workers]:
    """Provide those that the options ask for; they are sent home at the end.

    Raises
    ------
    PlanError
        For both options at once.
    WorkerError, ParameterError, MissingExtraError
        Where there are none, or fewer than one is asked for.
    """
    if args.scheduler is not None and args.workers is not None:
        raise PlanError("--workers: expected nothing beside --scheduler, which has workers of its own.")
    if args.workers == 1 or (args.workers is None and args.scheduler is None and threads.available() == 1):
        yield ALONE
        return
    from rankstudio.engine.experiment import executors

    if args.scheduler is not None:
        with executors.on_cluster(args.scheduler) as executor:
            yield Workers(executor)
    elif args.workers is not None:
        with executors.on_processes(args.workers) as executor:
            yield Workers(executor)
    else:
        with executors.on_threads() as executor:
            yield Workers(executor, least=2 * threads.available())
