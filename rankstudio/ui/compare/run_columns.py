"""The columns of the table of runs: those in which runs differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from rankstudio.engine.analysis.significance import ALPHA, ComparedRun
from rankstudio.engine.export.tables import range_text
from rankstudio.ui.compare.view import RUN_DOT
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import signed, time_text
from rankstudio.ui.widgets import Column, ProgressCell, Tick

if TYPE_CHECKING:
    from rankstudio.ui.compare.runs_panel import RunRow
    from rankstudio.ui.model.run_record import RunRecord

Compared = Callable[["RunRow"], ComparedRun | None]

WARNING_MARK = "⚠"
"""Beside a run with a note. A dagger would be read as a significant difference, as in tables of results."""

_TONES = {"done": "ok", "failed": "error", "cancelled": "warning", "unfinished": "warning", "queued": "muted"}


def first_columns(is_ticked: Callable[[RunRow], bool], several_data: bool) -> list[Column]:
    """Return what a run is: tick, dot, number, method, and its data where there are several."""
    tick = Column(
        "tick",
        "",
        kind="tick",
        value=lambda row: Tick(is_ticked(row)),
        tooltip=tr("Which runs are compared (Space)"),
        width=30,
    )
    number = Column(
        "key", tr("run"), "right", tooltip=tr("Its number in the other views"), tone="muted", width=44
    )
    data = Column("data", tr("data"), width=170, tone="muted")
    method = Column(
        "method",
        tr("name"),
        value=lambda row: f"{row.name} {WARNING_MARK}" if row.note else row.name,
        hint=lambda row: "\n".join(filter(None, (row.method if row.label.name else "", row.note))),
        tooltip=tr("The method, or what you call the run (F2, double click)"),
        edited=lambda row: row.name,
        width=190,
    )
    return [tick, RUN_DOT, number, method, *([data] if several_data else [])]


def label_columns(shown: Collection[str]) -> list[Column]:
    """Return the columns of notes and tags, those that are shown."""
    tags = Column(
        "tags",
        tr("tags"),
        value=lambda row: ", ".join(row.label.tags) or None,
        edited=lambda row: ", ".join(row.label.tags),
        tooltip=tr("Words between commas (double click)"),
        tone="accent",
        width=110,
    )
    note = Column(
        "note",
        tr("note"),
        value=lambda row: row.label.note or None,
        edited=lambda row: row.label.note,
        tooltip=tr("What you say of the run (double click)"),
        tone="muted",
        width=170,
    )
    return [column for column in (tags, note) if column.key in shown]


def settings_column(differences: Callable[[RunRow], str | None]) -> Column:
    """Return the column of the parameters in which runs of a method differ."""
    tooltip = tr("Only those in which the runs of a method differ")
    return Column("parameters", tr("parameters"), tooltip=tooltip, value=differences, tone="muted", width=160)


def measure_column(name: str, is_best: Callable[[RunRow, str], bool]) -> Column:
    """Return the column of a measure's mean."""
    return Column(
        name,
        name,
        "right",
        ".4f",
        value=lambda row: row.summary.means.get(name),
        tooltip=tr("Mean {name} over the folds that are done").format(name=name),
        bold=lambda row: is_best(row, name),
        width=88,
    )


def difference_columns(name: str, compared: Compared) -> list[Column]:
    """Return what the queries say of each run against the reference."""

    def found(row: RunRow, what: Callable[[ComparedRun], object]) -> object:
        one = compared(row)
        return None if one is None or one.found is None else what(one)

    def clear(row: RunRow) -> bool:
        one = compared(row)
        return one is not None and one.p_holm is not None and one.p_holm < ALPHA

    def interval(one: ComparedRun) -> str:
        return f"{signed(one.found.low, 4)} … {signed(one.found.high, 4)}" if one.found else ""

    def counts(one: ComparedRun) -> str:
        return f"{one.found.wins} / {one.found.ties} / {one.found.losses}" if one.found else ""

    def role(row: RunRow) -> str | None:
        one = compared(row)
        if one is not None and one.found is None:
            return {
                "waiting": tr("comparing …"),
                "left out": tr("left out"),
                "reference": tr("reference"),
            }.get(one.role, one.role)
        return str(found(row, interval) or "") or None

    return [
        Column(
            "difference",
            tr("difference"),
            "right",
            lambda value: signed(value, 4),
            value=lambda row: found(row, lambda one: one.found and one.found.mean_difference),
            tooltip=tr("{name} less that of the reference, mean over all queries").format(name=name),
            bold=clear,
            width=88,
        ),
        Column(
            "interval",
            tr("95 % paired"),
            value=role,
            hint=lambda row: (compared(row) or _NOT_COMPARED).differs,
            tooltip=tr("Interval of the difference, by the bootstrap over queries"),
            tone="muted",
            sort=lambda row: found(row, lambda one: one.found and one.found.low),
            width=164,
        ),
        Column(
            "p_holm",
            "p (Holm)",
            "right",
            lambda value: "< 0.0001" if value < 0.0001 else f"{value:.4f}",
            value=lambda row: found(row, lambda one: one.p_holm),
            tooltip=tr("Of Fisher's randomisation test over queries, corrected for all ticked runs"),
            bold=clear,
            width=78,
        ),
        Column(
            "counts",
            tr("better / equal / worse"),
            "right",
            value=lambda row: found(row, counts),
            tooltip=tr("Queries in which it is better than the reference, equal, worse"),
            tone="muted",
            sort=lambda row: found(row, lambda one: one.found and one.found.wins),
            width=150,
        ),
    ]


