"""What a unit's models measure on the training queries, each ranked by the model learned without it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import cached_property

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.left_out_names import left_out_name
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.left_out import measured_left_out
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.metrics.evaluator import Evaluator, average, standard_error
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.threads import STEADY
from rankstudio.engine.support.work import WorkProgress


class LeftOutQueries:
    """The training queries of a fold, to measure models on that were learned without each.

    Along a path of selected features the selection is not repeated without the query: it saw all of them.

    Parameters
    ----------
    plan : Plan
        Its measures and convention count here.
    part : RankingDataset
        The training part.
    train : TrainingData
        The same, as methods learn from it.
    """

    def __init__(self, plan: Plan, part: RankingDataset, train: TrainingData) -> None:
        self._plan, self._part, self._train = plan, part, train
        self._errors: dict[int, list[dict[str, float]]] = {}
        self._queries: dict[int, list[Floats]] = {}

    def begin(self, unit: Unit) -> None:
        """Forget what a unit measured that was not carried out to its end."""
        self._errors[unit.position], self._queries[unit.position] = [], []

    def measure(
        self, unit: Unit, ranker: LinearRanker, step: Step
    ) -> Generator[WorkProgress, None, dict[str, float]]:
        """Return the measures of a step's model by their names.

        Their standard errors are noted, and the values in each query of the one that chooses.
        """
        per_query = yield from self._per_query(ranker, step.selected)
        found = {left_out_name(name): v for name, v in per_query.items()}
        self._errors[unit.position].append({name: standard_error(v) for name, v in found.items()})
        self._queries[unit.position].append(found[self._plan.select_by])
        return {name: float(average(v)) for name, v in found.items()}

    def standard_errors(self, unit: Unit) -> dict[str, Floats]:
        """Return those of the steps of a unit, by measure."""
        return as_columns(self._errors.pop(unit.position))

    def queries(self, unit: Unit) -> Floats:
        """Return what chooses in each query, after each of K steps of a unit, shape (K, Q)."""
        return np.array(self._queries.pop(unit.position))

    def _per_query(
        self, ranker: LinearRanker, columns: Sequence[int]
    ) -> Generator[WorkProgress, None, dict[str, Floats]]:
        """Return the measures in each query."""
        train, plan = self._train, self._plan
        scorer = (yield from ranker.left_out_scorer(train, columns)) if train.several else None
        if scorer is not None:
            names = tuple(dict.fromkeys(measure(name).name for name in plan.evaluated))
            table = yield from measured_left_out(train, scorer, plan.convention, names)
            return dict(zip(names, table, strict=True))
        whole = train.whole((plan.ranker_entry or plan.entry).label)
        scores = np.zeros(len(whole.y))
        if columns:
            with STEADY:
                scores = ranker.left_out(whole, columns)
        return self._evaluator.per_query(scores)

    @cached_property
    def _evaluator(self) -> Evaluator:
        part, plan = self._part, self._plan
        return Evaluator(part.y, part.query_ptr, plan.convention, plan.evaluated, grading=part.grading)


def as_columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
    """Return what was measured of each step by measure, an array of the steps each."""
    return {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}
