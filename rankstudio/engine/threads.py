"""How many threads the engine may use for work that it spreads over them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from rankstudio.engine.errors import ParameterError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

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


@cache
def _libraries() -> ThreadpoolController:
    """Return what is loaded that has threads of its own; looking for it takes milliseconds."""
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - where it is needed

    return ThreadpoolController()


@contextmanager
def one_blas_thread(wanted: bool = True) -> Iterator[None]:
    """Let BLAS work on one thread: for small products, whose threads would cost more than they gain."""
    if not wanted:
        yield
        return
    with _libraries().limit(limits=1, user_api="blas"):
        yield


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
