"""The study as a file, with all that belongs to it: its runs, their data, and going on with them."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.ui.controllers.open import Opening
from rankstudio.ui.controllers.resplit import Dividing
from rankstudio.ui.controllers.restore_runs import Reopening
from rankstudio.ui.controllers.study_files import Studies
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.shell.sections import Places
from rankstudio.ui.widgets import Notice


class Keeping(QObject):
    """Studies, the data of their runs and the division of the data, wired to what shows them.

    Parameters
    ----------
    models, places, opening, settings
    notice : Notice
        Offers to go on with a run that was left unfinished.
    parent : QWidget
        Over which dialogs open.
    """

    changed = Signal()
    """Runs are kept in another file."""
    said = Signal(str)
    warned = Signal(str)
    failed = Signal(str)

    def __init__(
        self,
        models: Models,
        places: Places,
        opening: Opening,
        settings: Settings,
        notice: Notice,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        study, runs, loader = models.study, models.runs, models.loader
        self._runs, self._notice = runs, notice
        self.reopening = Reopening(study, runs, loader, models.desk, self)
        self.studies = Studies(models, self.reopening, settings, parent)
        self.dividing = Dividing(study, runs, loader, self)
        for part in (self.reopening, self.studies, self.dividing):
            part.failed.connect(self.failed)
        self.studies.warned.connect(self.warned)
        self.studies.said.connect(self.said)
        self.studies.changed.connect(self.changed)
        self.studies.left.connect(self._offer)
        self.dividing.failed.connect(places.method.refuse_division)
        self.dividing.divided.connect(notice.dismiss)
        opening.studyAsked.connect(self.studies.open)
        opening.opened.connect(self._recognise)
        places.results.goOnAsked.connect(self.reopening.go_on)

    @Slot()
    def go_on(self) -> None:
        """Go on with the run that is shown."""
        self.reopening.go_on(self._runs.shown)

    @Slot()
    def _recognise(self) -> None:
        """See which runs of the study were computed on the data that were opened."""
        self.reopening.recognise(lambda: None)

    @Slot(object)
    def _offer(self, record: RunRecord) -> None:
        """Say that a run was left unfinished, with a button that goes on with it."""

        def go_on() -> None:
            self._notice.dismiss()
            self.reopening.go_on(record)

        text = f"{record.plan.title} on {record.dataset.name} was left at {record.units_text}."
        self._notice.say(text, "info", "Continue", go_on)
