"""Cache of decompositions and maps, for all settings that are trained on the same documents and features."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.support import memory

_MAX_BYTES = 2e9  # bytes that are cached for one fold
_MEMORY_SHARE = 0.25  # share of the free memory that the cache may take


class _Sized(Protocol):
    """A result that knows its size in bytes."""

    @property
    def n_bytes(self) -> int: ...


Work = TypeVar("Work", bound=_Sized)


@dataclass
class KernelWork:
    """Cache of results for one dataset and for subsets of its features; keys start with the columns.

    Attributes
    ----------
    decompositions : dict
        Decomposed kernels and Nyström maps by key.
    left_out : tuple or None
        Key of the most recent predictions of left-out queries, and
        these predictions, (m,).
    basis_vectors : WeakValueDictionary
        Documents that are basis vectors of a model, by their rows.
    """

    decompositions: dict[Hashable, _Sized] = field(default_factory=dict)
    left_out: tuple[Hashable, Floats] | None = None
    basis_vectors: WeakValueDictionary[Hashable, Floats] = field(
        default_factory=WeakValueDictionary
    )


def shared(data: QueryData, key: Hashable, make: Callable[[], Work]) -> Work:
    """Return the cached result for a key, or else call ``make``, and cache its result if memory allows.

    A result is a decomposition of documents by a kernel. Results for
    some of the features are cached with the data of all features, so
    that each selection of a path is decomposed only once for all λ.
    """
    # `shared` is the cache of these data. Its `origin` is that of the
    # data with all features.
    decompositions: dict[Hashable, Any] = data.shared.origin.of(
        KernelWork
    ).decompositions
    # The columns say which features the result is for.
    full_key = (data.shared.columns, key)
    if full_key in decompositions:
        return decompositions[full_key]  # type: ignore[no-any-return]
    new_work = make()
    # All cached results, with this one, may use a share of the memory
    # that is free without them. The list is a copy, because other
    # threads may add results.
    used_bytes = sum(work.n_bytes for work in list(decompositions.values()))
    if used_bytes + new_work.n_bytes <= min(
        _MAX_BYTES, _MEMORY_SHARE * (memory.available() + used_bytes)
    ):
        decompositions[full_key] = new_work
    return new_work


def left_out_predictions(
    data: QueryData, key: Hashable, make: Callable[[], Floats]
) -> Floats:
    """Return predictions (m,) for a key: the cached ones if the last call had this key, else those of ``make``.

    Only one result is cached: caching every step and setting of a path
    would need too much memory. ``data`` has the documents.
    """
    work = data.shared.origin.of(KernelWork)
    full_key = (data.shared.columns, key)
    if work.left_out is None or work.left_out[0] != full_key:
        work.left_out = full_key, make()
    return work.left_out[1]


def basis_vectors(data: QueryData, basis: Ints) -> Floats:
    """Return the basis vectors, ``data.X[basis]`` (r, n), as one array for all models with the same basis (r,).

    The array is cached as long as a model uses it.
    """
    # `origin` is the cache of the data with all features, so the key
    # has the columns of these data. It holds weak references: an array
    # is dropped together with the last model that uses it.
    cache = data.shared.origin.of(KernelWork).basis_vectors
    key = data.shared.columns, basis.tobytes()
    vectors = cache.get(key)
    if vectors is None:
        vectors = cache[key] = data.X[basis]
    return vectors
