"""Compiled inner loops of RankRLS's leave-query-out cross-validation.

T is the Gram matrix of all rows of X^ with the labels y^ as last
column, G_q that of the rows of query q.

(1) (T - G_q + λI) w = (T - G_q)[:, y] gives the weights w of the model without q: O(n³) for a query.

With X^'X^ = U diag(e) U', V = X^_q U diag(1 / √(e + λ)) and the
residuals r_q = y^_q - X^_q w of the model of all queries:

(2) e_q = (I - VV')^-1 r_q, the residuals of the model without q: |q|
unknowns; or (3) e_q = r_q + V (I - V'V)^-1 V'r_q: n unknowns.

The smaller system is solved, O(|q|² n + |q|³) or O(|q| n² + n³). Both
are positive definite, and a pivot is below λ / (λ + the greatest e)
only by rounding.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import fused, fused_inlined


@fused_inlined
def _eliminate(left: Floats, right: Floats, smallest: float) -> None:
    """Eliminate the unknowns of a symmetric system ``left`` x = ``right``, in place.

    This is Gaussian elimination. ``left`` (n, n) = LDL', with L lower
    triangular and D diagonal: its upper triangle becomes DL', and
    ``right`` (n,) becomes L^-1 ``right``. A backward substitution then
    solves the system. Pivots, the entries of D, are at least
    ``smallest``; smaller ones are raised to it.

    The innermost loop runs over a row, which is contiguous memory. Four
    pivots are eliminated at a time, so that each row is read and
    written a quarter as often.
    """
    n = left.shape[0]
    for top in range(0, n, 4):
        below = min(top + 4, n)
        # The rows of the four pivots themselves.
        for i in range(top, below):
            # Pivots of a positive semidefinite matrix plus λI are at
            # least λ, up to rounding.
            left[i, i] = max(left[i, i], smallest)
            for r in range(i + 1, below):
                factor = left[i, r] / left[i, i]
                right[r] -= factor * right[i]
                for j in range(r, n):
                    left[r, j] -= factor * left[i, j]
        # The rows below, from which the four are subtracted at once;
        # there are such rows only if top + 4 < n.
        for r in range(below, n):
            a = left[top, r] / left[top, top]
            b = left[top + 1, r] / left[top + 1, top + 1]
            c = left[top + 2, r] / left[top + 2, top + 2]
            d = left[top + 3, r] / left[top + 3, top + 3]
            right[r] -= (
                a * right[top]
                + b * right[top + 1]
                + c * right[top + 2]
                + d * right[top + 3]
            )
            for j in range(r, n):
                left[r, j] -= (
                    a * left[top, j]
                    + b * left[top + 1, j]
                    + c * left[top + 2, j]
                    + d * left[top + 3, j]
                )


@fused
def leave_out(
    gram: Floats,
    total: Floats,
    regularization: float,
    first: int,
    last: int,
    weights: Floats,
) -> None:
    """Write the weights of the models without each of the queries first … last - 1 to ``weights`` (Q, n).

    ``gram`` (Q, n + 1, n + 1) are the products of features and labels
    of each query, labels last, and ``total`` (n + 1, n + 1) their sum
    over the queries. For each query, the ridge regression on all others
    is solved, with the regularization λ.
    """
    n = total.shape[0] - 1
    left = np.empty((n, n))
    right = np.empty(n)
    for q in range(first, last):
        # The system without query q; only the upper triangle is used.
        for i in range(n):
            right[i] = total[i, n] - gram[q, i, n]
            for j in range(i, n):
                left[i, j] = total[i, j] - gram[q, i, j]
            left[i, i] += regularization
        # The elimination, and the backward substitution.
        _eliminate(left, right, regularization)
        for i in range(n - 1, -1, -1):
            value = right[i]
            for j in range(i + 1, n):
                value -= left[i, j] * weights[q, j]
            weights[q, i] = value / left[i, i]


@fused
def left_out_errors(
    rows: Floats,
    residuals: Floats,
    ptr: Ints,
    root: Floats,
    smallest: float,
    max_size: int,
    first: int,
    last: int,
    errors: Floats,
) -> None:
    """Write the squared errors of queries first … last - 1, each left out of the model, to ``errors`` (Q,).

    The residuals e_q of a query q that is left out follow from its
    residuals r_q in the model of all queries, with V (|q|, n) the
    scaled rows of the query:

    (2) e_q = (I - VV')^-1 r_q, with an unknown per document; or (3) e_q
    = r_q + V (I - V'V)^-1 V'r_q, with an unknown per eigenvector.

    The smaller system is solved. Queries with more than ``max_size``
    unknowns in both are skipped.

    ``rows`` (m, n) are the centred features in the basis of the
    eigenvectors of their products, ``root`` (n,) is 1 / √(e + λ) with
    the eigenvalues e, and V are rows times ``root``. ``residuals`` (m,)
    are those of the model of all queries. Pivots of the elimination are
    at least ``smallest``, but for rounding. Query q has the rows ptr[q]
    to ptr[q + 1] - 1.
    """
    n = root.shape[0]
    for q in range(first, last):
        begin = ptr[q]
        size = ptr[q + 1] - ptr[q]
        if min(size, n) > max_size:
            continue
        # The smaller system: (2) has an unknown per document, (3) one per eigenvector.
        by_documents = size <= n
        width, terms = (size, n) if by_documents else (n, size)
        # parts is V' for (2), and V for (3). In both cases, the matrix
        # of the system is I minus the sum of the outer products of the
        # rows of parts.
        parts = np.empty((terms, width))
        right = np.zeros(width)
        for i in range(size):
            for f in range(n):
                value = rows[begin + i, f] * root[f]
                if by_documents:
                    parts[f, i] = value
                else:
                    parts[i, f] = value
                    right[f] += value * residuals[begin + i]
            if by_documents:
                right[i] = residuals[begin + i]
        # The system of (2) or (3), whose right-hand side is r_q or V'r_q.
        left = np.zeros((width, width))
        for i in range(width):
            left[i, i] = 1.0
        _subtract_products(parts, left)
        _eliminate(left, right, smallest)
        # The backward substitution; `right` becomes the solution.
        for i in range(width - 1, -1, -1):
            value = right[i]
            for j in range(i + 1, width):
                value -= left[i, j] * right[j]
            right[i] = value / left[i, i]
        # The solution of (2) has the errors themselves; from that of (3), they are r_q + V times it.
        error = 0.0
        for i in range(size):
            value = right[i] if by_documents else residuals[begin + i]
            if not by_documents:  # (3)
                for f in range(n):
                    value += parts[i, f] * right[f]
            error += value * value
        errors[q] = error


@fused_inlined
def _subtract_products(parts: Floats, matrix: Floats) -> None:
    """Subtract the sum of the outer products of rows from a matrix's upper triangle.

    ``parts`` (terms, width) has the rows, and ``matrix`` is (width,
    width). Four rows are processed at a time, so that the matrix is
    read and written a quarter as often.
    """
    terms, width = parts.shape
    n_unrolled = terms - terms % 4
    for r in range(0, n_unrolled, 4):
        for i in range(width):
            a = parts[r, i]
            b = parts[r + 1, i]
            c = parts[r + 2, i]
            d = parts[r + 3, i]
            for j in range(i, width):
                matrix[i, j] -= (
                    a * parts[r, j]
                    + b * parts[r + 1, j]
                    + c * parts[r + 2, j]
                    + d * parts[r + 3, j]
                )
    for r in range(n_unrolled, terms):
        for i in range(width):
            a = parts[r, i]
            for j in range(i, width):
                matrix[i, j] -= a * parts[r, j]
