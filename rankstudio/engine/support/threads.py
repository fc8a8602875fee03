"""How many threads the engine may use for work that it spreads over them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from ctypes import CDLL
from functools import cache
from pathlib import Path
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.stop_request import check_of_this_thread, heeding

Item = TypeVar("Item")
Value = TypeVar("Value")

VARIABLE = "RANKSTUDIO_THREADS"

# Starting two threads and waiting for them took 80,000 ns on idle
# processors, and several times that on busy ones; another call of
# started threads takes less. Threads are used only if they gain much
# more than that.
_START_NANOSECONDS = 2e6
_CALL_NANOSECONDS = 2e5
# A symmetric matrix of this order is decomposed in half a second by one thread.
_MAX_STEADY_ORDER = 1500

_own = threading.local()


def available() -> int:
    """Return the number of threads for work started on this thread.

    The result is the number to which this thread is limited, otherwise
    the environment variable RANKSTUDIO_THREADS, otherwise the number of
    processors available to this process.

    Raises
    ------
    ParameterError
        If RANKSTUDIO_THREADS is not a whole number from 1 up.
    """
    # ``_own`` has attributes of this thread, here its limit, set by at_most().
    granted: int | None = getattr(_own, "count", None)
    if granted is not None:
        return granted
    setting = os.environ.get(VARIABLE)
    if setting is None:
        return processors()
    if not setting.isdecimal() or int(setting) < 1:
        raise ParameterError(VARIABLE, setting, "a whole number from 1 up")
    return int(setting)


def processors() -> int:
    """Return the number of processors available to this process."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


_LOAD_FILE = Path("/proc/loadavg")  # on Linux only


def is_busy() -> bool:
    """Return whether other programs, or other threads of this one, use all processors now.

    Work in small pieces, whose threads wait for each other after each
    piece, is then faster on one thread. False where the system does not
    say (Windows, macOS).
    """
    try:
        # "0.20 0.18 0.12 1/80 11206": the load averages, then "running / all threads".
        running = int(_LOAD_FILE.read_text(encoding="ascii").split()[3].split("/")[0])
    except (OSError, IndexError, ValueError):
        return False
    # This thread is one of the running ones.
    return running - 1 >= processors()


@contextmanager
def at_most(count: int) -> Iterator[None]:
    """Limit the work that this thread starts within a with statement to some threads.

    The limit is ``count``. It is for several workers that share the
    processors. After the with statement, the earlier limit holds again.
    """
    # ``_own`` has attributes of this thread.
    previous_count: int | None = getattr(_own, "count", None)
    _own.count = count
    try:
        yield
    finally:
        _own.count = previous_count


def worthwhile(nanoseconds: float, calls: int = 1) -> bool:
    """Return whether work is large enough to gain from several threads.

    Parameters
    ----------
    nanoseconds : float
        Approximate time on one thread, from measurements of the
        innermost loops.
    calls : int
        Number of times that work is given to threads and then waited for.

    Examples
    --------
    >>> from rankstudio.api import worthwhile
    >>> worthwhile(10.0)  # ten nanoseconds are not
    False
    """
    return nanoseconds > _START_NANOSECONDS + _CALL_NANOSECONDS * (calls - 1)


@contextmanager
def pool(
    worthwhile: bool = True, most: int | None = None
) -> Iterator[tuple[Executor | None, int]]:
    """Provide a thread pool and its number of threads, or (None, 1) if one thread is best.

    Parameters
    ----------
    worthwhile : bool
        Whether the work is large enough to gain from several threads.
    most : int, optional
        Maximum number of threads, if each needs much memory.

    Examples
    --------
    >>> from rankstudio.api import share_work, thread_pool
    >>> done = []
    >>> with thread_pool() as (executor, workers):
    ...     share_work(executor, workers, done.append, range(3))
    >>> sorted(done)
    [0, 1, 2]
    """
    count = min(available(), most or available()) if worthwhile else 1
    if count == 1:
        yield None, 1
        return
    with ThreadPoolExecutor(count, thread_name_prefix="rankstudio") as executor:
        yield executor, count


