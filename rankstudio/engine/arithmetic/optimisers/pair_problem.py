"""Losses of linear scores as optimisers use them, with the documents in memory or in shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from rankstudio.engine.arithmetic._rows_kernel import dot
from rankstudio.engine.arithmetic.linear_scores import Tangent
from rankstudio.engine.arithmetic.pair_losses import (
    LinearPairs,
    LossAtScores,
    PairLoss,
    SmoothLoss,
)
from rankstudio.engine.arithmetic.sparse_pairs import SparseLinearPairs
from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.threads import STEADY
from rankstudio.engine.support.work import Waiting, WorkProgress

State = TypeVar("State")
DENSE = 1_000
"""Number of features up to which an optimiser keeps an n × n matrix, and not only its diagonal."""
SMALL = 256
"""Number of features up to which one thread is fastest for such a matrix."""
_SAMPLE = 4_096  # minimum number of documents from which the matrix is estimated


class LinearProblem(Protocol):
    """Interface of scores of documents that are linear in the features, for optimisers.

    The representation of a vector of scores or slopes, one per
    document, is up to the problem: the vector itself, or, for documents
    in shards, the weights w (n,) of the scores and the sum X'slopes
    (n,). Sums, multiples and inner products of these representations
    equal those of the vectors.
    """

    @property
    def n_features(self) -> int:
        """Number of features, n."""

    def scores(self, w: Floats) -> Floats:
        """Return the representation of the scores of weights (n,)."""

    def weigh(self, slopes: Floats) -> Floats:
        """Return the sum X'slopes (n,) of slopes in the problem's representation."""


@dataclass(frozen=True, eq=False)
class LineValue:
    """A loss at one point of a line in the space of scores.

    Attributes
    ----------
    loss : float
        Value of the loss.
    slope : float
        Derivative along the line.
    tangent : Tangent or None
        Tangent plane of the loss at the point, if it was computed.
    """

    loss: float
    slope: float
    tangent: Tangent | None


class LineOfScores(Protocol):
    """A convex loss at the scores s + t d, for a direction d and any step t."""

    def value(self, t: float) -> Waiting[LineValue]:
        """Return the loss after a step t, and its derivative in t."""

    def tangent(self, t: float) -> Waiting[Tangent]:
        """Return the plane that touches the loss after a step t."""


class PlaneProblem(LinearProblem, Protocol):
    """A convex loss of linear scores, and its tangent planes."""

    def line(self, scores: Floats, d: Floats) -> LineOfScores:
        """Return the loss along the line from some scores in the direction d."""

    def tangent(self, scores: Floats) -> Waiting[Tangent]:
        """Return the plane that touches the loss at some scores."""

    def tangent_at_zero(self) -> Waiting[Tangent]:
        """Return the plane at scores of 0, which may be known in advance."""


class PairProblem(PlaneProblem, Protocol):
    """Pairwise losses of linear scores; the planes are those of the hinge."""

    def narrowed(self, columns: Sequence[int]) -> PairProblem:
        """Return the same pairs with some of the features."""

    def count(self) -> Waiting[float]:
        """Return the number or total weight of the pairs."""

    def smooth(
        self, loss: PairLoss, scores: Floats, slopes: bool = True
    ) -> Waiting[SmoothLoss]:
        """Return the loss at some scores, with or without slopes."""

    def curvature(self, loss: Any, v: Floats) -> Waiting[Floats]:
        """Return the Hessian in w of a loss times v (n,), after a call of :meth:`smooth`."""

    def bending(self, loss: Any, direction: Floats) -> Waiting[float]:
        """Return the second derivative of a loss along a direction of the scores."""

    def degree_gram(self) -> Waiting[Floats]:
        """Estimate the sum of degree_i x_i x_i' over all documents from a sample of documents.

        The degree of a document is its number of pairs; x is centred
        within queries. A generator of progress; its result is the sum
        (n, n), or its diagonal (n,) for more than ``DENSE`` features.
        """


class TangentLine:
    """A convex loss at the scores s + t d, computed from the loss's tangent planes.

    Parameters
    ----------
    problem : PlaneProblem
        Computes the planes.
    scores, d : ndarray
        Scores s at t = 0, and the direction d.
    """

    def __init__(self, problem: PlaneProblem, scores: Floats, d: Floats) -> None:
        self._problem = problem
        self._scores = scores
        self._d = d

    def value(self, t: float) -> Waiting[LineValue]:
        """Return the loss after a step t along the line, and its derivative in t."""
        tangent = yield from self.tangent(t)
        return LineValue(tangent.loss, dot(tangent.slopes, self._d), tangent)

    def tangent(self, t: float) -> Waiting[Tangent]:
        """Return the plane that touches the loss after a step t along the line."""
        return (yield from self._problem.tangent(self._scores + t * self._d))


class LocalPairs:
    """The pairs of documents in memory, as a :class:`PairProblem`.

    A method that is a generator yields no progress here, but returns
    its value at once.
    """

    def __init__(self, problem: LinearPairs) -> None:
        self._problem = problem
        self._pairs = problem.pairs
        self.n_features = problem.X.shape[1]
        self.scores = problem.scores
        self.weigh = problem.weigh

    def narrowed(self, columns: Sequence[int]) -> LocalPairs:
        """Return the same pairs with some of the features."""
        return LocalPairs(
            LinearPairs(np.ascontiguousarray(self._problem.X[:, columns]), self._pairs)
        )

    def line(self, scores: Floats, d: Floats) -> LineOfScores:
        """Return the hinge along a line; see :class:`PlaneProblem`."""
        return TangentLine(self, scores, d)

    def count(self) -> Waiting[float]:
        """Return the number or total weight of the pairs; see :class:`PairProblem`."""
        yield from ()
        return self._pairs.n_pairs

    def tangent(self, scores: Floats) -> Waiting[Tangent]:
        """Return the hinge's plane; see :class:`PlaneProblem`."""
        yield from ()
        return self._pairs.hinge(scores)

    def tangent_at_zero(self) -> Waiting[Tangent]:
        """Return the hinge's plane at 0; see :class:`PlaneProblem`."""
        yield from ()
        return self._pairs.hinge_at_zero

    def smooth(
        self, loss: PairLoss, scores: Floats, slopes: bool = True
    ) -> Waiting[LossAtScores]:
        """Compute a loss of the pairs at some scores.

        The gradient in the scores is included if ``slopes`` is true.
        The result of the generator is the loss with its derivatives.
        """
        yield from ()
        return loss(self._pairs, scores)

    def curvature(self, loss: LossAtScores, v: Floats) -> Waiting[Floats]:
        """Return a product with the Hessian; see :class:`PairProblem`."""
        yield from ()
        return self._problem.curvature(loss, v)

    def bending(self, loss: LossAtScores, direction: Floats) -> Waiting[float]:
        """Return a second derivative; see :class:`PairProblem`."""
        yield from ()
        return loss.bending(direction)

    def degree_gram(self) -> Waiting[Floats]:
        """Estimate the sum of degree_i x_i x_i' over all documents from a sample of documents.

        The degree of a document is its number of pairs, and x is
        centred within queries. The result of the generator is the sum,
        of shape (n, n), or, for very many features, its diagonal (n,).
        """
        # A generator without events: other problems wait for processes here.
        yield from ()
        m, n = self._problem.X.shape
        if n > DENSE and isinstance(self._problem, SparseLinearPairs):
            return self._problem.centred_squares(self._pairs.degrees)
        size = min(m, max(_SAMPLE, 8 * n))
        rows = np.sort(np.random.default_rng(0).choice(m, size, replace=False))
        # Scaled so that the sum over the sample estimates the sum over all documents.
        sample = (
            self._problem.centred(rows)
            * np.sqrt((m / size) * self._pairs.degrees[rows])[:, None]
        )
        return gram_or_diagonal(sample)


def gram_or_diagonal(sample: Floats) -> Floats:
    """Return X'X, of shape (n, n), for a sample of rows X (rows, n).

    For more than ``DENSE`` features, return only its diagonal, of shape (n,).
    """
    n = sample.shape[1]
    if n > DENSE:
        # The sum of squares of each column.
        return np.asarray(np.einsum("ij,ij->j", sample, sample))
    # Small products do not gain from BLAS's threads, and lose much if
    # the threads wait for a busy processor.
    with STEADY if n <= SMALL else nullcontext():
        return np.asarray(sample.T @ sample)


def solution(descent: Iterator[State | WorkProgress]) -> Waiting[State]:
    """Run an optimiser to its end, pass on progress, and return its last state."""
    last: State | None = None
    for event in descent:
        if isinstance(event, WorkProgress):
            yield event
        else:
            last = event
    assert last is not None  # optimisers take at least one step
    return last
