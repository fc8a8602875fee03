"""RankBoost: boosting of thresholds on single features, over pairs (Freund et al. 2003)."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import FewerThresholdsWarning
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, shard_need, whole_need
from rankstudio.engine.methods.rankers.rankboost_shards import (
    STATE,
    THRESHOLDS,
    Beginning,
    RankBoostWork,
    WeakRanker,
    by_label,
)
from rankstudio.engine.methods.shards.session import ShardSession
from rankstudio.engine.methods.shards.sharded_data import ShardedQueryData, TrainingData, by_shards
from rankstudio.engine.methods.shards.thresholds import thresholds, with_many_values
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.steps import Note, Step, WorkProgress
from rankstudio.engine.support.shard import DOCUMENTS
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
    better. All values of a feature are tried as thresholds; of more than 65,536 documents, those of a feature
    with up to 256 values, and of others the values at 255 ranks as far from each other as they can be, and a
    :class:`rankstudio.engine.errors.FewerThresholdsWarning` says so.

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
    where no threshold is better than none, or where one puts every pair in order. By shards a round adds up
    256 numbers a feature, and a byte is kept for each value.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> RankBoost(n_rounds=20).fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    0
    """

    accepts_shards = True

    thresholds_: tuple[Threshold, ...]
    loss_: float

    def __init__(self, n_rounds: int = 300) -> None:
        self.n_rounds = n_rounds

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.n_rounds

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        if shape.sharded:
            return shard_need(shape, states=float(STATE + shape.n) * shape.m)
        return whole_need(shape, 3.0)  # a row for each feature, its order, and that before it is a number

    def work(self, data: TrainingData) -> Iterator[Step | WorkProgress]:
        """Yield one step a round, with the mean loss of the pairs as its criterion."""
        n_rounds = self.checked("n_rounds")
        history: list[Threshold] = []
        coef, features = np.zeros(data.X.shape[1]), dict[int, None]()
        with _rounds(by_shards(data)) as rounds:
            yield from rounds.begin()
            if rounds.fewer:
                said = tr(
                    "RankBoost tries {n} thresholds of each feature with more than {most} different values, "
                    "as there are more than {documents} documents; with fewer documents it tries all values."
                ).format(n=THRESHOLDS, most=THRESHOLDS + 1, documents=f"{DOCUMENTS:,}")
                yield Note(said, kind=FewerThresholdsWarning)
            for number in range(1, n_rounds + 1):
                weak = rounds.weak_ranker()
                if weak is None:
                    break
                yield from rounds.add(weak)
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


@contextmanager
def _rounds(data: TrainingData) -> Iterator[_Rounds]:
    if isinstance(data, ShardedQueryData):
        with data.session(RankBoostWork()) as session:
            yield _ShardedRounds(data, session)
    else:
        yield _WholeRounds(data)


class _Rounds:
    """The state of boosting: what the pairs weigh.

    Attributes
    ----------
    perfect : bool
        Whether the last weak ranker errs in no pair.
    fewer : bool
        Whether not every value of every feature is a threshold.
    """

    def __init__(self) -> None:
        self.perfect = self.fewer = False
        self._sum = self._n_pairs = 0.0

    @property
    def loss(self) -> float:
        """The mean loss of the pairs, 0 without a pair."""
        return self._sum / self._n_pairs if self._n_pairs else 0.0

    def begin(self) -> Generator[WorkProgress, None, None]:
        """Weigh the pairs for the first time."""
        yield from self._weigh(None)
        self._n_pairs = self._sum  # every pair counts 1 at first

    def weak_ranker(self) -> Threshold | None:
        """Return the best threshold of all with its weight; None where none does anything."""
        if not self._sum > 0:
            return None
        gain, feature, theta = self._best()
        r = float(np.clip(gain / self._sum, -_SEPARATES, _SEPARATES))
        if abs(r) < _ROUNDING:
            return None
        self.perfect = abs(r) == _SEPARATES
        return Threshold(feature, theta, 0.5 * float(np.log((1.0 + r) / (1.0 - r))))

    def add(self, weak: Threshold) -> Generator[WorkProgress, None, None]:
        """Add a weak ranker to the scores, and weigh the pairs anew."""
        yield from self._weigh(weak)

    def _weigh(self, weak: Threshold | None) -> Generator[WorkProgress, None, None]:
        raise NotImplementedError

    def _best(self) -> tuple[float, int, float]:
        """Return the sum of weights above the best threshold, its feature and its value."""
        raise NotImplementedError


class _WholeRounds(_Rounds):
    """The same of documents in memory, which are put in the order of every feature."""

    def __init__(self, data: QueryData) -> None:
        from rankstudio.engine.methods.rankers import _rankboost_kernel as kernels  # noqa: PLC0415 - numba

        super().__init__()
        self._kernels = kernels
        self._y, self._ptr = data.y, data.ptr
        self._by_label = by_label(data)
        self._columns = np.ascontiguousarray(data.X.T)
        self._order = np.argsort(self._columns, axis=1, kind="stable").astype(np.int64)
        self._H = np.zeros(data.y.size)
        self._weights = np.empty(data.y.size)

    def _weigh(self, weak: Threshold | None) -> Generator[WorkProgress, None, None]:
        yield from ()
        if weak is not None:
            self._H += weak.weight * (self._columns[weak.feature] > weak.theta)
        self._sum = self._kernels.potential(self._H, self._y, self._by_label, self._ptr, self._weights)

    def _best(self) -> tuple[float, int, float]:
        n, m = self._columns.shape
        gains, places = np.empty(n), np.empty(n, dtype=np.int64)
        with pool(n * m > _WORTH_THREADS) as (executor, workers):
            cuts = np.linspace(0, n, workers + 1).astype(int).tolist()

            def work(first: int, last: int) -> None:
                self._kernels.best_thresholds(
                    self._columns, self._order, self._weights, first, last, gains, places
                )

            list((executor.map if executor else map)(work, cuts[:-1], cuts[1:]))
        feature = int(np.argmax(np.abs(gains)))
        return gains[feature], feature, float(self._columns[feature, self._order[feature, places[feature]]])


class _ShardedRounds(_Rounds):
    """The same by sums over shards, whose documents are put in bins between thresholds."""

    def __init__(self, data: ShardedQueryData, session: ShardSession) -> None:
        super().__init__()
        self._data, self._session = data, session

    def begin(self) -> Generator[WorkProgress, None, None]:
        """Find the thresholds, put the documents in bins, and weigh the pairs for the first time."""
        self._thresholds = yield from thresholds(self._data, THRESHOLDS)
        self.fewer = bool((yield from with_many_values(self._data, THRESHOLDS)).any())
        yield from super().begin()

    def _weigh(self, weak: Threshold | None) -> Generator[WorkProgress, None, None]:
        message: Beginning | WeakRanker = Beginning(self._thresholds)
        if weak is not None:
            bin_ = int(np.searchsorted(self._thresholds[weak.feature], weak.theta))
            message = WeakRanker(weak.feature, bin_, weak.weight)
        self._in_bins, (self._sum,) = yield from self._session.sum(message, "weighing pairs")

    def _best(self) -> tuple[float, int, float]:
        # Above each threshold, the greatest first: of equal gains it counts, as in memory.
        above = np.cumsum(self._in_bins[:, :0:-1], axis=1)
        feature, place = np.unravel_index(np.argmax(np.abs(above)), above.shape)
        theta = self._thresholds[feature, THRESHOLDS - 1 - place]
        return float(above[feature, place]), int(feature), float(theta)
