"""What a set of features loses on the left-out queries without each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankstudio.engine.analysis.evidence.subset_paths import SubsetPaths
from rankstudio.engine.analysis.evidence.verdicts import Loss
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.statistics.paired import mean_difference
from rankstudio.engine.support.threads import STEADY

Judge = GreedyRankRLS | RankRLS
"""By whose left-out predictions a set is judged."""


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
    without : ndarray of shape (k, Q)
    """

    features: tuple[int, ...]
    measure: str
    whole: Floats
    without: Floats

    @cached_property
    def losses(self) -> tuple[Loss, ...]:
        """Loss of the set without each feature."""
        sign = 1.0 if self.measure and find_measure(self.measure).higher_is_better else -1.0
        return tuple(Loss(*mean_difference(sign * self.whole, sign * one)) for one in self.without)


def feature_losses(
    judge: Judge, data: QueryData, features: Sequence[int], measure: str = "", convention: str = "letor4"
) -> FeatureLosses:
    """Measure a set of features on left-out queries, with all features and without each of them.

    Parameters
    ----------
    judge : GreedyRankRLS or RankRLS
        Its λ and loss are used; no features are selected.
    data : QueryData
        Data with several queries.
    features : sequence of int
        0-based columns.
    measure : str, default ""
        Measure of the left-out queries; "" for the squared error.
    convention : str
        Convention of the measure.
    """
    columns = tuple(features)
    sets = [columns, *(columns[:at] + columns[at + 1 :] for at in range(len(columns)))]
    if not measure:
        values = left_out_errors(judge, data, sets)
    else:
        evaluator = Evaluator(data.y, data.ptr, convention, [measure], grading=data.grading)
        name = find_measure(measure).name
        ranker = RankRLS(judge.regularization, cost=judge.cost, ties=judge.ties, weighting=judge.weighting)
        with STEADY:
            scores = [ranker.left_out(data, one) if one else np.zeros(data.y.size) for one in sets]
        values = np.array([evaluator.per_query(one)[name] for one in scores])
    return FeatureLosses(columns, measure, values[0], values[1:])


def left_out_errors(judge: Judge, data: QueryData, sets: Sequence[Sequence[int]]) -> Floats:
    """Return the left-out squared error of each query for some sets of columns, shape (sets, Q)."""
    columns = sorted({column for one in sets for column in one})
    place = {column: at for at, column in enumerate(columns)}
    rows = PairRows.of(data, judge.pair_cost()).narrowed(columns or [0])
    with STEADY:
        paths = SubsetPaths(GreedyRankRLS(regularization=judge.checked("regularization")), rows)
        errors = [paths.errors([place[column] for column in one]).present for one in sets]
    return np.array(errors)
