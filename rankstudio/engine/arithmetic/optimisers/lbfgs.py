"""L-BFGS as a generator: one iteration at a time, for smooth convex objectives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.work import Waiting, WorkProgress

Objective = Callable[[Floats], Waiting[tuple[float, Floats]]]

_MEMORY = 10  # pairs of steps and changes of the gradient
_LINE_STEPS = 60  # evaluations of a line search at most; one is usual
_FIRST_STEPS = 300  # of the first, which knows nothing of the scale of the features yet
_DECREASE, _CURVATURE = 1e-4, 0.9  # of the weak Wolfe conditions


def minimise(objective: Objective, start: Floats) -> Iterator[tuple[Floats, float, Floats] | WorkProgress]:
    """Minimise a smooth convex function by L-BFGS (Liu & Nocedal 1989).

    Parameters
    ----------
    objective : callable
        Returns value and gradient (n,) at a point (n,), as a generator that may yield progress events.
    start : ndarray of shape (n,)
        Starting point.

    Yields
    ------
    point, value, gradient
        At the start, then after every iteration; progress events in between. It ends when the gradient is 0,
        or when no step along the direction decreases the function in floating point.

    Notes
    -----
    O(n) per iteration besides the objective, which is usually evaluated once.
    """
    point, (value, gradient) = start, (yield from objective(start))
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    yield point, value, gradient
    while gradient.any():
        direction = -_times_inverse_hessian(gradient, pairs)
        first, steps = (1.0, _LINE_STEPS) if pairs else (1.0 / float(np.linalg.norm(gradient)), _FIRST_STEPS)
        found = yield from _line_search(objective, point, value, gradient, direction, first, steps)
        if found is None:
            return
        moved, value, slope = found
        step, change = moved - point, slope - gradient
        point, gradient = moved, slope
        product = float(step @ change)
        if product > 0:
            pairs.append((step, change, product))
        yield point, value, gradient


def _times_inverse_hessian(gradient: Floats, pairs: deque[tuple[Floats, Floats, float]]) -> Floats:
    """Return the approximation of the inverse Hessian times the gradient, by the two-loop recursion."""
    out = gradient.copy()
    along = []
    for step, change, product in reversed(pairs):
        alpha = float(step @ out) / product
        out -= alpha * change
        along.append(alpha)
    if pairs:
        _, change, product = pairs[-1]
        out *= product / float(change @ change)
    for (step, change, product), alpha in zip(pairs, reversed(along), strict=True):
        out += (alpha - float(change @ out) / product) * step
    return out


def _line_search(
    objective: Objective,
    point: Floats,
    value: float,
    gradient: Floats,
    direction: Floats,
    first: float,
    steps: int,
) -> Waiting[tuple[Floats, float, Floats] | None]:
    """Return a point that meets the weak Wolfe conditions, by doubling and bisection, or None."""
    slope = float(gradient @ direction)
    low, high, length = 0.0, np.inf, first
    for _ in range(steps):
        moved = point + length * direction
        new, at = yield from objective(moved)
        if not new <= value + _DECREASE * length * slope:
            high = length
        elif float(at @ direction) < _CURVATURE * slope:
            low = length
        else:
            return moved, new, at
        length = 2.0 * low if np.isinf(high) else 0.5 * (low + high)
    return None
