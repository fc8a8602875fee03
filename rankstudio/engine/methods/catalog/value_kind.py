"""What values a parameter takes, and how several of them are told from one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from rankstudio.engine.support.number_grid import parse_grid


class Kind(Enum):
    """What values a parameter takes, and so which field the form shows for it."""

    GRID = "grid"  # one or several numbers: each is a run of its own, "2^0..2^10"
    INTEGER = "integer"
    NUMBER = "number"
    CHOICE = "choice"
    SWITCH = "switch"  # yes or no
    MEASURE = "measure"  # the name of a ranking measure
    FEATURES = "features"  # 1-based feature ids
    COSTS = "costs"  # what each feature costs, by its 1-based id; 1 for those not named

    @property
    def between(self) -> str:
        """What stands between several values in a text: one value may have commas of its own."""
        return " | " if self in (Kind.FEATURES, Kind.COSTS) else ", "


def apart(kind: Kind, value: Any, name: str = "") -> list[Any] | None:
    """Return the values where several were given for a parameter, None where it is one.

    Several are a list, or a text with commas: ``"50, 100"``, ``"1..5"``, ``"squared, hinge"``. Of features
    and costs, one value of which is a list itself, they are a list of lists, or a text with bars:
    ``"25, 39 | 7"``.

    Parameters
    ----------
    kind : Kind
        Not that of a grid, all values of which are one value.
    value : object
        As a person, a file or a program gave it, or in canonical form.
    name : str
        Of the parameter, for the error.

    Raises
    ------
    ParameterError
        For a range of numbers that is none.
    """
    lists = kind in (Kind.FEATURES, Kind.COSTS)
    if isinstance(value, str):
        if lists:
            return value.split("|") if "|" in value else None
        return _numbers(kind, value, name) if kind in (Kind.INTEGER, Kind.NUMBER) else _words(value)
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        return None
    items = list(value)
    return items if not lists or any(_is_value(kind, item) for item in items) else None


def _words(text: str) -> list[Any] | None:
    return [item.strip() for item in text.split(",") if item.strip()] if "," in text else None


def _numbers(kind: Kind, text: str, name: str) -> list[Any] | None:
    """Return the numbers of a text, ranges written out; None where it is at most one number."""
    items = _words(text)
    if items is None and ".." not in text and "…" not in text:
        return None
    numbers: list[Any] = []
    for item in items if items is not None else [text]:
        is_range = ".." in item or "…" in item
        found = parse_grid(item, name=name) if is_range else (item,)
        numbers += [int(v) if is_range and kind is Kind.INTEGER and v == int(v) else v for v in found]
    return numbers


def _is_value(kind: Kind, item: Any) -> bool:
    """Tell whether an element is a whole value, a set of features or of costs, and not one id or cost."""
    if isinstance(item, str) or not isinstance(item, Iterable):
        return False
    if kind is Kind.FEATURES or isinstance(item, Mapping):
        return True
    first = next(iter(item), ())
    return isinstance(first, Iterable) and not isinstance(first, str)
