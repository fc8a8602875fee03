"""Controllers of the measurement of runs: measure, convention, selection by the measure, and the seal."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QWidget

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.experiment.storage.study_contents import (
    SealMark,
    is_sealed,
    n_looks,
)
from rankstudio.engine.metrics.conventions import convention, rules_text
from rankstudio.engine.metrics.names import measure
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.shell.actions import Actions
from rankstudio.ui.shell.menus import Menus
from rankstudio.ui.shell.status_bar import StatusBar


class MeasurementController(Controller):
    """Carries out the menu commands on measures and conventions.

    Parameters
    ----------
    models : Models
    menus : Menus
        The menus with the choices of measures and conventions.
    commands : Actions
    status : StatusBar
    parent : QWidget
        Widget over which the question for a measure opens.
    """

    fileNamed = Signal(str)
    """The user wants to add the measures of a Python file (its path)."""

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

        # While this command is checked, the shown measure selects the
        # model of each run.
        choose_action = commands["choose_by"]
        choose_action.setCheckable(True)
        choose_action.toggled.connect(self._select_by_measure)
        menus.measureAsked.connect(self.ask_measure)
        menus.conventionChosen.connect(self.measure_by_convention)
        models.measured.failed.connect(self.failed)
        self.seal = SealController(models, commands["seal"], status, self)
        self.seal.failed.connect(self.failed)

    @Slot()
    def ask_measure(self) -> None:
        """Ask the user for the name of a measure, and show the measure.

        If the answer is the path of a Python file, emit `fileNamed`
        with the path instead; if it is no measure, emit `failed` with
        the reason.
        """
        question = tr(
            "Any measure with its k, such as NDCG@20, P@3 or Recall@50, or a Python file with one:"
        )
        text, accepted = QInputDialog.getText(
            self._window, tr("Measure"), question, text="NDCG@20"
        )
        if not accepted:
            return

        # The answer "/my/measures.py" names a file. Anything after
        # ".py" is ignored; `suffix` is "" if the answer has no ".py".
        path, suffix, _ = text.strip().partition(".py")
        if suffix:
            self.fileNamed.emit(path + suffix)
            return
        try:
            self._session.show_measure(measure(text).name)
        except ParameterError as error:
            self.failed.emit(str(error))

    @Slot(str)
    def measure_by_convention(self, key: str) -> None:
        """Measure the shown run by another convention; without a shown run, change the plan's convention.

        ``key`` names a convention: a set of rules of measures, such as
        how documents without a label count.
        """
        # A run of other data than the open ones does not count as shown.
        record = self._models.runs.shown
        if record is None or record.dataset is not self._session.dataset:
            self._session.change(
                tr("the convention {label}").format(label=convention(key).label),
                convention=key,
            )
        else:
            self._session.measure_by_convention(key)

    @Slot(bool)
    def _select_by_measure(self, chooses: bool) -> None:
        """Show of each run the model that the current measure selects, if ``chooses``.

        Otherwise, show the model that each run has selected itself. A
        message says by what the shown models are selected.
        """
        self._session.select_by_measure(chooses)
        if not chooses:
            self.said.emit(tr("Each run shows the model that it selected"))
            return
        name = self._session.measure

        # The message names the measure and the rules (the convention)
        # by which it counts.
        measure_text = f"{name}, {rules_text(self._session.convention, [name])},"
        self.said.emit(
            tr("Each run shows the model with the best validation {by}").format(
                by=measure_text
            )
        )


class SealController(Controller):
    """Seals the test part of the open data, and breaks the seal.

    The study stores the times of sealing and breaking.

    Parameters
    ----------
    models : Models
    action : QAction
        Checked while the test part is sealed.
    status : StatusBar
        Shows whether the test part is sealed.
    """

    def __init__(
        self, models: Models, action: QAction, status: StatusBar, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._action = action
        self._status = status
        self._session = models.session

        # A sealed test part is hidden until the user breaks the seal.
        # Each sealing and unsealing is a mark, which a study stores
        # with its time. A study begins with the first run; marks wait
        # for it here.
        self._unwritten_marks: list[SealMark] = []
        action.setCheckable(True)
        action.toggled.connect(self._session.seal)
        self._session.unsealAsked.connect(lambda: self._session.seal(False))
        self._session.sealMarked.connect(self._note)
        self._session.sealChanged.connect(self._show)
        models.runs.storageBegan.connect(self.write)

        # There is no study yet: all test parts are sealed.
        self.show_marks(None)

    @Slot(object)
    def show_marks(self, marks: tuple[SealMark, ...] | None) -> None:
        """Take over the seal marks of another study, the times when test parts were sealed or unsealed.

        In a new study (None), all test parts are sealed.
        """
        self._unwritten_marks = [SealMark.now(sealed=True)] if marks is None else []
        self._session.take_seal_marks(self._unwritten_marks if marks is None else marks)

    @Slot(object)
    def _note(self, mark: SealMark) -> None:
        """Take up a new seal mark, and store it if there is a study."""
        self._unwritten_marks.append(mark)
        self.write()

    @Slot()
    def _show(self) -> None:
        """Show in the menu and in the status bar whether the test part is sealed."""
        # setChecked emits `toggled` as a click does, but only the user
        # may break a seal.
        self._action.blockSignals(True)
        self._action.setChecked(self._session.sealed)
        self._action.blockSignals(False)
        self._status.show_seal(
            _seal_text(self._session.seal_marks, self._session.dataset)
        )

    @Slot()
    def write(self) -> None:
        """Store new seal marks in the study.

        The marks are the times of sealing and unsealing. Without a
        study, wait for the study that the next run begins.
        """
        # The list is replaced, not emptied, as the worker thread reads it meanwhile.
        study = self._models.study_store.study
        marks = self._unwritten_marks
        if study is None or not marks:
            return
        self._unwritten_marks = []

        def write() -> None:
            """Write `marks` to `study`, on a thread of the worker."""
            for mark in marks:
                study.note_seal(mark)

        self._models.task_worker.task(
            tr("Saving whether the test part is sealed"),
            write,
            on_error=self.failed.emit,
        )


def _seal_text(marks: Sequence[SealMark], dataset: FoldedDataset | None) -> str:
    """Return the text of the status bar: whether the test part is sealed, and how often it was shown.

    ``marks`` are the sealings and unsealings of the study, of all its
    datasets. ``dataset`` is the open dataset. Return "" if its test
    part was never sealed.
    """
    if dataset is not None and all(fold.test is None for fold in dataset.folds):
        return tr("no test part")
    n = n_looks(marks, dataset)  # how often the seal was broken
    if not is_sealed(marks, dataset):
        return (
            trn("test part shown once", "test part shown {n} times", n).format(n=n)
            if n
            else ""
        )
    if not n:
        return tr("test part sealed")
    text = trn(
        "test part sealed, shown once before",
        "test part sealed, shown {n} times before",
        n,
    )
    return text.format(n=n)
