"""State behind the window: the session, the runs, the two workers. No widget is in here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.results.events import Event, RunStarted, UnitFinished
from rankstudio.engine.support.compilation import announced
from rankstudio.engine.support.compiler_process import compiler_process
from rankstudio.ui.background.loader import Loader
from rankstudio.ui.background.tasks import FoldCache, recognise, warm_up
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.execution import ExecutionBackend, MemoryBudget
from rankstudio.ui.model.left_out_measures import LeftOutMeasures
from rankstudio.ui.model.measured_runs import MeasuredRuns
from rankstudio.ui.model.run_queue import RunMarks, Runner, Runs, engine_run
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.model.study_store import StudyStore
from rankstudio.ui.process.memory import IdleMemory
from rankstudio.ui.process.settings import Settings

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import RecordedData

_OPENING = tr("Opening the data …")
_COMPUTING = tr("Computing the path …")
_READING = tr("Reading the runs of the study …")


class Absence(QObject):
    """Returns the text of an empty panel: that its content is awaited, why it is missing, or a default.

    Parameters
    ----------
    session : Session
    runs : Runs
    current : CurrentModel
        Tells whether a path is being computed.
    loader : Loader
        Tells whether data are being opened.
    """

    changed = Signal()
    """One of the texts may have changed."""

    def __init__(
        self,
        session: Session,
        runs: Runs,
        current: CurrentModel,
        loader: Loader,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._runs = runs
        self._current = current
        self._loader = loader
        self._reads_study = False  # whether runs of a study are being read
        for signal in (
            loader.started,
            loader.ended,
            runs.shownChanged,
            runs.changed,
            runs.ended,
        ):
            signal.connect(self.changed)
        runs.eventNoted.connect(self._note)

    def documents(self, impossible: str) -> str:
        """Return the message for missing documents: that the data are being opened, else ``impossible``."""
        return _OPENING if self._loader.busy else impossible

    def model(self, default: str) -> str:
        """Return the message for a missing model: that its path is being computed, else that of its run.

        ``default`` is the message if there is no run either.
        """
        return _COMPUTING if self._current.computing else self.run(default)

    def fold_model(self, every_fold: str, default: str) -> str:
        """Return the message for a missing model of a fold: ``every_fold`` while all folds are shown.

        While one fold is shown, return the message on the path or run
        that is being computed, else ``default``.
        """
        shows_all_folds = (
            self._session.dataset is not None and self._session.fold is None
        )
        return every_fold if shows_all_folds else self.model(default)

    def run(self, default: str) -> str:
        """Return the message for the shown run without results: how far it is, or why it ended.

        Without a run, return ``default``, or that the runs of a study are being read.
        """
        record = self._current.shown.record  # of the run that the window shows
        if record is None:
            return _READING if self._reads_study else default
        text = _state_text(record, self._session.fold)
        return (
            text.format(run=record.key, done=record.units_done, n=record.n_units)
            or default
        )

    def text_without_results(self, default: str) -> str:
        """Return the message where no run has a result: how far the current run is.

        Without a current run, return ``default``, or that the runs of a
        study are being read.
        """
        record = self._runs.current  # the run that is at work or paused
        if record is None:
            return _READING if self._reads_study else default
        # The panel shows no run, so no fold of a run is missing in particular.
        no_fold = None
        return _state_text(record, no_fold).format(
            run=record.key,
            done=record.units_done,
            n=record.n_units,
        )

    def read_runs(self, reads: bool) -> None:
        """Note whether the runs of a study are being read, or the data of these runs are being recognized."""
        self._reads_study = reads
        self.changed.emit()

    @Slot(object, object)
    def _note(self, _: RunRecord, event: Event) -> None:
        if isinstance(event, RunStarted | UnitFinished):
            self.changed.emit()


def _state_text(record: RunRecord, fold: int | None) -> str:
    """Return a sentence on how far a run is or why it ended, with placeholders for its numbers.

    Return "" if the run is done and includes the fold. ``fold`` is the
    number of the fold whose results are missing; None if they are
    missing for no fold in particular.
    """
    match record.state:
        case RunState.QUEUED:
            return tr("Run {run} is waiting for its turn.")
        case RunState.PAUSED:
            return tr(
                "Run {run} is paused at {done} of {n} fits. Press Resume to continue."
            )
        case RunState.RUNNING:
            started = tr("Run {run} is in progress: {done} of {n} fits are done.")
            # The number of fits is 0 until the run has announced it.
            return started if record.n_units else tr("Run {run} is starting …")
        case RunState.FAILED:
            return tr("Run {run} failed before this fold was finished.")
        case RunState.CANCELLED | RunState.UNFINISHED:
            return tr("Run {run} was stopped before this fold was finished.")
        case _:
            # The run is done. A plan without a list of folds includes all of them.
            lacks_fold = (
                record.plan.folds and fold is not None and fold not in record.plan.folds
            )
            return (
                tr("Run {run} does not include this fold. Choose another fold.")
                if lacks_fold
                else ""
            )


_TASK_MILLISECONDS = 16  # the slider is answered as often as a screen refreshes
_RUN_MILLISECONDS = 40  # curves grow 25 times a second


class Models(QObject):
    """All models of a window: session, runs and their store, current model and loader, with their workers.

    Parameters
    ----------
    settings : Settings
        Store the chosen execution backend and memory limit.
    runner : callable
        Carries out a plan; the engine's function unless a test gives another.
    """

    preparing = Signal(str)
    """A kernel is being compiled (a sentence says so), or the work that needed the kernel is done ("")."""

    def __init__(
        self,
        settings: Settings,
        runner: Runner = engine_run,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        # What a window has open, and the workers (threads) that compute for it.
        self.session = Session(self)
        # A paused run holds its thread, so tasks have one of their own.
        self.task_worker = Worker(
            "tasks",
            interval=_TASK_MILLISECONDS,
            parent=self,
        )
        self.run_worker = Worker("runs", interval=_RUN_MILLISECONDS, parent=self)
        self.fold_cache = FoldCache()
        self.study_store = StudyStore()
        self.backend = ExecutionBackend(settings, self)
        self.memory_budget = MemoryBudget(settings, self)
        # The runs, and what depends on them.
        self.runs = Runs(
            self.run_worker, self.study_store, runner, self.backend.runner, self
        )
        self.runs.shownChanged.connect(self.session.end_inspection)
        for signal in (self.runs.shownChanged, self.session.datasetChanged):
            signal.connect(self._show_fold_of_run)
        self.marks = RunMarks(self.runs, self)
        self.measured = MeasuredRuns(
            self.session, self.runs, self.task_worker, self.study_store, self
        )
        self.current = CurrentModel(
            self.session,
            self.runs,
            self.measured,
            self.task_worker,
            self.fold_cache,
            self,
        )
        self.left_out = LeftOutMeasures(
            self.session,
            self.runs,
            self.measured,
            self.current,
            self.task_worker,
            self.fold_cache,
            self,
        )
        # Opening data, and the texts of empty panels.
        self.names_folder = settings.names_folder
        self.loader = Loader(self.task_worker, self.names_folder, self)
        self.absence = Absence(self.session, self.runs, self.current, self.loader, self)
        # Preparing is loading and compiling what runs need. It is
        # announced when it begins; its end is looked for whenever a
        # worker has no more tasks (`drained`). Unused memory is then
        # returned to the system.
        self._compiling = False  # whether a preparation is announced, and not over
        self.preparing.connect(self._note_preparation)
        idle_memory = IdleMemory(lambda: self.n_busy, self)
        for worker in (self.task_worker, self.run_worker):
            worker.drained.connect(self._end_preparation)
            worker.drained.connect(idle_memory.wait_for_rest)
        # Compiled code announces itself by `preparing` until this stack is closed.
        self._announced = ExitStack()
        self._announced.enter_context(announced(self.preparing.emit))

    @Slot()
    def _show_fold_of_run(self) -> None:
        """Show the first fold of the shown run if the run lacks the fold that is shown.

        A run on fold 5 alone has nothing on fold 1. A plan without a
        list of folds has all of them. While all folds are shown (None),
        nothing changes.
        """
        record = self.runs.shown
        fold = self.session.fold
        if record is None or record.dataset is not self.session.dataset or fold is None:
            return
        if record.plan.folds and fold not in record.plan.folds:
            self.session.show_fold(record.plan.folds[0])

    @property
    def n_busy(self) -> int:
        """How many workers have something to do."""
        return bool(self.task_worker.jobs) + bool(self.run_worker.jobs)

    def recognise(
        self,
        records: Sequence[RunRecord],
        dataset: FoldedDataset,
        then: Callable[[list[RunRecord]], None],
    ) -> None:
        """Find the stored runs that were computed on a dataset, in the background, and pass them on.

        Parameters
        ----------
        records : sequence of RunRecord
            The stored runs among which to search.
        dataset : FoldedDataset
        then : callable
            Called with the records whose recorded data are this
            dataset; with an empty list if that cannot be found out.
        """
        # `recorded` are the name and checksums of a run's data in the
        # study; None for a run whose data are open.
        candidates = tuple(
            {record.recorded for record in records if record.recorded is not None}
        )
        if not candidates:
            then([])
            return

        def handle(known_data: set[RecordedData]) -> None:
            then([record for record in records if record.recorded in known_data])

        # The function of the same name compares the checksums on the worker.
        text = tr("Identifying the data")
        self.task_worker.task(
            text,
            recognise,
            dataset,
            candidates,
            on_done=handle,
            on_error=lambda _: then([]),
        )

    def warm_up(self) -> None:
        """Load and compile what runs need, in the background, on the worker of the runs."""
        callback = self._prepared  # called in the end, even after a failure
        # The job calls the function of the same name. A job without a
        # slot would first load the BLAS libraries; the function loads
        # them itself, while it holds off garbage collection.
        self.run_worker.task(
            tr("Starting the engine"),
            warm_up,
            on_done=callback,
            on_error=callback,
            slot="preparation",
        )

    def hold_work(self, is_held: bool) -> None:
        """Hold back new work of both workers, so that the window is drawn sooner, or let it begin again."""
        for worker in (self.task_worker, self.run_worker):
            worker.hold(is_held)

    def warm_up_later(self) -> None:
        """Warm up once the task worker is idle, so that the data or study being opened is shown first."""
        self.task_worker.drained.connect(self._warm_up_if_idle)
        self._warm_up_if_idle()

    @Slot()
    def _warm_up_if_idle(self) -> None:
        if not self.task_worker.jobs:
            self.task_worker.drained.disconnect(self._warm_up_if_idle)
            self.warm_up()

    def _prepared(self, _: object) -> None:
        self.preparing.emit("")

    @Slot(str)
    def _note_preparation(self, sentence: str) -> None:
        self._compiling = bool(sentence)

    @Slot()
    def _end_preparation(self) -> None:
        """Announce that no kernel is being compiled any more, once that is so.

        Kernels are compiled by a separate process or, without such a
        process, by a worker.
        """
        compiler = compiler_process()
        compiles = compiler.compiling if compiler.wanted else self.n_busy
        if self._compiling and not compiles:
            self.preparing.emit("")

    def close(self) -> None:
        """Stop the workers and wait for them; give the study up for others."""
        self.run_worker.close()
        self.task_worker.close()
        self._announced.close()
        self.memory_budget.close()
        self.study_store.close_all()
