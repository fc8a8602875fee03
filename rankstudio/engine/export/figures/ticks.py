"""The values of ticks and their labels, computed from plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from rankstudio.engine.language import thousands_separator

# A tick at an end of the range counts as inside, although the rounding
# of a quotient, a few eps, may put it outside: 1e-9 of a step is more
# than that, and not visible.
_ROUNDING = 1e-9

# Values with a smaller relative difference count as equal: the rounding
# of a sum of many terms is some hundred eps, and their labels would
# need 13 digits.
EQUAL = 1e-12

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
DECIMAL_STEPS = (1.0, 2.0, 5.0, 10.0)
"""Steps without 2.5, whose multiples need one more digit."""


def nice_step(span: float, count: float, steps: Sequence[float] = STEPS) -> float:
    """Return a round step that divides a span into about `count` parts, or a few less.

    The step is the smallest product of one of ``steps`` and a power of
    ten that gives at most `count` parts.
    """
    # Any step will do for an empty span.
    if not (span > 0 and math.isfinite(span)):
        return 1.0
    raw = span / max(count, 1.0)
    scale = 10.0 ** math.floor(math.log10(raw))
    return next(
        (s * scale for s in steps if s * scale >= raw * (1 - _ROUNDING)), 10.0 * scale
    )


def nice_ticks(
    low: float, high: float, count: float, steps: Sequence[float] = STEPS
) -> list[float]:
    """Return about ``count`` distinct round values in [low, high], ascending.

    The values are multiples of a round step, which
    :func:`nice_step` chooses by `steps`. There are fewer if
    the range is so narrow that multiples of the step are equal as floats.
    """
    step = nice_step(high - low, count, steps)
    first = math.ceil(low / step - _ROUNDING)
    last = math.floor(high / step + _ROUNDING)
    return list(dict.fromkeys(i * step for i in range(first, last + 1)))


def decimals(step: float) -> int:
    """Return the number of decimals that distinguish multiples of a step."""
    for places in range(12):
        if math.isclose(round(step, places), step, rel_tol=1e-6):
            return places
    return 12


def tick_labels(ticks: list[float]) -> list[str]:
    """Return the labels of ticks, all with the same number of decimals."""
    if len(ticks) < 2:
        return [f"{tick:.4g}" for tick in ticks]
    step = min(b - a for a, b in pairwise(ticks))
    largest = max(abs(ticks[0]), abs(ticks[-1]))
    # Large numbers and tiny steps would need too many digits without an
    # exponent: they have as many significant digits as distinguish the
    # ticks, 3 to 15.
    if largest >= 1e6 or step < 1e-7:
        digits = min(max(3, math.ceil(math.log10(largest / step)) + 1), 15)
        return [f"{tick:.{digits}g}" for tick in ticks]
    # Decimal places.
    places = decimals(step)
    # Rounding errors may make a tick at 0 a tiny number, even a
    # negative one: it is written as 0, without a minus.
    return [grouped(0.0 if abs(tick) < step * 1e-6 else tick, places) for tick in ticks]


def grouped(value: float, places: int = 0) -> str:
    """Return a number as a text with `places` decimals, its digits in groups of three.

    The language of the user decides how the groups are separated. The
    minus sign is the typographic one.

    If the language separates groups by a point, numbers with decimals
    are not grouped: the decimals begin with a point, too.
    """
    separator = thousands_separator()
    if places and separator == ".":
        separator = ""
    return f"{value:,.{places}f}".replace("-", "−").replace(",", separator)


def log_ticks(low: float, high: float, count: float) -> list[float]:
    """Return about `count` round values in [low, high] for a logarithmic axis.

    `low` is above 0. The values are powers of ten, only every second or
    third of them if there are many. If there are fewer than 3, they are
    1 and 3 times each power, or else 1, 2 and 5 times. If there are
    still fewer, they are round values at equal distances.
    """
    first = math.floor(math.log10(low))
    last = math.ceil(math.log10(high))
    # Factors of the powers of ten: try few values first.
    for digits in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
        # Only powers of ten alone are thinned out.
        step = max(1, math.ceil((last - first) / count)) if digits == (1.0,) else 1
        ticks = [
            digit * 10.0**power
            for power in range(first, last + 1, step)
            for digit in digits
        ]
        visible = [tick for tick in ticks if low <= tick <= high]
        if len(visible) >= min(3.0, count):
            return visible
        if step > 1:  # values between the powers would be hundreds of ticks
            return visible or [10.0 ** math.ceil(math.log10(low))]
    return nice_ticks(low, high, count, DECIMAL_STEPS)


def integer_ticks(low: float, high: float, count: float) -> list[float]:
    """Return integers in [low, high] for an axis: both ends, and round ones in between.

    The round integers have equal distances. The range from 1 to 46,
    with space for six, gives 1, 10, 20, 30, 40,
    46.

    Parameters
    ----------
    low, high : float
        Visible range.
    count : float
        Number of labels that fit.
    """
    first = math.ceil(low - _ROUNDING)
    last = math.floor(high + _ROUNDING)
    if last < first:
        return []
    step = max(1, round(nice_step(last - first, count, DECIMAL_STEPS)))
    if step == 1:
        return [float(i) for i in range(first, last + 1)]
    inner = range(math.ceil(first / step) * step, last + 1, step)
    # Ticks near an end would touch its label.
    inner_ticks = [
        i for i in inner if i - first >= 0.5 * step and last - i >= 0.5 * step
    ]
    return [float(i) for i in sorted({first, *inner_ticks, last})]


def power_label(value: float) -> str:
    """Return the label of a tick of a logarithmic axis: 0.01, 300, 10,000, 1e+09."""
    return f"{value:,.10g}" if 1e-4 <= value < 1e7 else f"{value:.4g}"
