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
        It can be pickled: a function of a module, or a ``functools.partial`` of one.
    by_blocks : bool
        Whether it is called for some megabytes of whole queries at a time, and its values are added up, too.
        What it makes of the documents then takes as little room.
    """

    replayed: ClassVar[bool] = False

    function: Function
    by_blocks: bool = False

    def begin(self, data: QueryData, scratch: Scratch) -> FunctionWork:
        """Return what answers messages; it knows nothing of the shard."""
        return self

    def step(self, data: QueryData, message: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the function's values on a shard."""
        if not self.by_blocks:
            return self.function(data, *message)
        total = TreeSum()
        for first, last in group_blocks(data.ptr, data.X.shape[1]):
            total.add(self.function(data.queries(first, last), *message))
        return total.result()


def summed(
    data: TrainingData, what: str, function: Function, *message: Any, by_blocks: bool = False
) -> Waiting[tuple[Any, ...]]:
    """Return the sums over shards of what a function returns of each, with signs of life.

    Parameters
    ----------
    data : TrainingData
    what : str
        What the signs of life say is being done.
    function : callable
        As of :class:`FunctionWork`, as is ``by_blocks``.
    message : tuple
        Small.

    Returns
    -------
    tuple of ndarray
        Where the function returned a :class:`Greatest`, the greatest values; where a :class:`Joined`, those
        of all shards.
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
    """Return X^'X^ (n, n) and X^'y^ (n,); they are kept.

    O(mn²), and one pass over the data.
    """
    kept = data.shared.of(_Products)
    if kept.sums is None:
        squares, right = yield from summed(data, "multiplying features", _products, by_blocks=True)
        kept.sums = squares, right
    return kept.sums


def informative_columns(data: TrainingData) -> Waiting[Bools]:
    """Return which features vary inside some query, shape (n,); the others cannot change any ranking.

    Alone they rank documents in the order of the file, and that may be no bad order.
    """
    squares, _ = yield from sums_of_products(data)
    # A feature that is constant inside a query is exactly 0 there, and no square of another one is.
    varies: Bools = np.diag(squares) > 0
    return varies


def labels_of(data: TrainingData) -> Floats:
    """Return the different labels, ascending."""
    parts = (np.unique(data.y[shard.rows]) for shard in data.shards)
    return np.asarray(reduce(np.union1d, parts))


def models_in_order(data: TrainingData, order: Ints, regularization: float) -> Waiting[tuple[Floats, Floats]]:
    """Return RankRLS's models along an order of features, and their leave-query-out errors.

    See :func:`rankstudio.engine.arithmetic.nested_rankrls.nested_factor`; two passes over the data.
    """
    squares, right = yield from sums_of_products(data)
    coefs, factor, along = nested_factor(squares, right, order, regularization)
    message = order, factor, along, regularization
    (errors,) = yield from summed(data, "leaving queries out", _left_out, *message, by_blocks=True)
    return coefs, errors


def deviations(data: TrainingData, combinations: Floats) -> Waiting[Floats]:
    """Return the standard deviations inside queries of weighted sums of the features (t, n), shape (t,)."""
    squares = (yield from sums_of_products(data))[0]
    mean_squares = ((combinations @ squares) * combinations).sum(axis=1) / data.y.size
    return np.asarray(np.sqrt(np.maximum(mean_squares, 0.0)))


def combined_models(
    data: TrainingData, combinations: Floats, regularization: float
) -> Waiting[tuple[Floats, Floats]]:
    """Return RankRLS's models with the first of some weighted sums of the features (t, n), the first two ….

    As :func:`models_in_order`, with weights of the sums (t, t); the first of the two passes is made once.
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
