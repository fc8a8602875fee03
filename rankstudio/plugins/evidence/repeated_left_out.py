"""The left-out curve with the whole selection repeated without each query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.analysis.features.set_checks import enough_queries, summed_paths
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arrays import Floats
from rankstudio.engine.language import tr
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.capabilities import PathsFromSums
from rankstudio.engine.methods.selection.base import TIE
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.support.threads import STEADY, pool, share
from rankstudio.engine.support.work import Waiting, finish
from rankstudio.plugins.evidence.partial_result import PartialResult

_PROGRESS_TEXT = "selecting without each query"
_QUERIES_PER_RESULT = 32  # queries between two partial results


@dataclass(frozen=True, eq=False)
class RepeatedLeftOut:
    """Left-out errors of a path, with the selection kept and with the selection repeated without each query.

    Attributes
    ----------
    usual : ndarray of shape (Q, k)
        Squared error on each query of the model trained without the
        query, with the features that are selected on all queries.
    repeated : ndarray of shape (Q, k)
        The same error with the features that are selected without the query.
    empty : ndarray of shape (Q,)
        Error of the model without features on each query.
    selected : tuple of tuple of int
        0-based columns of the path that is selected without each query.
    """

    usual: Floats
    repeated: Floats
    empty: Floats
    selected: tuple[tuple[int, ...], ...]

    @property
    def usual_criterion(self) -> Floats:
        """Leave-query-out error of each step, shape (k,): the criterion of greedy RankRLS."""
        total: Floats = self.usual.sum(axis=0)
        return total

    @property
    def criterion(self) -> Floats:
        """Error of each step with repeated selection, shape (k,)."""
        total: Floats = self.repeated.sum(axis=0)
        return total

    @property
    def optimism(self) -> Floats:
        """Share of the gain over the empty model that is lost with repeated selection, (k,).

        Repeated selection leaves each query out of the selection, too.
        The share is given for the first 1, 2, … k features; NaN where
        nothing is gained.
        """
        loss = self.criterion - self.usual_criterion
        gain = self.empty.sum() - self.usual_criterion
        shares: Floats = np.full_like(gain, np.nan)
        np.divide(loss, gain, out=shares, where=gain > TIE * self.empty.sum())
        return shares

    def no_gain(self, k: int) -> str:
        """Return a sentence that the first k features gain nothing.

        The gain is that of the left-out error over a model without
        features. The result is "" if the features do gain.
        """
        if not np.isnan(self.optimism[k - 1]):
            return ""
        return tr(
            "At k = {k} the left-out error is no lower than without features."
        ).format(k=k)


def repeated_left_out(
    estimator: LinearRanker, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None
) -> RepeatedLeftOut:
    """Repeat the whole selection of greedy RankRLS without each query, and measure it on that query.

    Parameters
    ----------
    estimator : GreedyRankRLS
        Estimator with forward search; it is not fitted here.
    X : array-like of shape (m, n)
        Features; a row is a document.
    y : array-like of shape (m,)
        Labels of the documents.
    qid : array-like of shape (m,)
        Query of each document; at least three queries.

    Returns
    -------
    RepeatedLeftOut
        Errors by number of features.

    Notes
    -----
    The usual curve is optimistic, because the features are selected by
    the errors that it shows; the repeated curve is not. No model is
    trained: the path without query q follows from T - G_q, where G_q is
    the Gram matrix of the query and T the sum of the Gram matrices of
    all queries.

    Examples
    --------
    >>> from rankstudio.engine import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((60, 5)), np.repeat(np.arange(10), 6)
    >>> y = np.round(2 * X[:, 3] + 0.1 * rng.random(60))
    >>> found = repeated_left_out(GreedyRankRLS(n_features_to_select=2), X, y, qid=qid)
    >>> found.usual_criterion.round(2), found.criterion.round(2), abs(found.optimism).round(2)
    (array([4.37, 4.02]), array([4.37, 4.02]), array([0., 0.]))
    """
    return finish(left_out_steps(estimator, group(X, y, qid)))


def left_out_steps(
    estimator: LinearRanker, data: GivenData, earlier: RepeatedLeftOut | None = None
) -> Waiting[RepeatedLeftOut]:
    """Repeat the whole selection without each query, and measure it on that query.

    Parameters
    ----------
    estimator : LinearRanker
        Greedy RankRLS; it is not fitted here.
    data : QueryData or TrainingData
        Documents grouped by query.
    earlier : RepeatedLeftOut, optional
        Result of an interrupted run with the same arguments; its
        queries are not repeated.

    Yields
    ------
    PartialResult
        :class:`RepeatedLeftOut` of the finished queries alone: the errors with
        the selection kept and with it repeated are then of the same queries.

    Returns
    -------
    RepeatedLeftOut
        Errors on each query with the selection kept and with it repeated.
    """
    rows = training_data(data)
    enough_queries(rows.ptr.size - 1, 3, "The repeated selection")

    with STEADY:
        paths = summed_paths(estimator, rows)
        order = paths.path()[-1].selected

        # left-out error (Q,) of each query with the first 0, 1, 2, ...
        # features; `present` is the error with these, before another
        # one is added
        errors = [paths.errors(order[:size]).present for size in range(len(order) + 1)]

    empty = errors[0]

    # Usual errors are those with the selection on all queries, (Q,
    # steps). A path without features has the empty model's errors.
    usual = np.column_stack(errors[1:] or errors)
    repeated = np.empty_like(usual)
    selected: list[tuple[int, ...]] = (
        [()] * paths.n_queries if earlier is None else [*earlier.selected]
    )
    start = 0 if earlier is None else earlier.repeated.shape[0]
    if earlier is not None:
        repeated[:start] = earlier.repeated
        selected += [()] * (paths.n_queries - start)
    left_out = RepeatedLeftOut(
        usual[:start], repeated[:start], empty[:start], tuple(selected[:start])
    )

    with pool() as (executor, workers):

        def learn(query: int) -> None:
            """Select without a query, and measure each step on that query."""
            coefs, selected[query] = _path_without_query(paths, query, usual.shape[1])
            repeated[query] = paths.errors_of(query, coefs)

        for first in range(start, paths.n_queries, _QUERIES_PER_RESULT):
            end = min(first + _QUERIES_PER_RESULT, paths.n_queries)

            # `learn` is called with each query, on all threads.
            with STEADY:
                share(executor, workers, learn, range(first, end))
            left_out = RepeatedLeftOut(
                usual[:end], repeated[:end], empty[:end], tuple(selected[:end])
            )
            yield PartialResult(_PROGRESS_TEXT, end / paths.n_queries, left_out)

    return left_out


def _path_without_query(
    paths: PathsFromSums, query: int, n_steps: int
) -> tuple[list[Floats], tuple[int, ...]]:
    """Return the path of selected features that is learned without a query.

    ``query`` is the position of the query, and ``paths`` has the sums
    of all queries. The path consists of the weights (n,) after each of
    ``n_steps`` steps, and of the features of the last step.
    """
    steps = paths.path_without(np.array([query]))[:n_steps]
    coefs = [step.coef for step in steps]
    # The last model of a path that ends early stands for the missing steps.
    return coefs + coefs[-1:] * (n_steps - len(coefs)), steps[-1].selected
