"""The view of risk: the gains and losses of each run against the reference, and its GeoRisk."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout

from rankstudio.engine.analysis.comparisons.comparability import comparable_groups
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.export.tables import p_text
from rankstudio.engine.statistics.risk import ALPHA
from rankstudio.engine.support.number_format import signed
from rankstudio.plugins.risk.risk_tables import risk_notes
from rankstudio.plugins.risk.run_risks import GroupRisk, RunRisk, group_risk
from rankstudio.ui.background.on_demand import Computation, computation
from rankstudio.ui.compare.view import ComparedRuns, ContributedComparison
from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Dot
from rankstudio.ui.widgets.layout import fill, named, spaced

_MAX_ALPHA = 100.0
_SPARE_COLUMNS = (("p",), ("n_losses",), ("gain", "loss"), ("mean",))
"""Columns that a narrow table hides, in this order."""


def risk_of_runs(
    runs: Mapping[int, RunResult],
    titles: Mapping[int, str],
    measure: str,
    reference: int,
    alpha: float,
) -> GroupRisk:
    """Return the risk of comparable runs against one of them; for the worker."""
    (group,) = comparable_groups(runs)
    return group_risk(group, titles, measure, baseline=reference, alpha=alpha)


class RiskView(ContributedComparison):
    """Shows the risk of the ticked runs against the reference as a table, above the notes.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    alpha : QDoubleSpinBox
        Risk aversion.
    table : TableView
    note : PlainLabel
    """

    def __init__(self, theme: Theme) -> None:
        """Make the field of the risk aversion, the empty table, and the line for notes."""
        super().__init__(theme)

        # The measure in the table's titles, which are set with the first risks.
        self._measure = ""
        tip = tr(
            "Risk aversion: a loss counts 1 + α times as much as a gain. Raise it if no query may become worse."
        )
        self.alpha = named(
            spaced(QDoubleSpinBox()), "risk-alpha", tr("Risk aversion α"), tip=tip
        )
        self.alpha.setRange(0.0, _MAX_ALPHA)
        self.alpha.setDecimals(1)
        self.alpha.setPrefix("α = ")
        self.alpha.setValue(ALPHA)

        # The risks are computed when a number is complete, not for each key.
        self.alpha.setKeyboardTracking(False)
        self.alpha.valueChanged.connect(self._on_alpha)
        self.tools = (self.alpha,)

        # Key, label, description, text of the empty table, identity of
        # a row, and name for screen readers.
        self.table = self.add_table(
            "risk",
            tr("Risk"),
            tr("Gains and losses of every finished run against a reference, by query."),
            tr("The risk of finished runs on the same folds appears here."),
            lambda row: row.number,
            tr("Risk of runs"),
        )
        self.note = named(PlainLabel(wraps=True), "risk-note", role="caption")
        note_row = fill(QHBoxLayout(), self.note, margins=(12, 6, 8, 6))
        fill(self.body, (self.table, 1), note_row)

    def options(self) -> Hashable:  # noqa: D102 - inherited
        return self.alpha.value()

    def compare(self, compared: ComparedRuns) -> Computation | None:
        """Return the computation of the risks of the ticked runs against the reference.

        The caller runs it, and ``show_risk`` then shows the result.
        Without a reference, or with a single run, empty the view and
        return None.
        """
        if compared.reference is None or len(compared.runs) < 2:
            self.clear()
            return None
        return computation(
            tr("Computing risks"),
            self.show_risk,
            risk_of_runs,
            dict(compared.runs),
            dict(compared.titles),
            compared.measure,
            compared.reference,
            self.alpha.value(),
        )

    def show_risk(self, risk: GroupRisk) -> None:
        """Show the risks of a group, or why there are none."""
        # Columns have the measure in their titles.
        if risk.measure != self._measure:
            self._measure = risk.measure
            self.table.set_columns(_columns(risk.measure))

            # columns that a narrow table hides
            self.table.set_spare(*_SPARE_COLUMNS)
        self.table.set_rows(risk.runs)
        self.note.setText(" ".join(risk_notes(risk)))
        text = tr("{measure}, {n} queries, against {baseline}")
        caption = text.format(
            measure=risk.measure, n=risk.n_queries, baseline=risk.baseline_name
        )
        self.set_caption(caption if risk.runs else "")

    def clear(self) -> None:
        """Empty the table, the note and the caption."""
        self.table.set_rows(())
        self.note.setText("")
        self.set_caption("")

    @Slot()
    def _on_alpha(self) -> None:
        self.optionsChanged.emit()


def _of_risk(key: str) -> Callable[[RunRisk], Any]:
    """Return a function that returns one number of the risk of a run; None for the baseline."""
    return lambda run: None if run.risk is None else getattr(run.risk, key)


def _risk_column(
    key: str,
    title: str,
    text: str | Callable[[Any], str],
    width: int,
    tooltip: str,
    *,
    is_muted: bool = False,
) -> Column:
    """Return a column of the table of runs, with one number of the risk against the reference.

    ``key`` is the name of the number in the risk, and ``text`` is how
    it is written: a format or a function.
    """
    return Column(
        key,
        title,
        "right",
        text,
        value=_of_risk(key),  # a function that reads the number of a row
        width=width,
        tooltip=tooltip,
        tone="muted" if is_muted else "text",
    )


def _columns(measure: str) -> tuple[Column, ...]:
    """Return the columns for a measure."""
    dot = Column("dot", "", kind="dot", value=lambda run: Dot(run.number - 1), width=30)
    return (
        dot,
        Column("number", tr("run"), "right", width=44),
        Column("title", tr("method"), width=124, stretch=True),
        Column(
            "mean",
            measure,
            "right",
            ".4f",
            width=70,
            tooltip=tr("Mean {name} over the queries").format(name=measure),
        ),
        _risk_column(
            "gain",
            tr("gain"),
            ".4f",
            64,
            tr(
                "Mean gain over the reference, over all queries; 0 where the run is not better"
            ),
        ),
        _risk_column(
            "loss",
            tr("loss"),
            ".4f",
            64,
            tr(
                "Mean loss against the reference, over all queries; 0 where the run is not worse"
            ),
        ),
        _risk_column(
            "urisk",
            tr("URisk"),
            lambda urisk: signed(urisk, 4),
            80,
            tr("Gain minus (1 + α) times loss; larger is better"),
        ),
        _risk_column(
            "trisk",
            tr("TRisk"),
            signed,
            72,
            tr("URisk divided by its standard error; below −2 the risk is significant"),
        ),
        _risk_column(
            "p",
            tr("p (TRisk)"),
            p_text,
            78,
            tr("Student's t-test of URisk, two-sided, uncorrected"),
            is_muted=True,
        ),
        Column(
            "georisk",
            tr("GeoRisk"),
            "right",
            ".4f",
            width=76,
            tooltip=tr(
                "Geometric mean of the run's mean and its risk against all runs of the table; larger is better"
            ),
        ),
        _risk_column(
            "n_losses",
            tr("worse"),
            str,
            56,
            tr("Queries in which the run is worse than the reference"),
            is_muted=True,
        ),
    )
