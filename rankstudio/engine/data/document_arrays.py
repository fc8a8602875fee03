"""Arrays that make a dataset: checked, numbered by query, made read-only."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.file_pages import release

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


def constant_columns(X: Floats, query_ptr: Ints) -> Bools:
    """Tell which columns have one value in all rows of each query. O(mn), a block at a time."""
    constant = np.ones(X.shape[1], dtype=np.bool_)
    for first, last in group_blocks(query_ptr, X.shape[1]):
        block = X[query_ptr[first] : query_ptr[last]]
        heads = np.repeat(X[query_ptr[first:last]], np.diff(query_ptr[first : last + 1]), axis=0)
        constant &= (heads == block).all(axis=0)
        release(block)
    return constant


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return an array that nobody may write to from now on."""
    array.flags.writeable = False
    return array
