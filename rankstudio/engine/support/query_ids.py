"""Checks of query ids that a program passes: one per document, none missing, all of one kind."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.errors import DatasetError

# types of pandas; comparisons with NA have no truth value
_MISSING = ("NAType", "NaTType")


def checked_ids(qid: ArrayLike) -> NDArray[Any]:
    """Return query ids, one per document, as an array that can be sorted.

    Raises
    ------
    DatasetError
        For a missing id (None, NaN, NaT, masked), and for numbers mixed
        with text, because 1 and "1" would be ambiguous.
    """
    check_none_missing(qid)
    # np.asarray([1, "a"]) would turn 1 into "1". In a flat list,
    # dtype=object keeps the types apart.
    ids: NDArray[Any] = np.asarray(qid, dtype=object if _is_flat(qid) else None)
    if ids.dtype.kind != "O" or ids.ndim != 1:
        return ids
    kinds: dict[str, Any] = {}  # the first id of each type, by its name
    for value in ids.tolist():
        kinds.setdefault(_type_name(value), value)
    if len(kinds) > 1:
        first, other, *_ = kinds.values()
        raise DatasetError(
            f"qid: expected ids of one type, found {first!r} and {other!r}."
        )
    # Plain numbers and texts get a dtype of their own; others stay objects.
    return np.array(ids.tolist()) if set(kinds) <= {"number", "text"} else ids


def check_none_missing(qid: ArrayLike) -> None:
    """Raise DatasetError for the first document without a query id.

    A missing id is None, NaN, NaT (a missing date) or masked.
    """
    # An array without elements, here and below, means that no row is missing.
    masked = np.zeros(0, dtype=np.bool_)
    if isinstance(qid, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(qid)
    # The ids of a flat list stay objects: numpy would make all of them
    # texts, None included, if one is a text.
    ids = np.asarray(qid, dtype=object if _is_flat(qid) else None)
    if ids.dtype.kind in "fcmM":  # floats, complex numbers, durations and dates
        missing = np.isnan(ids) if ids.dtype.kind in "fc" else np.isnat(ids)
    elif ids.dtype.kind == "O" and ids.ndim == 1:
        missing = np.array(
            [_is_missing(value) for value in ids.tolist()], dtype=np.bool_
        )
    else:
        missing = np.zeros(0, dtype=np.bool_)
    for rows in (masked, missing):
        if rows.any():
            row = int(np.argmax(rows))
            raise DatasetError(
                f"qid: expected a query id for each row, row {row} has none."
            )


def _is_flat(qid: ArrayLike) -> bool:
    """Return whether query ids are a flat list, and not an array or nested lists.

    From such a list, numpy would convert all ids to text if one is text.
    """
    return isinstance(qid, list | tuple) and not any(
        isinstance(v, list | tuple | np.ndarray) for v in qid
    )


def _is_missing(value: object) -> bool:
    """Return whether a value stands for a missing id."""
    if value is None or type(value).__name__ in _MISSING:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _type_name(value: object) -> str:
    """Return the kind of a value, for messages."""
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, Number | np.bool_) else type(value).__name__
