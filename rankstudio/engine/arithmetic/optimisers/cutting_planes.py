"""The highest of some planes plus a squared norm, minimised: the small program of cutting-plane methods."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.threads import STEADY

_LEVEL = 1e-9  # of the offsets: the squared length of planes that hardly slope
_DEPENDENT = 1e-13  # of the squared lengths: what of a plane's own is all rounding
_LEAST_CHANGE = 1e-9  # of the greatest: what may be all rounding
_STALLED = 10  # steps without a rise of the program's value after which it has converged


class Planes:
    """Planes b_t - a_t'w, growing in number, under the plane 0, which is always there.

    Parameters
    ----------
    n : int
        Length of w.
    """

    def __init__(self, n: int) -> None:
        self._planes = np.zeros((1, n))
        self._offsets = np.zeros(1)
        self._gram = np.zeros((1, 1))
        self._beta = np.ones(1)

    def add(self, a: Floats, b: float) -> None:
        """Add the plane b - a'w, a of shape (n,): O(Tn + T²) for T planes."""
        products = self._planes @ a
        self._gram = np.block([[self._gram, products[:, None]], [products, np.array(float(a @ a))]])
        self._planes = np.vstack((self._planes, a))
        self._offsets = np.append(self._offsets, b)
        self._beta = np.append(self._beta, 0.0)

    def minimum(self) -> tuple[Floats, float]:
        """Minimise ½ w'w + max_t (b_t - a_t'w).

        Returns
        -------
        w : ndarray of shape (n,)
            Where the minimum is, sum_t β_t a_t.
        value : float
            A lower bound of the minimum, and equal to it but for rounding: the dual program's value at β.

        Notes
        -----
        Maximises b'β - ½||sum_t β_t a_t||² over β >= 0, sum_t β_t = 1, by an active-set method: while there
        is a plane whose multiplier should grow, it joins the set, the program of the set is solved without
        the signs, and what would turn negative leaves. A plane that is a combination of the set takes the
        place of one of it, so that the program always has one solution. Starts from the β of the call before.
        O(s³ + T²) for each plane that joins a set of s.
        """
        # Planes may all be level, a = 0 or a rounding.
        scale = max(float(self._gram.diagonal().max()), _LEVEL * float(self._offsets.max())) or 1.0
        # BLAS's threads would wait for each other, with systems as small as these and a busy machine.
        with STEADY:
            self._beta = _maximise(self._gram / scale, self._offsets / scale, self._beta)
        w = self._beta @ self._planes
        return w, float(self._offsets @ self._beta - 0.5 * (w @ w))


def _maximise(gram: Floats, offsets: Floats, beta: Floats) -> Floats:
    """Return the β >= 0 of sum 1 at which offsets'β - ½ β'gram β is greatest, from a feasible one on."""
    best, least = beta, np.inf
    reached, stalled = -np.inf, 0
    for _ in range(10 * offsets.size + 100):
        slopes = offsets - gram @ beta
        joining = int(np.argmax(slopes))
        gap = float(slopes[joining] - slopes @ beta)
        if gap < least:
            best, least = beta, gap
        # Where the value no longer rises by more than its rounding, the gap, whose square it rises by, may
        # still fall for a step or two.
        value = 0.5 * float((offsets + slopes) @ beta)
        reached, stalled = (value, 0) if value > reached else (reached, stalled + 1)
        if beta[joining] > 0.0 or stalled == _STALLED:
            break
        beta, support = _joined(gram, beta, joining)
        beta = _on_support(gram, offsets, beta, support)
    return best


def _system(gram: Floats, support: Ints) -> Floats:
    """Return the equations of the set's program: equal slopes, and multipliers of a given sum."""
    size = support.size
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = gram[np.ix_(support, support)]
    system[size, size] = 0.0
    return system


def _joined(gram: Floats, beta: Floats, joining: int) -> tuple[Floats, Ints]:
    """Return the multipliers and the set once a plane has joined it.

    Where the plane is a combination of the set, it grows at once, until one of them is left at 0 and leaves.
    """
    support = np.flatnonzero(beta > 0.0)
    column, lengths = gram[support, joining], np.sqrt(gram.diagonal())
    # How the set gives way, its slopes staying equal, as the multiplier of the joining plane grows by 1.
    solved = np.linalg.solve(_system(gram, support), np.append(-column, -1.0))
    change, level = solved[:-1], float(solved[-1])
    bend = float(gram[joining, joining] + column @ change) + level
    if bend > _DEPENDENT * float(lengths[joining] + np.abs(change) @ lengths[support]) ** 2:
        return beta, np.append(support, joining)
    ratios = np.full(support.size, np.inf)
    np.divide(beta[support], -change, out=ratios, where=change < -_LEAST_CHANGE * np.abs(change).max())
    leaving = int(np.argmin(ratios))
    beta = beta.copy()
    beta[support] = np.maximum(beta[support] + ratios[leaving] * change, 0.0)
    beta[support[leaving]], beta[joining] = 0.0, ratios[leaving]
    return beta, np.flatnonzero(beta > 0.0)


def _on_support(gram: Floats, offsets: Floats, beta: Floats, support: Ints) -> Floats:
    """Return the multipliers that are best on a set of planes, none negative, from feasible ones on."""
    beta = beta.copy()
    while True:
        wanted = np.linalg.solve(_system(gram, support), np.append(offsets[support], 1.0))[:-1]
        if (wanted > 0.0).all():
            beta[support] = wanted
            return beta
        falling = wanted <= 0.0
        now = beta[support]
        ratios = np.full(support.size, np.inf)
        ratios[falling] = now[falling] / np.maximum(now[falling] - wanted[falling], np.finfo(float).tiny)
        step = min(1.0, float(ratios.min()))
        moved = now + step * (wanted - now)
        moved[(ratios <= step) | (moved < 0.0)] = 0.0
        beta[support] = moved / moved.sum()
        if support.size == 1 or not (moved == 0.0).any():
            return beta
        support = support[moved > 0.0]
