"""Starts, opens, saves, copies and restores studies, which are files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from rankstudio.engine.errors import StudyInUseError
from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.ui.background.worker import (
    CancelFlag,
    Ending,
    Job,
    JobFunction,
    Outcome,
)
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
    """Opens and saves studies, and keeps the list of runs the same as that of the open study.

    Parameters
    ----------
    models : Models
    restorer : RunRestorer
        Shows a run of a study that was opened.
    settings : Settings
        Stores the path of the open study.
    parent : QWidget
        Widget over which the dialogs open.
    """

    changed = Signal()
    """Runs are stored in another file."""
    sealRead = Signal(object)
    """Another study is open: its seal marks (tuple of SealMark), or None for a new study."""
    left = Signal(object)
    """The last run of the restored study is unfinished and can be resumed (RunRecord)."""
    warned = Signal(str)

    def __init__(
        self, models: Models, restorer: RunRestorer, settings: Settings, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._models = models
        self._restorer = restorer
        self._settings = settings
        self._study_store = models.study_store
        self._runs = models.runs
        self._window = parent

        # Whether the user was warned that new runs are not stored in this study.
        self._warned_of_loss = False
        self._path_being_opened: Path | None = None
        self._runs.storageBegan.connect(self._remember_path)
        self._runs.storageFailed.connect(self._warn_of_loss)

    @property
    def name(self) -> str:
        """The name that the user gave to the study; "" for none."""
        path = self._study_store.path
        return (
            path.stem if path is not None and not self._study_store.is_own(path) else ""
        )

    @Slot()
    def new(self) -> None:
        """Begin a new study; the previous one stays in its file."""
        old_path = self._study_store.path
        if self._may_leave(tr("Start a new study")):
            self._change_to(None)  # None is a new study
            message = (
                tr("New study; the previous study is in {before}")
                if old_path
                else tr("New study")
            )
            self.said.emit(message.format(before=old_path))

    @Slot()
    def ask_open(self) -> None:
        """Ask for a study, and open it."""
        path, _ = QFileDialog.getOpenFileName(
            self._window, tr("Open study"), self._folder(), _FILTER
        )
        if path:
            self.open(path)

    @Slot(str)
    def open(self, path: str) -> None:
        """Open a study: list its runs, and store new runs in it.

        If opening the study would stop a run in progress, ask the user
        first. Nothing is done for a study that is open, or is being
        opened.
        """
        file = Path(path).resolve()
        if file == self._study_store.path:
            self.said.emit(tr("{name} is already open").format(name=file.name))
        elif file != self._path_being_opened and self._may_leave(
            tr("Open another study")
        ):
            self.said.emit(tr("Opening {name} …").format(name=file.name))

            # Afterwards, its last run is shown.
            self._read(file, self._study_store.read(file), self._show_last)

    @Slot()
    def save(self) -> None:
        """Write the unsaved changes of the study.

        Ask for a file if the study is read-only or has no name.
        """
        # Results are stored as they are computed; only notes of the
        # user wait. The name is "" until the user has chosen a file.
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
        """Ask for a file, copy the study to it, and use the copy from now on."""
        name = (
            self._study_store.path.name if self._study_store.path else f"study{SUFFIX}"
        )
        start = str(Path(self._folder()) / name)
        path, _ = QFileDialog.getSaveFileName(
            self._window, tr("Save study as"), start, _FILTER
        )
        if path:
            self.save_as(path if is_study(path) else path + SUFFIX)

    def save_as(self, path: str) -> None:
        """Copy the study to a file, and store new runs in the copy.

        A run in progress continues. The study is copied on a worker thread.
        """
        old_path = self._study_store.path

        def use_copy(_: None) -> None:
            """Use the copy as the study of the window, after it is written.

            The old file is removed from the list of recent files if the
            user has not named it. Runs that could not be stored in a
            read-only study can go on.
            """
            # A study without a name is in a file of the program's own,
            # of no further use.
            if self._study_store.is_own(old_path):
                self._settings.remove_recent(str(old_path))
            self._settings.add_recent(str(self._study_store.path))
            self._remember_path()

            # Unlike a read-only original, the copy can be written. Runs
            # that could not go on for this reason can go on now.
            self._runs.allow(READ_ONLY)
            self.said.emit(
                tr("The study is in {path}").format(path=self._study_store.path)
            )

        self._models.task_worker.task(
            tr("Saving the study"),
            self._study_store.save_as,
            Path(path),
            on_done=use_copy,
            on_error=self.failed.emit,
        )

    def restore(self) -> None:
        """Open the study of the last session, and show the run that was shown.

        If the study is open in another window, a message says so.
        """
        path = self._settings.text("study/file")
        shown_id = self._settings.number("study/shown")
        if not path:
            return
        file = Path(path)

        def work(cancelled: CancelFlag) -> Iterator[object]:
            """Yield the study of the last session, then the runs of the study.

            The file is known to the enclosing method. If another window
            has the study open, yield only a sentence that says so.
            ``cancelled`` returns whether to stop.
            """
            try:
                yield from self._study_store.read(file)(cancelled)
            except StudyInUseError:
                yield tr(
                    "The last study is open in another window; this window starts its own"
                )

        self._read(file, work, lambda: self._show_restored(shown_id))

    def _read(self, file: Path, work: JobFunction, show: Callable[[], None]) -> None:
        """Read a study on the worker, list its runs as they are read, and call ``show`` after the last one.

        ``file`` is that of the study. ``work`` reads it: it yields an
        `OpenedStudy` and then a `RunRecord` for each run, or a sentence
        on why the study is not read.
        """
        is_open = False
        self._path_being_opened = file

        # While runs are read, empty panels say so.
        self._models.absence.read_runs(True)

        def finish() -> None:
            """Remove the notes in empty panels that runs are read, and call `show` of the method."""
            self._models.absence.read_runs(False)
            show()

        def handle(message: object) -> None:
            """Handle a message of the job that reads: switch to the study, list a run, or show a sentence.

            ``message`` is the opened study, the record of a run, or a
            sentence on why something is not read.
            """
            nonlocal is_open
            match message:
                case OpenedStudy():
                    is_open = True
                    self._change_to(message.study, message.last_id, message.seal_marks)
                    self._settings.add_recent(str(file))
                    n = message.n_runs
                    text = trn("{name} is open: {n} run", "{name} is open: {n} runs", n)
                    self.said.emit(text.format(name=file.name, n=n))
                    if message.study.read_only:
                        # It says that new runs are not stored, so the
                        # warning about their loss is not needed any
                        # more.
                        self._warned_of_loss = True
                        self.warned.emit(f"{file}: {_READ_ONLY}")
                case RunRecord():
                    self._runs.add(message)
                case str():
                    self.said.emit(message)

        def end(outcome: Outcome) -> None:
            """Report a failure. If the study was opened at all, find the runs on the open data.

            ``outcome`` is that of the job that reads the study. After
            the runs are found, the function that was passed to the
            enclosing method is called.
            """
            self._path_being_opened = None
            if outcome.ending is Ending.FAILED:
                self.failed.emit(outcome.text)
            if is_open:
                self._restorer.recognise(finish)
                return
            self._models.absence.read_runs(False)
            if outcome.ending is Ending.FAILED:
                self.said.emit(tr("{name} was not opened").format(name=file.name))

        self._models.task_worker.submit(
            Job(
                tr("Opening {name}").format(name=file.name),
                work,
                on_message=handle,
                on_end=end,
            )
        )

    def _show_restored(self, run_id: float | None) -> None:
        """Show the run of the last session, or else another one.

        ``run_id`` is the id of the run in the study; None if no run was
        shown. If the last run of the study is not finished, the user
        can resume it.
        """
        # With open data, the run has to be one on these data.
        records = self._runs.records
        if self._models.session.dataset is not None:
            self._show_again(run_id)
        else:
            self._show_last()

        # The signal `left` offers to resume the run.
        if records and records[-1].can_go_on:
            self.left.emit(records[-1])

        # The run of the sample is in no study, and comes from a file of its own.
        if not records and self._models.session.plan.data == SAMPLE:
            self._bring_sample_run()

    def _bring_sample_run(self) -> None:
        """List and show the finished run of the sample, which is in no study.

        Nothing is done if the present plan is another one than that of the run.
        """

        def show(record: RunRecord) -> None:
            """List and show the run, unless there are runs now or the plan is another one."""
            session = self._models.session
            if self._runs.records or not session.plan.agrees(record.plan):
                return
            self._runs.add_renumbered(record)  # lists the run

            # The run gets the open data, and is shown then.
            self._restorer.recognise(lambda: self._show_again(None))

        self._models.task_worker.task(READING_SAMPLE, read_sample_run, on_done=show)

    def _show_again(self, run_id: float | None) -> None:
        """Show a run on the open data, with the model that was chosen of it.

        The run is that with the id ``run_id`` in the study, or else the
        last run. If a run is shown already, that run stays.
        """
        on_data = [
            r for r in self._runs.records if r.dataset is self._models.session.dataset
        ]
        last_shown = [
            r for r in on_data if r.stored is not None and r.stored.id == run_id
        ]
        if on_data and self._runs.shown is None:
            record = (last_shown or on_data)[-1]
            self._models.session.restore_choice(record.plan, record.choice)
            self._runs.show(record)

    def _show_last(self) -> None:
        """Show the last run of the study, if it has runs."""
        if self._runs.records:
            self._restorer.look_at(self._runs.records[-1])

    def _change_to(
        self,
        study: Study | None,
        last_id: int = 0,
        seal_marks: tuple[SealMark, ...] = (),
    ) -> None:
        """Switch to another study, or to a new one (None), and close the present one.

        The present one is closed once its run has ended. ``last_id`` is
        the number of the last run in the other study: new runs get the
        next ones.

        The user can seal the test part of data, which hides its
        results. ``seal_marks`` of a study say when the user sealed or
        unsealed which data. The list of runs becomes empty, and the
        path of the study is saved in the settings.
        """
        # The seal comes first, so that results of a sealed test part
        # are not visible for a moment. A new study has no marks yet:
        # with None, the receiver seals all test parts.
        self.sealRead.emit(seal_marks if study is not None else None)
        old_study = self._study_store.switch_to(study)
        self._runs.clear(last_id)

        # If runs cannot be stored in this study, the user is warned again.
        self._warned_of_loss = False

        # The study is closed on the worker that also does the runs: so
        # it waits for the end of a run that writes to the study.
        if old_study is not None:
            # So the user can open it again.
            self._settings.add_recent(str(old_study.path))
            self._models.run_worker.task(
                tr("Closing the study"), self._study_store.close, old_study
            )
        self._remember_path()

    @Slot()
    def _remember_path(self) -> None:
        """Save the path of the study in the settings at once, as the process may be killed."""
        path = self._study_store.path
        self._settings.set("study/file", str(path) if path else None)
        self.changed.emit()

    @Slot(str)
    def _warn_of_loss(self, reason: str) -> None:
        """Warn that runs are not stored, for a reason; a second warning is not shown."""
        if not self._warned_of_loss:
            self._warned_of_loss = True
            self.warned.emit(
                tr(
                    "Runs are not stored and are lost when the window closes: {reason}"
                ).format(reason=reason)
            )

    def _folder(self) -> str:
        """Return the first folder of a dialog: that of a study with a name, or else the user's home."""
        path = self._study_store.path
        return str(path.parent if path is not None and self.name else Path.home())

    def _may_leave(self, description: str) -> bool:
        """Return whether the present study may be left.

        If leaving the study would stop a run in progress, ask the user.
        ``description`` is the title of the question: what the user
        wants to do.
        """
        if not self._runs.busy:
            return True
        text = tr("Stop the current run? Completed parts remain in the study.")
        return Question.ask(
            self._window, description, text, tr("&Stop the run"), tr("&Keep running")
        )
