"""AdaRank: boosting of single features by a ranking measure (Xu & Li 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, sums_need
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    ShardSession,
    training_data,
)
from rankstudio.engine.methods.shards.work import StateWork
from rankstudio.engine.metrics.conventions import DEFAULT, Convention, objective
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Waiting, WorkProgress
from rankstudio.plugins.baselines.entries import ADARANK

# least assumed error of a weak ranker, as a share of the queries'
# weight; keeps α finite
_MIN_ERROR = 1e-10


@dataclass(eq=False, repr=False)
class AdaRank(LinearRanker):
    """AdaRank boosts single features for a listwise measure (Xu & Li 2007, Figure 1).

    Let E(q, f) be the measure of query q ranked by f. Every round takes
    the feature x_k with the largest sum_q P(q) E(q, x_k), adds it with
    the weight

        α = ½ ln( sum_q P(q) (1 + E(q, x_k)) / sum_q P(q) (1 - E(q, x_k)) ),

    and reweights the queries by P(q) ∝ exp(-E(q, f)) with f the sum so
    far. The model is linear in the features. A weak ranker contributes
    the unscaled value of its feature, so features should be on one
    scale.

    Parameters
    ----------
    measure : str, default "NDCG@10"
        A measure of :func:`rankstudio.engine.evaluate` for which larger is better.
    n_rounds : int, default 100
        Number of weak rankers, 1 to 100,000.
    direction : {"both", "descending"}, default "both"
        Whether weak rankers may also rank in ascending order; in the paper they do not.
    convention : str, default "standard"
        Convention of the measure; k of a cut-off is at most the number
        of documents of a query.
    repeats : bool, default False
        Whether a feature may be used more than once. The paper does not
        exclude repeats, but after the first repetition neither the
        ranking nor the query weights change, and every later round
        selects the same feature. On OHSUMED, a feature is repeated
        after a few rounds, and only without repeats do the averages
        equal those published in LETOR 3.0.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Weights of the features, summed over rounds.
    value_ : float
        Measure of the training documents.

    Notes
    -----
    O(nm log m) once for m documents, n features and Q queries; O(nQ + m
    log m) per round. The fit stops early with a model that ranks every
    query perfectly, or when every feature is used.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> AdaRank(n_rounds=20).fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    1
    """

    entry = ADARANK

    value_: float = field(init=False)

    measure: str = "NDCG@10"
    _: KW_ONLY
    n_rounds: int = 100
    direction: Literal["both", "descending"] = "both"
    convention: str = DEFAULT
    repeats: bool = False

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.n_rounds if self.repeats else min(self.n_rounds, n_features)

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Add the best weak ranker in each round, and yield one step per round.

        A weak ranker is a feature with a sign. The criterion of a step
        is the negative measure of the model so far.
        """
        measure = find_measure(self.measure)
        n = data.X.shape[1]
        n_rounds = self.checked("n_rounds")
        if not measure.higher_is_better:
            raise ParameterError(
                "measure", self.measure, "a measure for which higher is better"
            )

        # Each feature is a weak ranker with sign 1, and if both
        # directions are tried, another one with sign -1.
        direction = self.checked("direction")
        repeats = self.checked("repeats")
        signs = (1.0, -1.0) if direction == "both" else (1.0,)
        coef = np.zeros(n)

        # The features in use, in the order of their first use: a dict
        # as an ordered set.
        order: dict[int, None] = {}

        # Each shard keeps the measures of its queries, a
        # `_QueryMeasures` with these settings.
        settings = (measure.name, objective(self.convention), signs)
        query_measures = StateWork(_QueryMeasures, settings)
        with training_data(data).session(query_measures) as session:
            # `weigh` computes the gains of the weak rankers: the
            # weighted means of their measures over queries. Without a
            # model, None, all queries have the same weight.
            rounds = _Rounds(session)
            yield from rounds.weigh(None)
            max_rounds = n_rounds if repeats else min(n_rounds, n)
            for number in range(1, max_rounds + 1):
                # The gains of the weak rankers: those of all features
                # with sign 1, then with sign -1. Without repeats,
                # features in use cannot be chosen again.
                gains = np.array(rounds.gains)
                if not repeats:
                    gains.reshape(-1, n)[:, list(order)] = -np.inf

                # The best weak ranker: its position has the sign and the feature.
                best = int(np.argmax(gains))
                sign_index, feature = divmod(best, n)
                gain = float(rounds.gains[best])

                # The weight of the weak ranker as in AdaBoost; the
                # bound keeps that of a perfect one finite.
                alpha = 0.5 * np.log((1.0 + gain) / max(1.0 - gain, _MIN_ERROR))
                coef = coef.copy()
                coef[feature] += signs[sign_index] * alpha
                order.setdefault(feature)

                # Queries that the new model ranks worse get more weight
                # in the next round.
                mean_measure, is_perfect = yield from rounds.weigh(coef)
                yield Step(
                    number,
                    selected=tuple(order),
                    coef=coef,
                    criterion=-mean_measure,
                    candidates=np.empty(0),
                )
                if is_perfect:
                    return

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        self.value_ = -steps[-1].criterion


