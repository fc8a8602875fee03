"""What stands behind the window: the study, the runs, the two workers. No widget is in here."""

from __future__ import annotations

from PySide6.QtCore import QObject

from rankstudio.ui.background.loader import Loader
from rankstudio.ui.background.tasks import Bench, warm_up
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.model.execution_backend import Crew
from rankstudio.ui.model.run_queue import Runner, Runs, engine_run
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.model.study_store import Shelf
from rankstudio.ui.process.settings import Settings


class Models(QObject):
    """Study, runs and where they are kept, current model and loader, with their workers.

    Parameters
    ----------
    settings : Settings
        Remember who carries out the runs.
    runner : callable
        What carries out a plan; the engine's unless a test gives another.
    """

    def __init__(
        self, settings: Settings, runner: Runner = engine_run, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.study = Session(self)
        # The desk answers the slider: it looks for results as often as a screen refreshes. The runs' curves
        # grow 25 times a second. A paused run holds its thread, so the desk has one of its own.
        self.desk = Worker("desk", interval=16, parent=self)
        self.run_worker = Worker("runs", interval=40, parent=self)
        self.bench = Bench()
        self.shelf = Shelf()
        self.crew = Crew(settings, self)
        self.runs = Runs(self.run_worker, self.shelf, runner, self.crew.runner, self)
        self.current = CurrentModel(self.study, self.runs, self.desk, self.bench, self)
        self.loader = Loader(self.desk, self)

    @property
    def n_busy(self) -> int:
        """How many workers have something to do."""
        return bool(self.desk.jobs) + bool(self.run_worker.jobs)

    def warm_up(self) -> None:
        """Load and compile what runs need, in the background."""
        self.run_worker.task("Preparing the engine", warm_up)

    def close(self) -> None:
        """Stop the workers and wait for them; give the study up for others."""
        self.run_worker.close()
        self.desk.close()
        self.shelf.close_all()
