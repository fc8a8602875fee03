"""The table of all runs: how far each is and what it found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence, QShortcut

from rankstudio.engine.analysis.fold_table import MeasureSummary, best_of_several, measure_summary
from rankstudio.engine.experiment.plan.difference import distinctions
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.export.tables import range_text
from rankstudio.engine.metrics.conventions import convention
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.results.view import RUN_DOT
from rankstudio.ui.style.icons import icon
from rankstudio.ui.style.number_format import signed, time_text
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Panel, ProgressCell, TableView, Tick

_TONES = {"done": "ok", "failed": "error", "cancelled": "warning", "unfinished": "warning", "queued": "muted"}
_ACTIVE = ("queued", "running", "paused")
_STOPPED = ("unfinished", "cancelled", "failed")


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
    summary : MeasureSummary
        Of the folds that are done.
    """

    key: int
    plan: Plan
    data: str
    state: str = "queued"
    progress: float = 0.0
    seconds_left: float | None = None
    message: str = ""
    can_go_on: bool = False
    summary: MeasureSummary = field(default_factory=MeasureSummary)

    @property
    def method(self) -> str:
        """What is run: "Greedy RankRLS"."""
        return self.plan.title

    @property
    def convention(self) -> str:
        """Label of the convention that the measures follow."""
        return convention(self.plan.convention).label


def run_row(record: RunRecord) -> RunRow:
    """Return the row of a run as it is now."""
    plan, state = record.plan, record.state.value
    done, there = len(record.folds), record.n_folds
    folds = f"{there} folds"
    if there == 1:
        folds = f"fold {plan.folds[0]}" if plan.folds else "1 fold"
    elif state in _STOPPED and done < there:
        folds = f"{done} of {there} folds"
    return RunRow(
        record.key,
        plan,
        f"{record.dataset.name} · {folds}",
        state,
        record.progress,
        record.seconds_left,
        record.remark,
        record.can_go_on,
        measure_summary(plan, tuple(record.folds.values())),
    )


def _status(row: RunRow) -> ProgressCell | str:
    """Return what the status cell shows: a bar while the run works, else a word."""
    if row.state == "running":
        return ProgressCell(row.progress, time_text(row.seconds_left))
    if row.state == "paused":
        return ProgressCell(row.progress, "paused")
    if row.state == "unfinished":
        return row.message.partition(" · ")[0]
    return row.state


def _status_hint(row: RunRow) -> str:
    if row.state in ("running", "paused"):
        return f"{row.state}, {row.progress:.0%} done"
    return row.message or row.state


def _best_means(rows: Iterable[RunRow]) -> dict[tuple[str, str, str], float | None]:
    """Return the best mean of each measure among the finished runs of the same data and convention."""
    means: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row.state == "done":
            for name, mean in row.summary.means.items():
                means[row.data, row.convention, name].append(mean)
    return {kin: best_of_several(values, kin[2]) for kin, values in means.items()}


_FIRST = (
    RUN_DOT,
    Column("key", "run", "right", tooltip="Its number in the other views", tone="muted", width=44),
    Column("method", "method", width=190),
    Column("data", "data", width=220, tone="muted"),
)
_STATUS = Column(
    "status",
    "status",
    kind="progress",
    format=lambda state: "✓ done" if state == "done" else state,
    value=_status,
    tone=lambda row: _TONES.get(row.state, "muted"),
    hint=_status_hint,
    stretch=True,
    sort=lambda row: row.state,
)
_SIZES = Column(
    "k",
    "k",
    "right",
    value=lambda row: range_text(row.summary.sizes) or None,
    tooltip="Features of the chosen models, least and most over the folds",
    sort=lambda row: min(row.summary.sizes, default=None),
    width=72,
)


def _deviation(name: str) -> Column:
    return Column(
        "deviation",
        f"sd {name}",
        "right",
        lambda value: f"±{value:.3f}",
        value=lambda row: row.summary.deviations.get(name),
        tooltip=f"Standard deviation of {name} over the folds",
        tone="muted",
        width=96,
    )


