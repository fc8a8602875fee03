"""The pairs of labels as few rows: all pairs between two classes of equal labels weigh the same.

With n_c documents of class c in a query, their means m_c, and the
weight ω_cd of a pair between classes c and d, the sum over all pairs of
ω (z_cd - f_i + f_j)² falls into two parts,

    sum_c d_c sum_{i in c} (f_i - m_c)²  +  sum_{c > d} ω_cd n_c n_d (z_cd - m_c + m_d)²

with d_c = sum_d ω_cd n_d, so that the centred documents and one row per
class suffice. No list of pairs is made.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import centre
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.support import memory

Rows = tuple[Floats, Floats, Ints]


def class_rows(X: Floats, y: Floats, ptr: Ints, cost: PairCost) -> Rows:
    """Return rows whose squared errors equal the loss of all pairs within queries.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Features, grouped by query.
    y : ndarray of shape (m,)
        Label of each document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    cost : PairCost
        Loss of a pair.

    Returns
    -------
    rows : ndarray of shape (M, n)
        S_q X_q for each query, where S_q'S_q is M_q M_q' of Pahikkala
        et al. (2009), eq. (12); linear in X.
    targets : ndarray of shape (M,)
        t_q with S_q't_q = M_q N_q and t_q't_q = N_q'N_q: ||t_q - S_q
        X_q w||² is the loss of query q.
    row_ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``row_ptr[q]:row_ptr[q + 1]``, at least one
        and at most |q| + r + 1 for r labels.

    Raises
    ------
    DatasetError
        If labels nearly coincide, for the cost "inverse".
    OutOfMemoryError
        If a query has too many labels for their r² weights to fit, for
        the cost "inverse".

    Notes
    -----
    O(mn + m log m), and for "inverse" O(r³ + r² n) per query.
    """
    sizes = np.diff(ptr)
    query = np.repeat(np.arange(sizes.size), sizes)
    # Pairs with equal labels count, too: then the centred documents of
    # a query are such rows.
    if cost.ties:
        scale = tied_scale(ptr, cost)
        return (
            centre(X, ptr) * scale[:, None],
            centre(y[:, None], ptr)[:, 0] * scale,
            ptr,
        )
    # The classes of each query: documents sorted by query and label; a
    # class starts where the label changes.
    order = np.lexsort((y, query))
    starts = np.flatnonzero(np.diff(y[order], prepend=np.nan) != 0)
    starts = np.union1d(starts, ptr[:-1])
    classes = _Classes(
        labels=y[order][starts],
        counts=np.diff(np.append(starts, y.size)),
        query=query[starts],
        sizes=sizes,
    )
    # Shifted by a query's first row, so that a feature that is constant
    # there is exactly 0 in all rows.
    values = np.column_stack((X, y))
    values -= values[ptr[:-1]][query]
    values = values[order]
    if cost.cost == "unit":
        values[:, -1] = np.repeat(classes.surplus, classes.counts)
    means = np.add.reduceat(values, starts, axis=0) / classes.counts[:, None]
    # One row per class, for the sum of ω_cd n_c n_d (z_cd - m_c
    # + m_d)² over pairs of classes; `degrees` are d_c = sum_d
    # ω_cd n_d.
    if cost.cost == "inverse":
        degrees, between_rows = _general_cost_rows(means, classes, cost)
    else:
        query_sizes = sizes[classes.query]
        query_means = np.add.reduceat(values, ptr[:-1], axis=0) / sizes[:, None]
        degrees = (query_sizes - classes.counts).astype(np.float64)
        between_rows = (means - query_means[classes.query]) * np.sqrt(
            query_sizes * classes.counts
        )[:, None]
    parts = [between_rows]
    owners = [classes.query]
    # For the sum of d_c (f_i - m_c)²: the centred documents of each
    # class that has several, and pairs with other classes.
    has_row = np.repeat((classes.counts > 1) & (degrees > 0), classes.counts)
    if has_row.any():
        within_rows = (
            centre(values, np.append(starts, y.size))
            * np.sqrt(np.repeat(degrees, classes.counts))[:, None]
        )
        parts.append(within_rows[has_row])
        owners.append(query[has_row])
    if cost.cost == "unit":
        # One row per query for the loss that no scores reduce: N'N
        # minus the part in the classes' targets.
        constant_rows = np.zeros((sizes.size, values.shape[1]))
        fitted = np.add.reduceat(
            between_rows[:, -1] ** 2,
            np.searchsorted(classes.query, np.arange(sizes.size)),
        )
        constant_rows[:, -1] = np.sqrt(np.maximum(classes.n_pairs - fitted, 0.0))
        parts.append(constant_rows)
        owners.append(np.arange(sizes.size))
    # The rows of all parts, in order of queries; then each query's rows are weighted.
    owner = np.concatenate(owners)
    rows = np.concatenate(parts)[np.argsort(owner, kind="stable")]
    row_ptr = np.append(0, np.cumsum(np.bincount(owner, minlength=sizes.size))).astype(
        np.int64
    )
    share = np.sqrt(shares(cost.weighting, sizes, classes.n_pairs))
    rows *= np.repeat(share, np.diff(row_ptr))[:, None]
    return (
        np.ascontiguousarray(rows[:, :-1]),
        np.ascontiguousarray(rows[:, -1]),
        row_ptr,
    )


def tied_scale(ptr: Ints, cost: PairCost) -> Floats:
    """Return the factor of each document for losses that also count pairs of equal labels, shape (m,).

    If all pairs of a query count, the loss is that of the centred
    documents times these factors. Query q has the rows ``ptr[q]:ptr[q +
    1]``.
    """
    # The sum over all pairs of a query is its number of documents times
    # the sum over its centred documents. The weighting divides it by
    # the query's number of documents or pairs.
    sizes = np.diff(ptr)
    query = np.repeat(np.arange(sizes.size), sizes)
    scale: Floats = np.sqrt(
        sizes * shares(cost.weighting, sizes, sizes * (sizes - 1) / 2)
    )[query]
    return scale


class _Classes:
    """Classes of documents: those of one query with equal labels, query by query with ascending labels.

    Attributes
    ----------
    labels, counts, query : ndarray of shape (C,)
        Label, number of documents and query of each class.
    sizes : ndarray of shape (Q,)
        Number of documents of each query.
    """

    def __init__(self, labels: Floats, counts: Ints, query: Ints, sizes: Ints) -> None:
        self.labels = labels
        self.counts = counts
        self.query = query
        self.sizes = sizes
        self.ptr = np.append(np.searchsorted(query, np.arange(sizes.size)), query.size)

    @property
    def n_pairs(self) -> Floats:
        """Pairs with different labels of each query, shape (Q,)."""
        squares = np.add.reduceat(self.counts.astype(np.float64) ** 2, self.ptr[:-1])
        pairs: Floats = (self.sizes.astype(np.float64) ** 2 - squares) / 2
        return pairs

    @property
    def surplus(self) -> Floats:
        """Documents below each class minus documents above it, divided by the query's documents, shape (C,).

        "Below" means with a lower label in the same query. The numbers
        are the scores closest to a difference of 1 between all pairs.
        """
        first_rows = np.cumsum(self.counts) - self.counts
        n_below = first_rows - np.append(0, np.cumsum(self.sizes))[self.query]
        query_sizes = self.sizes[self.query]
        surplus: Floats = (2 * n_below + self.counts - query_sizes) / query_sizes
        return surplus


def _general_cost_rows(
    means: Floats, classes: _Classes, cost: PairCost
) -> tuple[Floats, Floats]:
    """Return (degrees, rows) of the classes of documents for any weights ω_cd of pairs.

    A class is the documents of a query with equal labels; ``means`` (C,
    n) are their mean features. The degree of class c is d_c = sum_d
    ω_cd n_d, and the squares of the rows add up to sum_{c > d} ω_cd n_c
    n_d ||m_c - m_d||², for n_c documents with mean m_c.

    In each query, let CC' be the Cholesky factorisation of the
    Laplacian of the classes without the last class, which is positive
    definite. Only differences of means count, so that the rows are C'M,
    where row c of M is m_c - m_last. A last row of zeros is added, so
    that each class has a row.
    """
    degrees = np.empty(len(means))
    rows = np.zeros_like(means)
    # Only the largest query counts: its weights, its Laplacian and
    # their factors are in memory.
    max_classes = int(np.diff(classes.ptr).max())
    needed = 32.0 * max_classes**2  # four matrices of 8-byte numbers
    free = memory.available()
    if needed > free:
        raise OutOfMemoryError(
            f"The cost inverse with {max_classes:,} different labels in a query needs "
            f"{memory.size(needed)} of memory, and {memory.size(free)} are free. Use the cost "
            "magnitude or unit."
        )
    for first, last in pairwise(classes.ptr.tolist()):
        # The degree of class c is sum_d ω_cd n_d.
        weights, _ = cost.between(classes.labels[first:last])
        counts = classes.counts[first:last].astype(np.float64)
        degrees[first:last] = weights @ counts
        # A query with one class has no pairs.
        if last - first > 1:
            laplacian = -weights * np.outer(counts, counts)
            np.fill_diagonal(laplacian, counts * degrees[first:last])
            # The factor C of the docstring; the last row of the query stays 0.
            factor = np.linalg.cholesky(laplacian[:-1, :-1])
            rows[first : last - 1] = factor.T @ (
                means[first : last - 1] - means[last - 1]
            )
    return degrees, rows


def shares(weighting: str, sizes: Ints, n_pairs: Floats) -> Floats:
    """Return the factor of each query's pairwise loss, shape (Q,), 0 for a query without pairs.

    By ``weighting``, it is one over the number of documents ("size") or
    of pairs ("pairs") of the query, or 1 ("none"). ``sizes`` and
    ``n_pairs``, of shape (Q,), are the numbers of documents and pairs.
    """
    divisor = {"size": sizes, "pairs": n_pairs, "none": np.ones(sizes.size)}[
        weighting
    ].astype(np.float64)
    inverse: Floats = np.divide(
        1.0, divisor, out=np.zeros(sizes.size), where=n_pairs > 0
    )
    return inverse
