"""RankBoost: boosting of thresholds on single features, over pairs (Freund et al. 2003)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.threads import pool

_SEPARATES = 1.0 - 1e-9  # |r| at most, so that the weight of a weak ranker that errs in no pair is finite
_ROUNDING = 1e-12  # |r| below which a threshold does nothing but for rounding
_WORTH_THREADS = 5e5  # documents times features


@dataclass(frozen=True)
class Threshold:
    """A weak ranker: ``weight`` where the feature's value is above ``theta``, else 0."""

    feature: int
    theta: float
    weight: float


@dataclass(frozen=True, eq=False)
class BoostStep(Step):
    """A round of boosting. ``coef`` holds the sums of the weights of each feature's thresholds.

    Those tell how much a feature is used; they are not the model, which is not linear: :meth:`scores` is.

    Attributes
    ----------
    history : sequence of Threshold
        The weak rankers of the whole run, to which later rounds add: one list for all steps, because a
        copy for each would take memory in the square of their number.
    """

    linear: ClassVar[bool] = False

    history: Sequence[Threshold] = ()

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """The weak rankers up to this round."""
        return tuple(self.history[: self.number])

    def scores(self, columns: Floats, known: Floats | None = None) -> Floats:
        """Score documents; see :meth:`rankstudio.engine.steps.Step.scores`."""
        if known is None:
            return _scores(columns, self.thresholds)
        return known + _scores(columns, self.thresholds[-1:])

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the thresholds; see :meth:`rankstudio.engine.steps.Step.beyond_weights`."""
        weak = [{"id": int(ids[t.feature]), "above": t.theta, "adds": t.weight} for t in self.thresholds]
        return {"kind": "thresholds", "thresholds": weak}


def _scores(columns: Floats, thresholds: Sequence[Threshold]) -> Floats:
    """Return the sum of some weak rankers for documents (n, m), shape (m,)."""
    out = np.zeros(columns.shape[1])
    for weak in thresholds:
        out += weak.weight * (columns[weak.feature] > weak.theta)
    return out


class RankBoost(LinearRanker):
    """RankBoost boosts thresholds on single features, h(x) = 1 where x_j > θ, else 0 (Freund et al. 2003).

    Pairs are documents of one query with different labels, all of equal weight at first. Every round takes
    the feature and threshold with the greatest |r|, r = sum over pairs D(x0, x1) (h(x1) - h(x0)), with the
    weight α = ½ ln((1 + r) / (1 - r)) (their third method, section 3.2), negative where low values are
    better. All values of a feature are tried as thresholds.

    Parameters
    ----------
    n_rounds : int, default 300
        Weak rankers, 1 to 100,000.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Sum of the weights of each feature's thresholds: how much it is used. The model is not linear.
    thresholds_ : tuple of Threshold
        The weak rankers.
    loss_ : float
        Mean of exp(H(x0) - H(x1)) over the pairs, H being the scores.

    Notes
    -----
    O(nm log m) once and O(nm) a round for m documents and n features; pairs are never listed. It ends early
    where no threshold is better than none, or where one puts every pair in order.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> RankBoost(n_rounds=20).fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    0
    """

    thresholds_: tuple[Threshold, ...]
    loss_: float

    def __init__(self, n_rounds: int = 300) -> None:
        self.n_rounds = n_rounds

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.n_rounds

    def learn(self, data: QueryData) -> Iterator[BoostStep]:
        """Yield one step a round, with the mean loss of the pairs as its criterion."""
        n_rounds = self.checked("n_rounds")
        rounds = _Rounds(data)
        history: list[Threshold] = []
        coef, features = np.zeros(data.X.shape[1]), dict[int, None]()
        for number in range(1, n_rounds + 1):
            weak = rounds.weak_ranker()
            if weak is None:
                break
            rounds.add(weak)
            history.append(weak)
            coef = coef.copy()
            coef[weak.feature] += weak.weight
            features.setdefault(weak.feature)
            yield BoostStep(number, tuple(features), coef, rounds.loss, np.empty(0), history=history)
            if rounds.perfect:
                return
        if not history:  # nothing tells any pair apart: a model that scores all documents alike
            yield BoostStep(1, (), coef, rounds.loss, np.empty(0))

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        last = taken[-1]
        assert isinstance(last, BoostStep)
        self.thresholds_ = last.thresholds
        self.loss_ = last.criterion

    def _score(self, X: Floats) -> Floats:
        return _scores(X.T, self.thresholds_)


class _Rounds:
    """The state of boosting: scores so far, and the documents in the order of every feature."""

    def __init__(self, data: QueryData) -> None:
        from rankstudio.engine.methods.rankers import _rankboost_kernel as kernels  # noqa: PLC0415 - numba

        self._kernels = kernels
        self._y, self._ptr = data.y, data.ptr
        query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
        self._by_label = np.lexsort((data.y, query)).astype(np.int64)
        self._columns = np.ascontiguousarray(data.X.T)
        self._order = np.argsort(self._columns, axis=1, kind="stable").astype(np.int64)
        self._H = np.zeros(data.y.size)
        self._weights = np.empty(data.y.size)
        self._n_pairs = 0.0
        self.perfect = False
        self._weigh()
        self._n_pairs = self._sum  # every pair counts 1 at first

    def _weigh(self) -> None:
        self._sum = self._kernels.potential(self._H, self._y, self._by_label, self._ptr, self._weights)

    @property
    def loss(self) -> float:
        """The mean loss of the pairs, 0 without a pair."""
        return self._sum / self._n_pairs if self._n_pairs else 0.0

    def weak_ranker(self) -> Threshold | None:
        """Return the best threshold of all with its weight; None where none does anything."""
        n, m = self._columns.shape
        if not self._sum > 0:
            return None
        gains, places = np.empty(n), np.empty(n, dtype=np.int64)
        with pool(n * m > _WORTH_THREADS) as (executor, workers):
            cuts = np.linspace(0, n, workers + 1).astype(int).tolist()

            def work(first: int, last: int) -> None:
                self._kernels.best_thresholds(
                    self._columns, self._order, self._weights, first, last, gains, places
                )

            list((executor.map if executor else map)(work, cuts[:-1], cuts[1:]))
        feature = int(np.argmax(np.abs(gains)))
        r = float(np.clip(gains[feature] / self._sum, -_SEPARATES, _SEPARATES))
        if places[feature] < 0 or abs(r) < _ROUNDING:
            return None
        self.perfect = abs(r) == _SEPARATES
        theta = float(self._columns[feature, self._order[feature, places[feature]]])
        return Threshold(feature, theta, 0.5 * float(np.log((1.0 + r) / (1.0 - r))))

    def add(self, weak: Threshold) -> None:
        """Add a weak ranker to the scores, and weigh the pairs anew."""
        self._H += weak.weight * (self._columns[weak.feature] > weak.theta)
        self._weigh()
