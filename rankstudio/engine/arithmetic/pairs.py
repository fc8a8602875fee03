"""Sums over the pairs of each query in O(m log m): the arithmetic of every pairwise hinge loss.

A pair is (i, j) with y_i > y_j in one query. For scores s = Xw it is
violated if s_i - s_j < margin. The losses and their derivatives need,
for each document, only the number of its violated pairs and the sum of
its partners' scores (thesis of Airola 2011, section 4.2.2); both come
from one sweep over the sorted scores. No list of pairs is ever made.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankstudio.engine.arithmetic import _all_pairs_kernel as all_pairs
from rankstudio.engine.arithmetic import _pairs_kernel as kernels
from rankstudio.engine.arithmetic._pairs_kernel import rank_labels
from rankstudio.engine.arithmetic._rows_kernel import dot
from rankstudio.engine.arithmetic.linear_scores import Queries, Tangent
from rankstudio.engine.arrays import Floats, Ints, unwritable
from rankstudio.engine.support.threads import worthwhile

if TYPE_CHECKING:
    from rankstudio.engine.data.preferences import Preferences

_PAIR = 20.0  # nanoseconds per pair for an exponential and a logarithm


@dataclass(frozen=True)
class PairWeighting:
    """Weights of the pairs of each query; their total over all queries is the number of pairs.

    Therefore C and other factors of a sum over pairs have the same
    meaning with any weighting.

    Attributes
    ----------
    kind : {"size", "pairs"}
        "size": a pair's weight is divided by the number of documents of
        its query; "pairs": by the number of pairs.
    scale : float
        Factor of all weights.
    """

    kind: Literal["size", "pairs"]
    scale: float

    @classmethod
    def over(
        cls, kind: Literal["size", "pairs"], y: Floats, ptr: Ints
    ) -> PairWeighting:
        """Return the weighting whose total over all queries is the number of pairs.

        y (m,) are the labels, and query q has the rows ``ptr[q]:ptr[q +
        1]``. By ``kind``, a pair is divided by the number of documents
        or of pairs of its query. O(m log m).
        """
        counts = _pairs_of_queries(y, ptr)
        # The total weight of each query's pairs, before scaling.
        shares = np.divide(
            counts,
            _divisors(kind, counts, ptr),
            out=np.zeros_like(counts),
            where=counts > 0,
        )
        total = float(shares.sum())
        # The factor makes the total the number of pairs; it is 1 without pairs.
        return cls(kind, float(counts.sum()) / total if total else 1.0)

    def weights(self, y: Floats, ptr: Ints) -> Floats:
        """Return the weight of the pairs of each document's query, shape (m,).

        ``y`` (m,) are the labels of some queries, of which query q has
        the rows ``ptr[q]:ptr[q + 1]``.
        """
        divisors = np.maximum(_divisors(self.kind, _pairs_of_queries(y, ptr), ptr), 1.0)
        weights: Floats = np.repeat(self.scale / divisors, np.diff(ptr))
        return weights


def _divisors(kind: str, counts: Floats, ptr: Ints) -> Floats:
    """Return the divisor of each query's pairs: its number of documents or of pairs, shape (Q,).

    ``kind`` is "size" or "pairs", and ``counts`` (Q,) are the
    numbers of pairs. Query q has the rows ``ptr[q]:ptr[q +
    1]``.
    """
    return np.diff(ptr).astype(np.float64) if kind == "size" else counts


def _pairs_of_queries(y: Floats, ptr: Ints) -> Floats:
    """Return the number of pairs of documents with different labels of each query, shape (Q,).

    y (m,) are the labels, and query q has the rows ``ptr[q]:ptr[q + 1]``.
    """
    sums = np.concatenate([[0.0], np.cumsum(Pairs(y, ptr).lower)])
    counts: Floats = np.diff(sums[ptr])
    return counts


class Pairs(Queries):
    """All pairs of documents of one query with different labels, for any number of distinct labels.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Relevance labels, grouped by query.
    ptr, executor, workers
        As in :class:`Queries`.
    weighting : PairWeighting, optional
        Weights of the pairs; by default each pair counts 1.

    Attributes
    ----------
    document_weight : ndarray of shape (m,) or None
        Weight of the pairs of each document's query.
    level : ndarray of shape (m,)
        Index of each document's label among the distinct labels of its
        query, from 0.
    lower, higher : ndarray of shape (m,)
        Number of documents of the same query with a lower and a higher label.
    n_pairs : int
        Number or total weight of the pairs.

    Notes
    -----
    O(m log m) for the preparation.
    """

    document_weight: Floats | None = None

    def __init__(
        self,
        y: Floats,
        ptr: Ints,
        executor: Executor | None = None,
        workers: int = 1,
        weighting: PairWeighting | None = None,
    ) -> None:
        """Prepare the pairs: rank the labels of each query.

        y (m,) are the labels, and query q has the rows ``ptr[q]:ptr[q +
        1]``; ``workers`` is the number of threads of ``executor``.
        Documents of short queries are sorted by the kernels, those of
        long ones before. By default, without ``weighting``, each pair
        counts once.
        """
        super().__init__(ptr, executor, workers)
        if weighting is not None:
            self.document_weight = weighting.weights(y, ptr)
        self.level = np.empty(y.size, dtype=np.int64)
        self.n_levels = np.empty(ptr.size - 1, dtype=np.int64)
        self.lower = np.empty(y.size)
        self.higher = np.empty(y.size)
        rank_labels(
            unwritable(y), self.ptr, self.level, self.n_levels, self.lower, self.higher
        )
        self._order = np.arange(y.size, dtype=np.int64)
        long = np.flatnonzero(np.diff(ptr) > kernels.SORTED)
        # First row of each long query, and the row behind its last.
        self._long_queries = list(
            zip(ptr[long].tolist(), ptr[long + 1].tolist(), strict=True)
        )

    @cached_property
    def degrees(self) -> Floats:
        """Number or total weight of the pairs of each document, violated or not, shape (m,)."""
        return self.weighed(self.lower + self.higher)

    @cached_property
    def n_pairs(self) -> float:
        """Number of pairs, which is their total weight."""
        return (
            int(self.lower.sum())
            if self.document_weight is None
            else dot(self.document_weight, self.lower)
        )

    @cached_property
    def by_label(self) -> Ints:
        """Documents of each query by ascending label, shape (m,). O(m log m)."""
        query = np.repeat(np.arange(self.ptr.size - 1), np.diff(self.ptr))
        return np.lexsort((self.level, query)).astype(np.int64, copy=False)

    def partner_sums(self, values: Floats, first: int, last: int, out: Floats) -> None:
        """Write the sums of the values (m,) of each document's partners to ``out`` (2, m).

        Partners are documents of the same query with another label. Row
        0 is over the less relevant partners, row 1 over the more
        relevant ones, without weights. Only the documents of queries
        first … last - 1 are written. O(m).
        """
        all_pairs.partner_sums(
            values, self.ptr, self.level, self.n_levels, first, last, out
        )

    def logistic(self, scores: Floats) -> tuple[float, Floats]:
        """Return the logistic loss of all pairs, and its gradient in the scores (m,).

        The loss of a pair with y_i > y_j is log(1 + exp(s_j - s_i)). O(m log m
        + pairs); no list of pairs is made.
        """
        losses = np.empty_like(scores)
        slopes = np.empty_like(scores)
        order = self.by_label  # the documents of each query by label
        # On several threads if there are many pairs.
        self.spread(
            lambda _, first, last: all_pairs.logistic(
                scores, self.ptr, self.lower, order, first, last, losses, slopes
            ),
            self._has_many_pairs,
        )
        return float(self.weighed(losses).sum()), self.weighed(slopes)

    def logistic_laplacian(
        self, scores: Floats, values: Floats, first: int, last: int, out: Floats
    ) -> None:
        """Write the Hessian of the logistic loss in the scores, times values (m,), to ``out`` (m,).

        ``out`` is written only for the documents of the queries first …
        last - 1, in O(pairs).
        """
        # lower: per document, the number of those with a lower label;
        # by_label: the documents by label.
        all_pairs.logistic_laplacian(
            scores, values, self.ptr, self.lower, self.by_label, first, last, out
        )
        # Each document has the weight of its query's pairs.
        if self.document_weight is not None:
            rows = slice(int(self.ptr[first]), int(self.ptr[last]))
            out[rows] *= self.document_weight[rows]

    @cached_property
    def _has_many_pairs(self) -> bool:
        """Whether going through all pairs takes long enough for several threads."""
        return worthwhile(_PAIR * float(self.lower.sum()))

    def at(self, scores: Floats, margin: float = 1.0) -> Violations:
        """Find the violated pairs, those with s_i - s_j < margin although y_i > y_j.

        Parameters
        ----------
        scores : ndarray of shape (m,)
            Scores, ideally centred within each query: sums of scores
            round relative to their size.
        margin : float
            Any number.

        Returns
        -------
        Violations

        Notes
        -----
        O(m log m); the sort starts from the order of the previous call.
        """
        # The bounds of each document's violations, their counts and
        # their sums: filled by the kernels.
        start = np.empty_like(self._order)
        stop = np.empty_like(self._order)
        counts = np.empty((2, scores.size))
        sums = np.empty((2, scores.size))
        # The order of the last call; the kernels sort it by these scores.
        order = self._order = self._next_order(scores)

        def work(number: int, first: int, last: int) -> None:
            """Find the violated pairs of queries first … last - 1, and their sums.

            Fills the arrays of the enclosing method; ``number`` is not needed.
            """
            # Sort the documents by score, and find which positions
            # violate a pair with each document. Then add these up.
            kernels.arrange(scores, self.ptr, margin, first, last, order, start, stop)
            kernels.violations(
                scores,
                self.ptr,
                self.level,
                self.n_levels,
                order,
                start,
                stop,
                first,
                last,
                counts,
                sums,
            )

        self.spread(work)
        return Violations(
            pairs=self,
            scores=scores,
            margin=margin,
            order=order,
            start=start,
            stop=stop,
            counts=self.weighed(counts),
            sums=self.weighed(sums),
        )

    def hinge(self, scores: Floats) -> Hinge:
        """Return the hinge at some scores (m,), with its subgradient.

        The hinge is the sum of 1 - s_i + s_j over the pairs in which
        this number is positive. Scores are ideally centred within each
        query, so that sums of scores round little. O(m log m).
        """
        # The faster kernel below cannot weigh pairs; plane() computes
        # the same from the violated pairs.
        if self.document_weight is not None:
            return self.at(scores).plane()
        order = self._order = self._next_order(scores)
        slopes = np.empty_like(scores)
        violated = np.empty(len(self.blocks))

        def work(number: int, first: int, last: int) -> None:
            """Compute the slopes of queries first … last - 1; count violated pairs.

            Fills the arrays of the enclosing method. ``number`` is that
            of the block of queries.
            """
            violated[number] = kernels.hinge(
                scores,
                self.ptr,
                self.level,
                self.n_levels,
                self.lower,
                first,
                last,
                order,
                slopes,
            )

        self.spread(work)
        # The hinge is linear in the scores: 1 - s_i + s_j for each violated pair.
        n_violated = float(violated.sum())
        return Hinge(
            loss=n_violated + dot(slopes, scores), offset=n_violated, slopes=slopes
        )

    @property
    def hinge_at_zero(self) -> Hinge:
        """The hinge at equal scores: every pair is violated by its whole margin. O(m)."""
        n_pairs = float(self.n_pairs)
        return Hinge(
            loss=n_pairs, offset=n_pairs, slopes=self.weighed(self.higher - self.lower)
        )

    def weighed(self, sums: Floats) -> Floats:
        """Return sums over the pairs of each document, multiplied by the weight of the pairs."""
        return sums if self.document_weight is None else sums * self.document_weight

    def _next_order(self, scores: Floats) -> Ints:
        """Return the order of documents for the kernels to start from, shape (m,).

        The order is that of the last call, with long queries sorted by
        ``scores`` (m,).
        """
        order = self._order.copy()
        for begin, end in self._long_queries:
            order[begin:end] = begin + np.argsort(scores[begin:end])
        return order


@dataclass(frozen=True, eq=False)
class Hinge(Tangent):
    """The hinge at some scores, with its tangent plane: the sum of max(0, 1 - s_i + s_j) over the pairs.

    The slopes of the plane are c - d of eq. (4.13) of the thesis. Its
    offset is the number of violated pairs.
    """

    @property
    def n_violated(self) -> int:
        """Number of pairs with s_i - s_j < 1."""
        return int(self.offset)


@dataclass(frozen=True, eq=False)
class Violations:
    """The violated pairs at some scores, as sums per document.

    Attributes
    ----------
    pairs : Pairs
        All pairs of the documents.
    scores : ndarray of shape (m,)
        Scores of the documents.
    margin : float
        A pair is violated if the document with the higher label has a
        score that exceeds the other by less than this.
    order, start, stop : ndarray of shape (m,)
        Sorted documents, and the range of documents within the margin
        of each; see `_pairs_kernel.arrange`.
    counts : ndarray of shape (2, m)
        Number of violated pairs of each document with less (0) and more
        (1) relevant ones: d_i and c_i of eq. (4.11) and (4.10) of the
        thesis.
    sums : ndarray of shape (2, m)
        Sum of the scores of the other documents of these pairs.
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
        """Number of violated pairs, or their total weight rounded down."""
        return int(self.counts[0].sum())

    def plane(self) -> Hinge:
        """Return the hinge with its plane, of a margin of 1."""
        slopes = self.counts[1] - self.counts[0]
        offset = float(self.counts[0].sum())
        return Hinge(
            loss=offset + dot(slopes, self.scores), offset=offset, slopes=slopes
        )

    def hinge(self) -> tuple[float, Floats]:
        """Return the hinge, the sum of (margin - s_i + s_j) over the violated pairs, and a subgradient.

        The subgradient in the scores, c - d, has shape (m,): eq. (4.12)
        and (4.13) of the thesis.
        """
        subgradient = self.counts[1] - self.counts[0]
        return self.margin * float(self.counts[0].sum()) + dot(
            subgradient, self.scores
        ), subgradient

    def squared_hinge(self) -> tuple[float, Floats]:
        """Return the squared hinge, and its gradient in the scores (m,).

        The squared hinge is the sum of (margin - s_i + s_j)² over the
        violated pairs.
        """
        # With u_ij = margin - s_i + s_j, loss and gradient are linear
        # in the sums of u over each document's pairs, as the more
        # relevant and as the less relevant one. Row 0 of counts and
        # sums is over the less relevant partners.
        as_winner = self.counts[0] * (self.margin - self.scores) + self.sums[0]
        as_loser = self.counts[1] * (self.margin + self.scores) - self.sums[1]
        loss = self.margin * float(as_winner.sum()) + dot(
            as_loser - as_winner, self.scores
        )
        return max(loss, 0.0), 2.0 * (as_loser - as_winner)

    def laplacian_of(self, values: Floats, first: int, last: int, out: Floats) -> None:
        """Write the Laplacian of the violated pairs times values (m,) to ``out`` (m,).

        The product is, for each document of the queries first … last -
        1, the sum over its violated pairs of its value minus its
        partner's. Other documents are not written. O(m log r) for r
        labels per query.
        """
        pairs = self.pairs
        kernels.laplacian(
            values,
            self._degrees,
            pairs.ptr,
            pairs.level,
            pairs.n_levels,
            self.order,
            self.start,
            self.stop,
            first,
            last,
            out,
        )
        # Each document has the weight of its query's pairs.
        if pairs.document_weight is not None:
            rows = slice(int(pairs.ptr[first]), int(pairs.ptr[last]))
            out[rows] *= pairs.document_weight[rows]

    @cached_property
    def _degrees(self) -> Floats:
        """Number of violated pairs of each document, shape (m,), without weights.

        The kernel multiplies with these numbers, and the weights follow
        later, which the attribute ``counts`` includes.
        """
        degrees: Floats = self.counts[0] + self.counts[1]
        # Without weights, a degree is a whole number; division rounds.
        return (
            degrees
            if self.pairs.document_weight is None
            else np.rint(degrees / self.pairs.document_weight)
        )


