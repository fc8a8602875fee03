"""The table of all runs: how far each is and what it found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QToolButton

from rankstudio.engine.analysis.fold_table import MeasureSummary, best_of_several, measure_summary
from rankstudio.engine.analysis.significance import ComparedRun
from rankstudio.engine.experiment.plan.difference import distinctions, parameter_texts
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import edge_notes
from rankstudio.engine.experiment.storage.run_index import RunLabel
from rankstudio.engine.metrics.conventions import convention
from rankstudio.ui.compare.run_columns import (
    SIZES,
    STATUS,
    difference_columns,
    first_columns,
    folds_text,
    label_columns,
    measure_column,
    ordered,
    settings_column,
    spread_columns,
)
from rankstudio.ui.language import tr
from rankstudio.ui.model.measured_runs import MeasuredRun
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.page.controller import ShownTable
from rankstudio.ui.style.icons import icon
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Panel, TableView
from rankstudio.ui.widgets.layout import named

_ACTIVE = ("queued", "running", "paused")


@dataclass(frozen=True)
class RunRow:
    """One run.

    Attributes
    ----------
    key : int
        Its number; also what colour and marker it has in plots that compare runs.
    plan : Plan
    data : str
        "MQ2008 · 5 folds".
    state : str
        A `RunState`'s value.
    progress : float
        Share of the work that is done, from 0 to 1.
    seconds_left : float or None
        How long it will take still; None where that is not known.
    message : str
        Why it failed, as a sentence, or what else there is to say about its state.
    can_go_on : bool
        Whether it was left unfinished and can go on.
    label : RunLabel
        What the user calls it and says of it.
    summary : MeasureSummary
        Of the folds that are done.
    measured_by : str
        Key of the convention that the summary follows; "" for the plan's.
    note : str
        What has to be said of its results; "" for nothing.
    """

    key: int
    plan: Plan
    data: str
    state: str = "queued"
    progress: float = 0.0
    seconds_left: float | None = None
    message: str = ""
    can_go_on: bool = False
    label: RunLabel = field(default_factory=RunLabel)
    summary: MeasureSummary = field(default_factory=MeasureSummary)
    measured_by: str = ""
    note: str = ""

    @property
    def method(self) -> str:
        """What is run: "Greedy RankRLS"."""
        return self.plan.title

    @property
    def name(self) -> str:
        """What it is called."""
        return self.label.name or self.method

    @property
    def searched(self) -> str:
        """What the filter looks through, in small letters."""
        parameters = (f"{label} {text}" for label, text in parameter_texts(self.plan).items())
        said = (self.name, self.method, self.data, tr(self.state), self.label.note)
        return " ".join((*said, *self.label.tags, *parameters)).casefold()

    @property
    def convention(self) -> str:
        """Label of the convention that the measures follow."""
        return convention(self.measured_by or self.plan.convention).label


def run_row(record: RunRecord, measured: MeasuredRun) -> RunRow:
    """Return the row of a run as it is now, by what is looked at."""
    folds = tuple(measured.folds.values())
    return RunRow(
        record.key,
        record.plan,
        f"{record.dataset.name} · {folds_text(record)}",
        record.state.value,
        record.progress,
        record.seconds_left,
        record.remark,
        record.can_go_on,
        record.label,
        measure_summary(measured.plan, folds),
        measured.plan.convention,
        " ".join(note.what for note in (*record.notes, *edge_notes(measured.plan, folds))),
    )


def _best_means(rows: Iterable[RunRow]) -> dict[tuple[str, str, str], float | None]:
    """Return the best mean of each measure among the finished runs of the same data and convention."""
    means: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row.state == "done":
            for name, mean in row.summary.means.items():
                means[row.data, row.convention, name].append(mean)
    return {kin: best_of_several(values, kin[2]) for kin, values in means.items()}


class RunsPanel(Panel):
    """All runs of the study, one a row.

    Attributes
    ----------
    selected : Signal(int)
        Key of the run that the user moved to.
    ticked : Signal(int)
        Key of the run whose tick the user wants to change.
    removed : Signal(int)
        Key of the run that the user wants out of the table (Delete).
    written : Signal(int, str, str)
        Key of a run, which of "method" (its name), "note" and "tags" the user wrote, and the text.
    hiddenAsked : Signal(int)
        Key of the run that is to be hidden, or shown again.
    referenceAsked : Signal(int)
        Key of the run that the others are to be compared with (R).
    comparisonAsked : Signal()
        Several runs at once are wanted.
    cancelRequested : Signal(int)
        Key of the run that the user wants to stop.
    goOnRequested : Signal(int)
        Key of the run that the user wants to go on.
    """

    selected = Signal(int)
    ticked = Signal(int)
    removed = Signal(int)
    written = Signal(int, str, str)
    hiddenAsked = Signal(int)
    referenceAsked = Signal(int)
    comparisonAsked = Signal()
    cancelRequested = Signal(int)
    goOnRequested = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Runs"), padding=0)
        self.setObjectName("runs-panel")
        self.keep_title()
        self._rows: dict[int, RunRow] = {}
        self._ticked: set[int] = set()
        self._compared: dict[int, ComparedRun] = {}
        self._measure = self._sought = ""
        self._hidden: set[str] = set()
        self._by_method = self._with_hidden = False
        self._labelled: set[str] = set()
        self._shape: tuple[Any, ...] = ()
        self._plans: dict[int, Plan] = {}
        self._differences: dict[int, str] = {}
        self._best: dict[tuple[str, str, str], float | None] = {}
        self._sealed = False
        self.table = TableView(theme, (), "runs-table", lambda row: row.key)
        self.table.setAccessibleName(tr("Runs"))
        self.table.placeholder = tr("Runs are listed here. Press Run to start one.")
        self.table.row_actions = self._actions
        self.filter = named(
            QLineEdit(),
            "runs-filter",
            tr("Filter of the runs"),
            tr("Only runs with these words: method, data, parameters"),
        )
        self.filter.setPlaceholderText(tr("filter"))
        self.filter.setClearButtonEnabled(True)
        self.filter.setFixedSize(170, 28)
        self.filter.textChanged.connect(self._show)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill_menu)
        columns = named(
            QToolButton(), "runs-columns", tr("Columns of the runs"), tr("Columns, and runs by method")
        )
        columns.setText(tr("Columns"))
        columns.setFixedHeight(28)
        columns.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        columns.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        columns.setMenu(self._menu)
        self.tools.addWidget(self.filter)
        self.tools.addWidget(columns)
        compare = named(QPushButton(tr("Run a comparison…")), "run-comparison", role="primary")
        compare.setFixedHeight(28)
        compare.clicked.connect(self.comparisonAsked)
        self.tools.addWidget(compare)
        self.tools.setSpacing(6)
        self.set_content(self.table)
        self.table.chosen.connect(lambda row: self.selected.emit(row.key))
        # Later: other rows or columns would close the editor that is just being read.
        self.table.rows_model.written.connect(self._on_written, Qt.ConnectionType.QueuedConnection)
        self.table.toggled.connect(lambda row: self.ticked.emit(row.key))
        keys = {
            QKeySequence(QKeySequence.StandardKey.Delete): self._remove_current,
            QKeySequence(Qt.Key.Key_R): self._refer_to_current,
        }
        for key, act in keys.items():
            shortcut = QShortcut(key, self.table)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(act)
        self._show()

    def show_runs(self, rows: Iterable[RunRow], *, sealed: bool = False) -> None:
        """List runs, and say where their test part is sealed; tells nobody."""
        self._sealed = sealed
        self._rows = {row.key: row for row in rows}
        self._show()

    def show_ticks(self, keys: set[int]) -> None:
        """Show which runs are ticked; tells nobody."""
        self._ticked = keys
        self.table.viewport().update()

    def show_tests(self, found: Sequence[ComparedRun], name: str) -> None:
        """Show what the queries say of the runs by a measure, which comes first and into sight."""
        if name != self._measure:
            self._hidden.discard(name)
            self._sought = name
        self._compared, self._measure = {one.key: one for one in found}, name
        self._show()

    def mark(self, key: int | None) -> None:
        """Mark a run as the one that is shown; tells nobody."""
        self.table.select(self._rows.get(key) if key is not None else None)

    def rows(self) -> tuple[RunRow, ...]:
        """Return the runs in the order of their numbers."""
        return tuple(self._rows.values())

    def tables(self) -> tuple[ShownTable, ...]:
        """Return what can be exported."""
        return (ShownTable("runs", tr("Runs table"), tr("Every run with its measures."), self.table),)

    def _show(self) -> None:
        rows = self.rows()
        plans = {row.key: row.plan for row in rows}
        if plans != self._plans:
            self._plans, self._differences = plans, distinctions(plans)
        self._best = _best_means(rows)
        measures = list(dict.fromkeys(name for row in rows for name in row.summary.means))
        measures = measures or ["MAP", "NDCG@10"]
        if self._measure in measures:
            measures.insert(0, measures.pop(measures.index(self._measure)))
        choosers = (row.plan.chosen_by for row in rows if row.plan.chosen_by in row.summary.deviations)
        data = sorted({row.data for row in rows})
        written = {key for row in rows for key in ("note", "tags") if getattr(row.label, key)}
        compared = sum(one.role in ("compared", "waiting") for one in self._compared.values())
        shape = (
            tuple(measures),
            next(choosers, ""),
            any(self._differences.values()),
            len(data) > 1,
            compared > 0,
            frozenset(self._hidden),
            frozenset(self._labelled | written),
        )
        if shape != self._shape:
            self._shape = shape
            self.table.set_columns([c for c in self._columns() if c.key not in self._hidden])
        listed = [row for row in rows if self._with_hidden or not row.label.hidden]
        shown = ordered(listed, self.filter.text(), self._by_method)
        self.table.set_rows(shown)
        if self._sought in measures and self.isVisible():
            number = [column.key for column in self.table.rows_model.columns].index(self._sought)
            self.table.scrollTo(self.table.model().index(max(0, self.table.rowAt(0)), number))
            self._sought = ""
        parts = sorted({tr(row.summary.part) for row in rows if row.summary.means})
        said = [*data] if len(data) == 1 else []
        said += [tr("{parts} part, mean over folds").format(parts=tr(" and ").join(parts))] if parts else []
        said += [tr("test part sealed")] if parts and self._sealed else []
        if len(shown) < len(rows):
            said.append(tr("{n_shown} of {n_rows} runs").format(n_shown=len(shown), n_rows=len(rows)))
        self.set_caption(" · ".join(said))

    def _columns(self) -> list[Column]:
        """Return the columns; the measures are those of the plans, and the deviation that of the chooser."""
        measures, chooser, differences, several_data, compared, _, labelled = self._shape
        found = difference_columns(measures[0], lambda row: self._compared.get(row.key))
        settings = settings_column(lambda row: self._differences.get(row.key) or None)
        first, *others = [measure_column(name, self._is_best) for name in measures]
        return [
            *first_columns(lambda row: row.key in self._ticked, several_data),
            *label_columns(labelled),
            *([settings] if differences else []),
            first,
            *(found if compared else []),
            *others,
            SIZES,
            STATUS,
            *spread_columns(chooser, measures[0]),
        ]

    def _is_best(self, row: RunRow, name: str) -> bool:
        """Tell whether a finished run has the best mean of several that can be compared."""
        best = self._best.get((row.data, row.convention, name))
        return row.state == "done" and best is not None and row.summary.means.get(name) == best

    def _actions(self, row: RunRow) -> list[QAction]:
        """Return what the context menu offers for a run."""
        made = []
        for key, text in (("method", tr("Rename")), ("tags", tr("Tags…")), ("note", tr("Note…"))):
            made.append(QAction(text, self.table))
            made[-1].triggered.connect(lambda _=False, key=key: self._edit(key))
        for offered, name, text, signal in (
            (row.state in _ACTIVE, "stop", tr("Stop"), self.cancelRequested),
            (row.can_go_on, "run", tr("Continue"), self.goOnRequested),
            (row.state == "done", "compare", tr("Compare the others with this run"), self.referenceAsked),
            (True, "minus", tr("Show again") if row.label.hidden else tr("Hide"), self.hiddenAsked),
            (True, "trash", tr("Remove from the table"), self.removed),
        ):
            if offered:
                made.append(QAction(icon(self._theme, name), text, self.table))
                made[-1].triggered.connect(lambda _=False, signal=signal: signal.emit(row.key))
        return made

    @Slot(object, str, str)
    def _on_written(self, row: RunRow, key: str, text: str) -> None:
        self.written.emit(row.key, key, text)

    @Slot()
    def _refer_to_current(self) -> None:
        row = self.table.current()
        if row is not None and row.state == "done":
            self.referenceAsked.emit(row.key)

    @Slot()
    def _fill_menu(self) -> None:
        """Offer all columns but those that say which run it is."""
        self._menu.clear()
        together = self._menu.addAction(tr("Runs of a method together"))
        together.setCheckable(True)
        together.setChecked(self._by_method)
        together.toggled.connect(self._group)
        hidden = self._menu.addAction(tr("Hidden runs too"))
        hidden.setCheckable(True)
        hidden.setChecked(self._with_hidden)
        hidden.toggled.connect(self._show_hidden)
        self._menu.addSeparator()
        for column in self._columns():
            if column.title and column.key not in ("key", "method"):
                action = self._menu.addAction(column.title)
                action.setCheckable(True)
                action.setChecked(column.key not in self._hidden)
                action.toggled.connect(lambda on, key=column.key: self._hide_column(key, not on))

    def _group(self, on: bool) -> None:
        self._by_method = on
        self._show()

    def _show_hidden(self, on: bool) -> None:
        self._with_hidden = on
        self._show()

    def _edit(self, key: str) -> None:
        """Let the user write into a cell of the chosen row, whose column is shown then."""
        self._labelled.add(key)
        self._show()
        self.table.edit_cell(key)

    def _hide_column(self, key: str, hidden: bool) -> None:
        (self._hidden.add if hidden else self._hidden.discard)(key)
        self._show()

    @Slot()
    def _remove_current(self) -> None:
        row = self.table.current()
        if row is not None:
            self.removed.emit(row.key)
