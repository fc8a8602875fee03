"""Selection by greedy RankRLS for a group of queries, and for all other queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.analysis.features.set_checks import enough_queries, summed_paths
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.steps import Step
from rankstudio.engine.support.threads import STEADY

_PURPOSE = "Selection for some queries"


@dataclass(frozen=True, eq=False)
class QueryPaths:
    """The selections of features on two groups of queries, each as a path of steps.

    Attributes
    ----------
    marked : tuple of Step
        Path on the marked queries.
    others : tuple of Step
        Path on all other queries.
    """

    marked: tuple[Step, ...]
    others: tuple[Step, ...]


def paths_by_queries(
    estimator: LinearRanker,
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike | None,
    marked: Iterable[int],
) -> QueryPaths:
    """Select features on a group of marked queries alone, and on all other queries alone.

    Parameters
    ----------
    estimator : GreedyRankRLS
        Estimator with forward search and without groups; it is not fitted here.
    X : array-like of shape (m, n)
        Features; a row is a document.
    y : array-like of shape (m,)
        Labels of the documents.
    qid : array-like of shape (m,)
        Query of each document.
    marked : iterable of int
        Positions of the marked queries, in order of first document.

    Returns
    -------
    QueryPaths
        A path for each of the two groups of queries.

    Raises
    ------
    DatasetError
        If a group has fewer than two queries.
    ParameterError
        For other methods, or positions out of range.

    Notes
    -----
    O(mn²) once for m documents with n features, cached with the data;
    then O(Qn² + Qnk²) for k steps on Q queries.

    Examples
    --------
    >>> from rankstudio.engine import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((80, 4)), np.repeat(np.arange(16), 5)
    >>> y = np.where(qid < 8, X[:, 1], X[:, 3])
    >>> found = paths_by_queries(GreedyRankRLS(n_features_to_select=1), X, y, qid=qid, marked=range(8))
    >>> found.marked[0].selected, found.others[0].selected
    ((1,), (3,))
    """
    return query_paths(estimator, group(X, y, qid), marked)


def query_paths(
    estimator: LinearRanker, data: GivenData, marked: Iterable[int]
) -> QueryPaths:
    """Select features on the marked queries alone, and on all other queries alone.

    ``marked`` has positions of queries, in order of their first
    document. Each of the two groups needs at least two queries.
    """
    rows = training_data(data)
    Q = rows.ptr.size - 1  # number of queries
    chosen = np.unique(np.array(list(marked), dtype=np.int64))
    if chosen.size and not 0 <= chosen[0] <= chosen[-1] < Q:
        raise ParameterError(
            "marked", chosen.tolist(), f"positions of queries from 0 to {Q - 1}"
        )
    rest = np.setdiff1d(np.arange(Q), chosen)

    # Raises an error for fewer than two queries.
    for part in (chosen, rest):
        enough_queries(part.size, 2, _PURPOSE)

    # STEADY: the same result on any number of threads. The sums over
    # all queries are computed once; `path_of` gets the path on some
    # queries from them.
    with STEADY:
        paths = summed_paths(estimator, rows)
        return QueryPaths(tuple(paths.path_of(chosen)), tuple(paths.path_of(rest)))
