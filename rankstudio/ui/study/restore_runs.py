"""The runs of the last time: their data are recognised or opened again, and those that waited are offered."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.background.worker import Ending, Outcome
from rankstudio.ui.compare.comparison_runs import ComparisonRuns
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import Runs, look_at
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.session import reading
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.process.turns import single_shot
from rankstudio.ui.widgets import Notices


class RunRestorer(Controller):
    """Gives the runs of an opened study their data.

    A run whose data are not at hand is shown with what its study knows. Meanwhile the data are opened from
    where they were; they take the place of their stand-in if they are what they were.

    Parameters
    ----------
    models : Models
    """

    def __init__(self, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = models.session
        self._runs = models.runs
        self._models = models
        self._loader = models.loader
        self._going_on: RunRecord | None = None
        self._session.datasetChanged.connect(self._follow)

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
        session = self._session
        dataset = self._session.dataset
        fitting = [r for r in self._runs.records if reading(r.plan) == reading(session.plan)]
        if dataset is None or not session.has_documents or not session.read_as_planned:
            then()
            return

        def handle(records: list[RunRecord]) -> None:
            if session.dataset is dataset:
                self._runs.adopt(records, dataset)
            then()

        self._models.recognise(fitting, dataset, handle)

    @Slot()
    def _follow(self) -> None:
        """Open the data that the study shows a stand-in of."""
        dataset = self._session.dataset
        has_documents = self._session.has_documents
        record = next((r for r in self._runs.records if r.dataset is dataset), None)
        if record is not None and record.recorded is not None and not has_documents:
            self._open(record)

    def _open(self, record: RunRecord) -> None:
        recorded = record.recorded
        plan = record.plan

        def handle(dataset: FoldedDataset) -> None:
            stand_in = record.dataset
            records = [
                r
                for r in self._runs.records
                if r.recorded is not None
                and recorded is not None
                and r.recorded.checksum == recorded.checksum
                and reading(r.plan) == reading(plan)
            ]
            self._runs.adopt(records, dataset)
            if self._session.dataset is stand_in:
                self._session.exchange(dataset, plan)

        def end(outcome: Outcome) -> None:
            going_on = self._going_on
            self._going_on = None
            if outcome.ending is Ending.FAILED:
                self.failed.emit(tr("{text} The run is shown as stored.").format(text=outcome.text))
            elif going_on is record and record.recorded is None:
                self._runs.go_on(record)

        self._loader.fetch(plan.data, plan, handle, end, recorded)


_DELAY_MILLISECONDS = 400


class WaitingRuns(QObject):
    """Keeps the plans of the runs that wait, soon after each change, for a process may be killed.

    A run whose turn has come is in its study, which offers to continue it.

    Parameters
    ----------
    runs : Runs
    comparison : ComparisonRuns
        Has runs that wait for their data, and queues those of the last time.
    settings : Settings
        Where the plans are kept.
    notice : Notices
        Offers them.
    """

    def __init__(
        self,
        runs: Runs,
        comparison: ComparisonRuns,
        settings: Settings,
        notice: Notices,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._runs = runs
        self._comparison = comparison
        self._settings = settings
        self._notice = notice
        self._left: tuple[Plan, ...] = ()
        self._timer = single_shot(_DELAY_MILLISECONDS, self._keep, self)
        for signal in (runs.added, runs.changed, runs.removed):
            signal.connect(self._keep_soon)

    @property
    def text(self) -> str:
        """The offer as a sentence; "" where there is none."""
        n = len(self._left)
        if not n:
            return ""
        sentence = trn("{n} run is still waiting.", "{n} runs are still waiting.", n)
        return sentence.format(n=n)

    def restore(self) -> None:
        """Read the plans that waited in the last session, and offer them."""
        self._left = self._settings.waiting
        self.offer()

    def offer(self) -> None:
        """Offer the plans that waited in the last session, unless they were taken."""
        if self._left:
            self._notice.say(self.text, "info", {tr("Run"): self.run})

    def run(self) -> None:
        """Queue the plans that waited in the last session."""
        self._notice.withdraw(self.text)
        plans = self._left
        self._left = ()
        if plans:
            self._comparison.start(plans)

    def close(self) -> None:
        """Keep the waiting plans for the next session, and drop an offer that was not taken."""
        self._left = ()
        for signal in (self._runs.added, self._runs.changed, self._runs.removed):
            signal.disconnect(self._keep_soon)
        self._timer.stop()
        self._keep()

    @Slot()
    def _keep_soon(self) -> None:
        self._timer.start()

    @Slot()
    def _keep(self) -> None:
        queued = [record.plan for record in self._runs.records if record.state is RunState.QUEUED]
        self._settings.save_waiting([*self._left, *queued, *self._comparison.waiting])
