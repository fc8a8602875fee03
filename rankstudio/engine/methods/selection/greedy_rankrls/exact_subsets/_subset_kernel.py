"""Compiled branch and bound over sets of features, from the totals T and t of the centred data.

For a set S with A = T[S, S] + λI and w = A^-1 t[S], the training error is

    L(S) = sum_q ||e_q||² = J(S) - λ w'w,    J(S) = y'y - t[S]'w,                                     (1)

and the leave-query-out error sum_q ||(I - H_q)^-1 e_q||² (Pahikkala et
al. 2010, theorem 3.1) is at least L(S), because 0 <= H_q < I. A prefix
P of t features keeps for every feature j, with L L' = T[P, P] + λI,

    p_j = L^-1 T[P, j]    z_j = L^-T p_j    s_j = T[j, j] + λ - p_j'p_j    g_j = t_j - p_j'L^-1 t[P]
    q_j = z_j'z_j         h_j = w'z_j                                                                  (2)

so that L(P + j) takes O(1): with β = g_j / s_j the weights are [w - β
z_j; β]. To append feature b takes two products of length t for every j,
with v = L^-1 z_b and γ_j = (T[b, j] - p_b'p_j) / s_b:

    s_j -= γ_j² s_b    g_j -= γ_j g_b    q_j += γ_j² (q_b + 1) - 2 γ_j v'p_j
    h_j += β γ_j (q_b + 1) - γ_j h_b - β v'p_j                                                         (3)

Every set that begins with a prefix is a subset of U, the prefix with
all features after it. With μ = λ² / (2λ + σ) and σ at least the
greatest eigenvalue of T, σ_i (σ_i + 2λ) / (σ_i + λ)² <= σ_i / (σ_i + μ)
for every eigenvalue σ_i, hence

    L(S) >= J_μ(S) >= J_μ(U) for every S in U,   J_μ(U) = y'y - t[U]'(T[U, U] + μI)^-1 t[U].           (4)

With M = (T[U, U] + μI)^-1 and w = M t[U], removing feature c increases J_μ by w_c² /
M[c, c]. A subset of U without d of the features after the prefix has at least J_μ(U)
plus the d-th smallest of these increases.  (5)

M, w and J_μ are the result of sweeping the matrix [T + μI, t; t', y'y]
on the features of U. Features are in the order in which the search
branches; the features of an item, which are added together, are
adjacent.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.support.jit import fused, fused_inlined, fused_subroutine

Totals = tuple[Floats, Floats, Ints, Floats]
"""[T, t; t', y'y] (n + 1, n + 1), Gram matrices by blocks, columns of the features, prices of items."""

Prefix = tuple[Floats, Floats, Floats, Floats, Floats, Floats]
"""p (K, n), s, g, q, h (K + 1, n), and J with w'w (K + 1, 2), by the number of features of the prefix."""

Found = tuple[Ints, Floats, Ints]
"""Sets of features (rows, K), criterion and deviation (rows, 2), and counts: rows, evaluated, overflow."""

Task = tuple[
    tuple[float, float, float, float, float, float, float],
    int,
    Floats,
    tuple[Floats, Floats],
    Floats,
]
"""The ``numbers`` of :func:`search`, the number of queries, errors of the reference, and two work spaces."""


