"""A view of paired tests: every finished run against a reference run, query by query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal, Slot

from rankstudio.engine.analysis.comparisons.comparability import paired_over
from rankstudio.engine.analysis.comparisons.significance import ALPHA, ComparedRun
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.export.tables import p_text
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.number_format import signed
from rankstudio.ui.compare.view import RUN_DOT, View
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.plain_text import plain
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column
from rankstudio.ui.widgets.choices import choice_box
from rankstudio.ui.widgets.layout import named
from rankstudio.ui.widgets.table import RowAction

_BEST = "best"
_REFERENCE_BOX_WIDTH = 216
_MIN_METHOD_WIDTH = 124  # pixels: room for most names
_SPARE_COLUMNS = (
    ("p_randomisation", "p_t", "p_wilcoxon"),
    ("differs",),
    ("mean",),
    ("wins", "ties", "losses"),
    ("low", "high"),
)
"""Groups of columns that a narrow table hides, in this order; the columns of a group are hidden together."""


class TestsView(View):
    """A table of paired tests: the difference of each run to a reference, its interval and its p-values.

    A choice in the header, a double click or the context menu of a row
    choose the reference.

    Attributes
    ----------
    referenceChosen : Signal(object)
        Number of the new reference run; None for the best run.
    """

    __test__ = False  # pytest would collect a class of this name
    referenceChosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._measure = ""
        # numbers and titles of the runs that are offered as the reference
        self._runs: tuple[tuple[int, str], ...] | None = None
        self.reference = named(choice_box(()), "tests-reference", tr("Reference run"))
        self.reference.setMinimumWidth(_REFERENCE_BOX_WIDTH)
        self.tools = (self.reference,)
        placeholder = tr(
            "Paired tests between finished runs on the same folds appear here."
        )
        about = tr("Every finished run against a reference run, by query.")
        self.table = self.add_table(
            "tests",
            tr("Tests table"),
            about,
            placeholder,
            lambda row: row.key,
            tr("Paired tests"),
        )
        self.table.row_actions = self._actions
        self.body.addWidget(self.table)
        self.reference.activated.connect(self._on_reference)
        self.table.activated.connect(self._on_activated)

    def show_rows(
        self, rows: Sequence[ComparedRun], name: str, plan: Plan | None
    ) -> None:
        """Show the tests of runs by the measure called ``name``.

        The first row is the reference, and `plan` is its plan; None
        without rows.
        """
        if name != self._measure:
            self._measure = name
            self.table.set_columns(_columns_for_measure(name))
        # The reference alone is no comparison.
        self.table.set_rows(rows if len(rows) > 1 else ())
        # A narrow table hides columns, one group after the other. The
        # column "differs" contains the reasons why runs are left out:
        # with such runs it is hidden last.
        some_are_left_out = any(row.role == "left out" for row in self.table.rows())
        # False sorts before True, so the group with "differs" comes last.
        hidden_first = sorted(
            _SPARE_COLUMNS, key=lambda group: some_are_left_out and "differs" in group
        )
        self.table.set_spare(*hidden_first)
        self.set_caption(self._caption_for(rows, plan))

    def set_runs(self, runs: Mapping[int, str], reference: int | None) -> None:
        """Offer runs as the reference, by their numbers and titles, and select one.

        ``reference`` is the number of the selected run; None selects
        the entry for the best run.
        """
        numbered_titles = tuple(runs.items())
        if numbered_titles != self._runs:
            self._runs = numbered_titles
            self.reference.clear()
            self.reference.addItem(tr("against the best"), _BEST)
            for key, title in numbered_titles:
                self.reference.addItem(
                    tr("run {key} · {title}").format(key=key, title=title), key
                )
        self.reference.setCurrentIndex(
            self.reference.findData(_BEST if reference is None else reference)
        )
        self.reference.setToolTip(
            plain(
                tr(
                    "Reference of the comparison: {currentText}. Double-click a run to choose it."
                ).format(currentText=self.reference.currentText())
            )
        )
        self.reference.setEnabled(len(runs) > 1)

    def _caption_for(self, rows: Sequence[ComparedRun], plan: Plan | None) -> str:
        """Return the caption of the tests: the measure, the reference, and how many tests are missing.

        The first row is the reference, and ``plan`` its plan. A waiting
        row has no test (``paired_test``) yet.
        """
        tests = [row.paired_test for row in rows if row.paired_test is not None]
        n_waiting = sum(row.role == "waiting" for row in rows)
        if len(rows) < 2 or plan is None:
            return ""
        if not tests:
            return (
                tr("comparing …")
                if n_waiting
                else tr("no other run shares the folds of the reference")
            )
        text = tr("{measure}, {over}, against run {key}")
        if n_waiting:
            text = trn(
                "{measure}, {over}, against run {key} · {waiting} comparison left …",
                "{measure}, {over}, against run {key} · {waiting} comparisons left …",
                n_waiting,
            )
        extent = paired_over(plan, tests[0].n)  # such as "784 queries"
        return text.format(
            measure=self._measure, over=extent, key=rows[0].key, waiting=n_waiting
        )

    def _actions(self, row: ComparedRun) -> list[RowAction]:
        """Return the actions of the context menu for a run."""
        compare = RowAction(
            tr("Compare the others with this run"),
            lambda: self.referenceChosen.emit(row.key),
        )
        return [] if row.role == "reference" else [compare]

    @Slot(int)
    def _on_reference(self, index: int) -> None:
        key = self.reference.itemData(index)
        self.referenceChosen.emit(None if key == _BEST else key)

    @Slot(object)
    def _on_activated(self, _: object) -> None:
        row = self.table.current()
        if row is not None and row.role != "reference":
            self.referenceChosen.emit(row.key)


def _is_significant(row: ComparedRun) -> bool:
    """Return whether the difference is significant after Holm's correction."""
    return row.p_holm is not None and row.p_holm < ALPHA


