"""Brute force for pairwise squared losses: every pair is listed, and every model trained anew."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from strategies import Problem

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


def listed_pairs(
    y: np.ndarray,
    qid: np.ndarray,
    cost: str,
    ties: bool,
    weighting: str,
    across: bool = False,
) -> Pairs:
    """Return M' (l, m), N (l,) of eqs. (12) and (13), and the query of each pair."""
    queries = np.zeros(y.size) if across else qid
    rows, targets, owners = [], [], []
    for query in np.unique(queries):
        documents = np.flatnonzero(queries == query)
        pairs = [
            (i, j) if y[i] >= y[j] else (j, i) for i, j in combinations(documents, 2)
        ]
        pairs = [(i, j) for i, j in pairs if ties or y[i] != y[j]]
        divisor = {"size": len(documents), "pairs": max(1, len(pairs)), "none": 1}[
            weighting
        ]
        for i, j in pairs:
            d = y[i] - y[j]
            z = 1.0 if cost == "unit" else d
            w = (1 / d if cost == "inverse" else 1.0) / np.sqrt(divisor)
            row = np.zeros(y.size)
            row[i], row[j] = w, -w
            rows.append(row)
            targets.append(w * z)
            owners.append(query)
    return np.array(rows).reshape(-1, y.size), np.array(targets), np.array(owners)


def solve(
    rows: np.ndarray, targets: np.ndarray, X: np.ndarray, regularization: float
) -> np.ndarray:
    """Return (X'MM'X + λI)^-1 X'MN, eq. (28), by least squares on the rows themselves."""
    n = X.shape[1]
    left = np.vstack([rows @ X, np.sqrt(regularization) * np.eye(n)])
    return np.linalg.lstsq(left, np.append(targets, np.zeros(n)), rcond=None)[0]


def bounds(problem: Problem, M: np.ndarray, N: np.ndarray) -> tuple[float, float]:
    """Relative error of solving with X'MM'X + λI in double precision, and how great the weights may be."""
    product = M @ problem.X
    condition = (
        1.0 + (float(np.sum(product**2)) + float(np.sum(M**2))) / problem.regularization
    )
    return 1024 * np.finfo(float).eps * condition, float(np.linalg.norm(N)) / min(
        1.0, problem.regularization
    )


LOSSES = [
    (cost, ties, weighting)
    for cost, ties in (
        ("magnitude", True),
        ("magnitude", False),
        ("unit", False),
        ("inverse", False),
    )
    for weighting in ("size", "pairs", "none")
]
"""Every cost, with and without ties, and every weighting."""
