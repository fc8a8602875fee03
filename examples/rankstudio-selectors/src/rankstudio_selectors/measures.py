"""Measures as functions of one query: the labels from the first rank down, and what else they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from rankstudio.api import Convention

PERSISTENCE = 0.8


def first_rank(labels: np.ndarray, convention: Convention) -> float:
    """Return the rank of the first relevant document, n + 1 if none of n documents is relevant.

    With averaged ties it is the mean over the orders of documents with equal scores, which RankStudio takes.
    """
    for rank, label in enumerate(labels, start=1):
        if label >= convention.relevant_from:
            return float(rank)
    return float(len(labels) + 1)


def graded_rbp(labels: np.ndarray, cutoff: int | None, convention: Convention) -> float:
    """Return rank-biased precision with gains (Moffat and Zobel 2008), of the first documents.

    A reader goes on to the next document with probability p = 0.8. The gain of a label is its share of the
    largest label of the dataset.
    """
    total, reading = 0.0, 1.0 - PERSISTENCE
    for label in labels[:cutoff]:
        total += reading * max(float(label), 0.0)
        reading *= PERSISTENCE
    return total / max(convention.greatest_grade, 1.0)
