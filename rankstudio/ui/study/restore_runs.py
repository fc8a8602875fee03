"""Restores runs of earlier sessions: finds or opens their data, and offers runs that were waiting."""

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

    A run whose data are not open is shown with a stand-in, a dataset
    with the information that the study has stored. The data are then
    opened from their path, and replace the stand-in if they have not
    changed.

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

        # The run that is resumed once its data are open.
        self._run_to_resume: RunRecord | None = None
        self._session.datasetChanged.connect(self._follow)

    @Slot(object)
    def look_at(self, record: RunRecord) -> None:
        """Show a run, with its data if these are open."""
        look_at(self._session, self._runs, record)

    @Slot(object)
    def go_on(self, record: RunRecord | None) -> None:
        """Resume a run that is not finished, as soon as its data are open.

        Nothing is done for None, and for a run that cannot be resumed.
        """
        if record is None or not record.can_go_on:
            return

        # `recorded` is what the study says about data that are not
        # open; a run whose data are open has None.
        if record.recorded is None:
            self.look_at(record)  # shows the run
            self._runs.go_on(record)
            return

        # Other data are opened for the shown run, and `_open` resumes it then.
        self._run_to_resume = record
        previous_dataset = self._session.dataset
        self.look_at(record)

        # Another dataset has emitted `datasetChanged`, after which the
        # data are opened; for the same one, this has to be done here.
        if self._session.dataset is previous_dataset:
            self._open(record)

    def recognise(self, then: Callable[[], None] = lambda: None) -> None:
        """Find the stored runs that were computed on the open data, and then call ``then``.

        These runs get the open data instead of their stand-ins, which
        have no documents. The data are compared by checksums, on a
        worker thread.
        """
        # `reading` returns the parts of a plan that say how its data
        # are read: only runs with the same ones may be on the same
        # data.
        session = self._session
        dataset = self._session.dataset
        candidates = [
            r for r in self._runs.records if reading(r.plan) == reading(session.plan)
        ]
        if dataset is None or not session.has_documents or not session.data_match_plan:
            then()
            return

        def handle(records: list[RunRecord]) -> None:
            """Give the open data to runs that were computed on these data, and then go on.

            ``records`` are the runs. The data are those that were open
            when their checksums were requested.
            """
            # Other data may have been opened while checksums were compared.
            if session.dataset is dataset:
                self._runs.give_dataset(records, dataset)
            then()

        self._models.recognise(candidates, dataset, handle)

    @Slot()
    def _follow(self) -> None:
        """Open the data of the shown run if a stand-in is shown for them."""
        dataset = self._session.dataset
        has_documents = self._session.has_documents
        record = next((r for r in self._runs.records if r.dataset is dataset), None)
        if record is not None and record.recorded is not None and not has_documents:
            self._open(record)

    def _open(self, record: RunRecord) -> None:
        """Open the data of a run, and give them to all runs on these data.

        Afterwards, the run is resumed if the user has asked for that.
        """
        recorded = record.recorded
        plan = record.plan

        def is_on_same_data(other: RunRecord) -> bool:
            """Return whether another run has the data of a given run: the same files, read in the same way.

            The given run is a parameter of the enclosing method. Return
            False if the data of ``other`` are open.
            """
            if other.recorded is None or recorded is None:
                return False
            has_same_checksum = other.recorded.checksum == recorded.checksum
            return has_same_checksum and reading(other.plan) == reading(plan)

        def handle(dataset: FoldedDataset) -> None:
            """Replace the stand-in of the data by the data, in all runs on them.

            A stand-in has what a study stores about data, without
            documents. If the session shows the stand-in, the stand-in
            is replaced there, too.
            """
            stand_in = record.dataset
            records = [other for other in self._runs.records if is_on_same_data(other)]
            self._runs.give_dataset(records, dataset)
            if self._session.dataset is stand_in:
                self._session.exchange(dataset, plan)

        def end(outcome: Outcome) -> None:
            """Report a failure; otherwise resume the run if it waits for that and has its data now.

            No run waits for its data any more afterwards.

            ``outcome`` is that of opening the data. The run is a
            parameter of the enclosing method.
            """
            run_to_resume = self._run_to_resume
            self._run_to_resume = None
            if outcome.ending is Ending.FAILED:
                self.failed.emit(
                    tr("{text} The run is shown as stored.").format(text=outcome.text)
                )
            elif run_to_resume is record and record.recorded is None:
                self._runs.go_on(record)

        # Files that do not agree with `recorded` are refused.
        self._loader.fetch(plan.data, plan, handle, end, recorded)


_DELAY_MILLISECONDS = 400


class WaitingRuns(QObject):
    """Saves the plans of waiting runs, and offers them in the next session.

    The plans are saved shortly after each change, as the process may be
    killed. A run that has begun is stored in its study, which offers to
    resume it.

    Parameters
    ----------
    runs : Runs
    comparison : ComparisonRuns
        Contains the runs that wait for their data, and queues those of
        the last session.
    settings : Settings
        Stores the plans.
    notice : Notices
        Shows the offer.
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

        # Plans of the runs that waited at the end of the last session.
        # They are offered until the user queues them.
        self._offered_plans: tuple[Plan, ...] = ()
        self._timer = single_shot(_DELAY_MILLISECONDS, self._save, self)
        for signal in (runs.added, runs.changed, runs.removed):
            signal.connect(self._save_soon)

    @property
    def text(self) -> str:
        """The offer as a sentence; "" if there is nothing to offer."""
        n = len(self._offered_plans)
        if not n:
            return ""
        sentence = trn("{n} run is still waiting.", "{n} runs are still waiting.", n)
        return sentence.format(n=n)

    def restore(self) -> None:
        """Read the plans that waited in the last session, and offer them."""
        self._offered_plans = self._settings.waiting
        self.offer()

    def offer(self) -> None:
        """Offer the plans that waited in the last session, unless they were queued."""
        if self._offered_plans:
            self._notice.say(self.text, "info", {tr("Run"): self.run})

    def run(self) -> None:
        """Queue the plans that waited in the last session."""
        self._notice.withdraw(self.text)
        plans = self._offered_plans
        self._offered_plans = ()
        if plans:
            self._comparison.start(plans)

    def close(self) -> None:
        """Save the waiting plans for the next session, without those that the user has not queued."""
        self._offered_plans = ()
        for signal in (self._runs.added, self._runs.changed, self._runs.removed):
            signal.disconnect(self._save_soon)
        self._timer.stop()
        self._save()

    @Slot()
    def _save_soon(self) -> None:
        """Store the plans after a short time without changes."""
        self._timer.start()

    @Slot()
    def _save(self) -> None:
        """Store the plans that are offered, that wait in the queue, or that wait for their data."""
        queued_plans = [
            record.plan
            for record in self._runs.records
            if record.state is RunState.QUEUED
        ]
        self._settings.save_waiting(
            [*self._offered_plans, *queued_plans, *self._comparison.waiting]
        )
