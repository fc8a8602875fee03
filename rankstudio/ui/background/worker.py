"""A thread for the engine's work, and the timer that brings its messages to the window.

The thread uses no widgets and emits no signals: messages go into a
deque, which a timer of the GUI thread empties. So a thousand events per
second cost one turn of the event loop every 33 ms, callbacks run on the
GUI thread, and no message arrives of a job that was abandoned.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar, TypeVarTuple

from PySide6.QtCore import QObject, QThread, QTimer, Signal, Slot

from rankstudio.engine.errors import Cancelled, ParameterError, RankStudioError
from rankstudio.engine.methods.catalog import methods
from rankstudio.engine.support import threads
from rankstudio.engine.support.memory import sufficient
from rankstudio.engine.support.stop_request import heeding
from rankstudio.ui.language import tr

CancelFlag = Callable[[], bool]
JobFunction = Callable[[CancelFlag], Iterator[Any]]
"""Function of a job: it yields the job's messages, and may call the flag to learn whether to stop."""


class Ending(Enum):
    """How a job ended."""

    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """How a job ended, and the message to the user if it failed.

    Attributes
    ----------
    ending : Ending
        Whether the job was done, was cancelled or failed.
    text : str
        A whole sentence if the job failed, else "".
    error : RankStudioError or None
        The error that the text describes; None without an error, and
        for an unexpected one.
    """

    ending: Ending
    text: str = ""
    error: RankStudioError | None = field(default=None, compare=False)


def ignore(_: Any) -> None:
    """Ignore a message."""


class Job:
    """A piece of work for a worker, which can be paused, done step by step, cancelled and abandoned.

    The worker thread calls :meth:`permission`, :meth:`count_step`,
    :meth:`cancelled` and :meth:`stop_if_cancelled`; the other
    methods are called on the GUI thread.

    Parameters
    ----------
    description : str
        Beginning of the sentence on a failure, such as "Loading MQ2008".
    function : JobFunction
        Called on the worker thread.
    on_message, on_end : callable
        Called on the GUI thread with each message, and once with the :class:`Outcome`.
    is_step : callable
        Returns whether a message ends a single step.
    slot : str
        Of two waiting jobs with the same slot, only the later one is
        carried out; "" for a slot of its own.
    paused : bool
        Whether the job starts paused.
    gives_way : bool
        Whether jobs that arrive meanwhile are carried out between two
        messages of this job.
    """

    def __init__(
        self,
        description: str,
        function: JobFunction,
        *,
        on_message: Callable[[Any], object] = ignore,
        on_end: Callable[[Outcome], object] = ignore,
        is_step: Callable[[Any], bool] = bool,
        slot: str = "",
        paused: bool = False,
        gives_way: bool = False,
    ) -> None:
        self.what = description

        # Whether other jobs are carried out between two messages of this one.
        self.gives_way = gives_way
        self.function = function
        self.slot = slot  # of waiting jobs of a slot, only the last remains
        self.is_step = is_step  # whether a message ends a step
        self._on_message = on_message
        self._followers: list[Callable[[Any], object]] = []
        self._on_end = on_end

        # Guards the attributes below; notified when the job may go on
        # or has to stop.
        self._condition = threading.Condition()
        self._cancelled = False
        self._paused = paused
        self._n_steps_due = 0  # requested steps that are not done yet
        self._is_held = False  # whether the worker waits in the pause
        self._abandoned = False

    @property
    def paused(self) -> bool:
        """Whether the job is paused."""
        return self._paused

    @property
    def held(self) -> bool:
        """Whether the worker thread waits in the pause: then it yields nothing more before it goes on."""
        return self._is_held

    def cancelled(self) -> bool:
        """Return whether the job was asked to stop."""
        return self._cancelled

    def stop_if_cancelled(self) -> None:
        """Raise Cancelled if the job was asked to stop."""
        if self._cancelled:
            raise Cancelled(self.what)

    def pause(self) -> None:
        """Make the worker thread wait after the present message until :meth:`resume` or :meth:`step`."""
        with self._condition:
            self._paused = True
            self._n_steps_due = 0

    def resume(self) -> None:
        """End the pause."""
        with self._condition:
            self._paused = False
            self._condition.notify_all()

    def step(self) -> None:
        """Go on until the next message that counts as a step, then wait again."""
        with self._condition:
            self._n_steps_due += 1
            self._condition.notify_all()

    def cancel(self) -> None:
        """Stop at the next opportunity; its messages until then still arrive."""
        with self._condition:
            self._cancelled = True
            self._condition.notify_all()

    def abandon(self) -> None:
        """Stop the job at the next opportunity; from now on nothing of the job is delivered."""
        self._abandoned = True
        self.cancel()

    def permission(self) -> bool:
        """Wait while the job is paused and no step is requested; then return True.

        Return False if the job was cancelled.
        """
        # `_n_steps_due` counts the requested steps that are not done yet.
        with self._condition:
            while self._paused and not self._n_steps_due and not self._cancelled:
                self._is_held = True
                self._condition.wait()
            self._is_held = False
            return not self._cancelled

    def follow(self, receive: Callable[[Any], object]) -> None:
        """Call another function with each further message, on the GUI thread.

        ``receive`` gets the message, after the job's own function has got it.
        """
        self._followers.append(receive)

    def count_step(self, message: Any) -> None:
        """Count a yielded message if it ends a requested step; called on the worker thread."""
        if self._n_steps_due and self.is_step(message):
            with self._condition:
                self._n_steps_due = max(0, self._n_steps_due - 1)

    def deliver(self, message: Any) -> None:
        """Hand a message over, unless the job was abandoned."""
        if self._abandoned:
            return
        self._on_message(message)
        for follow in self._followers:
            follow(message)

    def end(self, outcome: Outcome) -> None:
        """Hand the outcome over, unless the job was abandoned."""
        if not self._abandoned:
            self._on_end(outcome)


