"""What is decomposed or mapped once for all settings that learn from the same documents and features."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.support import memory

_MOST_BYTES = 2e9  # kept of one fold
_SHARE = 0.25  # of the memory that is free


class _Sized(Protocol):
    @property
    def n_bytes(self) -> int: ...


Work = TypeVar("Work", bound=_Sized)


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
