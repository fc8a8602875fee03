"""Conjugate gradients for regularised least squares: products with a matrix, never the matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from rankstudio.engine.arrays import Floats


class OptimizerState(NamedTuple):
    """State of the search for the minimum of an objective, after a step.

    Attributes
    ----------
    w : ndarray of shape (n,)
        Weights.
    objective : float
        Value of the objective at w.
    gap : float
        Upper bound of the distance of the objective from its minimum.
    converged : bool
        Whether the search has met its tolerance.
    """

    w: Floats
    objective: float
    gap: float
    converged: bool


def minimise(
    product: Callable[[Floats], Floats],
    diagonal: Floats,
    right: Floats,
    constant: float,
    regularization: float,
    tol: float,
    max_iter: int,
) -> Iterator[OptimizerState]:
    """Minimise w'(G + λI)w - 2w'b + c by conjugate gradients, preconditioned by the diagonal.

    Parameters
    ----------
    product : callable
        Returns Gv for v (n,), with G positive semidefinite.
    diagonal : ndarray of shape (n,)
        Diagonal of G.
    right : ndarray of shape (n,)
        The vector b.
    constant : float
        The number c.
    regularization : float
        λ > 0.
    tol : float
        Stops when the residual b - (G + λI)w is at most tol (||b|| + ||G + λI||
        ||w||), in Euclidean norms of the equations with a unit diagonal, so
        that the scales of the columns do not matter: w then solves
        equations that differ from these by about tol, the normwise
        backward error (Rigal and Gaches 1967). A direct solution has an
        error of a few roundings, 2e-16.
    max_iter : int
        Maximum number of products.

    Yields
    ------
    OptimizerState
        One per product; if b is 0, a single one of w = 0. The objective is w'(G + λI)w
        - 2w'b + c; the gap is r'r/λ, because G + λI is at least λI.

    Notes
    -----
    O(n) per iteration besides the product (Shewchuk 1994; Airola 2011, Paper I, section
    4.3). The norm of the matrix is the largest Rayleigh quotient of the directions so
    far. The updated residual drifts from the true one. When it is small
    enough, the true residual is computed, and the search starts again
    from it. The search also ends as converged when that no longer
    halves the true residual: rounding allows no better.
    """
    w = np.zeros_like(right)
    # At w = 0, the residual is b. Divided by the diagonal, it is the first direction.
    residual = right.copy()
    inverse = 1.0 / (diagonal + regularization)
    conditioned = inverse * residual
    direction = conditioned.copy()
    squared_size = float(residual @ conditioned)
    size_right = np.sqrt(squared_size)
    norm = 1.0  # a diagonal element of the scaled matrix
    last_true_size = np.inf
    for number in range(1, max_iter + 1):
        # A step to the minimum along the direction, by its curvature.
        if squared_size > 0.0:
            matrix_direction = product(direction) + regularization * direction
            curvature = float(direction @ matrix_direction)
            norm = max(norm, curvature / float(direction @ (direction / inverse)))
            step = squared_size / curvature
            w = w + step * direction
            residual -= step * matrix_direction
        # A residual up to this size counts as solved; see `tol`.
        limit = tol * (size_right + norm * np.sqrt(float(w @ (w / inverse))))
        conditioned = inverse * residual
        is_small = np.sqrt(float(residual @ conditioned)) <= limit
        converged = False
        # The true residual replaces the updated one, and decides
        # whether the search ends.
        if is_small:
            residual = right - product(w) - regularization * w
            conditioned = inverse * residual
            true_size = np.sqrt(float(residual @ conditioned))
            converged = true_size <= limit or true_size > 0.5 * last_true_size
            last_true_size = true_size
        # With r the residual, (G + λI)w = b - r, so that the objective
        # is c - w'(b + r).
        squares = float(residual @ residual)
        objective = max(0.0, constant - float(w @ (right + residual)))
        yield OptimizerState(w, objective, squares / regularization, converged)
        if converged or number == max_iter:
            return
        # The next direction is conjugate to the last one, or starts
        # anew from the true residual.
        last_squared_size = squared_size
        squared_size = float(residual @ conditioned)
        direction = (
            conditioned
            if is_small
            else conditioned + (squared_size / last_squared_size) * direction
        )