@fused_subroutine
def _append(
    b: int, t: int, first: int, total: Floats, prefix: Prefix, work: Floats
) -> None:
    """Append feature b to a prefix of t features, and update the numbers of the features from ``first`` on.

    A prefix are the features with which the sets of a search begin. For
    each further feature, ``prefix`` has the numbers from which the
    training error with it follows in O(1), by the number of features so
    far. ``total`` (n + 1, n + 1) are the products T of features and
    labels. ``work`` is two vectors of length t, two of length n, and
    the factor L of the features in the prefix P, LL' = T[P, P] + λI, to
    which a row is appended.
    """
    # By number of features in the prefix, and by further feature j: p_j
    # = L^-1 T[P, j]; the pivot s_j; the right-hand side g_j; with z_j =
    # L'^-1 p_j, the weights that predict j from the prefix, q_j =
    # z_j'z_j and h_j = w'z_j, with the weights w of the model. The last
    # one is the error and w'w.
    p, s, g, q, h, J_ww = prefix
    n = s.shape[1]
    z = work[0]
    v = work[1]
    along = work[2]  # T[b, j] - p_b'p_j
    across = work[3]  # v'p_j
    # z_b by back substitution with L', then v = L^-1 z_b; row a of L is
    # p[:a, b_a] of the a-th feature.
    factor = work[4:]
    for a in range(t - 1, -1, -1):
        z[a] = p[a, b]
        for c in range(a + 1, t):
            z[a] -= factor[c, a] * z[c]
        z[a] /= factor[a, a]
    for a in range(t):
        v[a] = z[a]
        for c in range(a):
            v[a] -= factor[a, c] * v[c]
        v[a] /= factor[a, a]
    # s, g, q and h of b, and the weight β of b.
    pivot = s[t, b]
    right = g[t, b]
    square = q[t, b]
    inner = h[t, b]
    root = np.sqrt(pivot)
    weight = right / pivot
    for j in range(first, n):
        along[j] = total[b, j]
        across[j] = 0.0
    for a in range(t):
        p_ab = p[a, b]
        v_a = v[a]
        for j in range(first, n):
            along[j] -= p_ab * p[a, j]
            across[j] += v_a * p[a, j]
    for j in range(first, n):
        # The numbers of all features from `first` on, with b in the
        # prefix: z_j becomes [z_j
        # - γ z_b; γ], and w becomes [w - β z_b; β].
        gamma = along[j] / pivot
        p[t, j] = along[j] / root
        s[t + 1, j] = s[t, j] - gamma * along[j]
        g[t + 1, j] = g[t, j] - gamma * right
        q[t + 1, j] = q[t, j] + gamma * (gamma * (square + 1.0) - 2.0 * across[j])
        h[t + 1, j] = (
            h[t, j] + weight * (gamma * (square + 1.0) - across[j]) - gamma * inner
        )
    # The new row of L, J, and w'w.
    for a in range(t):
        factor[t, a] = p[a, b]
    factor[t, t] = root
    J_ww[t + 1, 0] = J_ww[t, 0] - weight * right
    J_ww[t + 1, 1] = J_ww[t, 1] + weight * (weight * (square + 1.0) - 2.0 * inner)


@fused_inlined
def _error_with(j: int, t: int, regularization: float, prefix: Prefix) -> float:
    """Return the training error of a prefix of t features with feature j added, in O(1).

    ``prefix`` has the numbers of the features from which it follows,
    and ``regularization`` is λ. The error without λ is the minimum J
    minus λ times the squared weights. A prefix is the features with
    which a set begins.
    """
    # A pivot is below λ only by rounding.
    _, s, g, q, h, J_ww = prefix
    weight = g[t, j] / max(s[t, j], regularization)
    penalty = J_ww[t, 1] + weight * (weight * (q[t, j] + 1.0) - 2.0 * h[t, j])
    error: float = J_ww[t, 0] - weight * g[t, j] - regularization * penalty
    return error


@fused_subroutine
def _factorise_without(
    k: int,
    chosen: Ints,
    t: int,
    totals: Totals,
    regularization: float,
    space: tuple[Floats, Floats],
) -> None:
    """Write L of T_q[S, S] + λI = LL' and L^-1 t_q[S] to ``space``, for the queries of block k.

    S are the first t of the features ``chosen``. The totals without
    query q are T_q = T - G_q, products of features, and t_q = t - r_q,
    of features and labels. G_q and r_q are those in the query, T and t
    those of all queries. ``space`` are arrays (t, t, BLOCK) and (t,
    BLOCK). The diagonal entries of L are inverted. Queries are in
    blocks of ``BLOCK``.
    """
    # Products over all queries, with the features in the order of the
    # search; those of each query, with the features in the order of the
    # data, labels last; and the column in the data of each feature.
    total, gram, columns, _ = totals
    n = total.shape[0] - 1
    last = gram.shape[1] - 1
    # The factor L, and the solution of the forward substitution.
    M, w = space
    for a in range(t):
        # Row a of the matrix and its right-hand side, without each query of the block.
        gram_row = columns[chosen[a]]
        for c in range(a + 1):
            gram_column = columns[chosen[c]]
            total_ac = total[chosen[a], chosen[c]]
            total_ac += regularization if a == c else 0.0
            for i in range(BLOCK):
                M[a, c, i] = total_ac - gram[k, gram_row, gram_column, i]
        for i in range(BLOCK):
            w[a, i] = total[n, chosen[a]] - gram[k, last, gram_row, i]
        # Row a of L by Cholesky's method, with the forward substitution
        # in the same pass.
        for c in range(a):
            for b in range(c):
                for i in range(BLOCK):
                    M[a, c, i] -= M[a, b, i] * M[c, b, i]
            for i in range(BLOCK):
                M[a, c, i] *= M[c, c, i]
                M[a, a, i] -= M[a, c, i] * M[a, c, i]
                w[a, i] -= M[a, c, i] * w[c, i]
        # Only rounding can leave less than λ.
        for i in range(BLOCK):
            M[a, a, i] = 1.0 / np.sqrt(max(M[a, a, i], regularization))
            w[a, i] *= M[a, a, i]