def _name_with_differences(row: ComparedRun) -> str:
    """Return the method of a run and, on a second line, the settings in which it differs."""
    return f"{row.method}\n{row.differs}" if row.differs else row.method


def _tone(row: ComparedRun) -> str:
    return "muted" if row.role == "left out" else "text"


def _four_signed_decimals(value: float) -> str:
    return signed(value, 4)


def _result_column(
    key: str,
    title: str,
    text: Callable[[Any], str],
    tooltip: str,
    width: int,
    bold: Callable[[ComparedRun], bool] | None = None,
    full: str = "",
) -> Column:
    """Return a column with one number of the tests, the attribute `key` of a `PairedComparison`.

    A run without a test (``paired_test``), such as the reference, has
    an empty cell. ``text`` formats the number; ``bold`` returns whether
    the number of a row is bold; ``full`` is a longer title for exported
    files. Title, tooltip and width (in pixels) are those of the column.
    """
    return Column(
        key,
        title,
        "right",
        text,
        value=lambda row: (
            getattr(row.paired_test, key) if row.paired_test is not None else None
        ),
        tooltip=tooltip,
        tone="text" if bold else "muted",
        bold=bold,
        width=width,
        full_title=full,
    )


def _corrected_p_column(
    key: str, raw_key: str, title: str, tooltip: str, *, decides: bool = False
) -> Column:
    """Return a column of p-values after Holm's correction, with the uncorrected p-values as hints.

    `key` and `raw_key` are the attributes with the corrected and the
    uncorrected values. `decides` tells whether the p-values of this
    column decide on significance, and are bold if significant. Title
    and tooltip are those of the column's header.
    """

    def hint(row: ComparedRun) -> str:
        """Return the uncorrected p-value, or "" for a run without a test (``paired_test``)."""
        if row.paired_test is None or getattr(row, key) is None:
            return ""
        return tr("{p} uncorrected").format(p=p_text(getattr(row.paired_test, raw_key)))

    return Column(
        key,
        title,
        "right",
        p_text,
        tooltip=tooltip,
        tone="text" if decides else "muted",
        bold=_is_significant if decides else None,
        width=66,
        hint=hint,
        full_title="Holm",
    )


