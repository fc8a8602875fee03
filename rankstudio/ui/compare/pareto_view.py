"""A view of the Pareto front: the models that finished runs have tried, by size and measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Literal

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from rankstudio.engine.analysis.tried_models.pareto import ParetoFront, ParetoModel
from rankstudio.engine.analysis.tried_models.run_costs import RunCosts
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.support.number_format import significant
from rankstudio.ui.compare.curves_view import PER_QUERY
from rankstudio.ui.compare.view import LEAST_PLOT, RUN_DOT, View
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.session import Choice
from rankstudio.ui.plots.pareto import Marks, ParetoPlot, Spot
from rankstudio.ui.style.number_format import combination_label, plain
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Segmented
from rankstudio.ui.widgets.layout import fill, named

_EMPTY_TEXT = tr(
    "The validation measures of finished runs appear here by number of features, as means over folds."
)

_WAITING_TEXT = tr("Comparing the runs …")
_FRONT_TITLE = tr("Pareto-optimal models by size and measure")
_CLICK_HINT = tr("double-click chooses")
# pixels of the names of runs; other columns are hidden for narrower names
_NAME_WIDTH = 110
# pixels; a narrower view has no room for the table beside the plot
_WIDTH_OF_TWO_COLUMNS = 860


@dataclass(frozen=True)
class ParetoRow:
    """A model as a row of the table: its position among all models, its run, and a remark.

    `key`, `title` and `plan` are the number, the title and the plan of the run.
    """

    position: int
    key: int
    title: str
    plan: Plan
    model: ParetoModel
    note: str


class ParetoView(View):
    """A plot of models by size or cost and mean validation measure, and a table of the Pareto front.

    A click on a model inspects it; a double click chooses it.

    Attributes
    ----------
    picked : Signal(int, object, int)
        The model that the user clicked: the run's number, the model's
        values of the parameters of which the plan tries several, and
        its number of features or round.
    confirmed : Signal()
        The user chooses the model that was clicked last.
    """

    picked = Signal(int, object, int)
    confirmed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._rows: list[ParetoRow] = []
        # What the columns depend on: the name of the measure, and the x
        # axis, "size" or the kind of cost.
        self._columns_key = "", ""
        self.plot = named(
            ParetoPlot(theme, tr("validation measure"), tr("features")), "pareto-plot"
        )
        self.plot.setMinimumHeight(LEAST_PLOT)
        self.plot.placeholder = _EMPTY_TEXT
        self.plot.shared = Shared("pareto", tr("Size against measure"), compares=True)
        placeholder = tr("Pareto-optimal models appear here.")
        about = tr("The Pareto-optimal models by size and measure.")
        self.table = self.add_table(
            "pareto",
            tr("Pareto front"),
            about,
            placeholder,
            lambda row: row.position,
            _FRONT_TITLE,
        )
        # columns that a narrow table hides, the first one first; the
        # names of runs need a width of `names` pixels
        self.table.set_spare(("error",), ("combination",), ("note",), names=_NAME_WIDTH)
        self.sentence = named(PlainLabel(wraps=True), "pareto-sentence", role="caption")
        options = [("size", tr("by k")), ("cost", tr("by cost"))]
        self.by = named(
            Segmented(options, tr("x axis of the Pareto front")), "pareto-by"
        )
        self.by.hide()
        plot_header = fill(
            QHBoxLayout(), (self.sentence, 1), self.by, margins=(0, 0, 0, 0), spacing=8
        )
        plot_column = fill(
            QVBoxLayout(), plot_header, (self.plot, 1), margins=(12, 8, 8, 4), spacing=4
        )
        columns = fill(QHBoxLayout(), (plot_column, 3), (self.table, 2), spacing=0)
        fill(self.body, (columns, 1))
        self.plot.picked.connect(self._pick)
        self.plot.confirms = True  # a double click chooses a model
        self.plot.confirmed.connect(self.confirmed)
        self.table.confirmed.connect(self.confirmed)
        self.table.chosen.connect(self._on_chosen)

    def offer(self, costs: RunCosts | None) -> Literal["size", "cost"]:
        """Offer the cost as the x axis if features have a cost.

        ``costs`` is None if no feature has a cost. Return the chosen x axis.
        """
        self.by.setVisible(costs is not None)
        return "cost" if costs is not None and self.by.value() == "cost" else "size"

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show or hide the table: it needs room beside the plot."""
        super().resizeEvent(event)
        self._place_table()

    def _place_table(self) -> None:
        """Show the table if it has several models, and if there is room for it beside the plot."""
        self.table.setVisible(
            self.width() >= _WIDTH_OF_TWO_COLUMNS and len(self.table.rows()) > 1
        )

    def wait(self) -> None:
        """Show no models yet, as the tests of the runs, which decide on the suggested model, are not done."""
        self.plot.placeholder = _WAITING_TEXT
        self._clear()

    def _clear(self) -> None:
        """Show no models, and no sentence on them.

        The empty plot shows its placeholder, a text.
        """
        self._rows = []
        self.plot.set_spots((), None)  # no marks either
        self.table.set_rows(())
        self._place_table()  # hides it, as it has no rows
        self.sentence.setText("")
        self.sentence.hide()
        self.set_caption("")

    def show_pareto_front(
        self,
        runs: Sequence[tuple[int, str, Plan]],
        front: ParetoFront | None,
        name: str,
    ) -> None:
        """Show the models that runs have tried.

        Parameters
        ----------
        runs : sequence of (int, str, Plan)
            Number, title and plan of each run; the `run` of a model is
            a position in this sequence.
        front : ParetoFront or None
            None where no model has the measure on a validation part.
        name : str
            Name of the measure.
        """
        self._show_axes(front, name)
        # Data that are one ranking have no queries to pair: tests then pair the folds.
        self.plot.over_folds = any(plan.one_ranking for *_, plan in runs)
        if front is None:
            self._clear()
            return
        self._rows = _front_rows(runs, front)
        # The plot has all models, the table only those of the front
        # (`optimal` has their positions).
        self.plot.set_spots([_spot(row) for row in self._rows], _front_marks(front))
        self.table.set_rows([self._rows[i] for i in front.optimal])
        self._place_table()  # beside the plot, if there is room
        titles = [title for _, title, _ in runs]
        self.sentence.setText(_size_sentence(front, name, titles, self.plot.over_folds))
        self.sentence.show()
        self.set_caption(_CLICK_HINT)

    def _show_axes(self, front: ParetoFront | None, name: str) -> None:
        """Show the axes and columns of a measure, by size or cost.

        ``front`` has the models, and ``name`` is that of the measure.
        Sizes are on a logarithmic scale, unless a model has no feature
        (or less than one, as the mean over folds).
        """
        self.plot.placeholder = _EMPTY_TEXT
        x_key = front.by if front is not None else "size"
        if (name, x_key) != self._columns_key:
            self._columns_key = name, x_key
            self.table.set_columns(_front_columns(name, x_key))
        is_log = (
            x_key == "size"
            and front is not None
            and all(model.x >= 1 for model in front.models)
        )
        axes = replace(
            self.plot.axes,
            title=tr("validation {name}").format(name=name),
            x_label=tr("features, k (log scale)") if is_log else _X_LABELS[x_key],
            integer_x=x_key == "size",
            log_sizes=is_log,
        )
        self.plot.set_axes(axes)

    def mark(self, key: int | None, choice: Choice, inspection: Choice | None) -> None:
        """Mark the chosen and the inspected model of a run, if these are shown.

        ``key`` is the number of the run. Without an inspection, the
        chosen model is the inspected one. This emits no signal.
        """
        # The table highlights the inspected model, else the chosen one;
        # the plot marks both, if they differ.
        chosen_position = self._position(key, choice)
        position = (
            chosen_position if inspection is None else self._position(key, inspection)
        )
        self.plot.select(chosen_position)
        self.plot.inspect(None if position == chosen_position else position)
        self.table.select(
            next((row for row in self.table.rows() if row.position == position), None)
        )

    def _position(self, key: int | None, choice: Choice) -> int | None:
        """Return the position of a run's model, named by a choice; None if the model is not shown."""
        # A model is named by its run, its values of the plan's
        # parameters, and its step: a number of features or rounds.
        model = key, choice.values, choice.x_value
        rows = (
            row
            for row in self._rows
            if (row.key, row.model.values, row.model.step) == model
        )
        return next((row.position for row in rows), None)

    @Slot(object)
    def _on_chosen(self, row: ParetoRow) -> None:
        self._pick(row.position)

    @Slot(int)
    def _pick(self, position: int) -> None:
        row = self._rows[position]
        self.picked.emit(row.key, row.model.values, row.model.step)


