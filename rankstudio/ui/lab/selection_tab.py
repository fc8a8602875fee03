"""The tab of the open data: estimates of a selection from few queries, with all others as the truth."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.errors import ParameterError
from rankstudio.ui.background.simulation import SimulationState
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.lab.captions import selection_caption
from rankstudio.ui.lab.deviations_panel import DeviationsPanel
from rankstudio.ui.lab.estimators import SELECTION
from rankstudio.ui.lab.form import LabForm
from rankstudio.ui.lab.lab_tasks import SelectionRequest, check_selection, selection_steps
from rankstudio.ui.lab.parameters import SELECTION_PARAMETERS
from rankstudio.ui.lab.tab import SimulationTab
from rankstudio.ui.language import tr
from rankstudio.ui.model.session import Session
from rankstudio.ui.style.theme import Theme

if TYPE_CHECKING:
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary


class SelectionTab(SimulationTab):
    """Estimates of a selection on queries that are drawn from the open data.

    Parameters
    ----------
    theme : Theme
    session : Session
    worker : Worker
    """

    def __init__(self, theme: Theme, session: Session, worker: Worker, parent: QObject | None = None) -> None:
        caption = tr("greedy RankRLS")
        form = LabForm(
            theme, "lab-selection-form", tr("Simulation"), caption, SELECTION_PARAMETERS, varies=False
        )
        deviations = DeviationsPanel(
            theme,
            "lab-selection",
            SELECTION,
            tr("estimated minus true measure"),
            tr(
                "Press Start: queries are drawn from the open data, features selected from them, and how far "
                "each estimate is from the measure on all other queries grows here."
            ),
            stacked=True,
            paired=True,
        )
        self._session = session
        self._request: SelectionRequest | None = None
        self._found: DeviationSummary | None = None
        super().__init__(worker, tr("Simulating estimates of a selection"), form, deviations, parent)

    @property
    def found(self) -> DeviationSummary | None:
        """The deviations so far."""
        return self._found

    @Slot()
    def start(self) -> None:
        """Simulate what the form asks for on the data that are open, from the beginning."""
        dataset = self._session.dataset
        if dataset is None or not self.form.commit():
            return
        if not self._session.has_documents:
            self.failed.emit(tr("The documents of these data are not at hand: open the data first."))
            return
        values = {**self.form.values(), "convention": self._session.convention}
        request = SelectionRequest(dataset, self._session.sealed, values)
        try:
            check_selection(request)
        except ParameterError as error:
            self.form.refuse(error)
            return
        self._request, self._found = request, None
        self.deviations.plot.set_x_label(
            tr("estimated minus true {measure}").format(measure=values["measure"])
        )
        self.simulation.start(partial(selection_steps, request))

    def keep(self, found: DeviationSummary) -> None:  # type: ignore[override] # that is what its steps are
        """Keep how far it is."""
        self._found = found

    def show_found(self) -> None:
        """Show the distributions."""
        found, request = self._found, self._request
        share, said, caption = 0.0, "", ""
        if found is not None and request is not None:
            share = found.done / found.asked
            self.deviations.plot.caption = selection_caption(request, found.done)
            if self.simulation.state is not SimulationState.DONE:
                said = tr("{done:,} of {asked:,} repetitions").format(done=found.done, asked=found.asked)
            caption = tr(
                "{data} · {n} queries, drawn {done:,} times · true {measure} {truth:.3f} ± {sd:.3f}"
            ).format(
                data=request.dataset.name,
                n=request.parameters["n_queries"],
                done=found.done,
                measure=request.parameters["measure"],
                truth=found.truth,
                sd=found.truth_sd,
            )
        self.form.show_state(self.simulation.state, share, said)
        self.deviations.show_summary(found, caption)
