"""Cache of results that are computed once for some data, for all settings that learn from these data."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from typing import TypeVar

Kind = TypeVar("Kind")
Told = TypeVar("Told")
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SharedResults:
    """Cache of results for some training data: one object per class that a module declares.

    The cache is created together with the data and passed to every
    estimator of the same documents. A module with results that do not
    depend on all of its settings declares a dataclass for them and
    stores it here: a filter computes its order once for every λ.

    Parameters
    ----------
    source : SharedResults, optional
        Cache of the data from which the features of these data are taken.
    columns : tuple of int
        Columns of these features in the data of ``source``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Order:
    ...     features: tuple[int, ...] | None = None
    >>> shared = SharedResults()
    >>> shared.of(Order).features = (2, 0, 1)
    >>> shared.of(Order)
    Order(features=(2, 0, 1))
    """

    def __init__(
        self, source: SharedResults | None = None, columns: tuple[int, ...] = ()
    ) -> None:
        # None instead of the object itself: a reference cycle would
        # keep large arrays until a collection.
        self._origin: SharedResults | None = None if source is None else source.origin
        self.columns: tuple[int, ...] = columns
        if source is not None and source.origin is not source:  # columns of columns
            self.columns = tuple(source.columns[column] for column in columns)
        self._objects: dict[type, object] = {}

    @property
    def origin(self) -> SharedResults:
        """Cache of the data with all features.

        The attribute ``columns`` says which of these features the
        present data have.
        """
        return self if self._origin is None else self._origin

    def of(self, kind: type[Kind]) -> Kind:
        """Return the object of a class, created without arguments on first use."""
        cached = self._objects.get(kind)
        # Two threads that call this at the same time get the same object.
        instance = self._objects.setdefault(kind, kind()) if cached is None else cached
        assert isinstance(instance, kind)
        return instance


def once(
    cache: dict[Key, Value], key: Key, make: Generator[Told, None, Value]
) -> Generator[Told, None, Value]:
    """Return the cached result for a key; on first use compute and cache it.

    ``cache`` has the result of each key. ``make`` is a generator that
    computes the result, and whose progress is yielded.

    Examples
    --------
    >>> from rankstudio.api import WorkProgress, finish, once
    >>> cache = {}
    >>> def work():
    ...     yield WorkProgress("counting", 1.0)
    ...     return 42
    >>> finish(once(cache, "answer", work())), cache
    (42, {'answer': 42})
    """
    if key not in cache:
        cache[key] = yield from make
    return cache[key]
