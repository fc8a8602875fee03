"""The Results place's view of all runs: how far each is and what it found."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QWidget

from rankstudio.ui.results.run_rows import RunRow, differing, size_text, time_text
from rankstudio.ui.results.view import View
from rankstudio.ui.style.icons import icon
from rankstudio.ui.style.number_format import signed
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Table
from rankstudio.ui.widgets.columns import Dot, Progress

_TONES = {"done": "ok", "failed": "error", "cancelled": "warning", "unfinished": "warning", "queued": "muted"}
_ACTIVE = ("queued", "running", "paused")


def _status(row: RunRow) -> Progress | str:
    """Return what the status cell shows: a bar while the run works, else a word."""
    if row.state == "running":
        return Progress(row.progress, time_text(row.seconds_left))
    if row.state == "paused":
        return Progress(row.progress, "paused")
    if row.state == "unfinished":
        return row.message.partition(" · ")[0]
    return row.state


def _with_tick(state: str) -> str:
    return "✓ done" if state == "done" else state


def _status_hint(row: RunRow) -> str:
    if row.state in ("running", "paused"):
        return f"{row.state}, {row.progress:.0%} done"
    return row.message or row.state


class RunsPanel(View):
    """All runs of the study, one a row.

    Attributes
    ----------
    selected : Signal(int)
        Key of the run that the user moved to.
    removed : Signal(int)
        Key of the run that the user wants out of the table (Delete).
    cancelRequested : Signal(int)
        Key of the run that the user wants to stop.
    goOnRequested : Signal(int)
        Key of the run that the user wants to go on.
    """

    selected = Signal(int)
    removed = Signal(int)
    cancelRequested = Signal(int)
    goOnRequested = Signal(int)
    room = 0

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setObjectName("runs-panel")
        self._rows: dict[int, RunRow] = {}
        self._shape: tuple[object, ...] = ()
        self._differences: dict[int, str] = {}
        self.table = Table(theme, (), "runs-table", lambda row: row.key)
        self.table.setAccessibleName("Runs")
        self.table.placeholder = "Runs are listed here. Press Run to start one."
        self.table.row_actions = self._actions
        self.body.addWidget(self.table)
        self.table.chosen.connect(self._on_chosen)
        shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self._remove_current)
        self._show()

    def tables(self) -> Sequence[tuple[str, str, str, Table]]:
        """Return the table of runs for export."""
        return (("runs", "Runs table", "Every run with its measures.", self.table),)

    def add_run(self, row: RunRow) -> None:
        """Add a run at the end."""
        self.update_run(row.key, row)

    def update_run(self, key: int, row: RunRow) -> None:
        """Show what is known of a run by now."""
        self._rows[key] = row
        self._show()

    def remove_run(self, key: int) -> None:
        """Take a run out; tells nobody."""
        self._rows.pop(key, None)
        self._show()

    def remove_all(self) -> None:
        """Take all runs out; tells nobody."""
        self._rows.clear()
        self._show()

    def choose(self, key: int | None) -> None:
        """Mark a run as the one that is shown; tells nobody."""
        self.table.choose(self._rows.get(key) if key is not None else None)

    def rows(self) -> tuple[RunRow, ...]:
        """Return the runs in the order in which they were added."""
        return tuple(self._rows.values())

    def _show(self) -> None:
        rows = self.rows()
        self._differences = differing(rows)
        measures = tuple(dict.fromkeys(name for row in rows for name in row.means)) or ("MAP", "NDCG@10")
        spread = next((name for row in rows for name in row.deviations if name == row.select_by), "")
        shape = (measures, spread, any(self._differences.values()))
        if shape != self._shape:
            self._shape = shape
            self.table.set_columns(self._columns(*shape))
        self.table.set_rows(rows)
        self.set_caption(self._caption_for(rows))

    def _columns(self, measures: Sequence[str], spread: str, differences: bool) -> list[Column]:
        """Return the columns; the measures are those of the plans, and the deviation that of the chooser."""
        columns = [
            Column("dot", "", kind="dot", value=lambda row: Dot(row.key - 1), width=30),
            Column("key", "run", "right", tooltip="Its number in the other views", tone="muted", width=44),
            Column("method", "method", width=190),
            Column("data", "data", width=220, tone="muted"),
        ]
        if differences:
            columns.append(
                Column(
                    "parameters",
                    "parameters",
                    tooltip="Only those in which the runs of a method differ",
                    value=lambda row: self._differences.get(row.key) or None,
                    tone="muted",
                    width=170,
                )
            )
        columns.append(
            Column(
                "status",
                "status",
                kind="progress",
                format=_with_tick,
                value=_status,
                tone=lambda row: _TONES.get(row.state, "muted"),
                hint=_status_hint,
                stretch=True,
                sort=lambda row: row.state,
            )
        )
        columns += [self._measure(name) for name in measures]
        if spread:
            columns.append(
                Column(
                    "deviation",
                    f"sd {spread}",
                    "right",
                    lambda value: f"±{value:.3f}",
                    value=lambda row: row.deviations.get(spread),
                    tooltip=f"Standard deviation of {spread} over the folds",
                    tone="muted",
                    width=96,
                )
            )
        columns.append(
            Column(
                "over_single",
                "over single",
                "right",
                lambda value: signed(value, 4),
                value=lambda row: row.over_single.get(measures[0]),
                tooltip=f"What {measures[0]} gains over the best single feature of each fold, on average",
                tone="muted",
                width=96,
            )
        )
        columns.append(
            Column(
                "k",
                "k",
                "right",
                value=lambda row: size_text(row.sizes) or None,
                tooltip="Features of the chosen models, least and most over the folds",
                sort=lambda row: min(row.sizes, default=None),
                width=72,
            )
        )
        return columns

    def _measure(self, name: str) -> Column:
        return Column(
            name,
            name,
            "right",
            ".4f",
            value=lambda row: row.means.get(name),
            tooltip=f"Mean {name} over the folds that are done",
            bold=lambda row: self._is_best(row, name),
            width=96,
        )

    def _is_best(self, row: RunRow, name: str) -> bool:
        """Tell whether a finished run has the best mean of several that can be compared."""
        comparable = [r for r in self.rows() if (r.data, r.convention) == (row.data, row.convention)]
        peers = [r.means[name] for r in comparable if r.state == "done" and name in r.means]
        if row.state != "done" or name not in row.means or min(peers) == max(peers):
            return False
        best = min(peers) if name.startswith("Disagreement") else max(peers)
        return row.means[name] == best

    def _caption_for(self, rows: Sequence[RunRow]) -> str:
        if not any(row.means for row in rows):
            return ""
        parts = sorted({row.part for row in rows if row.means})
        return f"{' and '.join(parts)} part, mean over folds ± sd"

    def _actions(self, row: RunRow) -> list[QAction]:
        """Return what the context menu offers for a run."""
        made = []
        if row.state in _ACTIVE:
            stop = QAction(icon(self._theme, "stop"), "Stop", self.table)
            stop.triggered.connect(lambda: self.cancelRequested.emit(row.key))
            made.append(stop)
        if row.can_go_on:
            go_on = QAction(icon(self._theme, "run"), "Continue", self.table)
            go_on.triggered.connect(lambda: self.goOnRequested.emit(row.key))
            made.append(go_on)
        remove = QAction(icon(self._theme, "trash"), "Remove from the table", self.table)
        remove.triggered.connect(lambda: self.removed.emit(row.key))
        made.append(remove)
        return made

    @Slot(object)
    def _on_chosen(self, row: RunRow) -> None:
        self.selected.emit(row.key)

    @Slot()
    def _remove_current(self) -> None:
        row = self.table.current()
        if row is not None:
            self.removed.emit(row.key)
