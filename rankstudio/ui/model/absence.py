"""Why something is not shown: nobody asked for it yet, it is being worked on, or it is impossible."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.experiment.results.events import Event, RunStarted, UnitFinished
from rankstudio.ui.background.loader import Loader
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session

_OPENING = tr("Opening the data …")
_COMPUTING = tr("Computing the path …")


class Absence(QObject):
    """Returns the text of an empty panel, one for each of the three states.

    Parameters
    ----------
    session : Session
    runs : Runs
    current : CurrentModel
    loader : Loader
    """

    changed = Signal()
    """A text may be another one now."""

    def __init__(
        self,
        session: Session,
        runs: Runs,
        current: CurrentModel,
        loader: Loader,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._runs, self._current, self._loader = session, runs, current, loader
        for signal in (loader.started, loader.ended, runs.shownChanged, runs.changed, runs.ended):
            signal.connect(self.changed)
        runs.eventNoted.connect(self._note)

    def documents(self, impossible: str) -> str:
        """Return what to say where there are no documents: that they are read, else ``impossible``."""
        return _OPENING if self._loader.busy else impossible

    def model(self, nothing: str) -> str:
        """Return what to say where no model is: what works on it, why there is none, else ``nothing``."""
        return _COMPUTING if self._current.computing else self.run(nothing)

    def run(self, nothing: str) -> str:
        """Return what to say where a run has shown nothing: how far it is, why it ended, else ``nothing``."""
        record = self._current.shown.record
        if record is None:
            return nothing
        text = _state_text(record, self._session.fold)
        return text.format(run=record.key, done=record.units_done, n=record.n_units) or nothing

    def any_run(self, nothing: str) -> str:
        """Return what to say where no run has a result: how far the one that works is, else ``nothing``."""
        record = self._runs.current
        if record is None:
            return nothing
        return _state_text(record, None).format(run=record.key, done=record.units_done, n=record.n_units)

    @Slot(object, object)
    def _note(self, _: RunRecord, event: Event) -> None:
        if isinstance(event, RunStarted | UnitFinished):
            self.changed.emit()


def _state_text(record: RunRecord, fold: int | None) -> str:
    """Return a sentence with placeholders; "" for a run that is done and has the fold."""
    match record.state:
        case RunState.QUEUED:
            return tr("Run {run} is waiting for its turn.")
        case RunState.PAUSED:
            return tr("Run {run} is paused at {done} of {n} fits. Press Resume to continue.")
        case RunState.RUNNING:
            started = tr("Run {run} is in progress: {done} of {n} fits are done.")
            return started if record.n_units else tr("Run {run} is starting …")
        case RunState.FAILED:
            return tr("Run {run} failed before this fold was finished.")
        case RunState.CANCELLED | RunState.UNFINISHED:
            return tr("Run {run} was stopped before this fold was finished.")
        case _:
            left_out = record.plan.folds and fold is not None and fold not in record.plan.folds
            return tr("Run {run} does not include this fold. Choose another fold.") if left_out else ""
