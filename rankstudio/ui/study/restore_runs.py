"""The data of stored runs: what is open is recognised, and what is looked at is opened again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.ui.background.job import Ending, Outcome
from rankstudio.ui.background.loader import Loader
from rankstudio.ui.background.tasks import recognise
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_queue import Runs, look_at
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import Session, reading
from rankstudio.ui.page.controller import Controller

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import RecordedData


class RunRestorer(Controller):
    """Gives the runs of an opened study their data.

    A run whose data are not at hand is shown with what its study knows. Meanwhile the data are opened from
    where they were; they take the place of their stand-in if they are what they were.

    Parameters
    ----------
    session, runs, loader
    worker : Worker
        Which compares the data.
    """

    def __init__(
        self, session: Session, runs: Runs, loader: Loader, worker: Worker, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._runs, self._loader, self._worker = session, runs, loader, worker
        self._going_on: RunRecord | None = None
        session.datasetChanged.connect(self._follow)

    @Slot(object)
    def look_at(self, record: RunRecord) -> None:
        """Show a run, with its data if they can be had."""
        look_at(self._session, self._runs, record)

    @Slot(object)
    def go_on(self, record: RunRecord | None) -> None:
        """Go on with a run that is not finished, as soon as its data are there."""
        if record is None or not record.can_go_on:
            return
        if record.recorded is None:
            self.look_at(record)
            self._runs.go_on(record)
            return
        self._going_on = record
        before = self._session.dataset
        self.look_at(record)
        if self._session.dataset is before:  # nothing changed that would have the data opened
            self._open(record)

    def recognise(self, then: Callable[[], None] = lambda: None) -> None:
        """See which stored runs were computed on the data that are open, and do something then."""
        session, dataset = self._session, self._session.dataset
        fitting = [
            record
            for record in self._runs.records
            if record.recorded is not None and reading(record.plan) == reading(session.plan)
        ]
        if dataset is None or not session.has_documents or not session.read_as_planned or not fitting:
            then()
            return

        def handle(known: set[RecordedData]) -> None:
            if session.dataset is dataset:
                self._runs.adopt([record for record in fitting if record.recorded in known], dataset)
            then()

        among = tuple({record.recorded for record in fitting if record.recorded is not None})
        what = tr("Identifying the data")
        self._worker.task(what, recognise, dataset, among, on_done=handle, on_error=lambda _: then())

    @Slot()
    def _follow(self) -> None:
        """Open what the study shows a stand-in of."""
        shown, there = self._session.dataset, self._session.has_documents
        record = next((r for r in self._runs.records if r.dataset is shown), None)
        if record is not None and record.recorded is not None and not there:
            self._open(record)

    def _open(self, record: RunRecord) -> None:
        recorded, plan = record.recorded, record.plan

        def handle(dataset: FoldedDataset) -> None:
            stand_in = record.dataset
            same = [
                r
                for r in self._runs.records
                if r.recorded is not None
                and recorded is not None
                and r.recorded.checksum == recorded.checksum
                and reading(r.plan) == reading(plan)
            ]
            self._runs.adopt(same, dataset)
            if self._session.dataset is stand_in:
                self._session.exchange(dataset, plan)

        def end(outcome: Outcome) -> None:
            going_on, self._going_on = self._going_on, None
            if outcome.ending is Ending.FAILED:
                self.failed.emit(tr("{text} The run is shown as stored.").format(text=outcome.text))
            elif going_on is record and record.recorded is None:
                self._runs.go_on(record)

        self._loader.fetch(plan.data, plan, handle, end, recorded)