_log = logging.getLogger(__name__)

# numba compiles on this thread; the default of some platforms is 512 KB
_STACK_BYTES = 16 * 2**20
# messages are delivered for this long in one turn of the event loop
_TURN_SECONDS = 0.010
# with more undelivered messages than this, the worker waits for the window
_MOST_WAITING = 4096

_Letter = tuple[Job, Any]  # a job, and one of its messages or its outcome
Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")


class _Thread(QThread):
    """Carries out jobs one after another until it is asked to stop."""

    def __init__(self, outbox: deque[_Letter], parent: QObject) -> None:
        super().__init__(parent)
        self.setStackSize(_STACK_BYTES)
        self._outbox = outbox
        self._waiting_jobs: deque[Job] = deque()

        # Guards the queue above and all below; notified when a job
        # arrives, or one of the two flags changes.
        self._queue_condition = threading.Condition()
        self._stopping = False
        self._is_held = False  # no further job begins

        # The last of these jobs works; the ones before it have given way to it.
        self._begun_jobs: list[Job] = []

    def submit(self, job: Job) -> list[Job]:
        """Add a job at the end of the queue, and return the waiting jobs that it replaces.

        The new job replaces waiting jobs whose slot, a name, is the
        same. A job with the slot "" replaces none.
        """
        with self._queue_condition:
            replaced = [
                other
                for other in self._waiting_jobs
                if job.slot and other.slot == job.slot
            ]
            for other in replaced:
                self._waiting_jobs.remove(other)
            self._waiting_jobs.append(job)
            self._queue_condition.notify()
        return replaced

    def stop(self) -> None:
        """Abandon all jobs and end the loop of :meth:`run`."""
        with self._queue_condition:
            self._stopping = True
            for job in (*self._waiting_jobs, *self._begun_jobs):
                job.abandon()
            self._queue_condition.notify()

    def hold(self, is_held: bool) -> None:
        """Start no further job while ``is_held``; otherwise resume with the jobs that arrived meanwhile."""
        with self._queue_condition:
            self._is_held = is_held
            self._queue_condition.notify()

    def run(self) -> None:
        """Carry out jobs until the thread has to end."""
        while (job := self._next_job()) is not None:
            self._carry_out(job)

    def _carry_out(self, job: Job) -> None:
        """Carry out a job to its end; its outcome follows its messages in the outbox."""
        outcome = _outcome_of(
            job, self._outbox, self._give_way if job.gives_way else None
        )
        with self._queue_condition:
            self._begun_jobs.remove(job)
        self._outbox.append((job, outcome))

    def _give_way(self) -> None:
        """Carry out the waiting jobs, in the middle of a job that gives way to other jobs.

        Waiting jobs that give way themselves stay in the queue.
        """
        while True:
            with self._queue_condition:
                other = next(
                    (job for job in self._waiting_jobs if not job.gives_way), None
                )
                if other is None or self._stopping:
                    return
                self._waiting_jobs.remove(other)
                self._begun_jobs.append(other)
            self._carry_out(other)

    def _next_job(self) -> Job | None:
        """Wait for a job, take it from the queue and return it; None once the thread has to end."""
        with self._queue_condition:
            while (self._is_held or not self._waiting_jobs) and not self._stopping:
                self._queue_condition.wait()
            if self._stopping:
                return None
            job = self._waiting_jobs.popleft()
            self._begun_jobs.append(job)
            return job


