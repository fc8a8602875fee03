"""Bundle method: the minimum of a convex loss of linear scores, found by cutting planes.

Joachims 2006 and Teo et al. 2010 as in the thesis of Airola (2011), sections 2.3 and 4.2.2, with the line
search and the cutting-plane point of Franc & Sonnenburg (2009). The one-slack structural support vector
machine (Joachims, Finley & Yu 2009) is the same method: its constraints are planes under the mean loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine._linear_kernel import dot
from rankstudio.engine.linear import Linear
from rankstudio.engine.newton import Progress, close_enough, minimise_hinge
from rankstudio.engine.pairs import LinearPairs, Pairs
from rankstudio.engine.planes import Planes

Floats = NDArray[np.float64]

_AHEAD = 0.1  # how far from the best point towards the model's minimum the next plane is taken
_LINE_STEPS = 60
_FEW_PLANES = 12  # after which Newton steps are the faster way
_FAR = 5.0  # from which on they are from the beginning


@dataclass(frozen=True, eq=False)
class Tangent:
    """A convex loss at some scores, and the plane that touches it there and is nowhere above it.

    Attributes
    ----------
    loss : float
        At those scores.
    offset : float
        The plane's height at scores of 0.
    slopes : ndarray of shape (m,)
        Its slope along the score of each document, a subgradient of the loss: at scores s the plane is
        ``offset + slopes @ s``.
    """

    loss: float
    offset: float
    slopes: Floats


Loss = Callable[[Floats], Tangent]


def minimise_hinge_either_way(
    problem: LinearPairs, C: float, tol: float, max_iter: int
) -> Iterator[Progress]:
    """Minimise the hinge by a few cutting planes where C is small, and by Newton steps from there on.

    Parameters and steps as for :func:`minimise_hinge_by_planes`.
    """
    now, taken = None, 0
    planes = minimise_by_planes(problem, _hinge(problem.pairs), C, tol, min(_FEW_PLANES, max_iter), _FAR)
    for now in planes:
        taken += 1
        yield now
        if now.converged:
            return
    if taken < max_iter:
        yield from minimise_hinge(problem, C, tol, max_iter - taken, now)


def minimise_hinge_by_planes(problem: LinearPairs, C: float, tol: float, max_iter: int) -> Iterator[Progress]:
    """Minimise P(w) = ½ w'w + C sum over pairs of max(0, 1 - w'(x_i - x_j)).

    Parameters and steps as for :func:`minimise_by_planes`, with X centred inside each query.

    Notes
    -----
    O(mn + m log m) a plane and O(log m) times O(m log m) for its line search.
    """
    return minimise_by_planes(problem, _hinge(problem.pairs), C, tol, max_iter)


def _hinge(pairs: Pairs) -> Loss:
    """Return the hinge, by eq. (4.10) to (4.13) of the thesis: its planes start at the violated pairs."""

    def tangent(scores: Floats) -> Tangent:
        at = pairs.at(scores)
        loss, slopes = at.hinge()
        return Tangent(loss, float(at.n_violated), slopes)

    return tangent


def minimise_by_planes(
    problem: Linear, loss: Loss, C: float, tol: float, max_iter: int, farthest: float = np.inf
) -> Iterator[Progress]:
    """Minimise P(w) = ½ w'w + C R(Xw) for a convex loss R that is never negative.

    Parameters
    ----------
    problem : Linear
        X and its products.
    loss : callable
        From scores (m,) to the :class:`Tangent` of R there.
    C : float
        Greater than 0.
    tol : float
        Stop where the gap to the bundle's minimum is at most this share of P(w) and of P(0) - P(w).
    max_iter : int
        Cutting planes at most.
    farthest : float
        Give up, before the first step, where the first plane tells that there will be many: its minimum
        w = Ca is the solution where it reaches no margin, and ½ w'w beyond this multiple of C R(0) reaches
        far more.

    Yields
    ------
    Progress
        After each plane: the best point so far.

    Notes
    -----
    R is at least b_t - a_t'w for each plane, b_t its offset and a_t = -X'slopes, so the minimum of the
    planes is a lower bound of P. O(mn) and one loss a plane, and some more losses for its line search.
    """
    n = problem.X.shape[1]
    planes = Planes(n)
    best, best_scores = np.zeros(n), np.zeros(problem.X.shape[0])
    at = loss(best_scores)
    at_zero = objective = C * at.loss
    lower = 0.0
    for number in range(max_iter):
        plane = -C * problem.weigh(at.slopes)
        if number == 0 and 0.5 * float(plane @ plane) > farthest * at_zero:
            return
        planes.add(plane, C * at.offset)
        model, value = planes.minimum()
        lower = max(lower, value)
        towards = model - best
        d = problem.scores(towards)
        t, objective = _line_search(loss, C, best, best_scores, towards, d, objective)
        ahead = best_scores + ((1.0 - _AHEAD) * t + _AHEAD) * d
        best, best_scores = best + t * towards, best_scores + t * d
        gap = max(objective - lower, 0.0)
        converged = close_enough(gap, objective, at_zero, tol)
        yield Progress(best, objective, gap, converged)
        if converged or number + 1 == max_iter:
            return
        at = loss(ahead)


def _line_search(
    loss: Loss, C: float, w: Floats, scores: Floats, p: Floats, d: Floats, objective: float
) -> tuple[float, float]:
    """Minimise P(w + tp) over t in [0, 1], until there is little left to gain.

    The slope grows with t; its zero is bracketed by false position (the Illinois variant). Returns t and the
    objective there; (0, objective) where nothing on the way is lower.
    """

    def at(t: float) -> tuple[float, float]:
        tangent = loss(scores + t * d)
        value = 0.5 * (ww + 2.0 * t * wp + t * t * pp) + C * tangent.loss
        return value, wp + t * pp + C * dot(tangent.slopes, d)

    ww, wp, pp = float(w @ w), float(w @ p), float(p @ p)
    value, at_high = at(1.0)
    best = min((objective, 0.0), (value, 1.0))
    if at_high <= 0.0:
        return best[1], best[0]
    low, high, at_low = 0.0, 1.0, at(0.0)[1]
    for _ in range(_LINE_STEPS):
        t = (low * at_high - high * at_low) / (at_high - at_low)
        t = min(max(t, low + 0.01 * (high - low)), high - 0.01 * (high - low))
        value, slope = at(t)
        best = min(best, (value, t))
        # What the objective can still fall by between here and the other end of the bracket.
        if abs(slope) * (high - low) <= 0.1 * (objective - best[0]) or high - low < 1e-9:
            break
        if slope < 0.0:
            low, at_low, at_high = t, slope, 0.5 * at_high
        else:
            high, at_high, at_low = t, slope, 0.5 * at_low
        if not at_low < at_high:
            break
    return best[1], best[0]
