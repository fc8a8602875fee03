"""Numbers as the window writes them: powers with superscripts, and no more digits than help."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankstudio.engine.experiment.plan import Axis
from rankstudio.engine.grid import power_of_two

_SUPERSCRIPTS = str.maketrans("-.0123456789", "⁻·⁰¹²³⁴⁵⁶⁷⁸⁹")
MINUS = "−"


def superscript(number: float) -> str:
    """Return a number in superscript figures: 10 → "¹⁰", -3 → "⁻³", 9.75 → "⁹·⁷⁵"."""
    return str(number).translate(_SUPERSCRIPTS)


def plain(value: float, digits: int = 4) -> str:
    """Return a number with at most ``digits`` significant figures and no trailing zeros: 0.5, 64, 1e-07."""
    if math.isnan(value):
        return "–"
    return f"{value:.{digits}g}".replace("e+0", "e").replace("e-0", "e-")


def power(value: float) -> str:
    """Return a power of two as one ("2⁶", "2⁹·⁷⁵"), any other number plainly ("0.3")."""
    exponent = power_of_two(value)
    return plain(value) if exponent is None else f"2{superscript(exponent)}"


def power_and_value(value: float) -> str:
    """Return "2⁶ = 64"; a number that is no power of two plainly."""
    exponent = power_of_two(value)
    return plain(value) if exponent is None else f"2{superscript(exponent)} = {plain(value)}"


def setting_label(axes: Sequence[Axis], values: Sequence[float]) -> str:
    """Return the values on a plan's axes: "λ1 = 0.1 · λ2 = 0.0001", "" where there is none."""
    return " · ".join(f"{axis.label} = {power(value)}" for axis, value in zip(axes, values, strict=True))


def signed(value: float, decimals: int = 2) -> str:
    """Return a number with its sign and a true minus: "+0.24", "−0.10"; "–" for NaN."""
    if math.isnan(value):
        return "–"
    return f"{value:+.{decimals}f}".replace("-", MINUS)
