"""Who does the work of a command: the threads of this process, processes, or a cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.execution.workers import ALONE, Workers
from rankstudio.engine.support import threads


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
            yield Workers.of_threads(executor, threads.available())
