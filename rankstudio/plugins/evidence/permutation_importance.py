"""Permutation importance within queries: what a given model loses when a feature is permuted."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.analysis.features.set_checks import enough_queries
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError, ParameterError, between
from rankstudio.engine.methods.base import MOST_SEED
from rankstudio.engine.metrics.conventions import DEFAULT, Convention
from rankstudio.engine.metrics.evaluation import (
    check_grade,
    check_scores,
    group_by_query,
)
from rankstudio.engine.metrics.evaluator import (
    Evaluator,
    check_document_ids,
    check_labels,
)
from rankstudio.engine.metrics.names import Measure
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.statistics._checks import checked_level
from rankstudio.engine.statistics.mean_intervals import MeanIntervals, mean_intervals
from rankstudio.engine.support.grades import Grading, greatest, ranks_of_ids
from rankstudio.engine.support.query_ids import check_none_missing
from rankstudio.engine.support.shard import shards_of
from rankstudio.engine.support.work import Waiting, WorkProgress, finish
from rankstudio.plugins.evidence.partial_result import PartialResult

_PERMUTING_TEXT = "permuting features within queries"
_SCORING_TEXT = "scoring without each feature"
# values of the documents that are scored at a time, over all repetitions
_VALUES_PER_BLOCK = 4_000_000
# the standard error falls with the square root: to a hundredth of one
# repetition's
_MAX_REPEATS = 10_000

Score = Callable[[Floats], ArrayLike]
"""Scores documents by their features alone."""


@dataclass(frozen=True, eq=False)
class PermutationImportance:
    """Loss of a model's measure in each query when a feature or a group of features is permuted.

    Attributes
    ----------
    measure : Measure
    groups : tuple of tuple of int
        0-based columns of each of the G groups; by default one group
        per feature.
    baseline : ndarray of shape (Q,)
        Measure of the unchanged model; NaN for queries where it is undefined.
    loss : ndarray of shape (G, Q)
        Loss of the measure with a group permuted, averaged over the
        repetitions. Exactly 0 for features that are constant in the
        query.
    level : float
        Confidence level of the intervals.
    """

    measure: Measure
    groups: tuple[tuple[int, ...], ...]
    baseline: Floats
    loss: Floats
    level: float

    @cached_property
    def intervals(self) -> MeanIntervals:
        """Mean loss of each group over the queries, with Student's interval of the paired differences."""
        return mean_intervals([self.loss], self.level)

    @property
    def mean(self) -> Floats:
        """Mean loss of each group, (G,)."""
        return self.intervals.mean

    @property
    def low(self) -> Floats:
        """Lower ends of the intervals."""
        return self.intervals.low

    @property
    def high(self) -> Floats:
        """Upper ends of the intervals."""
        return self.intervals.high


@dataclass(frozen=True, eq=False)
class MeasuredDocuments:
    """Documents with labels and what a measure needs; the documents of a query may be scattered.

    Attributes
    ----------
    X : ndarray of shape (m, n)
        Features, in memory or mapped from a file.
    y : ndarray of shape (m,)
        Labels in the order of ``rows``.
    rows : ndarray of shape (m,) or slice
        Rows of the documents, query by query.
    ptr : ndarray of shape (Q + 1,)
        Start of each query in ``rows``.
    grading : Grading
        Greatest grade and ranks of the document ids, in the order of ``rows``.
    """

    X: Floats
    y: Floats
    rows: Ints | slice
    ptr: Ints
    grading: Grading

    def features(self, part: slice) -> Floats:
        """Return a copy of the features of some documents, in the order of ``rows``."""
        return np.array(
            self.X[part if isinstance(self.rows, slice) else self.rows[part]],
            dtype=np.float64,
        )


