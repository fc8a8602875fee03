"""The compiled part: rank the documents of a query once and read every measure off that ranking.

All kernels are in this one file on purpose: numba's cache notices a change in the file of the function that
is called from Python and not in the files of those which that one calls. Arrays go from kernel to kernel one
by one: taking them out of a tuple in every call more than doubled the time.

Lengths: m documents, Q queries, K models, n documents in one query, L different labels in one query.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.metrics.conventions import Short
from rankstudio.engine.metrics.names import MeasureKind
from rankstudio.engine.support.jit import kernel, subroutine

RUN = 16
"""Runs up to this length are sorted by insertion: most queries of LETOR 4.0 are one run."""


class Truth(NamedTuple):
    """What is known of the queries before there is any score.

    Attributes
    ----------
    query_ptr : ndarray of shape (Q + 1,)
        First document of each query, and m.
    gain : ndarray of shape (m,)
    ideal : ndarray of shape (m,)
        At place i of a query: its DCG@(i + 1) in the best order.
    relevant : ndarray of shape (m,)
        1.0 or 0.0.
    n_relevant : ndarray of shape (Q,)
    level : ndarray of shape (m,), or (0,) where no measure needs it
        Position of the label among the different labels of its query, 0 … L - 1.
    n_pairs : ndarray of shape (Q,), or (0,)
        Number of pairs of documents with different labels.
    weight : ndarray of shape (longest query,)
        1 / discount of each rank.
    """

    query_ptr: Ints
    gain: Floats
    ideal: Floats
    relevant: Floats
    n_relevant: Ints
    level: Ints
    n_pairs: Ints
    weight: Floats


def scratch_space(longest: int) -> tuple[Floats, Ints]:
    """Return what the kernels work in: arrays that are made there take long to compile."""
    return np.empty((7, longest)), np.empty((3, longest + 1), dtype=np.int64)


class Rules(NamedTuple):
    """A convention's choices as numbers; see ``Convention`` for what they mean."""

    empty_query: float
    short_ndcg: int
    short_precision: int
    map_cut_divides_by_k: bool
    ties_averaged: bool


@subroutine
def sort_descending(key: Floats, item: Ints, n: int, spare_key: Floats, spare_item: Ints) -> None:
    """Sort the first n keys from the greatest down and the items with them; equal keys keep their order.

    Insertion inside runs of ``RUN``, then merging from the bottom up: O(n log n).
    """
    for start in range(0, n, RUN):
        for i in range(start + 1, min(start + RUN, n)):
            k, it = key[i], item[i]
            j = i - 1
            while j >= start and key[j] < k:
                key[j + 1], item[j + 1] = key[j], item[j]
                j -= 1
            key[j + 1], item[j + 1] = k, it
    width = RUN
    while width < n:
        for start in range(0, n - width, 2 * width):
            _merge(key, item, start, start + width, min(start + 2 * width, n), spare_key, spare_item)
        width *= 2


@subroutine
def _merge(
    key: Floats, item: Ints, start: int, middle: int, stop: int, spare_key: Floats, spare_item: Ints
) -> None:
    """Merge two sorted neighbours, of equal keys the left one's first."""
    if key[middle - 1] >= key[middle]:
        return
    n_left = middle - start
    for i in range(n_left):
        spare_key[i], spare_item[i] = key[start + i], item[start + i]
    left, right, out = 0, middle, start
    while left < n_left and right < stop:
        from_left = bool(spare_key[left] >= key[right])  # no branch: it would be guessed wrong half the time
        key[out] = spare_key[left] if from_left else key[right]
        item[out] = spare_item[left] if from_left else item[right]
        left += from_left
        right += 1 - from_left
        out += 1
    while left < n_left:
        key[out], item[out] = spare_key[left], spare_item[left]
        left += 1
        out += 1


