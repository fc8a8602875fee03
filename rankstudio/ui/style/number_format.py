"""Formats of numbers that only the window needs: powers with superscripts, values of parameters, times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rankstudio.engine.experiment.plan.combinations import Axis
from rankstudio.engine.support.number_format import NOTHING, superscript
from rankstudio.engine.support.number_grid import power_of_two
from rankstudio.ui.language import tr


def plain(value: float) -> str:
    """Return a number with at most four significant figures and no trailing zeros: 0.5, 64, 1e-7."""
    if math.isnan(value):
        return NOTHING
    return f"{value:.4g}".replace("e+0", "e").replace("e-0", "e-")


def power(value: float) -> str:
    """Format a power of two with a superscript ("2⁶", "2⁹·⁷⁵"), and any other number plainly ("0.3")."""
    exponent = power_of_two(value)
    return plain(value) if exponent is None else f"2{superscript(exponent)}"


def power_and_value(value: float) -> str:
    """Return a number as text: a power of two as "2⁶ = 64", any other number plainly."""
    exponent = power_of_two(value)
    return (
        plain(value)
        if exponent is None
        else f"2{superscript(exponent)} = {plain(value)}"
    )


def axis_value(axis: Axis, value: Any) -> str:
    """Format a value on an axis of a plan: "2⁶" on a grid, "squared hinge" or "50" on any other axis."""
    return power(value) if axis.is_grid else axis.format(value)


def combination_label(axes: Sequence[Axis], values: Sequence[Any]) -> str:
    """Format the values on a plan's axes: "λ1 = 0.1 · loss = hinge".

    An axis is a parameter of which the plan tries several values;
    ``values`` has a value for each. Return "" for a plan without axes.
    """
    pairs = zip(axes, values, strict=True)
    return " · ".join(
        f"{tr(axis.label)} = {axis_value(axis, value)}" for axis, value in pairs
    )


def time_text(seconds: float | None) -> str:
    """Return the remaining time of a run as text: "0:12 left", "1:02:03 left"; "" if it is not known."""
    if seconds is None:
        return ""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return tr("{hours}:{minutes:02}:{rest:02} left").format(
            hours=hours, minutes=minutes, rest=rest
        )
    return tr("{minutes}:{rest:02} left").format(minutes=minutes, rest=rest)


def duration(seconds: float) -> str:
    """Return an approximate duration in seconds as text: "12 s", "3 min", "1.5 h"."""
    if seconds < 90:
        return tr("{n} s").format(n=max(1, round(seconds)))
    minutes = seconds / 60
    if minutes < 90:
        return tr("{n} min").format(n=round(minutes))
    return tr("{n} h").format(n=f"{minutes / 60:.1f}")
