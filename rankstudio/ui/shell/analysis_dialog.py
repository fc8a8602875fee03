"""The dialog *Analyses*, with the parameters of the chosen analysis and the tables that it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.analysis.catalog_analyses.analysis_code import (
    analysis_as_command,
)
from rankstudio.engine.analysis.catalog_analyses.plugin_analysis import analysis_steps
from rankstudio.engine.analysis.measurements.measurement import (
    sealed_data,
    sealed_plan_data,
    sealed_run,
)
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.methods.catalog.analysis import (
    Analysis,
    AnalysisResult,
    AnalysisTable,
    Needs,
    cell_text,
)
from rankstudio.engine.support.escaping import html_text
from rankstudio.ui.background.simulation import BackgroundSimulation, SimulationState
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.selected_model import SEALED
from rankstudio.ui.select.fields import align_labels
from rankstudio.ui.select.section import ParameterSection
from rankstudio.ui.style.progress_bar import DeferredProgressBar
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, ElidedLabel, TableView
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ColumnArea, WrappedLabel

_Subject = Callable[[], tuple[Any, ...]]
"""Returns the subject of an analysis; called on the worker."""

_NO_COMMAND = tr("The terminal has no command for what is open here.")
_DIALOG_SIZE = 960, 560
_FORM_WIDTH = 300
_MIN_TEXT_WIDTH = 170


class AnalysisDialog(QDialog):
    """A dialog in which the user chooses an analysis and its parameters, starts it, and sees its tables.

    Closing the dialog stops the computation.

    Parameters
    ----------
    theme : Theme
    models : Models
        The open data, the plan and the shown run, which are analyzed;
        sealed test parts are left out.
    entries : Mapping of str to Analysis
        The analyses by their keys; at least one.
    parent : QWidget, optional

    Attributes
    ----------
    choice : QComboBox
        Choice of the analysis.
    start, stop, copy : QPushButton
        Buttons that start and stop the computation, and copy its
        command for the terminal.
    tabs : QTabWidget
        A tab for each table.
    message : WrappedLabel
        Reason why there are no tables.
    """

    def __init__(
        self,
        theme: Theme,
        models: Models,
        entries: Mapping[str, Analysis],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._models = models
        self._entries = entries

        self._subject_name = ""  # what is analyzed, such as "run 3 on MQ2008"
        self._problem = ""  # why the last computation failed
        self._notes: list[str] = []  # the note below each table
        self._warnings: tuple[str, ...] = ()  # those of the result
        title = tr("Analyses")
        named(self, "analysis-dialog", title)
        self.setWindowTitle(title)
        self.choice = named(
            choice_box(tuple((key, tr(entry.label)) for key, entry in entries.items())),
            "analysis-choice",
            tr("Analysis"),
        )
        self.summary = named(WrappedLabel(), "analysis-summary", role="caption")
        self.section = ParameterSection(theme, "analysis-", "analysis-options")
        self.start = named(QPushButton(tr("Start")), "analysis-start", role="primary")
        self.stop = named(QPushButton(tr("Stop")), "analysis-stop")
        self.bar = named(
            DeferredProgressBar(), "analysis-progress", tr("progress of the analysis")
        )
        self.status = named(ElidedLabel(), "analysis-status", role="muted")
        self.message = named(WrappedLabel(), "analysis-message", role="muted")
        self.message.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.tabs = named(QTabWidget(), "analysis-tables", tr("tables"))
        self.tabs.setElideMode(Qt.TextElideMode.ElideRight)
        self.tabs.setUsesScrollButtons(False)
        self.note = named(WrappedLabel(), "analysis-note", role="caption")
        self.copy = named(QPushButton(tr("Copy command")), "analysis-copy")
        self.close_button = named(QPushButton(tr("Close")), "analysis-close")

        # Computes an analysis on a worker thread, and sends each state.
        self._work = BackgroundSimulation(
            models.task_worker, tr("Computing the analysis"), "analysis", self
        )
        self._lay_out()
        self._connect()
        self._choose()

    @property
    def entry(self) -> Analysis:
        """The analysis that is chosen."""
        return self._entries[self.choice.currentData()]

    def tables(self) -> tuple[TableView, ...]:
        """Return the tables that are shown."""
        return tuple(self.tabs.widget(index) for index in range(self.tabs.count()))  # type: ignore[misc]

    def _lay_out(self) -> None:
        """Lay out the choice and its parameters on the left, and the tables on the right."""
        page = named(QWidget(), role="page")
        form = fill(QVBoxLayout(page), self.section, margins=(0, 0, 8, 0), spacing=6)
        form.addStretch(1)
        area = named(ColumnArea(), "analysis-form")
        area.setWidget(page)
        buttons = fill(QHBoxLayout(), (self.start, 1), self.stop, spacing=8)

        # A pair is a widget with its stretch factor.
        form_column = QWidget()
        form_column.setFixedWidth(_FORM_WIDTH)
        fill(
            QVBoxLayout(form_column),
            self.choice,
            self.summary,
            (area, 1),
            buttons,
            self.bar,
            margins=(0, 0, 0, 0),
            spacing=10,
        )
        results = fill(
            QVBoxLayout(), self.message, (self.tabs, 1), self.note, spacing=8
        )

        # The space gets height only while no other part wants it.
        results.addStretch(0)
        content = fill(QHBoxLayout(), form_column, (results, 1), spacing=16)
        foot = fill(
            QHBoxLayout(), (self.status, 1), self.copy, self.close_button, spacing=8
        )
        fill(
            QVBoxLayout(self), (content, 1), foot, margins=(16, 14, 16, 14), spacing=10
        )
        self.resize(*_DIALOG_SIZE)

    def _connect(self) -> None:
        """Connect the widgets, and the changes of session and runs, to their actions."""
        session = self._models.session
        runs = self._models.runs
        self.choice.currentIndexChanged.connect(self._choose)
        self.start.clicked.connect(self._start)
        self.stop.clicked.connect(self._work.stop)
        self.copy.clicked.connect(self._copy)
        self._work.grew.connect(self._show_progress)
        self._work.changed.connect(self._show_state)
        self._work.failed.connect(self._fail)
        self.tabs.currentChanged.connect(self._show_note)
        self.close_button.clicked.connect(self.reject)
        self.finished.connect(self._work.stop)
        for signal in (
            session.datasetChanged,
            session.foldChanged,
            runs.shownChanged,
            session.sealChanged,
        ):
            signal.connect(self._show_state)

    @Slot()
    def _choose(self) -> None:
        """Show the form of the analysis that is chosen in the box, and no tables.

        The computation of another analysis that still runs is stopped.
        """
        self._work.stop()
        entry = self.entry
        summary = tr(entry.summary)
        self.summary.setText(f"{summary[:1].upper()}{summary[1:]}.")
        self.section.show_parameters(entry.key, entry.parameters)
        dataset = self._models.session.dataset
        if dataset is not None:
            self.section.set_features(dataset.feature_ids, dataset.feature_names)

        # All fields are aligned, as hidden ones may be shown after an edit.
        fields = list(self.section.fields.values())
        if fields:
            align_labels(fields)
        self._show_tables(())
        self._show_state()

    @Slot()
    def _start(self) -> None:
        """Carry out the analysis; do nothing if a value is invalid or there is nothing to analyze."""
        # This takes over the typed values, and shows the first invalid one.
        if not self._commit():
            return
        entry = self.entry

        # The subject, such as data without sealed parts, is made on the worker.
        make_subject, self._subject_name = self._subject_of(entry)
        if make_subject is None:
            return
        values = self._values()
        self._show_tables(())
        self.bar.set_share(0.0)
        self._work.start(lambda: analysis_steps(entry, make_subject(), values))

    def _commit(self) -> bool:
        """Take over the typed values, show the first invalid one if any, and return whether all are valid."""
        invalid = [field for field in self.section.shown() if not field.commit()]
        if invalid:
            self.section.reveal(invalid[0])
            invalid[0].editor.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return not invalid

    def _values(self) -> dict[str, Any]:
        """Return the values of the parameters by name."""
        return {
            name.removeprefix("analysis-"): value
            for name, value in self.section.values().items()
        }

    @Slot()
    def _copy(self) -> None:
        """Copy the terminal command of the analysis, unless a value is invalid."""
        # This takes over the typed values, and shows the first invalid one.
        if not self._commit():
            return
        command = self._command()
        if command:
            QGuiApplication.clipboard().setText(command)
        self.status.setText(
            tr("The command is on the clipboard") if command else _NO_COMMAND
        )

    def _command(self) -> str:
        """Return the terminal command of the analysis; "" where there is none."""
        entry = self.entry
        session = self._models.session
        record = self._models.current.shown.record
        plan = session.plan

        # The plan in a command names the folds. Data are analyzed on
        # the shown fold alone; no name stands for all folds.
        if entry.needs is Needs.DATA:
            plan = plan.changed(folds=() if session.fold is None else (session.fold,))
        stored_run = None if record is None else record.stored
        run_id = None if stored_run is None else stored_run.id
        return analysis_as_command(
            entry, plan, self._values(), self._models.study_store.path, run_id
        )

    def _subject_of(self, entry: Analysis) -> tuple[_Subject | None, str]:
        """Return a function that makes the subject of an analysis, and the subject's name for the user.

        The subject is what the analysis needs: a training part, the
        folds, a plan on them, or a run. The function leaves out sealed
        test parts when it is called. Instead of a function, None is
        returned, with any name, if there is no such subject now.
        """
        session = self._models.session
        dataset = session.dataset
        sealed = session.sealed
        if dataset is None or not session.has_documents:
            return None, ""
        if entry.needs is Needs.DATA:
            # While all folds are shown, the first one is analyzed.
            number = session.fold or dataset.folds[0].number
            fold = next(fold for fold in dataset.folds if fold.number == number)
            name = tr("{data}, training part of fold {fold}").format(
                data=dataset.name, fold=number
            )
            return partial(_data_subject, fold.train), name
        if entry.needs is Needs.FOLDS:
            return partial(_dataset_subject, dataset, sealed), dataset.name
        if entry.needs is Needs.PLAN:
            name = tr("{plan} on {data}").format(
                plan=session.plan.title, data=dataset.name
            )
            if not session.data_match_plan:
                # The open files were read otherwise than the plan says.
                return None, name
            return partial(_plan_subject, session.plan, dataset, sealed), name

        # All other analyses need the shown run, and its data, which must be open.
        record = self._models.current.shown.record

        # `view` returns the run with the measures in use, without those
        # on a sealed test part.
        result = None if record is None else self._models.measured.view(record).result
        if record is None or result is None or record.dataset is not dataset:
            return None, ""
        name = tr("run {key} on {data}").format(key=record.key, data=dataset.name)
        return partial(_run_subject, result, dataset, sealed), name

    @Slot(object)
    def _show_progress(self, state: Any) -> None:
        """Show a state of the computation.

        ``state`` is the result, which may still grow, or the progress:
        the share that is done, from 0 to 1, and what the computation
        does now.
        """
        if isinstance(state, AnalysisResult):
            self._warnings = state.warnings
            self._show_tables(state.tables)
        else:
            self.bar.set_share(state.share)
            self.status.setText(str(state.what))

    @Slot(str)
    def _fail(self, sentence: str) -> None:
        """Show why the computation failed, with a hint if it needs the sealed test part.

        ``sentence`` is the error.
        """
        asks_for_test = (
            self._models.session.sealed and Part.TEST.value in self._values().values()
        )
        self._problem = f"{sentence} {SEALED}" if asks_for_test else sentence
        self._show_state()

    @Slot()
    def _show_state(self) -> None:
        """Enable the possible actions, and show the reason if there are no tables."""
        is_running = self._work.state is SimulationState.RUNNING
        make_subject, _ = self._subject_of(self.entry)
        has_subject = make_subject is not None
        self.start.setEnabled(has_subject and not is_running)
        self.stop.setEnabled(is_running)

        # The code of a plug-in's analysis (one that is not RankStudio's
        # own) may take long to return its command. It is called only
        # when the button is pressed; here, a command is assumed.
        has_command = has_subject and (not self.entry.is_own or bool(self._command()))
        self.copy.setEnabled(has_command)
        self.copy.setToolTip("" if has_command else _NO_COMMAND)
        self.bar.setVisible(is_running)
        if is_running:
            self.message.setText(tr("Computing …"))
        elif has_subject or self._problem:
            self.message.setText(
                self._problem or tr("Press Start to compute the tables.")
            )
        elif self.entry.needs is Needs.RUN:
            self.message.setText(
                tr("This analysis needs a finished run on the open data.")
            )
        elif self.entry.needs is Needs.PLAN:
            self.message.setText(
                tr("This analysis needs open data that were read as the plan says.")
            )
        else:
            self.message.setText(tr("This analysis needs open data."))

        # The line at the foot says what the shown tables are about, or
        # what failed after some of them were there.
        if not is_running:
            self.status.setText(
                (self._problem or self._subject_name) if self.tabs.count() else ""
            )

    def _show_tables(self, tables: Sequence[AnalysisTable]) -> None:
        """Replace the tables by others, each in a tab; this also removes the last problem.

        Without tables, show the message instead, and forget the warnings.
        """
        current = self.tabs.currentIndex()
        for view in self.tables():
            view.deleteLater()
        self.tabs.clear()
        if not tables:
            self._warnings = ()
        self._notes = [_table_note(table, self._warnings) for table in tables]
        for index, table in enumerate(tables):
            # Qt takes a single & for the mark of a mnemonic.
            self.tabs.addTab(self._view(index, table), table.title.replace("&", "&&"))
            self.tabs.setTabToolTip(index, html_text(table.title))

        # An analysis shows its tables repeatedly while they grow: the user's tab stays.
        self.tabs.setCurrentIndex(min(current, len(tables) - 1))
        self.tabs.setVisible(bool(tables))
        self.tabs.tabBar().setVisible(len(tables) > 1)
        self.message.setVisible(not tables)
        self._problem = ""
        self._show_note()

    @Slot()
    def _show_note(self) -> None:
        """Show the note on the table of the present tab."""
        index = self.tabs.currentIndex()
        note = self._notes[index] if 0 <= index < len(self._notes) else ""
        self.note.setText(note)
        self.note.setVisible(bool(note))

    def _view(self, index: int, table: AnalysisTable) -> TableView:
        """Return the view of a table of the result, which is the tab with this index, from 0.

        The index is part of the view's name. The first column of texts
        stretches.
        """
        # `text_columns` has the indices of the columns of texts. The
        # others are numbers, and are aligned to the right. Without
        # texts, the first column stretches.
        stretched_column = min(table.text_columns, default=0)
        columns = [
            Column(
                str(number),
                title,
                "left" if number in table.text_columns else "right",
                cell_text,
                partial(_row_cell, number),
                stretch=number == stretched_column,
                least=_MIN_TEXT_WIDTH,
            )
            for number, title in enumerate(table.header)
        ]

        # `id` is the function that returns the key of a row: rows have
        # no key of their own, and are distinguished by their identity.
        view = TableView(
            self._theme,
            columns,
            f"analysis-table-{index + 1}",
            id,
            accessible_name=table.title,
            placeholder=tr("The table has no rows."),
            shared=Shared(f"analysis-{self.entry.key}-{index + 1}", table.title),
        )
        view.set_rows(list(table.rows))
        view.failed.connect(self.status.setText)
        return view


def _data_subject(data: RankingDataset) -> tuple[Any, ...]:
    """Return the subject of an analysis of a training part."""
    return (data,)


def _dataset_subject(dataset: FoldedDataset, sealed: bool) -> tuple[Any, ...]:
    """Return the subject of an analysis of folds, a tuple of the dataset, without sealed test parts.

    ``sealed`` says whether the test parts are sealed; else nothing is left out.
    """
    return (sealed_data(dataset) if sealed else dataset,)


def _plan_subject(plan: Plan, dataset: FoldedDataset, sealed: bool) -> tuple[Any, ...]:
    """Return the subject of an analysis of a plan: the plan and its data, without sealed test parts.

    ``sealed`` says whether the test parts are sealed; else nothing is left out.
    """
    return plan, sealed_plan_data(plan, dataset) if sealed else dataset


def _run_subject(
    result: RunResult, dataset: FoldedDataset, sealed: bool
) -> tuple[Any, ...]:
    """Return the subject of an analysis of a run: its result and its data, without sealed test parts.

    ``sealed`` says whether the test parts are sealed; else nothing is left out.
    """
    return (sealed_run(result), sealed_data(dataset)) if sealed else (result, dataset)


def _table_note(table: AnalysisTable, warnings: Sequence[str]) -> str:
    """Return the text below a table: what the terminal prints above the table, its note, and warnings."""
    return "\n".join(
        filter(None, ((table.above or "").strip("\n"), table.note, *warnings))
    )


def _row_cell(number: int, row: Sequence[Any]) -> Any:
    """Return the cell of a row at a position, from 0."""
    return row[number]
