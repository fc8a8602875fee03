"""Checks of the arguments of the statistics, and the size of their rounding errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError

EPS = float(np.finfo(np.float64).eps)
ROUNDINGS = 64  # rounding errors that the value of a measure may already contain


def checked_level(value: Any, name: str = "level") -> float:
    """Return a level, such as of confidence or false discoveries.

    Raise ParameterError, which names the parameter ``name``, unless the
    value is a float between 0 and 1, both excluded.
    """
    if isinstance(value, float | np.floating) and 0 < value < 1:
        return float(value)
    raise ParameterError(name, value, "a number between 0 and 1 (exclusive)")


def checked_row(name: str, values: ArrayLike, size: int | None = None) -> Floats:
    """Return numbers or NaN as a float64 array with one axis.

    Parameters
    ----------
    name : str
        Name of the parameter, for messages.
    values : array-like of shape (n,)
        Numbers; NaN is allowed.
    size : int, optional
        Required number n.

    Raises
    ------
    ParameterError
        For infinite values, another shape or another size.
    """
    vector = np.asarray(values, dtype=np.float64)
    if vector.ndim != 1 or (size is not None and vector.size != size):
        count_text = "" if size is None else f"{size} "
        comparison = "" if size is None else ", as many as the other"
        raise ParameterError(
            name, vector.shape, f"one row of {count_text}numbers{comparison}"
        )
    infinite = vector[np.isinf(vector)]
    if infinite.size:
        raise ParameterError(
            name, float(infinite[0]), "finite numbers, or NaN where there is none"
        )
    return vector


def paired_rows(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Return the two rows without the queries in which either has no value."""
    left = checked_row("a", a)
    right = checked_row("b", b, left.size)
    has_both = ~(np.isnan(left) | np.isnan(right))
    return left[has_both], right[has_both]