@fused_subroutine
def _errors_of_block(
    k: int,
    chosen: Ints,
    t: int,
    totals: Totals,
    space: tuple[Floats, Floats],
    out: Floats,
) -> None:
    """Write the errors of the held-out queries of block k to ``out`` (BLOCK,), with t chosen features.

    ``space`` has the factor L and the solution of the
    forward substitution for each query; a back
    substitution gives the weights w_q without the
    query. The error is y_q'y_q - 2 w_q'r_q + w_q'G_q
    w_q with the query's own products: y_q are its
    labels, G_q those of its features, r_q of features
    and labels. ``totals`` has the products over all
    queries and in each one. Queries are in blocks of
    ``BLOCK``.
    """
    # The products of each query, and the column in them of each
    # feature, whose number is by the order of the search.
    _, gram, columns, _ = totals
    last = gram.shape[1] - 1
    # The factor L, and the solution of the forward substitution, which
    # is overwritten with w_q.
    M, w = space
    # The back substitution; diagonal entries of L are inverted.
    for a in range(t - 1, -1, -1):
        for c in range(a + 1, t):
            for i in range(BLOCK):
                w[a, i] -= M[c, a, i] * w[c, i]
        for i in range(BLOCK):
            w[a, i] *= M[a, a, i]
    # The error of each held-out query, from its Gram matrix.
    for i in range(BLOCK):
        out[i] = gram[k, last, last, i]
    for a in range(t):
        gram_row = columns[chosen[a]]
        for i in range(BLOCK):
            out[i] += w[a, i] * (
                w[a, i] * gram[k, gram_row, gram_row, i]
                - 2.0 * gram[k, last, gram_row, i]
            )
        for c in range(a):
            gram_column = columns[chosen[c]]
            for i in range(BLOCK):
                out[i] += 2.0 * w[a, i] * w[c, i] * gram[k, gram_row, gram_column, i]


@fused_subroutine
def _left_out_error(
    chosen: Ints,
    t: int,
    totals: Totals,
    regularization: float,
    space: tuple[Floats, Floats],
    by_query: Floats,
) -> float:
    """Return the leave-query-out error of t features, and write that of each query to ``by_query``.

    ``chosen`` (≥ t,) are the features, ``totals`` the products over all
    queries and in each query, ``regularization`` is λ, and ``by_query``
    has shape (blocks, BLOCK). ``space`` is work space for the factor of
    each query's system and for its solution, (t, t, BLOCK) and (t,
    BLOCK). Queries are in blocks of ``BLOCK``.
    """
    error = 0.0
    for k in range(by_query.shape[0]):
        _factorise_without(k, chosen, t, totals, regularization, space)
        _errors_of_block(k, chosen, t, totals, space, by_query[k])
        for i in range(BLOCK):
            error += by_query[k, i]
    return error


