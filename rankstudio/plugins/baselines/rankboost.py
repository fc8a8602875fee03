"""RankBoost: boosting of thresholds on single features, over pairs (Freund et al. 2003)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import FewerThresholdsWarning
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.memory_need import (
    DataShape,
    MemoryNeed,
    shard_need,
    whole_need,
)
from rankstudio.engine.methods.shards.order_statistics import (
    Thresholds,
    even_thresholds,
    thresholds,
)
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    ShardSession,
    training_data,
)
from rankstudio.engine.methods.shards.work import StateWork
from rankstudio.engine.steps import Step
from rankstudio.engine.support.number_format import count_text
from rankstudio.engine.support.threads import pool, worthwhile
from rankstudio.engine.support.work import Note, Waiting, WorkProgress
from rankstudio.plugins.baselines.entries import RANKBOOST

MOST_VALUES = 65_536
"""Up to this number of different values of a feature, all are thresholds; bins have numbers of 16 bits."""
RANKS = 255
"""Number of thresholds of a feature with more different values."""

# Bytes of the state of a document besides its bins: its score, and its
# place in the order of labels.
_STATE_BYTES_PER_DOCUMENT = 16
# |r| is at most this, so that the weight of a weak ranker that orders every pair correctly is finite.
_MAX_CORRELATION = 1.0 - 1e-9
_MIN_CORRELATION = 1e-12  # a smaller |r| is only due to rounding


@dataclass(frozen=True)
class Threshold:
    """A weak ranker: a function of one feature, with a threshold.

    Its value is ``weight`` if the feature's value is above ``theta``, otherwise 0.
    """

    feature: int
    theta: float
    weight: float


@dataclass(frozen=True, eq=False)
class BoostStep(Step):
    """A round of boosting, whose model is nonlinear; see :meth:`scores`.

    ``coef`` contains the sum of the weights of each feature's
    thresholds, as the importance of the feature.

    Attributes
    ----------
    history : sequence of Threshold
        Weak rankers of the whole run. All steps share this list, to
        which later rounds append, because copies would need quadratic
        memory.
    """

    linear: ClassVar[bool] = False
    additive: ClassVar[bool] = True

    history: Sequence[Threshold] = ()

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """Weak rankers up to this round."""
        return tuple(self.history[: self.number])

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Score documents; see :meth:`rankstudio.engine.steps.Step.scores`."""
        if previous_scores is None:
            return _sum_of_weak_rankers(columns, self.thresholds)
        return previous_scores + _sum_of_weak_rankers(columns, self.thresholds[-1:])

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the thresholds; see :meth:`rankstudio.engine.steps.Step.beyond_weights`."""
        weak = [
            {"id": int(ids[t.feature]), "above": t.theta, "adds": t.weight}
            for t in self.thresholds
        ]
        return {"kind": "thresholds", "thresholds": weak}


def _sum_of_weak_rankers(columns: Floats, thresholds: Sequence[Threshold]) -> Floats:
    """Return the scores (m,) of documents by the sum of some weak rankers.

    The documents are columns of an array (n, m).
    """
    out = np.zeros(columns.shape[1])
    for weak in thresholds:
        out += weak.weight * (columns[weak.feature] > weak.theta)
    return out


@dataclass(eq=False, repr=False)
class RankBoost(LinearRanker):
    """RankBoost boosts thresholds on single features, h(x) = 1 if x_j > θ, otherwise 0 (Freund et al. 2003).

    Pairs are documents x0 and x1 of one query of which x1 has the
    higher label; at first, all have equal weight D(x0, x1). Every round
    takes the feature and threshold with the largest |r|, where r = sum
    over pairs D(x0, x1) (h(x1) - h(x0)), and gives it the weight α = ½
    ln((1 + r) / (1 - r)) (the paper's third method, section 3.2), which
    is negative if low values are better. For a feature with up to
    65,536 different values, all values are tried as thresholds;
    otherwise the values at 255 evenly spaced ranks, with a
    :class:`rankstudio.engine.errors.FewerThresholdsWarning`.

    By default RankLib tries 10 thresholds for each feature: the largest
    value, and steps of a tenth of the range below it (option ``-tc``).
    ``n_thresholds=10`` gives the same weak rankers, because no document
    is above the largest value.

    Parameters
    ----------
    n_rounds : int, default 300
        Number of weak rankers, 1 to 100,000.
    n_thresholds : int, optional
        Number of intervals of equal width into which the thresholds
        divide the range of a feature, 2 to 65,536. By default all
        values are tried.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Sum of the weights of each feature's thresholds: its importance.
        The model is not linear.
    thresholds_ : tuple of Threshold
        Weak rankers.
    loss_ : float
        Mean of exp(H(x0) - H(x1)) over the pairs, where H are the scores.

    Notes
    -----
    The fit takes O(nm log m) once and O(nm) per round for m documents
    and n features; pairs are never enumerated. The fit stops early if
    no threshold is better than none, or if a threshold orders every
    pair correctly. A round sums one number per threshold over shards;
    two bytes are kept per value.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> RankBoost(n_rounds=20).fit(train.X, train.y, qid=train.qid).coef_.argmax().item()
    0
    """

    entry = RANKBOOST

    thresholds_: tuple[Threshold, ...] = field(init=False)
    loss_: float = field(init=False)

    n_rounds: int = 300
    _: KW_ONLY
    n_thresholds: int | None = None

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.n_rounds

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        """Return the memory for m documents with n features: data, scores and bins."""
        # score and order of each document, and two bytes for the bin of a value
        state_bytes = float(_STATE_BYTES_PER_DOCUMENT + 2 * shape.n) * shape.m
        if shape.sharded:
            return shard_need(shape, states=state_bytes)

        # as many thresholds as values at most, and as many sums of bins
        return whole_need(shape, 2.0).plus(state_bytes)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Add the best threshold in each round, and yield one step per round.

        A round adds one threshold on one feature to the model. The
        criterion of a step is the mean loss of the pairs.
        """
        n_rounds = self.checked("n_rounds")
        history: list[Threshold] = []
        coef = np.zeros(data.X.shape[1])

        # The features in use, in the order of their first use: a dict
        # as an ordered set.
        features = dict[int, None]()
        data = training_data(data)
        n_thresholds = self.checked("n_thresholds")

        # The thresholds of all features, which are the weak rankers of all rounds.
        if n_thresholds is None:
            cutoffs = yield from thresholds(data, MOST_VALUES, RANKS)
        else:
            cutoffs = yield from even_thresholds(data, n_thresholds)
        with data.session(StateWork(_BoostedShard, replayed=True)) as session:
            rounds = _Rounds(session, cutoffs)
            yield from rounds.begin()

            # Tell the user if a feature has fewer thresholds than
            # values. Of very many values, only those at some ranks are
            # tried.
            if rounds.fewer and n_thresholds is None:
                text = tr(
                    "RankBoost tries {n} thresholds for each feature with more than {most} "
                    "different values, instead of all values."
                ).format(n=RANKS, most=count_text(MOST_VALUES))
                yield Note(text, kind=FewerThresholdsWarning)

            # Each round adds the best weak ranker; there is none if no
            # threshold is useful.
            for number in range(1, n_rounds + 1):
                weak = rounds.weak_ranker()
                if weak is None:
                    break
                yield from rounds.add(weak)
                history.append(weak)

                # The coefficient of a feature is the sum of the weights
                # of its thresholds.
                coef = coef.copy()
                coef[weak.feature] += weak.weight

                # The order of selection is that of the first use.
                features.setdefault(weak.feature)
                yield BoostStep(
                    number,
                    selected=tuple(features),
                    coef=coef,
                    criterion=rounds.loss,
                    candidates=np.empty(0),
                    history=history,
                )
                if rounds.perfect:
                    return

            # No threshold is useful, so the model has none, and scores
            # all documents equally.
            if not history:
                yield BoostStep(
                    number=1,
                    selected=(),
                    coef=coef,
                    criterion=rounds.loss,
                    candidates=np.empty(0),
                )

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        last = steps[-1]
        assert isinstance(last, BoostStep)
        self.thresholds_ = last.thresholds
        self.loss_ = last.criterion

    def _score(self, X: Floats) -> Floats:
        return _sum_of_weak_rankers(X.T, self.thresholds_)


class _Rounds:
    """The state of boosting: the weights of the pairs, and their sums by bin between thresholds.

    Attributes
    ----------
    perfect : bool
        Whether the last weak ranker orders every pair correctly.
    fewer : bool
        Whether some feature has fewer thresholds than values.
    """

    def __init__(self, session: ShardSession, thresholds: Thresholds) -> None:
        """Begin without weights of pairs, which `begin` computes."""
        self._session = session
        self._thresholds = thresholds
        self.perfect = False
        self.fewer = bool(thresholds.fewer.any())
        self._sum = self._n_pairs = 0.0

    @property
    def loss(self) -> float:
        """The mean loss of the pairs; 0 without pairs."""
        return self._sum / self._n_pairs if self._n_pairs else 0.0

    def begin(self) -> Waiting[None]:
        """Weight the pairs equally, and put documents in bins."""
        yield from self._weigh(_Beginning(self._thresholds))
        self._n_pairs = self._sum  # the weight of each pair is 1 at first

    def weak_ranker(self) -> Threshold | None:
        """Return the best threshold of all features, with its weight; None if no threshold is useful.

        Its correlation r with the order of the weighted pairs, from -1
        to 1, gives its weight ½ ln((1 + r) / (1 - r)). A bound of |r|
        keeps the weight of a perfect threshold finite; ``perfect`` then
        becomes True.
        """
        from rankstudio.plugins.baselines import _rankboost_kernel as kernels  # noqa: PLC0415 - numba

        if not self._sum > 0:  # the total weight of all pairs: there are none
            return None
        n = self._thresholds.starts.size - 1
        gains = np.empty(n)
        indices = np.empty(n, dtype=np.int64)
        # From the sums of the potentials by bin: the best threshold of
        # each feature, as its index in the thresholds of the feature.
        kernels.best_thresholds(self._in_bins, self._thresholds.starts, gains, indices)
        feature = int(np.argmax(np.abs(gains)))
        r = float(
            np.clip(gains[feature] / self._sum, -_MAX_CORRELATION, _MAX_CORRELATION)
        )
        if abs(r) < _MIN_CORRELATION:
            return None
        self.perfect = abs(r) == _MAX_CORRELATION
        theta = float(self._thresholds.of(feature)[indices[feature]])
        return Threshold(
            feature,
            theta,
            weight=0.5 * float(np.log((1.0 + r) / (1.0 - r))),
        )

    def add(self, weak: Threshold) -> Waiting[None]:
        """Add a weak ranker to the scores, and update the weights of the pairs."""
        last = int(np.searchsorted(self._thresholds.of(weak.feature), weak.theta))
        yield from self._weigh(_WeakRanker(weak.feature, last, weak.weight))

    def _weigh(self, message: _Beginning | _WeakRanker) -> Waiting[None]:
        self._in_bins, (total,) = yield from self._session.sum(
            message, "weighing pairs"
        )
        self._sum = float(total)


@dataclass(frozen=True, eq=False)
class _Beginning:
    """The first message to the shards, before the first weak ranker.

    ``thresholds`` are those of every feature.
    :meth:`to` carries out the message on the state of
    one shard: values are put into bins between the thresholds, and
    scores are set to 0.
    """

    thresholds: Thresholds

    def to(self, state: _BoostedShard, data: QueryData) -> None:
        """Put a shard's documents in bins, and set their scores to 0."""
        state.begin(data, self.thresholds)


@dataclass(frozen=True)
class _WeakRanker:
    """Message to the shards with a weak ranker to add.

    Attributes
    ----------
    feature : int
    last : int
        The last bin below the threshold; documents in later bins get the weight.
    weight : float
        Number to add to the scores of these documents.
    """

    feature: int
    last: int
    weight: float

    def to(self, state: _BoostedShard, data: QueryData) -> None:
        """Add the weak ranker to a shard's scores."""
        state.H += self.weight * (state.bins[self.feature] > self.last)


class _BoostedShard:
    """The state of a shard in boosting: scores, order and bins of its documents.

    Attributes
    ----------
    H : ndarray of shape (m,)
        Scores of the documents.
    bins : ndarray of shape (n, m)
        For each feature and document, the number of thresholds that are
        less than the value.
    """

    def __init__(self, data: QueryData, scratch: Scratch) -> None:
        """Get arrays for scores, order and bins from ``scratch``, in memory or in a file.

        `begin` fills them.
        """
        m, n = data.X.shape
        self.H = scratch.empty(m)
        self._by_label: Ints = scratch.empty(m).view(np.int64)

        # Four numbers of 16 bits fit into one float64 of the scratch
        # file; the number of these is rounded up.
        self.bins = scratch.empty(-(-n * m // 4)).view(np.uint16)[: n * m].reshape(n, m)

    def begin(self, data: QueryData, thresholds: Thresholds) -> None:
        """Set the scores to 0, sort the documents of each query by label, and put all values into bins.

        A bin has the values between two neighbouring thresholds of a
        feature. The positions of the features' thresholds are stored
        for later messages.
        """
        self.H[:] = 0.0
        query = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
        self._by_label[:] = np.lexsort((data.y, query))
        self._starts = thresholds.starts
        for j in range(self.bins.shape[0]):
            self.bins[j] = np.searchsorted(
                thresholds.of(j), np.ascontiguousarray(data.X[:, j])
            )

    def step(
        self, data: QueryData, message: _Beginning | _WeakRanker
    ) -> tuple[Floats, Floats]:
        """Carry out a message: begin, or add a weak ranker to the scores.

        Return the sums of the documents' potentials π by feature and
        bin, and the total weight (1,) of the pairs. π of a document is
        the weight of the pairs in which it has the higher label, minus
        that of the pairs in which it has the lower one.
        """
        from rankstudio.plugins.baselines import _rankboost_kernel as kernels  # noqa: PLC0415 - numba

        # The message itself changes this state.
        message.to(self, data)
        n, m = self.bins.shape
        potentials = np.empty(m)
        in_bins = np.zeros(int(self._starts[-1]) + n)
        total = kernels.potential(self.H, data.y, self._by_label, data.ptr, potentials)

        # There are threads if the time, 2.2 nanoseconds for each
        # feature of a document, is long enough.
        with pool(worthwhile(2.2 * n * m)) as (executor, workers):
            cuts = np.linspace(0, n, workers + 1).astype(int).tolist()

            def work(first: int, last: int) -> None:
                """Add the potentials of the documents to the bins of the features first … last - 1 in ``in_bins``."""
                kernels.add_to_bins(
                    self.bins, self._starts, potentials, first, last, in_bins
                )

            # The list has no use. But map without threads only runs
            # when it is read, and errors of threads are only raised
            # then.
            list((executor.map if executor else map)(work, cuts[:-1], cuts[1:]))
        return in_bins, np.array([total])
