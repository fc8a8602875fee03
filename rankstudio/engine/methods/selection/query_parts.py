"""Parts of each query in the scores by which the steps of a selector compare features.

Without some queries, a step selects the feature that the parts of the
remaining queries favour. For scores that are means over queries, the
parts are exact. For other scores, a part is how much the score drops
without the query, while everything else that the step depends on, such
as the earlier features, stays the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.pair_losses import (
    LinearPairs,
    LossName,
    pair_loss,
)
from rankstudio.engine.arithmetic.pairs import Pairs
from rankstudio.engine.arithmetic.query_data import QueryData, query_grams
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.capabilities import Compared, ComparedByQuery
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.shards.sums import summed
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.shards.work import Joined
from rankstudio.engine.metrics.conventions import Convention
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.work import Waiting, without_notes

COMPARING = "comparing queries"


def sized_steps(
    estimator: Selector, data: TrainingData, n_features: int
) -> Waiting[list[Step]]:
    """Run a selector with ``n_features`` features to select, and return its steps.

    The selector is a copy of ``estimator``, with all other parameters.
    ``data`` are the training documents. The generator yields progress
    events, and then returns the result.
    """
    sized = type(estimator)(
        **{**estimator.get_params(deep=False), "n_features_to_select": n_features}
    )
    return without_notes(steps_of(sized.work(data)))


def compared_means(
    estimator: Selector,
    data: TrainingData,
    n_features: int,
    values: Waiting[Floats],
    other_values: Waiting[Floats] | None = None,
) -> Compared:
    """Yield for each step of a filter the scores of the features, and each query's part in them.

    A filter orders features by scores, which are means over queries.
    The similarities of GAS and the better direction of a feature are
    assumed to be the same without a query.

    Parameters
    ----------
    estimator : Selector
        The filter.
    data : TrainingData
        Documents from which the filter learns.
    n_features : int
        Number of steps, each of which selects a feature.
    values : generator of ndarray of shape (n, Q)
        Value of each feature in each query, NaN for queries without one.
    other_values : generator of ndarray of shape (n, Q), optional
        Parts of the queries to be added to those of ``values``, for
        scores that have another term.

    Yields
    ------
    ComparedByQuery or WorkProgress
        Progress, then the scores (n,) and parts (n, Q) of each step.
    """
    steps = yield from sized_steps(estimator, data, n_features)
    measured = yield from values
    # A query has a value for all features or for none.
    is_counted = ~np.isnan(measured[0])
    # A score is the mean over these queries, so a part is a summand of it.
    parts = np.where(is_counted, measured, 0.0) / max(1, is_counted.sum())
    if other_values is not None:
        parts = parts + (yield from other_values)
    yield from compared_parts(steps, parts, is_counted)


def compared_parts(steps: Sequence[Step], parts: Floats, counted: Bools) -> Compared:
    """Yield the scores of steps that add one feature each, with the same parts (n, Q) of queries at every step.

    ``counted`` (Q,) says which queries contribute to the scores.
    """
    for index, step in enumerate(steps):
        yield ComparedByQuery(
            winners=(step.selected[index],),
            scores=step.candidates,
            parts=parts,
            counted=counted,
        )


def measured_by_query(
    data: TrainingData, weights: Floats, name: str, convention: Convention
) -> Waiting[Floats]:
    """Return a measure of each query for each of c models with weights (c, n), shape (c, Q).

    Larger is better: an error is subtracted from 1. ``name`` is that of
    the measure, and ``convention`` has its rules. ``data`` are the
    training documents. The generator yields progress events, and then
    returns the result.
    """
    name = find_measure(name).name
    (values,) = yield from summed(
        data, COMPARING, _values_by_query, weights, name, convention, by_blocks=True
    )
    return np.asarray(values if find_measure(name).higher_is_better else 1.0 - values)


def _values_by_query(
    data: QueryData, weights: Floats, name: str, convention: Convention
) -> tuple[Joined]:
    """Return a measure of each query of some data by c models with weights (c, n), shape (c, Q).

    ``name`` is that of the measure, and ``convention`` has its rules.
    The result is marked as joined: the queries of other shards are
    appended to it, not added. A shard is a part of the data with whole
    queries.
    """
    evaluator = Evaluator(data.y, data.ptr, convention, [name], grading=data.grading)
    has_one_feature = np.count_nonzero(weights, axis=1) == 1
    # A model of one feature ranks by the feature's values. They are not
    # summed with zeros, which could round them.
    if has_one_feature.all():
        columns = np.argmax(weights != 0, axis=1)
        scores = (data.X[:, columns] * weights[np.arange(len(weights)), columns]).T
    else:
        scores = weights @ data.X.T
    return (Joined(evaluator.per_query_many(np.ascontiguousarray(scores))[name]),)


def pair_slopes(
    data: TrainingData,
    columns: Ints,
    weights: Floats,
    loss: LossName = "squared_hinge",
) -> Waiting[tuple[Floats, Floats, Floats]]:
    """Return derivatives of a pairwise loss with respect to the weights (c,) of some columns.

    ``data`` are the training documents. The generator yields progress
    events, and then returns the result.

    Returns
    -------
    slopes : ndarray of shape (c, Q)
        Gradient of the loss of each query.
    curvature : ndarray of shape (c, c)
        Second derivatives of the loss of all queries.
    pairs : ndarray of shape (Q,)
        Number of pairs of documents with different labels in each query.
    """
    slopes, curvature, pairs = yield from summed(
        data, COMPARING, _slopes_by_query, columns, weights, loss, by_blocks=True
    )
    return slopes, curvature, pairs[0]


def _slopes_by_query(
    data: QueryData, columns: Ints, weights: Floats, loss: LossName
) -> tuple[Any, ...]:
    """Return derivatives of a pairwise loss with respect to the weights (c,) of some columns, for a block of queries.

    The derivatives are the gradient of the loss of each query (c, Q),
    and the second derivatives of the sum (c, c). The third result is
    the number of pairs with different labels of each query (1, Q). What
    is by query is marked as joined: further queries are appended to it,
    while the second derivatives are added. ``data`` has the documents.
    """
    X = np.ascontiguousarray(data.X[:, columns])
    problem = LinearPairs(X, Pairs(data.y, data.ptr))
    # The loss at these weights, with its derivatives with respect to scores.
    at_weights = pair_loss(loss)(problem.pairs, problem.scores(weights))
    slopes = np.add.reduceat(X * at_weights.slopes[:, None], data.ptr[:-1])
    # The matrix of second derivatives, row by row: its products with unit vectors.
    curvature = np.array(
        [problem.curvature(at_weights, unit) for unit in np.eye(columns.size)]
    )
    # Of the documents of each query, how many have each label.
    label_counts = [
        np.unique(data.y[a:b], return_counts=True)[1]
        for a, b in pairwise(data.ptr.tolist())
    ]
    # All pairs of documents less those with equal labels: of m documents, (m² - Σ c²) / 2.
    pairs = np.array(
        [(counts.sum() ** 2 - (counts**2).sum()) / 2 for counts in label_counts],
        dtype=np.float64,
    )
    return Joined(slopes.T), curvature, Joined(pairs[None])


def grams_by_query(data: TrainingData, columns: Sequence[int]) -> Waiting[Floats]:
    """Return the Gram matrix of each query for c columns and the labels, shape (Q, c + 1, c + 1).

    Columns and labels are centred within queries; labels last. ``data``
    are the training documents. The generator yields progress events,
    and then returns the result.
    """
    (grams,) = yield from summed(
        data, COMPARING, _grams_by_query, tuple(columns), by_blocks=True
    )
    return np.ascontiguousarray(np.moveaxis(grams, -1, 0))


def _grams_by_query(data: QueryData, columns: tuple[int, ...]) -> tuple[Joined]:
    """Return the Gram matrices [X^ y^]'[X^ y^] of c centred columns and the labels, shape (c + 1, c + 1, Q)."""
    X, y = QueryData(
        np.ascontiguousarray(data.X[:, list(columns)]), data.y, data.ptr
    ).centred
    # Joined results are concatenated along their last axis, so that has
    # to be the queries'.
    out = np.empty((data.ptr.size - 1, len(columns) + 1, len(columns) + 1))
    return (Joined(np.moveaxis(query_grams(X, y, data.ptr, out), 0, -1)),)


def nothing_compared(data: TrainingData, n: int) -> tuple[Floats, Bools]:
    """Return the parts (n, Q) and the counted queries (Q,) for a step without scores.

    All parts are 0, and all queries are counted.
    """
    Q = data.ptr.size - 1
    return np.zeros((n, Q)), np.ones(Q, dtype=np.bool_)
