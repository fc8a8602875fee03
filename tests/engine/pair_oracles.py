"""Pairwise losses on the explicit list of pairs: what the sweeps are held against."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from rankstudio.engine.arithmetic.pairs import Violations


def pairs_of(y: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """Every (i, j) of one query with y_i > y_j, shape (p, 2)."""
    found = [
        (i, j)
        for i in range(len(y))
        for j in range(len(y))
        if qid[i] == qid[j] and y[i] > y[j]
    ]
    return np.array(found, dtype=int).reshape(-1, 2)


def differences(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """x_i - x_j of every pair, shape (p, n)."""
    pairs = pairs_of(y, qid)
    return X[pairs[:, 0]] - X[pairs[:, 1]]


def pair_weights(y: np.ndarray, qid: np.ndarray, weighting: str) -> np.ndarray:
    """Weight of every pair, by the words of the definition: shape (p,), their sum is p."""
    pairs = pairs_of(y, qid)
    queries = qid[pairs[:, 0]]
    sizes = {"size": qid, "pairs": queries, "none": np.empty(0)}[weighting]
    counts = np.array([max(1, (sizes == query).sum()) for query in queries])
    weights = 1.0 / counts
    return weights * (len(pairs) / weights.sum()) if len(pairs) else weights


def squared_hinge_objective(
    D: np.ndarray, C: float | np.ndarray, w: np.ndarray
) -> float:
    """½ w'w + C sum max(0, 1 - w'd)², with one C or one for each pair."""
    return 0.5 * float(w @ w) + float((C * np.maximum(0.0, 1.0 - D @ w) ** 2).sum())


def hinge_objective(D: np.ndarray, C: float | np.ndarray, w: np.ndarray) -> float:
    """½ w'w + C sum max(0, 1 - w'd), with one C or one for each pair."""
    return 0.5 * float(w @ w) + float((C * np.maximum(0.0, 1.0 - D @ w)).sum())


def least_squared_hinge(D: np.ndarray, C: float | np.ndarray) -> float:
    """Minimum of the objective, by a general optimiser on the explicit pairs."""

    def value(w: np.ndarray) -> tuple[float, np.ndarray]:
        u = np.maximum(0.0, 1.0 - D @ w)
        return 0.5 * w @ w + (C * u) @ u, w - 2.0 * (C * u) @ D

    return float(
        minimize(
            value,
            np.zeros(D.shape[1]),
            jac=True,
            method="BFGS",
            options={"gtol": 1e-10},
        ).fun
    )


def least_hinge(D: np.ndarray, C: float | np.ndarray) -> float:
    """Minimum of the objective, by a general optimiser on its smooth form with a slack for every pair."""
    p, n = D.shape
    if p == 0:
        return 0.0
    constraints = {
        "type": "ineq",
        "fun": lambda v: np.concatenate((D @ v[:n] - 1.0 + v[n:], v[n:])),
        "jac": lambda v: np.block([[D, np.eye(p)], [np.zeros((p, n)), np.eye(p)]]),
    }
    found = minimize(
        lambda v: (
            0.5 * v[:n] @ v[:n] + (C * v[n:]).sum(),
            np.concatenate((v[:n], np.full(p, C))),
        ),
        np.concatenate((np.zeros(n), np.ones(p))),
        jac=True,
        method="SLSQP",
        constraints=[constraints],
        options={"ftol": 1e-13, "maxiter": 500},
    )
    return hinge_objective(D, C, found.x[:n])


def laplacian(at: Violations, values: np.ndarray) -> np.ndarray:
    """Return the sum over the violated pairs of each document of (its value - the partner's)."""
    out = np.empty_like(values)
    at.laplacian_of(values, 0, at.pairs.ptr.size - 1, out)
    return out