def permutation_importance(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike,
    measure: str | Measure = "NDCG@10",
    n_repeats: int = 10,
    seed: int = 0,
    groups: Sequence[Sequence[int]] | None = None,
    convention: str | Convention = DEFAULT,
    document_ids: Sequence[object] | NDArray[np.generic] | None = None,
    greatest_grade: float | None = None,
    level: float = 0.95,
) -> PermutationImportance:
    """Measure the loss of a given model when each feature is permuted among the documents of each query.

    Parameters
    ----------
    model : object with ``predict``, or callable
        A fitted ranker, a model file or trees; or a function from
        features (m, n) to scores (m,). The score of a document must
        depend only on its own features.
    X : array-like of shape (m, n)
        Features of documents that the model was not trained on. Arrays
        mapped from a file are read in parts.
    y : array-like of shape (m,)
        Relevance labels.
    qid : array-like of shape (m,)
        Query of each document; at least two queries.
    measure : str or Measure, default "NDCG@10"
        Measure whose decrease is the importance.
    n_repeats : int, default 10
        Number of permutations per feature.
    seed : int, default 0
        Equal seeds give equal permutations.
    groups : sequence of sequence of int, optional
        0-based columns that are permuted together, such as correlated
        features; by default each column alone.
    convention, document_ids, greatest_grade
        As in :func:`rankstudio.engine.metrics.evaluation.evaluate`.
    level : float, default 0.95
        Confidence level of the intervals.

    Returns
    -------
    PermutationImportance
        Importance of each feature.

    Notes
    -----
    Values stay within their query, because only documents of a query
    are compared; a permutation over all documents would create values
    that no document of the query could have. The intervals assume
    independent queries; they hold for this model, not for one trained
    without the feature. Correlated features can replace each other:
    permuted one at a time, none may show a loss, so permute them as a
    group. O(R G) predictions for R repetitions and G groups.

    Examples
    --------
    >>> from rankstudio.engine import GreedyRankRLS
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((120, 3)), np.repeat(np.arange(20), 6)
    >>> y = np.round(2 * X[:, 2])
    >>> model = GreedyRankRLS(n_features_to_select=1).fit(X, y, qid=qid)
    >>> found = permutation_importance(model, X, y, qid=qid, measure="NDCG@3")
    >>> found.mean.round(2), bool(found.low[2] > 0)
    (array([0.  , 0.  , 0.42]), True)
    """
    check_none_missing(qid)
    labels = check_labels(y)
    features = np.asarray(X)
    if features.ndim != 2 or features.shape[0] != labels.size:
        expected = f"an array with one row for each of the {labels.size} documents"
        raise ParameterError("X", f"an array of shape {features.shape}", expected)

    # rows in the order of the queries, and the start of each query among them
    rows, ptr, _ = group_by_query(np.asarray(qid), labels.size)
    names = (
        ()
        if document_ids is None
        else check_document_ids(document_ids, labels.size)[rows].tolist()
    )
    grade = (
        greatest(labels)
        if greatest_grade is None
        else check_grade(greatest_grade, labels)
    )

    # The ids order documents with equal scores; they are ranked only if
    # a convention asks for it.
    grading = Grading(grade, partial(ranks_of_ids, names, ptr))
    documents = MeasuredDocuments(features, labels[rows], rows, ptr, grading)
    work = importance_steps(
        score_of(model),
        documents,
        find_measure(measure),
        n_repeats=n_repeats,
        seed=seed,
        groups=groups,
        convention=convention,
        level=level,
    )
    return finish(work)


def score_of(model: Any) -> Score:
    """Return a model's method ``predict``, or the model itself if it is a function.

    The score function takes features (m, n) and returns scores (m,).
    Raise ParameterError for anything else.
    """
    score: Any = getattr(model, "predict", model)
    if not callable(score):
        raise ParameterError(
            "model", type(model).__name__, "a fitted ranker with predict, or a function"
        )
    return score  # type: ignore[no-any-return]


def _check_several_queries(ptr: Ints, purpose: str) -> None:
    """Raise DatasetError if there is only one query: the interval of a loss is over queries.

    ``ptr``, shape (Q + 1,), has the first document of each query, and
    ``purpose`` starts the message.
    """
    if ptr.size == 2:  # a single query
        raise DatasetError(
            f"{purpose}: the interval of a loss is over queries, and all documents are one "
            "ranking. For a selection of features, rankstudio evidence compares halves of "
            "the documents."
        )
    enough_queries(ptr.size - 1, 2, purpose)


