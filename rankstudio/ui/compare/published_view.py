"""Published: what papers and LETOR print for the known datasets, beside ours."""

from __future__ import annotations

from collections.abc import Iterable

from rankstudio.engine.analysis.published import PublishedRow, known_datasets, published_rows
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.metrics.conventions import convention
from rankstudio.ui.compare.view import RUN_DOT, View
from rankstudio.ui.language import tr
from rankstudio.ui.style.number_format import signed
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column


def _identity(row: PublishedRow) -> tuple[int, str, str]:
    return row.key, row.measure, row.printed.source


def known_datasets_text() -> str:
    """Return for which datasets and methods numbers are known, as sentences."""
    told = "\n\n".join(f"{data}: {', '.join(labels)}." for data, labels in known_datasets().items())
    return tr(
        "Published averages appear here next to those of a finished run, if they are known: "
        "all five given folds, and the measures of the run.\n\n{known}"
    ).format(known=told)


class PublishedView(View):
    """A row for every number that is printed for a method and a dataset that were run."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        about = tr("Published results for the methods of the runs, next to ours.")
        said, self._known = tr("Published results"), known_datasets_text()
        self.table = self.add_table("published", tr("Published results"), about, self._known, _identity, said)
        self.table.set_columns(_COLUMNS)
        self.body.addWidget(self.table)

    def show_runs(self, runs: Iterable[tuple[int, RunResult]], why: str = "") -> None:
        """Show what is printed for finished runs, or why nothing may be shown."""
        self.table.placeholder = why or self._known
        rows = published_rows(runs)
        self.table.set_rows(rows)
        self.set_caption(tr("mean of the five test parts · difference: ours minus published") if rows else "")


_COLUMNS = (
    RUN_DOT,
    Column("key", tr("run"), "right", width=44),
    Column("method", tr("method"), value=lambda row: row.run.plan.title, width=170),
    Column(
        "set", tr("set"), stretch=True, tooltip=tr("Parameters that differ from their defaults"), tone="muted"
    ),
    Column(
        "data",
        tr("data"),
        value=lambda row: f"{row.run.data_name} · {convention(row.run.plan.convention).label}",
        width=160,
        tone="muted",
        tooltip=tr("Dataset, and the convention of our measures"),
    ),
    Column("measure", tr("measure"), width=92),
    Column("ours", tr("ours"), "right", ".4f", width=76),
    Column("printed", tr("published"), "right", ".4f", value=lambda row: row.printed.value, width=76),
    Column(
        "difference",
        tr("difference"),
        "right",
        lambda value: signed(value, 4),
        tooltip=tr("Our value minus the published one"),
        width=92,
    ),
    Column(
        "label",
        tr("called"),
        value=lambda row: row.printed.label,
        width=116,
        tooltip=tr("Name of the method in the source"),
        tone="muted",
    ),
    Column("source", tr("source"), value=lambda row: row.printed.source, width=236, tone="muted"),
)
