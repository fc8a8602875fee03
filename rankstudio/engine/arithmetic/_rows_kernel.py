"""Compiled products with features, relative to the first document of each query; centring, and scores.

Only the differences between the documents of a query matter. The first
row of the query is subtracted from the others as they are read, which
rounds like a centred copy of the features, and needs neither the copy's
memory nor the time to write it.
"""

from __future__ import annotations

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import kernel, reordered


@reordered
def multiply(
    X: Floats, w: Floats, ptr: Ints, first: int, last: int, out: Floats
) -> None:
    """Compute (x_i - x_f)'w for the documents i of some queries.

    Document f is the first of the query.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Documents x.
    w : ndarray of shape (n,)
        Weights.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    first, last : int
        The queries are first … last - 1.
    out : ndarray of shape (m,)
        Receives (x_i - x_f)'w for the documents i of these queries.
    """
    for q in range(first, last):
        begin = ptr[q]
        for i in range(begin, ptr[q + 1]):
            value = 0.0
            for j in range(w.size):
                value += (X[i, j] - X[begin, j]) * w[j]
            out[i] = value


@reordered
def weigh(
    X: Floats, weights: Floats, ptr: Ints, first: int, last: int, out: Floats
) -> None:
    """Compute the sum of weight_i (x_i - x_f) over the documents of some queries.

    Document f is the first of the query of document i.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        Documents x.
    weights : ndarray of shape (m,)
        Weight of each document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    first, last : int
        The queries are first … last - 1.
    out : ndarray of shape (n,)
        Receives the sum.
    """
    out[:] = 0.0
    for q in range(first, last):
        begin = ptr[q]
        end = ptr[q + 1]
        # Four documents per turn: ``out`` is read and written a quarter as often.
        end_of_fours = begin + (end - begin) // 4 * 4
        for i in range(begin, end_of_fours, 4):
            a = weights[i]
            b = weights[i + 1]
            c = weights[i + 2]
            d = weights[i + 3]
            for j in range(out.size):
                x = X[begin, j]
                out[j] += (
                    a * (X[i, j] - x)
                    + b * (X[i + 1, j] - x)
                    + c * (X[i + 2, j] - x)
                    + d * (X[i + 3, j] - x)
                )
        for i in range(end_of_fours, end):
            for j in range(out.size):
                out[j] += weights[i] * (X[i, j] - X[begin, j])


@reordered
def average(X: Floats, ptr: Ints, first: int, last: int, out: Floats) -> None:
    """Compute the mean row of each of some queries.

    The mean is that of differences from the first row, which rounds less.

    Parameters
    ----------
    X : ndarray of shape (m, n)
        One row for each document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    first, last : int
        The queries are first … last - 1.
    out : ndarray of shape (Q, n)
        Receives the mean row of each of these queries.
    """
    for q in range(first, last):
        begin = ptr[q]
        end = ptr[q + 1]
        mean = out[q]
        mean[:] = 0.0
        for i in range(begin + 1, end):
            for j in range(mean.size):
                mean[j] += X[i, j] - X[begin, j]
        for j in range(mean.size):
            mean[j] = X[begin, j] + mean[j] / (end - begin)


@reordered
def dot(a: Floats, b: Floats) -> float:
    """Return the inner product a'b of two vectors, computed on this thread.

    BLAS would wake threads of its own for each of many short products.
    """
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@kernel
def accumulate(columns: Floats, coefs: Floats, out: Floats) -> None:
    """Add the product ``coefs @ columns`` to ``out``, feature by feature.

    The compiler may not reorder sums here, so that equal documents get
    equal scores.

    Parameters
    ----------
    columns : ndarray of shape (n, m)
        Features of m documents, one feature per row.
    coefs : ndarray of shape (K, n)
        Weights, one model per row.
    out : ndarray of shape (K, m)
        Scores, to which the product is added.
    """
    for k in range(coefs.shape[0]):
        for j in range(coefs.shape[1]):
            weight = coefs[k, j]
            if weight != 0.0:
                for i in range(columns.shape[1]):
                    out[k, i] += weight * columns[j, i]


@kernel
def centre_rows(values: Floats, ptr: Ints, out: Floats, mean: Floats) -> None:
    """Centre ``values`` (m, n) inside queries, and write the result to ``out`` (m, n).

    The mean of a column in a query is subtracted from the column. Query
    q has the rows ``ptr[q]:ptr[q + 1]``. ``mean`` (n,) is scratch
    space: code that creates an array takes long to compile.
    """
    n = values.shape[1]
    for q in range(ptr.shape[0] - 1):
        first = ptr[q]
        last = ptr[q + 1]
        for j in range(n):
            mean[j] = 0.0
        for i in range(first, last):
            for j in range(n):
                # Relative to the query's first row, so that a constant
                # feature becomes exactly 0.
                out[i, j] = values[i, j] - values[first, j]
                mean[j] += out[i, j]
        for j in range(n):
            mean[j] /= last - first
        for i in range(first, last):
            for j in range(n):
                out[i, j] -= mean[j]


@reordered
def squared_distances(A: Floats, B: Floats, first: int, last: int, out: Floats) -> None:
    """Fill rows first … last - 1 of ``out`` (a, b) with ||A_i - B_j||².

    A value depends on its two documents alone, and is the same to the
    last bit if they are exchanged.

    Parameters
    ----------
    A : ndarray of shape (a, n)
        Documents A_i, one per row.
    B : ndarray of shape (b, n)
        Documents B_j, one per row.
    first, last : int
        The rows of A are first … last - 1.
    out : ndarray of shape (a, b)
        Receives the squared distances.
    """
    for i in range(first, last):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                difference = A[i, k] - B[j, k]
                total += difference * difference
            out[i, j] = total


@reordered
def inner_products(A: Floats, B: Floats, first: int, last: int, out: Floats) -> None:
    """Fill rows first … last - 1 of ``out`` (a, b) with the inner products A_i'B_j.

    A value depends on its two documents alone, and is the same to the
    last bit if they are exchanged.

    Parameters
    ----------
    A : ndarray of shape (a, n)
        Documents A_i, one per row.
    B : ndarray of shape (b, n)
        Documents B_j, one per row.
    first, last : int
        The rows of A are first … last - 1.
    out : ndarray of shape (a, b)
        Receives the inner products.
    """
    for i in range(first, last):
        for j in range(B.shape[0]):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * B[j, k]
            out[i, j] = total