def importance_steps(
    score: Score,
    documents: MeasuredDocuments,
    measure: Measure,
    n_repeats: int | None = 10,
    seed: int = 0,
    groups: Sequence[Sequence[int]] | None = None,
    convention: str | Convention = DEFAULT,
    level: float = 0.95,
) -> Waiting[PermutationImportance]:
    """Measure the loss of a model with each group of columns permuted within the queries.

    ``score`` maps features (m, n) of m documents to m scores. The
    result has the measure of the model in each query, and its loss for
    each group in each query.

    If ``n_repeats`` is None, nothing is permuted: the result is the
    loss without each group, for which all documents of a query get the
    query's mean of each column. A weighted sum then ranks as if the
    weights of these columns were 0.

    Yields
    ------
    WorkProgress
        One per group; after some of the queries a :class:`PartialResult` with a
        :class:`PermutationImportance`.
    """
    n = documents.X.shape[1]
    ptr = documents.ptr
    repeats = (
        0 if n_repeats is None else between("n_repeats", n_repeats, 1, _MAX_REPEATS)
    )
    start = between("seed", seed, 0, MOST_SEED)  # the seed, if it is valid
    checked_level(level)
    column_groups = _checked_groups(groups, n)
    stage = _PERMUTING_TEXT if repeats else _SCORING_TEXT
    _check_several_queries(
        ptr, "Permutation importance" if repeats else "The loss without a feature"
    )

    # A generator per repetition, so that permutations do not depend on
    # their number.
    draws = [np.random.default_rng([start, number]) for number in range(repeats)]
    baseline = np.empty(ptr.size - 1)
    loss = np.empty((len(column_groups), ptr.size - 1))

    # Parts of whole queries, small enough for a copy of their features
    # per repetition.
    for shard in shards_of(ptr, max(1, _VALUES_PER_BLOCK // (n * max(1, repeats)))):
        first = shard.first_query
        last = shard.end_query
        part = shard.rows
        local_ptr = ptr[first : last + 1] - part.start
        graded = documents.grading.taken(part)
        evaluator = Evaluator(
            documents.y[part], local_ptr, convention, [measure], grading=graded
        )
        measured = _losses_of_queries(
            score, documents.features(part), local_ptr, evaluator, column_groups, draws
        )

        # the baseline first, then one loss per group
        for index, values in enumerate(measured):
            if index == 0:
                baseline[first:last] = values
            else:
                loss[index - 1, first:last] = values
                n_finished = first + (last - first) * index / len(column_groups)
                yield WorkProgress(stage, n_finished / (ptr.size - 1))
        importance = PermutationImportance(
            measure, column_groups, baseline[:last], loss[:, :last], level
        )
        yield PartialResult(stage, last / (ptr.size - 1), importance)

    return importance


def _checked_groups(
    groups: Sequence[Sequence[int]] | None, n: int
) -> tuple[tuple[int, ...], ...]:
    """Return groups of columns as tuples; raise ParameterError unless they fit n columns.

    By default, each of the n columns is a group.
    """
    if groups is None:
        return tuple((column,) for column in range(n))
    checked = tuple(tuple(int(column) for column in group) for group in groups)

    for group in checked:
        if (
            not group
            or len(set(group)) < len(group)
            or not all(0 <= column < n for column in group)
        ):
            expected = f"nonempty lists of distinct columns from 0 to {n - 1}"
            raise ParameterError(
                "groups", [list(columns) for columns in checked], expected
            )

    if not checked:
        raise ParameterError("groups", [], "at least one group")
    return checked


def _losses_of_queries(
    score: Score,
    X: Floats,
    ptr: Ints,
    evaluator: Evaluator,
    groups: Sequence[tuple[int, ...]],
    draws: Sequence[np.random.Generator],
) -> Generator[Floats, None, None]:
    """Yield the measure of the model in each query, then the loss of each group in each query.

    Each yielded array has the shape (Q,), for Q queries that start at
    ``ptr[:-1]`` in the rows of ``X``, (m, n). ``draws`` has a random
    generator per repetition.

    Each repetition draws one random number per document, in the order
    of the documents, so that the numbers do not depend on the division
    of the queries into parts. Within each query, the documents sorted
    by these numbers give their values of a group to the documents in
    the original order. Without draws, all documents get the mean of
    their query instead.
    """
    m, n = X.shape
    repeats = max(1, len(draws))
    sizes = np.diff(ptr)
    (measure,) = evaluator.measures
    query = np.repeat(np.arange(sizes.size), sizes)

    # by query first, then by the random numbers: a permutation within
    # each query
    orders = [np.lexsort((draw.random(size=(m,)), query)) for draw in draws]
    sign = 1.0 if measure.higher_is_better else -1.0
    baseline = evaluator.per_query(check_scores(score(X), m))[measure.name]
    yield baseline

    # all repetitions below each other, so that the model scores them in
    # one call
    copies = np.tile(X, (repeats, 1))

    for group in groups:
        columns = list(group)
        changed = np.zeros(ptr.size - 1)
        values = X[:, columns]

        # Columns that are constant in a query cannot change its
        # ranking, (Q, columns).
        varies = np.maximum.reduceat(values, ptr[:-1]) != np.minimum.reduceat(
            values, ptr[:-1]
        )
        if varies.any():
            means = np.add.reduceat(values, ptr[:-1]) / sizes[:, None]
            replacements = [values[order] for order in orders] or [means[query]]
            for number, replacement in enumerate(replacements):
                copies[number * m : (number + 1) * m, columns] = replacement
            scores = check_scores(score(copies), repeats * m).reshape(repeats, m)
            measured = evaluator.per_query_many(scores)[measure.name]
            changed = sign * (baseline - measured).mean(axis=0)

            # the original values again
            copies.reshape(repeats, m, n)[:, :, columns] = values
        changed[~varies.any(axis=1)] = 0.0
        yield np.where(np.isnan(baseline), np.nan, changed)
