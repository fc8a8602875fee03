"""Compiled sweeps over the sorted scores of each query that add up over its pairs without listing them.

A pair is (i, j) with y_i > y_j in one query. Of document k,

(1) V_k = {j : y_j < y_k, s_k - s_j < margin} and W_k = {j : y_j > y_k,
s_j - s_k < margin} violate with it (2) |V_k|, |W_k| and the sums of s_j
over each are what the squared hinge needs (3) |W_k| - |V_k| is the
subgradient of the hinge, whose margin is 1 (4) d_k v_k - Σ_{j in V_k ∪
W_k} v_j is the Laplacian of the violated pairs, times v.

The docstrings of the kernels refer to these equations. With the
documents of a query sorted by score, the documents that violate with
document k are a suffix (less relevant ones) or a prefix (more relevant
ones) of the sorted documents, and both grow along the sweep. It remains
to find how much of what was added has a lower label: running sums
answer that for few labels L, in O(m L), and a Fenwick tree for many, in
O(m log L).
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import inlined, kernel

# the caller sorts queries with more documents by NumPy, whose vector
# instructions are faster
SORTED = 200
# documents up to which one pass of insertion is fastest, as the order is nearly right
_SHORT = 80
_FEW = 8  # labels up to which running sums are faster than a tree


@inlined
def _add(sums: Floats, n_levels: int, level: int, value: float) -> None:
    """Add a value at a level, the number of a label from 0, to ``sums`` in place.

    Later, sums of the values at lower levels are needed. For few
    levels, ``sums[i]`` is the sum of all values below level i; for
    many, ``sums`` is a Fenwick tree, whose node i has a part of the
    sum, so that adding and reading take O(log n). ``n_levels`` is the
    number of labels.
    """
    if n_levels <= _FEW:
        # Levels come in any order: adding 0 costs less than a loop
        # whose length cannot be predicted.
        for above in range(1, n_levels):
            sums[above] += value if above > level else 0.0
    else:
        # The nodes of a Fenwick tree count from 1; i & -i is the lowest one bit of i.
        i = level + 1
        while i <= n_levels:
            sums[i] += value
            i += i & -i


@inlined
def _below(sums: Floats, n_levels: int, level: int) -> float:
    """Return the sum of the values that were added at lower levels than ``level``.

    For each level, ``sums`` has the sum below it for few levels, and is
    a Fenwick tree for many. ``n_levels`` is the number of labels.
    """
    if n_levels <= _FEW:
        return float(sums[level])
    # Node i of the tree has the sum of i & -i values, up to the i-th.
    total = 0.0
    i = level
    while i > 0:
        total += sums[i]
        i -= i & -i
    return total


@inlined
def _add_both(sums: Floats, n_levels: int, level: int, score: float) -> None:
    """Add one document and its score at a level, the number of a label from 0, to ``sums`` in place.

    Column 0 of ``sums`` has numbers of documents, column 1 sums of
    scores: for few levels those below level i in row i, for many the
    nodes of a Fenwick tree. ``n_levels`` is the number of labels.
    """
    if n_levels <= _FEW:
        for above in range(1, n_levels):
            sums[above, 0] += 1.0 if above > level else 0.0
            sums[above, 1] += score if above > level else 0.0
    else:
        # The nodes of a Fenwick tree count from 1; i & -i is the lowest one bit of i.
        i = level + 1
        while i <= n_levels:
            sums[i, 0] += 1.0
            sums[i, 1] += score
            i += i & -i


@inlined
def _both_below(sums: Floats, n_levels: int, level: int) -> tuple[float, float]:
    """Return (number, sum of scores) of the documents added at levels below ``level``.

    For each level, ``sums`` has both numbers for few levels, and is a
    Fenwick tree for many. ``n_levels`` is the number of labels.
    """
    if n_levels <= _FEW:
        return sums[level, 0], sums[level, 1]
    # Node i of the tree has the sums of i & -i levels, up to the i-th.
    number = total = 0.0
    i = level
    while i > 0:
        number += sums[i, 0]
        total += sums[i, 1]
        i -= i & -i
    return number, total


@inlined
def sort_nearly_sorted(values: Floats, order: Ints) -> None:
    """Sort the documents in ``order`` by ascending value, in place.

    ``values`` has the value of each of these documents, in the same
    order, and is sorted, too. Shell's passes, with gaps of …, 40, 13,
    4, 1: NumPy's sort would take 4 s to compile.
    """
    size = order.shape[0]
    gap = 1
    # The first gap, at least a ninth of the size (Knuth's rule); short
    # queries are sorted by one pass of insertion.
    while size > _SHORT and 9 * gap < size:
        gap = 3 * gap + 1
    while gap > 0:
        # Insert each document among those a multiple of the gap before it.
        for k in range(gap, size):
            row = order[k]
            value = values[k]
            position = k
            while position >= gap and values[position - gap] > value:
                values[position] = values[position - gap]
                order[position] = order[position - gap]
                position -= gap
            values[position] = value
            order[position] = row
        gap //= 3


@inlined
def _sort(scores: Floats, order: Ints, begin: int, end: int, values: Floats) -> None:
    """Sort the documents ``order[begin:end]`` of a query by ascending score, in place.

    The caller has sorted a long query already, which is then left as it
    is. ``values`` receives the sorted scores.
    """
    for k in range(begin, end):
        values[k - begin] = scores[order[k]]
    if end - begin <= SORTED:
        sort_nearly_sorted(values, order[begin:end])


@inlined
def longest(ptr: Ints, first: int, last: int) -> int:
    """Return the number of documents of the longest of the queries first … last - 1."""
    longest = 0
    for q in range(first, last):
        longest = max(longest, ptr[q + 1] - ptr[q])
    return longest


@kernel
def arrange(
    scores: Floats,
    ptr: Ints,
    margin: float,
    first: int,
    last: int,
    order: Ints,
    start: Ints,
    stop: Ints,
) -> None:
    """Sort the documents of some queries by score, and find violated pairs.

    A pair is violated if its scores differ by less than the margin, or
    in the wrong direction.

    Parameters
    ----------
    scores : ndarray of shape (m,)
        Scores s of the documents.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    margin : float
        Least difference of the scores of a pair that is not violated.
    first, last : int
        The queries are first … last - 1.
    order : ndarray of shape (m,)
        Receives the documents of each query by ascending score.
    start, stop : ndarray of shape (m,)
        For the document at sorted position k, the positions from
        ``start[k]`` on have the documents j with s_k - s_j < margin,
        and those before ``stop[k]`` have the documents j with s_j - s_k
        < margin. Both come from the same rounded difference, so a pair
        is in both or in none.
    """
    values = np.empty(longest(ptr, first, last))
    for q in range(first, last):
        begin = ptr[q]
        end = ptr[q + 1]
        # ``values`` becomes the sorted scores of the query.
        _sort(scores, order, begin, end, values)
        size = end - begin
        # As the scores ascend, both limits move only upwards.
        low = high = 0
        for k in range(size):
            score = values[k]
            while low < size and score - values[low] >= margin:
                low += 1
            start[begin + k] = begin + low
            while high < size and values[high] - score < margin:
                high += 1
            stop[begin + k] = begin + high


@kernel
def violations(
    scores: Floats,
    ptr: Ints,
    level: Ints,
    n_levels: Ints,
    order: Ints,
    start: Ints,
    stop: Ints,
    first: int,
    last: int,
    counts: Floats,
    sums: Floats,
) -> None:
    """Count each document's violated pairs and add up its partners' scores.

    A pair is two documents of a query with different labels; it is
    violated if their scores differ by less than a margin, or in the
    wrong direction.

    Parameters
    ----------
    scores : ndarray of shape (m,)
        One per document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    level : ndarray of shape (m,)
        Number of a document's label in its query, from 0.
    n_levels : ndarray of shape (Q,)
        Number of labels of each query.
    order : ndarray of shape (m,)
        Documents of each query by ascending score.
    start, stop : ndarray of shape (m,)
        The document at position k of ``order`` violates the margin with
        the less relevant documents from position ``start[k]`` on, and
        with the more relevant documents before position ``stop[k]``.
    first, last : int
        The queries are first … last - 1.
    counts, sums : ndarray of shape (2, m)
        Receive the number of violated pairs of each document, and the
        sum of the partners' scores in these pairs: row 0 for less
        relevant partners, row 1 for more relevant ones.
    """
    # Numbers of documents and sums of scores, by level, of those passed so far.
    tree = np.empty((n_levels[first:last].max() + 1, 2))
    for q in range(first, last):
        begin = ptr[q]
        end = ptr[q + 1]
        n = n_levels[q]
        # From the highest score down: less relevant partners, which have lower levels.
        tree[: n + 1] = 0.0
        position = end
        for k in range(end - 1, begin - 1, -1):
            while position > start[k]:
                position -= 1
                row = order[position]
                _add_both(tree, n, level[row], scores[row])
            row = order[k]
            counts[0, row], sums[0, row] = _both_below(tree, n, level[row])
        # From the lowest score up: more relevant partners. Levels are
        # counted from above.
        tree[: n + 1] = 0.0
        position = begin
        for k in range(begin, end):
            while position < stop[k]:
                row = order[position]
                _add_both(tree, n, n - 1 - level[row], scores[row])
                position += 1
            row = order[k]
            counts[1, row], sums[1, row] = _both_below(tree, n, n - 1 - level[row])


@kernel
def hinge(
    scores: Floats,
    ptr: Ints,
    level: Ints,
    n_levels: Ints,
    lower: Floats,
    first: int,
    last: int,
    order: Ints,
    slopes: Floats,
) -> float:
    """Return the number of violated pairs of some queries; write the slopes.

    A pair of documents of a query with labels y_i > y_j is violated if
    s_i - s_j < 1.

    Parameters
    ----------
    scores : ndarray of shape (m,)
        Scores s of the documents.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    level : ndarray of shape (m,)
        Number of a document's label in its query, from 0.
    n_levels : ndarray of shape (Q,)
        Number of labels of each query.
    lower : ndarray of shape (m,)
        Number of documents of the query with a lower label.
    first, last : int
        The queries are first … last - 1.
    order : ndarray of shape (m,)
        Receives the documents of each query by ascending score.
    slopes : ndarray of shape (m,)
        Receives, for each document, the number of violated pairs with
        more relevant documents minus the number with less relevant
        documents: the subgradient of the hinge in the scores.

    Notes
    -----
    One pass up the sorted scores: ``position`` goes ahead of k, to the
    first document that is not within the margin above k. When it
    reaches a document, ``behind`` has the documents that are a margin
    or more below it: the document violates with all lower labels except
    theirs. After that, ``inside`` has all documents within the margin
    above k or below it: k is violated by those with higher labels. Both
    compare the same rounded difference of a pair with the margin, so
    that a pair counts for both documents or for none.
    """
    values = np.empty(longest(ptr, first, last))
    tree_size = n_levels[first:last].max() + 1
    behind = np.empty(tree_size)
    inside = np.empty(tree_size)
    violated = 0.0
    for q in range(first, last):
        begin = ptr[q]
        end = ptr[q + 1]
        # ``values`` becomes the sorted scores of the query.
        _sort(scores, order, begin, end, values)
        # Both sums are empty at the start of a query.
        n = n_levels[q]
        behind[: n + 1] = inside[: n + 1] = 0.0
        position = begin
        for k in range(begin, end):
            while position < end and values[position - begin] - values[k - begin] < 1.0:
                row = order[position]
                n_violated = lower[row] - _below(behind, n, level[row])
                slopes[row] = -n_violated
                violated += n_violated
                # Reversed levels in `inside`: documents with higher labels are below.
                _add(inside, n, n - 1 - level[row], 1.0)
                position += 1
            row = order[k]
            slopes[row] += _below(inside, n, n - 1 - level[row])
            _add(behind, n, level[row], 1.0)
    return violated


@kernel
def laplacian(
    values: Floats,
    degrees: Floats,
    ptr: Ints,
    level: Ints,
    n_levels: Ints,
    order: Ints,
    start: Ints,
    stop: Ints,
    first: int,
    last: int,
    out: Floats,
) -> None:
    """Write the Laplacian of the violated pairs times ``values``, for some queries.

    The product is each document's number of violated pairs times its
    value, minus the sum of the values of its partners in these pairs. A
    pair is two documents of a query with different labels; it is
    violated if the scores differ by less than a margin, or in the wrong
    direction.

    Parameters
    ----------
    values : ndarray of shape (m,)
        One per document.
    degrees : ndarray of shape (m,)
        Number of violated pairs of each document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    level : ndarray of shape (m,)
        Number of a document's label in its query, from 0.
    n_levels : ndarray of shape (Q,)
        Number of labels of each query.
    order : ndarray of shape (m,)
        Documents of each query by ascending score.
    start, stop : ndarray of shape (m,)
        The document at position k of ``order`` violates the margin with
        the less relevant documents from position ``start[k]`` on, and
        with the more relevant documents before position ``stop[k]``.
    first, last : int
        The queries are first … last - 1.
    out : ndarray of shape (m,)
        Receives the product.
    """
    # Sums of values, by level, of the documents passed so far.
    tree = np.empty(n_levels[first:last].max() + 1)
    for q in range(first, last):
        begin = ptr[q]
        end = ptr[q + 1]
        n = n_levels[q]
        # From the highest score down: less relevant partners, which have lower levels.
        tree[: n + 1] = 0.0
        position = end
        for k in range(end - 1, begin - 1, -1):
            while position > start[k]:
                position -= 1
                row = order[position]
                _add(tree, n, level[row], values[row])
            row = order[k]
            out[row] = degrees[row] * values[row] - _below(tree, n, level[row])
        # From the lowest score up: more relevant partners. Levels are
        # counted from above.
        tree[: n + 1] = 0.0
        position = begin
        for k in range(begin, end):
            while position < stop[k]:
                row = order[position]
                _add(tree, n, n - 1 - level[row], values[row])
                position += 1
            row = order[k]
            out[row] -= _below(tree, n, n - 1 - level[row])


_FEW_LABELS = 8  # distinct labels up to which looking them up one by one beats sorting


@inlined
def _find(y: float, labels: Floats, n_labels: int) -> int:
    """Return the number of labels below ``y`` among the first ``n_labels``.

    ``labels`` ascend.
    """
    rank = 0
    # Compare with all labels: a loop whose length can be predicted is
    # faster than one that stops early.
    for k in range(n_labels):
        rank += labels[k] < y
    return rank


@inlined
def _few_labels(y: Floats, begin: int, end: int, labels: Floats) -> int:
    """Write the distinct labels of the rows begin … end - 1 to ``labels``, ascending.

    Return the number of these labels. If there are more labels than the
    limit `_FEW_LABELS`, write no more than this limit, and return the
    limit plus 1.
    """
    number = 0
    for row in range(begin, end):
        rank = _find(y[row], labels, number)
        # A label that is there already.
        if rank < number and labels[rank] == y[row]:
            continue
        if number == _FEW_LABELS:
            return _FEW_LABELS + 1
        # Move the greater labels up, to insert this one.
        for above in range(number, rank, -1):
            labels[above] = labels[above - 1]
        labels[rank] = y[row]
        number += 1
    return number


@kernel
def rank_labels(
    y: Floats, ptr: Ints, level: Ints, n_levels: Ints, lower: Floats, higher: Floats
) -> None:
    """Rank the distinct labels of each query, and count each document's partners.

    Parameters
    ----------
    y : ndarray of shape (m,)
        Label of each document.
    ptr : ndarray of shape (Q + 1,)
        Query q has the rows ``ptr[q]:ptr[q + 1]``.
    level : ndarray of shape (m,)
        Receives the rank of a document's label in its query, from 0.
    n_levels : ndarray of shape (Q,)
        Receives the number of labels of a query.
    lower, higher : ndarray of shape (m,)
        Receive the numbers of documents of the query with a lower and a
        higher label.

    Notes
    -----
    O(m) for few labels, O(m log m) for many.
    """
    labels = np.empty(_FEW_LABELS)
    for q in range(ptr.size - 1):
        begin = ptr[q]
        end = ptr[q + 1]
        # Few labels are found in a list. For more, the number is
        # greater than _FEW_LABELS, and the labels are numbered in
        # sorted order.
        number = _few_labels(y, begin, end, labels)
        if number <= _FEW_LABELS:
            for row in range(begin, end):
                level[row] = _find(y[row], labels, number)
        else:
            order = np.argsort(y[begin:end])
            number = 1
            for k in range(end - begin):
                if k > 0 and y[begin + order[k]] > y[begin + order[k - 1]]:
                    number += 1
                level[begin + order[k]] = number - 1
        n_levels[q] = number
        # A histogram of the levels, shifted by one and cumulated: the
        # number of documents below each level.
        n_below = np.zeros(number + 1)
        for row in range(begin, end):
            n_below[level[row] + 1] += 1.0
        for rank in range(number):
            n_below[rank + 1] += n_below[rank]
        for row in range(begin, end):
            lower[row] = n_below[level[row]]
            higher[row] = end - begin - n_below[level[row] + 1]
