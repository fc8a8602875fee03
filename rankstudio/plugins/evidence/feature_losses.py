"""Loss of a set of features on the left-out queries without each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.capabilities import ExactExchange
from rankstudio.engine.methods.left_out import measured_left_out
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.subset_problem import (
    errors_of_sets,
)
from rankstudio.engine.methods.selection.greedy_rankrls.summed_rows import summed_rows
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.statistics.paired import mean_difference
from rankstudio.engine.support.threads import STEADY
from rankstudio.engine.support.work import finish
from rankstudio.plugins.evidence.verdicts import Loss


@dataclass(frozen=True, eq=False)
class FeatureLosses:
    """Left-out values of each query with a set of features, and without each feature.

    Attributes
    ----------
    features : tuple of int
        0-based columns, k of them.
    measure : str
        Measure: "MAP", …; "" for the squared error.
    whole : ndarray of shape (Q,)
        Value of the measure in each query with the whole set.
    without : ndarray of shape (k, Q)
        Value of the measure in each query without each feature.
    """

    features: tuple[int, ...]
    measure: str
    whole: Floats
    without: Floats

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """Loss of the set without each feature: mean over the queries and 95 % interval."""
        # A loss is positive if the value gets worse, also where lower
        # is better.
        sign = (
            1.0
            if self.measure and find_measure(self.measure).higher_is_better
            else -1.0
        )
        return tuple(
            Loss(*mean_difference(sign * self.whole, sign * without_feature))
            for without_feature in self.without
        )


def feature_losses(
    judge: ExactExchange,
    data: GivenData,
    features: Sequence[int],
    measure: str = "",
    convention: str = DEFAULT,
) -> FeatureLosses:
    """Measure a set of features on left-out queries, with all features and without each of them.

    Parameters
    ----------
    judge : ExactExchange
        Regularization λ and loss of the RankRLS that is trained without
        each query.
    data : QueryData or TrainingData
        Data with several queries, of any size.
    features : sequence of int
        0-based columns of the set.
    measure : str, default ""
        Measure of the left-out queries; "" for the squared error.
    convention : str
        Convention of the measure.

    Returns
    -------
    FeatureLosses
        A value for each query, with the whole set and without each feature.
    """
    columns = tuple(features)
    data = training_data(data)

    # the whole set, then the set without each feature
    sets = [
        columns,
        *(columns[:index] + columns[index + 1 :] for index in range(len(columns))),
    ]
    if not measure:
        values = left_out_errors(judge, data, sets)
    else:
        loss = judge.cost
        ranker = RankRLS(
            judge.regularization,
            cost=loss.cost,
            ties=loss.ties,
            weighting=loss.weighting,
        )
        with STEADY:
            values = np.array(
                [
                    _measure_of_each_query(ranker, data, subset, measure, convention)
                    for subset in sets
                ]
            )
    return FeatureLosses(columns, measure, values[0], values[1:])


def _measure_of_each_query(
    ranker: RankRLS,
    data: TrainingData,
    columns: Sequence[int],
    measure: str,
    convention: str,
) -> Floats:
    """Return a measure of each query, ranked by RankRLS that was trained without the query.

    The model uses the features of ``columns``; without columns, all scores are
    0. The result has the shape (Q,) for Q queries.
    """
    # Data in several shards do not fit into memory at once.
    if data.several:
        scorer = (
            finish(ranker.left_out_scorer(data, columns)) if columns else _NoModel()
        )
        assert scorer is not None  # RankRLS always has a left-out scorer
        return np.asarray(
            finish(measured_left_out(data, scorer, convention, (measure,)))[0]
        )

    # The text begins the error for data that do not fit into memory.
    rows = data.whole("Loss without a feature")
    evaluator = Evaluator(rows.y, rows.ptr, convention, [measure], grading=rows.grading)
    scores = ranker.left_out(rows, columns) if columns else np.zeros(rows.y.size)
    return np.asarray(evaluator.per_query(scores)[find_measure(measure).name])


@dataclass(frozen=True)
class _NoModel:
    """The model without features."""

    def scores(self, data: QueryData) -> Floats:
        """Score each document by 0."""
        return np.zeros(data.y.size)


def left_out_errors(
    judge: ExactExchange, data: GivenData, sets: Sequence[Sequence[int]]
) -> Floats:
    """Return the left-out squared error of each query for each set of columns.

    The shape is (S, Q) for S sets and Q queries; an error is that of
    RankRLS trained without the query, with the λ and loss of ``judge``.
    """
    # Only columns of some set are read, and sets refer to them by
    # position. No column at all is not possible: empty sets alone read
    # the first one and do not use it.
    columns = sorted({column for subset in sets for column in subset})
    index_of = {column: index for index, column in enumerate(columns)}
    rows = summed_rows(training_data(data), judge.cost, columns or [0])
    with STEADY:
        narrow = [[index_of[column] for column in subset] for subset in sets]
        return errors_of_sets(rows, judge.regularization, narrow)
