"""The criteria of a method's steps for many label vectors of the same documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.class_rows import tied_scale
from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData, centre, several_queries
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.pair_learners import PairwiseLeastSquares
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.rankers.rankrls_outputs import OutputModels
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.steps import Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.threads import at_most, pool, share

Paths = Callable[[Floats], list[Floats]]
"""From label vectors (b, m), in the order of the grouped rows, to the criteria of the steps of each."""

PermutedPaths = Callable[[Sequence[Ints]], list[Floats]]
"""From orders, in which each row has the part that another one had, to the criteria of the steps of each."""

_OUTPUTS = 16  # label vectors of one product

_MOST_ROOM = 4e9  # bytes; not what is free just now: another algorithm's criteria have other last bits

# What the shortcuts know; any other parameter has to be as it is by default. Of losses they know those whose
# rows are the same whatever the labels are.
_LOSS = frozenset({"cost", "ties", "weighting"})
_GREEDY = _LOSS | {
    *("n_features_to_select", "regularization", "pinned", "banned", "algorithm"),
    *("n_candidates", "seed", "costs", "budget", "size_penalty"),
}
_RANKRLS = _LOSS | {"regularization", "solver", "tol", "max_iter"}


@contextmanager
def labelled_paths(estimator: LinearRanker, data: TrainingData) -> Iterator[PermutedPaths]:
    """Provide the function that learns from the labels in other orders.

    Parameters
    ----------
    estimator : LinearRanker
    data : TrainingData
    """
    with criterion_paths(estimator, data) as paths:
        yield lambda orders: paths(np.stack([data.y[order] for order in orders]))


@contextmanager
def criterion_paths(estimator: LinearRanker, data: TrainingData) -> Iterator[Paths]:
    """Provide the function that learns from documents with other labels.

    Parameters
    ----------
    estimator : LinearRanker
    data : TrainingData
        Its labels are not looked at. Of several shards each label vector is learned from anew.
    """
    if data.several:
        yield lambda labels: [learned_path(estimator, replace(data, y=row)) for row in labels]
        return
    rows: QueryData = data.whole("The permutation test")
    with pool() as (executor, workers):
        if type(estimator) is GreedyRankRLS and _greedy_shortcut(estimator, rows):
            yield _greedy_paths(estimator, rows, executor, workers)
        elif type(estimator) is RankRLS and _rankrls_shortcut(estimator):
            yield _rankrls_paths(estimator, rows, executor, workers)
        else:
            yield lambda labels: [_learned(estimator, rows, row) for row in labels]


def _rows_stay(estimator: PairwiseLeastSquares) -> bool:
    """Tell whether the rows of the loss are those of any labels: all pairs inside a query count."""
    stay: bool = estimator.pair_cost().ties
    return stay


def _rows_of(
    estimator: PairwiseLeastSquares, data: QueryData
) -> tuple[QueryData, Callable[[Floats], Floats]]:
    """Return the rows of a loss whose rows stay, and what makes targets (m, v) of labels (m, v) of them."""
    cost = estimator.pair_cost()
    if cost.default:
        return data, lambda labels: centre(labels, data.ptr)
    scale = tied_scale(data.ptr, cost)[:, None]
    return PairRows.of(data, cost), lambda labels: centre(labels, data.ptr) * scale


def _usual(estimator: LinearRanker, known: frozenset[str]) -> bool:
    """Tell whether all parameters but the known ones are as they are by default."""
    usual: dict[str, Any] = type(estimator)().get_params()
    return all(value == usual[name] for name, value in estimator.get_params().items() if name not in known)


def _greedy_shortcut(estimator: GreedyRankRLS, data: QueryData) -> bool:
    """Tell whether paths can share the Gram matrices of the queries."""
    if not _rows_stay(estimator):
        return False
    usual = _usual(estimator, _GREEDY) and estimator.algorithm in ("auto", "statistics", "rows")
    return usual and _room(estimator, data) <= _MOST_ROOM


def _room(estimator: GreedyRankRLS, data: QueryData) -> float:
    """Return how many bytes the Gram matrices of the queries and the states of the threads' paths take."""
    n, Q = data.X.shape[1], data.ptr.size - 1
    return float(8 * Q * (n + 1) * (2 * (n + 1) + 4 * estimator.n_steps(n)))