@fused_subroutine
def _sweep(matrix: Floats, c: int) -> None:
    """Sweep a symmetric matrix (n + 1, n + 1) on row c in place, which adds feature c to a model.

    The matrix is [M, t; t', y'y]: the products M of the features, t of
    features and labels, and y'y of the labels. Swept on all features,
    it becomes [-M^-1, w; w', error] with the weights w = M^-1 t. Swept
    on some features, it has these numbers for the model of those.
    """
    n = matrix.shape[0]
    pivot = matrix[c, c]
    # All other rows, then the pivot's row itself.
    for i in range(n):
        if i != c and matrix[i, c] != 0.0:
            ratio = matrix[i, c] / pivot
            for j in range(n):
                if j != c:
                    matrix[i, j] -= ratio * matrix[c, j]
            matrix[i, c] = ratio
    for j in range(n):
        if j != c:
            matrix[c, j] /= pivot
    matrix[c, c] = -1.0 / pivot


@fused_subroutine
def _remove_feature(matrix: Floats, c: int) -> None:
    """Remove feature c from the model of a swept matrix, in place.

    The matrix (n + 1, n + 1) is [-M, w; w', J], with the inverse M of
    the regularised products of the features in the model, their weights
    w and its error J. Rows of other features are 0, as that of c is
    afterwards.
    """
    n = matrix.shape[0]
    pivot = matrix[c, c]
    for i in range(n):
        if i != c and matrix[i, c] != 0.0:
            ratio = matrix[i, c] / pivot
            for j in range(n):
                matrix[i, j] -= ratio * matrix[c, j]
            matrix[i, c] = 0.0
    for j in range(n):
        matrix[c, j] = 0.0


@fused_subroutine
def _remove_item(matrix: Floats, item: int, starts: Ints) -> None:
    """Remove the features of an item from the model of a swept matrix, in place.

    ``starts`` (items + 1,) are the first features of items. An item is
    a feature or a group of features.
    """
    for c in range(starts[item], starts[item + 1]):
        _remove_feature(matrix, c)


@fused_subroutine
def _bound(
    matrix: Floats, item: int, n_to_choose: int, starts: Ints, greatest: Floats
) -> float:
    """Return a lower bound of the error of all sets with ``n_to_choose`` of the items from ``item`` on.

    An item is a feature or a group of features; ``starts`` (items + 1,)
    are the first features of items. ``matrix`` is the swept matrix of
    the model with all these items, whose error is the smallest.
    Removing an item increases the error at least by the greatest
    increase without one of its features, its cost. If d items have to
    be removed, the error increases at least by the d-th smallest cost.
    The d-th smallest cost is the (n_to_choose + 1)-th greatest one, so
    only as many costs are stored in ``greatest``.
    """
    n = matrix.shape[0] - 1
    items = starts.shape[0] - 1
    # No item may be missing: the bound is the error of all of them.
    if items - item == n_to_choose:
        return float(matrix[n, n])
    # The greatest costs, in descending order, by insertion.
    greatest[: n_to_choose + 1] = -1.0
    for i in range(item, items):
        cost = 0.0
        for c in range(starts[i], starts[i + 1]):
            # The squared weight by the diagonal entry of the inverse,
            # which is negated in the swept matrix.
            cost = max(cost, -matrix[c, n] * matrix[c, n] / matrix[c, c])
        position = n_to_choose
        if cost > greatest[position]:
            while position > 0 and cost > greatest[position - 1]:
                greatest[position] = greatest[position - 1]
                position -= 1
            greatest[position] = cost
    return float(matrix[n, n] + greatest[n_to_choose])


@fused_subroutine
def _begin_bound(
    forced: Ints, item: int, total: Floats, starts: Ints, ridge: float, matrix: Floats
) -> None:
    """Write to ``matrix`` the swept matrix of the forced items and all items from ``item`` on.

    The swept matrix has the negated inverse of T + μI for the features
    of these items, their weights, and the error in the last entry. T
    are the products of features and labels over all queries, labels
    last: ``total`` (n + 1, n + 1), the shape of ``matrix``. ``ridge``
    is μ, and ``starts`` (items + 1,) are the first features of items.
    An item is a feature or a group of features.
    """
    n = total.shape[0] - 1
    # The features that are swept, and the labels.
    inside = np.zeros(n + 1, np.bool_)
    inside[n] = True
    for f in range(forced.shape[0]):
        inside[starts[forced[f]] : starts[forced[f] + 1]] = True
    inside[starts[item] : n] = True
    # T + μI for these features; the rows and columns of all others are 0.
    for i in range(n + 1):
        for j in range(n + 1):
            matrix[i, j] = total[i, j] if inside[i] and inside[j] else 0.0
        if i < n and inside[i]:
            matrix[i, i] += ridge
    for c in range(n):
        if inside[c]:
            _sweep(matrix, c)


