"""Opening data: a job on the worker."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.ui.background.tasks import load
from rankstudio.ui.background.worker import Ending, Job, Outcome, Worker
from rankstudio.ui.language import tr

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import RecordedData


class Loader(QObject):
    """Opens one file or folder at a time; a new request takes the place of the one under way.

    Parameters
    ----------
    worker : Worker
        Reads the data on its thread.
    names : Path, optional
        Folder of the user's names for the features of datasets.
    """

    started = Signal(str)
    """A dataset is being opened (its name)."""
    progressed = Signal(float)
    """Share of the data that is read, 0 to 1."""
    opened = Signal(object, str, object)
    """Data were opened (FoldedDataset, the requested path, and the Plan to go on with or None)."""
    refused = Signal(str, object, object)
    """Data could not be opened (path, Plan to open them with, Outcome); the previous data stay open."""
    ended = Signal()
    """Opening has ended: it succeeded, failed or was cancelled."""

    def __init__(
        self, worker: Worker, names: Path | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._worker = worker
        self._names = names
        self._job: Job | None = None

    @property
    def busy(self) -> bool:
        """Whether something is being opened."""
        return self._job is not None

    def open(self, path: str, reading_plan: Plan, plan: Plan | None = None) -> None:
        """Open a file, a folder or ``"sample"``.

        Parameters
        ----------
        path : str
        reading_plan : Plan
            Plan that determines how the data are read and divided.
        plan : Plan, optional
            Plan to go on with once the data are open.
        """
        self.fetch(
            path, reading_plan, lambda dataset: self.opened.emit(dataset, path, plan)
        )

    def fetch(
        self,
        path: str,
        reading_plan: Plan,
        handle: Callable[[FoldedDataset], None],
        end: Callable[[Outcome], None] | None = None,
        recorded: RecordedData | None = None,
    ) -> Job:
        """Open data for a caller that does not listen to `opened`; return the job, which can be cancelled.

        Parameters
        ----------
        path : str
        reading_plan : Plan
            Plan that determines how the data are read and divided.
        handle : callable
            Called on the GUI thread with the opened dataset.
        end : callable, optional
            Called with the outcome, also of success; then `refused` is not emitted.
        recorded : RecordedData, optional
            Record that the data have to agree with; other data are refused.
        """
        if self._job is not None:
            self._job.abandon()

        # The root of a disk has no name.
        name = tr("the sample") if path == SAMPLE else Path(path).name or path

        def deliver(message: float | FoldedDataset) -> None:
            """Emit the share that is read, 0 to 1, or pass the dataset, which comes last, to `handle`."""
            if isinstance(message, float):
                self.progressed.emit(message)
            else:
                handle(message)

        def finish(outcome: Outcome) -> None:
            """Report how opening has ended: by `end` of the caller, else by `refused`.

            ``outcome`` says how the job that opens the data has ended.
            The signal `refused` is emitted only if the job failed, with
            the path and the plan of the request and with the outcome.
            """
            self._job = None
            self.ended.emit()
            if end is not None:
                end(outcome)
            elif outcome.ending is Ending.FAILED:
                self.refused.emit(path, reading_plan, outcome)

        work = load(path, reading_plan, recorded, self._names)
        self._job = Job(
            tr("Opening {name}").format(name=name),
            work,
            on_message=deliver,
            on_end=finish,
        )
        self.started.emit(name)
        return self._worker.submit(self._job)

    @Slot()
    def cancel(self) -> None:
        """Stop opening."""
        if self._job is not None:
            self._job.cancel()
