"""Where the units of a run are carried out: on this process's threads, on processes, on a cluster.

All are executors of `concurrent.futures`, and :func:`rankstudio.engine.experiment.runner.run` takes any other
as well. Each unit has one thread to itself, so that as many workers as processors keep all of them busy
without fighting for them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import Connection

from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.errors import MissingExtraError, ParameterError
from rankstudio.engine.experiment.execution.data_transport import FoldSource, InMemory, write_folds
from rankstudio.engine.support import threads

_NICE = 5  # of the 19 by which a process can stand back


class _Counted:
    """What threads and processes have in common as a `UnitExecutor`."""

    count: int
    lost: tuple[type[BaseException], ...] = ()

    def ahead(self) -> int:
        return 2 * self.count


class _Threads(_Counted, ThreadPoolExecutor):
    def give(self, folds: Sequence[Fold]) -> FoldSource:
        return InMemory(folds)


class _Processes(_Counted, ProcessPoolExecutor):
    def give(self, folds: Sequence[Fold]) -> FoldSource:
        return write_folds(folds)


@contextmanager
def on_threads(count: int | None = None) -> Iterator[Executor]:
    """Provide threads of this process: quickly there, and quick where methods compute outside of Python.

    Parameters
    ----------
    count : int, optional
        As many as this process may use by default.
    """
    pool = _Threads(_count(count), thread_name_prefix="rankstudio-unit")
    pool.count = _count(count)
    try:
        with threads.STEADY:
            yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def on_processes(count: int | None = None, gently: bool = False) -> Iterator[Executor]:
    """Provide processes: each begins in a second or two, and then does not wait for any other.

    They end with the block, in the middle of their work if need be, and with this process, however it ends.

    Parameters
    ----------
    count : int, optional
        As many as there are processors for this process by default.
    gently : bool
        Whether they leave the processors to others who want them: to a window, say.

    Notes
    -----
    They are spawned: a copy of this process by fork would have the locks of its threads, but not the threads.
    """
    # Where kernels are kept is found out here, once: the processes inherit it.
    from rankstudio.engine.data.letor import _line_kernel  # noqa: F401, PLC0415 - to load it is all

    context = multiprocessing.get_context("spawn")
    heard, held = context.Pipe(duplex=False)
    count = _count(count)
    pool = _Processes(count, mp_context=context, initializer=_begin, initargs=(heard, gently))
    pool.count = count
    try:
        with _deaf():
            for _ in range(count):
                pool.submit(_get_ready)  # they start now, while this process has something else to do
        yield pool
    finally:
        held.close()
        pool.shutdown(cancel_futures=True)
        heard.close()


@contextmanager
def on_cluster(address: str) -> Iterator[Executor]:
    """Provide the workers of a running dask scheduler, and let go of them at the end.

    Parameters
    ----------
    address : str
        Of the scheduler: "tcp://10.0.0.1:8786".

    Raises
    ------
    MissingExtraError
        Without dask's library for clusters.
    WorkerError
        Where no scheduler answers, it has no workers, or they have other versions than this process: their
        numbers might differ.
    """
    try:
        from rankstudio.engine.experiment.execution.dask_cluster import connected  # noqa: PLC0415 - an extra, slow to load
    except ImportError as error:
        raise MissingExtraError("A run on a cluster", "dask.distributed", "cluster") from error
    with connected(address) as cluster:
        yield cluster


@contextmanager
def _deaf() -> Iterator[None]:
    """Ignore Ctrl+C for a moment: processes that begin now do so too, before they can say it themselves."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _count(count: int | None) -> int:
    if count is None:
        return threads.available()
    if count < 1:
        raise ParameterError("workers", count, "a whole number from 1 up")
    return count


def _begin(line: Connection, gently: bool) -> None:
    """Make this process a worker: it has one thread, and ends when the line to its owner is dead.

    The owner alone holds the other end. Whatever ends it, the system closes that, and nobody is left behind
    computing for nobody. Ctrl+C is the owner's business.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if gently and hasattr(os, "nice"):
        os.nice(_NICE)
    os.environ[threads.VARIABLE] = "1"
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()


def _end_with(line: Connection) -> None:
    try:
        line.recv_bytes()
    finally:
        os._exit(0)


def _get_ready() -> None:
    """Load what every unit needs."""
    from rankstudio.engine.experiment.units import fold_context  # noqa: F401, PLC0415 - to load it is all

    threads.blas()
