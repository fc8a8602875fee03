"""Given preferences as rows: each is the difference of two documents, and what it should be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.querywise.pair_cost.class_rows import Rows, shares
from rankstudio.engine.querywise.pair_cost.cost import PairCost
from rankstudio.engine.querywise.sparse_query_data import SparseQueryData
from rankstudio.engine.support.threads import STEADY

if TYPE_CHECKING:
    from rankstudio.engine.data.preferences.preferences import Preferences

_CHUNK = 4_096  # preferences that are reduced at a time


def incidence(preferences: Preferences, ptr: Ints, cost: PairCost) -> tuple[Any, Floats, Ints]:
    """Return the oriented incidence matrix of preferences, query by query.

    Parameters
    ----------
    preferences : Preferences
        Between rows of one query each.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    cost : PairCost
        Its ties do not count: there are none.

    Returns
    -------
    matrix : scipy.sparse.csr_array of shape (L, m)
        M' of Pahikkala et al. (2009), eq. (12), with w² the weight of the preference in the cost and the
        query. A query without preferences has one row of zeros.
    targets : ndarray of shape (L,)
        N of eq. (13).
    row_ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``row_ptr[q]:row_ptr[q + 1]``.
    """
    Q = ptr.size - 1
    query = np.searchsorted(ptr, preferences.winner, side="right") - 1
    inverse = cost.cost == "inverse"
    squared: Floats = preferences.weight / preferences.magnitude**2 if inverse else preferences.weight
    total = np.bincount(query, preferences.weight, Q).astype(np.float64)
    scale: Floats = np.sqrt(squared * shares(cost.weighting, np.diff(ptr), total)[query])
    targets = scale if cost.cost == "unit" else scale * preferences.magnitude
    empty = np.flatnonzero(total == 0)
    order = np.argsort(np.append(query, empty), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    place = place[: len(preferences)]
    columns = np.append(preferences.winner, preferences.loser)
    entries = np.append(scale, -scale)
    shape = (order.size, int(ptr[-1]))
    matrix: Any = csr_array((entries, (np.append(place, place), columns)), shape=shape)
    ordered = np.zeros(order.size)
    ordered[place] = targets
    counts = np.bincount(query, minlength=Q)
    return matrix, ordered, np.append(0, np.cumsum(np.maximum(counts, 1))).astype(np.int64)


def preference_rows(X: Floats, ptr: Ints, preferences: Preferences, cost: PairCost) -> Rows:
    """Return rows of which the squared errors are the loss of the preferences.

    They are as those of :func:`rankstudio.engine.querywise.pair_cost.class_rows.class_rows`.

    Notes
    -----
    O(ln) for l preferences and n features. A query with more preferences than documents has no more rows than
    documents and one, by QR decompositions of its incidence matrix: O(l_q |q|²) time for it, O(|q|²) memory.
    """
    return rows_of(X, preference_blocks(ptr, preferences, cost))


@dataclass(frozen=True, eq=False)
class PreferenceBlock:
    """What makes rows of the documents of one query, or of all.

    Attributes
    ----------
    inside : slice
        The documents.
    factor : ndarray or sparse array of shape (r, documents)
        S, with S'S the Laplacian of their preferences.
    targets : ndarray of shape (r,)
    counts : ndarray
        How many of the rows each query has.
    """

    inside: slice
    factor: Any
    targets: Floats
    counts: Ints


def preference_blocks(ptr: Ints, preferences: Preferences, cost: PairCost) -> Iterator[PreferenceBlock]:
    """Yield the blocks of :func:`preference_rows`, which depend on no features."""
    matrix, targets, row_ptr = incidence(preferences, ptr, cost)
    if (np.diff(row_ptr) <= np.diff(ptr) + 1).all():
        yield PreferenceBlock(slice(0, int(ptr[-1])), matrix, targets, np.diff(row_ptr))
        return
    for q, (first, last) in enumerate(pairwise(row_ptr.tolist())):
        inside = slice(int(ptr[q]), int(ptr[q + 1]))
        factor, target = _reduced(matrix, targets, slice(first, last), inside)
        yield PreferenceBlock(inside, factor, target, np.array([target.size]))


def rows_of(X: Floats, blocks: Iterable[PreferenceBlock]) -> Rows:
    """Return the rows that blocks make of features, their targets, and where each query's begin."""
    with STEADY:  # small products, which lose much where threads wait for a processor
        found = [(block.factor @ X[block.inside], block.targets, block.counts) for block in blocks]
    rows, targets, counts = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return rows, targets, np.append(0, np.cumsum(counts)).astype(np.int64)


def preference_factor(preferences: Preferences, ptr: Ints, q: int, cost: PairCost) -> tuple[Floats, Floats]:
    """Return a factor of the Laplacian of the preferences of one query, and its targets.

    Returns
    -------
    factor : ndarray of shape (r, |q|)
        S with S'S = M_q M_q', and r at most |q| + 1.
    targets : ndarray of shape (r,)
        t with S't = M_q N_q and t't = N_q'N_q.
    """
    first, last = ptr[q : q + 2].tolist()
    matrix, targets, _ = incidence(preferences.among(first, last), np.array([0, last - first]), cost)
    return _reduced(matrix, targets, slice(0, targets.size), slice(0, last - first))


def _reduced(matrix: Any, targets: Floats, lines: slice, inside: slice) -> tuple[Floats, Floats]:
    """Return at most |q| + 1 rows with the products of a query's incidence matrix and targets.

    Parameters
    ----------
    matrix, targets
        Of all queries.
    lines, inside : slice
        The preferences and the documents of the query.
    """
    most = inside.stop - inside.start + 1
    kept = np.empty((0, most))
    for begin in range(lines.start, lines.stop, max(_CHUNK, most)):
        end = min(begin + max(_CHUNK, most), lines.stop)
        part = np.zeros((len(kept) + end - begin, most))
        part[: len(kept)] = kept
        # By hand: to cut a sparse matrix takes longer than all else for a small query.
        entries = slice(matrix.indptr[begin], matrix.indptr[end])
        row = np.repeat(np.arange(len(kept), len(part)), np.diff(matrix.indptr[begin : end + 1]))
        part[row, matrix.indices[entries] - inside.start] = matrix.data[entries]
        part[len(kept) :, -1] = targets[begin:end]
        kept = np.asarray(np.linalg.qr(part, mode="r")) if len(part) > most else part
    return np.ascontiguousarray(kept[:, :-1]), np.ascontiguousarray(kept[:, -1])


def sparse_preference_rows(data: SparseQueryData, cost: PairCost) -> SparseQueryData:
    """Return the rows of the preferences of sparse data, with their negatives and over √2.

    So they are centred in each query, and their products are those of the rows: see
    :attr:`rankstudio.engine.querywise.pair_cost.pair_rows.PairRows.mirrored`.
    """
    assert data.preferences is not None
    matrix, targets, row_ptr = incidence(data.preferences, data.ptr, cost)
    sizes = np.diff(row_ptr)
    of_row = np.repeat(np.arange(sizes.size), sizes)
    order = np.argsort(np.append(of_row, of_row), kind="stable")
    rows: Any = csr_array(matrix @ csr_array(data.X)) * np.sqrt(0.5)
    both = csc_array(vstack((rows, -rows)).tocsr()[order])
    labels = np.append(targets, -targets)[order] * np.sqrt(0.5)
    both.sort_indices()
    return SparseQueryData(both, labels, 2 * row_ptr)