_NOT_COMPARED = ComparedRun(0, "", "left out")


def spread_columns(chooser: str, name: str) -> list[Column]:
    """Return the deviation over the folds, and what a run gains over the best single feature."""
    deviation = Column(
        "deviation",
        tr("sd {chooser}").format(chooser=chooser),
        "right",
        lambda value: f"±{value:.3f}",
        value=lambda row: row.summary.deviations.get(chooser),
        tooltip=tr("Standard deviation of {chooser} over the folds").format(chooser=chooser),
        tone="muted",
        width=88,
    )
    over_single = Column(
        "over_single",
        tr("over single"),
        "right",
        lambda value: signed(value, 4),
        value=lambda row: row.summary.over_single.get(name),
        tooltip=tr("What {name} gains over the best single feature of each fold, on average").format(
            name=name
        ),
        tone="muted",
        width=88,
    )
    return [*([deviation] if chooser else []), over_single]


SIZES = Column(
    "k",
    "k",
    "right",
    value=lambda row: range_text(row.summary.sizes) or None,
    tooltip=tr("Features of the chosen models, least and most over the folds"),
    sort=lambda row: min(row.summary.sizes, default=None),
    width=72,
)


_ROLES = {"waiting": tr("comparing …"), "left out": tr("left out"), "reference": tr("reference")}

_STATES = {
    "queued": tr("queued"),
    "running": tr("running"),
    "paused": tr("paused"),
    "unfinished": tr("unfinished"),
    "done": tr("done"),
    "cancelled": tr("cancelled"),
    "failed": tr("failed"),
}
"""What is read of the state of a run."""


def _status(row: RunRow) -> ProgressCell | str:
    """Return what the status cell shows: a bar while the run works, else a word."""
    if row.state == "running":
        return ProgressCell(row.progress, time_text(row.seconds_left))
    if row.state == "paused":
        return ProgressCell(row.progress, tr("paused"))
    if row.state == "unfinished":
        return row.message.partition(" · ")[0]
    return _STATES.get(row.state, row.state)


def _status_hint(row: RunRow) -> str:
    if row.state in ("running", "paused"):
        return tr("{states}, {progress:.0%} done").format(states=_STATES[row.state], progress=row.progress)
    return row.message or _STATES.get(row.state, row.state)


STATUS = Column(
    "status",
    tr("status"),
    kind="progress",
    format=lambda state: f"✓ {state}" if state == _STATES["done"] else state,
    value=_status,
    tone=lambda row: _TONES.get(row.state, "muted"),
    hint=_status_hint,
    width=130,
    sort=lambda row: row.state,
)


def ordered(rows: Sequence[RunRow], text: str, by_method: bool) -> list[RunRow]:
    """Return the rows in which all words of a text occur, those of a method together where asked for."""
    words = text.casefold().split()
    kept = [row for row in rows if all(word in row.searched for word in words)]
    if not by_method:
        return kept
    first = {method: place for place, method in reversed(list(enumerate(row.method for row in kept)))}
    return sorted(kept, key=lambda row: first[row.method])


def folds_text(record: RunRecord) -> str:
    """Return how many folds a run has, or has done where it was stopped: "5 folds", "2 of 5 folds"."""
    done, there, folds = len(record.folds), record.n_folds, record.plan.folds
    if there == 1:
        return tr("fold {folds}").format(folds=folds[0]) if folds else tr("1 fold")
    stopped = record.state.value in ("unfinished", "cancelled", "failed")
    return (
        tr("{done} of {there} folds").format(done=done, there=there)
        if stopped and done < there
        else tr("{there} folds").format(there=there)
    )