@kernel
def ideal_dcg(
    gain: Floats, query_ptr: Ints, weight: Floats, out: Floats, reals: Floats, integers: Ints
) -> None:
    """Write ``Truth.ideal``: the DCG at every rank of every query in the best order, O(m log n).

    ``reals`` and ``integers`` are those of :func:`scratch_space`.
    """
    key, spare_key, item, spare_item = reals[0], reals[1], integers[0], integers[1]
    for q in range(query_ptr.shape[0] - 1):
        first, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
        for i in range(n):
            key[i] = gain[first + i]
        sort_descending(key, item, n, spare_key, spare_item)
        total = 0.0
        for i in range(n):
            total += key[i] * weight[i]
            out[first + i] = total


@kernel
def measure_all(
    scores: Floats,
    truth: Truth,
    rules: Rules,
    kinds: Ints,
    cuts: Ints,
    out: Floats,
    reals: Floats,
    integers: Ints,
) -> int:
    """Compute every measure of every model in every query.

    Parameters
    ----------
    scores : ndarray of shape (K, m)
    truth, rules : Truth, Rules
    kinds, cuts : ndarray of shape (M,)
        The measures; a cut-off of 0 means all documents.
    out : ndarray of shape (M, K, Q)
        Receives the values.
    reals, integers : ndarray
        Of :func:`scratch_space`.

    Returns
    -------
    int
        Position in ``scores``, flattened, of the first NaN met, and then ``out`` is not complete; else -1.

    Notes
    -----
    O(K m log n), with the disagreement error O(K m (log n + log L)).
    """
    n_models, n_documents = scores.shape
    query_ptr, ideal, n_relevant = truth.query_ptr, truth.ideal, truth.n_relevant
    level, n_pairs = truth.level, truth.n_pairs
    key, spare_key, gain, relevant = reals[0], reals[1], reals[2], reals[3]
    dcg, hits, precisions = reals[4], reals[5], reals[6]
    item, spare_item, tree = integers[0], integers[1], integers[2]
    for model in range(n_models):
        for q in range(query_ptr.shape[0] - 1):
            first, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
            for i in range(n):
                score = scores[model, first + i]
                if np.isnan(score):
                    return int(model * n_documents + first + i)
                key[i], item[i] = score, first + i
            sort_descending(key, item, n, spare_key, spare_item)
            for i in range(n):
                gain[i], relevant[i] = truth.gain[item[i]], truth.relevant[item[i]]
            if rules.ties_averaged:
                _share_between_ties(key, gain, n)
                _share_between_ties(key, relevant, n)
            _accumulate(gain, relevant, truth.weight, n, dcg, hits, precisions)
            if rules.ties_averaged:
                _one_precision_for_ties(key, relevant, hits, n, precisions)
            for j in range(kinds.shape[0]):
                kind, cut = kinds[j], cuts[j]
                if kind == MeasureKind.MAP:
                    value = _average_precision(cut, precisions, n_relevant[q], rules, n)
                elif kind == MeasureKind.P:
                    value = _precision(cut, hits, rules, n)
                elif kind == MeasureKind.NDCG:
                    value = _ndcg(cut, dcg, ideal, first, rules, n)
                elif kind == MeasureKind.MEAN_NDCG:
                    value = _mean_ndcg(dcg, ideal, first, rules, n)
                else:
                    value = _disagreement(key, item, level, n_pairs[q], n, tree)
                out[j, model, q] = value
    return -1


@subroutine
def _accumulate(
    gain: Floats, relevant: Floats, weight: Floats, n: int, dcg: Floats, hits: Floats, precisions: Floats
) -> None:
    """Sum over the ranks: discounted gains, relevant documents, precisions at relevant documents."""
    gains, found, total = 0.0, 0.0, 0.0
    for i in range(n):
        gains += gain[i] * weight[i]
        found += relevant[i]
        total += relevant[i] * found / (i + 1)
        dcg[i], hits[i], precisions[i] = gains, found, total


