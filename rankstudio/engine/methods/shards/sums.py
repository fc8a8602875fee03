"""Sums over shards: of a function of a shard's documents, and those that several methods share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arithmetic.nested_rankrls import left_out_errors, nested_factor
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.shards.work import Greatest, Joined, TreeSum
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.work import Waiting

Function = Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class FunctionWork:
    """The work of a function ``f(data, *message)`` on every shard.

    Attributes
    ----------
    function : callable
        Function that can be pickled: a module-level function, or a ``functools.partial`` of one.
    by_blocks : bool
        Whether it is called for a few megabytes of whole queries at a time, and the results are summed. This
        limits the memory for its intermediate results.
    """

    replayed: ClassVar[bool] = False

    function: Function
    by_blocks: bool = False

    def begin(self, data: QueryData, scratch: Scratch) -> FunctionWork:
        """Return a stateless object for messages."""
        return self

    def step(self, data: QueryData, message: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the function's results on a shard."""
        if not self.by_blocks:
            return self.function(data, *message)
        total = TreeSum()
        for first, last in group_blocks(data.ptr, data.X.shape[1]):
            total.add(self.function(data.queries(first, last), *message))
        return total.result()


def summed(
    data: TrainingData, what: str, function: Function, *message: Any, by_blocks: bool = False
) -> Waiting[tuple[Any, ...]]:
    """Return the sums of a function's results over all shards, with progress events.

    Parameters
    ----------
    data : TrainingData
    what : str
        Description of the work in progress events.
    function : callable
        As in :class:`FunctionWork`, like ``by_blocks``.
    message : tuple
        Small.

    Returns
    -------
    tuple of ndarray
        For a :class:`Greatest`, the largest values; for a :class:`Joined`, the concatenation over all shards.
    """
    # A single shard is called for as a whole: it keeps what it was centred to.
    with data.session(FunctionWork(function, by_blocks and data.several)) as session:
        sums = yield from session.sum(message, what)
    return tuple(value.values if isinstance(value, Greatest | Joined) else value for value in sums)


@dataclass
class _Products:
    """X^'X^ and X^'y^ of some data."""

    sums: tuple[Floats, Floats] | None = None


def sums_of_products(data: TrainingData) -> Waiting[tuple[Floats, Floats]]:
    """Return X^'X^ (n, n) and X^'y^ (n,), cached.

    O(mn²), with one pass over the data.
    """
    kept = data.shared.of(_Products)
    if kept.sums is None:
        squares, right = yield from summed(data, "multiplying features", _products, by_blocks=True)
        kept.sums = squares, right
    return kept.sums


def informative_columns(data: TrainingData) -> Waiting[Bools]:
    """Return the features that vary within some query, shape (n,); the others cannot change any ranking.

    Ranked by one of the others, documents keep the order of the file, which may be a good order.
    """
    if data.sparse:
        return data.whole("").informative  # type: ignore[no-any-return]
    squares, _ = yield from sums_of_products(data)
    # A feature that is constant inside a query is exactly 0 there, and no square of another one is.
    varies: Bools = np.diag(squares) > 0
    return varies


def labels_of(data: TrainingData) -> Floats:
    """Return the distinct labels, ascending."""
    parts = (np.unique(data.y[shard.rows]) for shard in data.shards)
    return np.asarray(reduce(np.union1d, parts))


def models_in_order(data: TrainingData, order: Ints, regularization: float) -> Waiting[tuple[Floats, Floats]]:
    """Return RankRLS's models along an order of features, and their leave-query-out errors.

    See :func:`rankstudio.engine.arithmetic.nested_rankrls.nested_factor`; it needs two passes over the data.
    """
    if data.sparse:  # the products of all features have no room
        few = data.narrowed(order.tolist())
        own, errors = yield from models_in_order(few, np.arange(order.size), regularization)
        coefs = np.zeros((order.size, data.X.shape[1]))
        coefs[:, order] = own
        return coefs, errors
    squares, right = yield from sums_of_products(data)
    coefs, factor, along = nested_factor(squares, right, order, regularization)
    message = order, factor, along, regularization
    (errors,) = yield from summed(data, "leaving queries out", _left_out, *message, by_blocks=True)
    return coefs, errors


def deviations(data: TrainingData, combinations: Floats) -> Waiting[Floats]:
    """Return the standard deviations within queries of weighted sums of the features (t, n), shape (t,)."""
    squares = (yield from sums_of_products(data))[0]
    mean_squares = ((combinations @ squares) * combinations).sum(axis=1) / data.y.size
    return np.asarray(np.sqrt(np.maximum(mean_squares, 0.0)))


def combined_models(
    data: TrainingData, combinations: Floats, regularization: float
) -> Waiting[tuple[Floats, Floats]]:
    """Return RankRLS's models with the first 1, 2, … of some weighted sums of the features (t, n).

    As in :func:`models_in_order`, with weights of the sums (t, t); the first pass is cached.
    """
    order = np.arange(len(combinations))
    squares, right = yield from sums_of_products(data)
    of_sums = combinations @ squares @ combinations.T, combinations @ right
    coefs, factor, along = nested_factor(*of_sums, order, regularization)
    message = combinations, order, factor, along, regularization
    (errors,) = yield from summed(data, "leaving queries out", _left_out_sums, *message, by_blocks=True)
    return coefs, errors


def _left_out_sums(data: QueryData, combinations: Floats, *message: Any) -> tuple[Floats]:
    combined = np.ascontiguousarray(data.X @ combinations.T)
    return _left_out(QueryData(combined, data.y, data.ptr), *message)


def _products(data: QueryData) -> tuple[Floats, ...]:
    return data.gram


def _left_out(
    data: QueryData, order: Ints, factor: Floats, along: Floats, regularization: float
) -> tuple[Floats]:
    return (left_out_errors(data, order, factor, along, regularization),)
