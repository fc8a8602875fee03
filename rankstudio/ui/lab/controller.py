"""The Lab page's controller: its tabs, of which one is seen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QTabBar

from rankstudio.ui.lab.tabs import AucTab, SelectionTab, SimulationTab
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller, ShownPlot, ShownTable
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import named


class LabController(Controller):
    """The tabs of the Lab page.

    Parameters
    ----------
    theme : Theme
    models : Models
        On whose data it is simulated.

    Attributes
    ----------
    tabChosen : Signal(int)
        Number of the tab that is seen now.
    tabs : QTabBar
    auc : AucTab
    selection : SelectionTab
    """

    tabChosen = Signal(int)

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        session, worker = models.session, models.task_worker
        self.auc, self.selection = AucTab(theme, worker, self), SelectionTab(theme, session, worker, self)
        self.tabs = named(QTabBar(), "lab-tabs", tr("simulations"))
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.addTab(tr("AUC estimates"))
        self.tabs.addTab(tr("My data"))
        self.tabs.currentChanged.connect(self.tabChosen)
        self.tabs.currentChanged.connect(self.update)
        for tab in (self.auc, self.selection):
            tab.failed.connect(self.failed)

    @property
    def tab(self) -> SimulationTab:
        """The tab that is seen."""
        return self.selection if self.tabs.currentIndex() else self.auc

    @Slot()
    def update(self) -> None:
        """Bring the tab that comes to be seen up to date."""
        self.tab.update()

    def plots(self) -> tuple[ShownPlot, ...]:
        """Return the plots that are seen."""
        auc, own = self.auc, self.selection
        every = (
            ShownPlot("lab-auc", tr("Deviations of AUC estimates"), auc.deviations.plot),
            ShownPlot("lab-bias", tr("Bias of AUC estimates"), auc.variation.bias),
            ShownPlot("lab-sd", tr("Standard deviation of AUC estimates"), auc.variation.sd),
            ShownPlot("lab-selection", tr("Deviations of estimates on these data"), own.deviations.plot),
            ShownPlot("lab-selection-bias", tr("Bias of estimates on these data"), own.variation.bias),
            ShownPlot(
                "lab-selection-sd", tr("Standard deviation of estimates on these data"), own.variation.sd
            ),
        )
        return tuple(shown for shown in every if shown.plot.isVisible())

    def tables(self) -> tuple[ShownTable, ...]:
        """Return the table that is seen."""
        label, about = tr("Deviations by estimator"), tr("Mean and standard deviation of each estimator.")
        table = self.tab.deviations.table
        return (ShownTable("lab-deviations", label, about, table),) if table.isVisible() else ()

    def code(self) -> dict[str, str] | None:
        """Return a command and a program, by suffix, that simulate again what is seen.

        {} where nothing was simulated, and None where the page is not seen.
        """
        request, progress = self.tab.request, self.tab.progress
        if not self.tab.form.isVisible():
            return None
        return request.as_code(progress) if request is not None and progress is not None else {}
