"""The loss of SVM-MAP and its slopes.

The loss of a query is how far the margin of its most violated ranking
is missed. The kernels search for that ranking (Yue et al. 2007,
Algorithm 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from rankstudio.engine.arithmetic._pairs_kernel import longest, sort_nearly_sorted
from rankstudio.engine.arithmetic._rows_kernel import dot
from rankstudio.engine.arithmetic.linear_scores import Linear, Queries, Tangent
from rankstudio.engine.arithmetic.optimisers.pair_problem import (
    PlaneProblem,
    TangentLine,
)
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.shards.sums import FunctionWork
from rankstudio.engine.methods.shards.training_data import ShardSession, TrainingData
from rankstudio.engine.support.jit import inlined, kernel
from rankstudio.engine.support.threads import pool
from rankstudio.engine.support.work import Waiting


@inlined
def _sort_down(scores: Floats, order: Ints, values: Floats) -> None:
    """Sort documents by descending score, in place.

    ``scores`` (m,) are those of all documents. ``order`` (k,) has the
    positions of k documents, and is reordered. The sorted scores are
    written to ``values`` (k,).
    """
    # The sort is ascending, so it gets negative scores.
    for k in range(order.size):
        values[k] = -scores[order[k]]
    sort_nearly_sorted(values, order)
    for k in range(order.size):
        values[k] = -values[k]


@inlined
def _interleave(
    relevant: Floats, irrelevant: Floats, harmonic: Floats, sums: Floats, above: Ints
) -> None:
    """Find for each irrelevant document of a query how many relevant ones are above it in the most violated ranking.

    ``relevant`` (R,) and ``irrelevant`` (N,) are the scores of both
    kinds, descending. ``harmonic`` has the number h(k) = 1 + 1/2 + … +
    1/k at k. ``sums`` is work space, for the sum of the first k
    relevant scores at k. ``above[j]`` receives the result k for the
    j-th irrelevant document, counted from 1; ``above[0]`` is 0.

    The most violated ranking y maximises H(y) = 1 - AP(y) + w'Ψ(y). The
    j-th irrelevant document (from 1) with k relevant documents above it
    contributes to H(y), wherever the other documents are,

        sum_{i=k+1..R} (1/R) (j / (i + j) - (j - 1) / (i + j - 1))
            - 2 (s_i - s_j) / (RN)

    (the paper's δ_j), with the scores s_i of relevant document i and
    s_j of irrelevant document j. Multiplied by R, and without the terms
    that do not depend on k, this is ``value`` below, in O(1):

    - The fractions sum to -j h(k + j) + (j - 1) h(k + j - 1), which is
      -h(k + j - 1) - j / (k + j).
    - The scores sum to ``margin``.

    Each term of the sum decreases with j, so the best k never decreases
    with j. Therefore the best k of two documents bound the best k of
    those between them, which takes O((R + N) log N) for all documents,
    while the paper tries every pair.
    """
    R = relevant.size
    N = irrelevant.size
    sums[0] = 0.0
    for i in range(R):
        sums[i + 1] = sums[i] + relevant[i]
    above[0] = 0
    step = 1
    while 2 * step <= N:  # the greatest power of two up to N
        step *= 2
    while step > 0:  # fill in the documents halfway between those that are done
        for j in range(step, N + 1, 2 * step):
            score = irrelevant[j - 1]

            # k is between the results of the neighbours that are done
            low = above[j - step]
            high = above[j + step] if j + step <= N else R
            best = -np.inf
            for k in range(low, high + 1):
                margin = 2.0 / N * (sums[k] - k * score)
                value = margin - harmonic[k + j - 1] - j / (k + j)
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
    """Find the most violated ranking y of each query first … last - 1: the one with the greatest loss.

    Parameters
    ----------
    scores : ndarray of shape (m,)
        Scores of the documents, grouped by query.
    ptr : ndarray of shape (Q + 1,)
        Query q has the documents ptr[q] to ptr[q + 1] - 1.
    n_relevant : ndarray of shape (Q,)
        Number of relevant documents of each query.
    harmonic : ndarray of shape (longest query + 1,)
        1 + 1/2 + … + 1/k at k.
    first, last : int
        The first query, and the one after the last.
    order : ndarray of shape (m,)
        Documents of each query, relevant ones first; each part is sorted by score here.
    losses : ndarray of shape (Q,)
        Receives 1 - AP(y); 0 if all documents of a query are relevant or none is.
    slopes : ndarray of shape (m,)
        Receives the derivatives of w'Ψ(y) - w'Ψ(y*) in the scores, for
        any perfect ranking y*.
    """
    length = longest(ptr, first, last)
    values = np.empty(length)
    sums = np.empty(length + 1)
    above = np.empty(length + 1, dtype=np.int64)
    for q in range(first, last):
        # `order` has the relevant documents of a query first: from
        # begin to middle, then to end.
        begin = ptr[q]
        end = ptr[q + 1]
        middle = begin + n_relevant[q]
        R = middle - begin
        N = end - middle
        losses[q] = 0.0

        # A query without relevant or without irrelevant documents has
        # no wrong order, and no loss.
        if R == 0 or N == 0:
            slopes[begin:end] = 0.0
            continue

        # Both groups by descending score. Then above[j + 1] is the
        # number of relevant documents above the irrelevant document j
        # in y.
        _sort_down(scores, order[begin:middle], values[:R])
        _sort_down(scores, order[middle:end], values[R : R + N])
        _interleave(values[:R], values[R : R + N], harmonic, sums, above)

        # The change of w'Ψ(y) - w'Ψ(y*) by one pair in the wrong order,
        # per unit of score.
        pair = 2.0 / (R * N)

        # An irrelevant document has wrong pairs with the relevant ones below it.
        for j in range(N):
            slopes[order[middle + j]] = pair * (R - above[j + 1])

        # A relevant document has wrong pairs with the irrelevant ones
        # above it. Their share of the documents down to it is 1 -
        # precision; the mean of these shares is 1 - AP(y).
        higher = 0  # number of irrelevant documents above the relevant document i
        for i in range(R):
            while higher < N and above[higher + 1] <= i:
                higher += 1
            slopes[order[begin + i]] = -pair * higher
            losses[q] += higher / (R * (i + 1.0 + higher))


class AveragePrecisionLoss:
    """Mean over queries of max_y 1 - AP(y) + w'Ψ(y) - w'Ψ(y*), a convex function of the scores Xw.

    Ψ is defined in
    :class:`rankstudio.plugins.baselines.svm_map.SVMMAP`; w'Ψ is the
    same with scores instead of x.

    Parameters
    ----------
    relevant : ndarray of shape (m,), bool
    queries : Queries
        Queries of the m documents.

    Attributes
    ----------
    n_queries : int
        Q', the number of queries with both relevant and other
        documents, over which the mean is taken.
    """

    def __init__(self, relevant: Bools, queries: Queries) -> None:
        """Prepare the loss of documents; ``relevant`` (m,) is the mask of the relevant ones.

        ``n_queries`` becomes the number of queries with relevant and
        irrelevant documents: others have no loss.
        """
        sizes = np.diff(queries.ptr)
        self._queries = queries
        self._n_relevant = np.add.reduceat(relevant.astype(np.int64), queries.ptr[:-1])
        self.n_queries = int(
            ((self._n_relevant > 0) & (self._n_relevant < sizes)).sum()
        )

        # Each query's relevant documents first. Each call leaves both
        # parts sorted by score, and the next call finds them nearly
        # sorted.
        self._order = np.lexsort(
            (~relevant, np.repeat(np.arange(sizes.size), sizes))
        ).astype(np.int64)

        # 1 + 1/2 + … + 1/k at k
        self._harmonic = np.concatenate(
            ([0.0], np.cumsum(1.0 / np.arange(1, sizes.max() + 1)))
        )

    def tangent(self, scores: Floats) -> Tangent:
        """Return the loss and its tangent plane at some scores.

        Parameters
        ----------
        scores : ndarray of shape (m,)
            Scores, ideally centered within each query, which leaves the
            loss the same and reduces rounding.

        Returns
        -------
        Tangent

        Notes
        -----
        O(m log m).
        """
        offset, slopes = self.sums(scores)

        # means over queries instead of sums
        share = 1.0 / max(1, self.n_queries)
        slopes *= share
        offset *= share

        # value, offset and slopes
        return Tangent(offset + dot(slopes, scores), offset, slopes)

    def sums(self, scores: Floats) -> tuple[float, Floats]:
        """Return the offset and the slopes (m,) of the tangent plane at scores (m,).

        The plane is that of the sum of the losses over queries, not of
        the mean. The loss at these scores is offset + slopes · scores.
        """
        losses = np.empty(self._n_relevant.size)
        slopes = np.empty(scores.size)

        def work(_: int, first: int, last: int) -> None:
            """Write loss and slopes of the queries first … last - 1 to ``losses`` and ``slopes``.

            ``losses`` and ``slopes`` are arrays of the enclosing
            method, with a number for each query and for each document.
            The first argument, the number of the block of queries, has
            no use here.
            """
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

        # Calls `work` for each block of queries, on threads.
        self._queries.spread(work)
        return float(losses.sum()), slopes


class AveragePrecisionPlanes(Linear):
    """The tangent planes of :class:`AveragePrecisionLoss`, as a ``PlaneProblem`` on data in memory.

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
        """Return the loss at ``scores`` + t ``d``, both (m,), as a function of the number t."""
        return TangentLine(self, scores, d)

    def tangent(self, scores: Floats) -> Waiting[Tangent]:
        """Return the loss and its tangent plane at some scores (m,)."""
        yield from ()
        return self._loss.tangent(scores)

    def tangent_at_zero(self) -> Waiting[Tangent]:
        """Return the loss and its tangent plane at scores of 0."""
        yield from ()
        return self._loss.tangent(np.zeros(self.X.shape[0]))


class ShardedAveragePrecision:
    """The tangent planes of :class:`AveragePrecisionLoss`, as a ``PlaneProblem`` on shards.

    Planes are sums over shards. Because scores of all documents are not
    in memory, weights (n,) take the place of scores, and gradients (n,)
    the place of slopes.

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
        """Return the weights themselves, which take the place of their scores."""
        return w

    def weigh(self, slopes: Floats) -> Floats:
        """Return the gradient itself, which takes the place of slopes."""
        return slopes

    def line(self, scores: Floats, d: Floats) -> TangentLine:
        """Return the loss at the weights ``scores`` + t ``d``, as a function of t."""
        return TangentLine(self, scores, d)

    def tangent(self, scores: Floats) -> Waiting[Tangent]:
        """Return the loss and its tangent plane at some weights (n,), called scores."""
        (loss, offset, count), slopes = yield from self._session.sum(
            (scores,), "finding violated rankings"
        )
        share = 1.0 / max(1.0, count)
        return Tangent(share * float(loss), share * float(offset), share * slopes)

    def tangent_at_zero(self) -> Waiting[Tangent]:
        """Return the loss and its tangent plane at weights of 0."""
        return (yield from self.tangent(np.zeros(self.n_features)))


def average_precision_sums(
    least: float, data: QueryData, w: Floats
) -> tuple[Floats, Floats]:
    """Return a shard's sums at weights (n,): loss, offset and number of queries in one array, and slopes (n,).

    The loss is that of average precision. Its tangent plane at w has
    the value offset + slopes · v at other weights v. ``least`` is the
    lowest relevant label.
    """
    queries = Queries(data.ptr)
    linear = Linear(data.X, queries)
    loss = AveragePrecisionLoss(data.y >= least, queries)
    scores = linear.scores(w)

    # The plane at w, as a function of the scores, and its value there.
    offset, slopes = loss.sums(scores)
    value = offset + dot(slopes, scores)

    # `weigh` turns slopes in the scores into slopes in the weights.
    return np.array([value, offset, loss.n_queries]), linear.weigh(slopes)


@contextmanager
def planes_of(data: TrainingData, least: float) -> Iterator[PlaneProblem]:
    """Provide the planes of some data: computed on threads for one shard, or as sums over several shards.

    A plane is the tangent of the loss of average precision at some
    weights, for a minimiser by cutting planes.

    Parameters
    ----------
    data : TrainingData
    least : float
        Lowest relevant label.
    """
    if data.several:
        with data.session(
            FunctionWork(partial(average_precision_sums, least))
        ) as session:
            yield ShardedAveragePrecision(session, data.X.shape[1])
        return

    # All documents at once; the name is for the error if they do not
    # fit into memory.
    rows = data.whole("SVM-MAP")
    with pool() as (executor, workers):
        yield AveragePrecisionPlanes(
            rows.X, rows.y >= least, Queries(rows.ptr, executor, workers)
        )