_FIRST_COLUMNS = (
    RUN_DOT,
    Column("key", tr("run"), "right", width=44, tone=_tone),
    Column(
        "method",
        tr("method"),
        width=_MIN_METHOD_WIDTH,
        stretch=True,
        tone=_tone,
        hint=_name_with_differences,
    ),
    Column(
        "differs",
        tr("differs by"),
        value=lambda row: (
            tr("the reference") if row.role == "reference" else row.differs
        ),
        tooltip=tr("Settings that differ from the reference, or why a run is excluded"),
        width=100,
        stretch=True,
        tone="muted",
    ),
)
_UNCORRECTED = tr("uncorrected")
_LAST_COLUMNS = (
    _result_column(
        "low",
        tr("from"),
        _four_signed_decimals,
        tr("95 % interval of the difference: bootstrap"),
        74,
        full=tr("95 % from"),
    ),
    _result_column(
        "high",
        tr("to"),
        _four_signed_decimals,
        tr("95 % interval of the difference: bootstrap"),
        74,
    ),
    _result_column(
        "p_randomisation",
        _UNCORRECTED,
        p_text,
        tr("Fisher's randomisation test, two-sided"),
        78,
        full="p Fisher",
    ),
    _corrected_p_column(
        "p_holm",
        "p_randomisation",
        "p Fisher",
        tr(
            "Fisher's randomisation test, two-sided, Holm-corrected for all runs compared; bold below {alpha}"
        ).format(alpha=ALPHA),
        decides=True,
    ),
    _result_column(
        "p_t",
        _UNCORRECTED,
        p_text,
        tr("Student's paired t-test, two-sided"),
        78,
        full=tr("p t-test"),
    ),
    _corrected_p_column(
        "p_t_holm",
        "p_t",
        tr("p t"),
        tr("Student's paired t-test, two-sided, Holm-corrected for all runs compared"),
    ),
    _result_column(
        "p_wilcoxon",
        _UNCORRECTED,
        p_text,
        tr("Wilcoxon's signed-rank test, two-sided"),
        78,
        full=tr("p Wilcoxon"),
    ),
    _corrected_p_column(
        "p_wilcoxon_holm",
        "p_wilcoxon",
        tr("p Wilcoxon"),
        tr(
            "Wilcoxon's signed-rank test, two-sided, Holm-corrected for all runs compared"
        ),
    ),
    _result_column(
        "wins",
        "+",
        str,
        tr("Queries in which the run is better than the reference"),
        46,
        full=tr("better"),
    ),
    _result_column(
        "ties", "=", str, tr("Queries with equal values"), 46, full=tr("equal")
    ),
    _result_column(
        "losses",
        "−",
        str,
        tr("Queries in which the run is worse than the reference"),
        46,
        full=tr("worse"),
    ),
)


def _columns_for_measure(name: str) -> tuple[Column, ...]:
    """Return the columns of the table of tests for a measure: its mean, the difference, and the tests."""
    if measure(name).higher_is_better:
        tooltip = tr(
            "{name} minus that of the reference, mean over the queries; higher is better"
        )
    else:
        tooltip = tr(
            "{name} minus that of the reference, mean over the queries; lower is better"
        )
    return (
        *_FIRST_COLUMNS,
        Column(
            "mean",
            name,
            "right",
            ".4f",
            tooltip=tr("Mean {name} over the folds").format(name=name),
            width=70,
        ),
        _result_column(
            "mean_difference",
            tr("difference"),
            _four_signed_decimals,
            tooltip.format(name=name),
            80,
            bold=_is_significant,
        ),
        *_LAST_COLUMNS,
    )
