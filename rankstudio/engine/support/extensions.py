"""Values that abilities add to a value of the core, such as a dataset: at most one of each type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, Self, TypeVar

Value = TypeVar("Value")


class Extended(Protocol):
    """A value with extensions, such as a dataset or a plan."""

    def extension(self, kind: type[Value]) -> Value | None:
        """Return the extension of a type; None without one."""


class Extensions:
    """Additional objects of different types, found by their type; at most one of each type.

    Parameters
    ----------
    values : iterable of object or None
        Objects; None is skipped, and of several objects of one type the
        last counts.

    Examples
    --------
    >>> Extensions(["of a text", None, 7]).find(int)
    7
    """

    __slots__ = ("_values",)

    def __init__(self, values: Iterable[object] = ()) -> None:
        self._values: dict[type[Any], Any] = {
            type(value): value for value in values if value is not None
        }

    def find(self, kind: type[Value]) -> Value | None:
        """Return the value of a type; None without one."""
        return self._values.get(kind)

    def extended(self, *values: object) -> Self:
        """Return these values and some more; a new value replaces the one of its type."""
        return type(self)((*self, *values))

    def without(self, kind: type[Any]) -> Self:
        """Return these values except the one of a type."""
        return type(self)(value for value in self if type(value) is not kind)

    def __iter__(self) -> Iterator[object]:
        return iter(self._values.values())

    def __eq__(self, other: object) -> bool:
        return (
            self._values == other._values
            if isinstance(other, Extensions)
            else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        return f"Extensions({list(self)!r})"
