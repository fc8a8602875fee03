"""The controller of the panel of substitutes: has them found for the current model, while it is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.analysis.selection_stability import selection_matrix
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.features.substitutes_panel import NO_MODEL, SubstitutesPanel
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.page.controller import Controller, ShownPlot
from rankstudio.ui.plots.maps.feature_map import ColumnGroup
from rankstudio.ui.style.theme import Theme

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.substitutes import Substitutes
    from rankstudio.engine.arrays import Floats

_SETTLED_MILLISECONDS = 150  # without another model, before its substitutes are looked for

_EVERY_FOLD = tr("Each fold has its own features. Choose a single fold to see their substitutes.")
_LOOKING = tr("Computing substitutes …")
_NO_DOCUMENTS = tr("Open the data to see substitutes of the selected features.")


class SubstitutesController(Controller):
    """Feeds the panel of substitutes.

    Parameters
    ----------
    theme : Theme
    models : Models
        What is shown, and where substitutes are found.
    """

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        session, runs, current = models.session, models.runs, models.current
        worker = models.task_worker
        self._session, self._runs, self._current = session, runs, current
        self._fold_cache, self._absence = models.fold_cache, models.absence
        self.panel = SubstitutesPanel(theme)
        self._substitutes = OnDemand(
            worker,
            self._model_key,
            self._find,
            slot="substitutes",
            panel=self.panel,
            on=(current.changed, session.foldChanged, session.datasetChanged, models.absence.changed),
            clear=lambda: self.panel.clear(self._why_none()),
            settled=_SETTLED_MILLISECONDS,
            parent=self,
        )
        self._selections = OnDemand(
            worker,
            self._runs_key,
            self._compare,
            slot="selection-matrix",
            panel=self.panel,
            on=(session.datasetChanged, runs.ended, runs.removed, runs.cleared, runs.added),
            parent=self,
        )
        for demand in (self._substitutes, self._selections):
            demand.failed.connect(self.failed)

    @Slot(int)
    def mark(self, feature: int) -> None:
        """Mark the row of the feature that is inspected."""
        self.panel.plot.mark_feature(feature)

    @Slot()
    def update(self) -> None:
        """Have the current model's substitutes found, where the panel is seen and shows another one's."""
        self.refresh()
        self._substitutes.update()

    @Slot()
    def refresh(self) -> None:
        """Show what the runs selected on the folds that they have finished, where the panel is seen."""
        self._selections.update()

    def plots(self) -> tuple[ShownPlot, ...]:
        """Return the map, where the panel is seen."""
        plot = self.panel.plot
        return (ShownPlot("substitutes", tr("Map of features"), plot),) if self.panel.isVisible() else ()

    def _model_key(self) -> Key | None:
        model, there = self._current.model, self._session.has_documents
        return None if model is None or not there else (model.step, model.fold)

    def _find(self) -> Computation | None:
        model, dataset = self._current.model, self._session.dataset
        if model is None or dataset is None:
            return None
        if not self.panel.shows_substitutes:
            self.panel.clear(_LOOKING)
        ids, names, groups = dataset.feature_ids, dataset.feature_names, model.plan.groups

        def show(found: Substitutes) -> None:
            self.panel.show_substitutes(found, ids, names, groups)

        given = model.plan, model.fold, model.path, model.position
        return computation(tr("Computing substitutes"), show, self._fold_cache.substitutes, *given)

    def _records(self) -> list[RunRecord]:
        """Return the runs of the open data that selected among their features on a fold at least."""
        dataset = self._session.dataset
        everything = dataset.n_features if dataset is not None else 0
        return [
            record
            for record in self._runs.records
            if record.dataset is dataset
            and any(len(fold.selected) < everything for fold in record.folds.values())
        ]

    def _runs_key(self) -> Key | None:
        if self._session.dataset is None:
            return None
        return tuple(fold for record in self._records() for _, fold in sorted(record.folds.items()))

    def _compare(self) -> Computation | None:
        dataset, records = self._session.dataset, self._records()
        if dataset is None:
            return None
        folds = [fold for record in records for _, fold in sorted(record.folds.items())]
        groups = [ColumnGroup(tr("run {key}").format(key=r.key), r.key - 1, len(r.folds)) for r in records]

        def show(ranks: Floats) -> None:
            self.panel.show_runs(ranks, [fold.fold for fold in folds], groups)

        what = tr("Comparing the selections of runs")
        return computation(what, show, selection_matrix, folds, dataset.feature_ids)

    def _why_none(self) -> str:
        dataset = self._session.dataset
        if dataset is None or self._current.model is None:
            everything = dataset is not None and self._session.fold is None
            return _EVERY_FOLD if everything else self._absence.model(NO_MODEL)
        return self._absence.documents(_NO_DOCUMENTS)
