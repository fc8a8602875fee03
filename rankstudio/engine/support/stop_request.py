"""Requests to stop, which a long computation checks while it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_own = threading.local()


@contextmanager
def heeding(check: Callable[[], object]) -> Iterator[None]:
    """Let computations within a with statement check for a request to stop.

    The computations call ``stop_if_asked`` from time to time, which
    calls ``check`` on this thread.

    Parameters
    ----------
    check : callable
        Raises Cancelled if a stop was requested.
    """
    # ``_own`` has attributes of this thread.
    previous_check: Callable[[], object] | None = getattr(_own, "check", None)
    _own.check = check
    try:
        yield
    finally:
        _own.check = previous_check


def check_of_this_thread() -> Callable[[], object]:
    """Return the function that :func:`stop_if_asked` calls on this thread.

    A thread that helps this one calls the returned function, too.
    """
    check: Callable[[], object] | None = getattr(_own, "check", None)
    return check if check is not None else _do_not_stop


def _do_not_stop() -> None:
    """Do not stop."""


def stop_if_asked() -> None:
    """Raise Cancelled if the work of this thread was asked to stop; otherwise return.

    Work that takes long between two of its progress events calls this
    in between.
    """
    check: Callable[[], object] | None = getattr(_own, "check", None)
    if check is not None:
        check()