@fused
def branches(
    size: int,
    length: int,
    n_forced: int,
    totals: Totals,
    starts: Ints,
    ridge: float,
    budget: float,
    limit: float,
    prefixes: Ints,
    bounds: Floats,
) -> int:
    """Write the prefixes of a length whose lower bound is within a limit, and these bounds; return how many.

    A prefix are the ``length`` items with which a set begins. The first
    ``n_forced`` items come before it: they belong to every set of
    ``size`` items. A bound is that of the errors of all sets with the
    prefix. An item is a feature or a group, and ``starts`` (items + 1,)
    are the first features of items. The results are rows of
    ``prefixes`` (rows, length) and ``bounds`` (rows,). ``totals`` has
    the products of features and labels, and the costs of items, whose
    sum may not exceed the ``budget``. ``ridge`` is the μ with which
    bounds are computed.
    """
    # Products over all queries, and the costs of items.
    total, _, _, prices = totals
    items = starts.shape[0] - 1
    n = total.shape[0] - 1
    n_wanted = size - n_forced
    matrices = np.empty((length + 1, n + 1, n + 1))
    greatest = np.empty(size + 2)
    _begin_bound(np.arange(n_forced), n_forced, total, starts, ridge, matrices[0])
    chosen_items = np.empty(length + 1, np.int64)
    spent = np.zeros(length + 2)
    for f in range(n_forced):
        spent[0] += prices[f]
    chosen_items[0] = n_forced
    # Depth-first: chosen_items[depth] is the next item to try at a
    # depth. matrices[depth] is the swept matrix of the prefix so far
    # with all items from this one on: its error is a lower bound.
    depth = 0
    count = 0
    while depth >= 0:
        item = chosen_items[depth]
        n_left = n_wanted - depth
        within = False
        bound = 0.0
        # Sets that begin with this prefix exist only if enough items are left.
        if item <= items - n_left:
            bound = _bound(matrices[depth], item, n_left, starts, greatest)
            within = bound <= limit
        if within and depth < length:
            if spent[depth] + prices[item] <= budget:
                spent[depth + 1] = spent[depth] + prices[item]
                # Element by element: assigning the whole matrix takes 3
                # s more to compile.
                for i in range(n + 1):
                    for j in range(n + 1):
                        matrices[depth + 1, i, j] = matrices[depth, i, j]
                depth += 1
                chosen_items[depth] = item + 1
                continue
        else:
            # Too few items or too high a bound, also for later items,
            # or a complete prefix: go one level up.
            if within and depth == length:
                for d in range(length):
                    prefixes[count, d] = chosen_items[d]
                bounds[count] = bound
                count += 1
            depth -= 1
        # Next, the sets without this item, but with later ones.
        if depth >= 0:
            _remove_item(matrices[depth], chosen_items[depth], starts)
            chosen_items[depth] += 1
    return count


@fused_subroutine
def _is_best(error: float, columns: Ints, tie: float, output: Found) -> bool:
    """Return whether a set is better than the best one so far, which is row 0 of ``output``.

    ``columns`` are the set's features, ascending, and ``error`` is its
    criterion. Errors that differ by at most ``tie`` are equal. Of sets
    with equal errors, the first in lexicographic order of the columns
    is better.
    """
    # Sets, their criteria and deviations, and three counts: sets kept,
    # sets evaluated, and whether the table was too small.
    sets, values, counts = output
    if counts[0] == 0 or error < values[0, 0] - tie:
        return True
    if error > values[0, 0] + tie:
        return False
    # Equal errors: the first feature that differs decides.
    a = 0
    while a < columns.shape[0] and columns[a] == sets[0, a]:
        a += 1
    return bool(a < columns.shape[0] and columns[a] < sets[0, a])


