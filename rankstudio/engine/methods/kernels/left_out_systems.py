"""The system of a left-out query and its basis vectors, for many λ at once, refined where that is needed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankstudio.engine.arrays import Floats

_ROUNDINGS = 16  # of the one decomposition, in its own measure: six were the most in 30,000 left-out queries
_STEPS = 3  # of refinement; one is enough as a rule


class LeftOutSolution(NamedTuple):
    """What is known of a left-out query.

    Attributes
    ----------
    theta : ndarray of shape (L, k, v)
        The models learned without it.
    left_out : ndarray of shape (L, p, v)
        e, what they leave of its targets.
    mu : ndarray of shape (L, h, v)
        The multipliers of its basis vectors' weights.
    """

    theta: Floats
    left_out: Floats
    mu: Floats


class LeftOutSystem:
    """Λ + λI bordered by a query's rows W_q, which are taken off, and by the weights B_H that are to be 0.

    Parameters
    ----------
    rows : ndarray of shape (p, k)
        W_q.
    held : ndarray of shape (h, k)
        B_H.
    values : ndarray of shape (k,)
        Λ.
    grid : ndarray of shape (L,)
        λ.

    Notes
    -----
    Where a basis vector depends on others nearly, to a share g of its squared length, Z has a column that
    tells them apart, and B entries of g^-1/2. What of the model is known well is then the small difference of
    what is not: at λ = 2^-15 the predictions were off by 7e-6. Residuals show it, because W_q and B_H are
    exact to rounding, and a step of refinement brings the digits back. What is left is what the values of the
    kernel do not determine, each of them being rounded.
    """

    def __init__(self, rows: Floats, held: Floats, values: Floats, grid: Floats) -> None:
        self._rows, self._held = rows, held
        self._diagonal = (values + grid[:, None])[:, :, None]
        self._bordered = np.concatenate((rows, held))
        self._inverse = 1.0 / (values + grid[:, None])
        self._products = products(self._bordered, self._inverse)
        self._rounding = _ROUNDINGS * np.finfo(float).eps * (1.0 + values.max(initial=0.0) / grid)

    def solve(self, along: Floats, targets: Floats) -> LeftOutSolution:
        """Return the solution for τ (k, v) and the query's N_q (p, v).

        It is refined for each λ where a correction is larger than the decomposition's error, which stays.
        """
        found = self._solve(along, targets, np.zeros((len(self._held), 1)))
        for _ in range(_STEPS):
            change = self._solve(*self._residuals(along, targets, found))
            size = np.maximum(np.abs(targets).max(initial=0.0), _largest(found.left_out))
            off = _largest(change.left_out) > self._rounding * size
            if not off.any():
                break
            pairs = zip(found, change, strict=True)
            found = LeftOutSolution(*(a + np.where(off[:, None, None], b, 0.0) for a, b in pairs))
        return found

    def _residuals(
        self, along: Floats, targets: Floats, found: LeftOutSolution
    ) -> tuple[Floats, Floats, Floats]:
        """Return what the three equations leave of their right-hand sides."""
        theta, left_out, mu = found
        first = along - self._rows.T @ left_out + self._held.T @ mu - self._diagonal * theta
        return first, targets - left_out - self._rows @ theta, -(self._held @ theta)

    def _solve(self, along: Floats, targets: Floats, weights: Floats) -> LeftOutSolution:
        """Return (Λ + λI)θ + W'e - B'μ = along, e + Wθ = targets, Bθ = weights solved."""
        p, inner = len(self._rows), self._products
        known = self._bordered @ (self._inverse[:, :, None] * along)
        # μ is eliminated first, so that both systems are symmetric and definite.
        beside = np.concatenate((inner[:, p:, :p], known[:, p:] - weights), axis=2)
        border = np.linalg.solve(inner[:, p:, p:], beside) if len(self._held) else beside
        across = inner[:, :p, p:]
        left = np.eye(p) - inner[:, :p, :p] + across @ border[:, :, :p]
        left_out = np.asarray(
            np.linalg.solve(left, targets - known[:, :p] + across @ border[:, :, p:]), dtype=np.float64
        )
        mu: Floats = border[:, :, :p] @ left_out - border[:, :, p:]
        theta = self._inverse[:, :, None] * (along - self._rows.T @ left_out + self._held.T @ mu)
        return LeftOutSolution(theta, left_out, mu)


def long_query(
    rows: Floats, held: Floats, values: Floats, grid: Floats, along: Floats, targets: Floats
) -> Floats:
    """Return θ (L, k, v) without a query of more rows than there are unknowns, O((k + h)³).

    Of (Λ + λI - W_q'W_q) θ - B_H'μ = τ - W_q'N_q, B_Hθ = 0; parameters as of :class:`LeftOutSystem`.
    """
    left = -(rows.T @ rows) + (values + grid[:, None])[:, :, None] * np.eye(len(values))
    right = along - rows.T @ targets
    if not len(held):
        return np.asarray(np.linalg.solve(left, np.broadcast_to(right, (grid.size, *right.shape))))
    k, h = len(values), len(held)
    whole = np.zeros((grid.size, k + h, k + h))
    whole[:, :k, :k], whole[:, :k, k:], whole[:, k:, :k] = left, -held.T, held
    bordered = np.concatenate((right, np.zeros((h, right.shape[1]))))
    return np.asarray(np.linalg.solve(whole, np.broadcast_to(bordered, (grid.size, *bordered.shape)))[:, :k])


def _largest(values: Floats) -> Floats:
    """Return the largest magnitude for each λ, shape (L,)."""
    largest: Floats = np.abs(values).max(axis=(1, 2), initial=0.0)
    return largest


def products(rows: Floats, weights: Floats) -> Floats:
    """Return R diag(d) R' (L, s, s) for rows R (s, k) and each of L vectors d (L, k)."""
    return np.asarray((rows * weights[:, None, :]) @ rows.T)
