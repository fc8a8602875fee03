"""The Lab page's controller: simulates what the forms ask for, and shows how it grows while it is seen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QTabBar

from rankstudio.engine.errors import ParameterError
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.lab.deviations_panel import DeviationsPanel
from rankstudio.ui.lab.estimators import AUC
from rankstudio.ui.lab.form import LabForm, named_error
from rankstudio.ui.lab.lab_tasks import AucProgress, AucRequest, auc_steps, check_auc
from rankstudio.ui.lab.parameters import AUC_PARAMETERS
from rankstudio.ui.lab.sentences import QUANTITIES, value_text
from rankstudio.ui.lab.simulation import Simulation
from rankstudio.ui.lab.variation_panel import VariationPanel
from rankstudio.ui.language import tr
from rankstudio.ui.plots import Plot
from rankstudio.ui.process.turns import turns
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import TableView
from rankstudio.ui.widgets.layout import named

if TYPE_CHECKING:
    from rankstudio.engine.analysis.simulation.summary import DeviationSummary
    from rankstudio.engine.analysis.simulation.variation import VariedDeviations


class AucController(QObject):
    """Simulated estimates of AUC: one set of values in detail, then one quantity varied.

    Parameters
    ----------
    theme : Theme
    worker : Worker
        Carries the simulation out.
    """

    failed = Signal(str)

    def __init__(self, theme: Theme, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        caption = tr("two normal classes")
        self.form = LabForm(theme, "lab-auc-form", tr("Simulation"), caption, AUC_PARAMETERS, varies=True)
        self.deviations = DeviationsPanel(
            theme,
            "lab-auc",
            AUC,
            tr("estimated minus true AUC"),
            tr("Press Start: how far each estimator of AUC is from the truth grows here."),
        )
        self.variation = VariationPanel(theme)
        self.simulation = Simulation(worker, tr("Simulating estimates of AUC"), "lab-auc", self)
        self._request: AucRequest | None = None
        self._done: AucProgress | None = None
        self.form.startAsked.connect(self.start)
        self.form.pauseAsked.connect(self.simulation.toggle_pause)
        self.form.stopAsked.connect(self.simulation.stop)
        self.simulation.grew.connect(self._receive)
        self.simulation.changed.connect(self.update)
        self.simulation.failed.connect(self.failed)

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
            self.form.refuse(named_error(error, request.parameters, "n_examples"), str(error))
            return
        self._request, self._done = request, None
        self.simulation.start(partial(auc_steps, request))

    @Slot()
    def update(self) -> None:
        """Show what was found where it is seen, in a turn of the event loop of its own."""
        turns().ask(self._show)

    @Slot(object)
    def _receive(self, done: AucProgress) -> None:
        self._done = done
        self.update()

    def _show(self) -> None:
        if not self.form.isVisible():
            return
        request, done = self._request, self._done
        share = request.share(done) if request is not None and done is not None else 0.0
        self.form.show_state(self.simulation.state, share, _progress(done))
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
        quantity=QUANTITIES[quantity],
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


class LabController(QObject):
    """The tabs of the Lab page.

    Parameters
    ----------
    theme : Theme
    worker : Worker
        Carries the simulations out.

    Attributes
    ----------
    tabs : QTabBar
    auc : AucController
    """

    failed = Signal(str)

    def __init__(self, theme: Theme, worker: Worker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.auc = AucController(theme, worker, self)
        self.tabs = named(QTabBar(), "lab-tabs", tr("simulations"))
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.addTab(tr("AUC estimates"))
        self.auc.failed.connect(self.failed)

    @Slot()
    def update(self) -> None:
        """Bring a page that comes to be seen up to date."""
        self.auc.update()

    def plots(self) -> dict[str, tuple[str, Plot]]:
        """Return the plots that are seen, by their keys, with what they are called."""
        every: dict[str, tuple[str, Plot]] = {
            "lab-auc": (tr("Deviations of AUC estimates"), self.auc.deviations.plot),
            "lab-bias": (tr("Bias of AUC estimates"), self.auc.variation.bias),
            "lab-sd": (tr("Standard deviation of AUC estimates"), self.auc.variation.sd),
        }
        return {key: (label, plot) for key, (label, plot) in every.items() if plot.isVisible()}

    def tables(self) -> tuple[tuple[str, str, str, TableView], ...]:
        """Return the tables that are seen: key, label, a sentence on what is in it, the table."""
        label, about = tr("Deviations by estimator"), tr("Mean and standard deviation of each estimator.")
        every = (("lab-auc-table", label, about, self.auc.deviations.table),)
        return tuple(entry for entry in every if entry[-1].isVisible())