def _combination_text(plan: Plan, model: ParetoModel) -> str:
    return combination_label(plan.axes, model.values)


def _spot(row: ParetoRow) -> Spot:
    """Return the point of a model in the plot: x is its size or its cost, y its mean measure."""
    # In a plot by size, x is the size, and there is no cost to note.
    model = row.model
    cost = (
        tr("cost {cost}").format(cost=significant(model.x))
        if model.x != model.size
        else ""
    )
    parts = (f"k = {plain(model.size)}", cost, _combination_text(row.plan, model))
    note = " · ".join(part for part in parts if part)
    title = tr("run {key} · {title}").format(key=row.key, title=row.title)
    # Runs are numbered from 1, colors from 0.
    return Spot(
        model.x, model.mean, model.error, category=row.key - 1, title=title, note=note
    )


def _front_rows(
    runs: Sequence[tuple[int, str, Plan]], front: ParetoFront
) -> list[ParetoRow]:
    """Return a row for every model of a front, with its run.

    ``runs`` has the number, title and plan of each run, by the position
    that a model has as its ``run``. The best and the suggested model
    have a remark.
    """
    # A model that is both is called the best: the later entry wins.
    notes = {front.suggested: tr(_rule_name(front)), front.best: tr("best")}
    rows = []
    for position, model in enumerate(front.models):
        key, title, plan = runs[model.run]
        rows.append(
            ParetoRow(position, key, title, plan, model, note=notes.get(position, ""))
        )
    return rows


