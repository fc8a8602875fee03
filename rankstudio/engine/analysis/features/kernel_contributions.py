"""The score of a kernel model, split feature by feature on the line from the mean basis vector on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.kernel_functions import Kernel
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.blocks import VALUES

_NODES = 32  # of the quadrature: exact for polynomials of degree 63


def kernel_contributions(
    beyond: Mapping[str, Any], X: Floats, column_of: Mapping[int, int]
) -> tuple[Ints, Floats, float]:
    """Split the scores of a kernel model into Aumann-Shapley values.

    A document x is reached from the mean a of the basis vectors on a straight line, and each feature is given
    what the score changes by its part of every step: (x_j - a_j) ∫ ∂f/∂x_j (a + t(x - a)) dt over t from 0
    to 1. What all features are given is f(x) - f(a) (Sundararajan et al. 2017).

    Parameters
    ----------
    beyond : Mapping
        The model in plain values.
    X : ndarray of shape (m, n)
    column_of : Mapping of int to int
        From the id of a feature to its column.

    Returns
    -------
    columns : ndarray of shape (s,)
        Of the model's features, ascending.
    values : ndarray of shape (m, s)
    constant : float
        f(a).

    Notes
    -----
    O(mr(s + 32)) for r basis vectors.
    """
    columns = np.array([column_of[i] for i in beyond["columns"]], dtype=np.int64)
    order = np.argsort(columns)
    weights = np.array(beyond["weights"], dtype=np.float64)
    vectors = np.array(beyond["vectors"], dtype=np.float64).reshape(weights.size, columns.size)
    columns, vectors, kernel = columns[order], vectors[:, order], Kernel(**beyond["kernel"])
    if not weights.size:
        return columns, np.zeros((len(X), columns.size)), 0.0
    start, values = vectors.mean(axis=0), np.empty((len(X), columns.size))
    split = _of_distances if kernel.by_distance else _of_products
    step = max(1, VALUES // weights.size)
    for first in range(0, len(X), step):
        steps = X[first : first + step, columns] - start
        values[first : first + step] = split(kernel, vectors - start, start, weights, steps)
    return columns, values, float(kernel.scores(start[None, :], vectors, weights[None, :])[0, 0])


def _line() -> tuple[Floats, Floats]:
    """Return nodes and weights of a quadrature from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1.0) / 2.0, weights / 2.0


def _of_distances(kernel: Kernel, vectors: Floats, start: Floats, weights: Floats, steps: Floats) -> Floats:
    """Split for exp(-γ||a + td - v||²), the vectors being v - a and the steps d = x - a.

    With e(t) a vector's exponential, I the integral of e and J that of t e, e(0) - e(1) = 2γ(||d||²J - d'vI):
    J follows from I, so that nothing of the score is lost however I is rounded.
    """
    along, length = steps @ vectors.T, np.sum(steps**2, axis=1)[:, None]
    away = np.sum(vectors**2, axis=1)
    plain = np.zeros_like(along)
    for node, weight in zip(*_line(), strict=True):
        plain += weight * np.exp(-kernel.gamma * np.maximum(node**2 * length - 2 * node * along + away, 0.0))
    ends = np.exp(-kernel.gamma * away) - np.exp(-kernel.gamma * np.maximum(length - 2 * along + away, 0.0))
    rising = ends / (2.0 * kernel.gamma) + along * plain
    rising = np.divide(rising, length, out=np.zeros_like(rising), where=length > 0)
    moved = (weights * plain) @ vectors - (rising @ weights)[:, None] * steps
    return np.asarray(2.0 * kernel.gamma * steps * moved)


def _of_products(kernel: Kernel, vectors: Floats, start: Floats, weights: Floats, steps: Floats) -> Floats:
    """Split for (γ x'v + c)^d, or x'v."""
    whole = vectors + start
    if kernel.function == "linear":
        return np.asarray(steps * (weights @ whole))
    at, along = whole @ start, steps @ whole.T
    slopes = np.zeros_like(along)
    for node, weight in zip(*_line(), strict=True):
        inner = kernel.gamma * (at + node * along) + kernel.coef0
        slopes += weight * np.power(inner, kernel.degree - 1)
    return np.asarray(kernel.gamma * kernel.degree * steps * ((slopes * weights) @ whole))
