"""Effect of each feature of A on the queries: A is trained again without it, while the page is visible."""

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
from rankstudio.plugins.queries.window.comparison_panel import PART_NAMES, paint_difference, paint_interval
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
    from rankstudio.plugins.queries.feature_ablation import AblatedQueries, FeatureAblation

_NUMBER_WIDTH = 62  # pixels
_MIN_BAR_WIDTH = 22


@dataclass(frozen=True)
class AblationRow:
    """A feature with its id and name, and the effect of leaving it out."""

    feature: int
    name: str
    found: FeatureAblation

    @property
    def fall(self) -> float:
        """With it less without it."""
        return self.found.fall

    @property
    def changed(self) -> str:
        """How many queries are worse and better without it, as a text."""
        return f"{count_text(self.found.n_worse)} / {count_text(self.found.n_better)}"

    @property
    def interval(self) -> str:
        """The 95 % interval as a text."""
        return f"{signed(self.found.low, 3)} … {signed(self.found.high, 3)}"


class AblationPanel(Panel):
    """A row a feature.

    Attributes
    ----------
    button : QPushButton
        Pressed where the models are to be learned.
    inspected : Signal(int)
        Id of the feature that the user moved to.
    table : TableView
    """

    inspected = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Effect of each feature"), padding=0, name="query-ablation-panel")
        self._shown = ("", False)
        self._largest = 0.0
        about = tr("Effect of retraining A without each feature.")
        self.table = TableView(
            theme,
            (),
            "query-ablation-table",
            lambda row: row.feature,
            accessible_name=tr("Effect of leaving out each feature"),
            shared=Shared("ablation", tr("Features left out"), about),
            feature_of=lambda row: row.feature,
        )
        self.button = named(QPushButton(), "query-ablation-run")
        text = tr("Retrain A without each of its features to see which queries each feature helps.")
        self._offer = QWidget()
        middle = Qt.AlignmentFlag.AlignHCenter
        column = fill(QVBoxLayout(self._offer), margins=(16, 12, 16, 12), spacing=8)
        invitation = named(PlainLabel(text, wraps=True), role="caption")
        invitation.setAlignment(middle)
        column.addStretch(1)
        column.addWidget(invitation)
        column.addWidget(self.button, 0, middle)
        column.addStretch(1)
        self.sentence = named(PlainLabel(wraps=True), "query-ablation-sentence", role="caption")
        self.sentence.setContentsMargins(12, 4, 12, 6)
        self.body.setSpacing(0)
        self.set_content(self.table)
        self.body.addWidget(self._offer, 1)
        self.body.addWidget(self.sentence)
        self.table.chosen.connect(lambda row: self.inspected.emit(row.feature))
        self.clear("")

    def clear(self, reason: str) -> None:
        """Show nothing, and say why."""
        self._offer.hide()
        self.table.show()
        self.table.placeholder = reason
        self.table.set_rows(())
        self.set_caption(tr("A retrained without each feature") if not reason else "")
        self.sentence.clear()

    def offer(self, n_models: int) -> None:
        """Offer to learn the models."""
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
        """Show the results so far.

        Parameters
        ----------
        rows : sequence of AblationRow
            The greatest fall first.
        name : str
            Of the measure.
        part : str
            As it is called: "validation".
        progress : pair of int
            Models learned, and all.
        unchanged : int
            Queries that change with none of the features.
        several_folds : bool
            Whether some features are in the models of some folds only.
        """
        n_done, n_total = progress
        self._offer.hide()
        self._largest = largest_end(rows)
        if (name, several_folds) != self._shown:
            self._shown = name, several_folds
            self.table.set_columns(self._columns(name, several_folds=several_folds))
        self.table.set_rows(rows)
        self.table.placeholder = tr("Training A without each of its features …")
        caption = tr("A retrained without each feature")
        self.set_caption(f"{caption} · {n_done} / {n_total}" if n_done < n_total else caption)
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
            unchanged_text = trn("{n} query never changes.", "{n} queries never change.", unchanged)
            sentences.append(unchanged_text.format(n=unchanged))
        self.sentence.setText(" ".join(sentences))

    def _columns(self, name: str, *, several_folds: bool) -> tuple[Column, ...]:
        """Return the columns of the table of features and the effect of leaving each out."""
        sign = 1.0 if measure(name).higher_is_better else -1.0
        word = tr("fall") if sign > 0 else tr("change")
        folds = Column(
            "folds",
            tr("folds"),
            "right",
            value=lambda row: len(row.found.folds),
            width=42,
            tooltip=tr("Folds whose model has the feature"),
            tone="muted",
        )
        return (
            Column(
                "name",
                tr("feature of A"),
                hint=lambda row: tr("{name}, id {feature}").format(name=row.name, feature=row.feature),
                width=118 if several_folds else 148,
            ),
            Column(
                "fall",
                word,
                "right",
                partial(signed, decimals=3),
                stretch=True,
                hint=lambda row: tr("95 % interval {interval}").format(interval=row.interval),
                tooltip=tr("{name} of A minus {name} without the feature, with its 95 % interval").format(
                    name=name
                ),
                paint=partial(self._paint, sign=sign),
            ),
            Column(
                "changed",
                tr("worse/better"),
                "right",
                value=lambda row: row.changed,
                width=92,
                sort=lambda row: row.found.n_worse - row.found.n_better,
                tooltip=tr("Queries that are worse and better without the feature"),
                tone="muted",
            ),
            *([folds] if several_folds else []),
        )

    def _paint(
        self, painter: QPainter, room: QRect, colors: Colors, row: AblationRow, *, sign: float
    ) -> QRect:
        bar = room.adjusted(0, 0, -_NUMBER_WIDTH, 0)
        if bar.width() > _MIN_BAR_WIDTH and not isnan(row.fall):
            paint_difference(painter, bar, colors, row.fall, self._largest, better=row.fall * sign > 0)
            paint_interval(painter, bar, colors, row.found.low, row.found.high, self._largest)
        return room


