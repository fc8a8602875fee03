"""Preferences as rows: each row is the scaled difference of two documents, with a target for it.

If any query has more preferences than documents plus one, the rows are
instead triangular factors of the Laplacians of the queries'
preferences, found by elimination.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from rankstudio.engine.arithmetic.pair_cost.class_rows import Rows, shares
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.blocks import VALUES
from rankstudio.engine.support.sparse_rows import SparseRows

if TYPE_CHECKING:
    from rankstudio.engine.data.preferences import Preferences


@dataclass(frozen=True, eq=False)
class ScaledPreferences:
    """Preferences as squared errors: (target - scale (s_winner - s_loser))² of scores s.

    The loss is the sum of these errors over l preferences.

    Attributes
    ----------
    query : ndarray of shape (l,)
        Number of the query of each preference.
    winner, loser : ndarray of shape (l,)
        Row numbers of the preferred document, and of the other one.
    scale, targets : ndarray of shape (l,)
        Factor and target of each difference of scores.
    """

    query: Ints
    winner: Ints
    loser: Ints
    scale: Floats
    targets: Floats

    def at(self, selection: Ints | slice) -> ScaledPreferences:
        """Return the preferences at some positions, in their order."""
        return ScaledPreferences(
            query=self.query[selection],
            winner=self.winner[selection],
            loser=self.loser[selection],
            scale=self.scale[selection],
            targets=self.targets[selection],
        )


@dataclass(frozen=True, eq=False)
class LaplacianFactor:
    """Rows whose squared errors equal the loss of the preferences of some queries.

    The queries are consecutive, a block. A query with c components of
    compared documents has |q| - c rows and one row of zeros, whose
    target is the root of the irreducible loss.

    Attributes
    ----------
    inside : slice
        Rows of the block's documents among all documents.
    targets : ndarray of shape (r,)
        Target of each row.
    counts : ndarray of shape (queries,)
        Number of rows per query.
    """

    inside: slice
    targets: Floats
    counts: Ints
    # Arguments ptr, starts, factor and row_of of the kernel.
    _ptr: Ints
    _starts: Ints
    _entries: Floats
    _row_of_document: Ints

    def times(self, X: Floats) -> Floats:
        """Return the rows S X for features X of shape (documents, n), where S'S is the Laplacian.

        S has a row for each of the r ``targets``, so that the result
        has shape (r, n). The loss of scores s is the sum of (target -
        (S s)_row)² over these rows. A constant column of X gives
        exactly 0. O(|q|² n) per query q.
        """
        from rankstudio.engine.arithmetic.pair_cost import _laplacian_kernel  # noqa: PLC0415 - numba

        out = np.zeros((self.targets.size, X.shape[1]))
        features = np.ascontiguousarray(X, dtype=np.float64)
        _laplacian_kernel.multiply(
            features, self._ptr, self._starts, self._entries, self._row_of_document, out
        )
        return out


def laplacian_factors(
    ptr: Ints, preferences: ScaledPreferences, entries: int = 0
) -> Iterator[LaplacianFactor]:
    """Yield the triangular factors of the preferences of blocks of queries.

    Parameters
    ----------
    ptr : ndarray of shape (Q + 1,)
        Query q has the documents ``ptr[q]:ptr[q + 1]``.
    preferences : ScaledPreferences
        Preferences, each between two documents of a query.
    entries : int
        Maximum number of entries of a block with several queries; 0 for
        one query per block.

    Notes
    -----
    At most O(l_q + |q|³ / 3) per query, |q| (|q| - 1) / 2 entries.
    """
    # The preferences in order of queries: those of query q are edges[q]:edges[q + 1].
    order = np.argsort(preferences.query, kind="stable")
    edges = np.append(
        0, np.cumsum(np.bincount(preferences.query, minlength=ptr.size - 1))
    )
    ordered = preferences.at(order)
    # The number of entries of the queries' triangles, added up.
    sizes = np.diff(ptr)
    ends = np.cumsum(sizes * (sizes - 1) // 2)
    first = 0
    while first < sizes.size:
        # As many queries as have at most `entries` entries together, but at least one.
        n_entries_before = int(ends[first - 1]) if first else 0
        fitting_last = (
            int(np.searchsorted(ends, n_entries_before + entries, side="right"))
            if entries
            else 0
        )
        last = max(first + 1, fitting_last)
        # The block's preferences, documents and starts, all counted
        # from the block's first ones.
        edge_range = slice(int(edges[first]), int(edges[last]))
        inside = slice(int(ptr[first]), int(ptr[last]))
        yield _factor(
            ptr=ptr[first : last + 1] - ptr[first],
            edges=edges[first : last + 1] - edge_range.start,
            inside=inside,
            preferences=ordered.at(edge_range),
        )
        first = last


def _factor(
    ptr: Ints, edges: Ints, inside: slice, preferences: ScaledPreferences
) -> LaplacianFactor:
    """Return the triangular factor of the preferences of consecutive queries.

    Query q of the block has the documents ``ptr[q]:ptr[q + 1]`` and the
    preferences ``edges[q]:edges[q + 1]``; ``inside`` are the block's
    rows among all documents.
    """
    from rankstudio.engine.arithmetic.pair_cost import _laplacian_kernel  # noqa: PLC0415 - numba

    m = int(ptr[-1])
    # A document's row has an entry for each later document of its
    # query, and begins at its `starts`.
    sizes = np.diff(ptr)
    # Number of later documents of each document's query.
    n_later = np.repeat(ptr[1:], sizes) - np.arange(m) - 1
    starts = np.cumsum(n_later) - n_later
    # The kernel fills the factor, the targets and the scores of the
    # rows, and the rest of each query's loss.
    entries = np.zeros(int(n_later.sum()))
    targets = np.empty(m)
    scores = np.empty(m)
    rest = np.empty(sizes.size)
    _laplacian_kernel.eliminate(
        ptr,
        edges,
        preferences.winner - inside.start,
        preferences.loser - inside.start,
        preferences.scale,
        preferences.targets,
        starts,
        entries,
        targets,
        scores,
        rest,
    )
    # A document without a row, which no preference connects with later
    # ones, has the target NaN. Such rows are dropped; each query has
    # one more row.
    has_target = ~np.isnan(targets)
    counts = np.add.reduceat(has_target, ptr[:-1], dtype=np.int64) + 1
    ends = np.cumsum(counts)
    query = np.repeat(np.arange(sizes.size), sizes)
    # The rows of each query are followed by one with the rest of the
    # loss as its target: earlier queries add a row each to the number
    # of a document's row.
    row_of_document = np.where(has_target, np.cumsum(has_target) - 1 + query, -1)
    row_targets = np.empty(int(ends[-1]))
    row_targets[ends - 1] = rest
    row_targets[row_of_document[has_target]] = targets[has_target]
    return LaplacianFactor(
        inside=inside,
        targets=row_targets,
        counts=counts,
        _ptr=ptr,
        _starts=starts,
        _entries=entries,
        _row_of_document=row_of_document,
    )


def incidence(
    preferences: Preferences, ptr: Ints, cost: PairCost
) -> tuple[Any, Floats, Ints]:
    """Return preferences as a sparse matrix of differences, query by query.

    A row has the factor w of a preference at its winner and -w at its
    loser (the oriented incidence matrix). So, for scores s, it gives w
    (s_winner - s_loser).

    Parameters
    ----------
    preferences : Preferences
        Preferences, each between rows of one query.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    cost : PairCost
        Loss; its ties are ignored, because preferences have none.

    Returns
    -------
    matrix : scipy.sparse.csr_array of shape (L, m)
        M' of Pahikkala et al. (2009), eq. (12), where w² is the weight
        of the preference in the cost and the query. A query without
        preferences has one row of zeros.
    targets : ndarray of shape (L,)
        N of eq. (13).
    row_ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``row_ptr[q]:row_ptr[q + 1]``.
    """
    scaled = _scaled(preferences, ptr, cost)
    query = scaled.query
    scale = scaled.scale
    targets = scaled.targets
    # A query without preferences gets a row of zeros.
    empty_queries = np.flatnonzero(np.bincount(query, minlength=ptr.size - 1) == 0)
    # The rows in order of queries, and the reverse: the row of each
    # preference. The empty queries come last before sorting.
    order = np.argsort(np.append(query, empty_queries), kind="stable")
    row_of_preference = np.empty_like(order)
    row_of_preference[order] = np.arange(order.size)
    row_of_preference = row_of_preference[: len(preferences)]
    # Each row has two entries: the preferred document's, and the other
    # one's with the opposite sign.
    rows = np.append(row_of_preference, row_of_preference)
    columns = np.append(preferences.winner, preferences.loser)
    entries = np.append(scale, -scale)
    shape = (order.size, int(ptr[-1]))
    matrix: Any = csr_array((entries, (rows, columns)), shape=shape)
    row_targets = np.zeros(order.size)
    row_targets[row_of_preference] = targets
    counts = np.bincount(query, minlength=ptr.size - 1)
    return (
        matrix,
        row_targets,
        np.append(0, np.cumsum(np.maximum(counts, 1))).astype(np.int64),
    )


def preference_rows(
    X: Floats, ptr: Ints, preferences: Preferences, cost: PairCost
) -> Rows:
    """Return rows whose squared errors equal the loss of the preferences, for features X (m, n).

    The result is (rows, targets, row_ptr) with r rows of shape
    (r, n) and their targets (r,). Query q has the documents
    ``ptr[q]:ptr[q + 1]`` and the rows ``row_ptr[q]:row_ptr[q +
    1]``.

    Notes
    -----
    O(ln) for l preferences and n features. If a query has more
    preferences than documents plus one, elimination reduces its rows to
    the number of documents: O(l_q + |q|³ + |q|² n) time, O(|q|²)
    memory.
    """
    return rows_of(X, preference_blocks(ptr, preferences, cost))


@dataclass(frozen=True, eq=False)
class IncidenceBlock:
    """The preferences of all queries as one block, with one row per preference.

    Attributes
    ----------
    inside : slice
        Documents of the block: all.
    matrix : scipy.sparse.csr_array of shape (r, documents)
        S, with S'S the Laplacian of the preferences.
    targets : ndarray of shape (r,)
        Target of each row.
    counts : ndarray of shape (Q,)
        Number of rows per query.
    """

    inside: slice
    matrix: Any
    targets: Floats
    counts: Ints

    def times(self, X: Floats) -> Floats:
        """Return S X, of shape (r, n), for features X of shape (documents, n).

        A row is the difference of the two documents of a preference,
        times its scale.
        """
        product: Floats = self.matrix @ X
        return product


PreferenceBlock = IncidenceBlock | LaplacianFactor
"""Computes the rows of the preferences of some queries from their documents; see :class:`IncidenceBlock`."""


def preference_blocks(
    ptr: Ints, preferences: Preferences, cost: PairCost
) -> Iterator[PreferenceBlock]:
    """Yield blocks of consecutive queries, objects that compute rows from features.

    The squared errors of a block's rows equal the loss of the
    preferences of its queries. Query q has the documents ``ptr[q]:ptr[q
    + 1]``. If any query has more preferences than its triangular factor
    has rows, blocks of factors are yielded, each with at most
    ``VALUES`` entries; otherwise one block with a row per preference.
    """
    sizes = np.diff(ptr)
    query = np.searchsorted(ptr, preferences.winner, side="right") - 1
    # A factor has at most a row per document and one more.
    if (np.bincount(query, minlength=sizes.size) > sizes + 1).any():
        yield from laplacian_factors(ptr, _scaled(preferences, ptr, cost), VALUES)
        return
    matrix, targets, row_ptr = incidence(preferences, ptr, cost)
    yield IncidenceBlock(slice(0, int(ptr[-1])), matrix, targets, np.diff(row_ptr))


def rows_of(X: Floats, blocks: Iterable[PreferenceBlock]) -> Rows:
    """Return (rows, targets, ptr) of the preferences in blocks, for features X (m, n).

    The squared errors of the rows equal the loss of the preferences.
    Query q has the rows ``ptr[q]:ptr[q + 1]``.
    """
    products = [
        (block.times(X[block.inside]), block.targets, block.counts) for block in blocks
    ]
    # The rows of all blocks, their targets, and the numbers of rows of all queries.
    rows, targets, counts = (
        np.concatenate(parts) for parts in zip(*products, strict=True)
    )
    return rows, targets, np.append(0, np.cumsum(counts)).astype(np.int64)


def preference_factors(
    preferences: Preferences, ptr: Ints, cost: PairCost
) -> Iterator[tuple[Floats, Floats]]:
    """Yield a factor of the Laplacian of each query's preferences, and its targets.

    Yields
    ------
    factor : ndarray of shape (r, |q|)
        S with S'S = M_q M_q', the Laplacian, and r at most |q|.
    targets : ndarray of shape (r,)
        t for which ||t - S s||² is the loss of scores s of the
        documents of the query.
    """
    for block in laplacian_factors(ptr, _scaled(preferences, ptr, cost)):
        yield block.times(np.eye(block.inside.stop - block.inside.start)), block.targets


def _scaled(preferences: Preferences, ptr: Ints, cost: PairCost) -> ScaledPreferences:
    """Return preferences as squared errors: (target - scale (s_winner - s_loser))².

    Scales and targets follow from the cost, and from the weighting of
    queries. ``ptr`` has the first row of each query, followed by m.
    """
    # Preferences are within queries, so that the winner's query is that
    # of both documents.
    Q = ptr.size - 1
    query = np.searchsorted(ptr, preferences.winner, side="right") - 1
    # The weight of a preference in the cost, and the share of its query.
    is_inverse = cost.cost == "inverse"
    weight: Floats = (
        preferences.weight / preferences.magnitude**2
        if is_inverse
        else preferences.weight
    )
    # The total weight of each query's preferences stands for a number of pairs.
    total = np.bincount(query, preferences.weight, Q).astype(np.float64)
    scale: Floats = np.sqrt(weight * shares(cost.weighting, np.diff(ptr), total)[query])
    # With the cost "unit", every preference has the magnitude 1.
    targets = scale if cost.cost == "unit" else scale * preferences.magnitude
    return ScaledPreferences(
        query=query,
        winner=preferences.winner,
        loser=preferences.loser,
        scale=scale,
        targets=targets,
    )


def sparse_preference_rows(data: SparseQueryData, cost: PairCost) -> SparseQueryData:
    """Return rows whose squared errors equal the loss of the preferences of data with sparse features.

    The rows are followed by their negatives, and divided by √2. So the
    result is centred in each query, and has the same sums of products
    as the rows.
    """
    assert data.preferences is not None
    matrix, targets, row_ptr = incidence(data.preferences, data.ptr, cost)
    sizes = np.diff(row_ptr)
    query = np.repeat(np.arange(sizes.size), sizes)
    # The order that puts the rows of each query before their negatives.
    order = np.argsort(np.append(query, query), kind="stable")
    rows: Any = csr_array(matrix @ data.X.csr) * np.sqrt(0.5)
    signed_rows = csc_array(vstack((rows, -rows)).tocsr()[order])
    labels = np.append(targets, -targets)[order] * np.sqrt(0.5)
    signed_rows.sort_indices()
    return SparseQueryData(SparseRows(signed_rows), labels, 2 * row_ptr)
