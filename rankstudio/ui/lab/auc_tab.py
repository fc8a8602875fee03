"""The tab of simulated AUC estimates: one set of values in detail, then one quantity varied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from rankstudio.ui.background.worker import Worker
from rankstudio.ui.lab.captions import auc_caption
from rankstudio.ui.lab.deviations_panel import DeviationsPanel
from rankstudio.ui.lab.estimators import AUC
from rankstudio.ui.lab.form import LabForm
from rankstudio.ui.lab.request import SimulationRequest
from rankstudio.ui.lab.tab import SimulationTab
from rankstudio.ui.lab.variation_panel import VariationPanel
from rankstudio.ui.language import tr
from rankstudio.ui.style.theme import Theme

if TYPE_CHECKING:
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary


class AucTab(SimulationTab):
    """Estimates of AUC on drawn training sets.

    Parameters
    ----------
    theme : Theme
    worker : Worker
    """

    def __init__(self, theme: Theme, worker: Worker, parent: QObject | None = None) -> None:
        form = LabForm(theme, "lab-auc-form", tr("Simulation"), tr("two normal classes"), "auc")
        deviations = DeviationsPanel(
            theme,
            "lab-auc",
            AUC,
            tr("estimated minus true AUC"),
            tr("Press Start: how far each estimator of AUC is from the truth grows here."),
        )
        variation = VariationPanel(theme, "lab", AUC)
        super().__init__(worker, tr("Simulating estimates of AUC"), form, deviations, variation, parent)

    def caption(self, request: SimulationRequest, found: DeviationSummary) -> tuple[str, str]:
        """Return what stands above the distributions, and what goes with them as a figure."""
        said = tr("{done:,} training sets · true AUC {truth:.3f} ± {sd:.3f}").format(
            done=found.done, truth=found.truth, sd=found.truth_sd
        )
        return said, auc_caption(request, found.done)
