"""The seal on the test part: what was measured there is covered until it is broken, which is counted."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction

from rankstudio.engine.experiment.storage.seal import SealMark, is_sealed, seal_text
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.shell.status_bar import StatusBar


class SealController(Controller):
    """Seals the test part of the study, and breaks the seal; the study keeps when.

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
        self._models, self._action, self._status = models, action, status
        self._marks: tuple[SealMark, ...] = ()
        self._unwritten: list[SealMark] = []
        action.setCheckable(True)
        action.toggled.connect(self._mark)
        models.runs.storageBegan.connect(self._write)

    @Slot(object)
    def show_marks(self, marks: tuple[SealMark, ...]) -> None:
        """Take over what another study says."""
        self._marks, self._unwritten = marks, []
        self._show()

    @Slot(bool)
    def _mark(self, sealed: bool) -> None:
        mark = SealMark.now(sealed=sealed)
        self._marks = (*self._marks, mark)
        self._unwritten.append(mark)
        self._show()
        self._write()

    def _show(self) -> None:
        sealed = is_sealed(self._marks)
        self._action.blockSignals(True)
        self._action.setChecked(sealed)
        self._action.blockSignals(False)
        self._models.session.seal(sealed)
        self._status.show_seal(seal_text(self._marks))

    @Slot()
    def _write(self) -> None:
        """Store what was clicked; without a study, in the one that the next run begins."""
        study, marks = self._models.study_store.study, self._unwritten
        if study is None or not marks:
            return
        self._unwritten = []

        def write() -> None:
            for mark in marks:
                study.note_seal(mark)

        self._models.task_worker.task(tr("Noting the seal"), write, on_error=self.failed.emit)
