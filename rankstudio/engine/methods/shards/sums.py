"""Sums over shards: of any function of a shard's documents, and sums that several methods need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from rankstudio.engine.arithmetic.nested_rankrls import left_out_errors, nested_factor
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.shards.work import Greatest, Joined, TreeSum
from rankstudio.engine.support.blocks import group_blocks
from rankstudio.engine.support.threads import STEADY
from rankstudio.engine.support.work import Waiting

Function = Callable[..., tuple[Any, ...]]

USUAL = PairCost()
"""The default loss, whose rows are the documents, centred within their queries."""


@dataclass(frozen=True)
class FunctionWork:
    """The work of calling a function ``f(data, *message)`` with every shard.

    Attributes
    ----------
    function : callable
        Function that can be pickled: a module-level function, or a
        ``functools.partial`` of one.
    by_blocks : bool
        Whether the function is called with a few megabytes of whole
        queries at a time, and the results are summed. Blocks limit the
        memory for intermediate results.
    """

    replayed: ClassVar[bool] = False

    function: Function
    by_blocks: bool = False

    def begin(self, data: QueryData, scratch: Scratch) -> FunctionWork:
        """Return this object as the state, because the work has no state."""
        return self

    def step(self, data: QueryData, message: tuple[Any, ...]) -> tuple[Any, ...]:
        """Call the function with a shard, or with blocks of its queries, and return the sums of its results.

        ``message`` are the further arguments of the function. ``data``
        has the documents of the shard. A shard is a part of the data
        with whole queries.
        """
        with STEADY:  # BLAS threads would slow small products down
            if not self.by_blocks:
                return self.function(data, *message)
            total = TreeSum()
            for first, last in group_blocks(data.ptr, data.X.shape[1]):
                total.add(self.function(data.queries(first, last), *message))
            return total.result()


def summed(
    data: TrainingData,
    activity: str,
    function: Function,
    *message: Any,
    by_blocks: bool = False,
) -> Waiting[tuple[Any, ...]]:
    """Call a function with each shard, and return the sums of its results.

    The generator yields progress events, and then returns the result.

    Parameters
    ----------
    data : TrainingData
        The documents.
    activity : str
        Description of the work in progress events.
    function : callable
        Function ``f(data, *message)`` that returns a tuple of arrays.
        It is called with each shard, possibly in another process: a
        module-level function.
    *message : object
        Further arguments of the function, which are sent to each shard,
        so they should be small.
    by_blocks : bool, default False
        Whether the function is called with a few megabytes of whole
        queries of a shard at a time.

    Returns
    -------
    tuple of ndarray
        Sums of the function's results. For a :class:`Greatest`, the
        largest values; for a :class:`Joined`, the concatenation over
        all shards.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData, finish, summed, training_data
    >>> X = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [4.0, 0.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0, 2.0]), np.array([0, 2, 4])))
    >>> def products(part, *_):
    ...     return (part.X.T @ part.y,)
    >>> (total,) = finish(summed(data, "multiplying", products))
    >>> total.tolist()
    [9.0, 2.0]
    """
    # A single shard is passed as a whole, because it caches its centred documents.
    with data.session(FunctionWork(function, by_blocks and data.several)) as session:
        sums = yield from session.sum(message, activity)
    return tuple(
        value.values if isinstance(value, Greatest | Joined) else value
        for value in sums
    )


@dataclass
class _Products:
    """Cache of one dataset's [X^ y^]'[X^ y^], by the cost to which the rows belong."""

    by_cost: dict[PairCost, Floats] = field(default_factory=dict)


def products_of(data: TrainingData, cost: PairCost = USUAL) -> Waiting[Floats]:
    """Return the products of all features and the labels, [X^ y^]'[X^ y^], shape (n + 1, n + 1).

    O(mn²), with one pass over the data.

    X^ and y^ are the rows whose squared errors are the loss with this
    cost of pairs: by default the features and labels minus their means
    in each query. The result for all features is cached, and data with
    some of the features use its entries. The generator yields progress
    events, and then returns the result.
    """
    # Data with some of the features: their columns of all, and the labels' last column.
    if data.source is not None:
        indices = [*data.columns, data.source.X.shape[1]]
        return (yield from products_of(data.source, cost))[np.ix_(indices, indices)]
    return (
        yield from once(
            data.shared.of(_Products).by_cost, cost, _summed_products(data, cost)
        )
    )


def _summed_products(data: TrainingData, cost: PairCost) -> Waiting[Floats]:
    """Return the products [X^ y^]'[X^ y^] of features and labels, summed over all shards, (n + 1, n + 1).

    ``cost`` is the loss of a pair of documents. ``data`` are the
    training documents. A shard is a part of the data with whole
    queries. The generator yields progress events, and then returns the
    result.
    """
    (total,) = yield from summed(
        data, "adding up products of features", _products, cost, by_blocks=True
    )
    return np.asarray(total)


def sums_of_products(
    data: TrainingData, cost: PairCost = USUAL
) -> Waiting[tuple[Floats, Floats]]:
    """Return the products X^'X^ (n, n) of the features, and X^'y^ (n,) with the labels.

    X^ and y^ are centred within queries, or more generally the rows
    whose squared errors are the loss with this ``cost``. The generator
    yields progress events, and then returns the result.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData, finish, sums_of_products, training_data
    >>> X = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [4.0, 0.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0, 2.0]), np.array([0, 2, 4])))
    >>> products, targets = finish(sums_of_products(data))
    >>> products.shape, targets.shape
    ((2, 2), (2,))
    """
    total = yield from products_of(data, cost)
    return total[:-1, :-1], total[:-1, -1]


def informative_columns(data: TrainingData) -> Waiting[Bools]:
    """Return the mask of the features that vary within some query, shape (n,).

    Other features cannot change any ranking: ranked by one of these,
    documents keep the order of the file, which may be a good order. The
    generator yields progress events, and then returns the result.

    Examples
    --------
    The second feature has one value in each query:

    >>> import numpy as np
    >>> from rankstudio.api import QueryData, finish, training_data
    >>> X = np.array([[1.0, 3.0], [2.0, 3.0], [5.0, 4.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 2.0]), np.array([0, 2, 3])))
    >>> finish(informative_columns(data)).tolist()
    [True, False]
    """
    # Sparse data are always in memory, so that `whole` raises no error,
    # for which it takes the name of a method.
    if data.sparse:
        return data.whole("").informative  # type: ignore[no-any-return]
    squares, _ = yield from sums_of_products(data)
    # Centred features are exactly 0 in queries where they are constant,
    # and nonzero otherwise.
    varies: Bools = np.diag(squares) > 0
    return varies


def labels_of(data: TrainingData) -> Floats:
    """Return the distinct labels, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from rankstudio.api import QueryData, labels_of, training_data
    >>> X = np.array([[0.0, 3.0], [1.0, 2.0], [2.0, 1.0], [4.0, 0.0]])
    >>> data = training_data(QueryData(X, np.array([0.0, 1.0, 0.0, 2.0]), np.array([0, 2, 4])))
    >>> labels_of(data).tolist()
    [0.0, 1.0, 2.0]
    """
    parts = (np.unique(data.y[shard.rows]) for shard in data.shards)
    return np.asarray(reduce(np.union1d, parts))


def models_in_order(
    data: TrainingData, order: Ints, regularization: float, cost: PairCost = USUAL
) -> Waiting[tuple[Floats, Floats]]:
    """Return RankRLS's models with the first 1, 2, … features of an order, and their leave-query-out errors.

    For an order of k of n features, the models (k, n) have the weight 0
    for other features, and the errors have shape (k,). O(mn²) for the
    sums, which all orders and all λ share; then O(mk²) for each order
    and λ. Takes two passes over the data. ``cost`` is the loss of a
    pair of documents, and ``regularization`` is λ. The generator yields
    progress events, and then returns the result.
    """
    # Of sparse data, only these features are made dense: the products
    # of all features may not fit into memory.
    if data.sparse:
        narrowed = data.narrowed(order.tolist())
        narrow_coefs, errors = yield from models_in_order(
            narrowed, np.arange(order.size), regularization, cost
        )
        coefs = np.zeros((order.size, data.X.shape[1]))
        coefs[:, order] = narrow_coefs
        return coefs, errors
    # The first pass: the sums of all queries, from which all models
    # follow. The Cholesky factor, and the solution of the forward
    # substitution with it, hold for any number of the first features.
    # In STEADY, BLAS has one thread, so that last bits do not depend on
    # the machine.
    squares, right = yield from sums_of_products(data, cost)  # X^'X^ and X^'y^
    with STEADY:
        coefs, factor, along = nested_factor(squares, right, order, regularization)
    # The second pass: the errors of each query by the models trained
    # without it. Only a single shard caches its centred features; of
    # several, `_left_out` centres only those of the order.
    (errors,) = yield from summed(
        data,
        "leaving queries out",
        _left_out,
        cost,
        data.several,
        order,
        factor,
        along,
        regularization,
        by_blocks=True,
    )
    return coefs, errors


def deviations(data: TrainingData, combinations: Floats) -> Waiting[Floats]:
    """Return the standard deviations (t,) within queries of t weighted sums of the features.

    ``combinations`` (t, n) are the weights of the sums. ``data`` are
    the training documents. The generator yields progress events, and
    then returns the result.
    """
    squares = (yield from sums_of_products(data))[0]
    mean_squares = ((combinations @ squares) * combinations).sum(axis=1) / data.y.size
    return np.asarray(np.sqrt(np.maximum(mean_squares, 0.0)))


def combined_models(
    data: TrainingData, combinations: Floats, regularization: float
) -> Waiting[tuple[Floats, Floats]]:
    """Train RankRLS with the first 1, 2, … of some weighted sums of the features.

    ``combinations`` (t, n) are the weights of the sums. The models have
    shape (t, t), with a weight per sum; the second result (t,) are
    their leave-query-out errors. The result of the first pass over the
    data is cached. ``regularization`` is λ. The generator yields
    progress events, and then returns the result.
    """
    order = np.arange(len(combinations))
    # X^'X^ and X^'y^ of the weighted sums follow from those of the
    # centred features. The Cholesky factor, and the solution of the
    # forward substitution with it, hold for any number of the first
    # sums.
    squares, right = yield from sums_of_products(data)
    coefs, factor, along = nested_factor(
        combinations @ squares @ combinations.T,
        combinations @ right,
        order,
        regularization,
    )
    # A pass over the data for the errors.
    (errors,) = yield from summed(
        data,
        "leaving queries out",
        _left_out_sums,
        combinations,
        order,
        factor,
        along,
        regularization,
        by_blocks=True,
    )
    return coefs, errors


def _left_out_sums(
    data: QueryData, combinations: Floats, *message: Any
) -> tuple[Floats]:
    """Return the leave-query-out errors (t,) of models of the first 1, 2, … t weighted sums of the features.

    The errors are sums over the queries of ``data``. ``message`` has
    what all queries determine. ``combinations`` (t, n) are the weights
    of the sums.
    """
    combined = np.ascontiguousarray(data.X @ combinations.T)
    return (left_out_errors(QueryData(combined, data.y, data.ptr), *message),)


def _products(data: QueryData, cost: PairCost) -> tuple[Floats]:
    """Return the products of all features and the labels, [X^ y^]'[X^ y^], shape (n + 1, n + 1).

    X^ and y^ are features and labels minus their means in each query,
    or more generally the rows whose squared errors are the loss with
    this cost of pairs. The labels are the last row and column. ``data``
    has the documents.
    """
    X, y = PairRows.of(data, cost).centred
    n = X.shape[1]
    products = np.empty((n + 1, n + 1))
    np.matmul(X.T, X, out=products[:n, :n])
    products[n, :n] = products[:n, n] = y @ X
    products[n, n] = y @ y
    return (products,)


def _left_out(
    data: QueryData, cost: PairCost, cut: bool, order: Ints, *message: Any
) -> tuple[Floats]:
    """Return the leave-query-out errors of RankRLS with the first 1, 2, … features of an order.

    The errors are sums over the queries of ``data``, shape (k,).
    ``cost`` is the loss of pairs, and ``message`` has what all queries
    determine. If ``cut``, only the k features of the ``order`` (k,) are
    centred.
    """
    # A block is not cached and is centred each time, so only the needed features are.
    if cut:
        data = data.narrowed(order.tolist())
        order = np.arange(order.size)
    return (left_out_errors(PairRows.of(data, cost), order, *message),)
