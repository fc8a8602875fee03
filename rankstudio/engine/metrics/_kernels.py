"""The compiled part: rank the documents of a query once and read every measure off that ranking.

All kernels that measure are in this one file on purpose: numba's cache
notices a change in the file of the function that is called from Python,
but not in the files of functions that this one calls. Arrays are passed
from kernel to kernel one by one: taking them out of a tuple in every
call more than doubled the time.

Lengths: m documents, Q queries, K models, n documents in one query, L different labels.

These are the equations of the measures. With r_i = 1 for a relevant
document at rank i, h_i = Σ_{j≤i} r_j, R relevant and N irrelevant
documents, gains g, weights w of the ranks and chances s to stop at a
document:

(1) AP@k = Σ_{i≤k} r_i h_i / i / d, where d is R or, by the convention,
the cut-off k below R. (2) NDCG@k = Σ_{i≤k} g_i w_i divided by the same
sum in the best order. (3) RBP
= (1 - p) Σ_i r_i p^(i-1). (4) Bpref = 1/R Σ [1 - min(a, R) / min(R, N)] over relevant
documents, with a irrelevant documents above each. (5) ERR = Σ_i 1/i s_i
Π_{j<i} (1 - s_j); RR has s = r, and Success has 1 instead of 1/i, too.
(6) c_j ← [(t - j) c_j + j c_{j-1} (1 - s)] / t: in a tie, the chance to
pass j of its first t documents. (7) AUC = 1 - (W + T/2) / (R N), with W
pairs in the wrong order and T tied ones. (8) F = 2 h_i / (i + R). (9)
τ_b = (P - 2 D - T) / √(P U), with P pairs of different labels, of which
D are in the wrong order and T
    tied, and U pairs of different scores.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.metrics.conventions import Short
from rankstudio.engine.metrics.families import kind_of
from rankstudio.engine.support.jit import kernel, subroutine

Codes = NDArray[np.unsignedinteger[Any]]
"""Labels in ranked order, as :func:`rank_all` writes them."""

# A cached kernel contains these numbers: a new measure must be added at
# the end of `measures.toml`.
_MAP = kind_of("MAP")
_P = kind_of("P")
_NDCG = kind_of("NDCG")
_MEAN_NDCG = kind_of("MeanNDCG")
_STRICT = kind_of("StrictDisagreement")
_TAU = kind_of("Tau")
_F = kind_of("F")
_MAX_F = kind_of("MaxF")
_R_PRECISION = kind_of("RPrecision")
_DISAGREEMENT = kind_of("Disagreement")
_ERR = kind_of("ERR")
_RECALL = kind_of("Recall")
_AUC = kind_of("AUC")
_SUCCESS = kind_of("Success")
_RBP = kind_of("RBP")
_BPREF = kind_of("Bpref")
_JUDGED = kind_of("Judged")

RUN = 16
"""Runs up to this length are sorted by insertion: most queries of LETOR 4.0 are one run."""

# more than n / 3 rises among n documents: sorting again is faster than insertion
_STEEP = 3
_FAR = 8  # after 8 n moves insertion gives up, for the same reason


def scratch_space(longest: int) -> tuple[Floats, Ints]:
    """Return work space of the kernels for queries of up to ``longest`` documents: rows of reals and of integers.

    Kernels that create arrays themselves take long to compile.
    """
    return np.empty((7, longest + 1)), np.empty((2, longest + 1), dtype=np.int64)


@subroutine
def sort_descending(
    key: Floats, item: Ints, n: int, spare_key: Floats, spare_item: Ints
) -> None:
    """Sort the first n keys from the greatest down and the items with them; equal keys keep their order.

    ``key`` and ``item`` are sorted in place; the two spare arrays are
    work space. Runs of ``RUN`` keys are sorted by insertion, and then
    merged from the bottom up: O(n log n).
    """
    # Sort each run by insertion.
    for start in range(0, n, RUN):
        for i in range(start + 1, start + RUN if start + RUN < n else n):
            moved_key = key[i]
            moved_item = item[i]
            j = i - 1
            while j >= start and key[j] < moved_key:
                key[j + 1] = key[j]
                item[j + 1] = item[j]
                j -= 1
            key[j + 1] = moved_key
            item[j + 1] = moved_item
    # Merge neighbours; the sorted runs double in length each time.
    width = RUN
    while width < n:
        for start in range(0, n - width, 2 * width):
            stop = start + 2 * width
            _merge(
                key,
                item,
                start,
                start + width,
                stop if stop < n else n,
                spare_key,
                spare_item,
            )
        width *= 2


@subroutine
def _merge(
    key: Floats,
    item: Ints,
    start: int,
    middle: int,
    stop: int,
    spare_key: Floats,
    spare_item: Ints,
) -> None:
    """Merge two sorted neighbours; of equal keys, those of the left neighbour come first.

    The neighbours are the positions start … middle
    - 1 and middle … stop - 1 of ``key``, each with
    the greatest keys first. Each entry of ``item`` moves with its key.
    The spare arrays are work space.
    """
    if key[middle - 1] >= key[middle]:  # already in order
        return
    # Copy the left neighbour, whose place is written first.
    n_left = middle - start
    for i in range(n_left):
        spare_key[i] = key[start + i]
        spare_item[i] = item[start + i]
    # Write the greater of both keys; what is left of the right neighbour is in place.
    left = 0
    right = middle
    out = start
    while left < n_left and right < stop:
        # Without a branch, which a processor would predict wrongly half
        # the time.
        from_left = bool(spare_key[left] >= key[right])
        key[out] = spare_key[left] if from_left else key[right]
        item[out] = spare_item[left] if from_left else item[right]
        left += from_left
        right += 1 - from_left
        out += 1
    while left < n_left:
        key[out] = spare_key[left]
        item[out] = spare_item[left]
        left += 1
        out += 1


@subroutine
def _insert_descending(key: Floats, item: Ints, n: int) -> bool:
    """Sort the first n keys from the greatest down by insertion, equal keys by item; False if it takes long.

    Insertion is fast for keys that are nearly sorted. With too many
    moves it stops, and the arrays are only partly sorted: another
    method is faster then. Each entry of ``item`` moves with its key.
    ``key`` and ``item`` are sorted in place.
    """
    moves_left = _FAR * n  # a few per key
    for i in range(1, n):
        moved_key = key[i]
        moved_item = item[i]
        j = i - 1
        # Move the keys that come after this one to the right.
        while j >= 0 and (
            key[j] < moved_key or (key[j] == moved_key and item[j] > moved_item)
        ):
            key[j + 1] = key[j]
            item[j + 1] = item[j]
            j -= 1
        key[j + 1] = moved_key
        item[j + 1] = moved_item
        moves_left -= i - 1 - j
        if moves_left < 0:
            return False
    return True


@subroutine
def _write_scores(
    scores: Floats, model: int, item: Ints, n: int, key: Floats
) -> tuple[int, int]:
    """Write the scores of n items by one model to ``key``, in the order of the items.

    Return how many scores exceed the one before: 0 if the items are
    sorted by score. The second number is the first item with a NaN as
    its score, or -1 if there is none. ``scores`` (K, m) are those of
    all models.
    """
    rises = 0
    last = np.inf
    for i in range(n):
        score = scores[model, item[i]]
        if np.isnan(score):
            return rises, item[i]
        rises += score > last
        key[i] = last = score
    return rises, -1


@kernel
def rank_all(
    scores: Floats,
    query_ptr: Ints,
    level: Codes,
    out: Codes,
    order: Ints,
    reals: Floats,
    integers: Ints,
) -> int:
    """Write the labels of the documents of each query from the best score down, for every model.

    The sort for a model starts from the order of the model before,
    because neighbouring models on a path rank nearly alike.

    Parameters
    ----------
    scores : ndarray of shape (K, m)
        Scores of K models.
    query_ptr : ndarray of shape (Q + 1,)
        First document of each query, followed by m.
    level : ndarray of shape (m,)
        Position of each document's label among the different ones.
    out : ndarray of shape (K, m)
        Receives twice the level, plus 1 if the score equals that of the
        document before.
    order : ndarray of shape (m,)
        Receives the documents as the last model ranks them.
    reals, integers : ndarray
        Work space of :func:`scratch_space`: rows as long as the longest query.

    Returns
    -------
    int
        Position of a NaN in the flattened ``scores``; ``out`` is then
        incomplete. Otherwise -1.

    Notes
    -----
    O(K m log n); O(K m) if consecutive models rank nearly alike.
    """
    n_models, n_documents = scores.shape
    key = reals[0]
    spare_key = reals[1]
    spare_item = integers[0]
    for model in range(n_models):
        for q in range(query_ptr.shape[0] - 1):
            first = query_ptr[q]
            n = query_ptr[q + 1] - query_ptr[q]
            item = order[first : first + n]
            # `key` receives the scores in the order of the model
            # before; `rises` counts those above the one before, and
            # `bad` is a document with the score NaN, or -1. The first
            # model has no order before it. n rises, more than there can
            # be, make it sort.
            rises, bad = (
                (n, -1) if model == 0 else _write_scores(scores, model, item, n, key)
            )
            # Few rises mean that the order is nearly right. Then
            # insertion is tried; it returns False if it gives up.
            if bad < 0 and (_STEEP * rises > n or not _insert_descending(key, item, n)):
                # Sort anew from the order of the file, by a sort that
                # does not swap equal scores.
                for i in range(n):
                    item[i] = first + i
                _, bad = _write_scores(scores, model, item, n, key)
                sort_descending(key, item, n, spare_key, spare_item)
            if bad >= 0:
                return int(model * n_documents + bad)
            # 1 is added for a score equal to the one before.
            out[model, first] = 2 * level[item[0]]
            for i in range(1, n):
                out[model, first + i] = 2 * level[item[i]] + (key[i] == key[i - 1])
    return -1


class Truth(NamedTuple):
    """Quantities of the queries that do not depend on scores.

    Attributes
    ----------
    query_ptr : ndarray of shape (Q + 1,)
        First document of each query, and m.
    ideal : ndarray of shape (m,)
        At position i of a query, its DCG@(i + 1) in the best order.
    n_relevant : ndarray of shape (Q,)
    n_pairs : ndarray of shape (Q,), or (0,) if no measure needs it
        Number of pairs of documents with different labels.
    weight : ndarray of shape (longest query,)
        1 / discount of each rank.
    n_judged : ndarray of shape (Q,)
        Number of documents whose label is not negative.
    gain, relevant, stop, judged : ndarray of shape (L,)
        For each label, ascending: its gain, 1.0 if it is relevant, the
        probability that it ends the search, and 1.0 if it is not
        negative.
    """

    query_ptr: Ints
    ideal: Floats
    n_relevant: Ints
    n_pairs: Ints
    weight: Floats
    gain: Floats
    relevant: Floats
    stop: Floats
    n_judged: Ints
    judged: Floats


class Rules(NamedTuple):
    """The rules by which a convention computes the measures, as numbers.

    Attributes
    ----------
    empty_query : float
        NDCG of a query without a positive gain, and average precision
        of a query without a relevant document.
    short_ndcg, short_precision : int
        NDCG@k and P@k of a query with n < k documents: 0 if the query
        counts 0, 1 if P@k is divided by k, 2 if k becomes n.
    map_cut_divides_by_k : bool
        Whether MAP@k divides by min(R, k), where R is the number of
        relevant documents, or by R.
    ties_averaged : bool
        Whether a measure is averaged over all orders of documents with
        equal scores.
    ties_reversed : bool
        Whether such documents are in the reverse order in rankings.
    """

    empty_query: float
    short_ndcg: int
    short_precision: int
    map_cut_divides_by_k: bool
    ties_averaged: bool
    ties_reversed: bool


@kernel
def measure_all(
    ranked: Codes,
    models: tuple[int, int],
    begins: Ints,
    ends: Ints,
    truth: Truth,
    rules: Rules,
    kinds: Ints,
    cuts: Ints,
    persistences: Floats,
    deepest: int,
    graded: bool,
    counted: bool,
    out: Floats,
    reals: Floats,
    integers: Ints,
    tree: Ints | None,
) -> None:
    """Compute every measure of models in every query.

    Parameters
    ----------
    ranked : ndarray of shape (K, m)
        Labels in ranked order, with marks of ties, as ``rank_all`` writes them.
    models : tuple of int
        The least of ``begins``, and the greatest of ``ends``.
    begins, ends : ndarray of shape (Q,)
        The first model that is measured in each query, and the one after the last.
    truth, rules : Truth, Rules
    kinds, cuts : ndarray of shape (M,)
        The measures; a cut-off of 0 means all documents.
    persistences : ndarray of shape (M,)
        Chance p of rank-biased precision, 0 for other measures.
    deepest : int
        Maximum number of first documents of a query that any measure needs.
    graded : bool
        Whether any measure needs gains.
    counted : bool
        Whether any measure needs the number of relevant documents before a rank.
    out : ndarray of shape (M, K, Q)
        Receives the values.
    reals, integers : ndarray
        Work space, from ``scratch_space``.
    tree : ndarray of shape (L + 1,), or None
        Zeros, before and after the call. None if every measure is MAP,
        P or NDCG and no ties are averaged: the code for other measures
        is then not compiled.

    Notes
    -----
    O(K m) or, if every measure has a cut-off k, O(K Q k); with the
    disagreement error O(K m log L). If ties are averaged, ERR and RR
    take the square of the longest tie.
    """
    query_ptr = truth.query_ptr
    ideal = truth.ideal
    n_relevant = truth.n_relevant
    n_pairs = truth.n_pairs
    gains = truth.gain
    relevants = truth.relevant
    chances = truth.stop
    weight = truth.weight
    judged = truth.judged
    n_judged = truth.n_judged
    # The scratch arrays, each for one use.
    key = reals[0]
    passed = reals[1]
    gain = reals[2]
    relevant = reals[3]
    dcg = reals[4]
    hits = reals[5]
    precisions = reals[6]
    level = integers[0]
    for model in range(models[0], models[1]):
        for q in range(query_ptr.shape[0] - 1):
            # Skip the models that are not measured in this query.
            if model < begins[q] or model >= ends[q]:
                continue
            # No measure needs the ranks below the deepest cutoff.
            first = query_ptr[q]
            n = query_ptr[q + 1] - query_ptr[q]
            depth_limit = deepest if deepest < n else n
            depth = _unpack(
                ranked[model], first, n, depth_limit, rules.ties_reversed, level, key
            )
            # Sum up gains and relevant documents from rank to rank.
            if graded:
                _grade(
                    gains,
                    weight,
                    key,
                    level,
                    depth,
                    rules.ties_averaged,
                    gain,
                    dcg,
                    tree,
                )
            if counted:
                _count(
                    relevants,
                    key,
                    level,
                    depth,
                    rules.ties_averaged,
                    relevant,
                    hits,
                    precisions,
                    tree,
                )
            # Compute each measure from these sums or the order of labels.
            for j in range(kinds.shape[0]):
                kind = kinds[j]
                cut = cuts[j]
                value = np.nan
                if kind == _MAP:
                    value = _average_precision(cut, precisions, n_relevant[q], rules, n)
                elif kind == _NDCG:
                    value = _ndcg(cut, dcg, ideal, first, rules, n)
                elif kind == _MEAN_NDCG:
                    value = _mean_ndcg(dcg, ideal, first, rules, n)
                elif kind in (_P, _F, _R_PRECISION, _RBP):
                    value = _measure_hits(
                        kind, cut, hits, rules, n, n_relevant[q], persistences[j]
                    )
                elif tree is not None and kind in (_BPREF, _JUDGED):
                    value = _measure_judged(
                        kind, cut, key, level, relevants, judged, depth, n, n_relevant[q],
                        n_judged[q], rules.ties_averaged,
                    )  # fmt: skip
                elif tree is not None:
                    value = _measure_order(
                        kind, cut, key, level, hits, relevants, chances, depth, n, n_relevant[q],
                        n_pairs[q] if n_pairs.size else 0, rules.ties_averaged, passed, tree,
                    )  # fmt: skip
                out[j, model, q] = value


@subroutine
def _unpack(
    ranked: Codes,
    first: int,
    n: int,
    depth: int,
    backwards: bool,
    level: Ints,
    key: Floats,
) -> int:
    """Decode at least ``depth`` ranks of a query: write the level of each label, and equal keys for a tie.

    A level is the position of a label among the different labels.
    ``ranked`` (m,) has a code per document in ranked order: twice the
    level of its label, plus 1 if its score equals that of the document
    before. The n documents of the query begin at ``first``. A tie is
    never cut, so that more ranks may be written; their number is
    returned. If ``backwards``, the documents of a tie are written in
    the reverse order. ``key`` receives a number per rank, equal in a
    tie.
    """
    start = 0
    while start < depth:
        stop = start + 1
        # in a tie with the document before
        while stop < n and ranked[first + stop] & 1:
            stop += 1
        for i in range(start, stop):
            position = start + stop - 1 - i if backwards else i
            level[i] = ranked[first + position] >> 1  # without the bit for ties
            key[i] = -start  # falls from tie to tie, as scores do
        start = stop
    return start


@subroutine
def _grade(
    gains: Floats,
    weight: Floats,
    key: Floats,
    level: Ints,
    n: int,
    averaged: bool,
    gain: Floats,
    dcg: Floats,
    tree: Ints | None,
) -> None:
    """Write the gain of each of n ranks to ``gain``, and the sum of discounted gains up to it to ``dcg``.

    ``level`` (n,) are the levels of the labels, ``gains`` (L,) the gain
    of each level, and ``weight`` the discount of each rank. If
    ``averaged``, the documents of a tie, with equal keys, share their
    gains. ``tree`` is the work space of other measures. In this
    function, only the type of ``tree`` counts: callers pass None only
    if no ties are averaged, and the kernel is then compiled without
    this branch. ``key`` has a number per rank, equal in a tie.
    """
    for i in range(n):
        gain[i] = gains[level[i]]
    if tree is not None and averaged:
        _share_between_ties(key, gain, n)
    total = 0.0
    for i in range(n):
        total += gain[i] * weight[i]
        dcg[i] = total


@subroutine
def _count(
    relevants: Floats,
    key: Floats,
    level: Ints,
    n: int,
    averaged: bool,
    relevant: Floats,
    hits: Floats,
    precisions: Floats,
    tree: Ints | None,
) -> None:
    """Write the number of relevant documents up to each rank to ``hits``.

    Also write to ``relevant`` which ranks are relevant, and to
    ``precisions`` the sum of the precisions at the relevant ranks so
    far. ``level`` (n,) are the levels of the labels, and ``relevants``
    (L,) is 1 for a relevant level. If ``averaged``, the documents of a
    tie, with equal keys, share their relevance. ``tree`` is the work
    space of other measures. In this function, only the type of ``tree``
    counts: callers pass None only if no ties are averaged, and the
    kernel is then compiled without this branch. ``key`` has a number
    per rank, equal in a tie.
    """
    for i in range(n):
        relevant[i] = relevants[level[i]]
    if tree is not None and averaged:
        _share_between_ties(key, relevant, n)
    n_hits = 0.0
    total = 0.0
    for i in range(n):
        if relevant[i] > 0.0:
            n_hits += relevant[i]
            total += relevant[i] * n_hits / (i + 1)  # the precision at this rank
        hits[i] = n_hits
        precisions[i] = total
    # The documents of a tie have the same precision, too.
    if tree is not None and averaged:
        _one_precision_for_ties(key, relevant, hits, n, precisions)


@subroutine
def _end_of_tie(key: Floats, stop: int, n: int) -> int:
    """Return the position after the last document with the key of the one before ``stop``.

    ``key`` (n,) are scores, or numbers that are equal in a tie.
    """
    while stop < n and key[stop] == key[stop - 1]:
        stop += 1
    return stop


@subroutine
def _share_between_ties(key: Floats, values: Floats, n: int) -> None:
    """Give the documents of a tie, with equal keys, the mean of their values; both arrays have n ranks."""
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
def _one_precision_for_ties(
    key: Floats, relevant: Floats, hits: Floats, n: int, precisions: Floats
) -> None:
    """Recompute ``precisions`` with one precision per score, like scikit-learn's average_precision_score.

    ``precisions`` are the sums of precisions at relevant documents up
    to each of n ranks; ``hits`` are the numbers of relevant documents
    up to it. All documents of a tie, with equal keys, get the precision
    at its end. ``key`` has a number per rank, equal in a tie.
    """
    start = 0
    total = 0.0
    while start < n:
        stop = _end_of_tie(key, start + 1, n)
        precision = hits[stop - 1] / stop
        for i in range(start, stop):
            total += relevant[i] * precision
            precisions[i] = total
        start = stop


@subroutine
def _average_precision(
    cut: int, precisions: Floats, n_relevant: int, rules: Rules, n: int
) -> float:
    """Return AP@cut, the average precision: the sum of precisions at relevant ranks, divided by R or the cut.

    ``precisions`` are these sums up to each of n ranks, and R is the
    number of relevant documents. A cut of 0 means all ranks. By some
    conventions, whose ``rules`` say so, the divisor is the cut if it is
    less than R. ``n_relevant`` is the number of relevant documents of
    the query.
    """
    if n_relevant == 0:
        return rules.empty_query  # the value of such a query by the convention
    if cut == 0:
        return float(precisions[n - 1] / n_relevant)
    divisor = cut if rules.map_cut_divides_by_k and cut < n_relevant else n_relevant
    return float(precisions[(cut if cut < n else n) - 1] / divisor)


@subroutine
def _precision(cut: int, hits: Floats, rules: Rules, n: int) -> float:
    """Return the share of relevant documents among the first ``cut``, P@cut.

    ``hits`` are the numbers of relevant documents up to each of n
    ranks. For fewer than ``cut`` documents, the convention has a rule.
    The cut is at least
    1.
    """
    if cut <= n:
        return float(hits[cut - 1] / cut)
    if rules.short_precision == Short.ZERO:
        return 0.0
    return float(hits[n - 1] / (n if rules.short_precision == Short.SHRINK else cut))


@subroutine
def _ndcg(
    cut: int, dcg: Floats, ideal: Floats, first: int, rules: Rules, n: int
) -> float:
    """Return NDCG@cut: DCG@cut, for cut 0 of all documents, over that of the best order.

    ``dcg`` has the sums of discounted gains up to each rank of a query
    with n documents, and ``ideal`` (m,) those in the best order, which
    begin at ``first`` for this query. By some conventions, the
    ``rules``, a query with fewer than ``cut`` documents counts 0.
    """
    if ideal[first + n - 1] == 0.0:  # DCG of the best order: no document has a gain
        return rules.empty_query
    if cut > n and rules.short_ndcg == Short.ZERO:
        return 0.0
    last = (cut if 0 < cut < n else n) - 1
    return float(dcg[last] / ideal[first + last])


@subroutine
def _mean_ndcg(dcg: Floats, ideal: Floats, first: int, rules: Rules, n: int) -> float:
    """Return the mean of NDCG@1 … NDCG@n, as LETOR's tool computes it.

    ``dcg`` has the sums of discounted gains up to each rank of a query
    with n documents, and ``ideal`` (m,) those in the best order, which
    begin at ``first`` for this query. The ``rules`` of the convention
    have the value of a query without gains.
    """
    # No document has a gain: the convention has a value for such queries.
    if ideal[first + n - 1] == 0.0:
        return rules.empty_query
    total = 0.0
    for i in range(n):
        total += dcg[i] / ideal[first + i]
    return total / n


@subroutine
def _measure_hits(
    kind: int,
    cut: int,
    hits: Floats,
    rules: Rules,
    n: int,
    n_relevant: int,
    persistence: float,
) -> float:
    """Return P@cut, F@cut, R-precision or rank-biased precision, as ``kind`` says.

    ``hits`` are the numbers of relevant documents up to each of n
    ranks. P and F always have a cut; R-precision has none. For
    rank-biased precision, a cut of 0 means all ranks, and
    ``persistence`` is the probability that a reader goes on to the next
    document. The ``rules`` say by what P is divided in a short query.
    ``n_relevant`` is the number of relevant documents of the query.
    """
    if kind == _P:
        return _precision(cut, hits, rules, n)
    if kind == _RBP:
        return _rank_biased_precision(persistence, hits, n if cut == 0 else min(cut, n))
    if kind == _R_PRECISION:
        return float(hits[n_relevant - 1] / n_relevant) if n_relevant else 0.0
    # The remaining kind is F@cut.
    n_hits = hits[min(cut, n) - 1]
    if n_hits == 0.0:
        return 0.0
    # F = 2 / (1 / precision + 1 / recall), with recall = n_hits / n_relevant
    return float(2.0 * n_hits / (n_hits / _precision(cut, hits, rules, n) + n_relevant))


@subroutine
def _rank_biased_precision(persistence: float, hits: Floats, last: int) -> float:
    """Return (1 − p) times the sum of p^i over the relevant documents, where i documents are above each.

    p is ``persistence``, the probability that a reader goes on to the
    next document. ``hits`` are the numbers of relevant documents up to
    each rank. Only the first ``last`` ranks count.
    """
    total = 0.0
    weight = 1.0 - persistence
    hits_above = 0.0
    for i in range(last):
        # The difference is 1 for a relevant document, or its share in a tie.
        total += weight * (hits[i] - hits_above)
        hits_above = hits[i]
        weight *= persistence
    return total


@subroutine
def _measure_judged(
    kind: int,
    cut: int,
    key: Floats,
    level: Ints,
    relevants: Floats,
    judged: Floats,
    depth: int,
    n: int,
    n_relevant: int,
    n_judged: int,
    averaged: bool,
) -> float:
    """Return binary preference, or the share of judged documents among the first ``cut``, as ``kind`` says.

    Judged documents have labels from 0 up. ``key`` and ``level`` have a
    number for each rank. The keys fall as the scores do: documents with
    equal keys are a tie. A level is the position of a label among the L
    different labels. ``relevants`` (L,) is 1 for levels of relevant
    documents, ``judged`` (L,) for levels of judged ones. Only ``depth``
    of the n ranks are filled; for binary preference, all are. The query
    has ``n_relevant`` relevant and ``n_judged`` judged documents. If
    ``averaged``, the result is a mean over the orders of ties. The
    share always has a cut.
    """
    if kind == _JUDGED:
        return _judged_share(key, level, judged, min(cut, n), depth, averaged)
    if n_relevant == 0:
        return 0.0
    return _preference(
        key, level, relevants, judged, n, n_relevant, n_judged - n_relevant, averaged
    )


@subroutine
def _judged_share(
    key: Floats, level: Ints, judged: Floats, last: int, n: int, averaged: bool
) -> float:
    """Return the share of judged documents among the first ``last``; of a tie, the mean over its orders.

    ``level`` are the levels of the labels of n ranks: a level is the
    position of a label among the L different ones. ``judged`` (L,) is 1
    for levels of judged documents. Documents of a tie have equal values
    of ``key``. Without ``averaged``, each document counts by itself, in
    the order of the ranks. ``key`` has a number per rank, equal in a
    tie.
    """
    total = 0.0
    start = 0
    while start < last:
        stop = _end_of_tie(key, start + 1, n) if averaged else start + 1
        count = 0.0
        for i in range(start, stop):
            count += judged[level[i]]
        # Of a tie that ``last`` cuts, the mean number above the cut.
        total += count * (min(stop, last) - start) / (stop - start)
        start = stop
    return total / last


@subroutine
def _preference(
    key: Floats,
    level: Ints,
    relevants: Floats,
    judged: Floats,
    n: int,
    n_relevant: int,
    n_irrelevant: int,
    averaged: bool,
) -> float:
    """Return the mean of 1 − min(a, R) / min(R, N) over R relevant documents, with a of N irrelevant above.

    The mean is the measure binary preference. R are the relevant and N
    the irrelevant judged documents of the query; a of these are above
    the relevant document.

    ``level`` are the levels of the labels of n ranks: a level is the
    position of a label among the L different ones. ``relevants`` (L,)
    is 1 for levels of relevant documents, and ``judged`` (L,) for those
    of judged ones. Documents with equal values of ``key`` are a tie if
    ``averaged``. In a tie with t irrelevant documents, 0 … t of them
    are above a relevant one with equal probability.
    """
    divisor = min(n_relevant, n_irrelevant)
    total = 0.0
    above = 0
    start = 0
    while start < n:
        stop = _end_of_tie(key, start + 1, n) if averaged else start + 1
        # Count the relevant and the irrelevant documents of the tie.
        hits = 0
        t = 0
        for i in range(start, stop):
            hits += relevants[level[i]] > 0.0
            t += judged[level[i]] > 0.0 and relevants[level[i]] == 0.0
        # Each relevant document loses by the irrelevant ones above it.
        total += hits
        if hits and divisor:
            lost = 0.0
            for tied_above in range(t + 1):
                lost += min(above + tied_above, n_relevant) / divisor
            # Of the t irrelevant documents of the tie, 0 to t are
            # above: `lost` has a term for each number.
            total -= hits * lost / (t + 1)
        above += t
        start = stop
    return total / n_relevant


@subroutine
def _measure_order(
    kind: int,
    cut: int,
    key: Floats,
    level: Ints,
    hits: Floats,
    relevants: Floats,
    chances: Floats,
    depth: int,
    n: int,
    n_relevant: int,
    n_pairs: int,
    averaged: bool,
    passed: Floats,
    tree: Ints,
) -> float:
    """Return Recall, AUC, greatest F, Success, RR, ERR, a disagreement error or Kendall's τ_b, as ``kind`` says.

    ``key`` and ``level`` have a number for each of ``depth`` ranks. The
    keys fall as the scores do. A level is the position of a label among
    the L different ones. ``hits`` are the numbers of relevant documents
    up to each rank. ``relevants`` (L,) is 1 for levels of relevant
    documents. ``chances`` (L,) has the probability that a reader ends
    at a document of the level, for ERR. ``n_pairs`` is the number of
    pairs of documents with different labels. Documents with equal keys
    are a tie; if ``averaged``, the result is a mean over its orders.
    ``passed`` and ``tree`` are work space. Recall always has a cut; for
    Success, RR and ERR, a cut of 0 means all n ranks. ``n_relevant`` is
    the number of relevant documents of the query.
    """
    if kind == _RECALL:
        return float(hits[min(cut, n) - 1] / n_relevant) if n_relevant else 0.0
    if kind == _AUC:
        return _area(key, hits, n_relevant, n)
    if kind == _MAX_F:
        return _greatest_f(key, hits, n_relevant, n)
    if kind in (_DISAGREEMENT, _STRICT, _TAU):
        return _order_of_pairs(kind, key, level, n_pairs, n, tree)
    # The other measures follow a reader who may end at each document:
    # by chance in ERR, at the first relevant one in RR and Success.
    stops = chances if kind == _ERR else relevants
    last = n if cut == 0 else min(cut, n)
    # Success counts 1 at any rank, the others 1 / rank.
    by_rank = kind != _SUCCESS
    return _cascade(key, level, stops, depth, last, averaged, by_rank, passed)


@subroutine
def _cascade(
    key: Floats,
    level: Ints,
    stops: Floats,
    n: int,
    last: int,
    averaged: bool,
    by_rank: bool,
    chance: Floats,
) -> float:
    """Return the mean of 1 / rank over the ranks at which a reader who goes down the ranking may end.

    ``stops`` (L,) is the probability to end at a document of each
    level: for RR 1 at a relevant document. A reader goes no further
    than rank ``last``, and counts 0 without ending there. If not
    ``by_rank``, ending counts 1 at every rank. ``level`` are the levels
    of the labels of n ranks. Documents with equal keys are a tie; if
    ``averaged``, the mean over its orders is taken.

    ``chance`` is work space. For a tie, ``chance[j]`` is the
    probability to pass its first j documents. In a random order, these
    are any set of j of its documents. A set is passed with the product
    of the probabilities of its documents to be passed, and
    ``chance[j]`` is the mean of these products over all sets of j. It
    is computed by adding one document of the tie after the other: O(t²)
    for a tie of t documents.
    """
    total = 0.0
    reach_probability = 1.0
    start = 0
    while start < last and reach_probability > 0.0:
        end = _end_of_tie(key, start + 1, n) if averaged else start + 1
        # A set of no documents is always passed.
        chance[0] = 1.0
        for i in range(start, end):
            # The documents of the tie so far, with this one.
            n_tied = i - start + 1
            pass_probability = 1.0 - stops[level[i]]
            # Of all of them, there is a single set.
            chance[n_tied] = chance[n_tied - 1] * pass_probability
            # From the greatest j down, as chance[j - 1] must still be
            # that of the documents before.
            for j in range(n_tied - 1, 0, -1):
                # Of the sets of j documents, the share j / n_tied
                # contains this one, with j - 1 of the others; the rest
                # are sets of others.
                chance[j] = (
                    (n_tied - j) * chance[j] + j * chance[j - 1] * pass_probability
                ) / n_tied
        # A reader ends at place j of the tie with the probability to
        # pass j documents, but not j + 1.
        for j in range(min(end, last) - start):
            total += (
                reach_probability
                * (chance[j] - chance[j + 1])
                / (start + j + 1 if by_rank else 1)
            )
        reach_probability *= chance[end - start]
        start = end
    return total


@subroutine
def _area(key: Floats, hits: Floats, n_relevant: int, n: int) -> float:
    """Return the share of pairs of a relevant and another document in the right order, ties one half.

    ``hits`` are the numbers of relevant documents up to each of n
    ranks; equal keys are a tie. NaN without a pair. ``key`` has a
    number per rank, equal in a tie. ``n_relevant`` is the number of
    relevant documents of the query.
    """
    n_pairs = n_relevant * (n - n_relevant)
    if n_pairs == 0:
        return np.nan
    halves = 0.0  # twice the number of pairs in the wrong order, plus ties
    start = 0
    while start < n:
        stop = _end_of_tie(key, start + 1, n)
        # Relevant documents above the tie, and in it.
        before = hits[start - 1] if start else 0.0
        tied_hits = hits[stop - 1] - before
        # Other documents ranked above count twice, those of the same tie once.
        halves += tied_hits * (2 * (start - before) + (stop - start - tied_hits))
        start = stop
    return 1.0 - 0.5 * halves / n_pairs


@subroutine
def _greatest_f(key: Floats, hits: Floats, n_relevant: int, n: int) -> float:
    """Return the greatest F = 2 hits / (documents above + n_relevant) over all thresholds between scores.

    F is the harmonic mean of precision and recall of the documents
    above the threshold. ``hits`` are the numbers of relevant documents
    up to each of n ranks; a threshold never divides documents with
    equal keys. ``key`` has a number per rank, equal in a tie.
    ``n_relevant`` is the number of relevant documents of the query.
    """
    greatest = 0.0
    stop = 0
    while stop < n and n_relevant:
        stop = _end_of_tie(key, stop + 1, n)
        greatest = max(greatest, 2.0 * hits[stop - 1] / (stop + n_relevant))
    return greatest


@subroutine
def _order_of_pairs(
    kind: int, key: Floats, level: Ints, n_pairs: int, n: int, tree: Ints
) -> float:
    """Return the share of pairs in the wrong order, or Kendall's τ_b, NaN without a pair: O(n log L).

    ``key`` and ``level`` have a number for each of n ranks. The keys
    fall as the scores do. A level is the position of a label among the
    L different ones. ``tree`` (L + 1,) is zeros, before and after the
    call. Documents are entered into a tree of labels from the best
    score down. Before a tie is entered, the lower labels in the tree
    are those at higher scores, that is, pairs in the wrong order. After
    it is entered, they also include those at the same score, tied
    pairs. A tied pair counts one half in the disagreement error, and 1
    in the strict one. Let D of the ``n_pairs`` pairs of different
    labels be wrong, T tied, and the others, C, right: C - D is n_pairs
    - 2D
    - T. τ_b divides it by the root of n_pairs times the
    number of pairs of different scores. ``kind`` says which of these
    measures is returned.
    """
    if n_pairs == 0:
        return np.nan
    n_wrong = 0
    n_wrong_or_tied = 0
    n_equal_scores = 0  # pairs of documents with the same score
    start = 0
    while start < n:
        stop = _end_of_tie(key, start + 1, n)
        for i in range(start, stop):
            n_wrong += _count_below(tree, level[i])
        for i in range(start, stop):
            _enter(tree, level[i], np.int64(1))
        for i in range(start, stop):
            n_wrong_or_tied += _count_below(tree, level[i])
        n_equal_scores += (stop - start) * (stop - start - 1) // 2
        start = stop
    # Empty the tree for the next query. Both calls of `_enter` pass an
    # int64, so that it is compiled once.
    for i in range(n):
        _enter(tree, level[i], np.int64(-1))
    if kind == _STRICT:
        return float(n_wrong_or_tied / n_pairs)
    if kind == _DISAGREEMENT:
        return 0.5 * (n_wrong + n_wrong_or_tied) / n_pairs
    # The pairs of different scores; n_wrong + n_wrong_or_tied = 2 D + T.
    n_ordered = n * (n - 1) // 2 - n_equal_scores
    return (
        (n_pairs - n_wrong - n_wrong_or_tied) / np.sqrt(float(n_pairs) * n_ordered)
        if n_ordered
        else np.nan
    )


@subroutine
def _enter(tree: Ints, level: int, count: np.int64) -> None:
    """Add documents of a level to the tree: a Fenwick tree, whose node i sums levels that end at i - 1.

    ``count`` is the number of documents, negative to remove them.
    """
    node = level + 1
    while node < tree.shape[0]:
        tree[node] += count
        node += node & -node


@subroutine
def _count_below(tree: Ints, level: int) -> int:
    """Return the number of documents in the tree whose level is lower than ``level``.

    ``tree`` is a Fenwick tree: node i has the number of documents of
    some consecutive levels that end at i -
    1. There are as many levels as the lowest 1 bit of i
    says. A level is the position of a label among the different ones.
    """
    node = level
    count = 0
    # The nodes on the way cover all lower levels, each once.
    while node > 0:
        count += tree[node]
        node -= node & -node
    return count
