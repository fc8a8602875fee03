"""Numbers as the window writes them: powers with superscripts, and no more digits than help."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rankstudio.engine.experiment.plan.combinations import Axis
from rankstudio.engine.support.number_grid import power_of_two
from rankstudio.ui.language import tr

_SUPERSCRIPTS = str.maketrans("-.0123456789", "⁻·⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "−"


def superscript(number: float) -> str:
    """Return a number in superscript figures: 10 → "¹⁰", -3 → "⁻³", 9.75 → "⁹·⁷⁵"."""
    return str(number).translate(_SUPERSCRIPTS)


def plain(value: float) -> str:
    """Return a number with at most four significant figures and no trailing zeros: 0.5, 64, 1e-7."""
    if math.isnan(value):
        return "–"
    return f"{value:.4g}".replace("e+0", "e").replace("e-0", "e-")


def power(value: float) -> str:
    """Return a power of two as one ("2⁶", "2⁹·⁷⁵"), any other number plainly ("0.3")."""
    exponent = power_of_two(value)
    return plain(value) if exponent is None else f"2{superscript(exponent)}"


def power_and_value(value: float) -> str:
    """Return "2⁶ = 64"; a number that is no power of two plainly."""
    exponent = power_of_two(value)
    return plain(value) if exponent is None else f"2{superscript(exponent)} = {plain(value)}"


def axis_value(axis: Axis, value: Any) -> str:
    """Return a value on an axis of a plan: "2⁶" on a grid, "squared hinge" or "50" on any other."""
    return power(value) if axis.is_grid else axis.format(value)


def combination_label(axes: Sequence[Axis], values: Sequence[Any]) -> str:
    """Return the values on a plan's axes: "λ1 = 0.1 · loss = hinge", "" where there is none."""
    named = zip(axes, values, strict=True)
    return " · ".join(f"{tr(axis.label)} = {axis_value(axis, value)}" for axis, value in named)


def fixed(value: float, decimals: int = 4, *, sign: bool = False) -> str:
    """Return a number with so many decimals and a true minus: "0.5341", "−0.0021"; "–" for NaN.

    What would be all zeros and is not 0 has a decimal more, else it is written by its size, "−3e-6"; 0 itself
    has no sign.
    """
    if math.isnan(value):
        return "–"
    signs = "+" if sign and value else ""
    text = f"{value:{signs}.{decimals}f}" if value else f"{0:.{decimals}f}"
    if value and not text.strip("+-0."):
        text = f"{value:{signs}.{decimals + 1}f}"
    if value and not text.strip("+-0."):
        text = f"{value:{signs}.0e}".replace("e-0", "e-")
        return text.replace("-", MINUS, 1) if value < 0 else text
    return text.replace("-", MINUS)


def signed(value: float, decimals: int = 2) -> str:
    """Return a number with its sign: "+0.24", "−0.10", "+3e-6", "0.00"; see :func:`fixed`."""
    return fixed(value, decimals, sign=True)


def significant(value: float, digits: int) -> str:
    """Return a number with so many significant figures and a true minus: "−0.123"."""
    return f"{value:.{digits}g}".replace("-", MINUS)


def correlation_text(r: float) -> str:
    """Return a correlation as it is said everywhere, with two decimals: "0.95", "−0.20", never "−0.00"."""
    return "–" if math.isnan(r) else f"{round(r, 2) + 0.0:.2f}".replace("-", MINUS)


def time_text(seconds: float | None) -> str:
    """Return a time as it is said of a run: "0:12 left", "1:02:03 left", "" where it is not known."""
    if seconds is None:
        return ""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        tr("{hours}:{minutes:02}:{rest:02} left").format(hours=hours, minutes=minutes, rest=rest)
        if hours
        else tr("{minutes}:{rest:02} left").format(minutes=minutes, rest=rest)
    )
