"""How many threads the engine may use for work that it spreads over them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from rankstudio.engine.errors import ParameterError

Item = TypeVar("Item")

VARIABLE = "RANKSTUDIO_THREADS"


def available() -> int:
    """Return the number of processors this process may use, or what RANKSTUDIO_THREADS says.

    Raises
    ------
    ParameterError
        Where the variable is not a whole number from 1 up.
    """
    asked = os.environ.get(VARIABLE)
    if asked is None:
        affinity = getattr(os, "sched_getaffinity", None)
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if not asked.isdecimal() or int(asked) < 1:
        raise ParameterError(VARIABLE, asked, "a whole number from 1 up")
    return int(asked)


@contextmanager
def pool(worthwhile: bool = True) -> Iterator[tuple[Executor | None, int]]:
    """Provide an executor of threads and their number, or (None, 1) where one thread is best.

    Parameters
    ----------
    worthwhile : bool
        Whether the work is large enough to gain from several threads.
    """
    count = available() if worthwhile else 1
    if count == 1:
        yield None, 1
        return
    with ThreadPoolExecutor(count, thread_name_prefix="rankstudio") as executor:
        yield executor, count


def share(
    executor: Executor | None, workers: int, work: Callable[[Item], object], items: Iterable[Item]
) -> None:
    """Call ``work(item)`` for each item, on this thread and on the executor's.

    This thread works too, and waits for no other that has not begun when nothing is left: processors may be
    busy with something else.

    Parameters
    ----------
    executor : Executor or None
    workers : int
        How many threads may work, with this one.
    work : callable
        What it raises on any of the threads is raised here.
    items : iterable
    """
    waiting = iter(list(items))

    def take() -> None:
        for item in waiting:
            work(item)

    helping = [] if executor is None else [executor.submit(take) for _ in range(workers - 1)]
    take()
    for future in helping:
        if not future.cancel():
            future.result()


@cache
def blas() -> ThreadpoolController:
    """Return the control over the threads of the BLAS libraries loaded by now.

    Kept, because to look for them among all loaded libraries takes as long as a small model.
    """
    return ThreadpoolController().select(user_api="blas")