@fused_subroutine
def _deviation(
    by_query: Floats, reference: Floats, n_queries: int
) -> tuple[float, float]:
    """Return the sum over queries of the difference of the errors of two sets, and its standard error.

    The difference in a query is the error in ``by_query`` minus that in
    ``reference``, both of shape (blocks, BLOCK). Both arrays are 0 for
    the queries that pad the last block, so that ``n_queries`` may be
    fewer. Queries are in blocks of ``BLOCK``.
    """
    difference = 0.0
    squares = 0.0
    for k in range(reference.shape[0]):
        for i in range(BLOCK):
            d = by_query[k, i] - reference[k, i]
            difference += d
            squares += d * d
    variance = max(0.0, squares - difference * difference / n_queries) / (n_queries - 1)
    return difference, np.sqrt(n_queries * variance)


@fused_subroutine
def _evaluate_set(
    chosen: Ints, t: int, totals: Totals, task: Task, output: Found
) -> None:
    """Compute the exact criterion of a set of t features, and store the set in ``output`` if it qualifies.

    ``chosen`` (≥ t,) are the features, in branching order. Without a
    reference set in the ``task``, a set qualifies if it is the best so
    far. With one, it qualifies if it is not significantly worse than
    the reference. ``totals`` has the products over all queries and in
    each one. The criterion is the leave-query-out error.
    """
    # Seven numbers; the errors of the reference in each query, empty
    # without one; work space; and the errors of this set in each query.
    numbers, n_queries, reference, space, by_query = task
    # λ, the rounding of a criterion, and by how many standard errors a
    # set may be worse than the reference.
    regularization, _, _, _, _, tie, n_deviations = numbers
    # Sets, their criteria and deviations, and three counts: sets kept,
    # sets evaluated, and whether the table was too small.
    sets, values, counts = output
    error = _left_out_error(chosen, t, totals, regularization, space, by_query)
    sorted_columns = np.empty(t, np.int64)
    row = 0
    deviation = 0.0
    # The columns in the data, sorted by insertion; NumPy's sort takes a
    # second to compile.
    for a in range(t):
        column = totals[2][chosen[a]]
        position = a
        while position > 0 and sorted_columns[position - 1] > column:
            sorted_columns[position] = sorted_columns[position - 1]
            position -= 1
        sorted_columns[position] = column
    counts[1] += 1
    # The best set replaces the earlier one in row 0.
    if reference.shape[0] == 0:
        if not _is_best(error, sorted_columns, tie, output):
            return
        counts[0] = 0
    else:
        # Otherwise sets are collected, unless they are significantly
        # worse; a full table is an overflow.
        difference, deviation = _deviation(by_query, reference, n_queries)
        if difference > n_deviations * deviation + tie:
            return
        row = counts[0]
        if row == sets.shape[0]:
            counts[2] = 1
            return
    # The rest of a row is -1.
    for a in range(sets.shape[1]):
        sets[row, a] = sorted_columns[a] if a < t else -1
    values[row, 0] = error
    values[row, 1] = deviation
    counts[0] += 1


@fused_subroutine
def _limit(task: Task, output: Found) -> float:
    """Return the training error up to which the exact criterion of a set is computed.

    The training error is a lower bound of the criterion. The limit is
    the greatest criterion that the task allows. If the task searches
    only the best set, without a reference, it is at most the criterion
    of the best set so far. The rounding error of a bound is added.
    ``output`` has the sets that are stored so far.
    """
    # Seven numbers, and the errors of a reference set, empty without
    # one. Of the numbers: the greatest criterion, and the roundings of
    # a bound and of a criterion.
    numbers, _, reference, _, _ = task
    _, _, _, greatest_criterion, slack, tie, _ = numbers
    # Criteria of the stored sets, and how many sets these are.
    _, values, counts = output
    limit: float = greatest_criterion
    if reference.shape[0] == 0 and counts[0] > 0:
        limit = min(limit, values[0, 0] + tie)
    return limit + slack


