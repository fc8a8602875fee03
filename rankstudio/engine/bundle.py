"""Bundle method for the pairwise hinge: cutting planes and their small quadratic program.

Joachims 2006 and Teo et al. 2010 as in the thesis of Airola (2011), sections 2.3 and 4.2.2, with the line
search and the cutting-plane point of Franc & Sonnenburg (2009).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine import _pairs_kernel as kernels
from rankstudio.engine.linear_pairs import LinearPairs
from rankstudio.engine.newton import Progress, close_enough, minimise_hinge
from rankstudio.engine.pairs import Hinge

Floats = NDArray[np.float64]

_AHEAD = 0.1  # how far from the best point towards the model's minimum the next plane is taken
_LINE_STEPS = 60
_LINE_SHARE = 0.1  # of what a line search has gained: less than that is left
_FEW_PLANES = 20  # after which Newton steps are the faster way
_FAR = 60.0  # from which on they are from the beginning
_RIDGE = 1e-13  # of the largest diagonal entry, so that dependent planes do not make the program singular


def minimise_hinge_either_way(
    problem: LinearPairs, C: float, tol: float, max_iter: int
) -> Iterator[Progress]:
    """Minimise the hinge by a few cutting planes where C is small, and by Newton steps from there on.

    Parameters and steps as for :func:`minimise_hinge_by_planes`.
    """
    now, taken = None, 0
    for now in minimise_hinge_by_planes(problem, C, tol, min(_FEW_PLANES, max_iter), _FAR):
        taken += 1
        yield now
        if now.converged:
            return
    if taken < max_iter:
        yield from minimise_hinge(problem, C, tol, max_iter - taken, now)


def minimise_hinge_by_planes(
    problem: LinearPairs, C: float, tol: float, max_iter: int, farthest: float = np.inf
) -> Iterator[Progress]:
    """Minimise P(w) = ½ w'w + C R(w), R(w) = sum over pairs of max(0, 1 - w'(x_i - x_j)).

    Parameters
    ----------
    problem : LinearPairs
    C : float
        Greater than 0.
    tol : float
        Stop where the gap to the bundle's minimum is at most this share of P(w) and of P(0) - P(w).
    max_iter : int
        Cutting planes at most.
    farthest : float
        Give up, before the first step, where the first plane tells that there will be many: its minimum
        w = C sum (x_i - x_j) is the solution where it reaches no margin, and ½ w'w beyond this multiple of
        C R(0) reaches far more.

    Yields
    ------
    Progress
        After each plane.

    Notes
    -----
    R is at least b_t - a_t'w for each plane, b_t the number of violated pairs at some w_t and a_t the sum
    of their x_i - x_j, from c and d of eq. (4.10), (4.11). O(mn + m log m) a plane and O(log m) times
    O(m log m) for its line search.
    """
    n, pairs = problem.X.shape[1], problem.pairs
    at_zero = C * pairs.n_pairs
    program = _Program(n)
    here = _Place(np.zeros(n), np.zeros(problem.X.shape[0]), pairs.hinge_at_zero, at_zero)
    lower, at = 0.0, here.hinge
    for _ in range(max_iter):
        plane = -C * problem.weigh(at.slopes)
        if lower == 0.0 and 0.5 * float(plane @ plane) > farthest * at_zero:
            return
        program.add(plane, C * at.n_violated)
        model, value = program.solve()
        lower = max(lower, value)
        towards = model - here.w
        d = problem.scores(towards)
        t, new = _line_search(problem, C, here, towards, d)
        # At the end of the way the next plane is the one at the best point, whose hinge is known.
        at = new.hinge if t == 1.0 else pairs.hinge(here.scores + ((1.0 - _AHEAD) * t + _AHEAD) * d)
        here = new
        gap = max(here.objective - lower, 0.0)
        converged = close_enough(gap, here.objective, at_zero, tol)
        yield Progress(here.w, here.objective, gap, converged)
        if converged:
            return


@dataclass(frozen=True, eq=False)
class _Place:
    """Weights (n,), their scores (m,), and the hinge and the objective there."""

    w: Floats
    scores: Floats
    hinge: Hinge
    objective: float


def _line_search(problem: LinearPairs, C: float, start: _Place, p: Floats, d: Floats) -> tuple[float, _Place]:
    """Minimise P(w + tp) over t in [0, 1], until there is little left to gain; d holds the scores of p.

    The slope grows with t; its zero is bracketed by false position (the Illinois variant). Returns t and
    where that is; 0 and the start where nothing on the way is lower.
    """
    ww, wp, pp = float(start.w @ start.w), float(start.w @ p), float(p @ p)
    best, best_t = start, 0.0
    low, high, at_low, at_high = 0.0, 1.0, wp + C * kernels.dot(start.hinge.slopes, d), np.inf
    t, side = 1.0, 0
    for _ in range(_LINE_STEPS):
        scores = start.scores + t * d
        hinge = problem.pairs.hinge(scores)
        objective = 0.5 * (ww + 2.0 * t * wp + t * t * pp) + C * hinge.loss
        slope = wp + t * pp + C * kernels.dot(hinge.slopes, d)
        if objective < best.objective:
            best, best_t = _Place(start.w + t * p, scores, hinge, objective), t
        if slope < 0.0:
            low, at_low, at_high, side = t, slope, at_high * (0.5 if side < 0 else 1.0), -1
        else:
            high, at_high, at_low, side = t, slope, at_low * (0.5 if side > 0 else 1.0), 1
        # What the objective can still fall by between here and the other end of the bracket.
        left, width = abs(slope) * (high - low), high - low
        if left <= _LINE_SHARE * (start.objective - best.objective) or width < 1e-9 or not at_low < at_high:
            break
        t = low - at_low / (at_high - at_low) * width
        t = min(max(t, low + 0.01 * width), high - 0.01 * width)
    return best_t, best


class _Program:
    """max over β >= 0, sum β <= 1 of b'β - ½||sum β_t a_t||²: the bundle's dual, kept from plane to plane.

    The plane a = 0, b = 0 (the loss is never negative) turns the inequality into an equality. Solved
    exactly by an active-set method: while there is a plane whose multiplier should grow, it joins the set,
    the equality-constrained program of the set is solved, and what would turn negative leaves.
    """

    def __init__(self, n: int) -> None:
        self._planes = np.zeros((1, n))
        self._offsets = np.zeros(1)
        self._gram = np.zeros((1, 1))
        self._beta = np.ones(1)

    def add(self, a: Floats, b: float) -> None:
        """Add a plane b - a'w."""
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

    def solve(self) -> tuple[Floats, float]:
        """Return the minimum of the bundle, w = sum β_t a_t, and the program's value there."""
        # Planes may all be level, a = 0, where no feature can change the loss.
        largest = float(self._offsets.max())
        scale = max(float(self._gram.diagonal().max()), 1e-9 * largest, float(np.finfo(float).tiny))
        gram, offsets, beta = self._gram / scale, self._offsets / scale, self._beta
        gram[np.diag_indices_from(gram)] += _RIDGE
        tie = 1e-12 * (1.0 + float(np.abs(offsets).max()))
        for _ in range(10 * offsets.size + 100):
            slopes = offsets - gram @ beta
            joining = int(np.argmax(slopes))
            if beta[joining] > 0.0 or slopes[joining] <= float(slopes @ beta) + tie:
                break
            beta = _on_support(gram, offsets, beta, joining)
        self._beta = beta
        w = beta @ self._planes
        return w, float(self._offsets @ beta - 0.5 * (w @ w))


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