class PreferencePairs(Pairs):
    """Weighted pairs that are given as preferences, instead of pairs of labels as in :class:`Pairs`.

    Parameters
    ----------
    preferences : Preferences
        Preferences, each between rows of one query.
    ptr, executor, workers
        As in :class:`Queries`.

    Attributes
    ----------
    winner, loser : ndarray of shape (l,)
        Row numbers of the preferred document, and of the other one, of
        each preference, by query.
    weight : ndarray of shape (l,)
        Weight of each preference.
    begins : ndarray of shape (Q + 1,)
        Query q has the preferences ``begins[q]:begins[q + 1]``.
    lower, higher : ndarray of shape (m,)
        Total weight of the preferences that each document wins and loses.

    Notes
    -----
    O(m + l) for every sum: one pass through the sparse incidence matrix of the graph.
    """

    def __init__(
        self,
        preferences: Preferences,
        ptr: Ints,
        executor: Executor | None = None,
        workers: int = 1,
    ) -> None:
        """Prepare the pairs: sort the preferences by query; those of query q begin at ``begins[q]``.

        ``lower`` and ``higher`` (m,) are the total weights of the
        preferences that a document wins and loses. Query q has the rows
        ``ptr[q]:ptr[q + 1]``. ``workers`` is the number of threads of
        ``executor``.
        """
        Queries.__init__(self, ptr, executor, workers)
        # Both documents of a preference are in the winner's query.
        query = np.searchsorted(ptr, preferences.winner, side="right") - 1
        order = np.argsort(query, kind="stable")
        self.winner = preferences.winner[order]
        self.loser = preferences.loser[order]
        self.weight = preferences.weight[order]
        self.begins = np.searchsorted(query[order], np.arange(ptr.size))
        m = int(ptr[-1])
        self.lower = _summed(self.winner, self.weight, m)
        self.higher = _summed(self.loser, self.weight, m)

    @cached_property
    def n_pairs(self) -> float:
        """Total weight of all preferences."""
        return float(self.weight.sum())

    def at(self, scores: Floats, margin: float = 1.0) -> Violations:
        """Find the violated preferences, those of i over j with s_i - s_j < margin.

        ``scores`` has shape (m,). O(m + l) for l preferences.
        """
        # Only violated preferences count.
        violated = np.flatnonzero(scores[self.winner] - scores[self.loser] < margin)
        winner = self.winner[violated]
        loser = self.loser[violated]
        weight = self.weight[violated]
        m = scores.size
        # Of each document: the violated preferences that it wins and
        # loses, and the other documents' scores.
        counts = np.stack([_summed(winner, weight, m), _summed(loser, weight, m)])
        sums = np.stack(
            [
                _summed(winner, weight * scores[loser], m),
                _summed(loser, weight * scores[winner], m),
            ]
        )
        # Preferences are listed, so no range of sorted documents is
        # needed; ``order`` has the positions of the violated ones
        # instead.
        no_bounds = np.empty(0, dtype=np.int64)
        return PreferenceViolations(
            pairs=self,
            scores=scores,
            margin=margin,
            order=violated,
            start=no_bounds,
            stop=no_bounds,
            counts=counts,
            sums=sums,
        )

    def hinge(self, scores: Floats) -> Hinge:
        """Return the hinge at some scores; see :meth:`Pairs.hinge`. O(m + l)."""
        return self.at(scores).plane()


