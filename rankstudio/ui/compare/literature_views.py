"""Two views of the literature: the runs by every evaluation convention, and beside published values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtGui import QShowEvent

from rankstudio.engine.analysis.comparisons.published import (
    PublishedRow,
    known_datasets,
    published_rows,
)
from rankstudio.engine.analysis.measurements.conventions import (
    ConventionRow,
    reversed_pairs,
)
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.metrics.conventions import CONVENTIONS, convention
from rankstudio.engine.support.number_format import signed
from rankstudio.ui.compare.view import RUN_DOT, View
from rankstudio.ui.language import tr
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column

_EMPTY_TEXT = tr(
    "Compares the finished runs on the open data under the conventions of all evaluation programs: "
    "mean of the shown measure, and rank of each run."
)


class ConventionsView(View):
    """A table of the measure by convention: a row for each finished run, a column for each convention."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        # measure and convention, on which the columns depend
        self._columns_key: tuple[str, str] = ("", "")
        about = tr("Mean of the measure and rank of each run, by convention.")
        self.table = self.add_table(
            "conventions",
            tr("Conventions"),
            about,
            _EMPTY_TEXT,
            lambda row: row.key,
            tr("Runs by convention"),
        )
        self.body.addWidget(self.table)

    def show_rows(
        self, rows: Sequence[ConventionRow], name: str, current: str, part: str
    ) -> None:
        """Show the means of runs by every convention.

        Parameters
        ----------
        rows : sequence of ConventionRow
            A row for each run, with its mean by each convention.
        name : str
            Name of the measure.
        current : str
            Key of the current convention, which all other views follow.
        part : str
            Name of the part that was measured: "test" or "validation".
        """
        if (name, current) != self._columns_key:  # what the columns depend on
            self._columns_key = name, current
            # so that the new columns never show the old rows
            self.table.set_rows(())
            self.table.set_columns(_convention_columns(name, current))
        self.table.set_rows(rows)
        self.set_caption(_caption(tuple(rows), name, current, part))


def _caption(
    rows: tuple[ConventionRow, ...], name: str, current: str, part: str
) -> str:
    """Return the caption: the convention that reverses most pairs of runs compared with the current one."""
    if not rows:
        return ""
    # (number of reversed pairs, number of all pairs) for each other convention
    counts = {
        key: reversed_pairs(rows, current, key) for key in CONVENTIONS if key != current
    }
    most_different = max(counts, key=lambda key: counts[key][0])  # most reversed pairs
    n_turned, n_pairs = counts[most_different]
    current_label = convention(current).label
    if len(rows) < 2:
        text = tr("mean {name} of the {part} part, with the rank")
    elif not n_turned:
        text = tr(
            "mean {name} of the {part} part, with the rank · all conventions agree with the order of {here}"
        )
    else:
        text = tr(
            "mean {name} of the {part} part, with the rank · {label} reverses {n_turned} of {n_pairs} "
            "pairs of runs compared with {here}"
        )
    label = convention(most_different).label
    return text.format(
        name=name,
        part=part,
        label=label,
        n_turned=n_turned,
        n_pairs=n_pairs,
        here=current_label,
    )


def _convention_columns(name: str, current: str) -> list[Column]:
    """Return the columns: the run, the run's method, and a measure by each evaluation convention.

    ``name`` is that of the measure, and ``current`` the key of the
    convention in use.
    """
    return [
        RUN_DOT,
        Column("key", tr("run"), "right", width=44),
        Column("method", tr("method"), stretch=True, least=124),
        *(_convention_column(key, name, current) for key in CONVENTIONS),
    ]


def _convention_column(key: str, name: str, current: str) -> Column:
    """Return the column of a measure and of the runs' ranks by one evaluation convention.

    ``key`` is that of the convention, and ``name`` that of the measure.
    ``current`` is the convention that all other views follow. A cell
    holds the pair of mean and rank; it is empty for a run that the
    convention cannot measure.
    """
    rules = convention(key)
    current_label = convention(current).label
    bold = (
        tr("Bold: the rank differs from {here}.").format(here=current_label)
        if key != current
        else tr("It is the current convention.")
    )
    return Column(
        key,
        rules.label,
        "right",
        lambda value: f"{value[0]:.4f}   {value[1]}",
        # `ranks` has the ranks of the run by convention
        value=lambda row: (
            (row.means[key], row.ranks[key]) if key in row.ranks else None
        ),
        sort=lambda row: row.means[key] if key in row.ranks else None,
        tooltip=tr("{name}, then the rank of the run. {summary} {bold}").format(
            name=name, summary=tr(rules.summary), bold=bold
        ),
        bold=lambda row: row.ranks.get(key) != row.ranks.get(current),
        tone="text" if key == current else "muted",
        # room for the title, of about 7 pixels a letter
        width=max(104, 24 + 7 * len(rules.label)),
    )


def _row_identity(row: PublishedRow) -> tuple[int, str, str]:
    return row.key, row.measure, row.printed.source


def known_datasets_text() -> str:
    """Return the text on the datasets and methods that have published values."""
    listing = "\n\n".join(
        f"{data}: {', '.join(labels)}." for data, labels in known_datasets().items()
    )
    return tr(
        "Published averages appear here next to those of a finished run on all five given folds, "
        "if its measures have published values.\n\n{known}"
    ).format(known=listing)


class PublishedView(View):
    """A table of published values next to ours, for methods and datasets of the finished runs."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        about = tr("Published results for the methods of the runs, next to ours.")
        label = tr("Published results")
        # The text of the empty table, "" here, is set by `show_runs`.
        self.table = self.add_table("published", label, about, "", _row_identity, label)
        self.table.set_columns(_PUBLISHED_COLUMNS)
        self.body.addWidget(self.table)

    def showEvent(self, event: QShowEvent) -> None:
        """List the datasets with published values, which are read when the view is first visible."""
        super().showEvent(event)
        self.table.placeholder = self.table.placeholder or known_datasets_text()

    def show_runs(
        self, runs: Iterable[tuple[int, RunResult]], reason: str = ""
    ) -> None:
        """Show the published values for finished runs, which are pairs of number and result.

        `reason` says why there are no runs to show. Without a reason,
        an empty table lists the datasets and methods that have
        published values.
        """
        self.table.placeholder = reason or known_datasets_text()
        rows = published_rows(runs)
        self.table.set_rows(rows)
        self.set_caption(
            tr("mean of the five test parts · difference: ours minus published")
            if rows
            else ""
        )


_PUBLISHED_COLUMNS = (
    RUN_DOT,
    Column("key", tr("run"), "right", width=44),
    Column("method", tr("method"), value=lambda row: row.run.plan.title, width=170),
    Column(
        "set",
        tr("set"),
        stretch=True,
        tooltip=tr("Parameters that differ from their defaults"),
        tone="muted",
    ),
    Column(
        "data",
        tr("data"),
        value=lambda row: (
            f"{row.run.data_name} · {convention(row.run.plan.convention).label}"
        ),
        width=160,
        tone="muted",
        tooltip=tr("Dataset, and the convention of RankStudio's measures"),
    ),
    Column("measure", tr("measure"), width=92),
    Column("ours", tr("ours"), "right", ".4f", width=76),
    Column(
        "printed",
        tr("published"),
        "right",
        ".4f",
        value=lambda row: row.printed.value,
        width=76,
    ),
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
    Column(
        "source",
        tr("source"),
        value=lambda row: row.printed.source,
        width=236,
        tone="muted",
    ),
)
