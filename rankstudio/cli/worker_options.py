"""The options of the workers of a command: threads of this process, processes, or a cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.execution.workers import ALONE, Certificates, Workers
from rankstudio.engine.support import threads

_TLS_HELP = {
    "ca": "certificate of the cluster's authority",
    "cert": "your certificate, signed by that authority",
    "key": "private key of your certificate",
}


def add_worker_options(parser: Any) -> None:
    """Add the options of the workers: a number of processes, or a cluster with its certificates."""
    group = parser.add_argument_group("workers; all give identical results")
    group.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help=(
            "number of worker processes; 1 runs the units one after another. By default, units run on "
            "threads; with few units or large data, one unit at a time uses all threads"
        ),
    )
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help='address of a running Dask scheduler, such as tcp://10.0.0.1:8786 (extra "cluster")',
    )
    for name, text in _TLS_HELP.items():
        group.add_argument(
            f"--tls-{name}", type=Path, metavar="FILE", help=f"{text}, for tls://…"
        )


@contextmanager
def workers(args: argparse.Namespace) -> Iterator[Workers]:
    """Provide the workers that the options choose, during a ``with`` block.

    The workers are processes or threads that compute runs. At the end
    of the block, the workers are released.

    Raises
    ------
    PlanError
        If both options of workers are typed, or some options of
        certificates without the others.
    WorkerError, ParameterError, MissingExtraError
        If there are no such workers, or if ``--workers`` is less than 1.
    """
    if args.scheduler is not None and args.workers is not None:
        raise PlanError(
            "--workers: not allowed with --scheduler, which has its own workers. Omit one."
        )

    # One worker needs no executor: ALONE stands for units one after another.
    certificates = _certificates(args)
    is_default = args.workers is None and args.scheduler is None
    if args.workers == 1 or (is_default and threads.available() == 1):
        yield ALONE
        return
    from rankstudio.engine.experiment.execution import executors

    # Workers of a cluster, processes, or by default threads.
    if args.scheduler is not None:
        with executors.on_cluster(args.scheduler, certificates) as executor:
            yield Workers(executor)
    elif args.workers is not None:
        with executors.on_processes(args.workers) as executor:
            yield Workers(executor)
    else:
        with executors.on_threads() as executor:
            yield Workers.of_threads(executor, threads.available())


def _certificates(args: argparse.Namespace) -> Certificates | None:
    """Return the certificates that the options name, for an encrypted connection to a cluster.

    Return None without options of certificates. Raise a PlanError if
    only some of these options are typed, or if no scheduler is named.
    """
    files = {name: getattr(args, f"tls_{name}") for name in _TLS_HELP}
    if all(path is None for path in files.values()):
        return None
    missing = ", ".join(f"--tls-{name}" for name, path in files.items() if path is None)
    if missing:
        raise PlanError(
            f"{missing}: missing TLS files; expected all of --tls-ca, --tls-cert and --tls-key."
        )
    if args.scheduler is None:
        raise PlanError(
            "--tls-ca, --tls-cert, --tls-key: expected --scheduler tls://… with them, got none."
        )
    return Certificates(**files)
