"""One ranking over all queries: pairs of documents of different queries too (Pahikkala et al. 2009, 5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.class_rows import shares
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import QueryData, QueryStatistics
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.support import memory


def global_statistics(data: QueryData, cost: PairCost) -> QueryStatistics:
    """Return sums of products over all pairs of documents, also of different queries.

    The sums are the matrix [X'MM'X, X'MN; N'M'X, 0]. A column of M is a
    weighted pair of documents, with the entry of N as its weighted
    difference of labels.

    Parameters
    ----------
    data : QueryData
        Training data: m documents, n features, Q queries.
    cost : PairCost
        Loss; it is weighted by the documents or the pairs of the whole ranking.

    Returns
    -------
    QueryStatistics
        ``total`` covers the pairs of all documents, ``total - gram[q]``
        the pairs of the documents outside query q.

    Raises
    ------
    OutOfMemoryError
        If there are too many labels for a Gram matrix of each to fit.

    Notes
    -----
    X'MM'X = sum_c d_c A_c - sum_cd ω_cd s_c s_d' with the Gram matrix
    A_c and the sum s_c of the documents of each class c, so O(mn² + Q r
    n (n + r)) time and O((Q + r) n²) memory for r different labels.
    """
    cached = data.shared.of(_AllPairs).by_cost
    if cost not in cached:
        cached[cost] = _statistics(data, cost)
    return cached[cost]


@dataclass
class _AllPairs:
    """The statistics of some data over all pairs of documents, by the cost."""

    by_cost: dict[PairCost, QueryStatistics] = field(default_factory=dict)


def _statistics(data: QueryData, cost: PairCost) -> QueryStatistics:
    """Compute sums of products over all pairs of documents, also of different queries.

    In the result, ``total`` covers all documents, and ``total -
    gram[q]`` the documents outside query q with their pairs; both are
    matrices (n + 1, n + 1) of the features and the target of ``cost``.

    With degrees d_c = sum_d ω_cd n_d of classes of n_c documents, Gram
    matrices A_c and sums s_c, the sum over pairs of ω (x_i - x_j) (x_i
    - x_j)' is sum_c d_c A_c - sum_cd ω_cd s_c s_d'.
    """
    _, n = data.X.shape
    Q = data.ptr.size - 1
    # The different labels, and the position of each document's label
    # among them: its class.
    labels, level = np.unique(data.y, return_inverse=True)
    r = labels.size
    _refuse_large(8.0 * (r * n**2 + Q * ((n + 1) ** 2 + r * (n + 1)) + 3 * r**2), r)
    X = data.X - data.X.mean(axis=0)
    # The weight ω_cd and the preference z_cd of a pair of classes.
    weights, preferences = cost.between(labels)
    # Of each class: its documents and their sums in each query, and its
    # Gram matrix over all queries.
    counts = np.zeros((Q, r))
    sums = np.zeros((Q, r, n))
    grams = np.zeros((r, n, n))
    for q, (first, last) in enumerate(pairwise(data.ptr.tolist())):
        rows = X[first:last]
        levels = level[first:last]
        for c in np.unique(levels):
            class_rows = rows[levels == c]
            counts[q, c] = len(class_rows)
            sums[q, c] = class_rows.sum(axis=0)
            grams[c] += class_rows.T @ class_rows
    # All documents together.
    all_counts = counts.sum(axis=0)
    all_sums = sums.sum(axis=0)

    def system(class_counts: Floats, class_sums: Floats, gram: Floats) -> Floats:
        """Return the sums of products over all pairs of some documents.

        The matrix, of shape (n + 1, n + 1), has the products of the
        features and the target of ``cost``. Uses ``weights`` (C, C) and
        ``preferences`` (C, C) of pairs of classes, and ``cost`` and
        ``n`` of the enclosing function.

        Parameters
        ----------
        class_counts : ndarray of shape (C,)
            Number of documents of each class.
        class_sums : ndarray of shape (C, n)
            Sum of the features of the documents of each class.
        gram : ndarray of shape (n, n)
            sum_c d_c A_c, for the degree d_c and the Gram matrix A_c of
            class c.
        """
        joint = np.zeros((n + 1, n + 1))
        joint[:n, :n] = gram - class_sums.T @ weights @ class_sums
        # The last row and column are the products with the target; the
        # entry in the corner is not needed.
        joint[n, :n] = joint[:n, n] = (
            (weights * preferences) @ class_counts
        ) @ class_sums
        return joint * _share(cost, class_counts)

    total = system(all_counts, all_sums, np.tensordot(weights @ all_counts, grams, 1))
    left_out = np.empty((Q, n + 1, n + 1))
    # Without a query: the degrees d_c of the classes change, too, so
    # that the sum of d_c times the Gram matrix A_c is computed again.
    for q, (first, last) in enumerate(pairwise(data.ptr.tolist())):
        other_counts = all_counts - counts[q]
        degrees = weights @ other_counts
        rows = X[first:last]
        gram = (
            np.tensordot(degrees, grams, 1)
            - (rows.T * degrees[level[first:last]]) @ rows
        )
        left_out[q] = total - system(other_counts, all_sums - sums[q], gram)
    return QueryStatistics(left_out, total, data.X.shape[0])


def _share(cost: PairCost, counts: Floats) -> float:
    """Return the factor of the loss over all pairs of documents, by the weighting of ``cost``.

    ``counts`` has the number of documents with each label. The factor
    is one over the number of documents or of pairs, or
    1.
    """
    m = counts.sum()
    n_pairs = m * (m - 1) / 2 if cost.ties else (m**2 - counts @ counts) / 2
    return float(shares(cost.weighting, np.array([m]), np.array([n_pairs]))[0])


def _refuse_large(needed: float, n_labels: int) -> None:
    """Raise OutOfMemoryError if ``needed`` bytes are not free."""
    if needed > (free := memory.available()):
        raise OutOfMemoryError(
            f"Pairs across queries with {n_labels:,} labels need {memory.size(needed)} of memory, and "
            f"{memory.size(free)} are free. Use fewer labels, or only pairs within queries."
        )
