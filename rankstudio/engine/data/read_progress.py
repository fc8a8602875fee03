"""Progress and cancelling of work that is measured in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TypeVar

from rankstudio.engine.errors import Cancelled

Progress = Callable[[int, int], None]
T = TypeVar("T")

# seconds between two checks of "cancelled", so that Cancel seems immediate
_POLL_SECONDS = 0.02


class ReadProgress:
    """Progress and cancellation of a long operation on files, such as reading.

    Callbacks run in the calling thread, while it works or waits.

    Parameters
    ----------
    progress : callable or None
        Called with (bytes done, total bytes).
    cancelled : callable or None
        Called often; return True to stop.
    total : int
        Total number of bytes.
    """

    def __init__(
        self,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
        total: int = 0,
    ) -> None:
        self._progress = progress
        self._cancelled = cancelled
        self.total = total
        self.stopped = False  # other threads may read it
        self._done = 0.0

    def silent(self) -> ReadProgress:
        """Return an object that supports cancellation without reporting progress."""
        return ReadProgress(None, self._cancelled)

    def check(self) -> None:
        """Raise `Cancelled` if a stop was requested."""
        if self._cancelled is not None and self._cancelled():
            self.stopped = True
            raise Cancelled("Loading")

    def advance(self, n_bytes: float) -> None:
        """Report further bytes as done; raise `Cancelled` if a stop was requested."""
        self.check()
        self._done = min(self._done + n_bytes, float(self.total))
        if self._progress is not None:
            self._progress(int(self._done), self.total)

    def result(self, future: Future[T]) -> T:
        """Wait for a future, and check for cancellation meanwhile."""
        while not future.done():
            wait([future], timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
            self.check()
        return future.result()

    def in_order(self, futures: Iterable[Future[T]]) -> Iterator[T]:
        """Yield the results of futures in order, and check for cancellation meanwhile."""
        for future in futures:
            yield self.result(future)
