"""The tabs of the Lab page: each has the form of a simulation, and panels of its results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.errors import ParameterError
from rankstudio.plugins.lab.simulation.simulation import (
    Simulation,
    SimulationProgress,
    without_test,
)
from rankstudio.plugins.lab.window.deviations_panel import DeviationsPanel
from rankstudio.plugins.lab.window.estimators import AUC, SELECTION, of_learner
from rankstudio.plugins.lab.window.form import LabForm
from rankstudio.plugins.lab.window.request import SHORT, SimulationRequest
from rankstudio.plugins.lab.window.sentences import (
    QUANTITIES,
    auc_caption,
    selection_caption,
    value_text,
    variation_caption,
)
from rankstudio.plugins.lab.window.variation_panel import VariationPanel
from rankstudio.ui.background.simulation import BackgroundSimulation, SimulationState
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.export.items import code_items
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.session import Session
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.page.export_item import ExportItem
from rankstudio.ui.page.page import Splitter, column, row
from rankstudio.ui.page.tabs import PageTabs, Tab
from rankstudio.ui.process.turns import turns
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme

if TYPE_CHECKING:
    from rankstudio.plugins.lab.simulation.deviations import (
        DeviationSummary,
        VariedDeviations,
    )


class SimulationTab(Controller):
    """Runs the simulation of a form, and shows its progress while it is visible.

    Parameters
    ----------
    worker : Worker
        Worker that runs the simulation.
    activity : str
        Beginning of the sentence about a failure: "Simulating estimates".
    form : LabForm
    deviations : DeviationsPanel
    variation : VariationPanel

    Attributes
    ----------
    simulation : BackgroundSimulation
    request : SimulationRequest or None
        Request of the simulation that was started last.
    """

    def __init__(
        self,
        worker: Worker,
        activity: str,
        form: LabForm,
        deviations: DeviationsPanel,
        variation: VariationPanel,
        parent: QObject | None = None,
    ) -> None:
        """Connect the buttons of the form with the simulation."""
        super().__init__(parent)
        self.form = form
        self.deviations = deviations
        self.variation = variation

        # The simulation that was started last, and its results so far.
        # A new one replaces one that waits.
        self.request: SimulationRequest | None = None
        self.progress: SimulationProgress | None = None
        self.simulation = BackgroundSimulation(
            worker, activity, form.objectName(), self
        )
        form.start.clicked.connect(self.start)
        form.pause.clicked.connect(self.simulation.toggle_pause)
        form.stop.clicked.connect(self.simulation.stop)
        self.simulation.grew.connect(self._grow)
        self.simulation.changed.connect(self.update)
        self.simulation.failed.connect(self.failed)

        # the entry of the table in the list of exports
        about = tr("Mean and standard deviation of each estimator.")
        deviations.table.shared = Shared(
            "lab-deviations", tr("Deviations by estimator"), about
        )

    @property
    def summary(self) -> DeviationSummary | None:
        """The deviations so far."""
        return self.progress.summary if self.progress is not None else None

    @property
    def varied(self) -> VariedDeviations | None:
        """The deviations for the values of the varied quantity so far."""
        return self.progress.varied if self.progress is not None else None

    @Slot()
    def start(self) -> None:
        """Start the simulation of the form from the beginning, unless a value is invalid."""
        # False if a field has an invalid value; the focus is then on that field.
        if not self.form.commit():
            return

        # `varied` has the quantity, its values, and the repetitions of each.
        simulation = Simulation(self.form.kind, self.form.values(), *self.form.varied())

        # The simulation with its data; None if data are needed and not open.
        request = self.requested(simulation)
        if request is None:
            return
        try:
            request.simulation.check(request.dataset)
        except ParameterError as error:
            self.form.refuse(error)
            return
        self.request = request
        self.progress = None
        self.simulation.start(partial(request.simulation.steps, request.dataset))

    def requested(self, simulation: Simulation) -> SimulationRequest | None:
        """Return the request to run a simulation on the worker.

        If the simulation cannot run, show a message to the user and return None.
        """
        return SimulationRequest(simulation)

    def caption(
        self, request: SimulationRequest, summary: DeviationSummary
    ) -> tuple[str, str]:
        """Return the caption above the distributions, and the caption of their figure."""
        raise NotImplementedError

    def show_found(self) -> None:
        """Show the results so far: progress, distributions, and the effect of the varied quantity.

        Before the first result, the panels are empty.
        """
        request = self.request
        progress = self.progress
        state = self.simulation.state
        share = 0.0
        progress_text = ""
        deviations_caption = ""
        varied_caption = ""
        if request is not None and progress is not None:
            share = progress.done / request.simulation.n_repetitions
            progress_text = (
                "" if state is SimulationState.DONE else _progress_text(progress)
            )
            deviations_caption, self.deviations.plot.caption = self.caption(
                request, progress.summary
            )
            self.variation.set_figure_caption(variation_caption(request))
            varied_caption = _varied_caption(progress.varied)
        self.form.show_state(state, share, progress_text)
        self.deviations.show_summary(self.summary, deviations_caption)
        self.variation.show_values(self.varied, varied_caption)

    @Slot()
    def update(self) -> None:
        """Show the results, if visible, in a separate turn of the event loop."""
        turns().ask(self._show)

    @Slot(object)
    def _grow(self, progress: SimulationProgress) -> None:
        """Keep the current state of the simulation, and show it."""
        self.progress = progress
        self.update()

    def _show(self) -> None:
        """Show the results if the page is visible."""
        if self.form.isVisible():
            self.show_found()


def _progress_text(progress: SimulationProgress) -> str:
    """Return the text on the present repetition, and on the present value of the varied quantity if any."""
    summary = progress.summary
    varied = progress.varied
    if varied is None:
        return tr("{done:,} of {asked:,} repetitions").format(
            done=summary.done,
            asked=summary.n_repetitions,
        )
    last = varied.summaries[-1]
    quantity = varied.quantity
    return tr("{quantity} = {value}: {done:,} of {asked:,}").format(
        quantity=SHORT[quantity],
        value=value_text(quantity, varied.values[-1]),
        done=last.done,
        asked=last.n_repetitions,
    )


def _varied_caption(varied: VariedDeviations | None) -> str:
    """Return the caption of the curves over the varied quantity; "" without one."""
    if varied is None:
        return ""
    return tr("{n} of {of} values of {quantity}, bands of 2 standard errors").format(
        n=len(varied.values),
        of=len(varied.all_values),
        quantity=QUANTITIES[varied.quantity],
    )


class AucTab(SimulationTab):
    """The tab that simulates estimates of AUC on drawn training sets of two normal classes.

    Parameters
    ----------
    theme : Theme
    worker : Worker
    """

    def __init__(
        self, theme: Theme, worker: Worker, parent: QObject | None = None
    ) -> None:
        """Make the form and the two panels of results."""
        form = LabForm(
            theme, "lab-auc-form", tr("Simulation"), tr("two normal classes"), "auc"
        )
        deviations = DeviationsPanel(
            theme,
            "lab-auc",
            AUC,
            tr("estimated minus true AUC"),
            tr("Press Start to see how far each AUC estimator is from the truth."),
        )
        variation = VariationPanel(theme, "lab", AUC)
        super().__init__(
            worker, tr("Simulating AUC estimates"), form, deviations, variation, parent
        )

    def caption(
        self, request: SimulationRequest, summary: DeviationSummary
    ) -> tuple[str, str]:
        """Return the caption above the distributions, and the caption of their figure."""
        text = tr("{done:,} training sets · true AUC {truth:.3f} ± {sd:.3f}").format(
            done=summary.done, truth=summary.truth, sd=summary.truth_sd
        )
        return text, auc_caption(request, summary.done)


class SelectionTab(SimulationTab):
    """The tab that simulates estimates of a learner's performance on queries drawn from the open data.

    Parameters
    ----------
    theme : Theme
    session : Session
    worker : Worker
    """

    def __init__(
        self,
        theme: Theme,
        session: Session,
        worker: Worker,
        parent: QObject | None = None,
    ) -> None:
        """Make the form and the two panels of results."""
        form = LabForm(
            theme,
            "lab-selection-form",
            tr("Simulation"),
            tr("queries drawn"),
            "selection",
        )
        deviations = DeviationsPanel(
            theme,
            "lab-selection",
            SELECTION,
            tr("estimated minus true measure"),
            tr(
                "Press Start to draw training queries from the open data, learn a ranking from "
                "them, and compare each estimate with the measure on all other queries."
            ),
            paired=True,  # with a kernel, each estimator has a variant
        )
        variation = VariationPanel(theme, "lab-selection", SELECTION, paired=True)
        self._session = session
        super().__init__(
            worker,
            tr("Simulating estimates on data"),
            form,
            deviations,
            variation,
            parent,
        )

    def requested(self, simulation: Simulation) -> SimulationRequest | None:
        """Return the request for a simulation on the open data; None without data.

        If the data are without their documents, the user gets a message.
        """
        dataset = self._session.dataset
        session = self._session
        if dataset is None:
            return None
        if not session.has_documents:
            self.failed.emit(tr("Open the data first."))
            return None
        parameters = {**simulation.parameters, "convention": session.convention}

        # A sealed test part of a single fold must not be drawn from.
        includes_test = not session.sealed or len(dataset.folds) > 1
        return SimulationRequest(
            replace(simulation, parameters=parameters),
            dataset=dataset if includes_test else without_test(dataset),
            plan=session.plan,
            test=includes_test,
        )

    def caption(
        self, request: SimulationRequest, summary: DeviationSummary
    ) -> tuple[str, str]:
        """Return the caption above the distributions, and the caption of their figure.

        This method also sets the estimators' texts of both panels for
        the learner, and the measure on the axis.
        """
        parameters = request.simulation.parameters
        dataset = request.dataset
        assert dataset is not None  # requests of this tab have one
        self.deviations.texts = self.variation.texts = of_learner(parameters["kernel"])
        axis = tr("estimated minus true {measure}").format(
            measure=parameters["measure"]
        )
        if axis != self.deviations.plot.axes.x_label:
            self.deviations.plot.set_x_label(axis)
        text = tr(
            "{data} · {n} queries, drawn {done:,} times · true {measure} {truth:.3f} ± {sd:.3f}"
        ).format(
            data=dataset.name,
            n=parameters["n_queries"],
            done=summary.done,
            measure=parameters["measure"],
            truth=summary.truth,
            sd=summary.truth_sd,
        )
        return text, selection_caption(request, summary.done)


def _lay_out(name: str, tab: SimulationTab) -> Splitter:
    """Lay out a tab: the form at the left, the results at the right."""
    results = column(
        f"{name}-measured", (tab.deviations, 3, 375), (tab.variation, 2, 255)
    )
    return row(name, (tab.form, 0, 260), (results, 1, 920))


class LabController(Controller):
    """The Lab page: two tabs with simulations, on normal classes and on the open data.

    Parameters
    ----------
    theme : Theme
    models : Models
        Session with the open data, and the worker.

    Attributes
    ----------
    content : Splitter
        The contents of both tabs, of which one is visible.
    tabs, head : PageTabs
        The line of tabs above the contents.
    auc : AucTab
    selection : SelectionTab
    """

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        """Make both tabs, and the list of their plots for exports."""
        super().__init__(parent)
        session = models.session
        worker = models.task_worker
        self.auc = AucTab(theme, worker, self)
        self.selection = SelectionTab(theme, session, worker, self)
        self.panels = self.auc.form, self.selection.form

        # The page has one tab for each simulation, of an initial height
        # of 600 pixels.
        auc_content = _lay_out("lab-auc", self.auc)
        selection_content = _lay_out("lab-selection", self.selection)
        self.content = column(
            "lab-tabs-and-panels", (auc_content, 1, 600), (selection_content, 1, 600)
        )
        tabs = {
            "auc": Tab(tr("AUC estimates"), auc_content),
            "selection": Tab(tr("My data"), selection_content),
        }
        self.tabs = self.head = PageTabs("lab-tabs", tr("simulations"), tabs)
        self.tabs.chosen.connect(self.update)
        for tab in (self.auc, self.selection):
            tab.failed.connect(self.failed)

        # The entries of the plots in the list of exports.
        auc = self.auc
        selection = self.selection
        for plot, key, label in (
            (auc.deviations.plot, "lab-auc", tr("Deviations of AUC estimates")),
            (auc.variation.bias, "lab-bias", tr("Bias of AUC estimates")),
            (auc.variation.sd, "lab-sd", tr("Standard deviation of AUC estimates")),
            (
                selection.deviations.plot,
                "lab-selection",
                tr("Deviations of estimates on these data"),
            ),
            (
                selection.variation.bias,
                "lab-selection-bias",
                tr("Bias of estimates on these data"),
            ),
            (
                selection.variation.sd,
                "lab-selection-sd",
                tr("Standard deviation of estimates on these data"),
            ),
        ):
            plot.shared = Shared(key, label)

    @property
    def tab(self) -> SimulationTab:
        """The chosen tab."""
        return self.selection if self.tabs.key == "selection" else self.auc

    @Slot()
    def update(self) -> None:
        """Show the results of the chosen tab."""
        self.tab.update()

    def export_items(self) -> Iterator[ExportItem]:
        """Yield the visible simulation as a command and a program."""
        code = self.code()
        if code is not None:
            labels = {
                ".sh": tr("Simulation as a command"),
                ".py": tr("Simulation as Python"),
            }

            # The first text begins keys. "simulation" is the name of files.
            yield from code_items(
                "lab-code", labels, code, "simulation", tr("No simulation yet.")
            )

    def code(self) -> dict[str, str] | None:
        """Return a command and a program that repeat the visible simulation, by file suffix.

        The result is empty if nothing was simulated, and None if the
        page is hidden.
        """
        request = self.tab.request
        progress = self.tab.progress
        if not self.tab.form.isVisible():
            return None
        return (
            request.as_code(progress)
            if request is not None and progress is not None
            else {}
        )
