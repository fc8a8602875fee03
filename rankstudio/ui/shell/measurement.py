"""How finished runs are measured: measure, convention, who chooses, and whether the test part is covered."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QWidget

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.storage.study_contents import SealMark, is_sealed, n_looks
from rankstudio.engine.metrics.conventions import convention, rules_text
from rankstudio.engine.metrics.names import measure
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.shell.actions import Actions
from rankstudio.ui.shell.menus import Menus
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

    fileNamed = Signal(str)
    """The user wants the measures of a Python file (its path)."""

    def __init__(
        self,
        models: Models,
        menus: Menus,
        commands: Actions,
        status: StatusBar,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._session = models.session
        self._window = parent
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
        question = tr("Any measure with its k, such as NDCG@20, P@3 or Recall@50, or a Python file with one:")
        text, accepted = QInputDialog.getText(self._window, tr("Measure"), question, text="NDCG@20")
        if not accepted:
            return
        path, ending, _ = text.strip().partition(".py")
        if ending:
            self.fileNamed.emit(path + ending)
            return
        try:
            self._session.show_measure(measure(text).name)
        except ParameterError as error:
            self.failed.emit(str(error))

    @Slot(str)
    def look_by(self, key: str) -> None:
        """Measure the runs by another convention; before there is one, measure the plan by it."""
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
        name = self._session.measure
        measure_text = f"{name}, {rules_text(self._session.convention, [name])},"
        self.said.emit(
            tr("Each run shows the model with the best validation {by}").format(by=measure_text)
            if chooses
            else tr("Each run shows the model that it selected")
        )


class SealController(Controller):
    """Seals the test part of the open data, and breaks the seal; the study keeps when.

    Parameters
    ----------
    models : Models
    action : QAction
        Checked while it is sealed.
    status : StatusBar
        Says how it is.
    """

    def __init__(self, models: Models, action: QAction, status: StatusBar, parent: QObject) -> None:
        super().__init__(parent)
        self._models = models
        self._action = action
        self._status = status
        self._session = models.session
        self._unwritten: list[SealMark] = []
        action.setCheckable(True)
        action.toggled.connect(self._session.seal)
        self._session.unsealAsked.connect(lambda: self._session.seal(False))
        self._session.sealMarked.connect(self._note)
        self._session.sealChanged.connect(self._show)
        models.runs.storageBegan.connect(self.write)
        self.show_marks(None)

    @Slot(object)
    def show_marks(self, marks: tuple[SealMark, ...] | None) -> None:
        """Take over what another study says; a new one (None) begins with all test parts sealed."""
        self._unwritten = [SealMark.now(sealed=True)] if marks is None else []
        self._session.take_seal_marks(self._unwritten if marks is None else marks)

    @Slot(object)
    def _note(self, mark: SealMark) -> None:
        self._unwritten.append(mark)
        self.write()

    @Slot()
    def _show(self) -> None:
        # Qt tells of a check mark whoever set it; the user alone breaks a seal.
        self._action.blockSignals(True)
        self._action.setChecked(self._session.sealed)
        self._action.blockSignals(False)
        self._status.show_seal(_seal_text(self._session.seal_marks, self._session.dataset))

    @Slot()
    def write(self) -> None:
        """Store the seal marks that were clicked; without a study, in the one that the next run begins."""
        study = self._models.study_store.study
        marks = self._unwritten
        if study is None or not marks:
            return
        self._unwritten = []

        def write() -> None:
            for mark in marks:
                study.note_seal(mark)

        self._models.task_worker.task(
            tr("Saving whether the test part is sealed"), write, on_error=self.failed.emit
        )


def _seal_text(marks: Sequence[SealMark], dataset: FoldedDataset | None) -> str:
    if dataset is not None and all(fold.test is None for fold in dataset.folds):
        return tr("no test part")
    looks = n_looks(marks, dataset)
    if not is_sealed(marks, dataset):
        return (
            trn("test part shown once", "test part shown {n} times", looks).format(n=looks) if looks else ""
        )
    if not looks:
        return tr("test part sealed")
    text = trn("test part sealed, shown once before", "test part sealed, shown {n} times before", looks)
    return text.format(n=looks)
