"""Arrays that make a dataset: checked, numbered by query, made read-only."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import ParameterError

Scalar = TypeVar("Scalar", bound=np.generic)


def numbered(keys: NDArray[Any]) -> tuple[Ints, tuple[str, ...]]:
    """Return the number of each document's query, in the order of first appearance, and their ids."""
    unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    appearance = np.argsort(first)
    return np.argsort(appearance)[inverse], tuple(str(q) for q in unique[appearance].tolist())


def check_arrays(X: Floats, y: Floats, qid: NDArray[Any]) -> None:
    """Raise `ParameterError` where arrays do not make a dataset."""
    if X.ndim != 2 or 0 in X.shape:
        raise ParameterError("X", f"shape {X.shape}", "at least one row and one column")
    for name, array in (("y", y), ("qid", qid)):
        if array.shape != X.shape[:1]:
            raise ParameterError(name, f"shape {array.shape}", f"shape {X.shape[:1]}, one for each row of X")
    for name, array in (("X", X), ("y", y)):
        if not np.isfinite(array).all():
            raise ParameterError(name, "nan or infinity", "finite numbers")


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return an array that nobody may write to from now on."""
    array.flags.writeable = False
    return array
