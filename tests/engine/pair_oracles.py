"""Pairwise losses on the explicit list of pairs: what the sweeps are held against."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def pairs_of(y: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """Every (i, j) of one query with y_i > y_j, shape (p, 2)."""
    found = [(i, j) for i in range(len(y)) for j in range(len(y)) if qid[i] == qid[j] and y[i] > y[j]]
    return np.array(found, dtype=int).reshape(-1, 2)


def differences(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """x_i - x_j of every pair, shape (p, n)."""
    pairs = pairs_of(y, qid)
    return X[pairs[:, 0]] - X[pairs[:, 1]]


def squared_hinge_objective(D: np.ndarray, C: float, w: np.ndarray) -> float:
    """½ w'w + C sum max(0, 1 - w'd)²."""
    return 0.5 * float(w @ w) + C * float((np.maximum(0.0, 1.0 - D @ w) ** 2).sum())


def hinge_objective(D: np.ndarray, C: float, w: np.ndarray) -> float:
    """½ w'w + C sum max(0, 1 - w'd)."""
    return 0.5 * float(w @ w) + C * float(np.maximum(0.0, 1.0 - D @ w).sum())


def least_squared_hinge(D: np.ndarray, C: float) -> float:
    """Minimum of the objective, by a general optimiser on the explicit pairs."""

    def value(w: np.ndarray) -> tuple[float, np.ndarray]:
        u = np.maximum(0.0, 1.0 - D @ w)
        return 0.5 * w @ w + C * (u @ u), w - 2.0 * C * (u @ D)

    return float(minimize(value, np.zeros(D.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-10}).fun)


def least_hinge(D: np.ndarray, C: float) -> tuple[float, float]:
    """Bounds on the minimum of the objective, from above and below, by a general optimiser on its dual."""
    if not len(D):
        return 0.0, 0.0

    def value(a: np.ndarray) -> tuple[float, np.ndarray]:
        w = a @ D
        return 0.5 * w @ w - a.sum(), D @ w - 1.0

    start = np.full(len(D), 0.5 * C)
    options = {"ftol": 1e-15, "gtol": 1e-12, "maxiter": 20_000, "maxfun": 100_000, "maxcor": 30}
    found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(0.0, C)] * len(D), options=options)
    return hinge_objective(D, C, found.x @ D), -float(found.fun)
