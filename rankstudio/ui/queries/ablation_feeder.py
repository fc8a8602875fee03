"""Has A learned again without each of its features, one model after the other, while the page is seen."""

from __future__ import annotations

from collections import defaultdict
from math import inf, isnan
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.metrics.names import measure
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.worker import Worker
from rankstudio.ui.language import tr
from rankstudio.ui.queries.ablation_panel import AblationPanel, AblationRow
from rankstudio.ui.queries.comparison_panel import PART_NAMES
from rankstudio.ui.queries.model_choice import ChosenModels
from rankstudio.ui.queries.query_tasks import QueryRequest, QueryTasks

if TYPE_CHECKING:
    from rankstudio.engine.analysis.queries.feature_ablation import AblatedQueries, FeatureAblation


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
        self._panel, self._tasks = panel, tasks
        self._asked: QueryRequest | None = None
        self._plan: Plan | None = None
        self._models: ChosenModels = {}
        self._left: list[tuple[int, int]] = []
        self._n = 0
        self._found: dict[int, list[AblatedQueries]] = defaultdict(list)
        self._rows: list[AblationRow] = []
        self._unchanged = 0
        self._begun = False
        self._demand = OnDemand(worker, self._key, self._compute, parent=self)
        self._demand.failed.connect(self._fail)
        panel.asked.connect(self._begin_asked)

    def begin(self, asked: QueryRequest, plan: Plan, models: ChosenModels) -> None:
        """Leave out each feature of some models from now on; :meth:`go_on` has the first one learned.

        Parameters
        ----------
        asked : QueryRequest
            What is compared.
        plan : Plan
            With which the models were learned.
        models : dict of int to Chosen
            By the fold's number.
        """
        self._demand.forget()
        self._asked, self._plan, self._models = asked, plan, models
        self._found.clear()
        self._rows, self._unchanged, self._begun = [], 0, False
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
        """Return fold and column to learn without; no fold where what is known of it is to be summed up."""
        if not self._begun:
            return None
        waiting = {column for _, column in self._left} | {row.found.column for row in self._rows}
        known = next((column for column in self._found if column not in waiting), None)
        if known is not None:
            return None, known
        return self._left[0] if self._left else None

    def _key(self) -> Key | None:
        following = self._next()
        return None if following is None else (self._asked, *following)

    def _compute(self) -> Computation | None:
        asked, plan, following = self._asked, self._plan, self._next()
        if asked is None or plan is None or following is None:
            return None
        fold, column = following
        if fold is None:
            every = tuple(one for several in self._found.values() for one in several)
            given = tuple(self._found[column]), every, asked.measure
            return computation(
                tr("Measuring the effect of each feature"), self._add, self._tasks.sum_up, *given
            )
        what = tr("Leaving out {column}").format(column=self._name(column))
        work = self._tasks.leave_out(asked, plan, fold, self._models[fold], column)
        return Computation(what, work, self._take)

    def _take(self, found: AblatedQueries) -> None:
        self._left.pop(0)
        self._found[found.column].append(found)
        self._show()
        self.go_on()

    def _fail(self, why: str) -> None:
        self._left, self._begun = [], False
        self._panel.clear(why)

    def _add(self, found: tuple[FeatureAblation, int]) -> None:
        row, self._unchanged = found
        asked = self._asked
        if asked is None:
            return
        feature = int(asked.dataset.feature_ids[row.column])
        self._rows.append(AblationRow(feature, self._name(row.column), row))
        sign = 1.0 if measure(asked.measure).higher_is_better else -1.0
        self._rows.sort(key=lambda one: -sign * one.fall if not isnan(one.fall) else inf)
        self._show()
        self.go_on()

    def _show(self) -> None:
        asked = self._asked
        if asked is not None:
            summing_up = len(self._rows) < len(self._found)
            done = self._n - max(len(self._left), int(summing_up))
            part = PART_NAMES[asked.part]
            several = any(len(row.found.folds) < len(self._models) for row in self._rows)
            self._panel.show_rows(
                self._rows, asked.measure, part, (done, self._n), self._unchanged, several=several
            )

    def _name(self, column: int) -> str:
        return self._asked.dataset.feature_names[column] if self._asked is not None else ""