def _over_single(name: str) -> Column:
    return Column(
        "over_single",
        "over single",
        "right",
        lambda value: signed(value, 4),
        value=lambda row: row.summary.over_single.get(name),
        tooltip=f"What {name} gains over the best single feature of each fold, on average",
        tone="muted",
        width=96,
    )


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
    cancelRequested : Signal(int)
        Key of the run that the user wants to stop.
    goOnRequested : Signal(int)
        Key of the run that the user wants to go on.
    """

    selected = Signal(int)
    ticked = Signal(int)
    removed = Signal(int)
    cancelRequested = Signal(int)
    goOnRequested = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Runs", padding=0)
        self.setObjectName("runs-panel")
        self._rows: dict[int, RunRow] = {}
        self._ticked: set[int] = set()
        self._shape: tuple[object, ...] = ()
        self._plans: dict[int, Plan] = {}
        self._differences: dict[int, str] = {}
        self._best: dict[tuple[str, str, str], float | None] = {}
        self.table = TableView(theme, (), "runs-table", lambda row: row.key)
        self.table.setAccessibleName("Runs")
        self.table.placeholder = "Runs are listed here. Press Run to start one."
        self.table.row_actions = self._actions
        self.set_content(self.table)
        self.table.chosen.connect(self._on_chosen)
        self.table.toggled.connect(lambda row: self.ticked.emit(row.key))
        shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self._remove_current)
        self._show()

    def show_runs(self, rows: Iterable[RunRow]) -> None:
        """List runs; tells nobody."""
        self._rows = {row.key: row for row in rows}
        self._show()

    def show_ticks(self, keys: set[int]) -> None:
        """Show which runs are ticked; tells nobody."""
        self._ticked = keys
        self.table.viewport().update()

    def mark(self, key: int | None) -> None:
        """Mark a run as the one that is shown; tells nobody."""
        self.table.select(self._rows.get(key) if key is not None else None)

    def rows(self) -> tuple[RunRow, ...]:
        """Return the runs in the order of their numbers."""
        return tuple(self._rows.values())

    def tables(self) -> tuple[tuple[str, str, str, TableView], ...]:
        """Return what can be exported: key, label, a sentence on what is in it, and the table."""
        return (("runs", "Runs table", "Every run with its measures.", self.table),)

    def _show(self) -> None:
        rows = self.rows()
        plans = {row.key: row.plan for row in rows}
        if plans != self._plans:
            self._plans, self._differences = plans, distinctions(plans)
        self._best = _best_means(rows)
        measures = tuple(dict.fromkeys(name for row in rows for name in row.summary.means))
        measures = measures or ("MAP", "NDCG@10")
        choosers = (row.plan.select_by for row in rows if row.plan.select_by in row.summary.deviations)
        shape = (measures, next(choosers, ""), any(self._differences.values()))
        if shape != self._shape:
            self._shape = shape
            self.table.set_columns(self._columns(*shape))
        self.table.set_rows(rows)
        parts = sorted({row.summary.part for row in rows if row.summary.means})
        self.set_caption(f"{' and '.join(parts)} part, mean over folds ± sd" if parts else "")

    def _columns(self, measures: Sequence[str], chooser: str, differences: bool) -> list[Column]:
        """Return the columns; the measures are those of the plans, and the deviation that of the chooser."""
        return [
            Column(
                "tick",
                "",
                kind="tick",
                value=lambda row: Tick(row.key in self._ticked),
                tooltip="Which runs are compared (Space)",
                width=30,
            ),
            *_FIRST,
            *([self._parameters()] if differences else []),
            _STATUS,
            *(self._measure(name) for name in measures),
            *([_deviation(chooser)] if chooser else []),
            _over_single(measures[0]),
            _SIZES,
        ]

    def _parameters(self) -> Column:
        return Column(
            "parameters",
            "parameters",
            tooltip="Only those in which the runs of a method differ",
            value=lambda row: self._differences.get(row.key) or None,
            tone="muted",
            width=170,
        )

    def _measure(self, name: str) -> Column:
        return Column(
            name,
            name,
            "right",
            ".4f",
            value=lambda row: row.summary.means.get(name),
            tooltip=f"Mean {name} over the folds that are done",
            bold=lambda row: self._is_best(row, name),
            width=96,
        )

    def _is_best(self, row: RunRow, name: str) -> bool:
        """Tell whether a finished run has the best mean of several that can be compared."""
        best = self._best.get((row.data, row.convention, name))
        return row.state == "done" and best is not None and row.summary.means.get(name) == best

    def _actions(self, row: RunRow) -> list[QAction]:
        """Return what the context menu offers for a run."""
        made = []
        for offered, name, text, signal in (
            (row.state in _ACTIVE, "stop", "Stop", self.cancelRequested),
            (row.can_go_on, "run", "Continue", self.goOnRequested),
            (True, "trash", "Remove from the table", self.removed),
        ):
            if offered:
                made.append(QAction(icon(self._theme, name), text, self.table))
                made[-1].triggered.connect(lambda _=False, signal=signal: signal.emit(row.key))
        return made

    @Slot(object)
    def _on_chosen(self, row: RunRow) -> None:
        self.selected.emit(row.key)

    @Slot()
    def _remove_current(self) -> None:
        row = self.table.current()
        if row is not None:
            self.removed.emit(row.key)
