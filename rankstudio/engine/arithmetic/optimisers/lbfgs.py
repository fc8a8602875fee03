"""L-BFGS as a generator: one iteration at a time, for smooth convex objectives."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.work import Waiting, WorkProgress

Objective = Callable[[Floats], Waiting[tuple[float, Floats]]]

_MEMORY = 10  # pairs of steps and changes of the gradient
_LINE_STEPS = 60  # maximum evaluations of a line search; one is usual
# of the first line search, which does not know the scale of the features yet
_FIRST_STEPS = 300
_DECREASE = 1e-4  # sufficient decrease of the weak Wolfe conditions
_CURVATURE = 0.9  # curvature condition of the weak Wolfe conditions


def minimise(
    objective: Objective, start: Floats
) -> Iterator[tuple[Floats, float, Floats] | WorkProgress]:
    """Minimise a smooth convex function by L-BFGS (Liu & Nocedal 1989).

    Parameters
    ----------
    objective : callable
        Returns value and gradient (n,) at a point (n,), as a generator
        that may yield progress events.
    start : ndarray of shape (n,)
        Starting point.

    Yields
    ------
    point, value, gradient
        At the start, then after every iteration; progress events in
        between. The generator ends when the gradient is 0, or when no
        step along the direction decreases the function in floating
        point.

    Notes
    -----
    O(n) per iteration besides the objective, which is usually evaluated once.
    """
    x = start
    f, g = yield from objective(start)
    # The last steps s with the changes y of the gradient, from which
    # the inverse Hessian is estimated.
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)  # (s, y, s'y)
    yield x, f, g
    while g.any():
        direction = -_times_inverse_hessian(g, pairs)
        # Without pairs, the length of the direction means nothing, so
        # the first step has length 1.
        first_length = 1.0 if pairs else 1.0 / float(np.linalg.norm(g))
        max_steps = _LINE_STEPS if pairs else _FIRST_STEPS
        accepted = yield from _line_search(
            objective, x, f, g, direction, first_length, max_steps
        )
        if accepted is None:
            return
        x_new, _, g_new = accepted
        s = x_new - x
        y = g_new - g
        x, f, g = accepted
        sy = float(s @ y)
        # A pair with s'y > 0 keeps the estimate positive definite.
        if sy > 0:
            pairs.append((s, y, sy))
        yield x, f, g


def _times_inverse_hessian(
    g: Floats, pairs: deque[tuple[Floats, Floats, float]]
) -> Floats:
    """Return the approximation of the inverse Hessian times the gradient g, shape (n,).

    ``pairs`` has (s, y, s'y) of the last steps s and changes y of the
    gradient, the oldest first; the approximation follows from these by
    the two-loop recursion.
    """
    out = g.copy()
    alphas = []
    for s, y, sy in reversed(pairs):
        alpha = float(s @ out) / sy
        out -= alpha * y
        alphas.append(alpha)
    # The usual first approximation: the curvature of the last step in all directions.
    if pairs:
        _, y, sy = pairs[-1]
        out *= sy / float(y @ y)
    for (s, y, sy), alpha in zip(pairs, reversed(alphas), strict=True):
        out += (alpha - float(y @ out) / sy) * s
    return out


def _line_search(
    objective: Objective,
    x: Floats,
    f: float,
    g: Floats,
    direction: Floats,
    first_length: float,
    max_steps: int,
) -> Waiting[tuple[Floats, float, Floats] | None]:
    """Search a point on a line that meets the weak Wolfe conditions, for L-BFGS.

    The function has decreased enough there, and its slope has flattened
    enough. ``x``, ``f`` and ``g`` are point, value and gradient at the
    start. A generator of progress; its result is (point, value,
    gradient) there. The length of the step is doubled or bisected, from
    ``first_length`` on; the result is None after ``max_steps`` steps
    without such a point. ``objective`` returns value and gradient at a
    point, and the line has the ``direction`` (n,).
    """
    slope = float(g @ direction)
    # The lengths between which a valid one lies; without an upper one,
    # the length is doubled.
    low = 0.0
    high = np.inf
    length = first_length
    for _ in range(max_steps):
        x_new = x + length * direction
        f_new, g_new = yield from objective(x_new)
        if not f_new <= f + _DECREASE * length * slope:
            high = length  # too long: the objective has not decreased enough
        elif float(g_new @ direction) < _CURVATURE * slope:
            low = length  # too short: the slope is still about as steep as at the start
        else:
            return x_new, f_new, g_new
        length = 2.0 * low if np.isinf(high) else 0.5 * (low + high)
    return None
