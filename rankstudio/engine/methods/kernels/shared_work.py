"""What is decomposed or mapped once for all settings that learn from the same documents and features."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support import memory

_MOST_BYTES = 2e9  # kept of one fold
_SHARE = 0.25  # of the memory that is free


class _Sized(Protocol):
    @property
    def n_bytes(self) -> int: ...


Work = TypeVar("Work", bound=_Sized)


@dataclass
class KernelWork:
    """What was made of some data and of parts of their features, whose columns each key begins with.

    Attributes
    ----------
    decompositions : dict
        Decompositions and maps, by what they depend on.
    left_out : tuple or None
        The predictions of left-out queries that were made last, (m,), and by what.
    basis_vectors : WeakValueDictionary
        Documents that are basis vectors of a model, by their rows.
    """

    decompositions: dict[Hashable, _Sized] = field(default_factory=dict)
    left_out: tuple[Hashable, Floats] | None = None
    basis_vectors: WeakValueDictionary[Hashable, Floats] = field(default_factory=WeakValueDictionary)


def shared(data: QueryData, key: Hashable, make: Callable[[], Work]) -> Work:
    """Return what there is of data by a key, made when it is first asked for, and kept while there is room.

    Data with some of the features keep theirs at the data they come from, so that a path of selections is
    decomposed once for every λ.
    """
    kept: dict[Hashable, Any] = data.shared.origin.of(KernelWork).decompositions
    whole = (data.shared.columns, key)
    if whole in kept:
        return kept[whole]  # type: ignore[no-any-return]
    made = make()
    taken = sum(work.n_bytes for work in list(kept.values()))
    if taken + made.n_bytes <= min(_MOST_BYTES, _SHARE * (memory.available() + taken)):
        kept[whole] = made
    return made


def left_out_predictions(data: QueryData, key: Hashable, make: Callable[[], Floats]) -> Floats:
    """Return the predictions (m,) that were made of data last, where that was by this key, else make them.

    No others are kept: a path with some for each of its steps and settings would take memory in their
    product.
    """
    work, whole = data.shared.origin.of(KernelWork), (data.shared.columns, key)
    if work.left_out is None or work.left_out[0] != whole:
        work.left_out = whole, make()
    return work.left_out[1]


def basis_vectors(data: QueryData, basis: Ints) -> Floats:
    """Return the documents that are the basis vectors, ``data.X[basis]``: one array for all models of them.

    It is kept as long as a model has it.
    """
    kept = data.shared.origin.of(KernelWork).basis_vectors
    key = data.shared.columns, basis.tobytes()
    found = kept.get(key)
    if found is None:
        found = kept[key] = data.X[basis]
    return found
