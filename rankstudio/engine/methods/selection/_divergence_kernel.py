"""Compiled inner loops of expected divergence: sums of Gaussian kernels, and divergences between classes.

The fast sums are a Gauss transform (Greengard & Strain 1991) on one
axis. Space is cut into boxes one bandwidth wide. With c a box's centre,
s = (x_j - c) / h and u = (x - c) / h,

(1) exp(-(u - s)² / 2) = sum_l s^l / l! H_l(u) with H_l(u) = He_l(u) exp(-u² /
2), (2) H_{l+1}(u) = u H_l(u) - l H_{l-1}(u).

(3) So the points of a box enter only by the moments of the box, A_l =
sum_j w_j s^l / l!. (4) In another box, r bandwidths away, their sum at
a distance of δ bandwidths from that box's centre is, as
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
    """Write the sum of weighted normal kernels, sum_j w_j exp(-(x - x_j)² / 2h²), at every x of ``x_values``.

    ``points`` and ``weights`` (P,) are the x_j and w_j, ``h`` is the
    bandwidth of the kernels, and ``x_values`` and ``out`` have shape
    (V,). Every kernel is computed at every x: O(PV).
    """
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
    """Write the sum of weighted normal kernels, sum_j w_j exp(-(x - x_j)² / 2h²), at every x of ``x_values``.

    ``points`` and ``weights`` (P,) are the x_j and w_j, and ``h`` is
    the bandwidth of the kernels. ``x_values`` and ``out`` have shape
    (V,). ``points`` and ``x_values`` ascend. The errors are at most
    (1e-14 + 2 eps range / h) sum_j w_j, with the range of the points.

    The axis is cut into boxes of one bandwidth h. The points of a box
    enter the sums only by ``TERMS`` moments of the box, sum_j w_j s_j^k
    / k!, where s_j is the distance from the box's centre in bandwidths.
    Then each sum is a series of the moments of the boxes near x.
    O(TERMS (P + V) + TERMS² REACH (nonempty boxes)).
    """
    origin = points[0]
    n_boxes = int((points[-1] - origin) / h) + 1
    moments = np.zeros((n_boxes, TERMS))
    for j in range(points.shape[0]):
        z = (points[j] - origin) / h
        box = int(z)
        s = z - box - 0.5  # |s| <= 1/2: from the box's centre, in bandwidths
        term = weights[j]  # w_j s^k / k!, from k = 0 on: the point's part in moment k
        for k in range(TERMS):
            moments[box, k] += term
            term *= s / (k + 1)
    _evaluate(moments, origin, h, x_values, out)


@fused_inlined
def _evaluate(
    moments: Floats, origin: float, h: float, x_values: Floats, out: Floats
) -> None:
    """Write the sums of normal kernels at every x of ``x_values`` from the moments (boxes, TERMS) of all boxes.

    Moment m of a box is A_m = sum_j w_j s_j^m / m!, for its points at
    the distances s_j from its centre. All distances are in bandwidths
    h. The boxes, one bandwidth wide, begin at ``origin``. Let x be at
    the distance δ from the centre of its own box. The kernels of a box
    r bandwidths away add up to the Taylor series sum_k (-δ)^k / k!
    sum_m A_m H_{k+m}(r), where the H_k are Hermite functions. Boxes
    more than ``REACH`` bandwidths away add 0. ``x_values`` ascend, so
    that the inner sums are computed once for all x of a box.
    """
    n_boxes = moments.shape[0]
    # Row r has the Hermite functions at a distance of r - REACH bandwidths.
    hermite = np.empty((2 * REACH + 1, 2 * TERMS))
    for r in range(2 * REACH + 1):
        u = float(r - REACH)
        hermite[r, 0] = np.exp(-0.5 * u * u)
        hermite[r, 1] = u * hermite[r, 0]
        for k in range(1, 2 * TERMS - 1):
            # The recurrence of the Hermite functions.
            hermite[r, k + 1] = u * hermite[r, k] - k * hermite[r, k - 1]
    local = np.empty(TERMS)
    i = 0
    while i < x_values.shape[0]:
        # The box of x; outside of the reach of all boxes, the sum is 0.
        position = np.floor((x_values[i] - origin) / h)
        if position < -REACH or position >= n_boxes + REACH:
            out[i] = 0.0
            i += 1
            continue
        centre = int(position)
        local[:] = 0.0
        # The inner sums of the series, added up over the boxes within reach.
        for box in range(max(0, centre - REACH), min(n_boxes, centre + REACH + 1)):
            if moments[box, 0] == 0.0:  # the sum of weights: the box is empty
                continue
            row = centre - box + REACH
            for k in range(TERMS):
                for m in range(TERMS):
                    local[k] += moments[box, m] * hermite[row, k + m]
        factor = 1.0
        for k in range(TERMS):
            local[k] *= factor
            factor *= -1.0 / (k + 1)  # (-1)^k / k! of the series
        # The series of this box, at each x in it.
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
    """Return twice the Jensen-Shannon divergence of two densities, in nats.

    ``p_of``, ``q_of`` and ``counts`` (V,) have the two densities at
    each of V different values, and how often the value occurs.
    """
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

    JS is the Jensen-Shannon divergence, and distant grades count more.
    ``densities`` (R, V) has the density of each of R grades at V
    different values, and ``counts`` (V,) how often each value occurs.
    Pairs with a grade whose ``has_density`` (R,) is False count 0. O(R²
    V).
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
