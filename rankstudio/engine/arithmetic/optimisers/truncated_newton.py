"""Truncated Newton for pairwise hinge losses (Chapelle & Keerthi 2010), without a list of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arithmetic.optimisers.conjugate_gradient import OptimizerState
from rankstudio.engine.arithmetic.optimisers.pair_problem import (
    SMALL,
    PairProblem,
)
from rankstudio.engine.arithmetic.pair_losses import (
    PairLoss,
    SmoothedHinge,
    SmoothLoss,
    SquaredHinge,
)
from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.threads import STEADY
from rankstudio.engine.support.work import Waiting, WorkProgress

Inverse = Callable[[float, Floats], Floats]

_LINE_STEPS = 40  # maximum evaluations of a line search; one or two are usual
_ROUNDING = 1e-12  # a smaller gap, relative to the loss at w = 0, is rounding
_WIDEST = 2.0  # first width of the smoothing: at w = 0 every pair is in its middle
# last width; sums over pairs, and their rounding, are divided by the width
_NARROWEST = 1e-8


@dataclass(frozen=True, eq=False)
class Point:
    """Weights, their scores, and C times their loss with its derivatives.

    Attributes
    ----------
    w : ndarray of shape (n,)
        Weights.
    scores : ndarray
        The problem's representation of the scores.
    smooth : SmoothLoss
        The loss at these scores, with its derivatives.
    gradient : ndarray of shape (n,)
        Gradient of ½ w'w + C loss in w.
    """

    w: Floats
    scores: Floats
    smooth: SmoothLoss
    gradient: Floats


def close_enough(gap: float, objective: float, at_zero: float, tol: float) -> bool:
    """Return whether a gap is small relative to both the objective and its reduction from w = 0.

    ``gap`` bounds the distance of ``objective`` from its minimum. The
    second condition matters for small C, where the objective is close
    to that of w = 0 for any w. ``at_zero`` is the objective at w = 0,
    and ``tol`` is the greatest share of both.
    """
    return gap <= max(tol * min(objective, at_zero - objective), _ROUNDING * at_zero)


def minimise_squared_hinge(
    problem: PairProblem, C: float, tol: float, max_iter: int
) -> Iterator[OptimizerState | WorkProgress]:
    """Minimise P(w) = ½ w'w + C sum over pairs of max(0, 1 - w'(x_i - x_j))².

    Parameters
    ----------
    problem : PairProblem
        Pairs of documents with linear scores, and sums over them.
    C : float
        Weight of the loss, greater than 0.
    tol : float
        Stops when the duality gap is at most this share of P(w) and of
        P(0) - P(w).
    max_iter : int
        Maximum number of Newton steps.

    Yields
    ------
    OptimizerState
        After each Newton step; progress events in between, if the
        problem yields them.

    Notes
    -----
    The dual variables of w, α_ij = 2C max(0, 1 - s_i + s_j), are
    feasible for the dual, and its value there is P(w) - ½||∇P(w)||²:
    half the squared gradient norm *is* the duality gap.

    O(mn + m log m) for each of a few products with the Hessian I + 2C
    X'LX in each step.
    """
    # P(0): each pair has a loss of 1.
    at_zero = C * (yield from problem.count())
    start = np.zeros(problem.n_features)
    inverse = yield from preconditioner(problem)
    n_steps = 0
    for point in descend(problem, C, SquaredHinge(), start, inverse):
        if isinstance(point, WorkProgress):
            yield point
            continue
        n_steps += 1
        # Half the squared norm of the gradient is the duality gap.
        objective = 0.5 * float(point.w @ point.w) + C * point.smooth.loss
        gap = 0.5 * float(point.gradient @ point.gradient)
        converged = close_enough(gap, objective, at_zero, tol)
        yield OptimizerState(point.w, objective, gap, converged)
        if converged or n_steps == max_iter:
            return


def minimise_hinge(
    problem: PairProblem,
    C: float,
    tol: float,
    max_iter: int,
    start: OptimizerState | None = None,
) -> Iterator[OptimizerState | WorkProgress]:
    """Minimise P(w) = ½ w'w + C sum over pairs of max(0, 1 - w'(x_i - x_j)) with decreasing smoothing.

    Each stage takes Newton steps for a hinge whose kink is smoothed
    over some width, and the width of the next stage is narrower. Yield
    the best point after each step, and events of progress. Stop when
    the duality gap is at most the share ``tol`` of P(w), or after
    ``max_iter`` Newton steps. ``start`` is the starting point, w = 0 by
    default.

    Notes
    -----
    The derivatives of the smoothed hinge are dual variables, 0 <= α_ij
    <= C, of the hinge itself, so every step has a lower bound D = sum
    α_ij - ½||sum α_ij (x_i - x_j)||² and a valid duality gap. The gap
    due to the smoothing decreases with the square of its width, which
    determines the next width. D divides sums of hinges by the width, so
    the gap is accurate up to their rounding divided by it.
    """
    # P(0): each pair has a loss of 1.
    at_zero = C * (yield from problem.count())
    w = np.zeros(problem.n_features)
    width = _WIDEST
    n_steps = 0
    best_w = w
    best_objective = at_zero
    lower = 0.0  # the greatest lower bound of P so far
    if start is not None:
        # Near the minimum, the first width may be narrower.
        w = best_w = start.w
        width = _WIDEST / 10
        best_objective = start.objective
        lower = start.objective - start.gap
    inverse = yield from preconditioner(problem)
    while n_steps < max_iter:
        for point in descend(problem, C, SmoothedHinge(width), w, inverse):
            if isinstance(point, WorkProgress):
                yield point
                continue
            n_steps += 1
            w = point.w
            primal, dual = _hinge_bounds(point, C, width)
            if primal < best_objective:
                best_w = w
                best_objective = primal
            lower = max(lower, dual)
            gap = max(best_objective - lower, 0.0)
            converged = close_enough(gap, best_objective, at_zero, tol)
            yield OptimizerState(best_w, best_objective, gap, converged)
            if converged:
                return
            # Half the squared gradient is the gap of the smoothed
            # problem. If it is a small part of the whole gap, most of
            # this is due to the smoothing, which further steps do not
            # change.
            is_solved = 0.5 * float(point.gradient @ point.gradient) <= 0.1 * (
                primal - dual
            )
            if n_steps == max_iter or is_solved:
                break
        if width <= _NARROWEST:
            return
        target_gap = 0.5 * tol * min(best_objective, at_zero - best_objective)
        # gap ~ width², so the width for a gap g is √(g / gap) times the
        # present one, but only near the minimum. The width at least
        # halves, so that the search ends, and keeps a tenth, from which
        # Newton steps still converge. 1e-300 avoids a division by 0.
        factor = float(
            np.clip(np.sqrt(target_gap / max(primal - dual, 1e-300)), 0.1, 0.5)
        )
        width = max(width * factor, _NARROWEST)


def _hinge_bounds(point: Point, C: float, width: float) -> tuple[float, float]:
    """Return (P, D) at a point: the objective with the hinge, and a lower bound of its minimum.

    D is the value of the dual problem. ``width`` is the width of the
    smoothed kink of the hinge, whose derivatives give the dual
    variables of D. ``C`` is the weight of the hinge.
    """
    hinge, inner = point.smooth.hinges
    total = (hinge - inner) / width  # sum of the derivatives of the pairs' losses
    weighted_differences = point.w - point.gradient  # sum of α_ij (x_i - x_j)
    primal = 0.5 * float(point.w @ point.w) + C * hinge
    return primal, C * total - 0.5 * float(weighted_differences @ weighted_differences)


def descend(
    problem: PairProblem, C: float, loss: PairLoss, w: Floats, inverse: Inverse
) -> Iterator[Point | WorkProgress]:
    """Take Newton steps for ½ w'w + C loss(Xw), starting at w, until rounding stops them.

    Yield the point after each step, with its gradient, and events of
    progress. ``problem`` has the pairs, ``C`` weighs the loss, and
    ``inverse`` is the preconditioner.

    Preconditioned conjugate gradients solve each step with an accuracy
    that suits the distance to the minimum.
    """
    scores = problem.scores(w)
    point = _point(problem, C, w, (yield from problem.smooth(loss, scores)), scores)
    first = previous = float(np.linalg.norm(point.gradient))
    while True:
        norm = float(np.linalg.norm(point.gradient))
        if norm == 0.0:
            yield point
            return
        # Accuracy of a Newton step (Dembo and Steihaug): a relative
        # residual that falls as √||gradient|| makes the steps converge
        # superlinearly. At least 1e-4, because the curved pairs change
        # with each step.
        accuracy = max(1e-4, min(0.1, norm / previous, float(np.sqrt(norm / first))))
        previous = norm
        direction = yield from _newton_direction(problem, C, point, inverse, accuracy)
        next_point = yield from _line_search(problem, C, loss, point, direction)
        if next_point is None:
            yield point
            return
        point = next_point
        yield point


def _point(
    problem: PairProblem, C: float, w: Floats, smooth: SmoothLoss, scores: Floats
) -> Point:
    """Return the point of some weights, with the gradient of the objective ½ w'w + C loss.

    ``smooth`` is the loss at the ``scores`` of ``w`` (n,), and ``C``
    its weight.
    """
    return Point(
        w=w, scores=scores, smooth=smooth, gradient=w + C * problem.weigh(smooth.slopes)
    )


def _line_search(
    problem: PairProblem, C: float, loss: PairLoss, start: Point, p: Floats
) -> Waiting[Point | None]:
    """Search a point along p where the objective is lower and nearly level.

    The objective is ½ w'w + C loss, and p (n,) the direction from
    ``start``. A generator of progress; its result is None if rounding
    allows no lower point.

    The objective along a line is convex and piecewise quadratic:
    Newton's method on its slope, kept inside the bracket, needs the
    scores of the direction once and no features after that.
    """
    # The slope at the start; P does not fall along p if it is not negative.
    slope = float(start.gradient @ p)
    if not slope < 0.0:
        return None
    # After a step t, scores change by t d, and ½ w'w by t w'p + ½ t² p'p.
    d = problem.scores(p)
    wp = float(start.w @ p)
    pp = float(p @ p)
    low = 0.0
    high = np.inf
    t = 1.0
    best = None
    for _ in range(_LINE_STEPS):
        scores = start.scores + t * d
        smooth = yield from problem.smooth(loss, scores)
        slope_at_t = wp + t * pp + C * smooth.slope(d)
        # If the change of the objective is only rounding, a negative
        # slope still shows that it is lower.
        change = t * wp + 0.5 * t * t * pp + C * (smooth.loss - start.smooth.loss)
        if slope_at_t <= 0.0 or change < 0.0:
            best = (t, smooth, scores)
            # Flat enough: a quarter of the slope at the start (the
            # curvature condition of Wolfe).
            if abs(slope_at_t) <= 0.25 * abs(slope):
                break
        if slope_at_t < 0.0:
            low = t
        else:
            high = t
        # Newton's step, by the second derivative along the line. A step
        # out of the bracket is replaced: t is doubled without an upper
        # end, else bisected.
        t -= slope_at_t / (pp + C * (yield from problem.bending(smooth, d)))
        if not low < t < high:
            t = 2.0 * low if high == np.inf else 0.5 * (low + high)
        # The ends differ only by rounding.
        if high - low <= 1e-12 * high:
            break
    if best is None:
        return None
    t, smooth, scores = best
    return _point(problem, C, start.w + t * p, smooth, scores)


def _newton_direction(
    problem: PairProblem, C: float, point: Point, inverse: Inverse, accuracy: float
) -> Waiting[Floats]:
    """Compute the Newton direction p (n,): H p = -gradient, with the Hessian H of the objective.

    Preconditioned conjugate gradients solve the equations until their
    residual is at most the share ``accuracy`` of the gradient, in the
    norm of the preconditioner. A generator of progress; its result is
    p. The step goes from ``point``; ``C`` is the weight of the loss,
    and ``inverse`` the preconditioner.
    """
    smooth = point.smooth
    # The curved pairs are those whose loss has a second derivative,
    # ``bend``. The preconditioner has the same weight for all pairs
    # instead: the mean, times C.
    share = C * smooth.bend * smooth.n_curved / max(1, (yield from problem.count()))
    # Conjugate gradients from p = 0, until the preconditioned residual is small enough.
    p = np.zeros_like(point.w)
    residual = -point.gradient
    z = inverse(share, residual)
    rz = float(residual @ z)
    target_rz = accuracy**2 * rz
    direction = z
    for _ in range(2 * p.size + 10):
        if not rz > target_rz:
            break
        hessian_direction = direction + C * (
            yield from problem.curvature(smooth, direction)
        )
        curvature = float(direction @ hessian_direction)
        # Only rounding is left, as with features so large that the
        # Hessian exceeds the precision of numbers.
        if not curvature > 0.0:
            break
        # A step to the minimum along the direction.
        length = rz / curvature
        p += length * direction
        residual -= length * hessian_direction
        z = inverse(share, residual)
        # The next direction is conjugate to this one.
        last_rz = rz
        rz = float(residual @ z)
        direction = z + (rz / last_rz) * direction
    return p


def preconditioner(problem: PairProblem) -> Waiting[Inverse]:
    """Compute the function (a, r) -> (I + a sum_i degree_i x_i x_i')^-1 r, a preconditioner for Newton steps.

    r has shape (n,), and x_i (n,) are the features of document i,
    centred within its query. The degree of a document is its number of
    pairs. The sum is estimated from a sample of documents, and
    decomposed once for all a.

    The matrix approximates the Hessian, which is I plus a sum of

        d_ij (x_i - x_j)(x_i - x_j)'

    over pairs. d_ij is the second derivative of the loss of a pair,
    times the weight C of the loss. It is 0 unless the pair is in the
    curved part of its loss, and the pairs there change with each step.
    Therefore all pairs get the same weight a instead, about the mean of
    d_ij. The sum over all pairs of (x_i - x_j)(x_i - x_j)' is replaced
    by the sum over documents. Both are equal up to a factor of 2 if the
    documents of each query have different labels.
    """
    gram = yield from problem.degree_gram()
    # Of very many features, there is only the diagonal.
    if gram.ndim == 1:
        return lambda a, r: r / (1.0 + a * gram)
    with STEADY if problem.n_features <= SMALL else nullcontext():
        values, vectors = np.linalg.eigh(gram)
    values = np.maximum(values, 0.0)

    # In the coordinates of the eigenvectors, the matrix is diagonal.
    def solve(a: float, r: Floats) -> Floats:
        """Return the product of the inverse with r."""
        solved: Floats = vectors @ ((vectors.T @ r) / (1.0 + a * values))
        return solved

    return solve
