"""Divides the data into other folds when the protocol of the plan changes."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.background.loader import Loader
from rankstudio.ui.background.worker import Ending, Job, Outcome
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.session import Session, reading
from rankstudio.ui.page.controller import Controller


class ResplitController(Controller):
    """Reads the data again, on the worker, when the plan asks for other folds than the open data have.

    No plan can be run until the data are read, nor if they cannot be
    divided as the plan says.

    Parameters
    ----------
    session : Session
        Contains the plan and the open data.
    runs : Runs
        Runs, whose data are used again if they have the folds that the plan asks for.
    loader : Loader
        Reads the data.
    """

    divided = Signal()
    """The open data now have the folds that the plan asks for."""

    def __init__(
        self,
        session: Session,
        runs: Runs,
        loader: Loader,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._runs = runs
        self._loader = loader

        # What `reading` returns of a plan: how its data are read and
        # divided. A job reads the data so now, or has failed to. None
        # without such a job.
        self._requested_reading: tuple[object, ...] | None = None
        self._job: Job | None = None
        session.planChanged.connect(self._follow)

    @Slot()
    def _follow(self) -> None:
        """Make the open data fit the plan: have them read and divided as the plan says.

        If a run has a dataset that was read so, it is used; else the
        data are read again in the background.
        """
        session = self._session
        plan = self._session.plan
        planned_reading = reading(plan)  # how its data are read and divided
        if not session.has_documents:
            return
        if session.data_match_plan:
            # The plan was changed back before the data were read again,
            # or after they could not be divided.
            if self._requested_reading is not None:
                self._requested_reading = None
                if self._job is not None:
                    self._job.cancel()
                self.divided.emit()
            return

        # A job reads the data so, or has failed to, which is not tried again.
        if planned_reading == self._requested_reading:
            return
        dataset_of_run = self._dataset_of_run(plan)
        if dataset_of_run is not None:
            self._requested_reading = None
            session.exchange(dataset_of_run, plan)
            self.divided.emit()
            return
        self._requested_reading = planned_reading

        # By the time the data are read, the plan may be another one.
        def handle(dataset: FoldedDataset) -> None:
            """Open the dataset that was read in the session, unless the plan asks for another one now.

            The data were read and divided as the plan said when they
            were requested.
            """
            if (
                reading(session.plan) == planned_reading
                and session.plan.data == plan.data
            ):
                session.exchange(dataset, plan)

        self._job = self._loader.fetch(plan.data, plan, handle, self._end)

    def _dataset_of_run(self, plan: Plan) -> FoldedDataset | None:
        """Return the dataset of a run that was read and divided as ``plan`` says; None without one."""
        for record in self._runs.records:
            run_plan = record.plan
            is_same_reading = (run_plan.data, *reading(run_plan)) == (
                plan.data,
                *reading(plan),
            )

            # A run that only has a record of its data has no documents.
            if record.recorded is None and is_same_reading:
                return record.dataset
        return None

    def _end(self, outcome: Outcome) -> None:
        """Emit `divided` if the data have the folds of the plan now, or `failed` with the reason."""
        self._job = None
        if outcome.ending is Ending.DONE:
            self._requested_reading = None
            self.divided.emit()
        elif (
            outcome.ending is Ending.FAILED
        ):  # the request stays, so that it is not repeated
            self.failed.emit(outcome.text)
