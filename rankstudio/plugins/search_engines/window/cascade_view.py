"""The view of two-stage cascades of a run: time against measure, and the best cascade within a budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import nan

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QVBoxLayout

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.support.number_format import significant
from rankstudio.engine.support.work import finish
from rankstudio.plugins.search_engines.cascades import (
    Cascade,
    CascadeFront,
    find_cascades,
)
from rankstudio.ui.background.on_demand import Computation, computation
from rankstudio.ui.compare.curves_view import PER_QUERY
from rankstudio.ui.compare.view import LEAST_PLOT, ContributedView, run_name
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.plots.pareto import Marks, ParetoPlot, Spot
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column
from rankstudio.ui.widgets.layout import fill, named, spaced

NO_COSTS = tr("Import the costs of the features to find cascades: File → Import costs…")
NO_RUN = tr("Cascades of a finished run appear here.")
_CASCADES_HELP = tr(
    "Cascades that no other one beats: a model ranks all documents, a larger one ranks the first K again."
)
_WITHIN_BUDGET = tr("within budget")
_MAX_BUDGET = 1e6  # milliseconds per query


@dataclass(frozen=True)
class CascadeRow:
    """A row of the table: a cascade, its position on the front, and a note on the best within the budget."""

    position: int
    cascade: Cascade
    note: str


def found_cascades(
    run: RunResult, data: FoldedDataset, costs: FeatureCosts, name: str
) -> CascadeFront | str:
    """Return the best cascades of a run by a measure, or a sentence why there are none.

    ``name`` is that of the measure. The worker calls this function.
    """
    try:
        return finish(find_cascades(run, data, costs, name, sealed=True))
    except PlanError as error:
        return str(error)


class CascadeView(ContributedView):
    """Shows the front of cascades of a run as a plot and a table; a budget marks the best cascade within it.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    budget : QDoubleSpinBox
        Milliseconds per query; 0 for none.
    """

    def __init__(self, theme: Theme) -> None:
        """Lay out the sentence and the budget above the plot, and the table below it."""
        super().__init__(theme)

        # The cascades that are shown; and the name and the number of their run.
        self._front: CascadeFront | None = None
        self._run = ""
        self._key = 0

        # The plot and the table show the same cascades.
        self.plot = named(
            ParetoPlot(theme, tr("validation measure"), PER_QUERY), "cascade-plot"
        )
        self.plot.setMinimumHeight(LEAST_PLOT)

        # `Shared` is the entry of the plot in the list of exports. Rows
        # of the table are identified by their position on the front.
        self.plot.shared = Shared("cascades", tr("Cascades by time"))
        self.table = self.add_table(
            "cascades",
            tr("Cascades"),
            _CASCADES_HELP,
            NO_RUN,
            lambda row: row.position,
            tr("Cascades by time"),
        )
        self.table.setMinimumHeight(LEAST_PLOT)
        self.sentence = named(
            PlainLabel(wraps=True), "cascade-sentence", role="caption"
        )

        # The budget, for which the view marks the best cascade.
        self.budget = named(
            spaced(QDoubleSpinBox()),
            "cascade-budget",
            tr("Budget"),
            tip=tr(
                "Milliseconds per query that a cascade may take. Marks the best one within the budget."
            ),
        )
        self.budget.setRange(0.0, _MAX_BUDGET)
        self.budget.setDecimals(3)
        self.budget.setSingleStep(0.1)
        self.budget.setSuffix(f" {tr('ms')}")
        self.budget.setSpecialValueText(tr("no budget"))
        self.budget.valueChanged.connect(self._choose)

        # A cascade that is clicked in the plot or in the table is
        # described in the sentence.
        self.plot.picked.connect(self._select_cascade)
        self.table.chosen.connect(self._select_row)

        # The sentence and the budget are above the plot, the table below it.
        top = fill(
            QHBoxLayout(),
            (self.sentence, 1),
            self.budget,
            margins=(12, 8, 8, 4),
            spacing=8,
        )
        drawn = fill(QVBoxLayout(), (self.plot, 1), margins=(12, 0, 8, 4))
        halves = fill(QVBoxLayout(), (drawn, 3), (self.table, 2), spacing=0)
        fill(self.body, top, (halves, 1))
        self.clear(NO_RUN)

    def is_offered(self, record: RunRecord | None) -> bool:  # noqa: D102 - inherited
        return record is not None and record.plan.extension(FeatureCosts) is not None

    def computation_of(
        self, record: RunRecord | None, measure: str
    ) -> Computation | None:
        """Return the computation of a run's cascades, or None if the run cannot have cascades.

        The computation shows the cascades when it is finished. Without
        a computation, the view says why.
        """
        # Cascades need a finished run with costs; a worker computes them.
        result = record.result if record is not None else None
        costs = record.plan.extension(FeatureCosts) if record is not None else None
        if record is None or result is None or costs is None or not result.complete:
            self.clear(NO_COSTS if costs is None else NO_RUN)
            return None
        show = partial(self.show_cascades, run_name(record), record.key)
        return computation(
            tr("Measuring cascades"),
            show,
            found_cascades,
            result,
            record.dataset,
            costs,
            measure,
        )

    def show_cascades(self, run: str, key: int, outcome: CascadeFront | str) -> None:
        """Show the cascades of a run, or the sentence why there are none.

        ``run`` is the name of the run, and ``key`` its number.
        """
        if isinstance(outcome, str):
            self.clear(outcome)
            return
        self._front = outcome
        self._run = run
        self._key = key
        self.table.set_columns(_cascade_columns(outcome.measure))

        # The x values are times, which are not whole numbers.
        title = tr("validation {name}").format(name=outcome.measure)
        self.plot.set_axes(replace(self.plot.axes, title=title, integer_x=False))
        self._choose()
        self.set_caption(run)

    def clear(self, reason: str) -> None:
        """Show no cascades, and the reason as a sentence in the empty plot.

        The budget is disabled.
        """
        self._front = None
        self.plot.placeholder = reason
        self.plot.set_spots([])
        self.table.set_rows(())
        self.sentence.setText("")
        self.budget.setEnabled(False)
        self.set_caption("")

    @Slot()
    def _choose(self) -> None:
        """Show table and plot of cascades, with the best cascade within the budget marked.

        The budget is in milliseconds per query.
        """
        if self._front is None:
            return

        # The table marks the best cascade within the budget; a budget of 0 is none.
        self.budget.setEnabled(True)
        budget = self.budget.value()
        cascades = self._front.cascades

        # The cascades are ordered by time, the fastest first. Without a
        # budget, the largest one is used, in which all of them are.
        best = self._front.within(budget or _MAX_BUDGET)
        rows = [
            CascadeRow(i, cascade, _WITHIN_BUDGET if budget and cascade is best else "")
            for i, cascade in enumerate(cascades)
        ]
        self.table.set_rows(rows)

        # The plot shows the front; its last cascade is the slowest one
        # with the best measure. Without a cascade within the budget,
        # the cost of the cheapest one is shown. As the rule is a
        # budget, the plot draws no band at the `levels`.
        last = len(cascades) - 1
        chosen = best or cascades[0]
        levels = (cascades[-1].validation,) * len(cascades)
        position = cascades.index(chosen)
        cost = tr("{number} ms per query").format(
            number=significant(chosen.milliseconds)
        )
        marks = Marks(
            front=tuple(range(len(cascades))),
            best=last,
            suggested=position if best is not None else last,
            levels=levels,
            rule=_WITHIN_BUDGET,
            cost=cost,
        )
        self.plot.set_spots([self._spot(cascade) for cascade in cascades], marks)

        # Describe the marked cascade, or say that none is cheap enough.
        if best is not None:
            self._select_cascade(position)
            return
        self.table.select(None)
        least = tr(
            "No cascade is within the budget; the cheapest one takes {least} ms per query."
        )
        self.sentence.setText(least.format(least=significant(cascades[0].milliseconds)))

    @Slot(int)
    def _select_cascade(self, position: int) -> None:
        """Mark a cascade in plot and table, and describe it in the sentence."""
        if self._front is not None:
            self.plot.select(position)
            self.table.select(
                next(row for row in self.table.rows() if row.position == position)
            )
            self.sentence.setText(
                _cascade_sentence(self._front.measure, self._front.cascades[position])
            )

    @Slot(object)
    def _select_row(self, row: CascadeRow) -> None:
        self._select_cascade(row.position)

    def _spot(self, cascade: Cascade) -> Spot:
        """Return a cascade as a point of the plot."""
        return Spot(
            x=cascade.milliseconds,
            y=cascade.validation,
            error=nan,  # no error bar
            category=self._key - 1,  # colors count from 0, runs from 1
            title=self._run,
            note=_stages_text(cascade),
        )


def _stages_text(cascade: Cascade) -> str:
    """Describe the stages of a cascade: "3 features for all, then 8 for the first 20"."""
    if cascade.depth is None:
        return trn(
            "{n} feature for all documents",
            "{n} features for all documents",
            cascade.first,
        ).format(n=cascade.first)
    text = trn(
        "{n} feature for all documents, {more} for the first {depth}",
        "{n} features for all documents, {more} for the first {depth}",
        cascade.first,
    )
    return text.format(n=cascade.first, more=cascade.second, depth=cascade.depth)


def _cascade_sentence(name: str, cascade: Cascade) -> str:
    """Return a sentence on a cascade: its stages, measure and time."""
    text = tr("{stages}: {name} {value:.4f} at {number} ms per query.")
    number = significant(cascade.milliseconds)
    return text.format(
        stages=_stages_text(cascade),
        name=name,
        value=cascade.validation,
        number=number,
    )


def _cascade_columns(name: str) -> tuple[Column, ...]:
    """Return the columns of the table of cascades, for a measure.

    A column has a key, a title, an alignment and a format.
    """
    return (
        Column(
            "milliseconds",
            tr("ms"),
            "right",
            significant,
            value=lambda row: row.cascade.milliseconds,
            tooltip=tr("Milliseconds per query, mean over the validation queries"),
            width=72,
        ),
        Column(
            "first",
            tr("features"),
            "right",
            value=lambda row: row.cascade.first,
            tooltip=tr("Features of the model that ranks all documents"),
            width=72,
        ),
        Column(
            "second",
            tr("then"),
            "right",
            value=lambda row: None if row.cascade.depth is None else row.cascade.second,
            tooltip=tr(
                "Features of the second-stage model, which re-ranks the first K documents"
            ),
            width=56,
        ),
        Column(
            "depth",
            tr("first K"),
            "right",
            value=lambda row: row.cascade.depth,
            tooltip=tr("Documents per query that are ranked again"),
            width=64,
        ),
        Column(
            "validation",
            name,
            "right",
            ".4f",
            value=lambda row: row.cascade.validation,
            tooltip=tr("Validation {name}, mean over the folds").format(name=name),
            width=84,
        ),
        Column("note", tr("choice"), tone="accent", stretch=True),
    )
