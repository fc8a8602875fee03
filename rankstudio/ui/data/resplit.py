"""The data follow the plan's protocol: they are divided anew when it changes."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.ui.background.loader import Loader
from rankstudio.ui.background.worker import Ending, Job, Outcome
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.session import Session, reading
from rankstudio.ui.page.controller import Controller


class ResplitController(Controller):
    """Reads the data again, on the worker, where the plan asks for other folds than they have.

    Until they are there, and where they cannot be divided so, nothing can be run.

    Parameters
    ----------
    session : Session
        Its plan is followed.
    runs : Runs
        Data of a run that were divided so before need not be read again.
    loader : Loader
    """

    divided = Signal()
    """The data are as the plan asks for."""

    def __init__(self, session: Session, runs: Runs, loader: Loader, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._runs = runs
        self._loader = loader
        self._asked: tuple[object, ...] | None = None
        self._job: Job | None = None
        session.planChanged.connect(self._follow)

    @Slot()
    def _follow(self) -> None:
        session = self._session
        plan = self._session.plan
        target = reading(plan)
        if not session.has_documents:
            return
        if session.read_as_planned:
            if self._asked is not None:  # taken back before it was done, or refused
                self._asked = None
                if self._job is not None:
                    self._job.cancel()
                self.divided.emit()
            return
        if target == self._asked:
            return
        loaded = next(
            (
                record.dataset
                for record in self._runs.records
                if record.recorded is None
                and (record.plan.data, *reading(record.plan)) == (plan.data, *target)
            ),
            None,
        )
        if loaded is not None:
            self._asked = None
            session.exchange(loaded, plan)
            self.divided.emit()
            return
        self._asked = target

        def handle(dataset: FoldedDataset) -> None:
            if reading(session.plan) == target and session.plan.data == plan.data:
                session.exchange(dataset, plan)

        self._job = self._loader.fetch(plan.data, plan, handle, self._end)

    def _end(self, outcome: Outcome) -> None:
        self._job = None
        if outcome.ending is Ending.DONE:
            self._asked = None
            self.divided.emit()
        elif outcome.ending is Ending.FAILED:  # what was asked for is not asked for again
            self.failed.emit(outcome.text)
