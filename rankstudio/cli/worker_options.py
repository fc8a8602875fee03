"""Who does the work of a command: the threads of this process, processes, or a cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.errors import PlanError
from rankstudio.engine.support import threads


@dataclass(frozen=True)
class Workers:
    """An executor, and from how many units on it is worth while.

    Attributes
    ----------
    executor : Executor or None
        None for one unit after the other.
    least : int
        With fewer units a method's own threads make more of the processors.
    most : int or None
        With more numbers in a training part they do so too, and each worker has what it makes of them for
        itself: several would need too much memory.
    """

    executor: Executor | None = None
    least: int = 1
    most: int | None = None

    def serve(self, n_units: int, n_numbers: int) -> Executor | None:
        """Return the executor for so many units on training parts of so many numbers; None for no other."""
        large = self.most is not None and n_numbers > self.most
        return None if n_units < self.least or large else self.executor


_NUMBERS = 1 << 26  # in the training parts of all threads together: some gigabytes with what comes of them

ALONE = Workers()
"""One unit after the other, on the main thread."""


def add_worker_options(parser: Any) -> None:
    """Add the options that say who does the work."""
    group = parser.add_argument_group("who does the work; the numbers are the same, bit for bit")
    group.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="N processes of this machine, 1 for one unit after the other; without it this process's "
        "threads, unless the units are few or the data large",
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
    from rankstudio.engine.experiment.execution import executors

    if args.scheduler is not None:
        with executors.on_cluster(args.scheduler) as executor:
            yield Workers(executor)
    elif args.workers is not None:
        with executors.on_processes(args.workers) as executor:
            yield Workers(executor)
    else:
        with executors.on_threads() as executor:
            count = threads.available()
            yield Workers(executor, least=2 * count, most=_NUMBERS // count)
