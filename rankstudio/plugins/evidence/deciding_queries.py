"""Deciding queries: small groups of queries without which a step chooses another feature."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.analysis.features.set_checks import enough_queries, summed_paths
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.capabilities import PathsFromSums
from rankstudio.engine.methods.foreign.instances import as_method
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import prefer
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.support.threads import STEADY
from rankstudio.engine.support.work import Waiting, finish
from rankstudio.plugins.evidence.decided_step import MOST_REFITS, DecidedStep
from rankstudio.plugins.evidence.deciding_by_margins import margin_steps
from rankstudio.plugins.evidence.deciding_by_refits import refit_steps
from rankstudio.plugins.evidence.partial_result import PartialResult

_PROGRESS_TEXT = "searching for deciding queries"
# rivals of a step: the runner-up is not always the one that needs the
# fewest queries
_N_TRIED_RIVALS = 3


def deciding_queries(
    estimator: LinearRanker, X: ArrayLike, y: ArrayLike, *, qid: ArrayLike | None
) -> tuple[DecidedStep, ...]:
    """Find a small group of queries for each step of a selector without which it selects another feature.

    Parameters
    ----------
    estimator : Selector
        Any selector, also of another library; it is not fitted here.
    X : array-like of shape (m, n)
        Features; a row is a document.
    y : array-like of shape (m,)
        Labels of the documents.
    qid : array-like of shape (m,)
        Query of each document.

    Returns
    -------
    tuple of DecidedStep
        One per feature. Steps that select a pinned feature have no
        deciding queries.

    Notes
    -----
    The earlier features stay unchanged. For greedy RankRLS, the queries
    are removed in order of the step feature's advantage over a rival in
    their left-out error. Each change is verified by selecting again
    without the queries, and again with the last one put back. A smaller
    set of other queries may exist. If the number of queries differs
    from its estimate by d, a step is computed O(log d) times.

    For selectors whose scores are divided among the queries, nothing is
    selected again, and the numbers are approximate (``exact`` is
    False): see
    :func:`rankstudio.plugins.evidence.deciding_by_margins.margin_steps`. All
    others are trained again: see
    :func:`rankstudio.plugins.evidence.deciding_by_refits.refit_steps`.

    Examples
    --------
    >>> from rankstudio.engine import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((60, 5)), np.repeat(np.arange(10), 6)
    >>> y = X[:, 3] + 0.9 * X[:, 1]
    >>> deciding_queries(GreedyRankRLS(n_features_to_select=1), X, y, qid=qid)
    (DecidedStep(feature=3, queries=(1, 3, 2), instead=1, exact=True),)
    """
    return finish(deciding_steps(as_method(estimator), group(X, y, qid)))


def deciding_steps(
    estimator: LinearRanker,
    data: GivenData,
    n_features: int | None = None,
    n_refits: int = MOST_REFITS,
) -> Waiting[tuple[DecidedStep, ...]]:
    """Find a small group of queries for each step without which it selects another feature.

    Parameters
    ----------
    estimator : LinearRanker
        Any selector; it is not fitted here.
    data : QueryData or TrainingData
        Documents grouped by query.
    n_features : int, optional
        Number of features whose steps are examined, for other selectors
        than greedy RankRLS.
    n_refits : int
        Maximum number of times that a selector is trained again if
        there is no faster way.

    Yields
    ------
    WorkProgress
        For greedy RankRLS a :class:`PartialResult` with the
        :class:`DecidedStep` of each finished step.

    Returns
    -------
    tuple of DecidedStep
        One per feature.
    """
    rows = training_data(data)

    # Three ways, the best first: paths from sums over queries are exact
    # and fast, scores divided among the queries give an estimate, and
    # the rest is trained again.
    prepare_paths = estimator.paths_from_sums(rows)
    if prepare_paths is None and isinstance(estimator, Selector):
        k = (
            n_features
            or getattr(estimator, "n_features_to_select", None)
            or rows.X.shape[1]
        )
        if estimator.compared_by_query(rows, min(k, rows.X.shape[1])) is not None:
            return (yield from margin_steps(estimator, rows, n_features))
        return (yield from refit_steps(estimator, rows, n_features, n_refits))

    # One query is removed at least, and two must remain.
    enough_queries(rows.ptr.size - 1, 3, "Deciding queries")

    # STEADY: the same result on any number of threads
    with STEADY:
        search = _QuerySearch(summed_paths(estimator, rows))
    steps: tuple[DecidedStep, ...] = ()

    for step in range(len(search.selected)):
        with STEADY:
            steps = (*steps, search.decided(step))
        yield PartialResult(_PROGRESS_TEXT, len(steps) / len(search.selected), steps)

    return steps


class _QuerySearch:
    """A search for the deciding queries of each step of a path, by paths from sums over queries."""

    def __init__(self, paths: PathsFromSums) -> None:
        self._paths = paths
        steps = paths.path()
        self.selected = steps[-1].selected
        self._candidate_scores = [step.candidates for step in steps]

    def decided(self, step: int) -> DecidedStep:
        """Return the smallest group of deciding queries found for a step, counted from 0.

        Queries that favor the selected feature most over a rival are
        removed first; a few rivals are tried.
        """
        winner = self.selected[step]
        earlier_features = self.selected[:step]
        best = DecidedStep(winner, (), None)
        if step < self._paths.n_pinned:  # selected whatever the queries say
            return best

        # left-out error of each query with each feature added, shape (Q, n)
        errors = self._paths.errors(earlier_features).added

        for rival in self._rivals(step, errors):
            lead = errors[:, rival] - errors[:, winner]
            order = np.argsort(-lead, kind="stable")
            candidate = self._fewest_queries(
                step, order, _n_queries_to_remove(lead[order])
            )
            if candidate.queries and (
                not best.queries or len(candidate.queries) < len(best.queries)
            ):
                best = candidate

        return best

    def _rivals(self, step: int, errors: Floats) -> list[int]:
        """Return the features that seem to be selected at a step after the fewest queries are removed.

        ``step`` is the number of the step, from 0. ``errors``, shape
        (Q, n), are the errors of Q queries with each of n features
        added.
        """
        winner = self.selected[step]
        scores = self._candidate_scores[step]

        # Features that are constant in every query are candidates only
        # if all are.
        candidates = prefer(np.flatnonzero(~np.isnan(scores)), self._paths.informative)
        candidates = candidates[candidates != winner]

        # Leads of the winner over each candidate in the queries, the
        # greatest first.
        leads = -np.sort(errors[:, [winner]] - errors[:, candidates], axis=0)
        needed = np.array(
            [_n_queries_to_remove(leads[:, index]) for index in range(candidates.size)]
        )

        # By the number of queries first, then by score: the criterion
        # with each candidate, an error.
        order = np.lexsort((scores[candidates], needed))
        return [int(rival) for rival in candidates[order[:_N_TRIED_RIVALS]]]

    def _fewest_queries(self, step: int, order: Ints, estimate: int) -> DecidedStep:
        """Find how many queries from the start of ``order`` must be removed to change what a step selects.

        The search starts from the number ``estimate`` and widens by
        doubled strides, up and then down, so that a good estimate takes
        few trials. The result has these queries, or no queries if no
        number up to a limit changes the selection.
        """
        winner = self.selected[step]

        # At least two queries remain; the estimate bounds how many are
        # worth a trial.
        limit = min(order.size - 2, 2 * estimate + 8)
        count = min(max(1, estimate), limit)
        stride = 1
        lower = 0  # the step selects the same feature without the first `lower` queries

        while (instead := self._chosen_without(step, order[:count])) == winner:
            if count >= limit:
                return DecidedStep(winner, (), None)
            lower = count
            count = min(count + stride, limit)
            stride = 2 * stride

        stride = 1

        while count - lower > 1:
            fewer = max(count - stride, (count + lower) // 2)
            chosen = self._chosen_without(step, order[:fewer])
            if chosen == winner:
                lower = fewer
            else:
                count = fewer
                instead = chosen
                stride = 2 * stride

        return DecidedStep(winner, tuple(order[:count].tolist()), instead)

    def _chosen_without(self, step: int, removed: Ints) -> int | None:
        """Return the feature that a step selects without some queries; None if it selects none."""
        steps = self._paths.path_without(removed, self.selected[:step])
        return steps[-1].selected[step] if len(steps[-1].selected) > step else None


def _n_queries_to_remove(lead: Floats) -> int:
    """Return how many of the leads, greatest first, must be removed for a sum below 0.

    ``lead`` has, for each query, greatest first, by how much the query
    favors one feature over another. The result is the number of all
    leads if no number suffices.
    """
    rest = lead.sum() - np.cumsum(lead)
    return int(np.argmax(rest < 0)) + 1 if (rest < 0).any() else lead.size
