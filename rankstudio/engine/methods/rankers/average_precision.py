"""The loss of SVM-MAP: how much worse than a perfect ranking the most violated one is, and its slopes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from rankstudio.engine.arithmetic._rows_kernel import dot
from rankstudio.engine.arithmetic.linear_scores import Linear, Queries, Tangent
from rankstudio.engine.arithmetic.optimisers.pair_problem import PlaneProblem, TangentLine
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.methods.rankers._average_precision_kernel import most_violated
from rankstudio.engine.methods.shards.function import FunctionWork
from rankstudio.engine.methods.shards.training_data import ShardSession, TrainingData
from rankstudio.engine.support.threads import pool
from rankstudio.engine.support.work import Waiting


class AveragePrecisionLoss:
    """Mean over queries of max_y 1 - AP(y) + w'Ψ(y) - w'Ψ(y*), a convex function of the scores Xw.

    Ψ is that of :class:`rankstudio.engine.methods.rankers.svm_map.SVMMAP`, w'Ψ the same with scores in
    place of x.

    Parameters
    ----------
    relevant : ndarray of shape (m,), bool
    queries : Queries
        Of the m documents.

    Attributes
    ----------
    n_queries : int
        Q', the queries that have relevant documents and others; the mean is over them.
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
            Best centred inside each query: the loss is the same and the sums round less.

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
        """Return the plane's offset and slopes (m,) for the sum over queries in place of the mean."""
        losses, slopes = np.empty(self._n_relevant.size), np.empty(scores.size)

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
        As of :class:`AveragePrecisionLoss`.
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
        """Return the plane where all scores are 0."""
        yield from ()
        return self._loss.tangent(np.zeros(self.X.shape[0]))


class ShardedAveragePrecision:
    """The same planes by sums over shards, as a ``PlaneProblem``: weights (n,) stand for scores.

    Parameters
    ----------
    session : ShardSession
        Of a :class:`FunctionWork` of :func:`average_precision_sums`.
    n_features : int
    """

    def __init__(self, session: ShardSession, n_features: int) -> None:
        self._session = session
        self.n_features = n_features

    def scores(self, w: Floats) -> Floats:
        """Return the weights, which stand for their scores."""
        return w

    def weigh(self, slopes: Floats) -> Floats:
        """Return the gradient, which stands for slopes."""
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
        """Return the plane where all scores are 0."""
        return (yield from self.tangent(np.zeros(self.n_features)))


def average_precision_sums(least: float, data: QueryData, w: Floats) -> tuple[Floats, Floats]:
    """Return a shard's loss, offset and number of queries at weights (n,), and its slope (n,).

    ``least`` is the label from which on a document is relevant.
    """
    queries = Queries(data.ptr)
    linear, loss = Linear(data.X, queries), AveragePrecisionLoss(data.y >= least, queries)
    scores = linear.scores(w)
    offset, slopes = loss.sums(scores)
    return np.array([offset + dot(slopes, scores), offset, loss.n_queries]), linear.weigh(slopes)


@contextmanager
def planes_of(data: TrainingData, least: float) -> Iterator[PlaneProblem]:
    """Provide the planes of some data: of one shard on the threads there are, of several by their sums.

    Parameters
    ----------
    data : TrainingData
    least : float
        The label from which on a document is relevant.
    """
    if data.several:
        with data.session(FunctionWork(partial(average_precision_sums, least))) as session:
            yield ShardedAveragePrecision(session, data.X.shape[1])
        return
    rows = data.whole("SVM-MAP")
    with pool() as (executor, workers):
        yield AveragePrecisionPlanes(rows.X, rows.y >= least, Queries(rows.ptr, executor, workers))