@dataclass(frozen=True, eq=False)
class PreferenceViolations(Violations):
    """The violated preferences at some scores, as weighted sums per document.

    ``order`` contains the positions of the violated preferences,
    ascending; ``start`` and ``stop`` are empty.
    """

    def laplacian_of(self, values: Floats, first: int, last: int, out: Floats) -> None:
        """Write the Laplacian of the violated preferences times values to ``out``.

        The product is, for each document, the weighted sum over its
        violated preferences of its value minus its partner's. Only the
        documents of the queries first … last - 1 are written. O(l) for
        l violated preferences of these queries.
        """
        pairs = self.pairs
        assert isinstance(pairs, PreferencePairs)
        # Preferences are sorted by query, so that those of these
        # queries are consecutive. ``order`` has the violated ones, by
        # their positions among all.
        first_edge, last_edge = np.searchsorted(self.order, pairs.begins[[first, last]])
        violated = self.order[first_edge:last_edge]
        begin = int(pairs.ptr[first])
        end = int(pairs.ptr[last])
        winner = pairs.winner[violated]
        loser = pairs.loser[violated]
        products = pairs.weight[violated] * (values[winner] - values[loser])
        size = end - begin
        out[begin:end] = _summed(winner - begin, products, size) - _summed(
            loser - begin, products, size
        )


def _summed(rows: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of the values of each row, shape (size,)."""
    return np.bincount(rows, values, size).astype(np.float64, copy=False)
