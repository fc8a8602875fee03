"""The export dialog for models, tables, plots, the plan, and the run as code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.support.work import WorkProgress
from rankstudio.ui.background.worker import Job
from rankstudio.ui.language import tr
from rankstudio.ui.page.export_item import ExportItem, FormatWriter
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.progress_bar import DeferredProgressBar
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.chip import Chip
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.saving_dialog import SavingDialog

_ROW = 29  # height of an item in pixels
_LIST = 210  # least width of the list
_WIDEST_LIST = 320
_LIST_MARGIN = 36  # between the longest label and the edge of the list


class ExportDialog(SavingDialog):
    """A dialog in which the user chooses an item, its format and a file, and saves or copies the item.

    The dialog stays open, so that several items can be exported.

    Parameters
    ----------
    theme : Theme
    items : sequence of ExportItem
        What can be exported.
    folder : Path, optional
        Suggested folder of the file; the user's home by default.
    parent : QWidget, optional

    Attributes
    ----------
    choice : Chip
        Note that the exported model was chosen by hand, if it was.
    """

    def __init__(
        self,
        theme: Theme,
        items: Sequence[ExportItem],
        folder: Path | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("export-dialog", tr("Export"), folder or Path.home(), parent)
        self._theme = theme
        self._items = tuple(items)

        # Shown while the user has chosen the model by hand.
        self.choice = Chip("export-choice-chip", tr("Model chosen by hand"))
        self._list = named(QListWidget(), "export-items", tr("Content to export"))
        self._help = named(PlainLabel(wraps=True, selectable=True), role="muted")
        self._format = named(choice_box(()), "export-format", tr("Format"))
        self._path = named(QLineEdit(), "export-file", tr("File"))
        self._browse = QPushButton(tr("Browse…"))
        self._form = QFormLayout()
        self._copy = QPushButton(tr("&Copy"))
        self._save = named(QPushButton(tr("&Save")), role="primary")
        self._close = QPushButton(tr("Close"))
        self._stop = named(QPushButton(tr("S&top")), "export-stop")
        self._bar = named(
            DeferredProgressBar(), "export-progress", tr("progress of the export")
        )
        self._check_job: Job | None = None  # verifies a written file
        self._writing_jobs: dict[Path, Job] = {}  # by the path that each writes
        self._lay_out()
        self._connect()
        self._list.setCurrentRow(0)

    @property
    def current(self) -> ExportItem:
        """The item that is selected."""
        return self._items[max(0, self._list.currentRow())]

    @property
    def path(self) -> Path:
        """The path in the field of the file."""
        return Path(self._path.text().strip()).expanduser()

    def show_items(self, items: Sequence[ExportItem]) -> None:
        """Offer other items to export, and show the selected one.

        The selected item stays selected if it is among them; else the first is.
        """
        key = self.current.key
        self._items = tuple(items)
        keys = [item.key for item in self._items]

        # The list is filled row by row: the item is shown once, at the end.
        with QSignalBlocker(self._list):
            self._list.clear()
            self._fill_list()
            self._list.setCurrentRow(keys.index(key) if key in keys else 0)
        self._show_item()

    def select(self, key: str) -> None:
        """Select an item by its key."""
        keys = [item.key for item in self._items]
        self._list.setCurrentRow(keys.index(key))

    @Slot()
    def save(self) -> None:
        """Write the selected item to the path in the field.

        An existing file is only replaced if the user saves twice.
        Nothing is done for an item that cannot be written, or that is
        being written.
        """
        item = self.current
        path = self.path
        writer = self._writer
        if not item.writes or self._unavailable or path in self._writing_jobs:
            return
        paths = writer.paths(path)

        # `write` refuses files that are open in this window. So it is
        # called first with a function that writes nothing, before the
        # user is asked to replace files.
        if not self.write(path, lambda: None, paths) or not self.may_replace(
            path, paths
        ):
            return

        # A writer with `begin` takes long, and writes on the worker;
        # then either of the two functions is called. Others write at
        # once.
        if writer.begin is not None:
            self.say(tr("Writing {path} …").format(path=path), "muted")
            job = writer.begin(
                path, partial(self._finish, path), partial(self._fail, path)
            )
            self._writing_jobs[path] = job
            job.follow(partial(self._show_progress, job))
            self._stop.show()
        elif self.write(path, partial(writer.write, path), paths):
            written = self._finish(path)
            if writer.check is not None:
                self.say(tr("{written} Verifying the file …").format(written=written))

                # The function gets a sentence on the outcome of the check.
                self._check_job = writer.check(
                    path, lambda proof: self.say(f"{written} {proof}")
                )

    def _finish(self, path: Path, besides: str = "") -> str:
        """Show that the files of a path are written, and return the sentence that says so.

        ``besides`` is another sentence, which is shown after the first.
        """
        self._writing_jobs.pop(path, None)
        self._hide_progress()
        return self.tell_written(path, besides)

    def _fail(self, path: Path, reason: str) -> None:
        """Show the reason why the files of a path are not written, and hide the progress.

        ``reason`` is a sentence. The job that was to write the files has ended.
        """
        self._writing_jobs.pop(path, None)
        self._hide_progress()
        self.say(reason, "error")

    def _show_progress(self, job: Job, message: object) -> None:
        """Show the progress of a job that writes, as a bar.

        ``message`` is a message of the job. The progress is also shown
        in words if the job writes the file whose path is in the field.
        """
        # A job may send other messages, such as the sentence at its end.
        if not isinstance(message, WorkProgress):
            return
        self._bar.show()
        self._bar.set_share(message.share)
        if self._writing_jobs.get(self.path) is job:
            self.say(
                tr("{job}: {what} …").format(job=job.what, what=message.what), "muted"
            )

    def _hide_progress(self) -> None:
        """Hide the progress bar. The button that stops writing is hidden if no job writes any more."""
        self._bar.hide()
        self._stop.setVisible(bool(self._writing_jobs))

    @Slot()
    def stop(self) -> None:
        """Stop all jobs that write."""
        self._cancel()
        self._hide_progress()
        self.say(tr("Stopped."), "muted")

    @Slot()
    def copy(self) -> None:
        """Put the selected item on the clipboard as text."""
        if self.current.text is not None and not self.current.unavailable:
            QGuiApplication.clipboard().setText(self.current.text())
            self.say(tr("{label} copied.").format(label=self.current.label))

    @property
    def _writer(self) -> FormatWriter:
        """The writer of the selected format."""
        return self.current.writer(self._format.currentIndex())

    @property
    def _unavailable(self) -> str:
        """Reason why the item cannot be exported in the selected format.

        The text is "" if the item can be exported.
        """
        return self.current.unavailable or self._writer.unavailable

    def _lay_out(self) -> None:
        """Lay out the list of items at the left, the chosen item at the right, and the buttons."""
        widest = max(
            (
                self._list.fontMetrics().horizontalAdvance(item.label)
                for item in self._items
            ),
            default=0,
        )

        # The list is as wide as its longest text, within limits.
        self._list.setFixedWidth(min(max(_LIST, widest + _LIST_MARGIN), _WIDEST_LIST))
        self._fill_list()
        self._help.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._save.setDefault(True)
        form = self._form
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(8)
        form.addRow(tr("F&ormat"), self._format)
        file_label = PlainLabel(tr("&File"))
        file_label.setBuddy(self._path)
        form.addRow(
            file_label, fill(QHBoxLayout(), (self._path, 1), self._browse, spacing=8)
        )
        self._bar.hide()
        self._stop.hide()
        buttons = fill(
            QHBoxLayout(), self._close, 1, self._stop, self._copy, self._save
        )
        item_column = fill(QVBoxLayout(), self.choice, self._help, form, spacing=12)
        fill(item_column, self.message, self._bar, 1, buttons)
        fill(
            QHBoxLayout(self),
            self._list,
            (item_column, 1),
            margins=(16, 16, 16, 16),
            spacing=18,
        )
        self.resize(720, 420)

    def _fill_list(self) -> None:
        """List the labels of the items."""
        for item in self._items:
            QListWidgetItem(item.label, self._list).setSizeHint(QSize(0, _ROW))

    def _connect(self) -> None:
        """Connect the widgets of the dialog to their actions."""
        self._list.currentRowChanged.connect(self._show_item)
        self._list.itemActivated.connect(self.save)
        self._format.activated.connect(self._follow_format)
        self._path.textEdited.connect(self._on_path_changed)
        self._browse.clicked.connect(self._ask)
        self._copy.clicked.connect(self.copy)
        self._save.clicked.connect(self.save)
        self._stop.clicked.connect(self.stop)
        self._close.clicked.connect(self.close)
        self.finished.connect(self._cancel)

    @Slot()
    def _show_item(self) -> None:
        """Show the formats, the suggested file name and the buttons of the selected item."""
        item = self.current
        self._format.clear()
        for label, suffix in item.formats:
            self._format.addItem(f"{label} ({suffix})" if suffix else label, suffix)

        # Format and file, the two rows of the form, are of no use for
        # an item that can only be copied.
        for row in (0, 1):
            self._form.setRowVisible(row, item.writes)
        self._save.setVisible(item.writes)
        self._format.setEnabled(item.writes and not item.unavailable)
        self._copy.setVisible(item.text is not None)
        self._copy.setEnabled(not item.unavailable)
        suffix = item.formats[0][1] if item.formats else ""
        self._path.setText(
            str(self._folder / f"{item.stem}{suffix}") if item.writes else ""
        )
        self._show_format()

    @Slot()
    def _show_format(self) -> None:
        """Show the description of the selected format, or why it cannot be written.

        The format also decides how an item is written from now on.
        """
        self._help.setText(
            "\n\n".join(filter(None, [self.current.help, self._writer.help]))
        )
        can_write = self.current.writes and not self._unavailable
        for widget in (self._path, self._browse, self._save):
            widget.setEnabled(can_write)
        self._on_path_changed()
        if self._unavailable:
            self.say(self._unavailable, "muted")

    @Slot()
    def _follow_format(self) -> None:
        """Give the file the suffix of the format."""
        self._path.setText(str(self.path.with_suffix(self._format.currentData())))
        self._show_format()

    @Slot()
    def _on_path_changed(self) -> None:
        """Follow a change of the path in the field.

        Clear the message, and forget that the user may replace a file.
        If the file written last is still being verified, abandon that:
        its result would replace the message. Select the format that has
        the suffix of the path.
        """
        self._replaceable_path = None
        self._abandon_verification()
        self.say("", "muted")

        # Formats of models share suffixes, so an item with a writer for
        # each format does not follow the suffix.
        suffixes = [suffix for _, suffix in self.current.formats]
        if self.path.suffix in suffixes and not self.current.writers:
            self._format.setCurrentIndex(suffixes.index(self.path.suffix))

    @Slot()
    def _abandon_verification(self) -> None:
        """Abandon the verification of a written file, whose result is not shown then."""
        if self._check_job is not None:
            self._check_job.abandon()
            self._check_job = None

    @Slot()
    def _cancel(self) -> None:
        """Abandon all jobs: the verification of a written file, and files being written."""
        self._abandon_verification()
        for job in self._writing_jobs.values():
            job.abandon()
        self._writing_jobs.clear()

    @Slot()
    def _ask(self) -> None:
        """Ask for the file in the desktop's dialog, and put its path into the field."""
        filters = ";;".join(
            f"{label} (*{suffix})" for label, suffix in self.current.formats
        )
        chosen, _ = QFileDialog.getSaveFileName(
            self,
            tr("Export {label}").format(label=self.current.label),
            str(self.path),
            filters,
        )
        if chosen:
            self._path.setText(chosen)
            self._on_path_changed()
            if len(self._writer.paths(self.path)) == 1:
                # The file dialog has asked whether to replace the file.
                # Of several files, it knows the first only; about
                # these, `save` asks.
                self._replaceable_path = Path(chosen)
