"""Feeds the densities of the Why panel: for methods that judge features by them, while the page is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.features.controller import FeaturesController
from rankstudio.ui.features.why_panel import WhyPanel
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller

if TYPE_CHECKING:
    from rankstudio.engine.analysis.features.compared_densities import ComparedDensities
    from rankstudio.engine.experiment.results.results import PathResult


class DensitiesController(Controller):
    """Has the densities of the inspected feature, and of the one beside it, estimated as the method did.

    Parameters
    ----------
    models : Models
    inspect : FeaturesController
        Which feature is looked at.
    panel : WhyPanel
        Where densities are offered and shown.
    """

    def __init__(
        self,
        models: Models,
        inspect: FeaturesController,
        panel: WhyPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        session, current, worker = models.session, models.current, models.task_worker
        self._session, self._current, self._inspect, self._panel = session, current, inspect, panel
        self._fold_cache = models.fold_cache
        self._other: int | None = None
        self._path: PathResult | None = None
        self._estimated = OnDemand(worker, self._key, self._estimate, slot="densities", parent=self)
        self._estimated.failed.connect(self.failed)
        panel.densities.otherChosen.connect(self._on_other)
        panel.densitiesAsked.connect(self.update)
        session.datasetChanged.connect(self._forget)
        current.changed.connect(self.update)
        inspect.inspected.connect(self.update)

    @Slot()
    def update(self) -> None:
        """Show the densities of the feature that is looked at, where somebody sees them."""
        if not self._inspect.path.isVisible():
            return
        model, dataset = self._current.model, self._session.dataset
        there = model is not None and model.plan.entry.compares_densities and self._session.has_documents
        self._panel.offer_densities(there)
        column = self._inspect.column
        if not self._panel.shows_densities or model is None or dataset is None or column is None:
            return
        if model.path is not self._path:
            self._path = model.path
            order = model.path.steps[-1].selected
            self._panel.densities.show_choices(order, dataset.feature_names, self._other)
        self._estimated.update()

    def _key(self) -> Key | None:
        model, column = self._current.model, self._inspect.column
        return None if model is None or column is None else (model.path, column, self._other)

    def _estimate(self) -> Computation | None:
        from rankstudio.engine.analysis.features.compared_densities import next_best  # noqa: PLC0415 - heavy

        model, column, dataset = self._current.model, self._inspect.column, self._session.dataset
        if model is None or column is None or dataset is None:
            return None
        other = self._other if self._other not in (None, column) else next_best(model.path, column)
        columns, names = [column] if other is None else [column, other], dataset.feature_names

        def show(found: tuple[ComparedDensities, ...]) -> None:
            self._panel.densities.show_densities(found, names)

        given = model.plan, model.fold, model.path, columns
        return computation(tr("Estimating densities"), show, self._fold_cache.densities, *given)

    @Slot(object)
    def _on_other(self, column: int | None) -> None:
        self._other = column
        self.update()

    @Slot()
    def _forget(self) -> None:
        self._other = self._path = None
        self._estimated.forget()
        self._panel.densities.clear()