def _front_marks(front: ParetoFront) -> Marks:
    """Return the marks of the plot: the front, the best and the suggested model, and the rule for it."""
    cost = (
        _cost_text(front, front.models[front.suggested]) if front.by != "size" else ""
    )
    return Marks(
        # positions of models; `levels` is the least mean that is good enough
        front=front.optimal,
        best=front.best,
        suggested=front.suggested,
        levels=front.levels,
        rule=_rule_name(front),
        cost=cost,
    )


def _rule_name(front: ParetoFront) -> str:
    """Return the name of the rule by which the smallest model counts as good enough."""
    return "not significantly worse" if front.paired else "one standard error"


def _size_sentence(
    front: ParetoFront, name: str, titles: Sequence[str], over_folds: bool
) -> str:
    """Return a sentence on the suggested model, the smallest that is good enough, and on the rule.

    Good enough is a model that paired tests do not find significantly
    worse than the best one; without tests, one within a standard error
    of it. ``name`` is that of the measure, ``titles`` has those of the
    runs, and ``over_folds`` tells that the tests pair folds, not
    queries.
    """
    best = front.models[front.best]
    suggested = front.models[front.suggested]
    # singular or plural; a size is a mean over folds, and may be no whole number
    number = 1 if suggested.size == 1 else 2
    if front.by != "size":
        return _cost_sentence(front, name)
    best_is_smallest = best.size == min(model.size for model in front.models)
    if suggested is best and best_is_smallest:
        text = tr(
            "No model is smaller than the best one: {name} {mean:.4f} at k = {best}."
        )
    elif front.paired and suggested is best:
        text = tr(
            "All smaller models are significantly worse than the best model "
            "({name} {mean:.4f} at k = {best})."
        )
    elif front.paired:
        text = trn(
            "{size} feature of {title} is not significantly worse than the best model.",
            "{size} features of {title} are not significantly worse than the best model.",
            number,
        )
        if over_folds:
            text = trn(
                "{size} feature of {title} is not significantly worse than the best model, over folds.",
                "{size} features of {title} are not significantly worse than the best model, over folds.",
                number,
            )
    elif isnan(best.error):
        text = tr(
            "A single fold has no standard error, so the best model is chosen: {name} {mean:.4f} "
            "at k = {best}."
        )
    else:
        text = tr(
            "The smallest model within one standard error over the folds ({error:.4f}) of the best "
            "({name} {mean:.4f} at k = {best}) has k = {size}."
        )
    return text.format(
        name=name,
        mean=best.mean,
        best=plain(best.size),
        size=plain(suggested.size),
        error=best.error,
        title=titles[suggested.run],
    )


