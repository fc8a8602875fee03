"""Removing a run: with a question, and an undo until the study is closed."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import Runs
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.session import LastingChange, Session
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.widgets import Notices, Question


class RunRemoval(Controller):
    """Removes runs from the list; the study marks them, and keeps what they found.

    Parameters
    ----------
    models : Models
    notice : Notices
        Offers to undo the removal.
    parent : QWidget
        Over which the question opens.
    """

    def __init__(self, models: Models, notice: Notices, parent: QWidget) -> None:
        super().__init__(parent)
        self._models, self._notice, self._window = models, notice, parent
        self._offer = ""
        models.runs.marked.connect(self._mark)
        models.runs.cleared.connect(self._forget)
        models.session.undo.indexChanged.connect(self._withdraw)

    @Slot(object)
    def ask(self, record: RunRecord) -> None:
        """Remove a run, if the user means it."""
        study = self._models.study_store.study
        if study is not None and study.read_only and record.stored is not None:
            self.failed.emit(
                tr("{path}: run {key} stays in the list, because this study is read-only.").format(
                    path=study.path, key=record.key
                )
            )
            return
        if record.state.ended:
            text = tr("Delete run {key}, {title} on {name}? You can undo this until the study is closed.")
        else:
            text = tr(
                "Stop and delete run {key}, {title} on {name}? You can undo this until the study is closed."
            )
        text = text.format(key=record.key, title=record.plan.title, name=record.dataset.name)
        if Question.ask(self._window, tr("Remove run"), text, tr("&Delete")):
            undo = self._models.session.undo
            undo.push(_Removal(self._models.session, self._models.runs, record))
            self._offer = tr("Run {key} is removed.").format(key=record.key)
            self._notice.say(self._offer, "info", tr("Undo"), undo.undo)

    @Slot()
    def _withdraw(self) -> None:
        """Offer no undo any more, which by now would take back something else."""
        if self._offer:
            self._notice.withdraw(self._offer)

    @Slot()
    def _forget(self) -> None:
        """Let nothing be undone any more that removed runs of a study that is closed."""
        undo = self._models.session.undo
        if any(isinstance(undo.command(i), _Removal) for i in range(undo.count())):
            undo.clear()

    @Slot(object, bool)
    def _mark(self, record: RunRecord, removed: bool) -> None:
        """Note in the study whether a run is removed."""
        store, key = self._models.study_store, record.stored
        if store.study is not None and key is not None:
            store.mark(store.study, key, removed)
            what = tr("{removed} run {key}").format(
                removed=tr("Removing") if removed else tr("Restoring"), key=record.key
            )
            self._models.task_worker.task(what, store.write_marks, on_error=self.failed.emit)


class _Removal(LastingChange):
    """One removed run."""

    def __init__(self, session: Session, runs: Runs, record: RunRecord, was_shown: bool = False) -> None:
        super().__init__(tr("removing run {key}").format(key=record.key))
        self._session, self._runs, self._record, self._was_shown = session, runs, record, was_shown

    def again(self) -> _Removal:
        return _Removal(self._session, self._runs, self._record, self._was_shown)

    def redo(self) -> None:
        if self._record in self._runs.records:
            self._was_shown = self._runs.shown is self._record
            self._runs.remove(self._record)

    def undo(self) -> None:
        self._runs.restore(self._record)
        if self._was_shown and self._record.dataset is self._session.dataset:
            self._runs.show(self._record)
