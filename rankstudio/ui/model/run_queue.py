"""The runs of the window: the queue for the worker that carries them out, and the ticks to compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import ChangedDataError, StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import Event, StepDone, UnitFinished
from rankstudio.ui.background.worker import Ending, Job, Outcome, Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.session import Choice, Session
from rankstudio.ui.model.study_store import RunTarget, StudyStore

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import RunKey

Runner = Callable[[Plan, FoldedDataset, RunTarget | None], Iterator[Event]]


def engine_run(
    plan: Plan,
    dataset: FoldedDataset,
    target: RunTarget | None = None,
    executor: Executor | None = None,
) -> Iterator[Event]:
    """Run a plan with the engine, which is imported on the worker thread by the first run.

    Parameters
    ----------
    plan : Plan
    dataset : FoldedDataset
    target : RunTarget or None
        Where finished units are stored and read from; None for a run
        that is not stored.
    executor : Executor or None
        Carries out many units at a time; None for one after the other, step by step.
    """
    from rankstudio.engine.experiment.resume import run_stored  # noqa: PLC0415 - it brings numba
    from rankstudio.engine.experiment.runner import run  # noqa: PLC0415 - it brings numba

    if target is None:
        return run(plan, dataset, executor=executor)
    return run_stored(
        plan,
        dataset,
        target.study,
        key=target.key,
        executor=executor,
    )


def _is_step(event: object) -> bool:
    """Return whether an event ends the wait after a press of the step button.

    The end of a step of a path is such an event. Runs on worker
    processes report no steps, so the end of a unit, a fold with one
    combination of parameters, is one there.
    """
    return isinstance(event, StepDone) or (
        isinstance(event, UnitFinished) and event.seconds is not None
    )


@dataclass(frozen=True)
class _StorageFailed:
    """Message that no study stores a run, which goes on nevertheless, and the reason."""

    reason: str


class Runs(QObject):
    """All runs of this window, the one that is shown, and the one that works.

    Parameters
    ----------
    worker : Worker
        Carries out the runs and nothing else: a paused run holds the
        thread of its worker.
    study_store : StudyStore
        Where the runs are stored.
    runner : callable
        Carries out a plan; the engine's function unless a test gives another.
    other_runner : callable
        Called when a run is submitted; returns the function that
        carries out that run, or None for ``runner``.

    Attributes
    ----------
    n_kept : int
        Times that the study has stored something with a run (`kept`).
    """

    added = Signal(object)
    """A run was queued (RunRecord)."""
    began = Signal(object)
    """The turn of a run has come (RunRecord)."""
    changed = Signal(object)
    """A run began, was paused or went on (RunRecord)."""
    eventNoted = Signal(object, object)
    """An event of a run (RunRecord, Event), which its record has handled already."""
    chosen = Signal(object)
    """The user wants to see a run (RunRecord), which is shown by now."""
    ended = Signal(object)
    """A run is done, cancelled or failed (RunRecord)."""
    shownChanged = Signal()
    """Another run is shown."""
    removed = Signal(int)
    """A run is not listed any more (its key)."""
    restored = Signal(int)
    """A run that was removed is listed again (its key)."""
    cleared = Signal()
    """All runs were forgotten at once: another study is open."""
    marked = Signal(object, bool)
    """A stored run was removed or restored, which the study has to note (RunRecord, True if removed)."""
    labelled = Signal(object)
    """The name of a run, or another part of its label, was changed (RunRecord)."""
    choiceKept = Signal(object)
    """Another model of a run was chosen (RunRecord)."""
    storageBegan = Signal(object)
    """A run began that the study stores (RunRecord)."""
    kept = Signal()
    """The study has stored something with a run, such as the evidence that a plug-in computed for it."""
    storageFailed = Signal(str)
    """A run began that no study stores; a sentence says why."""

    def __init__(
        self,
        worker: Worker,
        study_store: StudyStore,
        runner: Runner = engine_run,
        other_runner: Callable[[], Runner | None] = lambda: None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._worker = worker
        self._study_store = study_store
        # The usual function that carries out a run, and one that
        # returns another such function, for the processes or the
        # cluster that the user chose.
        self._runner = runner
        self._other_runner = other_runner
        # Listed runs by number, and the jobs of those that have not ended.
        self._records: dict[int, RunRecord] = {}
        self._jobs: dict[int, Job] = {}
        self._begun: set[int] = set()  # keys of runs whose turn has come
        self._shown: RunRecord | None = None
        self._last_key = 0  # number of the run that was queued last
        self.n_kept = 0  # times that the study has stored something with a run

    @property
    def records(self) -> tuple[RunRecord, ...]:
        """All runs, in the order in which they were asked for."""
        return tuple(self._records.values())

    def record(self, key: int) -> RunRecord:
        """Return a run by its key."""
        return self._records[key]

    @property
    def shown(self) -> RunRecord | None:
        """The run whose curves are shown."""
        return self._shown

    @property
    def current(self) -> RunRecord | None:
        """The run that works or is paused."""
        states = (RunState.RUNNING, RunState.PAUSED)
        return next((record for record in self.records if record.state in states), None)

    @property
    def busy(self) -> bool:
        """Whether a run works, is paused or waits."""
        return any(not record.state.ended for record in self.records)

    def start(
        self,
        plan: Plan,
        dataset: FoldedDataset,
        *,
        paused: bool = False,
        is_shown: bool = True,
    ) -> RunRecord:
        """Queue a run of a plan behind the runs before it, and return its record.

        A ``paused`` run waits for :meth:`resume`. If ``is_shown``, the
        run is shown unless another run is current.
        """
        # `resolved` replaces the convention of measures by that of the
        # data if the plan names none.
        self._last_key += 1
        record = RunRecord(
            self._last_key,
            plan.resolved(dataset.convention),
            dataset,
            background=not is_shown,
        )
        self._records[record.key] = record
        self._submit(record, paused)
        # A run that waits behind another one is not shown before its turn.
        if is_shown and self.current in (None, record):
            self.show(record)
        self.added.emit(record)
        return record

    def go_on(self, record: RunRecord, *, is_shown: bool = True) -> None:
        """Go on with a run that is not finished, when the runs before it have ended."""
        record.wait_again()
        self._submit(record, paused=False)
        if is_shown:
            self.show(record)
        self.changed.emit(record)

    def add(self, record: RunRecord) -> None:
        """List a run that already has a number, at the place in the list that follows from it."""
        self._records = dict(sorted({**self._records, record.key: record}.items()))
        self.added.emit(record)

    def add_renumbered(self, record: RunRecord) -> None:
        """List a finished run that was read from elsewhere, under a new number."""
        self._last_key += 1
        record.key = self._last_key
        self.add(record)

    def clear(self, last_key: int = 0) -> None:
        """Remove all runs from the list, but not from their study; number the next run after ``last_key``."""
        for job in self._jobs.values():
            job.abandon()  # no message of it arrives any more
        self._jobs.clear()
        self._begun.clear()
        self._records.clear()
        self._last_key = last_key
        self.cleared.emit()
        self.show(None)

    def give_dataset(
        self, records: Iterable[RunRecord], dataset: FoldedDataset
    ) -> None:
        """Give runs their dataset, of which only the record in the study was known before."""
        for record in records:
            record.dataset = dataset
            record.recorded = None  # not needed beside the documents
            record.revision += 1
            self.changed.emit(record)

    def note_kept(self) -> None:
        """Note that the study has stored something with a run."""
        self.n_kept += 1
        self.kept.emit()

    def allow(self, why_not: str) -> None:
        """Unblock the runs that could not go on for this reason, the sentence ``why_not``."""
        for record in self.records:
            if record.why_not_on == why_not:
                record.why_not_on = ""
                self.changed.emit(record)

    def _submit(self, record: RunRecord, paused: bool) -> None:
        """Submit a run to the worker, paused or running."""
        # `_other_runner` makes the runner of the backend that the user
        # chose, such as worker processes. A run that starts paused is
        # watched step by step, which works in this process only, so it
        # has the usual runner.
        runner = (None if paused else self._other_runner()) or self._runner
        plan = record.plan
        dataset = record.dataset
        stored = record.stored
        # Events of the run go to its record, and so does its end.
        # `_is_step` says after which events a run pauses that goes on
        # step by step.
        job = Job(
            tr("{title} on {name}").format(title=plan.title, name=dataset.name),
            lambda _: self._work(plan, dataset, stored, runner),
            on_message=lambda event: self._handle(record, event),
            on_end=lambda outcome: self._end(record, outcome),
            is_step=_is_step,
            paused=paused,
        )
        self._jobs[record.key] = job
        if paused:
            record.state = RunState.PAUSED
        self._worker.submit(job)

    def _work(
        self, plan: Plan, dataset: FoldedDataset, stored: RunKey | None, runner: Runner
    ) -> Iterator[Event | RunTarget | _StorageFailed | None]:
        """Carry out a run on the worker, and send its results as messages.

        ``stored`` is the key of a run of the open study that goes on;
        None begins a new run in the study. The first message is None:
        the turn of the run has come. Then follows where the study
        stores the run (`RunTarget`), or why it does not
        (`_StorageFailed`), and then the events of the run.
        """
        yield None  # signals that the turn of the run has come
        # The window's plan of a stored run may name the data by another path.
        plan = stored.plan if stored else plan
        target: RunTarget | None = None
        try:
            target = (
                self._study_store.target(stored)
                if stored
                else self._study_store.begin(plan, dataset)
            )
        except ChangedDataError:
            # the data have changed since the study recorded them: the
            # user has to decide
            raise
        except StoreError as error:
            yield _StorageFailed(str(error))
        if target is not None:
            yield target
        yield from runner(plan, dataset, target)

    def show(self, record: RunRecord | None) -> None:
        """Show another run; None shows none."""
        if record is not self._shown:
            self._shown = record
            self.shownChanged.emit()

    @property
    def next_up(self) -> RunRecord | None:
        """The run that works or is paused, else the first one that waits; None without any."""
        waiting = (record for record in self.records if record.state is RunState.QUEUED)
        return self.current or next(waiting, None)

    def pause(self) -> None:
        """Pause the run that works, else the first one that waits for its turn."""
        record = self.next_up
        if record and record.state is not RunState.PAUSED:
            self._jobs[record.key].pause()
            record.state = RunState.PAUSED
            record.clock.stop()
            self.changed.emit(record)

    def resume(self) -> None:
        """Go on with the paused run, or let it wait for its turn if that had not come."""
        record = self.current
        if record and record.state is RunState.PAUSED:
            self._jobs[record.key].resume()
            has_begun = record.key in self._begun
            record.state = RunState.RUNNING if has_begun else RunState.QUEUED
            if has_begun:
                record.clock.go()
            self.changed.emit(record)

    def step(self) -> None:
        """Do one step of the paused run."""
        record = self.current
        if record and record.state is RunState.PAUSED:
            self._jobs[record.key].step()

    def stop(self, record: RunRecord | None = None) -> None:
        """Stop a run, by default the one that works or is next; its finished units stay."""
        record = record or self.next_up
        if record is None or record.state.ended:
            return
        if record.key not in self._begun:  # a run that has not begun ends at once
            self._jobs[record.key].abandon()
            self._end(record, Outcome(Ending.CANCELLED))
        else:
            self._jobs[record.key].cancel()
            record.stopping = True
            self.changed.emit(record)

    def stop_all(self) -> None:
        """Stop the run that works and all that wait."""
        for record in reversed(self.records):
            self.stop(record)

    def remove(self, record: RunRecord) -> None:
        """Remove a run from the list, and stop it if it has not ended; :meth:`restore` lists it again.

        If it was the shown run, the last run on the same data is shown instead.
        """
        if record.key in self._jobs:
            # Messages still arrive until the job ends, among them the
            # key under which the run is stored.
            self._jobs[record.key].cancel()
        del self._records[record.key]
        self._tell_study_if_removed(record)
        self.removed.emit(record.key)
        if record is self._shown:
            candidates = [
                other for other in self.records if other.dataset is record.dataset
            ]
            self.show(candidates[-1] if candidates else None)

    def restore(self, record: RunRecord) -> None:
        """List a run again that was removed."""
        self.add(record)
        self._tell_study_if_removed(record)
        self.restored.emit(record.key)

    def _is_listed(self, record: RunRecord) -> bool:
        return self._records.get(record.key) is record

    def _tell_study_if_removed(self, record: RunRecord) -> None:
        """Have the study note whether a run that it stores was removed from the list."""
        if record.stored is not None:
            self.marked.emit(record, not self._is_listed(record))

    def _handle(
        self, record: RunRecord, event: Event | RunTarget | _StorageFailed | None
    ) -> None:
        """Handle a message of the worker about a run, which may have been removed from the list by now.

        The message is where the study stores the run, or why no study
        stores it; None when the turn of the run has come; or an event
        of the run, such as a finished unit.
        """
        if isinstance(event, RunTarget):
            record.stored = event.key
            self.storageBegan.emit(record)
            # The user removed the run before the study knew it.
            if not self._is_listed(record):
                self._tell_study_if_removed(record)
        elif isinstance(event, _StorageFailed):
            self.storageFailed.emit(event.reason)
        elif event is None:  # the turn of the run has come
            self._begun.add(record.key)
            # A run that the user has paused meanwhile stays paused.
            if record.state is RunState.QUEUED:
                record.state = RunState.RUNNING
                record.clock.go()
            if self._is_listed(record):
                self.began.emit(record)
                self.changed.emit(record)
        else:
            record.handle(event)
            if self._is_listed(record):
                self.eventNoted.emit(record, event)

    def _end(self, record: RunRecord, outcome: Outcome) -> None:
        """Note how a run has ended, and store its unfinished paths in less memory."""
        record.clock.stop()
        record.unit = None
        # The endings of a job ("done", "cancelled", "failed") are states of a run, too.
        record.state = RunState(outcome.ending.value)
        record.stopping = False
        record.pack()  # the steps of unfinished paths
        record.failure = outcome.text
        self._jobs.pop(record.key, None)
        self._begun.discard(record.key)
        if self._is_listed(record):
            self.changed.emit(record)
            self.ended.emit(record)


def look_at(session: Session, runs: Runs, record: RunRecord) -> None:
    """Show a run with its data, its plan and the model that was chosen of it last.

    On the open data, this is a change of the plan that can be undone;
    other data are opened in the session.
    """
    leave(session, runs)  # the record of the run shown so far keeps its chosen model
    if record.dataset is session.dataset:
        session.go_back_to(
            record.plan, tr("going to run {key}").format(key=record.key), record.choice
        )
    else:
        session.open(record.dataset, record.plan.data, record.plan, record.choice)
    runs.show(record)
    runs.chosen.emit(record)


def leave(session: Session, runs: Runs) -> None:
    """Copy the session's choice of a model to the record of the shown run, which the window leaves.

    Called before another run is shown. If the choice has changed, emit `choiceKept`.
    """
    record = runs.shown
    if record is not None and record.choice != (
        choice := choice_of(session, runs, record)
    ):
        record.choice = choice
        runs.choiceKept.emit(record)


def choice_of(session: Session, runs: Runs, record: RunRecord) -> Choice:
    """Return which model of a run is chosen.

    For the shown run this is the session's choice; for any other run,
    the choice in its record. The choice in the record also counts for a
    shown run that has other data or another method than the session, or
    no model with the values that the session chose.
    """
    plan = record.plan
    chosen = session.choice
    has_other_method = (plan.method, plan.ranker) != (
        session.plan.method,
        session.plan.ranker,
    )
    if (
        has_other_method
        or record is not runs.shown
        or record.dataset is not session.dataset
    ):
        return record.choice
    # Without values, the choice means the model that validation chose, in any plan.
    fits = chosen.values is None or _values_fit_plan(chosen.values, plan)
    return chosen if fits else record.choice


def _values_fit_plan(values: tuple[Any, ...], plan: Plan) -> bool:
    """Return whether values, one for each axis of a plan, are possible on these axes.

    An axis is a parameter of which the plan tries several values. An
    axis of numbers (a grid) also allows values between those of the
    plan.
    """
    if len(values) != len(plan.axes):
        return False
    pairs = zip(values, plan.axes, strict=True)
    return all(
        isinstance(v, float | int) if axis.is_grid else v in axis.values
        for v, axis in pairs
    )


class RunMarks(QObject):
    """The ticked runs, which are compared, and the reference run. A new run is ticked.

    Parameters
    ----------
    runs : Runs
    """

    changed = Signal()
    """Other runs are ticked, or there is another reference."""

    def __init__(self, runs: Runs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._unticked: frozenset[int] = frozenset()
        self._reference: int | None = None
        runs.removed.connect(self._forget)
        runs.cleared.connect(self._forget_all)

    @property
    def reference(self) -> int | None:
        """Number of the run that the others are compared with; None for the best one."""
        return self._reference

    def is_ticked(self, key: int) -> bool:
        """Return whether a run is compared."""
        return key not in self._unticked

    def tick(self, key: int, on: bool) -> None:
        """Tick or untick a run; the reference always stays ticked."""
        is_ticked = on or key == self._reference
        unticked = self._unticked - {key} if is_ticked else self._unticked | {key}
        if unticked != self._unticked:
            self._unticked = unticked
            self.changed.emit()

    def refer_to(self, key: int | None) -> None:
        """Make another run the reference, and tick it; None for the best run."""
        if key != self._reference:
            self._reference = key
            self._unticked -= {key} if key is not None else set()
            self.changed.emit()

    @Slot(int)
    def _forget(self, key: int) -> None:
        if self._reference == key:
            self.refer_to(None)

    @Slot()
    def _forget_all(self) -> None:
        self._unticked = frozenset()
        self._reference = None
        self.changed.emit()
