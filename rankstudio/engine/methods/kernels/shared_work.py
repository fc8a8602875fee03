"""What is decomposed or mapped once for all settings that learn from the same documents and features."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.support import memory

_MOST_BYTES = 2e9  # kept of one fold
_SHARE = 0.25  # of the memory that is free


class _Sized(Protocol):
    @property
    def n_bytes(self) -> int: ...


Work = TypeVar("Work", bound=_Sized)
Value = TypeVar("Value")


def shared(data: QueryData, key: Hashable, make: Callable[[], Work]) -> Work:
    """Return what there is of data by a key, made when it is first asked for, and kept while there is room.

    Data with some of the features keep theirs at the data they come from, so that a path of selections is
    decomposed once for every λ.
    """
    remembered, columns = data.remembered.get("narrowed from", (data.remembered, ()))
    kept: dict[Hashable, Any] = remembered.setdefault("kernels", {})
    whole = (columns, key)
    if whole in kept:
        return kept[whole]  # type: ignore[no-any-return]
    made = make()
    taken = sum(work.n_bytes for work in list(kept.values()))
    if taken + made.n_bytes <= min(_MOST_BYTES, _SHARE * (memory.available() + taken)):
        kept[whole] = made
    return made


def latest(data: QueryData, what: str, key: Hashable, make: Callable[[], Value]) -> Value:
    """Return what was made of data last, where that was by this key, else make it; no other is kept.

    ``what`` says of what kind it is. For arrays of all documents, of which a path with one for each of its
    steps and settings would take memory in their product.
    """
    remembered, columns = data.remembered.get("narrowed from", (data.remembered, ()))
    known = remembered.get(("latest", what))
    if known is None or known[0] != (columns, key):
        known = (columns, key), make()
        remembered["latest", what] = known
    value: Value = known[1]
    return value


def basis_vectors(data: QueryData, basis: Ints) -> Floats:
    """Return the documents that are the basis vectors, ``data.X[basis]``: one array for all models of them.

    It is kept as long as a model has it.
    """
    remembered, columns = data.remembered.get("narrowed from", (data.remembered, ()))
    kept: WeakValueDictionary[Hashable, Floats]
    kept = remembered.setdefault("basis vectors", WeakValueDictionary())
    key = columns, basis.tobytes()
    found = kept.get(key)
    if found is None:
        found = kept[key] = data.X[basis]
    return found
