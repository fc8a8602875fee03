"""Compiled inner loops of expected divergence: sums of Gaussian kernels, and divergences between classes.

The fast sums are a Gauss transform (Greengard & Strain 1991) on one axis. Space is cut
into boxes one bandwidth wide. With c a box's centre, s = (x_j - c) / h and u = (x - c)
/ h,

(1) exp(-(u - s)² / 2) = sum_l s^l / l! H_l(u) with H_l(u) = He_l(u) exp(-u² / 2),
(2) H_{l+1}(u) = u H_l(u) - l H_{l-1}(u).

(3) So the points of a box enter only by the moments of the box, A_l = sum_j w_j s^l / l!.
(4) In another box, r bandwidths away, their sum at a distance of δ bandwidths from that box's centre is, as
    H_l' = -H_{l+1}, the Taylor series sum_k (-δ)^k / k! sum_l A_l H_{k+l}(r).

Both series end after ``TERMS`` terms, and boxes further than ``REACH`` are left out.

(5) 2 JS(p, q) = sum_v [p_v log(2 p_v / (p_v + q_v)) + q_v log(2 q_v / (p_v + q_v))].
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Bools, Floats
from rankstudio.engine.support.jit import fused, fused_inlined, inlined, kernel

TERMS = 24
REACH = 9
"""With |H_l(u)| <= 1.09 sqrt(l!) and |s| <= 1/2 each series loses less than 1e-15 of the sum of weights
(1.09 sum_{k >= 24} 2^(-k/2) / sqrt(k!) times the sum of the same from 0); what is further than 9 bandwidths
away, exp(-9² / 2) = 3e-18."""


@kernel
def exact_sums(
    points: Floats, weights: Floats, h: float, x_values: Floats, out: Floats
) -> None:
    """Write sum_j w_j exp(-(x - x_j)² / 2h²) for every x of ``x_values``: O(points · x_values)."""
    for i in range(x_values.shape[0]):
        total = 0.0
        for j in range(points.shape[0]):
            z = (x_values[i] - points[j]) / h
            total += weights[j] * np.exp(-0.5 * z * z)
        out[i] = total


@fused
def fast_sums(
    points: Floats, weights: Floats, h: float, x_values: Floats, out: Floats
) -> None:
    """Write the sums of :func:`exact_sums`, with errors up to (1e-14 + 2 eps range / h) sum_j w_j.

    ``points`` and ``x_values`` ascend. O(TERMS (points + x_values) + TERMS² REACH
    (nonempty boxes)).
    """
    origin = points[0]
    n_boxes = int((points[-1] - origin) / h) + 1
    moments = np.zeros((n_boxes, TERMS))
    for j in range(points.shape[0]):
        z = (points[j] - origin) / h
        box = int(z)
        s = z - box - 0.5  # |s| <= 1/2: from the box's centre, in bandwidths
        term = weights[j]  # w_j s^l / l! of (3), from l = 0 on
        for k in range(TERMS):
            moments[box, k] += term
            term *= s / (k + 1)
    _evaluate(moments, origin, h, x_values, out)


@fused_inlined
def _evaluate(
    moments: Floats, origin: float, h: float, x_values: Floats, out: Floats
) -> None:
    """Write the sums (4) for every x of ``x_values`` from the moments (boxes, TERMS) of all boxes."""
    n_boxes = moments.shape[0]
    hermite = np.empty((2 * REACH + 1, 2 * TERMS))
    for r in range(2 * REACH + 1):
        u = float(r - REACH)
        hermite[r, 0] = np.exp(-0.5 * u * u)
        hermite[r, 1] = u * hermite[r, 0]
        for k in range(1, 2 * TERMS - 1):
            # The recurrence (2) holds with the exponential as a factor of every term.
            hermite[r, k + 1] = u * hermite[r, k] - k * hermite[r, k - 1]
    local = np.empty(TERMS)
    i = 0
    while i < x_values.shape[0]:
        position = np.floor((x_values[i] - origin) / h)
        if position < -REACH or position >= n_boxes + REACH:
            out[i] = 0.0
            i += 1
            continue
        centre = int(position)
        local[:] = 0.0
        # The inner sums of (4) for this box, computed once for all x in it.
        for box in range(max(0, centre - REACH), min(n_boxes, centre + REACH + 1)):
            if moments[box, 0] == 0.0:
                continue
            row = centre - box + REACH
            for k in range(TERMS):
                for m in range(TERMS):
                    local[k] += moments[box, m] * hermite[row, k + m]
        factor = 1.0
        for k in range(TERMS):
            local[k] *= factor
            factor *= -1.0 / (k + 1)  # (-1)^k / k! of (4)
        while (
            i < x_values.shape[0] and np.floor((x_values[i] - origin) / h) == position
        ):
            delta = (x_values[i] - origin) / h - position - 0.5
            value = local[TERMS - 1]  # Horner's rule
            for k in range(TERMS - 2, -1, -1):
                value = value * delta + local[k]
            # A sum of positive terms is negative only by rounding.
            out[i] = max(value, 0.0)
            i += 1


@inlined
def _divergence(p_of: Floats, q_of: Floats, counts: Floats) -> float:
    """Return 2 JS(p, q) by (5) of the module's docstring, for values that occur ``counts`` times."""
    divergence = 0.0
    for i in range(counts.shape[0]):
        p = p_of[i]
        q = q_of[i]
        total = p + q
        if p > 0.0:
            divergence += counts[i] * p * np.log(2.0 * (p / total))
        if q > 0.0:
            divergence += counts[i] * q * np.log(2.0 * (q / total))
    return divergence


@kernel
def expected_divergence(densities: Floats, counts: Floats, has_density: Bools) -> float:
    """Return sum_{a < b} (b - a) JS(densities[a], densities[b]) over values that occur ``counts`` times.

    ``densities`` is (R, V). Pairs with a grade whose ``has_density`` is False count 0.
    O(R² V).
    """
    total = 0.0
    for a in range(densities.shape[0]):
        for b in range(a + 1, densities.shape[0]):
            if not (has_density[a] and has_density[b]):
                continue
            divergence = _divergence(densities[a], densities[b], counts)
            # A divergence is negative only by rounding.
            total += (b - a) * max(0.5 * divergence, 0.0)
    return total
