"""A kernel model in the plain values of a file: checked, and scored with."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.kernel_functions import NAMES, Kernel
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import shown

KIND = "kernel"
"""Of a kernel model among the models that are not linear."""

_FIELDS = ("function", "gamma", "degree", "coef0")
_MOST_DEGREE = 1000  # far above any in use; a file's number must not cost hours


def checked_kernel(values: Mapping[str, Any], ids: Set[int]) -> dict[str, Any]:
    """Return a kernel model as it was read, checked; ValueError for what is none.

    Parameters
    ----------
    values : Mapping
        "kernel" with its "function" and parameters; the ids of the "columns"; "vectors", a list of numbers
        for each basis vector; their "weights".
    ids : set of int
        Of the features that there are.
    """
    kernel = _kernel(values.get("kernel"))
    columns = values.get("columns")
    if not isinstance(columns, list) or any(type(i) is not int for i in columns):
        raise ValueError(f"found {shown(columns)} as columns, expected a list of ids of features")
    if len(set(columns)) != len(columns) or not set(columns) <= ids:
        raise ValueError(f"found {shown(columns)} as columns, expected distinct features of the model")
    weights = _numbers(values.get("weights"), "weights", None)
    vectors = values.get("vectors")
    if not isinstance(vectors, list) or len(vectors) != len(weights):
        raise ValueError(f"expected {len(weights)} vectors, one per weight")
    rows = [_numbers(row, "a vector", len(columns)) for row in vectors]
    written = {name: getattr(kernel, name) for name in _FIELDS}
    return {"kind": KIND, "kernel": written, "columns": columns, "vectors": rows, "weights": weights}


def kernel_scores(values: Mapping[str, Any], place: Mapping[int, int], X: Floats) -> Floats:
    """Score documents.

    Parameters
    ----------
    values : Mapping
        As :func:`checked_kernel` returns them.
    place : Mapping of int to int
        The column of each feature's id.
    X : ndarray of shape (m, n)

    Returns
    -------
    ndarray of shape (m,)
    """
    columns, weights = values["columns"], np.array(values["weights"], dtype=np.float64)
    vectors = np.array(values["vectors"], dtype=np.float64).reshape(weights.size, len(columns))
    documents = np.ascontiguousarray(X[:, [place[i] for i in columns]])
    scores: Floats = Kernel(**values["kernel"]).scores(documents, vectors, weights[None, :])[0]
    return scores


def _kernel(found: Any) -> Kernel:
    if not isinstance(found, dict) or set(found) != set(_FIELDS) or found["function"] not in NAMES:
        raise ValueError(
            f"found {shown(found)} as kernel, expected {', '.join(_FIELDS)}, with a function among "
            f"{', '.join(NAMES)}"
        )
    gamma, coef0 = _numbers([found["gamma"], found["coef0"]], "gamma and coef0", 2)
    degree = found["degree"]
    if type(degree) is not int or not 1 <= degree <= _MOST_DEGREE or gamma <= 0:
        raise ValueError(f"found {shown(found)} as kernel, expected a degree from 1 up and gamma above 0")
    return Kernel(found["function"], gamma, degree, coef0)


def _numbers(found: Any, name: str, length: int | None) -> list[float]:
    """Return a list of finite numbers, of a length where one is given."""
    right = isinstance(found, list) and (length is None or len(found) == length)
    if right and all(type(value) in (int, float) and abs(value) <= sys.float_info.max for value in found):
        return [float(value) for value in found]
    expected = "finite numbers" if length is None else f"{length} finite numbers"
    raise ValueError(f"found {shown(found)} as {name}, expected a list of {expected}")
