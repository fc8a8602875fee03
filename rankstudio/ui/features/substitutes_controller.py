"""The controller of the panel of substitutes: has them found for the current model, while it is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from rankstudio.engine.analysis.features.selection_matrix import selection_matrix
from rankstudio.ui.background.tasks import FoldCache
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.features.substitutes_panel import NO_MODEL, SubstitutesPanel
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.selected_model import CurrentModel
from rankstudio.ui.model.session import Session
from rankstudio.ui.plots.maps.feature_map import ColumnGroup
from rankstudio.ui.style.theme import Theme

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.substitutes import Substitutes
    from rankstudio.engine.arrays import Floats

_SETTLED_MILLISECONDS = 150  # without another model, before its substitutes are looked for

_EVERY_FOLD = tr(
    "Every fold has selected its own features: look at one fold to see what could stand for them."
)
_LOOKING = tr("Substitutes are being looked for.")
_NO_DOCUMENTS = tr(
    "The documents are not at hand: open the data again to see what could stand for a feature."
)


class SubstitutesController(QObject):
    """Feeds the panel of substitutes.

    Parameters
    ----------
    theme : Theme
    session, runs, current
        What is shown.
    worker, fold_cache
        Where substitutes are found.
    """

    failed = Signal(str)

    def __init__(
        self,
        theme: Theme,
        session: Session,
        runs: Runs,
        current: CurrentModel,
        worker: Worker,
        fold_cache: FoldCache,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._session, self._runs, self._current = session, runs, current
        self._worker, self._fold_cache = worker, fold_cache
        self._shown: tuple[object, ...] = ()
        self._shown_runs: tuple[object, ...] = ()
        self.panel = SubstitutesPanel(theme)
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(_SETTLED_MILLISECONDS)
        self._settled.timeout.connect(self.update)
        for signal in (current.changed, session.foldChanged, session.datasetChanged):
            signal.connect(self._settled.start)
        for signal in (runs.ended, runs.removed, runs.cleared, runs.added):
            signal.connect(self.refresh)

    @Slot(int)
    def mark(self, feature: int) -> None:
        """Mark the row of the feature that is inspected."""
        self.panel.plot.mark_feature(feature)

    @Slot()
    def update(self) -> None:
        """Have the current model's substitutes found, where the panel is seen and shows another one's."""
        if not self.panel.isVisible():
            return
        self.refresh()
        model, dataset = self._current.model, self._session.dataset
        if model is None or dataset is None or not self._session.has_documents:
            self._shown = ()
            self.panel.clear(self._why_none())
            return
        wanted = (model.step, model.fold)
        if wanted == self._shown:
            return
        if not self._shown:
            self.panel.clear(_LOOKING)
        self._shown = wanted
        ids, names, groups = dataset.feature_ids, dataset.feature_names, model.plan.groups

        def show(found: Substitutes) -> None:
            if self._shown == wanted:
                self.panel.show_substitutes(found, ids, names, groups)

        self._worker.task(
            tr("Looking for substitutes"),
            self._fold_cache.substitutes,
            model.plan,
            model.fold,
            model.path,
            model.position,
            on_done=show,
            on_error=self.failed.emit,
            slot="substitutes",
        )

    @Slot()
    def refresh(self) -> None:
        """Show what the runs selected on the folds that they have finished, where the panel is seen."""
        dataset = self._session.dataset
        if not self.panel.isVisible() or dataset is None:
            return
        everything = dataset.n_features
        records = [
            record
            for record in self._runs.records
            if record.dataset is dataset
            and any(len(fold.selected) < everything for fold in record.folds.values())
        ]
        folds = [(record, record.folds[number]) for record in records for number in sorted(record.folds)]
        wanted = tuple(fold for _, fold in folds)
        if wanted == self._shown_runs:
            return
        self._shown_runs = wanted
        groups = [ColumnGroup(tr("run {key}").format(key=r.key), r.key - 1, len(r.folds)) for r in records]
        numbers = [fold.fold for fold in wanted]

        def show(ranks: Floats) -> None:
            if self._shown_runs == wanted:
                self.panel.show_runs(ranks, numbers, groups)

        self._worker.task(
            tr("Comparing what runs selected"),
            selection_matrix,
            wanted,
            dataset.feature_ids,
            on_done=show,
            on_error=self.failed.emit,
            slot="selection-matrix",
        )

    def _why_none(self) -> str:
        dataset = self._session.dataset
        if dataset is None or self._current.model is None:
            return _EVERY_FOLD if dataset is not None and self._session.fold is None else NO_MODEL
        return _NO_DOCUMENTS
