"""The tab of simulated AUC estimates: one set of values in detail, then one quantity varied."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.errors import ParameterError
from rankstudio.ui.background.simulation import SimulationState
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.lab.captions import auc_caption, variation_caption
from rankstudio.ui.lab.deviations_panel import DeviationsPanel
from rankstudio.ui.lab.estimators import AUC
from rankstudio.ui.lab.form import LabForm
from rankstudio.ui.lab.lab_tasks import AucProgress, AucRequest, auc_steps, check_auc
from rankstudio.ui.lab.parameters import AUC_PARAMETERS, SHORT
from rankstudio.ui.lab.sentences import QUANTITIES, value_text
from rankstudio.ui.lab.tab import SimulationTab
from rankstudio.ui.lab.variation_panel import VariationPanel
from rankstudio.ui.language import tr
from rankstudio.ui.style.theme import Theme

if TYPE_CHECKING:
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary
    from rankstudio.engine.analysis.simulation.variation import VariedDeviations


class AucTab(SimulationTab):
    """Estimates of AUC on drawn training sets.

    Parameters
    ----------
    theme : Theme
    worker : Worker
    """

    def __init__(self, theme: Theme, worker: Worker, parent: QObject | None = None) -> None:
        caption = tr("two normal classes")
        form = LabForm(theme, "lab-auc-form", tr("Simulation"), caption, AUC_PARAMETERS, varies=True)
        deviations = DeviationsPanel(
            theme,
            "lab-auc",
            AUC,
            tr("estimated minus true AUC"),
            tr("Press Start: how far each estimator of AUC is from the truth grows here."),
        )
        self.variation = VariationPanel(theme)
        self._request: AucRequest | None = None
        self._done: AucProgress | None = None
        super().__init__(worker, tr("Simulating estimates of AUC"), form, deviations, parent)

    @property
    def found(self) -> DeviationSummary | None:
        """The deviations so far."""
        return self._done.found if self._done is not None else None

    @property
    def varied(self) -> VariedDeviations | None:
        """Those of the varied quantity so far."""
        return self._done.varied if self._done is not None else None

    @Slot()
    def start(self) -> None:
        """Simulate what the form asks for, from the beginning."""
        if not self.form.commit():
            return
        request = AucRequest(self.form.values(), *self.form.varied())
        try:
            check_auc(request)
        except ParameterError as error:
            self.form.refuse(error)
            return
        self._request, self._done = request, None
        self.simulation.start(partial(auc_steps, request))

    def keep(self, found: object) -> None:
        """Keep how far it is."""
        assert isinstance(found, AucProgress)
        self._done = found

    def show_found(self) -> None:
        """Show the distributions, and what the varied quantity brought."""
        request, done, state = self._request, self._done, self.simulation.state
        share = request.share(done) if request is not None and done is not None else 0.0
        self.form.show_state(state, share, "" if state is SimulationState.DONE else _progress(done))
        if request is not None and done is not None:
            self.deviations.plot.caption = auc_caption(request, done.found.done)
            self.variation.bias.caption = self.variation.sd.caption = variation_caption(request)
        self.deviations.show_summary(self.found, _caption(self.found))
        self.variation.show_values(self.varied, _varied_caption(self.varied))


def _progress(done: AucProgress | None) -> str:
    """Say which repetition it is."""
    if done is None:
        return ""
    if done.varied is None:
        return tr("{done:,} of {asked:,} repetitions").format(done=done.found.done, asked=done.found.asked)
    last, quantity = done.varied.summaries[-1], done.varied.quantity
    return tr("{quantity} = {value}: {done:,} of {asked:,}").format(
        quantity=SHORT[quantity],
        value=value_text(quantity, done.varied.values[-1]),
        done=last.done,
        asked=last.asked,
    )


def _varied_caption(varied: VariedDeviations | None) -> str:
    if varied is None:
        return ""
    return tr("{n} of {of} values of {quantity}, bands of 2 standard errors").format(
        n=len(varied.values), of=len(varied.asked), quantity=QUANTITIES[varied.quantity]
    )


def _caption(found: DeviationSummary | None) -> str:
    if found is None:
        return ""
    return tr("{done:,} training sets · true AUC {truth:.3f} ± {sd:.3f}").format(
        done=found.done, truth=found.truth, sd=found.truth_sd
    )
