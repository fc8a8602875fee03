"""Putting the documents of each query in order, compiled; see ``_kernels`` for the letters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import kernel, subroutine

Codes = NDArray[np.unsignedinteger[Any]]
"""Labels in ranked order, as :func:`rank_all` writes them."""

RUN = 16
"""Runs up to this length are sorted by insertion: most queries of LETOR 4.0 are one run."""

_STEEP, _FAR = 3, 8  # rises among n / 3 documents, or 8 n places passed: sorted anew sooner than put right


def scratch_space(longest: int) -> tuple[Floats, Ints]:
    """Return what the kernels work in: arrays that are made there take long to compile."""
    return np.empty((7, longest + 1)), np.empty((2, longest + 1), dtype=np.int64)


@subroutine
def sort_descending(key: Floats, item: Ints, n: int, spare_key: Floats, spare_item: Ints) -> None:
    """Sort the first n keys from the greatest down and the items with them; equal keys keep their order.

    Insertion inside runs of ``RUN``, then merging from the bottom up: O(n log n).
    """
    for start in range(0, n, RUN):
        for i in range(start + 1, start + RUN if start + RUN < n else n):
            k, it = key[i], item[i]
            j = i - 1
            while j >= start and key[j] < k:
                key[j + 1], item[j + 1] = key[j], item[j]
                j -= 1
            key[j + 1], item[j + 1] = k, it
    width = RUN
    while width < n:
        for start in range(0, n - width, 2 * width):
            stop = start + 2 * width
            _merge(key, item, start, start + width, stop if stop < n else n, spare_key, spare_item)
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


@subroutine
def _insert_descending(key: Floats, item: Ints, n: int) -> bool:
    """Sort the first n keys, of equal ones the least item first; give up where they are far from in order."""
    most = _FAR * n
    for i in range(1, n):
        k, it = key[i], item[i]
        j = i - 1
        while j >= 0 and (key[j] < k or (key[j] == k and item[j] > it)):
            key[j + 1], item[j + 1] = key[j], item[j]
            j -= 1
        key[j + 1], item[j + 1] = k, it
        most -= i - 1 - j
        if most < 0:
            return False
    return True


@subroutine
def _fetch(scores: Floats, model: int, item: Ints, n: int, key: Floats) -> tuple[int, int]:
    """Write the scores of items; return how many are greater than the one before, and of which one is NaN."""
    rises, last = 0, np.inf
    for i in range(n):
        score = scores[model, item[i]]
        if np.isnan(score):
            return rises, item[i]
        rises += score > last
        key[i] = last = score
    return rises, -1


@kernel
def rank_all(
    scores: Floats, query_ptr: Ints, level: Codes, out: Codes, order: Ints, reals: Floats, integers: Ints
) -> int:
    """Write the labels of the documents of each query from the best score down, for every model.

    Each model's order is sorted from that of the model before: neighbours on a path rank nearly alike.

    Parameters
    ----------
    scores : ndarray of shape (K, m)
    query_ptr : ndarray of shape (Q + 1,)
    level : ndarray of shape (m,)
        Position of each document's label among the different ones.
    out : ndarray of shape (K, m)
        Receives twice the level, and 1 more where the score is that of the document before.
    order : ndarray of shape (m,)
        Receives the documents as the last model ranks them.
    reals, integers : ndarray
        Of :func:`scratch_space`.

    Returns
    -------
    int
        Position in ``scores``, flattened, of the first NaN met, and then ``out`` is not complete; else -1.

    Notes
    -----
    O(K m log n); O(K m) where neighbours rank alike.
    """
    n_models, n_documents = scores.shape
    key, spare_key, spare_item = reals[0], reals[1], integers[0]
    for model in range(n_models):
        for q in range(query_ptr.shape[0] - 1):
            first, n = query_ptr[q], query_ptr[q + 1] - query_ptr[q]
            item = order[first : first + n]
            rises, bad = (n, -1) if model == 0 else _fetch(scores, model, item, n, key)
            if bad < 0 and (_STEEP * rises > n or not _insert_descending(key, item, n)):
                for i in range(n):
                    item[i] = first + i
                _, bad = _fetch(scores, model, item, n, key)
                sort_descending(key, item, n, spare_key, spare_item)
            if bad >= 0:
                return int(model * n_documents + bad)
            out[model, first] = 2 * level[item[0]]
            for i in range(1, n):
                out[model, first + i] = 2 * level[item[i]] + (key[i] == key[i - 1])
    return -1
