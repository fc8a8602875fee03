"""Learning with kernels in the slow way: explicit features, least squares, retraining without each query."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from oracles import centred_by_loops

KERNELS = st.sampled_from(
    [
        {"kernel": "rbf", "gamma": 1.0},
        {"kernel": "rbf", "gamma": 0.02},
        {"kernel": "rbf", "gamma": 30.0},
        {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
        {"kernel": "linear", "gamma": 1.0},
        {"kernel": "linear + 0.25 * rbf", "gamma": 2.0},
        {"kernel": "3 * linear * rbf + poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
    ]
)


def kernel_by_loops(
    A: np.ndarray,
    B: np.ndarray,
    function: str,
    gamma: float,
    degree: int = 3,
    coef0: float = 1.0,
) -> np.ndarray:
    """A kernel's values, a pair of documents at a time; sums of products are written as in Python."""
    out = np.empty((len(A), len(B)))
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            inner = float(a @ b)
            distance = float(np.sum((a - b) ** 2))
            values = {
                "linear": inner,
                "poly": (gamma * inner + coef0) ** degree,
                "rbf": np.exp(-gamma * distance),
            }
            out[i, j] = eval(function, {}, values)
    return out


def kernel_matrix(X: np.ndarray, settings: dict[str, Any]) -> np.ndarray:
    """The kernel between documents, with an estimator's settings."""
    others = {name: value for name, value in settings.items() if name != "kernel"}
    return kernel_by_loops(X, X, settings["kernel"], **others)


def features_of(kernel: np.ndarray) -> np.ndarray:
    """Vectors, one a document, whose inner products are the kernel's values."""
    values, vectors = np.linalg.eigh(kernel)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def spanned(features: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The documents in an orthonormal basis of what some of them, which are independent, span."""
    return features @ np.linalg.qr(features[basis].T)[0]


def ridge(
    features: np.ndarray, targets: np.ndarray, regularization: float
) -> np.ndarray:
    """The weights of regularised least squares, without normal equations."""
    n = features.shape[1]
    A = np.vstack((features, np.sqrt(regularization) * np.eye(n)))
    return np.linalg.lstsq(
        A, np.concatenate((targets, np.zeros((n, *targets.shape[1:])))), rcond=None
    )[0]


def left_out_by_retraining(
    kernel: np.ndarray,
    y: np.ndarray,
    qid: np.ndarray,
    regularization: float,
    basis: np.ndarray | None,
) -> np.ndarray:
    """Each query's scores, centred, by RankRLS learned without it and its basis vectors."""
    features, out = features_of(kernel), np.empty(y.size)
    for query in dict.fromkeys(qid.tolist()):
        held = qid == query
        seen = features if basis is None else spanned(features, basis[~held[basis]])
        X, targets = (
            centred_by_loops(values[~held], qid[~held]) for values in (seen, y)
        )
        w = ridge(X, targets, regularization)
        out[held] = seen[held] @ w - (seen[held] @ w).mean()
    return out
