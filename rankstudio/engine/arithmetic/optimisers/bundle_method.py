"""Bundle method: the minimum of a convex loss of linear scores, found by cutting planes.

Joachims 2006 and Teo et al. 2010 as in the thesis of Airola (2011), sections 2.3 and
4.2.2, with the line search and the cutting-plane point of Franc & Sonnenburg (2009).
The one-slack structural support vector machine (Joachims, Finley & Yu
2009) is the same method: its constraints are planes under the mean
loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankstudio.engine.arithmetic._rows_kernel import dot
from rankstudio.engine.arithmetic.linear_scores import Tangent
from rankstudio.engine.arithmetic.optimisers.conjugate_gradient import OptimizerState
from rankstudio.engine.arithmetic.optimisers.pair_problem import (
    LineOfScores,
    PairProblem,
    PlaneProblem,
)
from rankstudio.engine.arithmetic.optimisers.truncated_newton import (
    close_enough,
    minimise_hinge,
)
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support.threads import STEADY
from rankstudio.engine.support.work import Waiting, WorkProgress

# the next plane is taken at this share of the way from the best point
# to the model's minimum
_AHEAD = 0.1
# maximum steps of false position; a bracket shrinks to rounding much earlier
_LINE_STEPS = 60
_LINE_SHARE = 0.1  # a line search stops if less than this share of its gain remains
_FEW_PLANES = 20  # planes after which Newton steps are faster
_FAR = 60.0  # multiple of C R(0) from which Newton steps are faster from the beginning


def minimise_hinge_either_way(
    problem: PairProblem, C: float, tol: float, max_iter: int
) -> Iterator[OptimizerState | WorkProgress]:
    """Minimise P(w) = ½ w'w + C hinge, first by cutting planes, then by Newton steps if C is large.

    A few cutting planes are enough if C is small; otherwise Newton
    steps continue from there. The hinge is the sum of max(0, 1 - s_i +
    s_j) over the pairs of ``problem``. Yield the best point so far
    after each step, and events of progress. Stop when the gap to the
    minimum is at most the share ``tol`` of P(w), or after ``max_iter``
    steps.
    """
    # The best point of the planes, where Newton steps start; None if
    # the planes gave up before the first one.
    state = None
    n_planes = 0
    for event in minimise_by_planes(
        problem, C, tol, min(_FEW_PLANES, max_iter), farthest=_FAR
    ):
        yield event
        if isinstance(event, WorkProgress):
            continue
        state = event
        n_planes = n_planes + 1
        if state.converged:
            return
    # The planes did not suffice, or the first one implied many: continue otherwise.
    if n_planes < max_iter:
        yield from minimise_hinge(problem, C, tol, max_iter - n_planes, state)


def minimise_by_planes(
    problem: PlaneProblem, C: float, tol: float, max_iter: int, farthest: float = np.inf
) -> Iterator[OptimizerState | WorkProgress]:
    """Minimise P(w) = ½ w'w + C R(w) for a nonnegative convex loss R of the scores.

    Parameters
    ----------
    problem : PlaneProblem
        Computes the scores of w, and R with its tangent planes.
    C : float
        Weight of the loss, greater than 0.
    tol : float
        Stops when the gap of P(w) to the minimum of the planes is at
        most this share of P(w) and of P(0) - P(w).
    max_iter : int
        Maximum number of cutting planes.
    farthest : float
        Ends before the first step if the first plane shows that many
        planes are needed. The minimum of this plane, w = C a, is the
        solution if no pair reaches its margin there. If ½ w'w exceeds
        this multiple of C R(0), many pairs reach it.

    Yields
    ------
    OptimizerState
        After each plane: the best point so far. Progress events in
        between, if the problem yields them.

    Notes
    -----
    For the hinge, R(w) = sum over pairs of max(0, 1 - w'(x_i - x_j)),
    the planes follow from c and d of eq. (4.10) and (4.11) of the
    thesis: O(mn + m log m) per plane, and O(log m) times O(m log m) for
    its line search.

    R is at least b_t - a_t'w for each plane, b_t its offset and
    -a_t the sum of slope_i x_i, so the minimum of the planes is
    a lower bound of P. O(mn) and one loss evaluation per plane, and a
    few more for its line search.
    """
    # The loss R at 0 and its tangent plane; P(0), and the best point so
    # far, which is 0.
    loss_at_zero = yield from problem.tangent_at_zero()
    n = problem.n_features
    at_zero = C * loss_at_zero.loss
    planes = Planes(n)
    current = _Point(
        w=np.zeros(n),
        scores=np.zeros_like(loss_at_zero.slopes),
        tangent=loss_at_zero,
        objective=at_zero,
    )
    lower = 0.0
    tangent = loss_at_zero
    for _ in range(max_iter):
        # The plane at the last point, and with it the minimum of all
        # planes: a lower bound of P.
        plane = -C * problem.weigh(tangent.slopes)
        # Before the first step: many planes would be needed.
        if lower == 0.0 and 0.5 * float(plane @ plane) > farthest * at_zero:
            return
        planes.add(plane, C * tangent.offset)
        w_model, model_minimum = planes.minimum()
        lower = max(lower, model_minimum)
        # The best point on the line from the best point so far to the planes' minimum.
        direction = w_model - current.w
        d = problem.scores(direction)
        line = problem.line(current.scores, d)
        # t = 1 is the planes' minimum.
        t, candidate = yield from _line_search(line, C, current, direction, d)
        # The next plane is at the best point if that is the planes'
        # minimum, otherwise a little beyond it.
        if t == 1.0:
            if candidate.tangent is None:
                tangent = yield from line.tangent(t)
            else:
                tangent = candidate.tangent
            current = replace(candidate, tangent=tangent)
        else:
            tangent = yield from line.tangent((1.0 - _AHEAD) * t + _AHEAD)
            current = candidate
        # The gap says how far the best point may be from the minimum.
        gap = max(current.objective - lower, 0.0)
        converged = close_enough(gap, current.objective, at_zero, tol)
        yield OptimizerState(current.w, current.objective, gap, converged)
        if converged:
            return


@dataclass(frozen=True, eq=False)
class _Point:
    """A point of the search for the minimum of P(w) = ½ w'w + C loss.

    Attributes
    ----------
    w : ndarray of shape (n,)
        Weights.
    scores : ndarray
        Scores of the documents with these weights, in the
        representation of the problem.
    tangent : Tangent, optional
        Tangent plane of the loss, if known.
    objective : float
        P(w).
    """

    w: Floats
    scores: Floats
    tangent: Tangent | None
    objective: float


def _line_search(
    line: LineOfScores, C: float, start: _Point, p: Floats, d: Floats
) -> Waiting[tuple[float, _Point]]:
    """Minimise P(w + tp) over t in [0, 1], until little can be gained.

    P(w) = ½ w'w + C loss, w is that of ``start``, p (n,) is the
    direction, and d has the scores of p. The slope grows with t; its
    zero is bracketed by false position (the Illinois variant). A
    generator of progress; its result is (t, the point there), or (0,
    ``start``) if no point on the line is lower.
    """
    # P on the line is a parabola in t plus the loss.
    ww = float(start.w @ start.w)
    wp = float(start.w @ p)
    pp = float(p @ p)
    best = start
    best_t = 0.0
    # The slope at the start; the slope at the other end of the bracket
    # is not known yet.
    if start.tangent is None:
        value_at_start = yield from line.value(0.0)
        loss_slope = value_at_start.slope
    else:
        loss_slope = dot(start.tangent.slopes, d)
    low = 0.0
    high = 1.0
    slope_at_low = wp + C * loss_slope
    slope_at_high = np.inf
    t = 1.0
    # Side of the last step, -1 or 1: two steps on one side halve the
    # slope at the other end (Illinois), so that this end moves, too.
    side = 0
    for _ in range(_LINE_STEPS):
        at_t = yield from line.value(t)
        objective = 0.5 * (ww + 2.0 * t * wp + t * t * pp) + C * at_t.loss
        slope = wp + t * pp + C * at_t.slope
        if objective < best.objective:
            best = _Point(
                w=start.w + t * p,
                scores=start.scores + t * d,
                tangent=at_t.tangent,
                objective=objective,
            )
            best_t = t
        # A negative slope: the minimum is to the right of t, otherwise to the left.
        if slope < 0.0:
            low = t
            slope_at_low = slope
            # The second step in a row on this side.
            slope_at_high = slope_at_high * (0.5 if side < 0 else 1.0)
            side = -1
        else:
            high = t
            slope_at_high = slope
            slope_at_low = slope_at_low * (0.5 if side > 0 else 1.0)
            side = 1
        # An upper bound of the decrease of the objective from here to
        # the other end of the bracket.
        remaining = abs(slope) * (high - low)
        width = high - low
        is_little_left = remaining <= _LINE_SHARE * (start.objective - best.objective)
        # The last condition fails if rounding has mixed up the slopes.
        if is_little_left or width < 1e-9 or not slope_at_low < slope_at_high:
            break
        # The zero of the line through both slopes, but not too close to
        # an end of the bracket.
        t = low - slope_at_low / (slope_at_high - slope_at_low) * width
        t = min(max(t, low + 0.01 * width), high - 0.01 * width)
    return best_t, best


# least scale of the Gram matrix, relative to the largest offset, if planes hardly slope
_LEVEL = 1e-9
# a smaller independent part of a plane, relative to the squared lengths, is rounding
_DEPENDENT = 1e-13
# a smaller change of a multiplier, relative to the greatest, may be rounding
_LEAST_CHANGE = 1e-9
# steps without a rise of the program's value after which it has converged
_STALLED = 10


class Planes:
    """Planes b_t - a_t'w that bound a convex loss of weights w from below, in addition to the plane 0.

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
        """Add the plane b - a'w with a of shape (n,), and its inner products with the other planes.

        The multiplier of the new plane is 0 until the next minimum.
        O(Tn + T²) for T planes.
        """
        # The inner products get another row and column.
        products = self._planes @ a
        self._gram = np.block(
            [[self._gram, products[:, None]], [products, np.array(float(a @ a))]]
        )
        self._planes = np.vstack((self._planes, a))
        self._offsets = np.append(self._offsets, b)
        self._beta = np.append(self._beta, 0.0)

    def minimum(self) -> tuple[Floats, float]:
        """Minimise ½ w'w + max_t (b_t - a_t'w) over w, for all planes.

        Returns
        -------
        w : ndarray of shape (n,)
            Minimiser, sum_t β_t a_t.
        value : float
            Lower bound of the minimum, equal to it up to rounding: the
            value of the dual program at β.

        Notes
        -----
        Maximises b'β - ½||sum_t β_t a_t||² over β >= 0, sum_t β_t = 1,
        by an active-set method: while the multiplier of some plane
        should grow, the plane joins the set, the program of the set is
        solved without sign constraints, and planes that would become
        negative leave. A plane that is a combination of the set
        replaces one of its planes, so that the solution stays unique.
        Starts from the β of the previous call. O(s³ + T²) for each
        plane that joins a set of size s.
        """
        # The program is solved in units of its largest numbers, or of 1
        # if these are 0. All planes may be level, with a = 0 up to
        # rounding.
        scale = (
            max(float(self._gram.diagonal().max()), _LEVEL * float(self._offsets.max()))
            or 1.0
        )
        # For systems as small as these, BLAS's threads would only wait
        # for each other on a busy machine.
        with STEADY:
            self._beta = _maximise(
                self._gram / scale, self._offsets / scale, self._beta
            )
        w = self._beta @ self._planes
        return w, float(self._offsets @ self._beta - 0.5 * (w @ w))


def _maximise(gram: Floats, offsets: Floats, beta: Floats) -> Floats:
    """Return the β >= 0 of sum 1 at which offsets'β - ½ β'gram β is greatest.

    β, of shape (T,), has the multiplier of each of T planes. ``beta``
    is the start, which must be feasible. ``gram`` (T, T) has the inner
    products of the planes, and ``offsets`` (T,) their values at w = 0.
    """
    best = beta
    least_gap = np.inf
    greatest_value = -np.inf
    n_stalled = 0
    for _ in range(10 * offsets.size + 100):
        # The plane whose multiplier should grow most; none should if the gap is 0.
        slopes = offsets - gram @ beta
        joining = int(np.argmax(slopes))
        gap = float(slopes[joining] - slopes @ beta)
        if gap < least_gap:
            best = beta
            least_gap = gap
        # The value rises by about the square of the gap: the gap may
        # still fall for a few steps when the value no longer rises by
        # more than its rounding.
        value = 0.5 * float((offsets + slopes) @ beta)
        if value > greatest_value:
            greatest_value = value
            n_stalled = 0
        else:
            n_stalled += 1
        # The plane is in the set already: its gap is only rounding.
        if beta[joining] > 0.0 or n_stalled == _STALLED:
            break
        beta, support = _joined(gram, beta, joining)
        beta = _on_support(gram, offsets, beta, support)
    return best


def _system(gram: Floats, support: Ints) -> Floats:
    """Return the matrix (s + 1, s + 1) of the equations for a set of s planes.

    The first s equations make the slopes equal, the last equation is
    that the multipliers have the sum 1. ``gram`` (T, T) has the inner
    products of all planes, ``support`` the positions of the set.
    """
    size = support.size
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = gram[np.ix_(support, support)]
    system[size, size] = 0.0
    return system


def _joined(gram: Floats, beta: Floats, joining: int) -> tuple[Floats, Ints]:
    """Return (multipliers, set) after a plane has joined the set of active planes.

    The set is the planes with multipliers above 0, as positions.
    ``gram`` (T, T) has the inner products of all planes, ``beta`` (T,)
    the multipliers, and ``joining`` is the position of the new plane.

    If the plane is a combination of the set, its multiplier grows at
    once until that of another plane is 0, and this plane leaves the
    set.
    """
    # The set before, its products with the new plane, and the planes' lengths.
    support = np.flatnonzero(beta > 0.0)
    column = gram[support, joining]
    lengths = np.sqrt(gram.diagonal())
    # The slope of a plane is the derivative of the dual objective by
    # its multiplier; at the optimum, the planes of the set have equal
    # slopes. Change of the set's multipliers if that of the joining
    # plane grows by 1, so that the slopes stay equal and all
    # multipliers still sum to 1. The last unknown is the change of the
    # common slope.
    solved = np.linalg.solve(_system(gram, support), np.append(-column, -1.0))
    change = solved[:-1]
    level = float(solved[-1])  # the common change of the slopes
    bend = float(gram[joining, joining] + column @ change) + level
    # ``bend`` is the curvature of the objective along this change: 0,
    # up to rounding, only for a combination of the set. Any other plane
    # joins the set, and the multipliers stay.
    length = float(lengths[joining] + np.abs(change) @ lengths[support])
    if bend > _DEPENDENT * length**2:
        return beta, np.append(support, joining)
    # Otherwise the multipliers change until the first one of the set is 0.
    ratios = np.full(support.size, np.inf)
    np.divide(
        beta[support],
        -change,
        out=ratios,
        where=change < -_LEAST_CHANGE * np.abs(change).max(),
    )
    leaving = int(np.argmin(ratios))
    beta = beta.copy()
    beta[support] = np.maximum(beta[support] + ratios[leaving] * change, 0.0)
    beta[support[leaving]] = 0.0
    beta[joining] = ratios[leaving]
    return beta, np.flatnonzero(beta > 0.0)


def _on_support(gram: Floats, offsets: Floats, beta: Floats, support: Ints) -> Floats:
    """Return the best nonnegative multipliers, of shape (T,), of a set of planes.

    ``support`` has the positions of the set; other planes have the multiplier
    0. ``beta`` (T,) is a feasible start, ``gram`` (T, T) has the inner products
    of all planes. ``offsets`` (T,) has the offset of each plane. The
    best multipliers maximise offsets'β - ½ β'gram β.
    """
    beta = beta.copy()
    while True:
        # The minimum on these planes, without the condition that no
        # multiplier is negative: equal slopes, and multipliers that add
        # up to 1. The last unknown is the common slope, which is not
        # needed.
        unconstrained = np.linalg.solve(
            _system(gram, support), np.append(offsets[support], 1.0)
        )[:-1]
        if (unconstrained > 0.0).all():
            beta[support] = unconstrained
            return beta
        # Otherwise go towards this minimum, until the first multiplier becomes 0.
        falling = unconstrained <= 0.0
        current = beta[support]
        ratios = np.full(support.size, np.inf)
        ratios[falling] = current[falling] / np.maximum(
            current[falling] - unconstrained[falling], np.finfo(float).tiny
        )
        step = min(1.0, float(ratios.min()))
        # The planes whose multipliers became 0 are left out, and the
        # others are tried again.
        moved = current + step * (unconstrained - current)
        moved[(ratios <= step) | (moved < 0.0)] = 0.0
        beta[support] = moved / moved.sum()
        if support.size == 1 or not (moved == 0.0).any():
            return beta
        support = support[moved > 0.0]
