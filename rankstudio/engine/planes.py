"""The highest of some planes plus a squared norm, minimised: the small program of cutting-plane methods."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Floats = NDArray[np.float64]

# Added to the diagonal, so that dependent planes do not make the program singular: a share of each entry, as
# planes may differ in length by many powers of ten, and a little where a plane is level.
_RIDGE, _LEVEL_RIDGE = 1e-14, 1e-30
_SMALL = 64  # planes up to which BLAS keeps to one thread by itself


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
        self._blas: ThreadpoolController | None = None

    def add(self, a: Floats, b: float) -> None:
        """Add the plane b - a'w, a of shape (n,): O(Tn + T²) for T planes."""
        products = self._planes @ a
        size = self._offsets.size
        gram = np.empty((size + 1, size + 1))
        gram[:size, :size] = self._gram
        gram[size, :size] = gram[:size, size] = products
        gram[size, size] = float(a @ a)
        self._gram = gram
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
        the signs, and what would turn negative leaves. Starts from the β of the call before. O(s³ + T²) for
        each plane that joins a set of s.
        """
        # Planes may all be level, a = 0.
        largest = float(self._offsets.max())
        scale = max(float(self._gram.diagonal().max()), 1e-9 * largest, float(np.finfo(float).tiny))
        gram, offsets = self._gram / scale, self._offsets / scale
        diagonal = np.diag_indices_from(gram)
        gram[diagonal] = (1.0 + _RIDGE) * gram[diagonal] + _LEVEL_RIDGE
        with self._one_thread():
            self._beta = _maximise(gram, offsets, self._beta)
        w = self._beta @ self._planes
        return w, float(self._offsets @ self._beta - 0.5 * (w @ w))

    def _one_thread(self) -> AbstractContextManager[object]:
        """Keep BLAS from spreading small systems over threads that wait for each other on a busy machine."""
        if self._offsets.size <= _SMALL:
            return nullcontext()
        if self._blas is None:
            self._blas = ThreadpoolController()
        limit: AbstractContextManager[object] = self._blas.limit(limits=1, user_api="blas")
        return limit


def _maximise(gram: Floats, offsets: Floats, beta: Floats) -> Floats:
    """Return the β >= 0 of sum 1 at which offsets'β - ½ β'gram β is greatest, from a feasible one on."""
    best, reached = beta, -np.inf
    for _ in range(10 * offsets.size + 100):
        slopes = offsets - gram @ beta
        value = 0.5 * float((offsets + slopes) @ beta)
        if not value > reached:  # what is left to gain is less than the rounding
            break
        best, reached = beta, value
        joining = int(np.argmax(slopes))
        if beta[joining] > 0.0 or slopes[joining] <= float(slopes @ beta):
            break
        beta = _on_support(gram, offsets, beta, joining)
    return best


def _on_support(gram: Floats, offsets: Floats, beta: Floats, joining: int) -> Floats:
    """Return the multipliers that are best on the support and one more plane, none negative."""
    beta = beta.copy()
    support = np.append(np.flatnonzero(beta > 0.0), joining)
    while True:
        size = support.size
        system = np.ones((size + 1, size + 1))
        system[:size, :size] = gram[np.ix_(support, support)]
        system[size, size] = 0.0
        wanted = np.linalg.solve(system, np.append(offsets[support], 1.0))[:size]
        if (wanted > 0.0).all():
            beta[support] = wanted
            return beta
        falling = wanted <= 0.0
        now = beta[support]
        ratios = np.full(size, np.inf)
        ratios[falling] = now[falling] / np.maximum(now[falling] - wanted[falling], np.finfo(float).tiny)
        step = min(1.0, float(ratios.min()))
        moved = now + step * (wanted - now)
        moved[(ratios <= step) | (moved < 0.0)] = 0.0
        beta[support] = moved / moved.sum()
        if size == 1 or not (moved == 0.0).any():
            return beta
        support = support[moved > 0.0]