def share(
    executor: Executor | None,
    workers: int,
    work: Callable[[Item], object],
    items: Iterable[Item],
) -> None:
    """Call ``work(item)`` for each item, on this thread and on those of the executor.

    At the end, this thread does not wait for threads that have not
    started, because processors may be busy.

    Parameters
    ----------
    executor : Executor or None
        Threads in addition to this one.
    workers : int
        Maximum number of threads, including this one.
    work : callable
        Function; its exceptions on any of the threads are raised here.
    items : iterable
        Each is the argument of one call.

    Examples
    --------
    >>> from rankstudio.api import share_work  # this function
    >>> done = []
    >>> share_work(None, 1, done.append, "ab")  # without other threads
    >>> done
    ['a', 'b']
    """
    # All threads get their items from one iterator, each item once. A
    # request to stop reaches all of them.
    remaining_items = iter(list(items))
    stop_check = check_of_this_thread()

    def work_through() -> None:
        """Take items and call ``work`` for each, until none is left."""
        with heeding(stop_check):
            for item in remaining_items:
                work(item)

    futures = (
        []
        if executor is None
        else [executor.submit(work_through) for _ in range(workers - 1)]
    )
    work_through()
    # A thread that has not started has no items left: cancel it. Others
    # are awaited for their exceptions.
    for future in futures:
        if not future.cancel():
            future.result()


@cache
def blas() -> ThreadpoolController:
    """Return the control over the threads of the BLAS libraries, numpy's and scipy's.

    Cached, because finding them among all loaded libraries takes as
    long as a small model.
    """
    _load_blas_of_scipy()
    return ThreadpoolController().select(user_api="blas")


def _load_blas_of_scipy() -> None:
    """Load SciPy's own BLAS library before anything computes with it.

    Its number of threads can be set only then. Loading one small
    library of SciPy that needs it is faster than importing all of
    SciPy's linear algebra.
    """
    import scipy  # noqa: PLC0415 - numpy is enough to count the threads

    libraries = [*Path(scipy.__file__).parent.glob("linalg/_fblas.*")]
    try:
        CDLL(str(libraries[0]))  # it is linked to BLAS
    except (IndexError, OSError):
        import scipy.linalg  # noqa: PLC0415 - as above


class _Steady:
    """A context manager that limits BLAS to one thread while any thread of this process is inside it.

    The setting belongs to the process: the first thread that enters
    makes it, and the last one that leaves restores the numbers of
    threads from before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_holders = 0
        self._counts_before: list[int] = []  # of threads, per library

    def limit(self, count: int) -> None:
        """Set the number of threads of the library BLAS.

        While some thread limits it to one, the number is only stored.
        It is set when the last such thread is done.
        """
        # ``_n_holders`` threads are inside of the context now.
        with self._lock:
            counts = [count] * len(blas().lib_controllers)
            if self._n_holders:
                self._counts_before = counts
            else:
                _set_blas_threads(counts)

    def __enter__(self) -> None:
        """Limit BLAS to one thread, unless another thread has done so."""
        with self._lock:
            if not self._n_holders:
                libraries = blas().lib_controllers
                self._counts_before = [library.num_threads for library in libraries]
                _set_blas_threads([1] * len(libraries))
            self._n_holders += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_holders -= 1
            if not self._n_holders:
                _set_blas_threads(self._counts_before)


def _set_blas_threads(counts: list[int]) -> None:
    """Set the number of threads of each BLAS library, from any thread.

    For OpenBLAS, threadpoolctl allows a change only to the thread that
    made the first one, so that threads do not interfere. Here that
    control is cleared, because :class:`_Steady` coordinates the
    threads. ``counts`` has a number for each library.
    """
    for library, count in zip(blas().lib_controllers, counts, strict=True):
        # Other libraries than OpenBLAS have no such control (None). It
        # is cleared before and after, as another thread may have made
        # the last change, or may make the next one.
        clear_control = getattr(library, "clear_controlling_thread", None)
        if clear_control is not None:
            clear_control(force=True)
        library.set_num_threads(count)
        if clear_control is not None:
            clear_control(force=True)


STEADY = _Steady()
"""A context manager in which BLAS has one thread.

With another number of threads, BLAS adds up sums in another order, and
their last bits differ. Results that must be the same on every machine,
in every process and beside any other work are computed inside. Several
threads are used only for work in which the order of sums does not
depend on them.
"""


def steady_if_small(order: int) -> AbstractContextManager[object]:
    """Return a context in which a small matrix of some order is decomposed by one thread of BLAS.

    Several threads gain little for small matrices, and on a busy
    computer they lose much, as they wait for each other after each
    column. ``order`` is the number of rows of the square matrix. For a
    large matrix the context does nothing.
    """
    return STEADY if order <= _MAX_STEADY_ORDER else nullcontext()


def steadily(work: Generator[Item, None, Value]) -> Generator[Item, None, Value]:
    """Run a generator with the library BLAS limited to one thread.

    Its items are passed on, and its value is returned. The limit holds
    only while the generator itself computes, not while the receiver of
    its items does.
    """
    try:
        while True:
            with STEADY:
                try:
                    item = next(work)
                except StopIteration as end:
                    value: Value = end.value
                    return value
            yield item
    # The receiver of the items may stop early.
    finally:
        work.close()
