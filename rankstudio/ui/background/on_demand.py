"""Computations on the worker while their panel is visible, shown when they are done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, TypeVarTuple

from PySide6.QtCore import QObject, SignalInstance, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.ui.background.worker import (
    CancelFlag,
    Ending,
    Job,
    JobFunction,
    Outcome,
    Worker,
)
from rankstudio.ui.process.turns import single_shot

Key = tuple[object, ...]
Found = TypeVar("Found")
Arguments = TypeVarTuple("Arguments")


@dataclass(frozen=True, eq=False)
class Computation:
    """Work for the worker's thread, and the function that shows its results.

    Attributes
    ----------
    what : str
        Beginning of the sentence on a failure, such as "Estimating densities".
    work : JobFunction
        Called on the worker's thread; see `computation` for a plain function.
    show : callable
        Called on the window's thread with each message.
    """

    what: str
    work: JobFunction
    show: Callable[[Any], object]


def computation(
    description: str,
    show: Callable[[Found], object],
    function: Callable[[*Arguments], Found],
    *arguments: *Arguments,
) -> Computation:
    """Return a computation that calls a function once, and shows the value that the function returns.

    ``description`` names the work for the user; ``function`` is called
    with the arguments on the worker, and ``show`` with its value on the
    GUI thread.
    """

    def work(_: CancelFlag) -> Iterator[Found]:
        """Yield the value of the function, once."""
        yield function(*arguments)

    return Computation(description, work, show)


class OnDemand(QObject):
    """Starts a computation when its key differs from the last one, and its panel is visible.

    A computation whose key is out of date is abandoned, and neither its
    results nor its failure is shown. A computation that failed is not
    repeated before its key changes or :meth:`forget` is called.

    Parameters
    ----------
    parent : QObject
    worker : Worker
        Carries out the computation on its thread.
    key : callable
        Returns a tuple of everything that the computation depends on;
        None if nothing can be computed. The function is called often.
    compute : callable
        Called if the key has changed; returns the `Computation`. The
        function may show known values at once, and return None if
        nothing remains to be computed.
    failed : callable
        Called with a sentence if the computation fails.
    slot : str
        Of two waiting jobs of one slot only the later is carried out.
    panel : QWidget, optional
        The panel that shows the results; nothing is computed while it is hidden.
    on : iterable of SignalInstance
        Signals after which the key is compared with the last one.
    clear : callable, optional
        Called if nothing can be computed.
    settled : int
        Milliseconds that have to pass without any of the signals before
        the key is compared.
    stops_when_hidden : bool
        Whether the computation is abandoned once the panel is hidden.
    gives_way : bool
        Whether jobs that arrive meanwhile are carried out between two messages.
    """

    def __init__(
        self,
        parent: QObject,
        worker: Worker,
        key: Callable[[], Key | None],
        compute: Callable[[], Computation | None],
        failed: Callable[[str], object],
        *,
        slot: str = "",
        panel: QWidget | None = None,
        on: Iterable[SignalInstance] = (),
        clear: Callable[[], object] | None = None,
        settled: int = 0,
        stops_when_hidden: bool = False,
        gives_way: bool = False,
    ) -> None:
        super().__init__(parent)
        self._worker = worker
        self._key_of = key  # returns all that the computation depends on
        self._compute = compute
        self._clear = clear  # called if nothing can be computed
        self._failed = failed
        self._slot = slot

        # Nothing is computed while the panel is hidden; a computation
        # may also be stopped when it is hidden.
        self._panel = panel
        self._stops_when_hidden = stops_when_hidden
        self._gives_way = gives_way  # whether other jobs may come between
        self._key: Key | None = None  # of the last or the present computation
        self._job: Job | None = None

        # The timer runs out when no signal has come for ``settled`` milliseconds.
        self._settle_timer = single_shot(settled, self.update, self)
        for signal in on:
            signal.connect(self._settle_timer.start if settled else self.update)

    @property
    def key(self) -> Key | None:
        """Key of the last or the present computation; None before the first."""
        return self._key

    @property
    def busy(self) -> bool:
        """Whether a computation is under way."""
        return self._job is not None

    @property
    def waits(self) -> bool:
        """Whether a signal has come and the key will be compared soon."""
        return self._settle_timer.isActive()

    @Slot()
    def update(self) -> None:
        """Start the computation of the present key, if the key has changed and the panel is visible.

        Without a key, the present computation is abandoned.
        """
        if self._panel is not None and not self._panel.isVisible():
            if self._stops_when_hidden:
                self.stop()
            return

        # Without a key (None), nothing can be computed now. `forget`
        # abandons the present computation.
        key = self._key_of()
        if key is None:
            self.forget()
            if self._clear is not None:
                self._clear()
        elif key != self._key:
            self.forget()
            self._key = key
            request = self._compute()

            # `_compute` may have emitted signals that changed the key;
            # then another request is under way.
            if request is not None and self._key is key:
                self._submit(request)

    def forget(self) -> None:
        """Abandon the computation, and compute anew on the next request."""
        self._key = None
        if self._job is not None:
            self._job.abandon()
            self._job = None

    @Slot()
    def stop(self) -> None:
        """Abandon the computation; the results shown last stay."""
        if self._job is not None:
            self.forget()

    def _submit(self, submitted: Computation) -> None:
        """Have the worker carry out a computation, and show what it yields."""
        self._job = self._worker.submit(
            Job(
                submitted.what,
                submitted.work,
                on_message=submitted.show,
                on_end=self._end,
                slot=self._slot,
                gives_way=self._gives_way,
            )
        )

    def _end(self, outcome: Outcome) -> None:
        """Report a failure of the computation, which has ended."""
        self._job = None
        if outcome.ending is Ending.FAILED:
            self._failed(outcome.text)
