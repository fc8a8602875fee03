"""What stands behind the window: the session, the runs, the two workers. No widget is in here."""

from __future__ import annotations

from contextlib import ExitStack

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.support.compilation import announced
from rankstudio.ui.background.loader import Loader
from rankstudio.ui.background.tasks import FoldCache, warm_up
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.absence import Absence
from rankstudio.ui.model.execution_backend import ExecutionBackend
from rankstudio.ui.model.left_out_measures import LeftOutMeasures
from rankstudio.ui.model.measured_runs import MeasuredRuns
from rankstudio.ui.model.memory_budget import MemoryBudget
from rankstudio.ui.model.permutation_tests import PermutationTests
from rankstudio.ui.model.run_marks import RunMarks
from rankstudio.ui.model.run_queue import Runner, Runs, engine_run
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.model.study_store import StudyStore
from rankstudio.ui.process.memory import IdleMemory
from rankstudio.ui.process.settings import Settings

_TASK_MILLISECONDS = 16  # the slider is answered as often as a screen refreshes
_RUN_MILLISECONDS = 40  # curves grow 25 times a second


class Models(QObject):
    """Session, runs and where they are stored, current model and loader, with their workers.

    Parameters
    ----------
    settings : Settings
        Remember who carries out the runs.
    runner : callable
        What carries out a plan; the engine's unless a test gives another.
    """

    preparing = Signal(str)
    """A kernel is being compiled (a sentence), or what needed it is done ("")."""

    def __init__(
        self, settings: Settings, runner: Runner = engine_run, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.session = Session(self)
        # A paused run holds its thread, so tasks have one of their own.
        self.task_worker = Worker("tasks", interval=_TASK_MILLISECONDS, parent=self)
        self.run_worker = Worker("runs", interval=_RUN_MILLISECONDS, parent=self)
        self.fold_cache = FoldCache()
        self.study_store = StudyStore()
        self.backend = ExecutionBackend(settings, self)
        self.memory_budget = MemoryBudget(settings, self)
        self.runs = Runs(self.run_worker, self.study_store, runner, self.backend.runner, self)
        self.marks = RunMarks(self.runs, self)
        self.measured = MeasuredRuns(self.session, self.runs, self.task_worker, self)
        self.current = CurrentModel(
            self.session, self.runs, self.measured, self.task_worker, self.fold_cache, self
        )
        self.permutations = PermutationTests(self.session, self.current, self.task_worker, self)
        seen = self.session, self.runs, self.measured, self.current
        self.left_out = LeftOutMeasures(*seen, self.task_worker, self.fold_cache, self)
        self.loader = Loader(self.task_worker, settings.names_folder, self)
        self.absence = Absence(self.session, self.runs, self.current, self.loader, self)
        self._compiling = False
        self.preparing.connect(self._note_preparation)
        idle_memory = IdleMemory(lambda: self.n_busy, self)
        for worker in (self.task_worker, self.run_worker):
            worker.drained.connect(self._end_preparation)
            worker.drained.connect(idle_memory.wait_for_rest)
        self._announced = ExitStack()
        self._announced.enter_context(announced(self.preparing.emit))

    @property
    def n_busy(self) -> int:
        """How many workers have something to do."""
        return bool(self.task_worker.jobs) + bool(self.run_worker.jobs)

    def warm_up(self) -> None:
        """Load and compile what runs need, in the background."""
        done = self._prepared
        # With a slot, the worker does not load what limits threads by itself, and searches for garbage in it.
        self.run_worker.task(
            tr("Starting the engine"), warm_up, on_done=done, on_error=done, slot="preparation"
        )

    def _prepared(self, _: object) -> None:
        self.preparing.emit("")

    @Slot(str)
    def _note_preparation(self, sentence: str) -> None:
        self._compiling = bool(sentence)

    @Slot()
    def _end_preparation(self) -> None:
        if self._compiling and not self.n_busy:
            self.preparing.emit("")

    def close(self) -> None:
        """Stop the workers and wait for them; give the study up for others."""
        self.run_worker.close()
        self.task_worker.close()
        self._announced.close()
        self.memory_budget.close()
        self.study_store.close_all()