@fused_subroutine
def _search_last_item(
    item: int,
    chosen: Ints,
    t: int,
    spent: float,
    totals: Totals,
    starts: Ints,
    prefix: Prefix,
    work: Floats,
    task: Task,
    output: Found,
    stop: Ints,
) -> None:
    """Search among the sets of a prefix of t features and one more item, from ``item`` on.

    An item is a feature or a group, and ``starts`` (items
    + 1,) are the first features of items. ``spent`` is the
    cost of the prefix, and ``chosen`` has its features. ``prefix`` and
    ``work`` have the numbers from which training errors follow,
    ``task`` the limits of the search. The exact criterion of a set is
    only computed if its training error, a lower bound, is small enough.
    Sets that qualify are stored in ``output``. The search ends if
    ``stop[0]`` is not 0. A prefix is the features with which a set
    begins.
    """
    regularization, _, budget, _, _, _, _ = task[0]
    total = totals[0]  # products of features and labels
    prices = totals[3]  # costs of items
    for last_item in range(item, starts.shape[0] - 1):
        if spent + prices[last_item] > budget:
            continue
        # All features of the last item but its last one are appended;
        # the error with that one takes O(1).
        n_chosen = t
        for b in range(starts[last_item], starts[last_item + 1] - 1):
            _append(b, n_chosen, b, total, prefix, work)
            chosen[n_chosen] = b
            n_chosen += 1
        b = starts[last_item + 1] - 1
        # The training error is a lower bound of the criterion; only
        # sets within the limit are evaluated.
        if _error_with(b, n_chosen, regularization, prefix) <= _limit(task, output):
            if stop[0] != 0:
                return
            chosen[n_chosen] = b
            _evaluate_set(chosen, n_chosen + 1, totals, task, output)


@fused_subroutine
def _append_item(
    item: int,
    first: int,
    t: int,
    chosen: Ints,
    starts: Ints,
    total: Floats,
    prefix: Prefix,
    work: Floats,
) -> int:
    """Append the features of an item to a prefix of t features, and return its new number of features.

    The features are also written to ``chosen``, from position t on.
    ``prefix`` is updated for the features from ``first`` on. ``total``
    are the products of features and labels, ``starts`` the first
    features of items, and ``work`` is work space. An item is a feature
    or a group of features. A prefix is the features with which a set
    begins.
    """
    for b in range(starts[item], starts[item + 1]):
        _append(b, t, first, total, prefix, work)
        chosen[t] = b
        t += 1
    return t


@fused_subroutine
def _empty_prefix(max_features: int, total: Floats, regularization: float) -> Prefix:
    """Return the numbers of a prefix without features, in arrays for up to ``max_features`` features.

    ``total`` (n + 1, n + 1) are the products of features and labels,
    labels last. Row t of an array is for a prefix of t features. p
    (rows, n) are the products of each further feature with the prefix.
    From s, g, q and h (rows, n), the training error with one more
    feature follows. J_ww (rows, 2) has the error and the squared length
    of the weights. ``regularization`` is λ. A prefix is the features
    with which a set begins.
    """
    # Without features: s are the squares plus λ, g the products with
    # the labels, and the error is the square of the labels. All other
    # numbers are products with the features of the prefix.
    n = total.shape[0] - 1
    p = np.empty((max_features + 1, n))
    s = np.empty((max_features + 2, n))
    g = np.empty((max_features + 2, n))
    q = np.zeros((max_features + 2, n))
    h = np.zeros((max_features + 2, n))
    J_ww = np.zeros((max_features + 2, 2))
    for j in range(n):
        s[0, j] = total[j, j] + regularization
        g[0, j] = total[n, j]
    J_ww[0, 0] = total[n, n]
    return p, s, g, q, h, J_ww


