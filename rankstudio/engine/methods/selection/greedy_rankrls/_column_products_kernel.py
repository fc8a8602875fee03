"""Compiled inner loops over sparse columns, for the search that stores nothing for candidates.

``columns`` are the entries of the shifted columns (values, rows, starts
of the columns), the squared length of each column of X^, the basis (m,
1 + room) of y^ and the selected columns of X^, the query of each
document, and the starts of the queries. The products of a column are in
this order: with itself, with the labels, with the selected features. As
the basis is centred, only the column's entries are needed:

(1) x^'x^ = (|q| - n) μ² + Σ (x - μ)² over the n entries x in a query,
with the mean μ of all its documents (2) x^'b = Σ x b over the entries,
for a column b of the basis.

A query changes the error by

(3) β² v'v - 2 β e_q'v, with v the held-out residual of the candidate, as in
:mod:`_column_search_kernel` (4) β = x^'(y^ - X^_A w_q) / (x^'x^ + λ) over the
other queries' documents, in back-fitting.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Indices, Ints
from rankstudio.engine.methods.selection.greedy_rankrls._column_search_kernel import (
    State,
)
from rankstudio.engine.support.jit import fused, inlined, kernel, reordered

Columns = tuple[Floats, Indices, Indices, Floats, Floats, Ints, Ints]


@inlined
def _products_in_query(
    columns: Columns, t: int, position: int, stop: int, query_products: Floats
) -> int:
    """Write a sparse column's products in the query of the entry at ``position`` to ``query_products`` (t + 2,).

    The products are those of the column with itself, with the labels,
    and with the t selected features, all centred within the query. The
    entries of the column, sorted by row, end before ``stop``.
    ``columns`` has the sparse columns, and ``basis`` (m, > t), the
    dense labels and selected features. Return the position of the
    column's first entry in a later query.
    """
    # Labels and selected features, columns of `basis`, are centred, so
    # the column need not be: only its own square needs the mean. Rows
    # without an entry are 0, and each adds mean² to the square.
    values, rows, _, _, basis, query, ptr = columns
    q = query[rows[position]]
    first = position
    mean = 0.0
    query_products[:] = 0.0
    while position < stop and rows[position] < ptr[q + 1]:
        mean += values[position]
        for a in range(t + 1):
            query_products[a + 1] += basis[rows[position], a] * values[position]
        position += 1
    size = ptr[q + 1] - ptr[q]
    mean /= size
    # The square: mean² of the rows without an entry, (x - mean)² of the others.
    query_products[0] = (size - (position - first)) * mean * mean
    for entry in range(first, position):
        query_products[0] += (values[entry] - mean) ** 2
    return position


@kernel
def products_of_columns(columns: Columns, t: int, chosen: Ints, totals: Floats) -> None:
    """Write the products of ``chosen`` columns (c,) over all queries to ``totals`` (c, t + 2).

    The products are those of a column with itself, with the labels, and
    with the t selected features, all centred within each query.
    ``columns`` has the sparse columns, and the dense labels and
    selected features. The dense columns are centred, so a product with
    one of them needs only the sparse column's entries.
    """
    # The columns' entries, their rows and the first entry of each
    # column; the centred columns' squares; and by row, the centred
    # labels and selected features.
    values, rows, starts, squares, basis, _, _ = columns
    for c in range(chosen.shape[0]):
        j = chosen[c]
        totals[c] = 0.0
        totals[c, 0] = squares[j]
        for position in range(starts[j], starts[j + 1]):
            for a in range(t + 1):
                totals[c, a + 1] += basis[rows[position], a] * values[position]


@kernel
def products_by_query(columns: Columns, t: int, j: int, out: Floats) -> None:
    """Write the products of column ``j`` in each query to ``out`` (blocks, t + 2, width).

    The products are those of the column with itself, with the labels,
    and with the t selected features. ``columns`` has the sparse columns
    and the labels. Query q is number q % width of block q // width.
    ``out`` holds zeros before, so that queries without entries of the
    column stay 0.
    """
    # The rows of the columns' entries, the first entry of each column,
    # and the query of each row.
    rows = columns[1]
    starts = columns[2]
    query = columns[5]
    width = out.shape[2]
    query_products = np.empty(t + 2)
    position = starts[j]
    while position < starts[j + 1]:
        q = query[rows[position]]
        position = _products_in_query(
            columns, t, position, starts[j + 1], query_products
        )
        for a in range(t + 2):
            out[q // width, a, q % width] = query_products[a]


@kernel
def changes_where_absent(
    totals: Floats,
    regularization: float,
    squares: Floats,
    lengths: Floats,
    rights: Floats,
    products: Floats,
) -> None:
    """Overwrite ``squares`` (c, Q) with the change of each left-out query's error by each candidate.

    The change counts for queries in which the candidate's sparse column
    has no entries. The arrays (c, Q) are, for candidate c and the
    left-out query q:

    - ``squares``: what the selected features explain of the candidate's square;
    - ``lengths``: the square of the candidate's residual in the query;
    - ``rights``: what they explain of its product with the labels;
    - ``products``: minus its residual's product with that of the labels, in the query.

    ``totals`` (c, ≥ 2) begin with the candidate's square and its
    product with the labels over all queries. The query adds nothing to
    these, because the candidate is 0 there. ``regularization`` is λ.
    """
    for c in range(squares.shape[0]):
        for q in range(squares.shape[1]):
            # A pivot is below λ only by rounding.
            pivot = max(totals[c, 0] + regularization - squares[c, q], regularization)
            weight = (totals[c, 1] - rights[c, q]) / pivot
            # The residual e of the labels becomes e - weight times v,
            # that of the candidate. `products` is -e'v.
            squares[c, q] = weight * (weight * lengths[c, q] + 2.0 * products[c, q])


@reordered
def changes_where_present(
    columns: Columns,
    chosen: Ints,
    totals: Floats,
    p: Floats,
    regularization: float,
    inverse: Floats,
    S: Floats,
    H: Floats,
    a: Floats,
    b: Floats,
    out: Floats,
) -> None:
    """Overwrite ``out`` (c, Q) with the change of a query's error where a candidate has entries in the query.

    The error is that of the model without the query. ``chosen`` (c,) are the
    candidates' columns in ``columns``. The rows of ``totals`` (c, t + 2) are
    their products with themselves, with the labels and with the t selected
    features, over all queries. ``inverse`` (t, t) is L^-1, with LL' the
    regularised Gram matrix of the selected features; ``p`` (c, t) are the
    candidates' products with these times L^-1. ``S`` and ``H`` (Q, t, t), ``a``
    and ``b`` (Q, t) give the effect of leaving out each query, for products p
    in these coordinates: p'S p on a pivot, p'H p on the square of a residual,
    and p'a and p'b on products with labels and residual. ``regularization`` is
    λ.
    """
    # The rows of the columns' entries, the first entry of each column,
    # and the query of each row.
    rows = columns[1]
    starts = columns[2]
    query = columns[5]
    t = p.shape[1]
    query_products = np.empty(t + 2)
    # p of this query alone, and p of the other queries.
    inside = np.empty(t)
    outside = np.empty(t)
    for c in range(chosen.shape[0]):
        position = starts[chosen[c]]
        stop = starts[chosen[c] + 1]
        while position < stop:
            q = query[rows[position]]
            position = _products_in_query(columns, t, position, stop, query_products)
            # The other queries' pivot and right-hand side; this query's e'v and v'v.
            pivot = totals[c, 0] - query_products[0] + regularization
            right = totals[c, 1] - query_products[1]
            product = query_products[1]
            length = query_products[0]
            # The selected features' part in all four. The residual v is
            # the candidate minus their prediction of it. Their
            # prediction is learned from the other queries, so it
            # depends on `outside`.
            for i in range(t):
                inside[i] = 0.0
                for k in range(i + 1):
                    inside[i] += inverse[i, k] * query_products[k + 2]
                outside[i] = p[c, i] - inside[i]
                right -= outside[i] * a[q, i]
                product -= inside[i] * a[q, i] + outside[i] * b[q, i]
            for i in range(t):
                of_S = 0.0
                of_H = 0.0
                for k in range(t):
                    of_S += S[q, i, k] * outside[k]
                    of_H += H[q, i, k] * outside[k]
                pivot -= outside[i] * of_S
                length += outside[i] * of_H - 2.0 * inside[i] * of_S
            weight = right / max(pivot, regularization)
            # |e - weight v|² - |e|², with the query's residual e of the labels.
            out[c, q] = weight * (weight * length - 2.0 * product)


@fused
def held_out_models(
    t: int, state: State, columns: Columns, models: Floats, residual: Floats
) -> None:
    """Write the models of the t selected features without each query, and their residuals.

    ``models`` (Q, t) receives the weights w_q without each query q, and
    ``residual`` (m,) the labels of each query minus the predictions by
    its w_q. For each query q, ``state`` has a factor L_q of the
    equations of w_q: its inverse, and L_q'w_q, the array ``along``. The
    queries are in blocks, on the last axis. ``columns`` has the labels
    and features of the documents.
    """
    # L_q^-1 and L_q'w_q of each query; and by row, the centred labels
    # and selected features, and the query.
    inverse = state[0]
    along = state[2]
    basis = columns[4]
    query = columns[5]
    width = along.shape[2]
    # w_q = L_q^-T times `along`; query q is the i-th one of block k.
    for q in range(models.shape[0]):
        k = q // width
        i = q % width
        for a in range(t):
            models[q, a] = 0.0
            for c in range(a, t):
                models[q, a] += inverse[k, c, a, i] * along[k, c, i]
    # The labels minus the predictions; column 0 of the basis are the labels.
    for row in range(residual.shape[0]):
        residual[row] = basis[row, 0]
        for a in range(t):
            residual[row] -= basis[row, a + 1] * models[query[row], a]


@fused
def changes_by_back_fitting(
    t: int,
    chosen: Ints,
    columns: Columns,
    regularization: float,
    models: Floats,
    residual: Floats,
    out: Floats,
) -> None:
    """Write to ``out`` (c,) how much each candidate in ``chosen`` (c,) would change the criterion.

    In back-fitting, a candidate gets a weight, but those of the t
    selected features stay the same. The weights without each query are
    ``models`` (Q, t), and ``residual`` (m,) is what the models leave of
    the labels of the query. A candidate changes only the errors of
    queries in which its sparse column has entries. The weight of a
    candidate in the model without the query is r / (s + λ). Over the
    other queries, s is its square, and r its product with what the
    model leaves of the labels. ``regularization`` is λ. Other queries
    are all but the one left out.
    """
    # The columns' entries, their rows and the first entry of each
    # column; the centred columns' squares; by row, the centred labels
    # and selected features, and the query; and the first row of each
    # query.
    values, rows, starts, squares, basis, query, ptr = columns
    total = np.empty(t + 1)
    for c in range(chosen.shape[0]):
        j = chosen[c]
        # The products of the column with the labels and the selected
        # features, over all queries.
        total[:] = 0.0
        for position in range(starts[j], starts[j + 1]):
            for a in range(t + 1):
                total[a] += basis[rows[position], a] * values[position]
        # Entries are sorted by row, so those of a query are adjacent.
        change = 0.0
        position = starts[j]
        while position < starts[j + 1]:
            q = query[rows[position]]
            first = position
            mean = 0.0
            product = 0.0
            while position < starts[j + 1] and rows[position] < ptr[q + 1]:
                mean += values[position]
                product += values[position] * residual[rows[position]]
                position += 1
            size = ptr[q + 1] - ptr[q]
            mean /= size
            # The sum of squares about the mean: rows without an entry
            # are 0, so each adds mean².
            square = (size - (position - first)) * mean * mean
            for entry in range(first, position):
                square += (values[entry] - mean) ** 2
            # The new weight without the query, from the products of the other queries.
            right = total[0] - product
            for a in range(t):
                right -= total[a + 1] * models[q, a]
            weight = right / (max(squares[j] - square, 0.0) + regularization)
            # |e - weight x|² - |e|², with the residual e and the candidate x.
            change += weight * (weight * square - 2.0 * product)
        out[c] = change