def _outcome_of(
    job: Job, outbox: deque[_Letter], give_way: Callable[[], None] | None
) -> Outcome:
    """Carry out a job, and return its outcome: done, cancelled or failed.

    The job's generator yields messages, which go into ``outbox`` with
    the job. ``give_way`` is called after each message, so that other
    jobs can be carried out; None if the job does not give way.
    """
    if job.cancelled():
        return Outcome(Ending.CANCELLED)
    try:
        # A job without a slot, such as a run, may use all processors;
        # jobs with a slot are short.
        if not job.slot:
            threads.STEADY.limit(threads.available())
        messages = job.function(job.cancelled)
        while job.permission():
            try:
                # A lack of memory becomes an error that names the job,
                # and long work of the engine stops within a message if
                # the job is cancelled.
                with sufficient(job.what), heeding(job.stop_if_cancelled):
                    message = next(messages)
            except StopIteration:
                return Outcome(Ending.DONE)

            # A paused job that was asked for a step stops after it.
            job.count_step(message)
            outbox.append((job, message))
            if give_way is not None:
                give_way()

            # If the window lags behind, wait until it has read some of the messages.
            while len(outbox) > _MOST_WAITING and not job.cancelled():
                time.sleep(0.005)
        if hasattr(messages, "close"):  # an iterator need not be a generator
            messages.close()
        return Outcome(Ending.CANCELLED)
    except Cancelled:
        return Outcome(Ending.CANCELLED)
    except RankStudioError as error:
        return Outcome(Ending.FAILED, _in_words(error), error=error)
    except Exception as error:
        _log.warning("%s failed unexpectedly", job.what, exc_info=True)
        text = tr(
            "{what} failed unexpectedly with {name}: {error}. See the log for details."
        ).format(what=job.what, name=type(error).__name__, error=str(error).rstrip("."))
        return Outcome(Ending.FAILED, text)


def _in_words(error: RankStudioError) -> str:
    """Return the text of an error for the user.

    The text calls a parameter of a method by its label in the window's
    form, such as "features k". The text of any other error is the
    error's own.
    """
    if not isinstance(error, ParameterError):
        return str(error)
    labels = (
        p.label for entry in methods() for p in entry.parameters if p.name == error.name
    )
    return str(
        ParameterError(
            next(labels, error.name), error.value, error.expected, error.meant
        )
    )


class Worker(QObject):
    """A worker thread as the window sees it: submit jobs, get their messages on the GUI thread.

    Parameters
    ----------
    name : str
        Name of the thread in debuggers.
    interval : int
        Milliseconds between two deliveries while there is something to do.
    """

    drained = Signal()
    """Messages or outcomes were delivered, so that the window can be redrawn."""

    def __init__(
        self, name: str, *, interval: int = 33, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self._outbox: deque[_Letter] = deque()
        self._jobs: list[Job] = []
        self._thread = _Thread(self._outbox, self)
        self._thread.setObjectName(name)

        # While there are jobs, the timer delivers their messages on
        # this thread, every ``interval`` milliseconds.
        self._timer = QTimer(self)
        self._timer.setInterval(interval)
        self._timer.timeout.connect(self._drain)
        self._thread.start()

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs that have not ended."""
        return tuple(self._jobs)

    def hold(self, is_held: bool) -> None:
        """Make new jobs wait, or let the waiting jobs begin if ``is_held`` is False."""
        self._thread.hold(is_held)

    def submit(self, job: Job) -> Job:
        """Have a job carried out after the jobs before it, and return the job.

        Jobs that still wait and have the same slot as ``job`` are dropped.
        """
        for replaced in self._thread.submit(job):
            self._jobs.remove(replaced)
        self._jobs.append(job)
        if not self._timer.isActive():
            self._timer.start()
        return job

    def task(
        self,
        description: str,
        function: Callable[[*Arguments], Result],
        *arguments: *Arguments,
        on_done: Callable[[Result], object] = ignore,
        on_error: Callable[[str], object] = ignore,
        slot: str = "",
    ) -> Job:
        """Call a plain function on the worker's thread, when the jobs before have ended.

        Parameters
        ----------
        description : str
            Beginning of the sentence on a failure.
        function : callable
            The plain function.
        *arguments
            Arguments of the function.
        on_done : callable
            Called on the GUI thread with the value that the function returned.
        on_error : callable
            Called on the GUI thread with a sentence if the function failed.
        slot : str
            Of two waiting jobs with the same slot, only the later one
            is carried out; "" for a slot of its own.

        Returns
        -------
        Job
            After :meth:`Job.abandon`, neither ``on_done`` nor ``on_error`` is called.
        """

        def work(_: CancelFlag) -> Iterator[Result]:
            """Yield the value of the function, the only message of the job."""
            yield function(*arguments)

        def end(outcome: Outcome) -> None:
            """Report a failure."""
            if outcome.ending is Ending.FAILED:
                on_error(outcome.text)

        return self.submit(
            Job(description, work, on_message=on_done, on_end=end, slot=slot)
        )

    def close(self) -> None:
        """Stop all jobs and wait for the thread to end; no messages are delivered any more."""
        self._timer.stop()
        self._thread.stop()
        self._thread.wait()
        self._jobs.clear()
        self._outbox.clear()

    @Slot()
    def _drain(self) -> None:
        """Deliver the messages and outcomes that jobs have sent, as many as fit into a turn.

        Jobs that have ended are removed, and the timer stops after the
        last one.
        """
        until = time.perf_counter() + _TURN_SECONDS
        has_delivered = False
        while self._outbox:
            job, message = self._outbox.popleft()
            has_delivered = True
            if isinstance(message, Outcome):
                self._jobs.remove(job)
                job.end(message)
            else:
                job.deliver(message)
            if time.perf_counter() > until:  # the rest follows in the next turn
                break
        if not self._jobs and not self._outbox:
            self._timer.stop()
        if has_delivered:
            self.drained.emit()
