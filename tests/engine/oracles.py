"""Slow, independent implementations that the tests hold the engine against: retraining, no shortcuts."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from scipy.linalg.lapack import dgels


def centred_by_loops(values: np.ndarray, qid: np.ndarray) -> np.ndarray:
    """Each column minus its mean inside its query, a query at a time."""
    out = np.array(values, dtype=float)
    for query in set(qid.tolist()):
        rows = qid == query
        out[rows] -= out[rows].mean(axis=0)
    return out


def least_squares(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Minimise ||A w - b|| for independent columns by LAPACK's QR, much faster than by an SVD."""
    if not A.shape[1]:
        return np.zeros(0)
    _, w, failed = dgels(A, b)
    assert not failed
    return np.asarray(w[: A.shape[1]])


def rankrls_on_pairs(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, regularization: float
) -> np.ndarray:
    """Minimise eq. (3) of the paper on the explicit list of its pairs, each query weighted 1 / (2 |q|)."""
    rows, targets = [], []
    for query in dict.fromkeys(qid.tolist()):
        inside = np.flatnonzero(qid == query)
        weight = np.sqrt(1.0 / (2 * inside.size))
        for i in inside:
            for j in inside:
                rows.append(weight * (X[i] - X[j]))
                targets.append(weight * (y[i] - y[j]))
    A, b = np.array(rows), np.array(targets)
    # λ||w||² as rows of the least-squares problem: no normal equations, so the oracle is well conditioned.
    A = np.vstack((A, np.sqrt(regularization) * np.eye(X.shape[1])))
    b = np.concatenate((b, np.zeros(X.shape[1])))
    return least_squares(A, b)


def leave_query_out_error(
    X: np.ndarray,
    y: np.ndarray,
    qid: np.ndarray,
    selected: list[int],
    regularization: float,
) -> float:
    """Eq. (7) by retraining without each query in turn."""
    centred = centred_by_loops(np.column_stack((X[:, selected], y)), qid)
    Xc, yc = centred[:, :-1], centred[:, -1]
    error = 0.0
    for query in dict.fromkeys(qid.tolist()):
        held = qid == query
        A = np.vstack((Xc[~held], np.sqrt(regularization) * np.eye(len(selected))))
        b = np.concatenate((yc[~held], np.zeros(len(selected))))
        w = least_squares(A, b)
        error += float(np.sum((yc[held] - Xc[held] @ w) ** 2))
    return error


def greedy_by_retraining(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray, k: int, regularization: float
) -> tuple[list[int], list[float]]:
    """The features of Algorithm 1 and its criterion after each step, each candidate retrained."""
    selected: list[int] = []
    criteria = []
    for _ in range(k):
        left = [j for j in range(X.shape[1]) if j not in selected]
        errors = [
            leave_query_out_error(X, y, qid, [*selected, j], regularization)
            for j in left
        ]
        selected.append(left[int(np.argmin(errors))])
        criteria.append(min(errors))
    return selected, criteria


def shapley_by_orders(
    gain: dict[frozenset[int], float], players: list[int]
) -> list[float]:
    """The mean gain of each player after those before it, over all orders."""
    orders = list(permutations(players))
    values = dict.fromkeys(players, 0.0)
    for order in orders:
        for place, player in enumerate(order):
            before = frozenset(order[:place])
            values[player] += (gain[before | {player}] - gain[before]) / len(orders)
    return [values[player] for player in players]
