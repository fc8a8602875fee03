"""The compared runs as the table of a paper: its dialog, and the controller that has it computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication, QTextOption
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.analysis.result_table.query import TESTS, TableQuery
from rankstudio.engine.errors import RankStudioError
from rankstudio.engine.experiment.storage.study_contents import ReportSettings
from rankstudio.engine.export.result_table.formats import (
    FORMATS,
    TableFormat,
    table_format,
)
from rankstudio.engine.export.result_table.table import DIGITS, ResultTable, TableStyle
from rankstudio.engine.metrics.names import measure, split_names
from rankstudio.engine.support.files import write_bytes
from rankstudio.engine.support.templates import rendered
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.compare.comparison_dialog import Offer, tick_list, ticked
from rankstudio.ui.compare.feeders import ComparisonScope
from rankstudio.ui.language import tr
from rankstudio.ui.model.listed_runs import ListedRun, ReportRequest, source_of
from rankstudio.ui.style.fonts import family, scaled
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.widgets import Segmented
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.saving_dialog import SavingDialog

_OPTIONS_WIDTH = 300
_BEST = _USUAL = ""  # values of the first entries of two choices
_COLUMN_CHOICES = (
    ("measures", tr("measures")),
    ("folds", tr("folds")),
    ("datasets", tr("datasets")),
)
_SHEET_STYLE = """
QTextBrowser, QTextBrowser:focus { background: #ffffff; color: #1b2330; border: none; border-radius: 6px; }
"""
_SHEET_MARGIN = 20


class TableDialog(SavingDialog):
    """A dialog with a preview of the table, in which the user chooses its contents, and copies or saves it.

    Parameters
    ----------
    measures : sequence of Offer
        Measures that can be ticked.
    folder : Path
        Suggested folder of the file.
    stem : str
        Suggested file name without its suffix.
    parent : QWidget, optional
    """

    asked = Signal(object)
    """The user has chosen other contents of the table (TableQuery)."""

    def __init__(
        self,
        measures: Sequence[Offer],
        folder: Path,
        stem: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__("table-dialog", tr("Export table"), folder, parent)
        self._stem = stem  # suggested name of a saved file, without suffix
        self._table: ResultTable | None = None  # until `show_table`
        self.measures = tick_list("table-measures", tr("Measures"), measures)
        self.others = named(
            QLineEdit(),
            "table-other-measures",
            tr("Other measures"),
            tr("Names of other measures, separated by commas"),
        )
        self.others.setPlaceholderText(tr("others: NDCG@20, P@3"))
        # what the columns stand for, such as measures or datasets
        self.by = named(
            Segmented(_COLUMN_CHOICES, tr("columns"), wide=True),
            "table-columns",
            tip=tr("Content of the columns"),
        )
        self.bold = _check_box("table-bold", tr("&Best bold, second underlined"), True)
        self.marks = _check_box("table-marks", tr("Significance &marks"), True)
        tests = tuple((key, tr(name)) for key, name in TESTS.items())
        self.test = named(choice_box(tests), "table-test", tr("Significance test"))
        self.sd = _check_box("table-sd", tr("Mean ± s&d over the folds"), False)
        self.against = named(
            choice_box(()), "table-reference", tr("Row to test against")
        )
        # The first entries of two choices stand for their defaults;
        # their keys, _BEST and _USUAL, are "".
        self.against.addItem(tr("best row by the first column"), _BEST)
        digits = (
            (_USUAL, tr("{n} (all digits in CSV, Excel …)").format(n=DIGITS)),
            *((str(n), str(n)) for n in range(1, 9)),
        )
        self.digits = named(choice_box(digits), "table-digits", tr("Decimal places"))
        self.format = named(
            choice_box(
                tuple((form.key, f"{form.label} ({form.suffix})") for form in FORMATS)
            ),
            "table-format",
            tr("Format"),
        )
        options = (("table", tr("table")), ("text", tr("text")))
        self.shown = named(
            Segmented(options, tr("preview"), wide=True), "table-preview-kind"
        )
        # the preview
        self.sheet = named(TableSheet(), "table-preview", tr("Preview of the table"))
        named(self.message, "table-message", role="muted")
        self.copy = named(QPushButton(tr("&Copy")), "table-copy")
        self.save = named(QPushButton(tr("&Save…")), "table-save", role="primary")
        self._close = QPushButton(tr("Close"))
        self._lay_out()
        self._connect()

    # The user's choices

    @property
    def query(self) -> TableQuery:
        """The measures, columns and tests of the table, as the options are chosen."""
        names = (*ticked(self.measures), *split_names(self.others.text()))
        return TableQuery(
            measures=names,
            by=str(self.by.value()),  # type: ignore[arg-type] # the choice offers the values of By only
            # title of a row, or "" for the best one
            against=str(self.against.currentData() or ""),
            tested=self.marks.isChecked(),
            test=str(self.test.currentData()),  # type: ignore[arg-type] # and this one those of Test
        )

    @property
    def style_of_table(self) -> TableStyle:
        """Digits and marks of the printed table; no digits (None) for the usual number of them."""
        digits = str(self.digits.currentData())
        return TableStyle(
            digits=int(digits) if digits else None,
            bold=self.bold.isChecked(),
            marks=self.marks.isChecked(),
            sd=self.sd.isChecked(),
        )

    @property
    def chosen_format(self) -> TableFormat:
        """The format that is chosen."""
        return table_format(str(self.format.currentData()))

    # The preview

    def show_table(self, table: ResultTable) -> None:
        """Show a table, and offer its rows as the reference of the tests.

        The chosen reference stays if the new table has a row of its title.
        """
        self._table = table
        # The first entry of the references is "best row", and stays.
        chosen = str(self.against.currentData() or "")
        titles = [row.title for row in table.rows]
        offered_titles = [
            self.against.itemText(index) for index in range(1, self.against.count())
        ]
        if titles != offered_titles:
            while self.against.count() > 1:
                self.against.removeItem(1)
            for title in titles:
                self.against.addItem(title, title)
            # A title that is not found has the index -1: the best row then.
            self.against.setCurrentIndex(max(0, self.against.findData(chosen)))
        self.say("", "muted")  # clears the message
        self._show()

    def refuse(self, reason: str) -> None:
        """Show the reason why there is no table, in place of the table."""
        self._table = None
        self.sheet.clear()
        self._enable()
        self.say(reason, "error")

    @Slot()
    def ask(self) -> None:
        """Request the table of the chosen contents by the signal `asked`, or say why there is none."""
        try:
            # `measure` raises an error for a name that is no measure
            names = [measure(name).name for name in self.query.measures]
        except RankStudioError as error:
            self.refuse(str(error))
            return
        if not names:
            self.refuse(tr("Nothing to show: select a measure."))
            return
        self.say(tr("Creating the table …"), "muted")
        self.asked.emit(self.query)

    @Slot()
    def _show(self) -> None:
        """Show the current table in the chosen format, as a table or as the text of its file.

        A format without a text, such as Excel's, is shown as a table only.
        """
        self._enable()
        if self._table is None:
            return
        # `text` of a format makes the text of its file; None for a binary format.
        as_text = self.shown.value() == "text"
        form = self.chosen_format
        try:
            if as_text and form.text is not None:
                self.sheet.show_text(form.text(self._table, self.style_of_table))
            else:
                self.sheet.show_table(self._table, self.style_of_table)
        except RankStudioError as error:
            self.refuse(str(error))

    def _enable(self) -> None:
        """Enable the options and buttons that have an effect.

        A binary format has no text to copy or show. Options of tests
        need the marks of significance, which show the results of tests.
        """
        has_table = self._table is not None
        form = self.chosen_format
        self.save.setEnabled(has_table)
        self.copy.setEnabled(has_table and form.text is not None)
        self.shown.setEnabled(form.text is not None)
        self.against.setEnabled(self.marks.isChecked())
        self.test.setEnabled(self.marks.isChecked())

    @Slot()
    def _on_marks(self) -> None:
        """Ask for a table with tests after marks are ticked.

        Marks show which differences are significant. If they are
        unticked, the present table is shown without them.
        """
        if self.marks.isChecked():
            self.ask()
        else:
            self._show()

    # Copying and saving

    @Slot()
    def copy_table(self) -> None:
        """Put the table on the clipboard as text, and HTML also as HTML, for word processors.

        A binary format has no text, so that nothing is copied.
        """
        form = self.chosen_format
        table = self._table
        if table is None or form.text is None:
            return
        data = QMimeData()
        text = form.text(table, self.style_of_table)
        data.setText(text)
        if form.key == "html":
            data.setHtml(text)
        QGuiApplication.clipboard().setMimeData(data)
        self.say(
            tr("The table is on the clipboard as {label}.").format(label=form.label)
        )

    @Slot()
    def ask_save(self) -> None:
        """Ask for a file, and write the table to it."""
        form = self.chosen_format
        path = self.ask_path(tr("Export table"), self._stem, form.label, form.suffix)
        if path is not None:
            self.save_as(path)

    def save_as(self, path: Path) -> None:
        """Write the table in the chosen format."""
        table = self._table
        style = self.style_of_table
        form = self.chosen_format
        # write reports a failure, and returns whether the file is written
        if table is not None and self.write(
            path, lambda: write_bytes(path, form.content(table, style))
        ):
            self.tell_written(path)

    # Layout and connections

    def _lay_out(self) -> None:
        """Lay out the options on the left, the preview on the right, and the buttons below."""
        form = QFormLayout()
        form.setHorizontalSpacing(12)
        form.setVerticalSpacing(8)
        form.addRow(tr("Columns"), self.by)
        form.addRow(self.bold)
        form.addRow(self.marks)
        form.addRow(tr("&Test"), self.test)
        form.addRow(tr("&Against"), self.against)
        form.addRow(self.sd)
        form.addRow(tr("Di&gits"), self.digits)
        form.addRow(tr("&Format"), self.format)
        options = QWidget()
        options.setFixedWidth(scaled(_OPTIONS_WIDTH))
        title = named(PlainLabel(tr("Measures")), role="title")
        options_layout = QVBoxLayout(options)
        fill(
            options_layout,
            title,
            (self.measures, 1),
            self.others,
            form,
            margins=(0, 0, 0, 0),
            spacing=8,
        )
        buttons = fill(
            QHBoxLayout(),
            (self.message, 1),
            self._close,
            self.copy,
            self.save,
            spacing=8,
        )
        head = fill(
            QHBoxLayout(),
            named(PlainLabel(tr("Preview")), role="title"),
            1,
            self.shown,
            spacing=8,
        )
        preview = fill(QVBoxLayout(), head, (self.sheet, 1), spacing=8)
        content = fill(QHBoxLayout(), options, (preview, 1), spacing=16)
        fill(
            QVBoxLayout(self),
            (content, 1),
            buttons,
            margins=(16, 16, 16, 16),
            spacing=12,
        )
        self.save.setDefault(True)
        self.resize(1000, 600)  # pixels

    def _connect(self) -> None:
        """Connect the options and buttons of the dialog to their actions."""
        self.measures.itemChanged.connect(self.ask)
        self.others.editingFinished.connect(self._on_others)
        self.by.chosen.connect(self.ask)
        self.against.activated.connect(self.ask)
        self.test.activated.connect(self.ask)
        self.marks.toggled.connect(self._on_marks)
        for signal in (
            self.bold.toggled,
            self.sd.toggled,
            self.digits.currentIndexChanged,
        ):
            signal.connect(self._show)
        self.format.currentIndexChanged.connect(self._show)
        self.shown.chosen.connect(self._show)
        self.copy.clicked.connect(self.copy_table)
        self.save.clicked.connect(self.ask_save)
        self._close.clicked.connect(self.close)

    @Slot()
    def _on_others(self) -> None:
        if self.others.isModified():
            self.others.setModified(False)
            self.ask()


def _check_box(name: str, text: str, on: bool) -> QCheckBox:
    box = named(QCheckBox(text), name, text.replace("&", ""))
    box.setChecked(on)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return box


class TableSheet(QTextBrowser):
    """A white sheet that shows a table, or a text in a monospaced font."""

    def __init__(self) -> None:
        super().__init__()
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet(_SHEET_STYLE)
        self.document().setDocumentMargin(_SHEET_MARGIN)

    def show_table(self, table: ResultTable, style: TableStyle) -> None:
        """Show a table in a style, as the HTML of a template, in the font of the window."""
        self.setWordWrapMode(QTextOption.WrapMode.WordWrap)
        self.setFont(QFont(family()))
        self.setHtml(
            rendered(
                "result_sheet.html",
                table=table,
                style=style,
                family=family() or "sans-serif",
            )
        )

    def show_text(self, text: str) -> None:
        """Show the text of a file, line by line."""
        self.setWordWrapMode(QTextOption.WrapMode.NoWrap)
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        fixed.setPixelSize(12)
        self.setFont(fixed)
        self.setPlainText(text)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Return the selection as plain text, so that it is copied without the sheet's colors."""
        data = QMimeData()
        data.setText(self.textCursor().selection().toPlainText())
        return data


_PAPER_MEASURES = ("MAP", "NDCG@5", "NDCG@10", "P@10", "ERR", "RR")
"""Measures that papers print; they are offered even if no plan evaluates them."""


class TableController(QObject):
    """Opens the table dialog, and has the table of the ticked finished runs computed for it.

    Parameters
    ----------
    scope : ComparisonScope
        The runs that are compared.
    over : QWidget
        Widget over which the dialog opens.
    """

    def __init__(
        self, scope: ComparisonScope, over: QWidget, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = scope.session
        self._runs = scope.runs
        self._scope = scope
        self._dialog_parent = over
        self._folder = Path.home()  # that of the last saved table, later
        self._query: TableQuery | None = None
        # Calls `_make` when the value of `_key` has changed, and
        # carries out the computation that it returns. Of waiting jobs
        # of one slot, only the last is carried out.
        self._table_demand = OnDemand(
            self,
            scope.worker,
            key=self._key,
            compute=self._make,
            failed=self._refuse,
            slot="result table",
        )
        self.dialog: TableDialog | None = None
        tip = tr(
            "The ticked runs as a table for a paper: LaTeX, Markdown, HTML, Excel …"
        )
        self.button = named(
            QPushButton(tr("Table…")), "export-table", tr("Export table"), tip
        )
        self.button.clicked.connect(self.open)

    @Slot()
    def open(self) -> None:
        """Open the dialog with the default table.

        The suggested file is called after the datasets of the ticked
        runs, such as "mq2008-table". All characters but letters and
        digits become "-".
        """
        names = [run.data_name for run in self._scope.finished().values()]
        file_names = dict.fromkeys(
            "".join(c if c.isalnum() else "-" for c in name) for name in names
        )
        stem = "-".join([*file_names, "table"]).lower().lstrip("-")
        dialog = TableDialog(self._offers(), self._folder, stem, self._dialog_parent)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.asked.connect(self._ask)
        dialog.saved.connect(self._remember)
        dialog.finished.connect(self._end)
        self.dialog = dialog
        dialog.open()
        dialog.ask()  # requests the first table

    @Slot(object)
    def _ask(self, query: TableQuery) -> None:
        """Have the table of a query (measures, columns and tests) computed."""
        self._query = query
        self._table_demand.forget()
        self._table_demand.update()

    def _key(self) -> Key | None:
        return (self._query,) if self.dialog is not None else None

    def _make(self) -> Computation | None:
        """Return the computation of the table.

        Without runs, say in the dialog that none is ticked.
        """
        dialog = self.dialog
        query = self._query
        runs = tuple(self._listed_runs())
        if dialog is None or query is None:
            return None
        if not runs:
            dialog.refuse(tr("No finished run is ticked."))
            return None
        # A table needs neither the study nor the settings of a report.
        request = ReportRequest(
            runs,
            study=None,
            settings=ReportSettings(),
            seal_marks=self._session.seal_marks,
        )
        return computation(
            tr("Creating the table"), dialog.show_table, table_of, request, query
        )

    @Slot(str)
    def _refuse(self, reason: str) -> None:
        if self.dialog is not None:
            self.dialog.refuse(reason)

    def _listed_runs(self) -> Iterator[ListedRun]:
        for key, result in self._scope.finished().items():
            yield ListedRun.of(self._runs.record(key), result)

    def _offers(self) -> tuple[Offer, ...]:
        """Return the measures to tick: the shown one, the plans' measures, and usual ones of papers."""
        plans = [run.plan for run in self._scope.finished().values()]
        plan_measures = list(
            dict.fromkeys(name for plan in plans for name in plan.measures)
        )
        current = self._session.measure
        # Three measures are ticked at first: the shown one, and the
        # first ones of the plans. The shown one may be among the first
        # three already.
        n_others = 3 if current in plan_measures[:3] else 2
        ticked_names = {current, *plan_measures[:n_others]}
        offered = dict.fromkeys((current, *plan_measures, *_PAPER_MEASURES))
        return tuple(Offer(name, name, ticked=name in ticked_names) for name in offered)

    @Slot(object)
    def _remember(self, path: Path) -> None:
        self._folder = path.parent

    @Slot()
    def _end(self) -> None:
        self._table_demand.forget()
        self.dialog = None


def table_of(request: ReportRequest, query: TableQuery) -> ResultTable:
    """Compute the table of the runs of a request; ``query`` names its measures, columns and tests.

    The function is called on the worker, because reading data and
    testing can take seconds.
    """
    from rankstudio.engine.analysis.result_table.builder import result_table, table_runs  # noqa: PLC0415 - on the worker only

    return result_table(table_runs([source_of(request)]), query)