@fused
def search(
    size: int,
    forced: Ints,
    totals: Totals,
    starts: Ints,
    numbers: tuple[float, float, float, float, float, float, float],
    n_queries: int,
    reference: Floats,
    stop: Ints,
    output: Found,
) -> None:
    """Search all sets of ``size`` items that begin with the forced ones, and store those that qualify.

    Without a ``reference``, only the best set qualifies, and ``output``
    starts with the best known one, whose criterion is another limit.
    With the errors of a reference set in each query, all sets that are
    not significantly worse qualify. ``numbers`` are λ, the ridge μ of
    lower bounds, the budget, the greatest criterion of a set to
    evaluate, the rounding errors of a bound and of a criterion, and the
    number of standard errors by which a set may differ from the
    reference. The search ends early if ``stop[0]`` becomes nonzero.
    ``totals`` has the products over all queries and in each of
    ``n_queries`` queries, and the costs of items. An item is a feature
    or a group of them, and ``starts`` (items + 1,) are the first
    features of items.
    """
    total = totals[0]
    prices = totals[3]
    regularization, ridge, budget, _, _, _, _ = numbers
    n = total.shape[0] - 1
    items = starts.shape[0] - 1
    n_wanted = size - forced.shape[0]
    max_columns = output[0].shape[1]
    space = np.empty((max_columns, max_columns, BLOCK)), np.empty((max_columns, BLOCK))
    task = numbers, n_queries, reference, space, np.empty((totals[1].shape[0], BLOCK))
    prefix = _empty_prefix(max_columns, total, regularization)
    work = np.empty((5 + max_columns, max(n, max_columns + 1)))
    chosen = np.empty(max_columns + 1, np.int64)
    greatest = np.empty(size + 2)
    chosen_items = np.empty(n_wanted + 2, np.int64)
    ends = np.zeros(n_wanted + 2, np.int64)
    spent = np.zeros(n_wanted + 2)
    chosen_items[0] = 0
    # The prefix begins with the forced items.
    first = starts[0]  # 0; a literal would have the function compiled twice
    for item in forced:
        ends[0] = _append_item(
            item, first, ends[0], chosen, starts, total, prefix, work
        )
        spent[0] += prices[item]
        chosen_items[0] = item + 1
    # The forced items may already be the whole set.
    if n_wanted == 0 and spent[0] <= budget:
        _evaluate_set(chosen, ends[0], totals, task, output)
    matrices = np.empty((max(1, n_wanted - 1), n + 1, n + 1))
    if n_wanted >= 3:
        _begin_bound(forced, chosen_items[0], total, starts, ridge, matrices[0])
    # Depth-first: chosen_items[depth] is the next item to try at a
    # depth, matrices[depth] its swept matrix. Bounds are only computed
    # with three or more items to choose; the last item is chosen by
    # _search_last_item.
    depth = 0 if n_wanted > 0 else -1
    while depth >= 0 and stop[0] == 0:
        n_left = n_wanted - depth
        item = chosen_items[depth]
        t = ends[depth]
        # A branch is searched if enough items are left and (5) of the
        # module's docstring does not exclude it.
        within = item <= items - n_left
        if within and n_left >= 3:
            within = _bound(matrices[depth], item, n_left, starts, greatest) <= _limit(
                task, output
            )
        if within and n_left > 1:
            # Take the item if the budget allows, and go one level
            # deeper; its swept matrix starts as a copy.
            if spent[depth] + prices[item] <= budget:
                ends[depth + 1] = _append_item(
                    item, starts[item], t, chosen, starts, total, prefix, work
                )
                spent[depth + 1] = spent[depth] + prices[item]
                depth += 1
                chosen_items[depth] = item + 1
                if n_left >= 4:
                    # Element by element, as in `branches`.
                    for i in range(n + 1):
                        for j in range(n + 1):
                            matrices[depth, i, j] = matrices[depth - 1, i, j]
                continue
        else:
            # The last item is chosen in all ways at once. Without
            # `within`, later items of this level have too few items
            # after them or too high a bound, too. Either way, go one
            # level up.
            if within:
                _search_last_item(
                    item,
                    chosen,
                    t,
                    spent[depth],
                    totals,
                    starts,
                    prefix,
                    work,
                    task,
                    output,
                    stop,
                )
            depth -= 1
        # Go on with the next item of this level; the sets after it are
        # without the current item.
        if depth >= 0:
            if n_wanted - depth >= 3:
                _remove_item(matrices[depth], chosen_items[depth], starts)
            chosen_items[depth] += 1


@fused
def errors(
    chosen: Ints, totals: Totals, regularization: float, by_query: Floats
) -> float:
    """Return the leave-query-out error of features, and write that of each query to ``by_query``.

    ``chosen`` are the features, in the order of ``totals``, which has
    the products over all queries and in each one. ``by_query`` has
    shape (blocks, BLOCK); ``regularization`` is λ. Queries are in
    blocks of ``BLOCK``.
    """
    t = chosen.shape[0]
    space = np.empty((t, t, BLOCK)), np.empty((t, BLOCK))
    return _left_out_error(chosen, t, totals, regularization, space, by_query)
