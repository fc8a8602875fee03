"""Checks before analyses of sets of features.

They check queries, columns, and whether a method has exact errors.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankstudio.engine.arithmetic.query_data import several_queries
from rankstudio.engine.data.splitting.query_halves import LEAST_DOCUMENTS, LEAST_QUERIES
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.capabilities import ExactExchange, PathsFromSums
from rankstudio.engine.methods.shards.training_data import TrainingData


def enough_queries(count: int, least: int, what: str) -> None:
    """Raise a DatasetError if there are fewer queries than an analysis needs.

    `count` is the number of queries, and `least` the number that is
    needed. `what` names the analysis in the message.
    """
    if count < least:
        raise DatasetError(
            f"{what}: expected documents of at least {least} queries, found {count}."
        )


def halved_count(
    n_queries: int, n_documents: int, what: str, *, one_ranking: bool
) -> int:
    """Return the number of items that an analysis divides into halves.

    The items are the queries, or with `one_ranking` the documents.
    DatasetError is raised if there are too few; `what` names the
    analysis in its message.
    """
    if not one_ranking:
        # Called for its error only.
        enough_queries(n_queries, LEAST_QUERIES, what)
        return n_queries
    if n_documents < LEAST_DOCUMENTS:
        raise DatasetError(
            f"{what}: expected at least {LEAST_DOCUMENTS} documents of one ranking, "
            f"found {n_documents}."
        )
    return n_documents


def columns_of(
    features: Sequence[int], n: int, *, least: int, most: int | None = None
) -> tuple[int, ...]:
    """Check the columns of a set of features, from 0 to n - 1; return them as a tuple.

    ParameterError is raised for other or repeated columns, and for
    fewer than `least` or more than `most` of them; without `most`, up
    to n are allowed.
    """
    columns = tuple(int(column) for column in features)
    most = n if most is None else most
    are_valid = len(set(columns)) == len(columns) and all(
        0 <= column < n for column in columns
    )
    if not are_valid or not least <= len(columns) <= most:
        expected = f"{least} to {most} different columns from 0 to {n - 1}"
        raise ParameterError("features", list(columns), expected)
    return columns


def exact_exchange(
    estimator: LinearRanker, data: TrainingData, what: str
) -> ExactExchange:
    """Return the λ and the loss by which a method can compare sets of features exactly.

    Sets are compared by exact left-out errors: the error in each query
    of a model trained without this query, computed without training
    anew. DatasetError or ParameterError is raised if there is only one
    query, or the method cannot compute these errors; `what` names the
    analysis in its message.
    """
    # Called for its error only.
    several_queries(data.ptr, what)
    exchange = estimator.exact_exchange()
    if exchange is not None:
        return exchange
    if getattr(estimator, "pairs", "query") != "query":
        raise ParameterError(
            "pairs",
            getattr(estimator, "pairs", ""),
            "query, because whole queries are left out",
        )
    expected = "GreedyRankRLS, RankRLS or a method with their exact errors"
    raise ParameterError("estimator", type(estimator).__name__, expected)


def summed_paths(estimator: LinearRanker, data: TrainingData) -> PathsFromSums:
    """Return a way to compute the paths of a method from sums over queries of the data.

    A path is the sequence of models that training makes. ParameterError
    is raised if the method cannot be computed from sums.
    """
    add_up = estimator.paths_from_sums(data)
    if add_up is None:
        expected = "GreedyRankRLS with search forward, fitting pre, and without groups"
        raise ParameterError("estimator", type(estimator).__name__, expected)
    return add_up()
