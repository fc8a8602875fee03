"""The panel of the effect of each feature of A on the queries, and the feeder that trains A without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, isnan
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRect, Qt, Signal, Slot
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.support.number_format import count_text, signed
from rankstudio.plugins.queries.window.comparison_panel import (
    PART_NAMES,
    paint_difference,
    paint_interval,
)
from rankstudio.plugins.queries.window.model_bar import ChosenModels
from rankstudio.plugins.queries.window.query_tasks import QueryRequest, QueryTasks
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.colors import Colors
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Panel, TableView
from rankstudio.ui.widgets.layout import fill, named

if TYPE_CHECKING:
    from rankstudio.plugins.queries.feature_ablation import (
        AblatedQueries,
        FeatureAblation,
    )

_NUMBER_WIDTH = 62  # pixels of a number beside its bar
_MIN_BAR_WIDTH = 22  # pixels


@dataclass(frozen=True)
class AblationRow:
    """A row of the table: a feature with its id and name, and the effect of leaving it out."""

    feature: int
    name: str
    effect: FeatureAblation

    @property
    def fall(self) -> float:
        """Mean measure with the feature minus mean measure without it."""
        return self.effect.fall

    @property
    def changed(self) -> str:
        """Numbers of queries that are worse and better without the feature, as a text."""
        return f"{count_text(self.effect.n_worse)} / {count_text(self.effect.n_better)}"

    @property
    def interval(self) -> str:
        """The 95 % interval as a text."""
        return f"{signed(self.effect.low, 3)} … {signed(self.effect.high, 3)}"


class AblationPanel(Panel):
    """A table with the effect of leaving out each feature of model A, and a button that starts the training.

    Attributes
    ----------
    button : QPushButton
        Button to train the models.
    inspected : Signal(int)
        The user moved to another feature: its id.
    table : TableView
    """

    inspected = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme, tr("Effect of each feature"), padding=0, name="query-ablation-panel"
        )

        # the measure, and whether there is a column of folds
        self._shown_columns = ("", False)

        # largest absolute end of an interval: the end of the scale of all bars
        self._largest_end = 0.0
        about = tr("Effect of retraining A without each feature.")
        self.table = TableView(
            theme,
            (),
            "query-ablation-table",
            lambda row: row.feature,
            accessible_name=tr("Effect of leaving out each feature"),
            # entry in the list of exports
            shared=Shared("ablation", tr("Features left out"), about),
            feature_of=lambda row: row.feature,
        )
        self.button = named(QPushButton(), "query-ablation-run")
        text = tr(
            "Retrain A without each of its features to see which queries each feature helps."
        )

        # shown in place of the table until the training begins
        self._offer = QWidget()
        middle = Qt.AlignmentFlag.AlignHCenter
        column = fill(QVBoxLayout(self._offer), margins=(16, 12, 16, 12), spacing=8)
        invitation = named(PlainLabel(text, wraps=True), role="caption")
        invitation.setAlignment(middle)
        column.addStretch(1)
        column.addWidget(invitation)
        column.addWidget(self.button, 0, middle)
        column.addStretch(1)
        self.sentence = named(
            PlainLabel(wraps=True), "query-ablation-sentence", role="caption"
        )
        self.sentence.setContentsMargins(12, 4, 12, 6)
        self.body.setSpacing(0)
        self.set_content(self.table)
        self.body.addWidget(self._offer, 1)
        self.body.addWidget(self.sentence)
        self.table.chosen.connect(lambda row: self.inspected.emit(row.feature))
        self.clear("")

    def clear(self, reason: str) -> None:
        """Show in the panel a reason instead of results.

        If the reason is "", an empty table is shown until a reason or
        results come.
        """
        self._offer.hide()
        self.table.show()
        self.table.placeholder = reason
        self.table.set_rows(())
        self.set_caption(tr("A retrained without each feature") if not reason else "")
        self.sentence.clear()

    def offer(self, n_models: int) -> None:
        """Show the button to train some models."""
        self.clear("")
        text = trn("Train {n:,} model", "Train {n:,} models", n_models)
        self.button.setText(text.format(n=n_models))
        self._offer.show()
        self.table.hide()

    def show_rows(
        self,
        rows: Sequence[AblationRow],
        name: str,
        part: str,
        progress: tuple[int, int],
        unchanged: int,
        *,
        several_folds: bool,
    ) -> None:
        """Show the effects of leaving out features so far.

        Parameters
        ----------
        rows : sequence of AblationRow
            Results, the greatest fall first.
        name : str
            Name of the measure.
        part : str
            Name of the part: "validation".
        progress : pair of int
            Number of trained models, and of all models.
        unchanged : int
            Number of queries that no left-out feature changes.
        several_folds : bool
            Whether there is a column of folds, because some features
            are only in the models of some folds.
        """
        n_done, n_total = progress
        self._offer.hide()
        self._largest_end = largest_end(rows)
        if (name, several_folds) != self._shown_columns:
            self._shown_columns = name, several_folds
            self.table.set_columns(self._columns(name, several_folds=several_folds))
        self.table.set_rows(rows)
        self.table.placeholder = tr("Training A without each of its features …")
        caption = tr("A retrained without each feature")
        self.set_caption(
            f"{caption} · {n_done} / {n_total}" if n_done < n_total else caption
        )
        if n_done < n_total:
            self.sentence.setText("")
            return
        text = tr("Mean over the {part} queries, with a paired 95 % interval.")
        if several_folds:
            text = tr(
                "Mean over the {part} queries of the folds whose model has the feature, "
                "with a paired 95 % interval."
            )
        sentences = [text.format(part=part)]
        if unchanged:
            unchanged_text = trn(
                "{n} query never changes.", "{n} queries never change.", unchanged
            )
            sentences.append(unchanged_text.format(n=unchanged))
        self.sentence.setText(" ".join(sentences))

    def _columns(self, name: str, *, several_folds: bool) -> tuple[Column, ...]:
        """Return the columns of the table of features and the effect of leaving each out.

        ``name`` is that of the measure; with ``several_folds``, a
        column has the number of folds whose model has the feature.
        """
        higher_is_better = measure(name).higher_is_better
        sign = 1.0 if higher_is_better else -1.0
        # The column has A's measure minus that without the feature. It
        # is called a fall only where a fall is a loss: not for measures
        # that are better if lower.
        title = tr("fall") if higher_is_better else tr("change")
        folds = Column(
            "folds",
            tr("folds"),
            "right",
            value=lambda row: len(row.effect.folds),
            width=42,
            tooltip=tr("Folds whose model has the feature"),
            tone="muted",
        )
        return (
            Column(
                "name",
                tr("feature of A"),
                hint=lambda row: tr("{name}, id {feature}").format(
                    name=row.name, feature=row.feature
                ),
                width=118 if several_folds else 148,
            ),
            Column(
                "fall",
                title,
                "right",
                partial(signed, decimals=3),
                stretch=True,
                hint=lambda row: tr("95 % interval {interval}").format(
                    interval=row.interval
                ),
                tooltip=tr(
                    "{name} of A minus {name} without the feature, with its 95 % interval"
                ).format(name=name),
                paint=partial(self._paint, sign=sign),
            ),
            Column(
                "changed",
                tr("worse/better"),
                "right",
                value=lambda row: row.changed,
                width=92,
                sort=lambda row: row.effect.n_worse - row.effect.n_better,
                tooltip=tr("Queries that are worse and better without the feature"),
                tone="muted",
            ),
            *([folds] if several_folds else []),
        )

    def _paint(
        self,
        painter: QPainter,
        cell: QRect,
        colors: Colors,
        row: AblationRow,
        *,
        sign: float,
    ) -> QRect:
        """Draw the fall as a bar with its interval, if the cell is wide enough.

        ``cell`` is the rectangle of the cell in pixels, and ``sign`` is
        -1 if lower measures are better. The rectangle for the number,
        which is drawn next, is returned: the whole cell, as numbers are
        aligned to its right.
        """
        bar = cell.adjusted(0, 0, -_NUMBER_WIDTH, 0)
        if bar.width() > _MIN_BAR_WIDTH and not isnan(row.fall):
            paint_difference(
                painter,
                bar,
                colors,
                row.fall,
                self._largest_end,
                better=row.fall * sign > 0,
            )
            paint_interval(
                painter, bar, colors, row.effect.low, row.effect.high, self._largest_end
            )
        return cell


def largest_end(rows: Sequence[AblationRow]) -> float:
    """Return the largest absolute end of the intervals in the rows of the table.

    The result is 0 if there are no intervals.
    """
    ends = (abs(end) for row in rows for end in (row.effect.low, row.effect.high))
    return max((end for end in ends if not isnan(end)), default=0.0)


class AblationFeeder(QObject):
    """Trains model A without each of its features, and feeds the panel.

    Each training is a job of its own, so that other jobs of the worker
    can run in between.

    Parameters
    ----------
    panel : AblationPanel
    tasks : QueryTasks
    worker : Worker
    """

    def __init__(
        self, panel: AblationPanel, tasks: QueryTasks, worker: Worker, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._panel = panel
        self._tasks = tasks
        self._request: QueryRequest | None = None
        self._plan: Plan | None = None
        self._models: ChosenModels = {}  # by fold

        # The models to train: fold, and column of the feature to leave
        # out. Their number is that of all, done or not.
        self._waiting_models: list[tuple[int, int]] = []
        self._n_models = 0

        # measures with and without a feature on each fold, by its column
        self._ablations_of: dict[int, list[AblatedQueries]] = defaultdict(list)
        self._rows: list[AblationRow] = []
        self._n_unchanged = 0
        self._is_begun = False
        self._ablation_demand = OnDemand(
            parent=self,
            worker=worker,
            key=self._key,
            compute=self._compute,
            failed=self._fail,
        )
        panel.button.clicked.connect(self._begin_training)

    def begin(self, request: QueryRequest, plan: Plan, models: ChosenModels) -> None:
        """Prepare to leave out each feature of the models, and offer the training to the user.

        Parameters
        ----------
        request : QueryRequest
            Request of the comparison.
        plan : Plan
            Plan with which the models were trained.
        models : dict of int to Chosen
            Models by the number of the fold.
        """
        self._ablation_demand.forget()
        self._request = request
        self._plan = plan
        self._models = models
        self._ablations_of.clear()
        self._rows = []
        self._n_unchanged = 0
        self._is_begun = False

        # A dict keeps the order of the columns, without repetitions.
        columns = {
            column: None
            for chosen in models.values()
            for column in chosen.step.selected
        }
        self._waiting_models = [
            (fold, column)
            for column in columns
            for fold, chosen in models.items()
            if column in chosen.step.selected
        ]
        self._n_models = len(self._waiting_models)
        if not self._waiting_models:
            self._panel.clear(tr("These models have no features to leave out."))
        elif plan.entry.learns_nothing:
            self._panel.clear(
                tr(
                    "These models were read from files, so they cannot be trained again without a feature."
                )
            )
        else:
            self._panel.offer(self._n_models)

    def stop(self) -> None:
        """Stop the training for now."""
        self._ablation_demand.stop()

    def go_on(self) -> None:
        """Continue the training, if it has begun and is not complete."""
        self._ablation_demand.update()

    @Slot()
    def _begin_training(self) -> None:
        """Begin to train models."""
        self._is_begun = True
        self._panel.clear("")
        self._show()
        self.go_on()

    def _next_task(self) -> tuple[int | None, int] | None:
        """Return the fold to train on and the column to leave out; None if nothing is to be done.

        The fold is None if all models without the column are trained,
        and their effects are to be combined.
        """
        if not self._is_begun:
            return None
        unfinished_columns = {column for _, column in self._waiting_models}
        shown_columns = {row.effect.column for row in self._rows}
        for column in self._ablations_of:
            if column not in unfinished_columns and column not in shown_columns:
                return None, column
        return self._waiting_models[0] if self._waiting_models else None

    def _key(self) -> Key | None:
        """Return the request, fold and column of the next computation, or None."""
        task = self._next_task()
        return None if task is None else (self._request, *task)

    def _compute(self) -> Computation | None:
        """Return the next computation for the worker.

        The computation trains a model of a fold without a feature, or
        combines the effects of a feature on all folds. The result is
        None if nothing is to be done.
        """
        request = self._request
        plan = self._plan
        task = self._next_task()
        if request is None or plan is None or task is None:
            return None
        fold, column = task
        if fold is None:
            all_ablations = tuple(
                ablated
                for ablations in self._ablations_of.values()
                for ablated in ablations
            )
            return computation(
                tr("Measuring the effect of each feature"),
                self._add_row,
                self._tasks.sum_up,
                tuple(self._ablations_of[column]),
                all_ablations,
                request.measure,
            )
        title = tr("Leaving out {column}").format(column=self._name(column))
        work = self._tasks.leave_out(request, plan, fold, self._models[fold], column)
        return Computation(title, work, self._add_ablation)

    def _add_ablation(self, ablated: AblatedQueries) -> None:
        """Keep the measures of a retrained model, and go on."""
        self._waiting_models.pop(0)
        self._ablations_of[ablated.column].append(ablated)
        self._show()
        self.go_on()

    def _fail(self, reason: str) -> None:
        """Show an error, and train no more."""
        self._waiting_models = []
        self._is_begun = False
        self._panel.clear(reason)

    def _add_row(self, update: tuple[FeatureAblation, int]) -> None:
        """Add a row for a feature, and sort all rows, the greatest fall first and undefined ones last."""
        # the effect, and the number of queries that no left-out feature changes
        ablation, self._n_unchanged = update
        request = self._request
        if request is None:
            return
        feature = int(request.dataset.feature_ids[ablation.column])
        self._rows.append(AblationRow(feature, self._name(ablation.column), ablation))
        sign = 1.0 if measure(request.measure).higher_is_better else -1.0
        self._rows.sort(
            key=lambda row: -sign * row.fall if not isnan(row.fall) else inf
        )
        self._show()
        self.go_on()

    def _show(self) -> None:
        """Show the features whose effect is known, and how much work is done."""
        request = self._request
        if request is not None:
            # While the effects of a trained feature are not combined,
            # the last model does not count as done.
            lacks_rows = len(self._rows) < len(self._ablations_of)
            n_done = self._n_models - max(len(self._waiting_models), int(lacks_rows))
            has_fewer_folds = any(
                len(row.effect.folds) < len(self._models) for row in self._rows
            )
            self._panel.show_rows(
                self._rows,
                name=request.measure,
                part=PART_NAMES[request.part],
                progress=(n_done, self._n_models),
                unchanged=self._n_unchanged,
                several_folds=has_fewer_folds,
            )

    def _name(self, column: int) -> str:
        return (
            self._request.dataset.feature_names[column]
            if self._request is not None
            else ""
        )
