"""Shared work of pairwise least squares for many permutations of labels or of parts in preferences."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.class_rows import tied_scale
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData, centre
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.base import LinearRanker

if TYPE_CHECKING:
    from rankstudio.engine.arithmetic.pair_cost.preference_rows import PreferenceBlock

LOSS = frozenset({"cost", "ties", "weighting"})
"""Parameters of losses whose rows are the same whatever the labels are."""

_MOST_ROOM_OF_BLOCKS = 1e9
"""Bytes; not what is free just now: rows that are made anew each time have other last bits."""


def rows_and_targets(cost: PairCost, data: QueryData) -> tuple[QueryData, Callable[[Floats], Floats]]:
    """Return the fixed rows of a loss, and the function that computes targets (m, v) from labels (m, v)."""
    return PairRows.of(data, cost), targets_of(data.ptr, cost)


def targets_of(ptr: Ints, cost: PairCost) -> Callable[[Floats], Floats]:
    """Return the function of labels (m, v) that :func:`rows_and_targets` returns."""
    if cost.default:
        return lambda labels: centre(labels, ptr)
    scale = tied_scale(ptr, cost)[:, None]
    return lambda labels: centre(labels, ptr) * scale


def is_usual(estimator: LinearRanker, ignored: frozenset[str]) -> bool:
    """Return whether all parameters but the known ones are as they are by default."""
    usual: dict[str, Any] = type(estimator)().get_params()
    return all(value == usual[name] for name, value in estimator.get_params().items() if name not in ignored)


def exchanged_rows(
    cost: PairCost, data: QueryData, plain: Callable[[Ints], QueryData]
) -> Callable[[Ints], QueryData]:
    """Return a function that exchanges parts in preferences and keeps the rows they make of documents.

    Parameters
    ----------
    cost : PairCost
    data : QueryData
        With preferences.
    plain : callable
        Exchanges parts in preferences without any rows.
    """
    blocks = _blocks_if_they_fit(cost, data)
    if blocks is None:
        return plain
    from rankstudio.engine.arithmetic.pair_cost.preference_rows import rows_of  # noqa: PLC0415 - scipy

    def exchanged(order: Ints) -> QueryData:
        other = plain(order)
        inverse = np.empty_like(order)
        inverse[order] = np.arange(order.size)
        # Who has the part of whom: what the preferences make of it is known.
        PairRows.keep(other, cost, rows_of(data.X[inverse], blocks))
        return other

    return exchanged


def _blocks_if_they_fit(cost: PairCost, data: QueryData) -> tuple[PreferenceBlock, ...] | None:
    """Return the preferences as blocks, from which rows of the documents are computed.

    None if they take too much memory.
    """
    sizes = np.diff(data.ptr).astype(np.float64)
    if 8.0 * float(((sizes + 1) * sizes).sum()) > _MOST_ROOM_OF_BLOCKS:
        return None
    assert data.preferences is not None
    from rankstudio.engine.arithmetic.pair_cost.preference_rows import preference_blocks  # noqa: PLC0415

    return tuple(preference_blocks(data.ptr, data.preferences, cost))
