"""Values of a study held against what they must be: a digest tells damage, not what is impossible."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.support.frozen_mapping import FrozenMapping

Value = TypeVar("Value", bool, int, str, float)

IMPOSSIBLE = (
    *(ValueError, KeyError, TypeError, AttributeError, IndexError, StopIteration, EOFError, OSError),
    *(ArithmeticError, RecursionError, NotImplementedError, RuntimeError),
)
"""What is raised where a value is not what it must be; little memory is no damage."""

_CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_VERSION = re.compile(r"[0-9A-Za-z](?:[0-9A-Za-z.+!_-]{0,62}[0-9A-Za-z])?")
_MOST = 2**63 - 1  # SQLite's integers


def sequence(values: Any, kind: type[Value]) -> tuple[Value, ...]:
    """Return a list from JSON as a tuple; ValueError where anything in it is of another kind."""
    if type(values) is not list or any(type(value) is not kind for value in values):
        raise ValueError(f"expected a list of {kind.__name__}")
    return tuple(values)


def numbers(values: Any) -> tuple[int, ...]:
    """Return a list of numbers from 1 up, each of them once; ValueError where it is anything else."""
    found = sequence(values, int)
    if len(set(found)) < len(found) or any(not 1 <= value <= _MOST for value in found):
        raise ValueError("expected different numbers from 1 up")
    return found


def exactly(value: Any, kind: type[Value]) -> Value:
    """Return a value of a kind; ValueError for any other."""
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}")
    return value


def texts(values: Any) -> dict[str, str]:
    """Return a table of texts; ValueError where it is anything else."""
    sequence([*values.values()], str)
    return dict(values)


def recorded_versions(values: Any) -> dict[str, str]:
    """Return versions by the names of packages; ValueError where one is no version or no name.

    They are written into programs that people run.
    """
    found = texts(values)
    for name, number in found.items():
        if not (_NAME.fullmatch(name) and _VERSION.fullmatch(number)):
            raise ValueError("expected versions by the names of packages")
    return found


def checksum(text: str) -> str:
    """Return the checksum of a file; ValueError where the text is none."""
    if not _CHECKSUM.fullmatch(text):
        raise ValueError("expected a checksum")
    return text


def moment(text: str) -> str:
    """Return a moment; ValueError where the text is none."""
    datetime.fromisoformat(text)
    return text


def measures(values: Any, names: Collection[str]) -> FrozenMapping[str, float]:
    """Return what these measures are, or nothing at all; ValueError where it is anything else.

    A measure may be NaN: in one query alone it may not be defined.
    """
    sequence([*values.values()], float)
    if (values and set(values) != set(names)) or any(np.isinf(value) for value in values.values()):
        raise ValueError(f"expected {', '.join(names)}")
    return FrozenMapping(values)


def array(found: NDArray[Any], dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array; ValueError where its type or shape is another one."""
    if found.dtype != np.dtype(dtype) or found.shape != shape:
        raise ValueError(f"expected {dtype} of shape {shape}")
    return found


def columns(found: NDArray[Any], n: int) -> NDArray[Any]:
    """Return columns of n, each of them once; ValueError where one is beyond them."""
    if found.size and not (found.min() >= 0 and found.max() < n and np.unique(found).size == found.size):
        raise ValueError(f"expected columns of {n}")
    return found
