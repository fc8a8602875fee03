"""AdaRank: boosting of single features by a ranking measure (Xu & Li 2007)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.querywise.scoring import linear_scores
from rankstudio.engine.steps import Step

_PERFECT = 1e-10  # of the weight of the queries: what a weak ranker misses at least, so that α is finite


class AdaRank(LinearRanker):
    """AdaRank boosts single features for a measure of whole rankings (Xu & Li 2007, Figure 1).

    With E(q, f) the measure of query q ranked by f, every round takes the feature with the greatest
    sum_q P(q) E(q, x_k), adds it with the weight

        α = ½ ln( sum_q P(q) (1 + E(q, x_k)) / sum_q P(q) (1 - E(q, x_k)) ),

    and weighs queries anew by P(q) ∝ exp(-E(q, f)) with f the sum so far. The model is linear in the
    features. The weak ranker's part of a score is the value of its feature as it is, so features should be
    on one scale.

    Parameters
    ----------
    measure : str, default "NDCG@10"
        A measure of :func:`rankstudio.engine.evaluate` of which more is better.
    n_rounds : int, default 100
        Weak rankers, 1 to 100,000.
    direction : {"both", "descending"}, default "both"
        Whether weak rankers may also rank from a feature's least value up; in the paper they do not.
    convention : str, default "letor4"
        Convention of the measure.
    repeats : bool, default False
        Whether a feature may be taken more than once. The paper says nothing against it; but as soon as the
        same feature comes twice, neither the ranking nor the weights of the queries change, and it comes in
        every round from then on. On OHSUMED that is after a few rounds, and averages are those that LETOR
        3.0 published only without repeats.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        The weights of the features, summed over rounds.
    value_ : float
        The measure of the training documents.

    Notes
    -----
    O(nm log m) once for m documents, n features and Q queries; O(nQ + m log m) a round. It ends early with
    a model that ranks every query perfectly, or where every feature was taken.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> AdaRank(n_rounds=20).fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    1
    """

    value_: float

    def __init__(
        self,
        measure: str = "NDCG@10",
        n_rounds: int = 100,
        direction: str = "both",
        convention: str = DEFAULT,
        repeats: bool = False,
    ) -> None:
        self.measure = measure
        self.n_rounds = n_rounds
        self.repeats = repeats
        self.direction = direction
        self.convention = convention

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.n_rounds if self.repeats else min(self.n_rounds, n_features)

    def learn(self, data: QueryData) -> Iterator[Step]:
        """Yield one step a round; its criterion is the measure, to be lowered and so negative."""
        from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba

        wanted, n = find_measure(self.measure), data.X.shape[1]
        n_rounds = self.checked("n_rounds")
        if not wanted.higher_is_better:
            raise ParameterError("measure", self.measure, "a measure of which more is better")
        direction, repeats = self.checked("direction"), self.checked("repeats")
        evaluator = Evaluator(data.y, data.ptr, self.convention, [wanted])
        columns = np.ascontiguousarray(data.X.T)
        signs = (1.0, -1.0) if direction == "both" else (1.0,)
        weak = np.array(
            [evaluator.per_query(sign * column)[wanted.name] for sign in signs for column in columns]
        )
        coef, weights = np.zeros(n), np.full(weak.shape[1], 1.0 / weak.shape[1])
        order: dict[int, None] = {}
        for number in range(1, min(n_rounds, n_rounds if repeats else n) + 1):
            gains = weak @ weights
            if not repeats:
                gains.reshape(-1, n)[:, list(order)] = -np.inf
            best = int(np.argmax(gains))
            gained = float(weights @ weak[best])
            alpha = 0.5 * np.log((1.0 + gained) / max(1.0 - gained, _PERFECT))
            coef = coef.copy()
            coef[best % n] += signs[best // n] * alpha
            order.setdefault(best % n)
            reached = evaluator.per_query(linear_scores(columns, coef[None, :])[0])[wanted.name]
            yield Step(number, tuple(order), coef, -float(reached.mean()), np.empty(0))
            if (reached >= 1.0 - _PERFECT).all():
                return
            weights = np.exp(-reached)
            weights /= weights.sum()

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        self.value_ = -taken[-1].criterion