def _refuse_large(needed: float, m: int, n: int) -> None:
    """Raise OutOfMemoryError where there is less."""
    free = memory.available()
    if needed > free:
        raise OutOfMemoryError(
            f"Not enough memory for the permutation test of greedy RankRLS: {m:,} documents with {n:,} "
            f"features need {memory.size(needed)}, and {memory.size(free)} are free. Try the algorithm "
            "columns."
        )


def _rankrls_shortcut(estimator: RankRLS) -> bool:
    """Tell whether labels can be outputs of one factorisation."""
    return estimator.solver != "cg" and _usual(estimator, _RANKRLS) and _rows_stay(estimator)


def _greedy_paths(
    estimator: GreedyRankRLS, data: QueryData, executor: Executor | None, workers: int
) -> Paths:
    from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (  # noqa: PLC0415
        KnownStatistics,
        forward_path,
        gram_statistics,
    )

    several_queries(data.ptr, type(estimator).__name__)
    _refuse_large(_room(estimator, data), *data.X.shape)
    regularization = estimator.checked("regularization")
    groups, cost = ColumnGroups.of(data.X.shape[1], ()), PairCost()
    rules = estimator.rules(groups)
    data, targets = _rows_of(estimator, data)
    known = gram_statistics(data)

    def paths(labels: Floats) -> list[Floats]:
        found: list[Floats] = [np.empty(0)] * labels.shape[0]

        def learn(number: int) -> None:
            relabelled = QueryData(data.X, data.y, data.ptr)
            relabelled.shared.of(KnownStatistics).found[True, cost] = known.relabelled(
                data.centred[0], targets(labels[number][:, None]), data.ptr
            )
            with at_most(1):
                told = forward_path(
                    training_data(relabelled), regularization, groups, rules, cost, "statistics"
                )
                found[number] = np.array([step.criterion for step in told if isinstance(step, Step)])

        share(executor, workers, learn, range(labels.shape[0]))
        return found

    return paths


def _rankrls_paths(estimator: RankRLS, data: QueryData, executor: Executor | None, workers: int) -> Paths:
    several_queries(data.ptr, "The permutation test of RankRLS")
    data, targets = _rows_of(estimator, data)
    models = OutputModels(data, estimator.checked("regularization"))

    def paths(labels: Floats) -> list[Floats]:
        centred, found = targets(np.ascontiguousarray(labels.T)), np.empty((labels.shape[0], 1))

        def learn(first: int) -> None:
            part = slice(first, first + _OUTPUTS)
            rest = models.residuals(np.ascontiguousarray(centred[:, part]))
            found[part, 0] = np.einsum("mv,mv->v", rest, rest)

        share(executor, workers, learn, range(0, labels.shape[0], _OUTPUTS))
        return list(found)

    return paths


def _learned(estimator: LinearRanker, data: QueryData, labels: Floats) -> Floats:
    """Learn anew."""
    relabelled = QueryData(data.X, labels, data.ptr, data.order)
    vars(relabelled)["centred"] = data.centred[0], centre(labels[:, None], data.ptr)[:, 0]
    return learned_path(estimator, relabelled)


def learned_path(estimator: LinearRanker, data: GivenData) -> Floats:
    """Learn; of steps that all have the same features, as an optimiser takes, only the last counts."""
    steps = list(type(estimator)(**estimator.get_params(deep=False)).learn(data))
    path = steps if any(step.selected != steps[-1].selected for step in steps) else steps[-1:]
    return np.array([step.criterion for step in path])
