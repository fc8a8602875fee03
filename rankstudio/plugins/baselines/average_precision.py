"""The loss of SVM-MAP: how much worse than a perfect ranking the most violated one is, and its slopes.

The kernels search for the ranking that the weights excuse least (Yue et al. 2007, Algorithm 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from rankstudio.engine.arithmetic._pairs_kernel import longest, sort_nearly_sorted
from rankstudio.engine.arithmetic._rows_kernel import dot
from rankstudio.engine.arithmetic.linear_scores import Linear, Queries, Tangent
from rankstudio.engine.arithmetic.optimisers.pair_problem import PlaneProblem, TangentLine
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.shards.sums import FunctionWork
from rankstudio.engine.methods.shards.training_data import ShardSession, TrainingData
from rankstudio.engine.support.jit import inlined, kernel
from rankstudio.engine.support.threads import pool
from rankstudio.engine.support.work import Waiting


@inlined
def _sort_down(scores: Floats, order: Ints, values: Floats) -> None:
    """Put the documents of ``order`` in descending order of score, and their scores in ``values``."""
    for k in range(order.size):
        values[k] = -scores[order[k]]
    sort_nearly_sorted(values, order)
    for k in range(order.size):
        values[k] = -values[k]


@inlined
def _interleave(relevant: Floats, irrelevant: Floats, harmonic: Floats, sums: Floats, above: Ints) -> None:
    """Find how many relevant documents stand above each other one in the most violated ranking.

    Of H(y) = 1 - AP(y) + w'Ψ(y), the j-th other document (from 1) with k relevant ones above it has the share

        sum_{i=k+1..R} (1/R) (j / (i + j) - (j - 1) / (i + j - 1)) - 2 (s_i - s_j) / (RN)

    (the paper's δ_j), whatever the places of the rest. With harmonic numbers and sums of the scores this is,
    times R and but for what does not depend on k, the value below: O(1). Each of the terms falls with j, so
    the best k never does, and the best k of every other j bounds those between: O((R + N) log N) altogether,
    where the paper tries every pair. ``above[j]`` is for the j-th, ``above[0]`` for none.
    """
    R = relevant.size
    N = irrelevant.size
    sums[0] = 0.0
    for i in range(R):
        sums[i + 1] = sums[i] + relevant[i]
    above[0] = 0
    step = 1
    while 2 * step <= N:
        step *= 2
    while step > 0:
        for j in range(step, N + 1, 2 * step):
            score = irrelevant[j - 1]
            high = above[j + step] if j + step <= N else R
            best = -np.inf
            for k in range(above[j - step], high + 1):
                value = 2.0 / N * (sums[k] - k * score) - harmonic[k + j - 1] - j / (k + j)
                if value > best:
                    best = value
                    above[j] = k
        step //= 2


@kernel
def most_violated(
    scores: Floats,
    ptr: Ints,
    n_relevant: Ints,
    harmonic: Floats,
    first: int,
    last: int,
    order: Ints,
    losses: Floats,
    slopes: Floats,
) -> None:
    """Find the most violated ranking y of queries first … last - 1.

    Parameters
    ----------
    scores : ndarray of shape (m,)
    ptr : ndarray of shape (Q + 1,)
    n_relevant : ndarray of shape (Q,)
    harmonic : ndarray of shape (longest query + 1,)
        1 + 1/2 + … + 1/k at k.
    first, last : int
    order : ndarray of shape (m,)
        Documents of each query, relevant ones first; each part is sorted by score here.
    losses : ndarray of shape (Q,)
        Receives 1 - AP(y); 0 if all documents of a query are relevant or none is.
    slopes : ndarray of shape (m,)
        Receives the derivatives of w'Ψ(y) - w'Ψ(y*) in the scores, for any perfect ranking y*.
    """
    length = longest(ptr, first, last)
    values = np.empty(length)
    sums = np.empty(length + 1)
    places = np.empty(length + 1, dtype=np.int64)
    for q in range(first, last):
        begin = ptr[q]
        end = ptr[q + 1]
        middle = begin + n_relevant[q]
        R = middle - begin
        N = end - middle
        losses[q] = 0.0
        if R == 0 or N == 0:
            slopes[begin:end] = 0.0
            continue
        _sort_down(scores, order[begin:middle], values[:R])
        _sort_down(scores, order[middle:end], values[R : R + N])
        _interleave(values[:R], values[R : R + N], harmonic, sums, places)
        pair = 2.0 / (R * N)
        for j in range(N):
            slopes[order[middle + j]] = pair * (R - places[j + 1])
        higher = 0
        for i in range(R):
            while higher < N and places[higher + 1] <= i:
                higher += 1
            slopes[order[begin + i]] = -pair * higher
            losses[q] += higher / (R * (i + 1.0 + higher))


class AveragePrecisionLoss:
    """Mean over queries of max_y 1 - AP(y) + w'Ψ(y) - w'Ψ(y*), a convex function of the scores Xw.

    Ψ is that of :class:`rankstudio.plugins.baselines.svm_map.SVMMAP`; w'Ψ has scores instead of x.

    Parameters
    ----------
    relevant : ndarray of shape (m,), bool
    queries : Queries
        Queries of the m documents.

    Attributes
    ----------
    n_queries : int
        Q', the number of queries with both relevant and other documents, over which the mean is taken.
    """

    def __init__(self, relevant: Bools, queries: Queries) -> None:
        sizes = np.diff(queries.ptr)
        self._queries = queries
        self._n_relevant = np.add.reduceat(relevant.astype(np.int64), queries.ptr[:-1])
        self.n_queries = int(((self._n_relevant > 0) & (self._n_relevant < sizes)).sum())
        # Each query's relevant documents first. Calls leave both parts sorted: the next finds them nearly so.
        self._order = np.lexsort((~relevant, np.repeat(np.arange(sizes.size), sizes))).astype(np.int64)
        self._harmonic = np.concatenate(([0.0], np.cumsum(1.0 / np.arange(1, sizes.max() + 1))))

    def tangent(self, scores: Floats) -> Tangent:
        """Return the loss and its plane at some scores.

        Parameters
        ----------
        scores : ndarray of shape (m,)
            Scores, ideally centred within each query: the loss is the same and the sums round less.

        Returns
        -------
        Tangent

        Notes
        -----
        O(m log m).
        """
        offset, slopes = self.sums(scores)
        share = 1.0 / max(1, self.n_queries)
        slopes *= share
        offset *= share
        return Tangent(offset + dot(slopes, scores), offset, slopes)

    def sums(self, scores: Floats) -> tuple[float, Floats]:
        """Return the plane's offset and slopes (m,) for the sum over queries instead of the mean."""
        losses = np.empty(self._n_relevant.size)
        slopes = np.empty(scores.size)

        def work(_: int, first: int, last: int) -> None:
            most_violated(
                scores,
                self._queries.ptr,
                self._n_relevant,
                self._harmonic,
                first,
                last,
                self._order,
                losses,
                slopes,
            )

        self._queries.spread(work)
        return float(losses.sum()), slopes


class AveragePrecisionPlanes(Linear):
    """The planes under :class:`AveragePrecisionLoss`, as a ``PlaneProblem``.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Features, grouped by query.
    relevant, queries
        As in :class:`AveragePrecisionLoss`.
    """

    def __init__(self, X: Floats, relevant: Bools, queries: Queries) -> None:
        super().__init__(X, queries)
        self.n_features = X.shape[1]
        self._loss = AveragePrecisionLoss(relevant, queries)

    def line(self, scores: Floats, d: Floats) -> TangentLine:
        """Return the loss along a line."""
        return TangentLine(self, scores, d)

    def tangent(self, scores: Floats) -> Waiting[Tangent]:
        """Return the plane at some scores."""
        yield from ()
        return self._loss.tangent(scores)

    def tangent_at_zero(self) -> Waiting[Tangent]:
        """Return the plane at scores of 0."""
        yield from ()
        return self._loss.tangent(np.zeros(self.X.shape[0]))


class ShardedAveragePrecision:
    """The same planes from sums over shards, as a ``PlaneProblem``; weights (n,) represent scores.

    Parameters
    ----------
    session : ShardSession
        Session of a :class:`FunctionWork` of :func:`average_precision_sums`.
    n_features : int
    """

    def __init__(self, session: ShardSession, n_features: int) -> None:
        self._session = session
        self.n_features = n_features

    def scores(self, w: Floats) -> Floats:
        """Return the weights, which represent their scores."""
        return w

    def weigh(self, slopes: Floats) -> Floats:
        """Return the gradient, which represents slopes."""
        return slopes

    def line(self, scores: Floats, d: Floats) -> TangentLine:
        """Return the loss along a line."""
        return TangentLine(self, scores, d)

    def tangent(self, scores: Floats) -> Waiting[Tangent]:
        """Return the plane at some weights."""
        (loss, offset, count), slopes = yield from self._session.sum((scores,), "finding violated rankings")
        share = 1.0 / max(1.0, count)
        return Tangent(share * float(loss), share * float(offset), share * slopes)

    def tangent_at_zero(self) -> Waiting[Tangent]:
        """Return the plane at scores of 0."""
        return (yield from self.tangent(np.zeros(self.n_features)))


def average_precision_sums(least: float, data: QueryData, w: Floats) -> tuple[Floats, Floats]:
    """Return a shard's loss, offset and number of queries at weights (n,), and its slope (n,).

    ``least`` is the lowest relevant label.
    """
    queries = Queries(data.ptr)
    linear = Linear(data.X, queries)
    loss = AveragePrecisionLoss(data.y >= least, queries)
    scores = linear.scores(w)
    offset, slopes = loss.sums(scores)
    return np.array([offset + dot(slopes, scores), offset, loss.n_queries]), linear.weigh(slopes)


@contextmanager
def planes_of(data: TrainingData, least: float) -> Iterator[PlaneProblem]:
    """Provide the planes of some data: on threads for one shard, as sums for several shards.

    Parameters
    ----------
    data : TrainingData
    least : float
        Lowest relevant label.
    """
    if data.several:
        with data.session(FunctionWork(partial(average_precision_sums, least))) as session:
            yield ShardedAveragePrecision(session, data.X.shape[1])
        return
    rows = data.whole("SVM-MAP")
    with pool() as (executor, workers):
        yield AveragePrecisionPlanes(rows.X, rows.y >= least, Queries(rows.ptr, executor, workers))
