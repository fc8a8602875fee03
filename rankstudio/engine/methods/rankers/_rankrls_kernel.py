"""Compiled inner loops of RankRLS's leave-query-out cross-validation.

T is the Gram matrix of all rows of X^ with the labels y^ as last column, G_q that of the rows of query q.

(1) (T - G_q + λI) w = (T - G_q)[:, y] for the model without q. O(n³) for a query.

With X^'X^ = U diag(e) U', V = X^_q U diag(1 / √(e + λ)) and the residuals r_q = y^_q - X^_q w of the
model of all queries:

(2) e_q = (I - VV')^-1 r_q, the residuals of the model without q: |q| unknowns; or
(3) e_q = r_q + V (I - V'V)^-1 V'r_q: n unknowns.

The smaller system is solved, O(|q|² n + |q|³) or O(|q| n² + n³). Both are positive definite, and no pivot is
below λ / (λ + the greatest e), but for rounding.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import fused, fused_inlined


@fused_inlined
def _eliminate(left: Floats, right: Floats, smallest: float) -> None:
    """Turn the upper triangle of ``left`` into DL', and ``right`` with it, four pivots at a time.

    By rows, so that the innermost loop runs over contiguous memory, and by fours, so that each row is read
    and written a quarter as often.
    """
    n = left.shape[0]
    for top in range(0, n, 4):
        below = min(top + 4, n)
        for i in range(top, below):
            # Pivots of a positive semidefinite matrix plus λI are at least λ, up to rounding.
            left[i, i] = max(left[i, i], smallest)
            for r in range(i + 1, below):
                factor = left[i, r] / left[i, i]
                right[r] -= factor * right[i]
                for j in range(r, n):
                    left[r, j] -= factor * left[i, j]
        for r in range(below, n):
            a = left[top, r] / left[top, top]
            b = left[top + 1, r] / left[top + 1, top + 1]
            c = left[top + 2, r] / left[top + 2, top + 2]
            d = left[top + 3, r] / left[top + 3, top + 3]
            right[r] -= a * right[top] + b * right[top + 1] + c * right[top + 2] + d * right[top + 3]
            for j in range(r, n):
                left[r, j] -= (
                    a * left[top, j] + b * left[top + 1, j] + c * left[top + 2, j] + d * left[top + 3, j]
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
    """Learn without each of the queries first … last - 1.

    Solves (1) by LDL' without square roots.
    """
    n = total.shape[0] - 1
    left = np.empty((n, n))
    right = np.empty(n)
    for q in range(first, last):
        for i in range(n):
            right[i] = total[i, n] - gram[q, i, n]
            for j in range(i, n):
                left[i, j] = total[i, j] - gram[q, i, j]
            left[i, i] += regularization
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

    Queries whose smaller side is more than ``max_size`` are passed over.

    ``rows`` are X^U, ``root`` is 1 / √(e + λ), ``residuals`` are r, and ``smallest`` is the bound of pivots.
    """
    n = root.shape[0]
    for q in range(first, last):
        begin = ptr[q]
        size = ptr[q + 1] - ptr[q]
        if min(size, n) > max_size:
            continue
        by_documents = size <= n
        width, terms = (size, n) if by_documents else (n, size)
        # By rows of what is summed over, so that the innermost loop runs over contiguous memory.
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
        # Of (2) or (3), whose right-hand sides are r_q or V'r_q.
        left = np.zeros((width, width))
        for i in range(width):
            left[i, i] = 1.0
        _subtract_products(parts, left)
        _eliminate(left, right, smallest)
        for i in range(width - 1, -1, -1):
            value = right[i]
            for j in range(i + 1, width):
                value -= left[i, j] * right[j]
            right[i] = value / left[i, i]
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
    """Subtract the sum of the outer products of rows, four at a time, from a matrix's upper triangle."""
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
                    a * parts[r, j] + b * parts[r + 1, j] + c * parts[r + 2, j] + d * parts[r + 3, j]
                )
    for r in range(n_unrolled, terms):
        for i in range(width):
            a = parts[r, i]
            for j in range(i, width):
                matrix[i, j] -= a * parts[r, j]
