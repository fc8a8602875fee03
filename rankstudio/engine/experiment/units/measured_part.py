"""Measures of the models of a fold: on its parts, and on left-out training queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.left_out_names import (
    PAIR_MEASURES,
    left_out_name,
)
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.left_out import measured_left_out
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.metrics.conventions import convention as find_convention
from rankstudio.engine.metrics.evaluator import Evaluator, average, standard_error
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.threads import STEADY
from rankstudio.engine.support.work import Waiting

_MAX_SCORES = 1 << 25  # scores of the models that are measured at a time: 256 MB
_MAX_VALUES = 1 << 22  # measures in queries that are computed at a time: 32 MB


class MeasuredSteps(NamedTuple):
    """Measures of K steps of a path, each a model.

    They are the means of each measure over the queries, shape (K,) by
    name, and the values of one measure in each of Q queries, shape (K,
    Q), or None.
    """

    means: dict[str, Floats]
    queries: Floats | None


class MeasuredPart(ScoredPart):
    """A part of a fold, such as the validation part, on which models are measured.

    Parameters
    ----------
    data : RankingDataset
        Documents of the part, with their labels.
    plan : Plan
        Plan with the measures and convention.
    """

    def __init__(self, data: RankingDataset, plan: Plan) -> None:
        """Measure on a part by the measures of a plan."""
        super().__init__(data)
        self._plan = plan

    def measure(self, scores: Floats) -> dict[str, float]:
        """Return the measures of one model's scores."""
        return {
            name: float(values[0])
            for name, values in self._evaluator.evaluate_many(scores[None, :]).items()
        }

    def per_query(self, step: Step) -> dict[str, Floats]:
        """Return a model's measures in each query."""
        return self._evaluator.per_query(self.scores(step))

    def measure_queries(self, scores: Floats) -> dict[str, Floats]:
        """Return the measures of one model's scores in each query."""
        return self._evaluator.per_query(scores)

    def measure_all(
        self, steps: Sequence[Step], stored_measure: str = ""
    ) -> MeasuredSteps:
        """Return the mean measures of a path's K models on the part, shape (K,) each.

        The result also has the values of `stored_measure` in each of Q
        queries, shape (K, Q), or None if this measure is not computed.
        """
        mean_tables = []
        query_values = []
        # A table has each measure in each query, for a block of models.
        for table in self._tables(steps):
            mean_tables.append(
                {name: average(values) for name, values in table.items()}
            )
            if stored_measure in table:
                query_values.append(table[stored_measure])
        means = {
            name: np.concatenate([table[name] for table in mean_tables])
            for name in mean_tables[0]
        }
        return MeasuredSteps(
            means, np.concatenate(query_values) if query_values else None
        )

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self._data.n_queries

    def table(self, steps: Sequence[Step]) -> dict[str, Floats]:
        """Return each measure of D models in each of the part's Q queries, shape (D, Q).

        The models are those of `steps`, which need not be consecutive.
        """
        linear = all(step.linear for step in steps)
        # Blocks of linear models are scored together; others one by
        # one, each from its beginning.
        tables = list(self._tables(steps) if linear else map(self._row, steps))
        return {
            name: np.concatenate([table[name] for table in tables])
            for name in tables[0]
        }

    def _row(self, step: Step) -> dict[str, Floats]:
        """Return the measures of a model in each query, each of shape (1, Q)."""
        return {name: row[None, :] for name, row in self.per_query(step).items()}

    def at_positions(
        self, steps: Sequence[Step], positions: Sequence[int]
    ) -> dict[str, Floats]:
        """Return each measure of D nonlinear models in each query, shape (D, Q).

        Parameters
        ----------
        steps : sequence of Step
            All steps of the path, from which additive models continue.
        positions : sequence of int
            D ascending positions of steps, at least one.
        """
        rows: list[dict[str, Floats]] = []
        scores: Floats | None = None
        # The scores of an additive model are those of the step before
        # it plus a new term, so all earlier steps are scored.
        for position in range(positions[-1] + 1) if steps[0].additive else positions:
            scores = self.scores(steps[position], scores)
            if position in positions:
                rows.append(self.measure_queries(scores))
        return {name: np.stack([row[name] for row in rows]) for name in rows[0]}

    def _tables(self, steps: Sequence[Step]) -> Iterator[dict[str, Floats]]:
        """Yield each measure in each query, shape (k, Q), for blocks of k steps, in order.

        All steps must be those of one path, from its beginning:
        additive models continue from the scores of the step before.
        """
        if all(step.linear for step in steps):
            # Limit the memory for weights and scores, and that for measures in queries.
            largest_dimension = max(self._data.n_documents, self._data.n_features)
            block_size = max(
                1, min(_MAX_SCORES // largest_dimension, _MAX_VALUES // self._n_values)
            )
            for first in range(0, len(steps), block_size):
                coefs = np.array(
                    [step.coef for step in steps[first : first + block_size]]
                )
                yield self._evaluator.per_query_many(self.linear_scores(coefs))
            return
        # Nonlinear models are scored one by one.
        scores: Floats | None = None
        for step in steps:
            scores = self.scores(step, scores)
            yield {
                name: row[None, :] for name, row in self.measure_queries(scores).items()
            }

    @property
    def _n_values(self) -> int:
        """Number of values of one model: those of each measure in each query."""
        return self._evaluator.n_queries * max(1, len(self._evaluator.measures))

    @cached_property
    def _evaluator(self) -> Evaluator:
        """Evaluator of the plan's measures on the part."""
        return _part_evaluator(self._data, self._plan)


class LeftOutQueries:
    """The training queries of a fold, each left out in turn.

    A query is measured by a model that is trained without it.

    On a path of selected features, the selection is not repeated
    without each query: it used all queries.

    Parameters
    ----------
    plan : Plan
        Plan with the measures and convention.
    part : RankingDataset
        Training part.
    train : TrainingData
        Training part in the form for methods.
    """

    def __init__(self, plan: Plan, part: RankingDataset, train: TrainingData) -> None:
        """Start without measures of left-out queries; :meth:`begin` adds a list for a unit.

        `part` is the training part of the fold, and `train` the same in
        the form that methods take.
        """
        self._plan = plan
        self._part = part
        self._train = train
        # By the position of a unit's combination, and for each of its
        # steps: standard errors by measure, and the selection measure
        # in each query.
        self._errors: dict[int, list[dict[str, float]]] = {}
        self._queries: dict[int, list[Floats]] = {}

    def begin(self, unit: Unit) -> None:
        """Discard the measures of a unit that was not finished."""
        self._errors[unit.position] = []
        self._queries[unit.position] = []

    def measure(
        self, unit: Unit, ranker: LinearRanker, step: Step
    ) -> Waiting[dict[str, float]]:
        """Yield progress, and return the measures of a step's model on left-out queries, by name.

        `ranker` is trained anew on the features of the step, without
        each query or pair. The standard errors of the measures, and the
        values of the selection measure in each query, are also stored:
        the methods `standard_errors` and `queries` return them.
        """
        measure_queries = (
            self._pair_measures if self._plan.pairs_out else self._per_query
        )
        per_query = yield from measure_queries(ranker, step.selected)
        measures = {
            left_out_name(name, pairs=self._plan.pairs_out): values
            for name, values in per_query.items()
        }
        self._errors[unit.position].append(
            {name: standard_error(values) for name, values in measures.items()}
        )
        self._queries[unit.position].append(measures[self._plan.select_by])
        return {name: float(average(values)) for name, values in measures.items()}

    def standard_errors(self, unit: Unit) -> dict[str, Floats]:
        """Return the standard errors of the steps of a unit, by measure."""
        return as_columns(self._errors.pop(unit.position))

    def queries(self, unit: Unit) -> Floats:
        """Return the selection measure of K steps in each query, shape (K, Q)."""
        return np.array(self._queries.pop(unit.position))

    def _pair_measures(
        self, ranker: LinearRanker, columns: Sequence[int]
    ) -> Waiting[dict[str, Floats]]:
        """Yield progress, and return measures of the only query by left-out pairs, (1,) each.

        Each pair of documents is ranked by a model that is trained
        without the pair, on the features in `columns`. The measures are
        by name.
        """
        plan = self._plan
        # All documents; the label names the method if they do not fit into memory.
        query_data = self._train.whole(
            (self._plan.ranker_entry or self._plan.entry).label
        )
        relevant = (
            query_data.y >= find_convention(plan.convention).relevant_from
        ).astype(np.float64)
        measures = {}
        for name in PAIR_MEASURES:
            if name not in plan.evaluated:
                continue
            # AUC compares relevant documents with others, Disagreement all labels
            is_auc = name == "AUC"
            labels = relevant if is_auc else query_data.y
            # Share of the pairs with different labels that are ranked correctly.
            area = yield from ranker.pair_area(query_data, columns, labels)
            measures[name] = np.array([area if is_auc else 1.0 - area])
        return measures

    def _per_query(
        self, ranker: LinearRanker, columns: Sequence[int]
    ) -> Waiting[dict[str, Floats]]:
        """Yield progress, and return each measure in each left-out query, shape (Q,), by name.

        Each query is ranked by a model that is trained without the
        query, on the features in `columns`.
        """
        train = self._train
        plan = self._plan
        # Several shards are scored one by one if the method supports
        # this; otherwise all documents must fit into memory.
        scorer = (
            (yield from ranker.left_out_scorer(train, columns))
            if train.several
            else None
        )
        if scorer is not None:
            names = tuple(dict.fromkeys(measure(name).name for name in plan.evaluated))
            table = yield from measured_left_out(train, scorer, plan.convention, names)
            return dict(zip(names, table, strict=True))
        # All documents; the label names the method if they do not fit into memory.
        query_data = train.whole((plan.ranker_entry or plan.entry).label)
        scores = np.zeros(len(query_data.y))
        # A model without features scores every document 0.
        if columns:
            # BLAS has one thread, so that the scores have the same bits everywhere.
            with STEADY:
                scores = ranker.left_out(query_data, columns)
        return self._evaluator.per_query(scores)

    @cached_property
    def _evaluator(self) -> Evaluator:
        """Evaluator of the plan's measures on the part."""
        return _part_evaluator(self._part, self._plan)


def _part_evaluator(part: RankingDataset, plan: Plan) -> Evaluator:
    """Return an evaluator of a plan's measures on a part."""
    return Evaluator(
        part.y, part.query_ptr, plan.convention, plan.evaluated, grading=part.grading
    )


def as_columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
    """Return each measure of K steps as an array of shape (K,), by name.

    `rows` has the measures of each step, by name. The result is {}
    without steps.
    """
    return {
        name: np.array([row[name] for row in rows])
        for name in (rows[0] if rows else ())
    }
