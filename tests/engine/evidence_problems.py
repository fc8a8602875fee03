"""Ranking problems without ties, whose paths are the same whoever computes them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from strategies import Problem


@st.composite
def untied(draw: st.DrawFn, fewest_queries: int = 6, most_features: int = 5) -> Problem:
    """Queries of 2 to 5 documents in any order, features that differ, labels with noise."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(2, 5), min_size=fewest_queries, max_size=9))
    n = draw(st.integers(2, most_features))
    X = rng.normal(size=(sum(sizes), n))
    y = X @ rng.normal(size=n) + rng.normal(size=len(X))
    qid = np.repeat(rng.permutation(len(sizes)), sizes)
    rows = rng.permutation(len(X)) if draw(st.booleans()) else np.arange(len(X))
    return Problem(X[rows], y[rows], qid[rows], 2.0 ** draw(st.integers(-3, 5)))


def planted(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns 0-2 are strong, 3 and 4 the same feature but for 1 % noise, 5-24 noise; 80 queries of 8."""
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(640, 25)), np.repeat(np.arange(80), 8)
    X[:, 4] = X[:, 3] + 0.01 * rng.normal(size=640)
    return X, X[:, :3].sum(axis=1) + 0.7 * X[:, 3] + rng.normal(size=640), qid