def largest_end(rows: Sequence[AblationRow]) -> float:
    """Return how far the intervals reach from zero at most."""
    ends = (abs(end) for row in rows for end in (row.found.low, row.found.high))
    return max((end for end in ends if not isnan(end)), default=0.0)


class AblationFeeder(QObject):
    """Feeds the panel. Each model is a job of its own, so that whatever else is asked for comes in between.

    Parameters
    ----------
    panel : AblationPanel
    tasks : QueryTasks
    worker : Worker
    """

    def __init__(self, panel: AblationPanel, tasks: QueryTasks, worker: Worker, parent: QObject) -> None:
        super().__init__(parent)
        self._panel = panel
        self._tasks = tasks
        self._asked: QueryRequest | None = None
        self._plan: Plan | None = None
        self._models: ChosenModels = {}
        self._left: list[tuple[int, int]] = []
        self._n = 0
        self._found: dict[int, list[AblatedQueries]] = defaultdict(list)
        self._rows: list[AblationRow] = []
        self._unchanged = 0
        self._begun = False
        self._demand = OnDemand(self, worker, self._key, self._compute, self._fail)
        panel.button.clicked.connect(self._begin_asked)

    def begin(self, request: QueryRequest, plan: Plan, models: ChosenModels) -> None:
        """Leave out each feature of some models from now on; :meth:`go_on` has the first one learned.

        Parameters
        ----------
        request : QueryRequest
            What is compared.
        plan : Plan
            With which the models were learned.
        models : dict of int to Chosen
            By the fold's number.
        """
        self._demand.forget()
        self._asked = request
        self._plan = plan
        self._models = models
        self._found.clear()
        self._rows = []
        self._unchanged = 0
        self._begun = False
        columns = {column: None for chosen in models.values() for column in chosen.step.selected}
        self._left = [
            (fold, column)
            for column in columns
            for fold, chosen in models.items()
            if column in chosen.step.selected
        ]
        self._n = len(self._left)
        if not self._left:
            self._panel.clear(tr("These models have no features to leave out."))
        elif plan.entry.given:
            self._panel.clear(
                tr("These models were read from files, so they cannot be trained again without a feature.")
            )
        else:
            self._panel.offer(self._n)

    def stop(self) -> None:
        """Learn no more for now."""
        self._demand.stop()

    def go_on(self) -> None:
        """Go on, where something is left."""
        self._demand.update()

    @Slot()
    def _begin_asked(self) -> None:
        self._show_begun()
        self.go_on()

    def _show_begun(self) -> None:
        self._begun = True
        self._panel.clear("")
        self._show()

    def _next(self) -> tuple[int | None, int] | None:
        """Return fold and column to learn without; no fold for a column whose folds are to be summed up."""
        if not self._begun:
            return None
        waiting = {column for _, column in self._left} | {row.found.column for row in self._rows}
        complete = next((column for column in self._found if column not in waiting), None)
        if complete is not None:
            return None, complete
        return self._left[0] if self._left else None

    def _key(self) -> Key | None:
        following = self._next()
        return None if following is None else (self._asked, *following)

    def _compute(self) -> Computation | None:
        """Return the computation of the next fold and feature, or of a feature's sum over the folds."""
        request = self._asked
        plan = self._plan
        following = self._next()
        if request is None or plan is None or following is None:
            return None
        fold, column = following
        if fold is None:
            all_ablated = tuple(ablated for of_column in self._found.values() for ablated in of_column)
            return computation(
                tr("Measuring the effect of each feature"),
                self._add,
                self._tasks.sum_up,
                tuple(self._found[column]),
                all_ablated,
                request.measure,
            )
        title = tr("Leaving out {column}").format(column=self._name(column))
        work = self._tasks.leave_out(request, plan, fold, self._models[fold], column)
        return Computation(title, work, self._take)

    def _take(self, ablated: AblatedQueries) -> None:
        self._left.pop(0)
        self._found[ablated.column].append(ablated)
        self._show()
        self.go_on()

    def _fail(self, reason: str) -> None:
        self._left = []
        self._begun = False
        self._panel.clear(reason)

    def _add(self, update: tuple[FeatureAblation, int]) -> None:
        row, self._unchanged = update
        request = self._asked
        if request is None:
            return
        feature = int(request.dataset.feature_ids[row.column])
        self._rows.append(AblationRow(feature, self._name(row.column), row))
        sign = 1.0 if measure(request.measure).higher_is_better else -1.0
        self._rows.sort(key=lambda listed_row: -sign * listed_row.fall if not isnan(listed_row.fall) else inf)
        self._show()
        self.go_on()

    def _show(self) -> None:
        """Show the features whose effect is known, and how much work is done."""
        request = self._asked
        if request is not None:
            summing_up = len(self._rows) < len(self._found)
            n_done = self._n - max(len(self._left), int(summing_up))
            part = PART_NAMES[request.part]
            has_fewer_folds = any(len(row.found.folds) < len(self._models) for row in self._rows)
            self._panel.show_rows(
                self._rows,
                request.measure,
                part,
                (n_done, self._n),
                self._unchanged,
                several_folds=has_fewer_folds,
            )

    def _name(self, column: int) -> str:
        return self._asked.dataset.feature_names[column] if self._asked is not None else ""
