"""The rows of the queries' Gram matrices that a greedy path reads: those of the features it selects."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData, QueryStatistics
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls import _gram_rows_kernel as kernels
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK

Each = Callable[[Callable[[int, int], None]], None]
"""Calls a function of (first, last) for ranges of the blocks of queries, on all threads."""


class GramRow(NamedTuple):
    """The products of one feature with all others.

    Attributes
    ----------
    gram : ndarray of shape (ceil(Q / BLOCK), …, n or more, BLOCK)
        In each query, at ``[:, place]``.
    place : int
    total : ndarray of shape (n + 1,)
        Their sums over all queries, and that of the products with the labels.
    """

    gram: Floats
    place: int
    total: Floats


class GramRows(Protocol):
    """The products of centred features in each query, as far as a greedy path asks for them.

    Attributes
    ----------
    squares, rights : ndarray of shape (ceil(Q / BLOCK), n, BLOCK)
        Of each feature with itself and with the labels.
    labels : ndarray of shape (ceil(Q / BLOCK), BLOCK)
        Of the labels with themselves.
    total : ndarray of shape (2, n)
        ``squares`` and ``rights``, summed over all queries.
    """

    squares: Floats
    rights: Floats
    labels: Floats
    total: Floats

    @property
    def informative(self) -> Bools:
        """Which features vary inside some query, shape (n,)."""

    def row(self, feature: int, each: Each) -> GramRow:
        """Return the products of a feature with all others."""


class WholeGramRows:
    """Rows of Gram matrices that are there.

    Parameters
    ----------
    statistics : QueryStatistics
        Of the training data.
    """

    def __init__(self, statistics: QueryStatistics) -> None:
        gram, n = statistics.in_blocks(BLOCK), statistics.n_features
        self.squares: Floats = np.diagonal(gram, axis1=1, axis2=2).transpose(0, 2, 1)[:, :n].copy()
        self.rights = np.ascontiguousarray(gram[:, n, :n])
        self.labels = np.ascontiguousarray(gram[:, n, n])
        self.total: Floats = np.stack([np.diagonal(statistics.total)[:n], statistics.total[n, :n]])
        self.informative = statistics.informative
        self._statistics = statistics

    def row(self, feature: int, each: Each) -> GramRow:  # noqa: D102 - of the protocol
        return GramRow(self._statistics.in_blocks(BLOCK), feature, self._statistics.total[feature])


class RelabelledGramRows:
    """Rows of Gram matrices that are there, for other labels of the same documents.

    Parameters
    ----------
    rows : WholeGramRows
        Of the documents with some labels whose squares in each query are the same.
    X : ndarray of shape (m, n)
        Centred.
    labels : ndarray of shape (m, 1)
        The other ones, centred: those that ``rows`` are of, permuted inside their queries.
    ptr : ndarray of shape (Q + 1,)

    Notes
    -----
    O(mn) time and O(Qn) memory.
    """

    def __init__(self, rows: WholeGramRows, X: Floats, labels: Floats, ptr: Ints) -> None:
        self._rows = rows
        self.squares, self.labels, self.informative = rows.squares, rows.labels, rows.informative
        self.rights = np.empty_like(rows.squares)
        work = np.empty(X.shape[1])
        kernels.products(X, labels, 0, ptr, 0, self.rights.shape[0], work, self.rights[:, None])
        self.total: Floats = np.stack([rows.total[0], _over_queries(self.rights)])

    def row(self, feature: int, each: Each) -> GramRow:  # noqa: D102 - of the protocol
        gram, place, total = self._rows.row(feature, each)
        return GramRow(gram, place, np.append(total[:-1], self.total[1, feature]))


class ComputedGramRows:
    """Rows of Gram matrices that are computed when a path first asks for them, one pass over X each.

    Paths of other values of λ select much the same features, so that rows are kept for them as long as there
    is room; a row has the same bits whether it was kept or not.

    Parameters
    ----------
    data : QueryData
        Training data.
    room : float
        How many bytes of rows are kept.

    Notes
    -----
    O(mn) time and O(Qn) memory a row, for m documents, n features and Q queries.
    """

    def __init__(self, data: QueryData, room: float) -> None:
        X, y = data.centred
        self._X, self._y, self._ptr = X, y, data.ptr
        self._blocks = -(-(data.ptr.size - 1) // BLOCK)
        self._kept: dict[int, GramRow] = {}
        self._most = int(room // (8 * self._blocks * BLOCK * X.shape[1]))
        padding = self._blocks * BLOCK - (data.ptr.size - 1)
        self.labels: Floats = np.pad(np.add.reduceat(y * y, data.ptr[:-1]), (0, padding)).reshape(-1, BLOCK)
        self.rights = np.empty((self._blocks, X.shape[1], BLOCK))
        self._products(y[:, None], 0, 0, self._blocks, self.rights[:, None])
        self.squares = np.zeros_like(self.rights)
        for q, (first, end) in enumerate(pairwise(data.ptr.tolist())):
            self.squares[q // BLOCK, :, q % BLOCK] = np.einsum("ij,ij->j", X[first:end], X[first:end])
        self.total: Floats = np.stack([_over_queries(self.squares), _over_queries(self.rights)])

    @property
    def informative(self) -> Bools:  # noqa: D102 - of the protocol
        varies: Bools = self.total[0] > 0
        return varies

    def row(self, feature: int, each: Each) -> GramRow:  # noqa: D102 - of the protocol
        if feature in self._kept:
            return self._kept[feature]
        gram = np.empty((self._blocks, 1, self._X.shape[1], BLOCK))
        each(lambda first, last: self._products(self._X, feature, first, last, gram))
        row = GramRow(gram, 0, np.append(_over_queries(gram[:, 0]), self.total[1, feature]))
        if len(self._kept) < self._most:
            self._kept[feature] = row
        return row

    def _products(self, values: Floats, column: int, first: int, last: int, out: Floats) -> None:
        work = np.empty(self._X.shape[1])
        kernels.products(self._X, values, column, self._ptr, first, last, work, out)


def _over_queries(blocks: Floats) -> Floats:
    """Return the sums over all queries, shape (n,)."""
    totals: Floats = blocks.sum(axis=0).sum(axis=-1)
    return totals