class _QueryMeasures:
    """Measures the queries of a shard: by every weak ranker once, and by any model.

    Attributes
    ----------
    weak : ndarray of shape (weak rankers, Q)
        Measure of each weak ranker in each query; weak rankers are all
        features by sign.
    """

    def __init__(
        self,
        data: QueryData,
        scratch: Scratch,
        measure: str,
        convention: Convention,
        signs: tuple[float, ...],
    ) -> None:
        """Measure the queries of a shard by every weak ranker: each of n features times each sign.

        ``measure`` is the name of the measure, and ``convention`` says
        how it is computed. The results are in the attribute ``weak``,
        with a row for each weak ranker and a column for each query:
        first the n features with the first sign, then with the second
        one. ``scratch`` provides the array, in memory or in a file.
        """
        self._measure = measure
        self._convention = convention
        self.weak = scratch.empty(len(signs) * data.X.shape[1], data.ptr.size - 1)
        evaluator = self._evaluator(data)
        rankers = ((sign, column) for sign in signs for column in data.X.T)
        for row, (sign, column) in zip(self.weak, rankers, strict=True):
            row[:] = evaluator.per_query(sign * column)[measure]

    def of_model(self, data: QueryData, coef: Floats) -> Floats:
        """Return the measure of a model in each query, shape (Q,)."""
        scores = linear_scores(np.ascontiguousarray(data.X.T), coef[None, :])[0]
        measures: Floats = self._evaluator(data).per_query(scores)[self._measure]
        return measures

    def step(self, data: QueryData, message: Floats | None) -> tuple[Floats, Floats]:
        """Return the weighted sums of the measures of the weak rankers over queries, and four sums over the queries.

        A weak ranker is a feature in one direction. The weight of a
        query is exp(-value) for its value of the measure by the model
        ``message`` (n,); without a model, None, all weights are 1. The
        four sums are: the weights, the values, the number of queries,
        and the number of queries that the model does not rank
        perfectly.
        """
        n_queries = data.ptr.size - 1

        # No model ranks queries yet: all weights are 1, the sum of the
        # values is 0, and no query is ranked perfectly.
        if message is None:
            return self.weak.sum(axis=1), np.array(
                [n_queries, 0.0, n_queries, n_queries], dtype=np.float64
            )
        measures = self.of_model(data, message)
        weights = np.exp(-measures)

        # written so that NaN, an undefined value, counts as imperfect
        n_imperfect = np.count_nonzero(~(measures >= 1.0 - _MIN_ERROR))
        return self.weak @ weights, np.array(
            [weights.sum(), measures.sum(), n_queries, n_imperfect]
        )

    def _evaluator(self, data: QueryData) -> Any:
        """Return an object that computes the measure of any scores of the shard's documents."""
        from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba

        return Evaluator(
            data.y,
            data.ptr,
            self._convention,
            [self._measure],
            grading=data.grading,
        )


class _Rounds:
    """The state of boosting: the gains of weak rankers with the present weights of the queries.

    Attributes
    ----------
    gains : ndarray of shape (weak rankers,)
        Weighted mean of the measure of each weak ranker over the queries.
    """

    gains: Floats

    def __init__(self, session: ShardSession) -> None:
        self._session = session

    def weigh(self, coef: Floats | None) -> Waiting[tuple[float, bool]]:
        """Weight the queries by a model, or equally for None, and update `gains`.

        Return the mean measure of the model, and whether it ranks every
        query perfectly.
        """
        gains, sums = yield from self._session.sum(coef, "measuring rankings")
        weight, measure, n_queries, n_imperfect = sums
        self.gains = gains / weight
        return float(measure / n_queries), bool(n_imperfect == 0)
