"""Work in blocks, for calls that hold the interpreter lock and so would block a window.

NumPy releases the lock while it computes, except in ``reduceat``,
``accumulate`` and ``repeat`` along an axis of a matrix. SciPy's LAPACK
never releases it. Between two blocks other threads can run.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from rankstudio.engine.arrays import Floats, Ints

VALUES = 1 << 20
"""Approximate number of values in a block of a matrix: a few milliseconds of work."""

_MAX_PRODUCTS = 1 << 26  # multiplications per call of LAPACK
_MIN_COLUMNS = 16  # with fewer, reading the factor takes longer than computing


def group_blocks(ptr: Ints, width: int) -> Iterator[tuple[int, int]]:
    """Yield the first group of each block of whole groups of rows, and the group after its last.

    Rows are in consecutive groups, such as the documents of queries. A
    block has whole groups, as many as fit into a limited number of
    values.

    Parameters
    ----------
    ptr : ndarray of shape (groups + 1,)
        Group g has the rows ``ptr[g]:ptr[g + 1]``.
    width : int
        Number of columns of the matrix.
    """
    rows = max(1, VALUES // max(1, width))
    begins = np.searchsorted(ptr, np.arange(ptr[0], ptr[-1], rows))
    # A row inside the last group gives the end of the group; unique()
    # removes the repetition.
    yield from pairwise(np.unique(np.append(begins, ptr.size - 1)).tolist())


def solve_lower(factor: Floats, right: Floats) -> Floats:
    """Solve L X = B for a lower triangular matrix L, and return X = L⁻¹ B.

    Columns are solved in groups, so that no call takes long.

    Parameters
    ----------
    factor : ndarray of shape (n, n)
        The lower triangular matrix L.
    right : ndarray of shape (n, c)
        The right-hand sides B.

    Returns
    -------
    ndarray of shape (n, c)
        X, stored by columns (Fortran order).

    Notes
    -----
    O(n²c).
    """
    from scipy.linalg import solve_triangular  # noqa: PLC0415 - where it is needed

    out = np.empty(right.shape, order="F")
    step = max(_MIN_COLUMNS, _MAX_PRODUCTS // max(1, factor.shape[0] ** 2))
    for first in range(0, right.shape[1], step):
        part = slice(first, first + step)
        out[:, part] = solve_triangular(
            factor, right[:, part], lower=True, check_finite=False
        )
    return out
