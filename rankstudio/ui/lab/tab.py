"""What both tabs of the Lab page share: a form, a simulation, and the deviations that it brings."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from rankstudio.ui.background.simulation import BackgroundSimulation
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.lab.deviations_panel import DeviationsPanel
from rankstudio.ui.lab.form import LabForm
from rankstudio.ui.process.turns import turns


class SimulationTab(QObject):
    """Simulates what a form asks for, and shows how it grows while it is seen.

    Parameters
    ----------
    worker : Worker
        Carries the simulation out.
    what : str
        "Simulating estimates": the beginning of the sentence that tells of a failure.
    form : LabForm
    deviations : DeviationsPanel

    Attributes
    ----------
    failed : Signal(str)
    simulation : BackgroundSimulation
    """

    failed = Signal(str)

    def __init__(
        self,
        worker: Worker,
        what: str,
        form: LabForm,
        deviations: DeviationsPanel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.form, self.deviations = form, deviations
        self.simulation = BackgroundSimulation(worker, what, form.objectName(), self)
        form.startAsked.connect(self.start)
        form.pauseAsked.connect(self.simulation.toggle_pause)
        form.stopAsked.connect(self.simulation.stop)
        self.simulation.grew.connect(self._grow)
        self.simulation.changed.connect(self.update)
        self.simulation.failed.connect(self.failed)

    @Slot()
    def start(self) -> None:
        """Simulate what the form asks for, from the beginning; subclasses say what that is."""
        raise NotImplementedError

    def keep(self, found: object) -> None:
        """Keep what the simulation brought."""
        raise NotImplementedError

    def show_found(self) -> None:
        """Show what was kept."""
        raise NotImplementedError

    @Slot()
    def update(self) -> None:
        """Show what was found where it is seen, in a turn of the event loop of its own."""
        turns().ask(self._show)

    @Slot(object)
    def _grow(self, found: object) -> None:
        self.keep(found)
        self.update()

    def _show(self) -> None:
        if self.deviations.isVisible():
            self.show_found()
