"""How finished runs are measured: measure, convention, who chooses, and whether the test part is covered."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QInputDialog, QWidget

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.metrics.names import measure
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.shell.actions import Actions
from rankstudio.ui.shell.menus import Menus
from rankstudio.ui.shell.seal import SealController
from rankstudio.ui.shell.status_bar import StatusBar


class MeasurementController(Controller):
    """Carries out what the menus say about measures.

    Parameters
    ----------
    models : Models
    menus : Menus
    commands : Actions
    status : StatusBar
    parent : QWidget
        Over which a question opens.
    """

    def __init__(
        self,
        models: Models,
        menus: Menus,
        commands: Actions,
        status: StatusBar,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._models, self._session, self._window = models, models.session, parent
        self._choosing = commands["choose_by"]
        self._choosing.setCheckable(True)
        self._choosing.toggled.connect(self._let_choose)
        menus.measureAsked.connect(self.ask_measure)
        menus.conventionChosen.connect(self.look_by)
        models.measured.failed.connect(self.failed)
        self.seal = SealController(models, commands["seal"], status, self)
        self.seal.failed.connect(self.failed)

    @Slot()
    def ask_measure(self) -> None:
        """Ask for the name of a measure, and show it."""
        question = tr("Any measure with its k, such as NDCG@20, P@3 or Recall@50:")
        text, meant = QInputDialog.getText(self._window, tr("Measure"), question, text="NDCG@20")
        if not meant:
            return
        try:
            self._session.show_measure(measure(text).name)
        except ParameterError as error:
            self.failed.emit(str(error))

    @Slot(str)
    def look_by(self, key: str) -> None:
        """Look at the runs by another convention; before there is one, measure the plan by it."""
        record = self._models.runs.shown
        if record is None or record.dataset is not self._session.dataset:
            self._session.change(
                tr("the convention {label}").format(label=convention(key).label), convention=key
            )
        else:
            self._session.look_by(key)

    @Slot(bool)
    def _let_choose(self, chooses: bool) -> None:
        self._session.select_by_measure(chooses)
        by = f"{self._session.measure}, {convention(self._session.convention).label},"
        self.said.emit(
            tr("The validation's {by} chooses the model of every run now").format(by=by)
            if chooses
            else tr("The models are those that the runs themselves chose")
        )
