"""A job: a generator that a worker thread asks, and the handle by which the window steers it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from rankstudio.engine.errors import RankStudioError

CancelFlag = Callable[[], bool]
JobFunction = Callable[[CancelFlag], Iterator[Any]]
"""What a job does: it may ask the flag whether to stop, and yields its messages."""


class Ending(Enum):
    """How a job ended."""

    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """How a job ended, and what to tell the user about it.

    Attributes
    ----------
    ending : Ending
    text : str
        A whole sentence where it failed, else "".
    details : str
        The traceback of what nobody expected, else "".
    error : RankStudioError or None
        What is told in the text.
    """

    ending: Ending
    text: str = ""
    details: str = ""
    error: RankStudioError | None = field(default=None, compare=False)


def ignore(_: Any) -> None:
    """Take a message nobody is interested in."""


class Job:
    """A piece of work on its way through a worker.

    All methods are called on the GUI thread, except :meth:`permission`, which the worker thread calls
    before it asks the generator for more.

    Parameters
    ----------
    what : str
        "Loading MQ2008": the beginning of the sentence that tells of a failure.
    function : JobFunction
        Called on the worker thread.
    on_message, on_end : callable
        Called on the GUI thread with each message, and once with the :class:`Outcome`.
    is_step : callable
        Which messages end a single step.
    slot : str
        Of two waiting jobs of one slot only the later is carried out; "" for a slot of its own.
    paused : bool
        Whether it starts paused.
    gives_way : bool
        Whether jobs that come meanwhile are carried out between two of its messages.
    """

    def __init__(
        self,
        what: str,
        function: JobFunction,
        *,
        on_message: Callable[[Any], object] = ignore,
        on_end: Callable[[Outcome], object] = ignore,
        is_step: Callable[[Any], bool] = bool,
        slot: str = "",
        paused: bool = False,
        gives_way: bool = False,
    ) -> None:
        self.what = what
        self.gives_way = gives_way
        self.function = function
        self.slot = slot
        self.is_step = is_step
        self._on_message = on_message
        self._on_end = on_end
        self._state = threading.Condition()
        self._cancelled = False
        self._paused = paused
        self._steps = 0
        self._held = False
        self._abandoned = False

    @property
    def paused(self) -> bool:
        """Whether it waits to be resumed."""
        return self._paused

    @property
    def held(self) -> bool:
        """Whether its thread has come to wait: what was yielded before the pause is out."""
        return self._held

    def cancelled(self) -> bool:
        """Tell whether somebody asked the job to stop."""
        return self._cancelled

    def pause(self) -> None:
        """Stop asking for more until :meth:`resume` or :meth:`step`."""
        with self._state:
            self._paused = True
            self._steps = 0

    def resume(self) -> None:
        """Go on."""
        with self._state:
            self._paused = False
            self._state.notify_all()

    def step(self) -> None:
        """Go on until the next message that counts as a step, then wait again."""
        with self._state:
            self._steps += 1
            self._state.notify_all()

    def cancel(self) -> None:
        """Stop at the next opportunity; its messages until then still arrive."""
        with self._state:
            self._cancelled = True
            self._state.notify_all()

    def abandon(self) -> None:
        """Stop at the next opportunity; nothing of it arrives any more, from this moment on."""
        self._abandoned = True
        self.cancel()

    def permission(self) -> bool:
        """Wait while paused; False where the job was cancelled."""
        with self._state:
            while self._paused and not self._steps and not self._cancelled:
                self._held = True
                self._state.wait()
            self._held = False
            return not self._cancelled

    def count_step(self, message: Any) -> None:
        """Take note on the worker thread that a message was yielded."""
        if self._steps and self.is_step(message):
            with self._state:
                self._steps = max(0, self._steps - 1)

    def deliver(self, message: Any) -> None:
        """Hand a message over, unless the job was abandoned."""
        if not self._abandoned:
            self._on_message(message)

    def end(self, outcome: Outcome) -> None:
        """Hand the outcome over, unless the job was abandoned."""
        if not self._abandoned:
            self._on_end(outcome)