@subroutine
def _end_of_tie(key: Floats, stop: int, n: int) -> int:
    """Return the rank after the last document with the score of the one before ``stop``."""
    while stop < n and key[stop] == key[stop - 1]:
        stop += 1
    return stop


@subroutine
def _share_between_ties(key: Floats, values: Floats, n: int) -> None:
    """Give documents with the same score the mean of their values."""
    start = 0
    while start < n:
        stop = _end_of_tie(key, start + 1, n)
        if stop > start + 1:
            total = 0.0
            for i in range(start, stop):
                total += values[i]
            for i in range(start, stop):
                values[i] = total / (stop - start)
        start = stop


@subroutine
def _one_precision_for_ties(key: Floats, relevant: Floats, hits: Floats, n: int, precisions: Floats) -> None:
    """Recompute ``precisions`` with one precision a score, as average_precision_score does."""
    start, total = 0, 0.0
    while start < n:
        stop = _end_of_tie(key, start + 1, n)
        precision = hits[stop - 1] / stop
        for i in range(start, stop):
            total += relevant[i] * precision
            precisions[i] = total
        start = stop


@subroutine
def _average_precision(cut: int, precisions: Floats, n_relevant: int, rules: Rules, n: int) -> float:
    if n_relevant == 0:
        return rules.empty_query
    if cut == 0:
        return float(precisions[n - 1] / n_relevant)
    divisor = min(n_relevant, cut) if rules.map_cut_divides_by_k else n_relevant
    return float(precisions[min(cut, n) - 1] / divisor)


@subroutine
def _precision(cut: int, hits: Floats, rules: Rules, n: int) -> float:
    if cut <= n:
        return float(hits[cut - 1] / cut)
    if rules.short_precision == Short.ZERO:
        return 0.0
    return float(hits[n - 1] / (n if rules.short_precision == Short.SHRINK else cut))


@subroutine
def _ndcg(cut: int, dcg: Floats, ideal: Floats, first: int, rules: Rules, n: int) -> float:
    if ideal[first + n - 1] == 0.0:
        return rules.empty_query
    if cut > n and rules.short_ndcg == Short.ZERO:
        return 0.0
    last = n - 1 if cut == 0 else min(cut, n) - 1
    return float(dcg[last] / ideal[first + last])


@subroutine
def _mean_ndcg(dcg: Floats, ideal: Floats, first: int, rules: Rules, n: int) -> float:
    if ideal[first + n - 1] == 0.0:
        return rules.empty_query
    total = 0.0
    for i in range(n):
        total += dcg[i] / ideal[first + i]
    return total / n


@subroutine
def _disagreement(key: Floats, item: Ints, level: Ints, n_pairs: int, n: int, tree: Ints) -> float:
    """Return the share of pairs in the wrong order, NaN without a pair: O(n log n).

    Going down the ranking, a document is wrong about every lower label met at a higher score and half wrong
    about every lower label met at its own: the mean of the counts before and after its tie is entered.
    """
    if n_pairs == 0:
        return np.nan
    for i in range(n + 1):
        tree[i] = 0
    halves, start = 0, 0
    while start < n:
        stop = _end_of_tie(key, start + 1, n)
        for i in range(start, stop):
            halves += _count_below(tree, level[item[i]])
        for i in range(start, stop):
            _enter(tree, level[item[i]], n)
        for i in range(start, stop):
            halves += _count_below(tree, level[item[i]])
        start = stop
    return 0.5 * halves / n_pairs


@subroutine
def _enter(tree: Ints, level: int, n: int) -> None:
    """Count a document of this level in (a Fenwick tree: node i stands for the levels that end at i - 1)."""
    node = level + 1
    while node <= n:
        tree[node] += 1
        node += node & -node


@subroutine
def _count_below(tree: Ints, level: int) -> int:
    """Return how many documents of lower levels were counted in."""
    node, count = level, 0
    while node > 0:
        count += tree[node]
        node -= node & -node
    return count
