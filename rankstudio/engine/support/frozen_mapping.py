"""A mapping that cannot be changed, for attributes of frozen dataclasses, which are sent to workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Value_co = TypeVar("Value_co", covariant=True)


class FrozenMapping(Mapping[Key, Value_co]):
    """An immutable copy of a mapping; it can be pickled, and hashed if its values can.

    Parameters
    ----------
    values : Mapping or iterable of pairs, optional
        Items; their order is kept, but ignored in comparisons.
    """

    __slots__ = ("_values",)

    def __init__(
        self, values: Mapping[Key, Value_co] | Iterable[tuple[Key, Value_co]] = ()
    ) -> None:
        self._values = dict(values)

    def __getitem__(self, key: Key) -> Value_co:
        return self._values[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __hash__(self) -> int:
        return hash(frozenset(self._values.items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._values!r})"
