"""The magnitudes of features that the arithmetic of the methods supports, and the check for them.

The highest powers of a feature's values that the methods form are sixth
powers: the squared length of a Hessian X'X times a gradient X'r, in the
conjugate gradients of a Newton step. With values of at most b that
differ by at least d inside some query, or not at all, these powers lie
between d⁶ and (2b)⁶. Doubles are normal from 2e-308 to 2e308, so b =
1e30 and d = 1e-30 leave a factor of 1e126 on either side, for sums over
documents, features and pairs and for the weights λ and C. Gram matrices
and sums of squares need less.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.file_pages import release

GREATEST = 1e30
"""Maximum absolute value of a feature."""
LEAST_DIFFERENCE = 1e-30
"""Minimum of a feature's largest difference inside a query, unless the feature is constant in each query."""


def column_name(column: int) -> str:
    """Return the name of a feature of which only the column is known."""
    return f"column {column}"


def check_magnitudes(
    low: Floats,
    high: Floats,
    difference: Floats,
    name: Callable[[int], str] = column_name,
) -> None:
    """Raise DatasetError for the first feature that exceeds the range of the arithmetic.

    Parameters
    ----------
    low, high : ndarray of shape (n,)
        Smallest and largest value of each feature.
    difference : ndarray of shape (n,)
        Largest difference within a query.
    name : callable
        Returns the name of a feature from its 0-based column.
    """
    # Squares of great values overflow, and products of small differences vanish.
    too_great = np.maximum(high, -low) > GREATEST
    bad = too_great | ((difference > 0) & (difference < LEAST_DIFFERENCE))
    if not bad.any():
        return
    column = int(np.argmax(bad))
    if too_great[column]:
        expected = f"values from {-GREATEST:g} to {GREATEST:g}"
    else:
        expected = f"differences of at least {LEAST_DIFFERENCE:g} inside some query, or none at all"
    raise DatasetError(
        f"Values of {name(column)}: expected {expected}, found values from {low[column]:g} to "
        f"{high[column]:g}; their products exceed the floating-point range. Scale the feature."
    )


def check_rows(X: Floats, ptr: Ints, name: Callable[[int], str] = column_name) -> None:
    """Raise DatasetError if the numbers of a feature are too great or too close for the arithmetic.

    X has shape (m, n), and query q the rows ``ptr[q]:ptr[q + 1]``.
    ``name`` returns the name of a feature, for the message. O(mn).

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import check_rows
    >>> check_rows(np.eye(2), np.array([0, 2]))  # raises DatasetError for numbers whose squares overflow
    """
    n = X.shape[1]
    # Of each feature: its range over all documents, and the largest
    # difference of neighboring documents of a query. That difference is
    # 0 for a feature that is constant in each query, and otherwise a
    # lower bound of its range inside a query.
    low = np.full(n, np.inf)
    high = np.full(n, -np.inf)
    difference = np.zeros(n)
    # Blocks of queries, so that data in a file are read once and released.
    for first, last in group_blocks(ptr, n):
        rows = X[ptr[first] : ptr[last]]
        np.minimum(low, rows.min(axis=0), out=low)
        np.maximum(high, rows.max(axis=0), out=high)
        begins = ptr[first:last] - ptr[first]
        np.maximum(difference, _neighbor_differences(rows, begins), out=difference)
        release(rows)
    # Where that bound is too small, compute the range itself.
    is_small = (difference > 0) & (difference < LEAST_DIFFERENCE)
    if is_small.any():
        difference[is_small] = _query_ranges(X[:, is_small], ptr)
    check_magnitudes(low, high, difference, name)


def _neighbor_differences(rows: Floats, begins: Ints) -> Floats:
    """Return each feature's largest absolute difference between neighbours in a query, shape (n,).

    Neighbours are documents that follow each other in ``rows`` (m, n);
    row ``begins[q]`` is the first of query q.
    """
    # values whose difference overflows are refused by their magnitude
    with np.errstate(over="ignore"):
        differences = np.abs(rows[1:] - rows[:-1])
    # Two documents of different queries do not count.
    differences[begins[1:] - 1] = 0.0
    largest: Floats = differences.max(axis=0, initial=0.0)
    return largest


def _query_ranges(X: Floats, ptr: Ints) -> Floats:
    """Return each feature's largest range (greatest minus least value) inside a query, shape (n,).

    X has shape (m, n), and query q the rows ``ptr[q]:ptr[q +
    1]``.
    """
    highs = np.maximum.reduceat(X, ptr[:-1])
    lows = np.minimum.reduceat(X, ptr[:-1])
    ranges: Floats = (highs - lows).max(axis=0)
    return ranges
