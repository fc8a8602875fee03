"""The tab of the open data: estimates of a learner on few queries, with all others as the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from rankstudio.engine.analysis.simulation.simulation import Simulation, without_test
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.lab.captions import selection_caption
from rankstudio.ui.lab.deviations_panel import DeviationsPanel
from rankstudio.ui.lab.estimators import SELECTION, of_learner
from rankstudio.ui.lab.form import LabForm
from rankstudio.ui.lab.request import SimulationRequest
from rankstudio.ui.lab.tab import SimulationTab
from rankstudio.ui.lab.variation_panel import VariationPanel
from rankstudio.ui.language import tr
from rankstudio.ui.model.session import Session
from rankstudio.ui.style.theme import Theme

if TYPE_CHECKING:
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary


class SelectionTab(SimulationTab):
    """Estimates of a learner on queries that are drawn from the open data.

    Parameters
    ----------
    theme : Theme
    session : Session
    worker : Worker
    """

    def __init__(self, theme: Theme, session: Session, worker: Worker, parent: QObject | None = None) -> None:
        form = LabForm(theme, "lab-selection-form", tr("Simulation"), tr("queries drawn"), "selection")
        deviations = DeviationsPanel(
            theme,
            "lab-selection",
            SELECTION,
            tr("estimated minus true measure"),
            tr(
                "Press Start: queries are drawn from the open data, a ranking is learned from them, and how "
                "far each estimate is from the measure on all other queries grows here."
            ),
            paired=True,
        )
        variation = VariationPanel(theme, "lab-selection", SELECTION, paired=True)
        self._session = session
        super().__init__(worker, tr("Simulating estimates on data"), form, deviations, variation, parent)

    def requested(self, simulation: Simulation) -> SimulationRequest | None:
        """Return what is to be done with the data that are open; None where there are none at hand."""
        dataset, session = self._session.dataset, self._session
        if dataset is None:
            return None
        if not session.has_documents:
            self.failed.emit(tr("The documents of these data are not at hand: open the data first."))
            return None
        asked = {**simulation.parameters, "convention": session.convention}
        whole = not session.sealed or len(dataset.folds) > 1
        drawn_from = dataset if whole else without_test(dataset)
        return SimulationRequest(replace(simulation, parameters=asked), drawn_from, session.plan, whole)

    def caption(self, request: SimulationRequest, found: DeviationSummary) -> tuple[str, str]:
        """Return what stands above the distributions, and what goes with them as a figure."""
        asked, dataset = request.simulation.parameters, request.dataset
        assert dataset is not None  # it was requested with it
        self.deviations.texts = self.variation.texts = of_learner(asked["kernel"])
        axis = tr("estimated minus true {measure}").format(measure=asked["measure"])
        if axis != self.deviations.plot.axes.x_label:
            self.deviations.plot.set_x_label(axis)
        said = tr(
            "{data} · {n} queries, drawn {done:,} times · true {measure} {truth:.3f} ± {sd:.3f}"
        ).format(
            data=dataset.name,
            n=asked["n_queries"],
            done=found.done,
            measure=asked["measure"],
            truth=found.truth,
            sd=found.truth_sd,
        )
        return said, selection_caption(request, found.done)
