"""The measures against their definitions, read another way, on small random queries with ties."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import isclose

import numpy as np
import pytest
from rankstudio_selectors import PLUGIN

from rankstudio.engine import evaluate

P = 0.8
DEEP = 300  # P ** DEEP is nothing


def gain_of_readers(labels: list[float], greatest: float) -> float:
    """Return the gain that readers of every depth get in all, per document that they read."""
    total = 0.0
    for depth in range(1, DEEP):
        readers = (1 - P) * P ** (depth - 1)
        total += readers * sum(labels[:depth]) / greatest
    return (1 - P) * total


def first_relevant(labels: list[float]) -> int:
    return next(
        (rank for rank, label in enumerate(labels, start=1) if label >= 1),
        len(labels) + 1,
    )


def orders(labels: list[float], scores: list[float]) -> list[list[float]]:
    """Return the labels in every order that goes down in score."""
    every = permutations(range(len(labels)))
    return [
        [labels[i] for i in order]
        for order in every
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]


@pytest.mark.parametrize("seed", range(10))
def test_measures_of_queries_with_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, size=5)
    qid = np.repeat(np.arange(5), sizes)
    y = rng.integers(0, 3, size=qid.size).astype(float)
    y[0] = 2.0
    scores = rng.integers(0, 4, size=qid.size).astype(float)
    names = ["FirstRank", "GradedRBP", "GradedRBP@2"]
    for convention in ("standard", "sklearn"):
        found = evaluate(
            y, scores, qid, measures=names, convention=convention
        ).per_query
        for q in range(5):
            labels, own = y[qid == q].tolist(), scores[qid == q].tolist()
            if convention == "standard":
                order = sorted(range(len(labels)), key=lambda i: -own[i])
                ranked = [[labels[i] for i in order]]
            else:
                ranked = orders(labels, own)
            first, graded, cut = (
                sum(function(labels) for labels in ranked) / len(ranked)
                for function in (
                    first_relevant,
                    lambda labels: gain_of_readers(labels, 2.0),
                    lambda labels: gain_of_readers(labels[:2], 2.0),
                )
            )
            assert isclose(found["FirstRank"][q], first)
            assert isclose(found["GradedRBP"][q], graded, abs_tol=1e-12)
            assert isclose(found["GradedRBP@2"][q], cut, abs_tol=1e-12)


def test_entries_say_what_they_are() -> None:
    for entry in PLUGIN.measures:
        assert entry.label and entry.summary.endswith(".")