def _cost_text(front: ParetoFront, model: ParetoModel) -> str:
    """Return the cost of a model, which is its x in a front by cost, with its unit."""
    unit = (
        tr("{number} ms per query")
        if front.by == "milliseconds"
        else tr("cost {number}")
    )
    return unit.format(number=significant(model.x))


def _cost_sentence(front: ParetoFront, name: str) -> str:
    """Return a sentence on the suggested model, the cheapest that is good enough.

    Good enough is a model that paired tests do not find significantly
    worse than the best one; without tests, one within a standard error
    of it. ``name`` is that of the measure.
    """
    best = front.models[front.best]
    suggested = front.models[front.suggested]
    if suggested is best:
        text = tr(
            "The best model has {name} {mean:.4f}: {best}. No cheaper one is good enough."
        )
    elif front.paired:
        text = tr(
            "The best model has {name} {mean:.4f}: {best}. The cheapest model that is not significantly "
            "worse: {enough}."
        )
    else:
        text = tr(
            "The best model has {name} {mean:.4f}: {best}. The cheapest model within one standard error: "
            "{enough}."
        )
    return text.format(
        name=name,
        mean=best.mean,
        best=_cost_text(front, best),
        enough=_cost_text(front, suggested),
    )


_LAST_COLUMNS = (
    Column(
        "error",
        tr("± se"),
        "right",
        ".4f",
        value=lambda row: row.model.error,
        tooltip=tr("Standard error of the mean: deviation over the folds / √folds"),
        tone="muted",
        width=72,
    ),
    Column("note", tr("choice"), tone="accent", width=158),
    Column("key", tr("run"), "right", tone="muted", width=44),
    Column(
        "combination",
        tr("parameters"),
        value=lambda row: _combination_text(row.plan, row.model),
        tone="muted",
    ),
    Column("title", tr("name"), stretch=True, tone="muted"),
)


_COST_COLUMN = Column(
    "cost", tr("cost"), "right", significant, value=lambda row: row.model.x, width=64
)
_MILLISECONDS_COLUMN = replace(_COST_COLUMN, title=tr("ms"), tooltip=PER_QUERY)
_X_LABELS = {
    "size": tr("features"),
    "cost": tr("cost of the features of the model"),
    "milliseconds": PER_QUERY,
}


def _front_columns(name: str, by: str) -> tuple[Column, ...]:
    """Return the columns of the table of models, for a measure.

    ``name`` is that of the measure. ``by`` is "size", "cost" or
    "milliseconds"; for "cost" and "milliseconds", a column has the
    cost.
    """
    cost_columns = {"cost": [_COST_COLUMN], "milliseconds": [_MILLISECONDS_COLUMN]}.get(
        by, []
    )
    size_tip = tr("Features, mean over the folds")
    mean_tip = tr("Validation {name}, mean over the folds").format(name=name)
    return (
        RUN_DOT,
        *cost_columns,
        Column(
            "size",
            "k",
            "right",
            plain,
            value=lambda row: row.model.size,
            tooltip=size_tip,
            width=48,
        ),
        Column(
            "mean",
            name,
            "right",
            ".4f",
            value=lambda row: row.model.mean,
            tooltip=mean_tip,
            width=84,
        ),
        *_LAST_COLUMNS,
    )
