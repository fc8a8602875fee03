"""The Results page: keeps the table of runs up to date, and turns what the user does into choices."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.ui.background.worker import Worker
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import Session
from rankstudio.ui.results.panel import ResultsPanel
from rankstudio.ui.results.runs_panel import run_row
from rankstudio.ui.results.view_feeder import ViewFeeder
from rankstudio.ui.style.theme import Theme


class ResultsController(QObject):
    """Feeds the table of runs. Progress is shown when :meth:`refresh` is called, not at every event.

    Parameters
    ----------
    theme : Theme
    session : Session
        Goes back to the plan of a run that is looked at again.
    runs : Runs
    worker : Worker
        For tests and the like.

    Attributes
    ----------
    views : ResultsPanel
    panel : RunsPanel
        The table of runs, one of the views.
    """

    removalAsked = Signal(object)
    """A run is not wanted any more (RunRecord)."""
    goOnAsked = Signal(object)
    """A run is to go on where it was left (RunRecord)."""
    failed = Signal(str)
    foldChosen = Signal()
    """The user looks at another fold."""
    inspected = Signal(int)
    """The user looks at a feature (its id)."""

    def __init__(
        self, theme: Theme, session: Session, runs: Runs, worker: Worker, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._runs = session, runs
        self._old: dict[int, RunRecord] = {}
        self.views = ResultsPanel(theme)
        self.panel = self.views.runs
        self._feeder = ViewFeeder(session, runs, worker, self.views, self)
        self._feeder.failed.connect(self.failed)
        self.views.folds.foldChosen.connect(self._look_at)
        self.views.front.picked.connect(self._pick)
        self.views.stability.inspected.connect(self.inspected)
        self.panel.selected.connect(self._select)
        self.panel.removed.connect(lambda key: self.removalAsked.emit(runs.record(key)))
        self.panel.cancelRequested.connect(lambda key: runs.stop(runs.record(key)))
        self.panel.goOnRequested.connect(lambda key: self.goOnAsked.emit(runs.record(key)))
        runs.added.connect(self._note)
        runs.changed.connect(self._note)
        runs.eventNoted.connect(self._note)
        runs.ended.connect(self._show)
        runs.removed.connect(self._forget)
        runs.cleared.connect(self._forget_all)
        runs.shownChanged.connect(self._mark)

    def refresh(self) -> None:
        """Show what has changed since the last time."""
        for record in self._old.values():
            self.panel.update_run(record.key, run_row(record))
        if self._old:
            self._mark()
        self._old.clear()
        self._feeder.update()

    @Slot(object)
    def _note(self, record: RunRecord) -> None:
        if record.key not in self._old and not any(row.key == record.key for row in self.panel.rows()):
            self.panel.add_run(run_row(record))
        self._old[record.key] = record

    @Slot(object)
    def _show(self, record: RunRecord) -> None:
        self._old.pop(record.key, None)
        self.panel.update_run(record.key, run_row(record))

    @Slot(int)
    def _forget(self, key: int) -> None:
        self._old.pop(key, None)
        self.panel.remove_run(key)

    @Slot()
    def _forget_all(self) -> None:
        self._old.clear()
        self.panel.remove_all()

    @Slot()
    def _mark(self) -> None:
        self.panel.mark(self._runs.shown.key if self._runs.shown else None)

    @Slot(int)
    def _select(self, key: int) -> None:
        record = self._runs.record(key)
        if record.dataset is self._session.dataset:
            self._session.go_back_to(record.plan, f"going to run {key}")
        else:
            self._session.open(record.dataset, record.plan.data, record.plan)
        self._runs.show(record)

    @Slot(int)
    def _look_at(self, fold: int) -> None:
        self.foldChosen.emit()
        self._session.look_at(fold)

    @Slot(int, object, int)
    def _pick(self, key: int, values: tuple[float, ...], step: int) -> None:
        """Make a model of a run the current one, as a click on its curve does."""
        if self._runs.shown is None or self._runs.shown.key != key:
            self._select(key)
        self._session.select(values, step)
