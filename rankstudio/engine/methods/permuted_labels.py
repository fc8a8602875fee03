"""Computations of pairwise least squares that are shared by many permutations of labels or preferences."""

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
"""Parameters of the loss of pairs, which may have any value."""

_MOST_ROOM_OF_BLOCKS = 1e9
"""Bytes of blocks of preferences. A constant, not the free memory: without blocks, the last bits of the rows
differ."""


def rows_and_targets(
    cost: PairCost, data: QueryData
) -> tuple[QueryData, Callable[[Floats], Floats]]:
    """Return the rows whose squared errors are a loss, and the function that makes their targets.

    The function converts labels (m, v) to targets (m, v). The rows do
    not depend on the labels. ``cost`` is the loss of a pair. ``data``
    has the documents.
    """
    return PairRows.of(data, cost), targets_of(data.ptr, cost)


def targets_of(ptr: Ints, cost: PairCost) -> Callable[[Floats], Floats]:
    """Return the function from labels (m, v) to the targets (m, v) of the rows of a loss.

    The squared errors of these targets are the loss of pairs. Labels
    are centred within queries, whose starts are ``ptr``, and scaled as
    the rows are. ``cost`` is the loss of a pair.
    """
    if cost.default:
        return lambda labels: centre(labels, ptr)
    scale = tied_scale(ptr, cost)[:, None]
    return lambda labels: centre(labels, ptr) * scale


def has_defaults_except(estimator: LinearRanker, ignored: frozenset[str]) -> bool:
    """Return whether all parameters except the ignored ones have their default values.

    ``ignored`` are the names of these.
    """
    defaults: dict[str, Any] = type(estimator)().get_params()
    parameters = estimator.get_params().items()
    return all(
        value == defaults[name] for name, value in parameters if name not in ignored
    )


def exchanged_rows(
    cost: PairCost, data: QueryData, permute: Callable[[Ints], QueryData]
) -> Callable[[Ints], QueryData]:
    """Return a function that permutes the documents in preferences, faster than computing all anew.

    The function gets an order (m,). The result of the function are the
    data in which each document takes the preferences of another one.
    With the data it caches the rows whose squared errors are the loss,
    which training would compute otherwise.

    Parameters
    ----------
    cost : PairCost
        The loss.
    data : QueryData
        Documents with preferences.
    permute : callable
        Function that permutes the documents in the preferences without
        computing rows; it is returned if the computation of rows would
        take too much memory.
    """
    blocks = _blocks_if_they_fit(cost, data)
    if blocks is None:
        return permute
    from rankstudio.engine.arithmetic.pair_cost.preference_rows import rows_of  # noqa: PLC0415 - scipy

    def exchanged(order: Ints) -> QueryData:
        """Return the data in which the documents take each other's preferences, by an order (m,).

        Also caches the rows of the loss with them. Uses variables of
        the enclosing function: ``permute`` makes the data without rows,
        ``cost`` is the loss, and ``blocks`` are the preferences of
        ``data``, from which rows follow.
        """
        permuted = permute(order)
        inverse = np.empty_like(order)
        inverse[order] = np.arange(order.size)
        # To permute the preferences of documents is to permute the
        # documents by the inverse order: the blocks of the original
        # preferences serve all orders.
        PairRows.keep(permuted, cost, rows_of(data.X[inverse], blocks))
        return permuted

    return exchanged


def _blocks_if_they_fit(
    cost: PairCost, data: QueryData
) -> tuple[PreferenceBlock, ...] | None:
    """Return the preferences as blocks, from which rows of the documents are computed.

    A block has a square matrix of the documents of one query, which
    depends on the ``cost`` of a pair. None if the blocks take too much
    memory. ``data`` has the documents.
    """
    # A query of s documents has a matrix of s² numbers, and s numbers besides.
    sizes = np.diff(data.ptr).astype(np.float64)
    if 8.0 * float(((sizes + 1) * sizes).sum()) > _MOST_ROOM_OF_BLOCKS:
        return None
    assert data.preferences is not None
    from rankstudio.engine.arithmetic.pair_cost.preference_rows import preference_blocks  # noqa: PLC0415

    return tuple(preference_blocks(data.ptr, data.preferences, cost))
