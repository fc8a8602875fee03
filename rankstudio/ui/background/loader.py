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
    names : Path, optional
        Folder of what the user calls the features of some data.
    """

    started = Signal(str)
    """Data begin to be opened: their name."""
    progressed = Signal(float)
    """Share that is read, 0 to 1."""
    opened = Signal(object, str, object)
    """The FoldedDataset, the path it was asked for by, and the Plan to go on with or None."""
    refused = Signal(str, object, object)
    """Data were not opened: path, the Plan to open them with, and the Outcome; open data stay open."""
    ended = Signal()
    """It is opened, failed or cancelled."""

    def __init__(self, worker: Worker, names: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._names = names
        self._job: Job | None = None

    @property
    def busy(self) -> bool:
        """Whether something is being opened."""
        return self._job is not None

    def open(self, path: str, options: Plan, plan: Plan | None = None) -> None:
        """Open a file, a folder or ``"sample"``.

        Parameters
        ----------
        path : str
        options : Plan
            Says what becomes of missing values, and whether to normalise.
        plan : Plan, optional
            To go on with, once the data are there.
        """
        self.fetch(path, options, lambda dataset: self.opened.emit(dataset, path, plan))

    def fetch(
        self,
        path: str,
        options: Plan,
        handle: Callable[[FoldedDataset], None],
        end: Callable[[Outcome], None] | None = None,
        recorded: RecordedData | None = None,
    ) -> Job:
        """Open data for a caller that does not listen to `opened`; return the job, which can be cancelled.

        Parameters
        ----------
        path : str
        options : Plan
            As for :meth:`open`.
        handle : callable
            Called with the data.
        end : callable, optional
            Called at the end, in place of `refused`.
        recorded : RecordedData, optional
            What they have to be; other data are refused.
        """
        if self._job is not None:
            self._job.abandon()
        name = tr("the sample") if path == SAMPLE else Path(path).name or path

        def deliver(message: float | FoldedDataset) -> None:
            if isinstance(message, float):
                self.progressed.emit(message)
            else:
                handle(message)

        def finish(outcome: Outcome) -> None:
            self._job = None
            self.ended.emit()
            if end is not None:
                end(outcome)
            elif outcome.ending is Ending.FAILED:
                self.refused.emit(path, options, outcome)

        work = load(path, options, recorded, self._names)
        self._job = Job(tr("Opening {name}").format(name=name), work, on_message=deliver, on_end=finish)
        self.started.emit(name)
        return self._worker.submit(self._job)

    @Slot()
    def cancel(self) -> None:
        """Stop opening."""
        if self._job is not None:
            self._job.cancel()
