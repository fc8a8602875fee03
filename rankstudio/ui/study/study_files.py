"""The study as a file: a new one, another one, a copy elsewhere, and the one of the last time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from rankstudio.engine.errors import StudyInUseError
from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.ui.background.worker import CancelFlag, Ending, Job, JobFunction, Outcome
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.model.study_store import (
    READ_ONLY,
    READING_SAMPLE,
    SUFFIX,
    OpenedStudy,
    is_study,
    read_sample_run,
)
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.study.restore_runs import RunRestorer
from rankstudio.ui.widgets import Question

if TYPE_CHECKING:
    from rankstudio.engine.experiment.storage.study import Study
    from rankstudio.engine.experiment.storage.study_contents import SealMark

_READ_ONLY = tr(
    "this study is read-only. Its runs are shown, but new runs are lost when the window closes "
    "unless you save the study elsewhere."
)
_FILTER = tr("Studies (*{suffix})").format(suffix=SUFFIX)


class StudyFiles(Controller):
    """Keeps the list of runs and the open study's file together.

    Parameters
    ----------
    models : Models
    restorer : RunRestorer
        Shows a run of a study that was opened.
    settings : Settings
        Remembers the file.
    parent : QWidget
        Over which the dialogs open.
    """

    changed = Signal()
    """Runs are kept in another file."""
    sealRead = Signal(object)
    """Another study: when its test part was sealed and unsealed (a tuple of SealMark; None: a new study)."""
    left = Signal(object)
    """The last run of an opened study can be gone on with (RunRecord)."""
    warned = Signal(str)

    def __init__(self, models: Models, restorer: RunRestorer, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self._models = models
        self._restorer = restorer
        self._settings = settings
        self._study_store = models.study_store
        self._runs = models.runs
        self._window = parent
        self._warned_of_loss = False
        self._opening: Path | None = None
        self._runs.storageBegan.connect(self._note_file)
        self._runs.storageFailed.connect(self._warn_of_loss)

    @property
    def name(self) -> str:
        """The user's name of the study, "" where it has none."""
        path = self._study_store.path
        return path.stem if path is not None and not self._study_store.is_own(path) else ""

    @Slot()
    def new(self) -> None:
        """Begin a new study; the one before stays in its file."""
        before = self._study_store.path
        if self._may_leave(tr("Start a new study")):
            self._change_to(None)
            message = tr("New study; the previous study is in {before}") if before else tr("New study")
            self.said.emit(message.format(before=before))

    @Slot()
    def ask_open(self) -> None:
        """Ask for a study, and open it."""
        path, _ = QFileDialog.getOpenFileName(self._window, tr("Open study"), self._folder(), _FILTER)
        if path:
            self.open(path)

    @Slot(str)
    def open(self, path: str) -> None:
        """List the runs of a study, and keep runs in it from now on."""
        file = Path(path).resolve()
        if file == self._study_store.path:
            self.said.emit(tr("{name} is already open").format(name=file.name))
        elif file != self._opening and self._may_leave(tr("Open another study")):
            self.said.emit(tr("Opening {name} …").format(name=file.name))
            self._read(file, self._study_store.read(file), self._show_last)

    @Slot()
    def save(self) -> None:
        """Write the unsaved changes of the study, and say so; ask for a file where it has no name."""
        study = self._study_store.study
        if study is None or study.read_only or not self.name:
            self.ask_save_as()
            return
        saved = tr("All finished results are saved in {path}").format(path=study.path)
        self._models.task_worker.task(
            tr("Saving the study"),
            self._study_store.write_notes,
            on_done=lambda _: self.said.emit(saved),
            on_error=self.failed.emit,
        )

    @Slot()
    def ask_save_as(self) -> None:
        """Ask for a file, and go on with the study there."""
        name = self._study_store.path.name if self._study_store.path else f"study{SUFFIX}"
        start = str(Path(self._folder()) / name)
        path, _ = QFileDialog.getSaveFileName(self._window, tr("Save study as"), start, _FILTER)
        if path:
            self.save_as(path if is_study(path) else path + SUFFIX)

    def save_as(self, path: str) -> None:
        """Copy the study to a file, and go on there; a run that works goes on."""
        before = self._study_store.path

        def note(_: None) -> None:
            if self._study_store.is_own(before):
                self._settings.remove_recent(str(before))
            self._settings.add_recent(str(self._study_store.path))
            self._note_file()
            self._runs.allow(READ_ONLY)  # the copy can be written
            self.said.emit(tr("The study is in {path}").format(path=self._study_store.path))

        failed = self.failed.emit
        self._models.task_worker.task(
            tr("Saving the study"), self._study_store.save_as, Path(path), on_done=note, on_error=failed
        )

    def restore(self) -> None:
        """Open the study of the last time; one that another window has open is left to it."""
        path = self._settings.text("study/file")
        shown_id = self._settings.number("study/shown")
        if not path:
            return
        file = Path(path)

        def work(cancelled: CancelFlag) -> Iterator[object]:
            try:
                yield from self._study_store.read(file)(cancelled)
            except StudyInUseError:
                yield tr("The last study is open in another window; this window starts its own")

        self._read(file, work, lambda: self._show_restored(shown_id))

    def _read(self, file: Path, work: JobFunction, show: Callable[[], None]) -> None:
        """List the runs of a study as they come, and show one of them when all are there."""
        opened = False
        self._opening = file
        self._models.absence.read_runs(True)

        def recognised() -> None:
            self._models.absence.read_runs(False)
            show()

        def handle(message: object) -> None:
            nonlocal opened
            match message:
                case OpenedStudy():
                    opened = True
                    self._change_to(message.study, message.last_id, message.seal_marks)
                    self._settings.add_recent(str(file))
                    n = message.n_runs
                    text = trn("{name} is open: {n} run", "{name} is open: {n} runs", n)
                    self.said.emit(text.format(name=file.name, n=n))
                    if message.study.read_only:
                        self._warned_of_loss = True
                        self.warned.emit(f"{file}: {_READ_ONLY}")
                case RunRecord():
                    self._runs.add(message)
                case str():
                    self.said.emit(message)

        def end(outcome: Outcome) -> None:
            self._opening = None
            if outcome.ending is Ending.FAILED:
                self.failed.emit(outcome.text)
            if opened:
                self._restorer.recognise(recognised)
                return
            self._models.absence.read_runs(False)
            if outcome.ending is Ending.FAILED:
                self.said.emit(tr("{name} was not opened").format(name=file.name))

        self._models.task_worker.submit(
            Job(tr("Opening {name}").format(name=file.name), work, on_message=handle, on_end=end)
        )

    def _show_restored(self, run_id: float | None) -> None:
        """Show the run that was shown the last time, or one whose data are open; offer to go on."""
        records = self._runs.records
        if self._models.session.dataset is not None:
            self._show_again(run_id)
        else:
            self._show_last()
        if records and records[-1].can_go_on:
            self.left.emit(records[-1])
        if not records and self._models.session.plan.data == SAMPLE:
            self._bring_sample_run()

    def _bring_sample_run(self) -> None:
        """List the finished run of the sample, which no study of the user has, where its plan is open."""

        def show(record: RunRecord) -> None:
            session = self._models.session
            if self._runs.records or not session.plan.agrees(record.plan):
                return
            self._runs.bring(record)
            self._restorer.recognise(lambda: self._show_again(None))

        self._models.task_worker.task(READING_SAMPLE, read_sample_run, on_done=show)

    def _show_again(self, run_id: float | None) -> None:
        """Show a run by its number in the study, else the last one, of those on the data that are open."""
        on_data = [r for r in self._runs.records if r.dataset is self._models.session.dataset]
        last_shown = [r for r in on_data if r.stored is not None and r.stored.id == run_id]
        if on_data and self._runs.shown is None:
            record = (last_shown or on_data)[-1]
            self._models.session.restore_choice(record.plan, record.choice)
            self._runs.show(record)

    def _show_last(self) -> None:
        if self._runs.records:
            self._restorer.look_at(self._runs.records[-1])

    def _change_to(
        self, study: Study | None, last_id: int = 0, seal_marks: tuple[SealMark, ...] = ()
    ) -> None:
        """Close the current study once its run has finished, and switch to another one."""
        self.sealRead.emit(
            seal_marks if study is not None else None
        )  # first: nothing of a sealed test part is shown for a moment
        before = self._study_store.switch_to(study)
        self._runs.clear(last_id)
        self._warned_of_loss = False
        if before is not None:
            self._settings.add_recent(str(before.path))
            self._models.run_worker.task(tr("Closing the study"), self._study_store.close, before)
        self._note_file()

    @Slot()
    def _note_file(self) -> None:
        """Remember the file: the process may be killed."""
        path = self._study_store.path
        self._settings.set("study/file", str(path) if path else None)
        self.changed.emit()

    @Slot(str)
    def _warn_of_loss(self, reason: str) -> None:
        """Warn once that runs are not kept."""
        if not self._warned_of_loss:
            self._warned_of_loss = True
            self.warned.emit(
                tr("Runs are not stored and are lost when the window closes: {reason}").format(reason=reason)
            )

    def _folder(self) -> str:
        """Return where a dialog begins: beside the study, or at home for one without a name."""
        path = self._study_store.path
        return str(path.parent if path is not None and self.name else Path.home())

    def _may_leave(self, description: str) -> bool:
        """Ask before a run that works is stopped."""
        if not self._runs.busy:
            return True
        text = tr("Stop the current run? Completed parts remain in the study.")
        return Question.ask(self._window, description, text, tr("&Stop the run"), tr("&Keep running"))
