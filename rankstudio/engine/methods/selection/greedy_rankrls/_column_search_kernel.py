"""Compiled inner loops of leave-query-out errors for one candidate at a time; nothing is stored for it.

For a held-out query q let A be the selected features, T_q the
statistics of the other queries and L_q L_q' = T_q[A, A] + λI. The
columns u_a of U = X^_q[:, A] L_q^-T are the held-out features in
coordinates in which the regularised Gram matrix of the other queries is
the identity, and e_q is the residual of q's labels. The state of each
query is

    inverse[a, c] = L_q^-1             inner[a, c] = u_a'u_c, both for c <= a
    along[a] = (L_q^-1 T_q[A, y])_a    label_products[a] = u_a'y^_q
    error[t] = e_q'e_q for t features  residual_products[a] = u_a'e_q

Each selected feature appends a row to all of these, and changes the
earlier ``residual_products``; to forget the last features, only these
are computed again. For a candidate j, with f = L_q^-1 X^_q[:,
A]'X^_q[:, j],

(1) p = L_q^-1 T_q[A, j] (2) s = T_q[j, j] + λ - p'p ≥ λ, the pivot, and β = (T_q[j, y]
- p'along) / s, the weight (3) v = X^_q[:, j] - U p, the residualised held-out feature:
u_a'v = f_a - (U'U p)_a,
    v'v = x'x - 2 p'f + p'U'U p and e_q'v = x'y^ - f'along - p'residual_products
(4) the error changes by β² v'v - 2 β e_q'v: O(t²) for a query.

Removing the a-th selected feature changes the error by

(5) η² x'x + 2 η e_q'x, with x = U (L_q^-1)[:, a] and η its weight over the a-th diagonal entry of
    (T_q[A, A] + λI)^-1.

The products of j are in this order: with itself, with the labels, with
the selected features; ``query_products`` are those in the held-out
query, ``total`` those over all queries. As in
:mod:`_statistics_kernel`, the last axis is the queries of a block, and
the last block is padded with queries without documents.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import fused, fused_inlined

State = tuple[Floats, Floats, Floats, Floats, Floats, Floats]
"""inverse, inner, along, label_products, residual_products and error, with blocks first and BLOCK last."""

BLOCK = 32
"""Queries in a block."""


@fused_inlined
def _add_products(rows: Floats, other_rows: Floats, count: int, out: Floats) -> None:
    """Add the products of the first ``count`` rows of two arrays (…, BLOCK) to ``out`` (BLOCK,).

    The last axis is the queries of a block, each by itself. Two rows
    are added at a time, so that ``out`` is read and written half as
    often. ``rows`` and ``other_rows`` are these arrays.
    """
    odd = count % 2
    for c in range(odd):
        for i in range(BLOCK):
            out[i] += rows[c, i] * other_rows[c, i]
    for c in range(odd, count, 2):
        for i in range(BLOCK):
            out[i] += (
                rows[c, i] * other_rows[c, i] + rows[c + 1, i] * other_rows[c + 1, i]
            )


@fused_inlined
def _project(matrix: Floats, t: int, vectors: Floats, out: Floats) -> None:
    """Write a lower triangle (t, t, BLOCK) times vectors (t, BLOCK) to ``out`` (t, BLOCK).

    ``matrix`` is the triangle. Queries are in blocks of
    ``BLOCK``.
    """
    for a in range(t):
        out[a] = 0.0
        _add_products(matrix[a], vectors, a + 1, out[a])


@fused_inlined
def _add_row(row: Floats, vector: Floats, count: int, out: Floats) -> None:
    """Add the first ``count`` entries of a row (…, BLOCK) times a vector (BLOCK,) to ``out`` (…, BLOCK)."""
    for c in range(count):
        for i in range(BLOCK):
            out[c, i] += row[c, i] * vector[i]


@fused_inlined
def _times_symmetric(matrix: Floats, t: int, vectors: Floats, out: Floats) -> None:
    """Write a symmetric matrix times vectors (t, BLOCK) to ``out`` (t, BLOCK).

    ``matrix`` (t, t, BLOCK) has its lower triangle. Queries are in blocks of
    ``BLOCK``.
    """
    _project(matrix, t, vectors, out)
    for a in range(1, t):
        _add_row(matrix[a], vectors[a], a, out)


@fused_inlined
def _products_of_others(
    query_products: Floats, total: Floats, t: int, out: Floats
) -> None:
    """Write a feature's products with the t selected ones over all other queries to ``out`` (t, BLOCK).

    The result is ``total`` (t + 2,), the products over all queries,
    minus ``query_products`` (t + 2, BLOCK), those in the held-out
    query. Both arrays begin with the feature's products with itself and
    with the labels. Other queries are all but the one left out. Queries
    are in blocks of ``BLOCK``.
    """
    # The first two products are those with itself and with the labels.
    for c in range(t):
        for i in range(BLOCK):
            out[c, i] = total[c + 2] - query_products[c + 2, i]


@fused
def append(
    t: int,
    query_products: Floats,
    total: Floats,
    regularization: float,
    first: int,
    last: int,
    state: State,
) -> None:
    """Append a selected feature to the leave-query-out models, in the blocks of queries first … last - 1.

    ``state`` has the models of the t earlier features, one per query.
    All of its arrays are updated: each gets a row for the new feature.
    ``query_products`` (blocks, t + 2, BLOCK) are the feature's products
    with itself, with the labels and with the earlier features in each
    query, and ``total`` (t + 2,) these over all queries.
    ``regularization`` is λ. Queries are in blocks of ``BLOCK``.
    """
    # For each held-out query q, L_q^-1 is in the state. L_q L_q' = T_q
    # + λI, where T_q has the products of the earlier features with each
    # other, over the other queries.
    inverse = state[0]
    # p is L_q^-1 times the products of the new feature with the earlier
    # ones over the other queries. f is L_q^-1 times its products with
    # them in query q.
    p = np.empty((t, BLOCK))
    f = np.empty((t, BLOCK))
    spare = np.empty((t, BLOCK))
    inverse_root = np.empty(BLOCK)
    for k in range(first, last):
        _products_of_others(query_products[k], total, t, spare)
        _project(inverse[k], t, spare, p)
        _project(inverse[k], t, query_products[k, 2:], f)
        # First the arrays of the other queries, `inverse` and `along`;
        # then those of the held-out query.
        _append_to_factor(
            k, t, query_products[k], total, regularization, state, p, inverse_root
        )
        _append_held_out(k, t, query_products[k], state, p, f, inverse_root, spare)


@fused_inlined
def _append_to_factor(
    k: int,
    t: int,
    query_products: Floats,
    total: Floats,
    regularization: float,
    state: State,
    p: Floats,
    inverse_root: Floats,
) -> None:
    """Add a row for the new feature to ``inverse`` and ``along`` of the ``state`` of block k.

    Also write s^(-1/2) to ``inverse_root`` (BLOCK,). The pivot s of the
    new feature is what remains of its square over the other queries
    after the t earlier features, plus λ. ``query_products`` (t + 2,
    BLOCK) are its products in the held-out query, and ``total`` (t +
    2,) those over all queries: with itself, with the labels and with
    the earlier features. ``p`` (t, BLOCK) are L_q^-1 times its products
    with these over the other queries, where L_q is the factor so far.
    ``regularization`` is λ. Other queries are all but the one left out.
    Queries are in blocks of ``BLOCK``.
    """
    # Without each query: the inverse factor of the selected features'
    # system, and the solution of the forward substitution.
    inverse, _, along, _, _, _ = state
    # The pivot s: the feature's square plus λ, minus p'p. And the new
    # number of the forward substitution, `along`.
    for i in range(BLOCK):
        inverse_root[i] = total[0] - query_products[0, i] + regularization
        along[k, t, i] = total[1] - query_products[1, i]
    for a in range(t):
        for i in range(BLOCK):
            inverse_root[i] -= p[a, i] * p[a, i]
            along[k, t, i] -= p[a, i] * along[k, a, i]
    for i in range(BLOCK):
        # A pivot of a positive semidefinite matrix plus λI is at least
        # λ, up to rounding.
        inverse_root[i] = 1.0 / np.sqrt(max(inverse_root[i], regularization))
        along[k, t, i] *= inverse_root[i]
        inverse[k, t, t, i] = inverse_root[i]
    # The new row of L_q^-1 is -p'L_q^-1, divided by the root of the pivot.
    row = inverse[k, t]
    row[:t] = 0.0
    for a in range(t):
        _add_row(inverse[k, a], p[a], a + 1, row)
    for a in range(t):
        for i in range(BLOCK):
            row[a, i] *= -inverse_root[i]


@fused_inlined
def _append_held_out(
    k: int,
    t: int,
    query_products: Floats,
    state: State,
    p: Floats,
    f: Floats,
    inverse_root: Floats,
    spare: Floats,
) -> None:
    """Add the new feature to what ``state`` has about the held-out queries of block k.

    The arrays to update are ``inner``, ``label_products``,
    ``residual_products`` and ``error``. ``p`` and ``f`` (t, BLOCK) are the
    products of the new feature with the t earlier ones, over the other queries
    and in the held-out query, times the inverse factor; ``spare`` (t, BLOCK) is
    work space. ``query_products`` (t + 2, BLOCK) are the feature's products in
    the held-out query, and ``inverse_root`` (BLOCK,) is 1 over the root of the
    pivot. Let U be the held-out documents of the earlier features in these
    coordinates, and x those of the new one. The residual of the new feature is
    v = x - U p; divided by the root of the pivot, it is the new column of U.
    Other queries are all but the one left out. Queries are in blocks of
    ``BLOCK``.
    """
    # The selected features in the held-out query, in the factor's
    # coordinates: products with each other, the solution, and products
    # with labels and residual; the error.
    _, inner, along, label_products, residual_products, error = state
    _times_symmetric(inner[k], t, p, spare)  # U'U p
    # The new row of `inner` and its diagonal entry v'v, then v'y^.
    for i in range(BLOCK):
        inner[k, t, t, i] = query_products[0, i]
        label_products[k, t, i] = query_products[1, i]
    for a in range(t):
        for i in range(BLOCK):
            inner[k, t, a, i] = (f[a, i] - spare[a, i]) * inverse_root[i]
            inner[k, t, t, i] += p[a, i] * (spare[a, i] - 2.0 * f[a, i])
            label_products[k, t, i] -= p[a, i] * label_products[k, a, i]
    # Divided by the root of the pivot: twice for v'v.
    for i in range(BLOCK):
        inner[k, t, t, i] *= inverse_root[i] * inverse_root[i]
        label_products[k, t, i] *= inverse_root[i]
        residual_products[k, t, i] = label_products[k, t, i]
    # The residual's products with the new column, and their changes
    # with the earlier ones.
    for a in range(t):
        for i in range(BLOCK):
            residual_products[k, t, i] -= inner[k, t, a, i] * along[k, a, i]
            residual_products[k, a, i] -= along[k, t, i] * inner[k, t, a, i]
    # The residual e becomes e - weight times the new column: the change
    # of its square, and of its product with this column.
    for i in range(BLOCK):
        weight = along[k, t, i]
        length = inner[k, t, t, i]
        error[k, t + 1, i] = error[k, t, i] + weight * (
            weight * length - 2.0 * residual_products[k, t, i]
        )
        residual_products[k, t, i] -= weight * length


@fused_inlined
def _change(
    k: int,
    t: int,
    query_products: Floats,
    total: Floats,
    regularization: float,
    state: State,
    work: Floats,
) -> float:
    """Return how much a candidate changes the leave-query-out error, summed over the queries of block k.

    In each query, the candidate with residual v and weight β changes
    the error by β² v'v - 2 β e'v, with the residual e of the t selected
    features. ``query_products`` (t + 2, BLOCK) and ``total`` (t + 2,)
    are its products in the held-out query and over all queries: with
    itself, with the labels, and with the selected features. ``state``
    has the models of the selected features without each query, and
    ``work`` (2 t + 5, BLOCK) is work space. ``regularization`` is λ.
    Queries are in blocks of ``BLOCK``.
    """
    # The inverse factor of the other queries; and in its coordinates,
    # the held-out features' products with each other, the solution, and
    # products with the residual.
    inverse, inner, along, _, residual_products, _ = state
    vector = work[:t]
    p = work[t : 2 * t]
    terms = work[2 * t :]
    # The terms are the pivot and the right-hand side, whose quotient is
    # β; e'v and v'v; and half of a row of `inner` times p. They begin
    # with the candidate itself. Then the parts of the selected features
    # are subtracted.
    _products_of_others(query_products, total, t, vector)
    for i in range(BLOCK):
        terms[0, i] = total[0] - query_products[0, i] + regularization
        terms[1, i] = total[1] - query_products[1, i]
        terms[2, i] = query_products[1, i]
        terms[3, i] = query_products[0, i]
    _project(inverse[k], t, vector, p)
    for a in range(t):
        for i in range(BLOCK):
            terms[4, i] = 0.5 * inner[k, a, a, i] * p[a, i]
        _add_products(inner[k, a], p, a, terms[4])
        for i in range(BLOCK):
            terms[0, i] -= p[a, i] * p[a, i]
            terms[1, i] -= p[a, i] * along[k, a, i]
            terms[2, i] -= p[a, i] * residual_products[k, a, i]
            terms[3, i] += 2.0 * p[a, i] * terms[4, i]
    # From here on, `vector` has the products in the held-out query, in
    # the coordinates of the factor.
    _project(inverse[k], t, query_products[2:], vector)
    for a in range(t):
        for i in range(BLOCK):
            terms[2, i] -= vector[a, i] * along[k, a, i]
            terms[3, i] -= 2.0 * vector[a, i] * p[a, i]
    change: float = 0.0
    for i in range(BLOCK):
        weight = terms[1, i] / max(terms[0, i], regularization)
        change += weight * (weight * terms[3, i] - 2.0 * terms[2, i])
    return change


@fused
def forget(t: int, state: State) -> None:
    """Go back to the model of the first t features, by recomputing ``residual_products`` of ``state``.

    The array has the products of the features with the held-out
    residual of that model: the products with the labels minus those
    with the predictions. The other arrays of ``state`` need no change,
    because later features only added rows.
    """
    # In the factor's coordinates: the features' products with each
    # other, the solution, and the products with labels and residual.
    _, inner, along, label_products, residual_products, _ = state
    model_products = np.empty((t, BLOCK))
    for k in range(inner.shape[0]):
        _times_symmetric(inner[k], t, along[k], model_products)
        for a in range(t):
            for i in range(BLOCK):
                residual_products[k, a, i] = (
                    label_products[k, a, i] - model_products[a, i]
                )


@fused
def removals(t: int, first: int, last: int, state: State, partial: Floats) -> None:
    """Write the change of the error without each of the t selected features to ``partial`` (blocks, t).

    The change is summed over the queries of each of the blocks first … last -
    1. In a query, removing the feature moves the predictions by -η along a
    direction x, and changes the error by η² x'x + 2 η e'x, with the
    residual e of the labels. x is U times a column of the inverse
    factor, where U are the held-out features in its coordinates.
    ``state`` has the models of the t features without each query.
    """
    # The inverse factor of the other queries; and in its coordinates,
    # the held-out features' products with each other, the solution, and
    # products with the residual.
    inverse, inner, along, _, residual_products, _ = state
    column = np.empty((t, BLOCK))
    # Of a feature: its diagonal entry, its weight, e'x, x'x, and a row
    # of the lower triangle of `inner`, U'U, times the column. x'x is
    # the quadratic form of U'U: each row counts twice, with half of its
    # diagonal entry.
    work = np.empty((5, BLOCK))
    for k in range(first, last):
        for b in range(t):
            # Column b of L_q^-1, which is 0 above the diagonal.
            for a in range(b, t):
                for i in range(BLOCK):
                    column[a - b, i] = inverse[k, a, b, i]
            work[:] = 0.0
            for a in range(b, t):
                for i in range(BLOCK):
                    work[4, i] = 0.5 * inner[k, a, a, i] * column[a - b, i]
                _add_products(inner[k, a, b:], column, a - b, work[4])
                for i in range(BLOCK):
                    entry = column[a - b, i]
                    work[0, i] += entry * entry
                    work[1, i] += entry * along[k, a, i]
                    work[2, i] += entry * residual_products[k, a, i]
                    work[3, i] += 2.0 * entry * work[4, i]
            change = 0.0
            for i in range(BLOCK):
                # η is the feature's weight over its diagonal entry of
                # the inverse of the other queries' regularised Gram
                # matrix.
                step = work[1, i] / work[0, i]
                change += step * (step * work[3, i] + 2.0 * work[2, i])
            partial[k, b] = change


@fused
def changes_by_statistics(
    index: Ints,
    chosen: Ints,
    gram: Floats,
    totals: Floats,
    regularization: float,
    state: State,
    out: Floats,
) -> None:
    """Write how much each chosen candidate would change the leave-query-out error, from Gram matrices.

    ``chosen`` and ``out`` (c,) are the candidates' columns and the
    changes. ``gram`` (blocks, n + 1, n + 1, BLOCK) has the matrix of
    each query, of features and labels. ``index`` (t + 1,) has the
    column of the labels, then the columns of the t selected features.
    ``totals`` (c, t + 2) are the candidates' products over all queries,
    with themselves and with these columns. ``state`` has the models
    without each query. ``regularization`` is λ. Queries are in blocks
    of ``BLOCK``.
    """
    t = index.shape[0] - 1
    work = np.empty((2 * t + 5, BLOCK))
    query_products = np.empty((t + 2, BLOCK))
    for c in range(chosen.shape[0]):
        out[c] = 0.0
    for k in range(gram.shape[0]):
        for c in range(chosen.shape[0]):
            j = chosen[c]
            for i in range(BLOCK):
                query_products[0, i] = gram[k, j, j, i]
            for a in range(t + 1):
                for i in range(BLOCK):
                    query_products[a + 1, i] = gram[k, index[a], j, i]
            out[c] += _change(
                k, t, query_products, totals[c], regularization, state, work
            )
