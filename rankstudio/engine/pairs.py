"""Sums over the pairs of each query in O(m log m): the arithmetic of every pairwise hinge loss.

A pair is (i, j) with y_i > y_j in one query. For scores s = Xw it is violated where s_i - s_j < margin.
The losses and their derivatives need, for each document, only how many violated pairs it is in and what its
partners' scores add up to (thesis of Airola 2011, section 4.2.2); both come from one sweep over the sorted
scores. No list of pairs is ever made.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine import _pairs_kernel as kernels
from rankstudio.engine._linear_kernel import dot, multiply, weigh
from rankstudio.engine.linear import Linear, Queries

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Pairs(Queries):
    """All pairs of documents of one query with different labels, any number of distinct labels.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Relevance labels, grouped by query.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    executor : Executor, optional
        Threads to spread the queries over; the numbers do not depend on it.

    Attributes
    ----------
    level : ndarray of shape (m,)
        Number of each document's label among the distinct labels of its query, from 0 up.
    n_pairs : int

    Notes
    -----
    O(m log m) to prepare. Documents of queries with one label are in no pair and cost nothing later.
    """

    def __init__(self, y: Floats, ptr: Ints, executor: Executor | None = None) -> None:
        super().__init__(ptr, executor)
        self.level = np.empty(y.size, dtype=np.int64)
        self.n_levels = np.empty(ptr.size - 1, dtype=np.int64)
        kernels.rank_labels(y, ptr, self.level, self.n_levels)
        self._order = np.arange(y.size, dtype=np.int64)
        long = np.flatnonzero(np.diff(ptr) > kernels.SORTED)
        self._long = list(zip(ptr[long].tolist(), ptr[long + 1].tolist(), strict=True))

    @cached_property
    def degrees(self) -> Floats:
        """In how many pairs each document is, violated or not, shape (m,)."""
        sizes = np.diff(self.ptr)
        starts = np.concatenate(([0], np.cumsum(self.n_levels)[:-1]))
        label_of_query = np.repeat(starts, sizes) + self.level
        equal = np.bincount(label_of_query)[label_of_query]
        return (np.repeat(sizes, sizes) - equal).astype(np.float64)

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return int(self.degrees.sum()) // 2

    def at(self, scores: Floats, margin: float = 1.0) -> Violations:
        """Find the pairs with s_i - s_j < margin.

        Parameters
        ----------
        scores : ndarray of shape (m,)
            Best centred inside each query: sums of scores are rounded relative to their size.
        margin : float
            Any number.

        Returns
        -------
        Violations

        Notes
        -----
        O(m log m); the sort starts from the order of the call before.
        """
        start, stop = np.empty_like(self._order), np.empty_like(self._order)
        counts, sums = np.empty((2, scores.size)), np.empty((2, scores.size))
        order = self._order.copy()
        for begin, end in self._long:
            order[begin:end] = begin + np.argsort(scores[begin:end])

        def work(number: int, first: int, last: int) -> None:
            kernels.arrange(scores, self.ptr, margin, first, last, order, start, stop)
            kernels.violations(
                scores, self.ptr, self.level, self.n_levels, order, start, stop, first, last, counts, sums
            )

        self.spread(work)
        self._order = order
        return Violations(self, scores, margin, order, start, stop, counts, sums)


@dataclass(frozen=True, eq=False)
class Violations:
    """The violated pairs at some scores, as sums per document.

    Attributes
    ----------
    pairs : Pairs
    scores : ndarray of shape (m,)
    margin : float
    order, start, stop : ndarray of shape (m,)
        The sorted documents and who is within the margin of each (see the kernels).
    counts : ndarray of shape (2, m)
        Number of violated pairs of each document with less (0) and more (1) relevant ones: d_i and c_i of
        eq. (4.11) and (4.10) of the thesis.
    sums : ndarray of shape (2, m)
        Sum of the scores of those partners.
    """

    pairs: Pairs
    scores: Floats
    margin: float
    order: Ints
    start: Ints
    stop: Ints
    counts: Floats
    sums: Floats

    @property
    def n_violated(self) -> int:
        """How many pairs are violated."""
        return int(self.counts[0].sum())

    def hinge(self) -> tuple[float, Floats]:
        """Return sum of (margin - s_i + s_j) over the violated pairs, and a subgradient in s, shape (m,).

        Eq. (4.12) and (4.13): the subgradient is c - d.
        """
        subgradient = self.counts[1] - self.counts[0]
        return self.margin * float(self.counts[0].sum()) + dot(subgradient, self.scores), subgradient

    def squared_hinge(self) -> tuple[float, Floats]:
        """Return sum of (margin - s_i + s_j)² over the violated pairs, and the gradient in s, shape (m,)."""
        # With u_ij = margin - s_i + s_j, both are linear in the sums of u over each document's pairs.
        above = self.counts[0] * (self.margin - self.scores) + self.sums[0]
        below = self.counts[1] * (self.margin + self.scores) - self.sums[1]
        loss = self.margin * float(above.sum()) + dot(below - above, self.scores)
        return max(loss, 0.0), 2.0 * (below - above)

    def laplacian(self, values: Floats) -> Floats:
        """Return for each document sum over its violated pairs of (its value - the partner's), shape (m,).

        O(m log r) for r labels a query.
        """
        out = np.empty_like(values)
        self.pairs.spread(lambda _, first, last: self.laplacian_of(values, first, last, out))
        return out

    def laplacian_of(self, values: Floats, first: int, last: int, out: Floats) -> None:
        """Compute :meth:`laplacian` for the documents of queries first … last - 1 alone."""
        of = self.pairs
        kernels.laplacian(
            values,
            self._degrees,
            of.ptr,
            of.level,
            of.n_levels,
            self.order,
            self.start,
            self.stop,
            first,
            last,
            out,
        )

    @cached_property
    def _degrees(self) -> Floats:
        degrees: Floats = self.counts[0] + self.counts[1]
        return degrees


@dataclass(frozen=True, eq=False)
class Smooth:
    """A differentiable pairwise loss at some scores.

    Attributes
    ----------
    loss : float
    slopes : ndarray of shape (m,)
        Its gradient in the scores.
    bend : float
        Second derivative of the loss of one of the curved pairs.
    outer, inner : Violations
        The curved pairs are those in ``outer`` and not in ``inner``, where there is one.
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
        self.outer.pairs.spread(lambda _, first, last: self.curvature_of(direction, first, last, out))
        return dot(direction, out)

    @property
    def n_curved(self) -> int:
        """How many pairs have a second derivative."""
        return self.outer.n_violated - (0 if self.inner is None else self.inner.n_violated)

    def curvature_of(self, values: Floats, first: int, last: int, out: Floats) -> None:
        """Compute the Hessian in the scores times ``values``, for queries first … last - 1 alone."""
        rows = slice(int(self.outer.pairs.ptr[first]), int(self.outer.pairs.ptr[last]))
        self.outer.laplacian_of(values, first, last, out)
        if self.inner is not None:
            inside = np.empty_like(out)
            self.inner.laplacian_of(values, first, last, inside)
            out[rows] -= inside[rows]
        out[rows] *= self.bend


def squared_hinge(pairs: Pairs, scores: Floats) -> Smooth:
    """Return sum over the pairs of max(0, 1 - s_i + s_j)²."""
    at = pairs.at(scores)
    loss, slopes = at.squared_hinge()
    return Smooth(loss, slopes, 2.0, at)


def smoothed_hinge(pairs: Pairs, scores: Floats, width: float) -> Smooth:
    """Return sum over the pairs of h(1 - s_i + s_j), h(u) = u²/(2 width) up to the width, u - width/2 above.

    As u² - (u - width)² = 2 width (u - width/2), this is the difference of two squared hinges, with margins
    1 and 1 - width.
    """
    outer, inner = pairs.at(scores), pairs.at(scores, 1.0 - width)
    (loss, slopes), (inner_loss, inner_slopes) = outer.squared_hinge(), inner.squared_hinge()
    half = 0.5 / width
    return Smooth(half * (loss - inner_loss), half * (slopes - inner_slopes), 2.0 * half, outer, inner)


class LinearPairs(Linear):
    """Pairs whose scores are linear in the features, s = Xw.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Features, best centred inside each query: the loss is the same and the sums round less.
    pairs : Pairs
    """

    def __init__(self, X: Floats, pairs: Pairs) -> None:
        super().__init__(X, pairs)
        self.pairs = pairs

    def curvature(self, at: Smooth, v: Floats) -> Floats:
        """Return the Hessian in w of a loss times v, X'HXv with H the Hessian in the scores, shape (n,).

        O(mn + m log r) for r labels a query; the rows of X are read from memory once.
        """
        values, curved = np.empty(self.X.shape[0]), np.empty(self.X.shape[0])
        parts, ptr = self._parts(), self.pairs.ptr

        def work(block: int, first: int, last: int) -> None:
            multiply(self.X, v, ptr[first], ptr[last], values)
            at.curvature_of(values, first, last, curved)
            weigh(self.X, curved, ptr[first], ptr[last], parts[block])

        self.pairs.spread(work)
        total: Floats = parts.sum(axis=0)
        return total
