"""What is computed of some data once, for all settings that learn from them."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from typing import TypeVar

Kind = TypeVar("Kind")
Told = TypeVar("Told")
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Shared:
    """Objects that hold what was computed of some data: one of each class that a module declares for it.

    Who makes training data makes this with them, and hands it to whoever learns from the same documents.
    A module that computes something which does not depend on all of its settings declares a dataclass with a
    field for it, and finds it here: a filter's order serves every λ.

    Parameters
    ----------
    source : Shared, optional
        Of the data whose features some of these are.
    columns : tuple of int
        Which of them.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Order:
    ...     features: tuple[int, ...] | None = None
    >>> shared = Shared()
    >>> shared.of(Order).features = (2, 0, 1)
    >>> shared.of(Order)
    Order(features=(2, 0, 1))
    """

    def __init__(self, source: Shared | None = None, columns: tuple[int, ...] = ()) -> None:
        # Not itself: a circle of references would keep large arrays until the collector comes.
        self._origin: Shared | None = None if source is None else source.origin
        self.columns: tuple[int, ...] = columns
        if source is not None and source.origin is not source:
            self.columns = tuple(source.columns[column] for column in columns)
        self._objects: dict[type, object] = {}

    @property
    def origin(self) -> Shared:
        """That of the data with all features; ``columns`` are those of them that these data have."""
        return self if self._origin is None else self._origin

    def of(self, kind: type[Kind]) -> Kind:
        """Return the object of a class; it is made without arguments when it is first asked for."""
        found = self._objects.get(kind)
        # Two threads that ask at once are given the same object.
        kept = self._objects.setdefault(kind, kind()) if found is None else found
        assert isinstance(kept, kind)
        return kept


def once(
    found: dict[Key, Value], key: Key, make: Generator[Told, None, Value]
) -> Generator[Told, None, Value]:
    """Return what was found by a key, or make it, with the signs of life of that; it is kept."""
    if key not in found:
        found[key] = yield from make
    return found[key]
