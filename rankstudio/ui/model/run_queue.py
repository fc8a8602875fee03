"""The runs of the window: a queue in front of one worker, pause, step and stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import ChangedDataError, StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import Event, StepDone, UnitFinished
from rankstudio.ui.background.job import Ending, Job, Outcome
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.study_store import Kept, Shelf

Runner = Callable[[Plan, FoldedDataset, Kept | None], Iterator[Event]]


def engine_run(
    plan: Plan, dataset: FoldedDataset, kept: Kept | None = None, executor: Executor | None = None
) -> Iterator[Event]:
    """Run a plan with the engine, which is imported on the worker thread by the first run.

    Parameters
    ----------
    plan : Plan
    dataset : FoldedDataset
    kept : Kept or None
        Where what is finished goes, and comes from; None for a run that nobody keeps.
    executor : Executor or None
        Carries out many units at a time; None for one after the other, step by step.
    """
    from rankstudio.engine.experiment.resume import run_stored  # noqa: PLC0415 - it brings numba
    from rankstudio.engine.experiment.runner import run  # noqa: PLC0415 - it brings numba

    if kept is None:
        return run(plan, dataset, executor=executor)
    return run_stored(plan, dataset, kept.study, key=kept.key, executor=executor)


def _is_step(event: object) -> bool:
    """Tell whether an event is what the step button waits for; of other workers only whole units arrive."""
    return isinstance(event, StepDone) or (isinstance(event, UnitFinished) and event.seconds is not None)


@dataclass(frozen=True)
class _NotKept:
    """A run goes on although no study takes it, and why."""

    reason: str


class Runs(QObject):
    """All runs of this window, the one that is shown, and the one that works.

    Parameters
    ----------
    worker : Worker
        For the runs alone: a paused run holds its thread.
    shelf : Shelf
        Where the runs are kept.
    runner : callable
        What carries out a plan; the engine's unless a test gives another.

    Attributes
    ----------
    may_remove : callable
        Asked before a run is forgotten (RunRecord).
    hire : callable
        Asked for what carries out a run that begins now, where that is not this window; None where it is.
    """

    added = Signal(object)
    """A run was queued (RunRecord)."""
    began = Signal(object)
    """The turn of a run has come (RunRecord)."""
    changed = Signal(object)
    """A run began, was paused or went on (RunRecord)."""
    told = Signal(object, object)
    """A run told something (RunRecord, Event), already noted in the record."""
    ended = Signal(object)
    """A run is done, cancelled or failed (RunRecord)."""
    shownChanged = Signal()
    """Another run is shown."""
    removed = Signal(int)
    """A run was forgotten (its key)."""
    cleared = Signal()
    """All runs were forgotten at once: another study is open."""
    discarded = Signal(object)
    """The user threw a run away (RunRecord)."""
    kept = Signal(object)
    """A run began that the study keeps (RunRecord)."""
    notKept = Signal(str)
    """A run began that no study keeps; a sentence says why."""

    def __init__(
        self, worker: Worker, shelf: Shelf, runner: Runner = engine_run, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._worker = worker
        self._shelf = shelf
        self._runner = runner
        self.may_remove: Callable[[RunRecord], bool] = lambda _: True
        self.hire: Callable[[], Runner | None] = lambda: None
        self._records: dict[int, RunRecord] = {}
        self._jobs: dict[int, Job] = {}
        self._shown: RunRecord | None = None
        self._last_key = 0

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

    def start(self, plan: Plan, dataset: FoldedDataset, *, paused: bool = False) -> RunRecord:
        """Run a plan when the runs before it have ended."""
        record = RunRecord(self.next_key(), plan, dataset)
        self._records[record.key] = record
        self._submit(record, paused)
        self.added.emit(record)
        if self.current in (None, record):
            self.show(record)
        return record

    def go_on(self, record: RunRecord) -> None:
        """Go on with a run that is not finished, when the runs before it have ended."""
        record.wait_again()
        self._submit(record, paused=False)
        self.changed.emit(record)
        self.show(record)

    def next_key(self) -> int:
        """Return the number of the next run of the window."""
        self._last_key += 1
        return self._last_key

    def add(self, record: RunRecord) -> None:
        """List a run that is there already."""
        self._records[record.key] = record
        self.added.emit(record)

    def clear(self) -> None:
        """List no runs any more; they stay in their study."""
        for record in self.records:
            self._forget(record)
        self._last_key = 0
        self.cleared.emit()
        self.show(None)

    def adopt(self, records: Iterable[RunRecord], dataset: FoldedDataset) -> None:
        """Give runs their data, which were not at hand before."""
        for record in records:
            record.dataset, record.recorded = dataset, None
            self.changed.emit(record)

    def _submit(self, record: RunRecord, paused: bool) -> None:
        # Who goes step by step watches this window at work.
        runner = (None if paused else self.hire()) or self._runner
        job = Job(
            f"{record.plan.title} on {record.dataset.name}",
            lambda _: self._work(record, runner),
            on_message=lambda event: self._take(record, event),
            on_end=lambda outcome: self._end(record, outcome),
            is_step=_is_step,
        )
        self._jobs[record.key] = job
        if paused:
            job.pause()
            record.state = RunState.PAUSED
        self._worker.submit(job)

    def _work(self, record: RunRecord, runner: Runner) -> Iterator[Event | Kept | _NotKept | None]:
        """Carry out a run, on the worker."""
        yield None  # the sign that its turn has come
        plan = record.stored.plan if record.stored else record.plan
        kept: Kept | None = None
        try:
            kept = (
                self._shelf.kept(record.stored) if record.stored else self._shelf.begin(plan, record.dataset)
            )
        except ChangedDataError:
            raise  # the study's other runs are of other data: that is for the user to decide
        except StoreError as error:
            yield _NotKept(str(error))
        if kept is not None:
            record.stored = kept.key
            yield kept
        yield from runner(plan, record.dataset, kept)

    def show(self, record: RunRecord | None) -> None:
        """Show another run."""
        if record is not self._shown:
            self._shown = record
            self.shownChanged.emit()

    def pause(self) -> None:
        """Pause the run that works."""
        record = self.current
        if record and record.state is RunState.RUNNING:
            self._jobs[record.key].pause()
            record.state = RunState.PAUSED
            record.clock.stop()
            self.changed.emit(record)

    def resume(self) -> None:
        """Go on with the paused run."""
        record = self.current
        if record and record.state is RunState.PAUSED:
            self._jobs[record.key].resume()
            record.state = RunState.RUNNING
            record.clock.go()
            self.changed.emit(record)

    def step(self) -> None:
        """Do one step of the paused run."""
        record = self.current
        if record and record.state is RunState.PAUSED:
            self._jobs[record.key].step()

    def stop(self, record: RunRecord | None = None) -> None:
        """Stop a run, the one that works by default; what it has finished stays."""
        record = record or self.current
        if record is None or record.state.ended:
            return
        if record.state is RunState.QUEUED:  # it ends now, not when its turn comes
            self._jobs[record.key].abandon()
            self._end(record, Outcome(Ending.CANCELLED))
        else:
            self._jobs[record.key].cancel()

    def stop_all(self) -> None:
        """Stop the run that works and all that wait."""
        for record in reversed(self.records):
            self.stop(record)

    def remove(self, record: RunRecord) -> None:
        """Throw a run away; one that has not ended is abandoned."""
        if not self.may_remove(record):
            return
        self.discarded.emit(record)
        self._forget(record)
        self.removed.emit(record.key)
        if record is self._shown:
            same = [other for other in self.records if other.dataset is record.dataset]
            self.show(same[-1] if same else None)

    def _forget(self, record: RunRecord) -> None:
        job = self._jobs.pop(record.key, None)
        if job and not record.state.ended:
            job.abandon()
            record.state = RunState.CANCELLED
        del self._records[record.key]

    def _take(self, record: RunRecord, event: Event | Kept | _NotKept | None) -> None:
        if isinstance(event, Kept):
            self.kept.emit(record)
        elif isinstance(event, _NotKept):
            self.notKept.emit(event.reason)
        elif event is None:
            if record.state is RunState.QUEUED:
                record.state = RunState.RUNNING
                record.clock.go()
            self.began.emit(record)
            self.changed.emit(record)
        else:
            record.take(event)
            self.told.emit(record, event)

    def _end(self, record: RunRecord, outcome: Outcome) -> None:
        record.clock.stop()
        record.unit = None
        record.state = {
            Ending.DONE: RunState.DONE,
            Ending.CANCELLED: RunState.CANCELLED,
            Ending.FAILED: RunState.FAILED,
        }[outcome.ending]
        record.failure = outcome.text
        self._jobs.pop(record.key, None)
        self.changed.emit(record)
        self.ended.emit(record)
