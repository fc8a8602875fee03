"""Published: what papers and LETOR print for the known datasets, beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from rankstudio.engine.analysis.batch import entry
from rankstudio.engine.analysis.published import known
from rankstudio.engine.experiment.plan.difference import differences
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.metrics.conventions import convention
from rankstudio.ui.results.view import View
from rankstudio.ui.style.number_format import signed
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Dot, Table


@dataclass(frozen=True)
class PublishedRow:
    """A printed average beside ours.

    Attributes
    ----------
    key : int
        The run's number.
    method, data, measure : str
        The data with the convention: "MQ2008 · LETOR 4.0".
    ours, printed : float
    label, source : str
        How the source calls the method, and which it is.
    set : str
        What the run has otherwise than by default.
    """

    key: int
    method: str
    data: str
    measure: str
    ours: float
    printed: float
    label: str
    source: str
    set: str

    @property
    def difference(self) -> float:
        """Ours less the printed one."""
        return self.ours - self.printed


def published_rows(runs: Iterable[tuple[int, RunResult]]) -> list[PublishedRow]:
    """Return a row for every number printed for what runs have done."""
    return [
        PublishedRow(
            key,
            run.plan.title,
            f"{run.data_name} · {convention(run.plan.convention).label}",
            name,
            run.average[name],
            p.value,
            p.label,
            p.source,
            _set(run),
        )
        for key, run in runs
        for name, printed in entry(run).printed.items()
        for p in printed
    ]


def _set(run: RunResult) -> str:
    """Return what a run has otherwise than by default: pins, another grid."""
    plan = run.plan
    names = dict(zip(run.feature_ids.tolist(), run.feature_names, strict=True))
    default = Plan(plan.data, plan.method, ranker=plan.ranker, convention=plan.convention)
    return " · ".join(differences(plan, default, names))


def known_text() -> str:
    """Return for which datasets and methods numbers are known, as sentences."""
    told = "\n\n".join(f"{data}: {', '.join(labels)}." for data, labels in known().items())
    return (
        "Printed averages stand here beside those of a finished run, where they are known: for all five "
        f"folds as LETOR gives them, by the measures that the run reports.\n\n{told}"
    )


class PublishedView(View):
    """A row for every number that is printed for a method and a dataset that were run."""

    room = 240

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.table = Table(theme, _COLUMNS, "published-table", lambda row: (row.key, row.measure, row.source))
        self.table.setAccessibleName("Published results beside ours")
        self.table.placeholder = known_text()
        self.body.addWidget(self.table)

    def tables(self) -> Sequence[tuple[str, str, str, Table]]:
        """Return the table for export."""
        text = "What papers print for the methods that were run, beside ours."
        return (("published", "Published results", text, self.table),)

    def show_runs(self, runs: Iterable[tuple[int, RunResult]]) -> None:
        """Show what is printed for finished runs."""
        rows = published_rows(runs)
        self.table.set_rows(rows)
        self.set_caption(
            "averages of the five test parts · difference: ours less the printed" if rows else ""
        )


_COLUMNS = (
    Column("dot", "", kind="dot", value=lambda row: Dot(row.key - 1), width=30),
    Column("key", "run", "right", width=44),
    Column("method", "method", width=170),
    Column("set", "set", stretch=True, tooltip="What the run has otherwise than by default", tone="muted"),
    Column("data", "data", width=160, tone="muted", tooltip="Dataset, and the convention of our measures"),
    Column("measure", "measure", width=92),
    Column("ours", "ours", "right", ".4f", width=76),
    Column("printed", "printed", "right", ".4f", width=76),
    Column(
        "difference",
        "difference",
        "right",
        lambda value: signed(value, 4),
        tooltip="Ours less the printed one",
        width=92,
    ),
    Column("label", "called", width=116, tooltip="How the source calls the method", tone="muted"),
    Column("source", "source", width=236, tone="muted"),
)
