"""Pairwise losses with derivatives: the squared hinge, the smoothed hinge, logistic, and least squares.

For scores that are linear in the features, there are also the products
with Hessians for Newton steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from rankstudio.engine.arithmetic import _rows_kernel as kernels
from rankstudio.engine.arithmetic._rows_kernel import dot
from rankstudio.engine.arithmetic.linear_scores import Linear
from rankstudio.engine.arithmetic.pairs import Pairs, Violations
from rankstudio.engine.arrays import Floats, Ints


class SmoothLoss(Protocol):
    """A differentiable pairwise loss at some scores, in the representation of a problem."""

    @property
    def loss(self) -> float:
        """Value of the loss."""

    @property
    def slopes(self) -> Floats:
        """Gradient in the scores."""

    @property
    def bend(self) -> float:
        """Second derivative of the loss of a curved pair, or its least upper bound."""

    @property
    def n_curved(self) -> int:
        """Number of pairs with a second derivative."""

    @property
    def hinges(self) -> tuple[float, float]:
        """The values of the two hinges of which the loss is the difference of squares.

        A hinge that the loss lacks is 0.
        """

    @property
    def largest(self) -> float:
        """Largest absolute score."""

    def slope(self, direction: Floats) -> float:
        """Return the derivative along a direction of the scores."""


class LossAtScores(SmoothLoss, Protocol):
    """A differentiable pairwise loss at some scores, one for each document, shape (m,)."""

    def bending(self, direction: Floats) -> float:
        """Return the second derivative of the loss along a direction of the scores, shape (m,)."""

    def curvature_of(self, values: Floats, first: int, last: int, out: Floats) -> None:
        """Write the Hessian in the scores times ``values`` (m,) to ``out`` (m,).

        ``out`` is written only for the documents of the queries first … last -
        1.
        """


@dataclass(frozen=True, eq=False)
class Smooth:
    """The square of a hinge at some scores, or the difference of two such squares: a ``LossAtScores``.

    Attributes
    ----------
    loss : float
        Value of the loss.
    slopes : ndarray of shape (m,)
        Gradient of the loss in the scores.
    bend : float
        Second derivative of the loss of a curved pair.
    outer, inner : Violations
        Violated pairs of the two hinges. The curved pairs are those in
        ``outer`` but not in ``inner``, which is None for a single
        hinge.
    """

    loss: float
    slopes: Floats
    bend: float
    outer: Violations
    inner: Violations | None = None

    def slope(self, direction: Floats) -> float:
        """Return the derivative of the loss along a direction of the scores, shape (m,)."""
        return dot(self.slopes, direction)

    def bending(self, direction: Floats) -> float:
        """Return the second derivative of the loss along a direction of the scores, shape (m,)."""
        out = np.empty_like(direction)
        self.outer.pairs.spread(
            lambda _, first, last: self.curvature_of(direction, first, last, out)
        )
        return dot(direction, out)

    @property
    def n_curved(self) -> int:
        """Number of pairs with a second derivative."""
        return self.outer.n_violated - (
            0 if self.inner is None else self.inner.n_violated
        )

    @property
    def hinges(self) -> tuple[float, float]:
        """The hinges of ``outer`` and, if there is one, of ``inner``."""
        outer_hinge, _ = self.outer.hinge()
        if self.inner is None:
            return outer_hinge, 0.0
        inner_hinge, _ = self.inner.hinge()
        return outer_hinge, inner_hinge

    @property
    def largest(self) -> float:
        """Largest absolute score."""
        scores = self.outer.scores
        return max(float(scores.max()), -float(scores.min()))

    def curvature_of(self, values: Floats, first: int, last: int, out: Floats) -> None:
        """Write the Hessian of the loss in the scores times ``values`` (m,) to ``out`` (m,).

        ``out`` is written only for the documents of the queries first … last -
        1.
        """
        # A hinge has a second derivative at its violated pairs: the
        # Laplacian of those of the outer hinge, minus that of the inner
        # one, if there is one.
        rows = slice(int(self.outer.pairs.ptr[first]), int(self.outer.pairs.ptr[last]))
        self.outer.laplacian_of(values, first, last, out)
        if self.inner is not None:
            inner_product = np.empty_like(out)
            self.inner.laplacian_of(values, first, last, inner_product)
            out[rows] -= inner_product[rows]
        out[rows] *= self.bend


@dataclass(frozen=True, eq=False)
class _LossOfAllPairs:
    """A loss to which every pair contributes, at some scores: the common part of a ``LossAtScores``."""

    pairs: Pairs
    scores: Floats
    loss: float
    slopes: Floats
    bend: float

    def slope(self, direction: Floats) -> float:
        """Return the derivative along a direction of the scores, shape (m,)."""
        return dot(self.slopes, direction)

    def bending(self, direction: Floats) -> float:
        """Return the second derivative along a direction of the scores, shape (m,)."""
        out = np.empty_like(direction)
        self.pairs.spread(
            lambda _, first, last: self.curvature_of(direction, first, last, out)
        )
        return dot(direction, out)

    @property
    def n_curved(self) -> int:
        """Number of pairs with a second derivative: all."""
        return int(self.pairs.n_pairs)

    @property
    def hinges(self) -> tuple[float, float]:
        """Hinges of the loss: none, so that both are 0."""
        return 0.0, 0.0

    @property
    def largest(self) -> float:
        """Greatest absolute score."""
        return max(float(self.scores.max()), -float(self.scores.min()))

    def curvature_of(self, values: Floats, first: int, last: int, out: Floats) -> None:
        """Write the Hessian in the scores times values (m,) to ``out`` (m,).

        Only for the documents of queries first … last - 1.
        """
        raise NotImplementedError


class _SquaresAtScores(_LossOfAllPairs):
    """Least squares at some scores; the Hessian does not depend on them."""

    def curvature_of(self, values: Floats, first: int, last: int, out: Floats) -> None:
        """Write the Hessian in the scores times values (m,) to ``out`` (m,).

        Only for the documents of queries first … last - 1. The Hessian
        is that of all pairs: a document's number of pairs times its
        value, minus its partners' values.
        """
        rows = slice(int(self.pairs.ptr[first]), int(self.pairs.ptr[last]))
        sums = np.empty((2, values.size))
        self.pairs.partner_sums(values, first, last, sums)
        degrees = self.pairs.lower[rows] + self.pairs.higher[rows]
        out[rows] = degrees * values[rows] - sums[0, rows] - sums[1, rows]
        out[rows] *= self.bend
        # Each document has the weight of its query's pairs.
        if self.pairs.document_weight is not None:
            out[rows] *= self.pairs.document_weight[rows]


class _LogisticAtScores(_LossOfAllPairs):
    """The logistic loss at some scores."""

    def curvature_of(self, values: Floats, first: int, last: int, out: Floats) -> None:
        self.pairs.logistic_laplacian(self.scores, values, first, last, out)


class PairLoss(Protocol):
    """A differentiable pairwise loss that can be sent to another machine.

    Attributes
    ----------
    bend : float
        Greatest second derivative of the loss of a pair in the
        difference of its scores.
    """

    @property
    def bend(self) -> float:  # noqa: D102 - of the protocol
        ...

    def __call__(self, pairs: Pairs, scores: Floats) -> LossAtScores:
        """Return the loss at some scores."""


@dataclass(frozen=True)
class SquaredHinge:
    """Sum over the pairs of max(0, 1 - s_i + s_j)²."""

    @property
    def bend(self) -> float:
        """Second derivative of the loss of a violated pair."""
        return 2.0

    def __call__(self, pairs: Pairs, scores: Floats) -> Smooth:
        """Return the loss at some scores.

        ``scores`` (m,) are those of the documents of ``pairs``.
        """
        violations = pairs.at(scores)
        loss, slopes = violations.squared_hinge()
        return Smooth(loss, slopes, self.bend, outer=violations)


@dataclass(frozen=True)
class SmoothedHinge:
    """The smoothed hinge, a loss: the sum over the pairs of h(1 - s_i + s_j).

    h(u) is 0 below 0, u²/(2 width) from 0 to the width, and u - width/2
    above. As u² - (u - width)² = 2 width (u - width/2), this is the
    difference of two squared hinges, with margins 1 and 1 - width.
    """

    width: float

    @property
    def bend(self) -> float:
        """Second derivative of h where it is a parabola, that is, up to the width."""
        return 2.0 * (0.5 / self.width)

    def __call__(self, pairs: Pairs, scores: Floats) -> Smooth:
        """Return the loss at some scores.

        ``scores`` (m,) are those of the documents of ``pairs``.
        """
        # The smoothed hinge is the difference of two squared hinges,
        # whose margins differ by the width.
        outer = pairs.at(scores)
        inner = pairs.at(scores, 1.0 - self.width)
        loss, slopes = outer.squared_hinge()
        inner_loss, inner_slopes = inner.squared_hinge()
        half = 0.5 / self.width  # h is these squares over 2 width
        return Smooth(
            loss=half * (loss - inner_loss),
            slopes=half * (slopes - inner_slopes),
            bend=self.bend,
            outer=outer,
            inner=inner,
        )


@dataclass(frozen=True)
class LeastSquares:
    """Sum over the pairs of (1 - s_i + s_j)², for pairs of labels.

    O(m) at some scores: the sums of the scores of each label of a query
    are enough.
    """

    @property
    def bend(self) -> float:
        """Second derivative of the loss of a pair."""
        return 2.0

    def __call__(self, pairs: Pairs, scores: Floats) -> LossAtScores:
        """Return the loss at some scores.

        ``scores`` (m,) are those of the documents of ``pairs``.
        """
        partners = np.empty((2, scores.size))
        pairs.spread(
            lambda _, first, last: pairs.partner_sums(scores, first, last, partners)
        )
        # The sums of u_ij = 1 - s_i + s_j over the pairs of each
        # document, as the more relevant and as the less relevant one;
        # lower and higher count its partners, of which ``partners`` has
        # the sums of scores.
        as_winner = pairs.weighed(pairs.lower * (1.0 - scores) + partners[0])
        as_loser = pairs.weighed(pairs.higher * (1.0 + scores) - partners[1])
        # Loss and gradient are linear in these sums.
        loss = float(as_winner.sum()) + dot(as_loser - as_winner, scores)
        return _SquaresAtScores(
            pairs=pairs,
            scores=scores,
            loss=max(loss, 0.0),
            slopes=2.0 * (as_loser - as_winner),
            bend=self.bend,
        )


@dataclass(frozen=True)
class LogisticLoss:
    """Sum over the pairs of log(1 + exp(s_j - s_i)), for pairs of labels: the loss of RankNet.

    O(m log m + pairs) at some scores.
    """

    @property
    def bend(self) -> float:
        """Greatest second derivative of the loss of a pair, that for equal scores."""
        return 0.25

    def __call__(self, pairs: Pairs, scores: Floats) -> LossAtScores:
        """Return the loss at some scores."""
        loss, slopes = pairs.logistic(scores)
        return _LogisticAtScores(
            pairs=pairs, scores=scores, loss=loss, slopes=slopes, bend=self.bend
        )


LossName = Literal["squared_hinge", "logistic", "least_squares"]
"""Name of a loss that FSMRank may minimise."""

_LOSSES: dict[LossName, PairLoss] = {
    "squared_hinge": SquaredHinge(),
    "logistic": LogisticLoss(),
    "least_squares": LeastSquares(),
}


def pair_loss(name: LossName) -> PairLoss:
    """Return the loss of a name."""
    return _LOSSES[name]


class LinearPairs(Linear):
    """Pairs of documents whose scores are linear in the features.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Features, grouped by query.
    pairs : Pairs
        The pairs of these documents.
    """

    def __init__(self, X: Floats, pairs: Pairs) -> None:
        super().__init__(X, pairs)
        self.pairs = pairs

    def curvature(self, loss: LossAtScores, v: Floats) -> Floats:
        """Return the Hessian of a loss in the weights, times v (n,), shape (n,).

        The product is X'HXv with H the Hessian in the scores, which
        ``loss`` has. O(mn + m log r) for r labels per query; the rows
        of X are read from memory once.
        """
        values = np.empty(self.X.shape[0])
        curved = np.empty(self.X.shape[0])
        parts = self._parts()
        ptr = self.pairs.ptr

        def work(block: int, first: int, last: int) -> None:
            """Compute the Hessian's product with a vector, for queries first … last - 1.

            Writes to the row ``block`` of ``parts`` of the enclosing
            method, and uses its other arrays.
            """
            kernels.multiply(self.X, v, ptr, first, last, values)
            loss.curvature_of(values, first, last, curved)
            kernels.weigh(self.X, curved, ptr, first, last, parts[block])

        # On several threads, if they gain time.
        self.pairs.spread(work, self._gains_from_threads)
        total: Floats = parts.sum(axis=0)
        return total

    def centred(self, rows: Ints) -> Floats:
        """Return some rows of X (m, n) minus the mean row of their query.

        The mean is over all documents of the query. O(mn).
        """
        ptr = self.pairs.ptr
        # Threads compute the mean rows of blocks of queries.
        means = np.empty((ptr.size - 1, self.X.shape[1]))
        self.pairs.spread(
            lambda _, first, last: kernels.average(self.X, ptr, first, last, means),
            self._gains_from_threads,
        )
        query = np.searchsorted(ptr, rows, side="right") - 1
        centred_rows: Floats = self.X[rows] - means[query]
        return centred_rows
