"""Compiled look at the labels of each query: how many distinct ones, and who is above whom."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.jit import inlined, kernel

_FEW = 8  # distinct labels up to which looking them up one by one beats sorting


@inlined
def _find(y: float, known: Floats, n_known: int) -> int:
    """Return how many of the known labels, in ascending order, are lower."""
    at = 0
    for k in range(n_known):  # all of them: labels come in no order, and a foreseeable loop is the faster one
        at += known[k] < y
    return at


@inlined
def _few_labels(y: Floats, begin: int, end: int, known: Floats) -> int:
    """Put a query's distinct labels in ascending order into ``known``; return how many, at most _FEW + 1."""
    number = 0
    for row in range(begin, end):
        at = _find(y[row], known, number)
        if at < number and known[at] == y[row]:
            continue
        if number == _FEW:
            return _FEW + 1
        for above in range(number, at, -1):
            known[above] = known[above - 1]
        known[at] = y[row]
        number += 1
    return number


@kernel
def rank_labels(y: Floats, ptr: Ints, level: Ints, n_levels: Ints, lower: Floats, higher: Floats) -> None:
    """Count through the distinct labels of each query from 0 up, and each document's partners.

    ``lower`` and ``higher`` are how many documents of the query have a lower and a higher label. O(m) where
    labels are few, O(m log m) where they are many.
    """
    known = np.empty(_FEW)
    for q in range(ptr.size - 1):
        begin, end = ptr[q], ptr[q + 1]
        number = _few_labels(y, begin, end, known)
        if number <= _FEW:
            for row in range(begin, end):
                level[row] = _find(y[row], known, number)
        else:
            order = np.argsort(y[begin:end])
            number = 1
            for k in range(end - begin):
                if k > 0 and y[begin + order[k]] > y[begin + order[k - 1]]:
                    number += 1
                level[begin + order[k]] = number - 1
        n_levels[q] = number
        # A histogram of the levels, shifted by one and summed: how many documents stand below each level.
        first_of = np.zeros(number + 1)
        for row in range(begin, end):
            first_of[level[row] + 1] += 1.0
        for at in range(number):
            first_of[at + 1] += first_of[at]
        for row in range(begin, end):
            lower[row] = first_of[level[row]]
            higher[row] = end - begin - first_of[level[row] + 1]
