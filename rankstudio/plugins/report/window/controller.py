"""The controller of the Report page: has the report made while the page is visible, and saves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog

from rankstudio.engine.errors import OutputError
from rankstudio.engine.experiment.storage.study_contents import ReportSettings
from rankstudio.plugins.report.document import (
    SECTIONS,
    every_section,
    wanted_keys,
    with_words,
)
from rankstudio.plugins.report.window.panels import (
    OutlinePanel,
    PreviewPanel,
    WordsPanel,
)
from rankstudio.plugins.report.window.report_tasks import (
    WRITERS,
    report_of,
    save_temporary,
)
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.worker import Job
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.listed_runs import ListedRun, ReportRequest, request_of
from rankstudio.ui.page.page_controller import PageController
from rankstudio.ui.process.files_read import file_stem, refuse_read
from rankstudio.ui.process.turns import single_shot
from rankstudio.ui.style.theme import Theme

if TYPE_CHECKING:
    from rankstudio.plugins.report.document import Report

# pause in typing after which the preview shows the typed text
_TYPING_PAUSE_MILLISECONDS = 250
_FILTERS = tr("HTML, one file (*.html);;PDF (*.pdf)")


class ReportController(PageController):
    """Shows the report of the listed runs, and stores its question, notes and sections in the study.

    Parameters
    ----------
    theme : Theme
    models : Models
        Provide the runs, the seal of the test part, and the open study.
    """

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        """Make the panels, and connect them with the study, the runs and the worker."""
        super().__init__(parent)

        # The parts of the application's state from which the report is made.
        session = models.session
        runs = models.runs
        worker = models.task_worker
        self._models = models
        self._session = session
        self._runs = runs
        self._store = models.study_store
        self._worker = worker
        self._marks = models.marks

        # The panels of the page.
        self.words = WordsPanel(theme)
        self.outline = OutlinePanel(theme)
        self.preview = PreviewPanel(theme)
        self.panels = self.words, self.outline, self.preview

        # The settings of the report, and the report that was made last.
        self._settings = ReportSettings()
        self._has_unwritten_settings = False
        self._seal_marks = session.seal_marks
        self._report: Report | None = None
        self._unseen = False  # whether the report changed while its page was hidden
        self._folder = Path.home()

        # The report is made in the background, when the page is visible
        # and something in it has changed.
        run_signals = (
            runs.ended,
            runs.removed,
            runs.added,
            runs.labelled,
            runs.changed,
            runs.kept,
        )
        self._report_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._key,
            compute=self._make,
            failed=self._fail,
            slot="report",
            panel=self.preview,
            on=(*run_signals, models.marks.changed, session.datasetChanged),
        )

        # The preview is drawn again only after a pause in typing.
        self._pause = single_shot(_TYPING_PAUSE_MILLISECONDS, self._show, self)
        self._turn = single_shot(0, self.update, self)
        self._show_settings(self._settings)

        # The user's edits and commands.
        self.words.written.connect(self._note_words)
        self.outline.arranged.connect(self._note_sections)
        self.outline.usual.clicked.connect(self._arrange_as_usual)
        self.preview.save.clicked.connect(self.ask_save)
        self.preview.read.clicked.connect(self.open_in_browser)

        # The settings of the report are kept in the study.
        runs.cleared.connect(self._read)
        runs.storageBegan.connect(self._write)

        # When seals change, no sealed number stays visible.
        session.sealChanged.connect(self._cover)

    @property
    def report(self) -> Report | None:
        """The current report; None before the first one."""
        return self._arranged(self._report) if self._report is not None else None

    @Slot()
    def update(self) -> None:
        """Have the report made anew if its page is visible and its runs or seals have changed."""
        self._report_demand.update()
        if self._unseen:
            self._show()

    def _key(self) -> Key:
        """Return the state on which the report depends: if the state changes, the report is made again.

        The state has the seals, the study, a number that grows with
        each stored run, and the state of each run.
        """
        request = self.request()
        return (
            request.seal_marks,
            id(request.study),
            self._runs.n_kept,
            *(self._state_of(run) for run in request.runs),
        )

    def _make(self) -> Computation:
        """Return the computation of the report, and let the preview wait for it."""
        self.preview.wait()
        return computation(
            tr("Creating the report"), self._receive, report_of, self.request()
        )

    @Slot()
    def _cover(self) -> None:
        """Clear the report when seals change, until a report with the new seals is made.

        Thereby no sealed number is visible meanwhile.
        """
        if self._seal_marks != self._session.seal_marks:
            self._seal_marks = self._session.seal_marks
            self._report = None
            self._report_demand.forget()  # so that it is made again
            self.preview.clear()
            self._turn.start()  # calls `update` after other slots

    @Slot()
    def ask_save(self) -> None:
        """Ask for a file, and save the report there."""
        data = self._session.dataset
        name = file_stem(data.name if data is not None else "")
        suggested = str(self._folder / f"{name}-report.html")
        path, chosen = QFileDialog.getSaveFileName(
            self.preview, tr("Save report"), suggested, _FILTERS
        )
        if path:
            ending = ".pdf" if chosen.startswith("PDF") else ".html"
            self.save(
                Path(path)
                if Path(path).suffix.lower() in WRITERS
                else Path(path + ending)
            )

    def save(self, path: Path) -> None:
        """Save the report in the format of the path's suffix."""

        def tell(saved: Path) -> None:
            """Say where the report is; its folder is offered for the next one."""
            self._folder = saved.parent
            self.said.emit(tr("The report is in {saved}").format(saved=saved))

        # The report must not overwrite a file that the window reads.
        try:
            refuse_read(self.preview, [path])
        except OutputError as error:
            self.failed.emit(str(error))
            return

        # Written in the background; `tell` is called at the end.
        self._with_report(
            lambda report: WRITERS[path.suffix.lower()](report, path), tell
        )

    def export(
        self,
        path: Path,
        on_done: Callable[[str], object],
        on_error: Callable[[str], object],
        *,
        suffix: str,
    ) -> Job:
        """Make the report and save it, even if its page was never visible; return the job.

        ``on_done`` is called with "", as there is nothing to say, and
        ``on_error`` with a reason. ``suffix`` is that of the format.
        """
        # Read on this thread: the user may edit while the worker writes.
        export_request = self.request()
        settings = self._settings

        def write() -> Path:
            """Write the report to the file, and return its path."""
            report = with_words(report_of(export_request), settings).arranged(
                wanted_keys(settings.sections)
            )
            return WRITERS[suffix](report, path)

        return self._worker.task(
            tr("Saving the report"),
            write,
            on_done=lambda _: on_done(""),
            on_error=on_error,
            slot="report file",
        )

    @Slot()
    def open_in_browser(self) -> None:
        """Show the report in the browser."""
        self._with_report(
            save_temporary,
            lambda saved: QDesktopServices.openUrl(QUrl.fromLocalFile(str(saved))),
        )

    def _with_report(
        self, write: Callable[[Report], Path], then: Callable[[Path], object]
    ) -> None:
        """Write the report in the background, if there is one, and call ``then`` with its path."""
        report = self.report
        if report is not None:
            self._worker.task(
                tr("Saving the report"),
                write,
                report,
                on_done=then,
                on_error=self.failed.emit,
            )

    def request(self) -> ReportRequest:
        """Return the request for a report: the runs that are listed and ticked, of the open dataset."""
        return request_of(self._models, self._settings)

    @staticmethod
    def _state_of(run: ListedRun) -> tuple[object, ...]:
        """Return the state of a run that a report shows; fixed objects stand by their ids."""
        return (
            run.number,
            id(run.result),
            id(run.dataset),
            run.label,
            # whether the dataset has its documents; else they are `recorded` only
            run.recorded is None,
        )

    @Slot(object)
    def _receive(self, report: Report) -> None:
        """Keep the report, and show it."""
        self._report = report
        self._show()

    @Slot(str)
    def _fail(self, reason: str) -> None:
        """Show the reason why there is no report."""
        self._report_demand.forget()
        self.preview.stop_waiting()
        self.failed.emit(reason)

    @Slot()
    def _show(self) -> None:
        """Show the report if its page is visible, and whether it leaves out sealed measures.

        If the page is hidden, the report is shown when the page appears.
        """
        report = self.report
        self._unseen = not self.preview.isVisible()
        if report is not None and not self._unseen:
            open_runs = [
                run
                for run in self.request().runs
                if run.dataset is self._session.dataset
            ]
            has_test_measures = any(
                fold.test for run in open_runs for fold in run.result.folds
            )
            self.preview.show_report(report)

            # The button "Show test" stands for the sealed measures.
            self.preview.covered.setVisible(self._session.sealed and has_test_measures)

    def _arranged(self, report: Report) -> Report:
        """Return a report with the present question and notes, and the included sections."""
        return with_words(report, self._settings).arranged(
            wanted_keys(self._settings.sections)
        )

    # What is written

    @Slot()
    def _note_words(self) -> None:
        """Keep the typed question and notes, and show them after a pause."""
        question = self.words.question.toPlainText()
        notes = self.words.notes.toPlainText()
        self._change(replace(self._settings, question=question, notes=notes))
        self._pause.start()

    @Slot()
    def _note_sections(self) -> None:
        """Keep which sections are included, in their order, and show them."""
        self._change(replace(self._settings, sections=self.outline.sections()))
        self._show()

    @Slot()
    def _arrange_as_usual(self) -> None:
        """Include all sections in their usual order."""
        self.outline.show_sections(SECTIONS, every_section(()))
        self._change(replace(self._settings, sections=()))
        self._show()

    def _change(self, settings: ReportSettings) -> None:
        """Keep changed settings, and store them in the study."""
        if settings != self._settings:
            self._settings = settings
            self._has_unwritten_settings = True
            self._write()

    @Slot()
    def _write(self) -> None:
        """Store settings of the report that are not yet stored in the study.

        Without a study, the settings wait for the study of the next run.
        """
        study = self._store.study
        if study is None or not self._has_unwritten_settings:
            return
        if study.read_only:
            self.failed.emit(
                tr("{path}: this study is read-only.").format(path=study.path)
            )
            return
        self._has_unwritten_settings = False

        # `note` queues the settings, and `write_notes` writes the queue.
        self._store.note(partial(study.set_report_settings, self._settings))
        self._worker.task(
            tr("Storing the text of the report"),
            self._store.write_notes,
            on_error=self.failed.emit,
        )

    @Slot()
    def _read(self) -> None:
        """Clear the report, show the settings of another study, and make its report.

        The settings are the question, the notes and the sections. They
        are read in the background.
        """
        self._report = None
        self._has_unwritten_settings = False
        self._report_demand.forget()
        self.preview.clear()
        self._show_settings(ReportSettings())
        study = self._store.study
        if study is not None:
            self._worker.task(
                tr("Reading the text of the report"),
                lambda: study.report_settings,
                on_done=self._show_settings,
                on_error=self.failed.emit,
            )
        self.update()

    def _show_settings(self, settings: ReportSettings) -> None:
        """Show settings in the panels, and the report with them."""
        self._settings = settings
        self.words.show_words(settings.question, settings.notes)
        self.outline.show_sections(SECTIONS, every_section(settings.sections))
        self._show()
