"""The Data page's controller: what is open, and its statistics once the worker has computed them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.engine.data.summary import DatasetSummary, describe_fold
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.data.panel import DataPanel
from rankstudio.ui.data.statistics_panel import StatisticsPanel
from rankstudio.ui.model.session import Session
from rankstudio.ui.style.theme import Theme


class DataController(QObject):
    """Feeds the panels of the Data page, and turns a click on a fold into a look at it.

    Parameters
    ----------
    theme : Theme
    session : Session
    worker : Worker
        Where the statistics are computed.
    """

    failed = Signal(str)
    foldChosen = Signal()
    """The user chose a fold, and no longer follows the run."""

    def __init__(self, theme: Theme, session: Session, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._worker = session, worker
        self.panel = DataPanel(theme)
        self.statistics = StatisticsPanel(theme)
        self.panel.foldChosen.connect(self._choose)
        session.datasetChanged.connect(self._show)
        session.foldChanged.connect(self._look)
        session.planChanged.connect(self._show_convention)

    def turn(self, by: int) -> None:
        """Look at the next fold (1) or the one before (-1)."""
        dataset = self._session.dataset
        if dataset is not None:
            numbers = [fold.number for fold in dataset.folds]
            position = numbers.index(self._session.fold) if self._session.fold in numbers else -1
            self._choose(numbers[(position + by) % len(numbers)])

    @Slot()
    def _show(self) -> None:
        if self._session.dataset is not None:
            self.panel.show_dataset(self._session.dataset)
            self._show_convention()

    @Slot()
    def _show_convention(self) -> None:
        if self._session.dataset is not None:
            plan = self._session.plan
            self.panel.set_convention(plan.convention, scaled=plan.normalize != "none")

    @Slot()
    def _look(self) -> None:
        dataset, fold = self._session.dataset, self._session.fold
        if dataset is None:
            return
        self.panel.set_fold(fold)
        self._show_statistics()
        if self.panel.has_summary(fold) or not self._session.has_documents:
            return

        def handle(summary: DatasetSummary) -> None:
            if self._session.dataset is dataset:
                self.panel.show_summary(fold, summary)
                self._show_statistics()

        what, failed = f"Describing {dataset.name}", self.failed.emit
        self._worker.task(what, describe_fold, dataset, fold, on_done=handle, on_error=failed)

    def _show_statistics(self) -> None:
        """Show the statistics of the fold that is looked at, where they are there."""
        dataset, summary, fold = self._session.dataset, self.panel.summary(), self._session.watched
        if dataset is None or summary is None:
            self.statistics.clear()
        else:
            what = f"{dataset.name}, {self.panel.described()}"
            self.statistics.show_summary(what, summary, fold.train if fold else None)

    @Slot(object)
    def _choose(self, fold: int | None) -> None:
        self.foldChosen.emit()
        self._session.look_at(fold)
