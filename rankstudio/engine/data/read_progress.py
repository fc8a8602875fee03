"""Progress and cancelling of work that is measured in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

from rankstudio.engine.errors import Cancelled

Progress = Callable[[int, int], None]
T = TypeVar("T")

_PATIENCE = 0.02  # seconds between two looks at "cancelled", so that Cancel is felt as immediate


class ReadProgress:
    """What the caller of a long piece of work wants to hear, and to say.

    Everything happens in the calling thread, and only while it works or waits.

    Parameters
    ----------
    progress : callable or None
        Called with (bytes done, bytes in total).
    cancelled : callable or None
        Asked often whether to stop.
    total : int
        Bytes in total.
    """

    def __init__(
        self, progress: Progress | None = None, cancelled: Callable[[], bool] | None = None, total: int = 0
    ) -> None:
        self._progress = progress
        self._cancelled = cancelled
        self.total = total
        self.stopped = False  # what other threads may look at
        self._done = 0.0

    def silent(self) -> ReadProgress:
        """Return what asks whether to stop, and tells nobody of progress."""
        return ReadProgress(None, self._cancelled)

    def check(self) -> None:
        """Raise `Cancelled` if somebody asked to stop."""
        if self._cancelled is not None and self._cancelled():
            self.stopped = True
            raise Cancelled("Loading")

    def advance(self, n_bytes: float) -> None:
        """Report that so many bytes more are done; raise `Cancelled` if somebody asked to stop."""
        self.check()
        self._done = min(self._done + n_bytes, float(self.total))
        if self._progress is not None:
            self._progress(int(self._done), self.total)

    def result(self, future: Future[T]) -> T:
        """Wait for a future, looking out for `Cancelled` meanwhile."""
        while not future.done():
            wait([future], timeout=_PATIENCE, return_when=FIRST_COMPLETED)
            self.check()
        return future.result()

    def in_order(self, futures: Iterable[Future[T]]) -> Iterator[T]:
        """Yield the results of futures in their order, looking out for `Cancelled` meanwhile."""
        for future in futures:
            yield self.result(future)
