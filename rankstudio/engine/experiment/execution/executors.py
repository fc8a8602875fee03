"""Executors for the units of a run: threads of this process, processes, or a cluster.

All are executors of `concurrent.futures`;
:func:`rankstudio.engine.experiment.runner.run` takes any other as well. Each
unit is computed by one thread, so a worker for each processor keeps all
processors busy.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection

from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.errors import (
    CacheWarning,
    MissingExtraError,
    OpenClusterWarning,
    OutputError,
    ParameterError,
    WorkerError,
)
from rankstudio.engine.experiment.execution.data_transport import (
    FoldSource,
    Given,
    InMemory,
    Value,
    write_folds,
)
from rankstudio.engine.experiment.execution.shard_executors import (
    Elsewhere,
    ProcessWorkers,
)
from rankstudio.engine.experiment.execution.workers import Certificates
from rankstudio.engine.language import tr
from rankstudio.engine.methods.shards.training_data import ShardExecutor
from rankstudio.engine.plugins.clusters import cluster_entry
from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.support import threads
from rankstudio.engine.support.memory import budget

# more than any machine has processors: a larger number is a typing error
_MAX_WORKERS = 10_000
_NICENESS = 5  # of 0 to 19; a higher number is a lower priority


class _Counted:
    """Base class of the pools of threads and of processes, with a number of workers.

    It adds to an executor of Python two members of a `UnitExecutor`:
    the exceptions of lost workers, and the number of units that are
    submitted ahead.
    """

    count: int
    lost: tuple[type[BaseException], ...] = ()

    def ahead(self) -> int:
        """Return two units per worker, so that none waits."""
        return 2 * self.count


class _Threads(_Counted, ThreadPoolExecutor):
    """A pool of threads, which use the data in memory."""

    def give(self, folds: Sequence[Fold]) -> FoldSource:
        """Share the folds in memory."""
        return InMemory(folds)


class _Processes(_Counted, ProcessPoolExecutor):
    """A pool of worker processes for the units of a run.

    Threads of this process are used instead if the folds cannot be
    written to files for the processes.

    Attributes
    ----------
    stack : ExitStack
        Ends the pool, and the pools that it starts.
    gently : bool
        Whether the processes run at low priority.
    """

    stack: ExitStack
    gently = False
    _threads: Executor | None = None
    _shards: ShardExecutor | None = None

    def give(self, folds: Sequence[Fold]) -> FoldSource:
        """Write the folds to files, and return an object that opens them in a worker.

        If the files cannot be written, threads replace the processes
        from now on, with a warning, and use the folds in memory.
        """
        if self._threads is None:
            try:
                return write_folds(folds)
            except OutputError as error:
                self._threads = self.stack.enter_context(
                    _threads_with_warning(self.count, str(error))
                )
        return InMemory(folds)

    def shard_executor(self) -> ShardExecutor:
        """Return an executor whose processes share the work on one path of models.

        A path is the sequence of models of one combination of
        parameters. Each process works on shards of its own, which are
        ranges of the training queries. The executor is made at the
        first call.
        """
        if self._shards is None:
            # Each shard belongs to one process, so every process is a pool of its own.
            start = partial(
                _start_processes,
                count=1,
                gently=self.gently,
                stack=self.stack,
                get_ready=_load_shard_modules,
            )
            # Half of the memory is for the shards' states; the rest is
            # for the data and results.
            workers = ProcessWorkers(start, self.count, lambda: budget() / 2)
            # It sends the shards to these processes.
            self._shards = Elsewhere(workers)
        return self._shards

    def submit(
        self, fn: Callable[Given, Value], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Value]:
        """Run a function in a process, or in a thread if the executor has threads."""
        if self._threads is not None:
            return self._threads.submit(fn, *args, **kwargs)
        return super().submit(fn, *args, **kwargs)


@contextmanager
def on_threads(count: int | None = None) -> Iterator[Executor]:
    """Provide an executor with threads of this process as workers inside the block.

    Threads start quickly, and are fast for methods whose work is done
    outside of Python.

    Parameters
    ----------
    count : int, optional
        Number of threads; by default as many as this process may use.
    """
    pool = _Threads(_checked_count(count), thread_name_prefix="rankstudio-unit")
    pool.count = _checked_count(count)
    try:
        # BLAS has one thread here: each unit must give the same bits on any machine.
        with threads.STEADY:
            yield pool
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def on_processes(count: int | None = None, gently: bool = False) -> Iterator[Executor]:
    """Provide an executor with worker processes inside the block.

    Each process takes a second or two to start, and then runs
    independently of the others. The processes end with the block, even
    during their work, and with this process, however it ends. If they
    cannot be started or cannot receive the data, threads of this
    process replace them, with a warning.

    Parameters
    ----------
    count : int, optional
        Number of processes; by default one per available processor.
    gently : bool
        Whether they run at low priority, for example next to a window.

    Notes
    -----
    The processes are spawned: a forked copy of this process would have
    the locks of this process's threads, but not the threads.
    """
    # Loading a kernel, compiled code, sets the folder of all compiled
    # code, once: the processes inherit the setting.
    from rankstudio.engine.data.formats import _line_kernel  # noqa: F401, PLC0415 - to load it is all

    count = _checked_count(count)
    with ExitStack() as stack:
        try:
            pool = _start_processes(count, gently, stack)
        except (
            OSError,
            BrokenExecutor,
        ) as error:  # no room for processes, or for semaphores between them
            stack.close()
            reason = getattr(error, "strerror", None) or error
            yield stack.enter_context(
                _threads_with_warning(
                    count, f"Worker processes cannot be started: {reason}."
                )
            )
        else:
            yield pool


def _start_processes(
    count: int,
    gently: bool,
    stack: ExitStack,
    get_ready: Callable[[], None] | None = None,
) -> _Processes:
    """Start worker processes and return their pool, whose processes end with the stack.

    Each of the `count` processes first calls `get_ready`, which by
    default loads the modules for training. `gently` lowers the priority
    of the processes. The exit of `stack` ends them.
    """
    context = multiprocessing.get_context("spawn")
    # The workers wait at their end of a pipe, and exit as soon as the
    # owner's end closes.
    worker_end, owner_end = context.Pipe(duplex=False)
    stack.callback(worker_end.close)
    stack.callback(owner_end.close)
    pool = _Processes(
        count,
        mp_context=context,
        initializer=_become_worker,
        initargs=(worker_end, gently),
    )
    pool.count = count
    pool.stack = stack
    pool.gently = gently
    stack.callback(pool.shutdown, cancel_futures=True)
    # The last callback runs first: closing the owner's end stops the
    # processes in the middle of their work.
    stack.callback(owner_end.close)
    with _ignoring_ctrl_c():
        # one call each, so that they start now, while this process does other work
        for _ in range(count):
            pool.submit(get_ready or _load_unit_modules)
    return pool


@contextmanager
def _threads_with_warning(count: int, reason: str) -> Iterator[Executor]:
    """Provide threads in place of processes, and warn that they are used."""
    warnings.warn(f"{reason} Threads are used instead.", CacheWarning, stacklevel=2)
    with on_threads(count) as pool:
        yield pool


@contextmanager
def on_cluster(
    address: str, certificates: Certificates | None = None
) -> Iterator[Executor]:
    """Provide an executor with the workers of a running dask scheduler inside the block.

    The workers are released at the end of the block, and continue to run.

    Parameters
    ----------
    address : str
        Address of the scheduler: "tcp://10.0.0.1:8786", or
        "tls://10.0.0.1:8786" with certificates.
    certificates : Certificates, optional
        Certificates for an address with "tls://"; by default those of
        dask's own settings.

    Raises
    ------
    MissingExtraError
        Without dask's library for clusters.
    ParameterError
        For certificates with an address without TLS.
    WorkerError
        If the scheduler does not answer, has no workers, or has workers
        with other versions, whose results could differ.

    Warns
    -----
    OpenClusterWarning
        Without TLS, unless the scheduler is on this machine: the
        network must be trusted.
    """
    # Certificates are used only by an encrypted connection.
    is_encrypted = address.startswith("tls://")
    if certificates is not None and not is_encrypted:
        expected = "a tls:// address when certificates are given"
        raise ParameterError("--scheduler", address, expected)

    # The workers come from a plug-in, whose library may be missing.
    entry = cluster_entry()
    if entry is None:
        raise WorkerError(
            tr(
                "No cluster can be used: the plug-in cluster of RankStudio is not there."
            )
        )
    try:
        connect = imported(entry.connect)
    except ImportError as error:
        raise MissingExtraError(
            "A run on a cluster", entry.library, entry.extra
        ) from error

    # An open connection is allowed, with a warning.
    with connect(address, certificates) as cluster:
        if not (is_encrypted or _is_loopback(address)):
            warnings.warn(
                f"{address}: the connection has no TLS. Anyone with access to the scheduler can read the "
                "data and run code on its workers. Use a trusted network, or tls:// with certificates.",
                OpenClusterWarning,
                stacklevel=3,
            )
        yield cluster


def _is_loopback(address: str) -> bool:
    """Return whether an address is a loopback address, which no other machine reaches."""
    host = address.rsplit("://", maxsplit=1)[-1].rpartition(":")[0].strip("[]")
    return host in ("localhost", "::1") or host.startswith("127.")


@contextmanager
def _ignoring_ctrl_c() -> Iterator[None]:
    """Ignore Ctrl+C in this process inside the block.

    A process that starts in the block ignores Ctrl+C, too, until it
    changes its own setting.
    """
    # Python allows only the main thread to set the handling of signals.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _checked_count(count: int | None) -> int:
    """Return a valid number of workers; for None, the number of available threads.

    ParameterError is raised for a number below 1 or an impossibly large one.
    """
    if count is None:
        return threads.available()
    if not 1 <= count <= _MAX_WORKERS:
        raise ParameterError(
            "workers",
            count,
            tr("a whole number from 1 to {most:,}").format(most=_MAX_WORKERS),
        )
    return count


def _become_worker(worker_end: Connection, gently: bool) -> None:
    """Make this process a worker with one thread, which exits when its owner process ends.

    `worker_end` is this process's end of a pipe. Only the owner has the
    other end, which the system closes when the owner ends in any way:
    no worker goes on without an owner. `gently` lowers the priority of
    this process. Ctrl+C is handled by the owner.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if gently and hasattr(os, "nice"):
        os.nice(_NICENESS)
    os.environ[threads.VARIABLE] = "1"
    threading.Thread(target=_exit_with_owner, args=(worker_end,), daemon=True).start()


def _exit_with_owner(worker_end: Connection) -> None:
    """End this process when the owner's end of the pipe closes."""
    try:
        worker_end.recv_bytes()  # returns or fails only when the other end closes
    finally:
        os._exit(0)


def _load_unit_modules() -> None:
    """Load the modules that every unit needs."""
    from rankstudio.engine.experiment.units import fold_context  # noqa: F401, PLC0415 - to load it is all

    threads.blas()


def _load_shard_modules() -> None:
    """Load the modules that every shard needs."""
    from rankstudio.engine.experiment.execution import shard_calls  # noqa: F401, PLC0415 - to load it is all

    threads.blas()
