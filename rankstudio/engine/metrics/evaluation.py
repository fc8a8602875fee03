"""Measuring one ranking: labels, scores and query ids go in, averages and values per query come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.metrics.conventions import DEFAULT, Convention, rules_text
from rankstudio.engine.metrics.conventions import convention as find_convention
from rankstudio.engine.metrics.evaluator import (
    Evaluator,
    average,
    check_document_ids,
    check_labels,
    check_query_ptr,
    reading_order,
)
from rankstudio.engine.metrics.names import LETOR_MEASURES, ByMeasure, Measure, measure
from rankstudio.engine.support.grades import Grading, greatest, ranks_of_ids
from rankstudio.engine.support.query_ids import check_none_missing


@dataclass(frozen=True, eq=False)
class Evaluation(Mapping[str, float]):
    """Measures of one ranking: a mapping from a measure's name to its average over the queries.

    The names are the requested ones, such as ``"nDCG@10"`` or ``"AP"``;
    any other name of the same measure gives the same value.

    Attributes
    ----------
    convention : Convention
        Convention of the measures.
    query_ids : ndarray of shape (Q,)
        Query ids, in order of first appearance.
    per_query : dict of str to ndarray of shape (Q,)
        Each measure in each query, in that order; NaN for an undefined
        disagreement error.
    greatest_grade : float
        Grade for ERR: that of the convention, or of the dataset.
    auc_interval : tuple of float, optional
        DeLong's 95 % interval of the AUC on a single query, if it was requested.
    """

    convention: Convention
    query_ids: NDArray[np.generic]
    per_query: Mapping[str, Floats]
    greatest_grade: float = 0.0
    auc_interval: tuple[float, float] | None = None

    def __getitem__(self, name: str) -> float:
        return float(average(self.per_query[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(self.per_query)

    def __len__(self) -> int:
        return len(self.per_query)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}: {value:.4f}" for name, value in self.items())
        rules = rules_text(self.convention.key, self)
        return f"<Evaluation of {len(self.query_ids)} queries, {rules}: {values}>"


def evaluate(
    y: ArrayLike,
    scores: ArrayLike,
    qid: ArrayLike,
    *,
    convention: str | Convention = DEFAULT,
    measures: Sequence[str | Measure] | None = None,
    document_ids: Sequence[object] | NDArray[np.generic] | None = None,
    greatest_grade: float | None = None,
) -> Evaluation:
    """Compute the measures of a ranking.

    Parameters
    ----------
    y : array-like of shape (m,)
        Relevance labels. Negative labels have gain 0 and are not
        relevant, in every convention.
    scores : array-like of shape (m,)
        Scores; larger is better. Infinite scores rank first and last.
    qid : array-like of shape (m,)
        Query id of each document, numbers or text. Documents of a query
        need not be consecutive; they keep their order.
    convention : str or Convention
        ``"standard"``, ``"letor4"``, ``"letor3"``, ``"mslr"``,
        ``"ranklib"``, ``"trec_eval"``, ``"lightgbm"`` or ``"sklearn"``.
        Arrays have no origin: name the convention of LETOR's data.
    measures : sequence of str or Measure, optional
        By default the measures of LETOR's script: NDCG@1 … NDCG@10,
        MeanNDCG, P@1 … P@10 and MAP.
    document_ids : array-like of shape (m,), optional
        For conventions that order equal scores by document id, compared
        as text, in descending order. In a query with an empty id, or
        without ids, the later document comes first.
    greatest_grade : float, optional
        Largest label of the whole dataset, used by ERR; by default that of ``y``.

    Returns
    -------
    Evaluation
        Averages by name, and the values per query.

    Raises
    ------
    ParameterError
        For an unknown convention or measure, or different lengths.
    DatasetError
        For no documents, a NaN score, or a label that is not finite or
        has an infinite gain.

    Notes
    -----
    O(m log m). To measure many models on the same documents, create an ``Evaluator``.

    Examples
    --------
    >>> from rankstudio.engine import evaluate
    >>> result = evaluate([0, 2, 1], [0.1, 0.9, 0.5], ["q1", "q1", "q1"], measures=["MAP", "P@10"])
    >>> dict(result)
    {'MAP': 1.0, 'P@10': 0.2}
    """
    # Check the labels and scores.
    check_none_missing(qid)
    labels = check_labels(y)
    ids = np.asarray(qid)
    values = check_scores(scores, labels.size)
    # Sort the documents by query; ids of documents may decide between equal scores.
    rows, query_ptr, query_ids = group_by_query(ids, labels.size)
    names = (
        ()
        if document_ids is None
        else check_document_ids(document_ids, labels.size)[rows].tolist()
    )
    # The greatest grade, by default the greatest label.
    grade = (
        greatest(labels)
        if greatest_grade is None
        else check_grade(greatest_grade, labels)
    )
    chosen = LETOR_MEASURES if measures is None else measures
    # The ranks of the ids are only computed if the convention needs them.
    grading = Grading(grade, partial(ranks_of_ids, names, query_ptr))
    evaluator = Evaluator(labels[rows], query_ptr, convention, chosen, grading=grading)
    used_grade = evaluator.convention.greatest_grade or grade
    # Measure each query, and name the measures as the caller does.
    per_query = evaluator.per_query(values[rows])
    by_name = {_name_as_written(name): per_query[measure(name).name] for name in chosen}
    return Evaluation(
        evaluator.convention,
        query_ids,
        per_query=ByMeasure(by_name),
        greatest_grade=used_grade,
    )


def _name_as_written(name: str | Measure) -> str:
    return name.strip() if isinstance(name, str) else name.name


def check_grade(grade: float, labels: Floats) -> float:
    """Check and return the largest grade of a dataset as a float.

    Raise ParameterError if ``grade`` is no number, or a label in
    ``labels`` (m,) is larger.
    """
    # NaN stands for anything but a number.
    try:
        value = float(grade)
    except (TypeError, ValueError):
        value = np.nan
    if not (np.isfinite(value) and value >= greatest(labels)):
        expected = (
            f"a number from {greatest(labels):g} up, the greatest label in the data"
        )
        raise ParameterError("greatest_grade", grade, expected)
    return value


def check_scores(scores: ArrayLike, n_documents: int) -> Floats:
    """Check and return the scores of one model as float64 of shape (m,).

    Raises
    ------
    ParameterError
        Unless there is one number per document.
    DatasetError
        For a NaN score; the message gives the number of the document, from 1.
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("scores", scores, "one number for each document") from None
    if values.shape != (n_documents,):
        raise ParameterError(
            "scores",
            f"an array of shape {values.shape}",
            f"one score for each of the {n_documents} documents",
        )
    wrong = np.flatnonzero(np.isnan(values))
    if wrong.size:
        raise DatasetError(
            f"The score of document {wrong[0] + 1} is not a number (NaN); expected a number."
        )
    return values


def group_by_query(
    qid: NDArray[np.generic], n_documents: int
) -> tuple[Ints | slice, Ints, NDArray[np.generic]]:
    """Group documents by query, in order of first appearance.

    Parameters
    ----------
    qid : ndarray of shape (m,)
        Query id of each document.
    n_documents : int
        m, for the check.

    Returns
    -------
    rows : ndarray of shape (m,) or slice
        Documents in grouped order; within a query the order is kept.
        ``slice(None)`` if they are already grouped.
    query_ptr : ndarray of shape (Q + 1,)
        First document of each query in this order, followed by m.
    query_ids : ndarray of shape (Q,)
        Id of each query.

    Raises
    ------
    ParameterError
        Unless there is one query id per document.
    """
    expected = f"one query id for each of the {n_documents} documents"
    if qid.shape != (n_documents,):
        raise ParameterError("qid", f"an array of shape {qid.shape}", expected)
    # Objects of different types cannot be sorted, but their texts can.
    ids = qid.astype(np.str_) if qid.dtype.kind == "O" else qid
    # A block are consecutive documents of the same query; these are its
    # first documents.
    starts = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    unique, first, inverse = np.unique(
        ids[starts], return_index=True, return_inverse=True
    )
    # Every query is a single block, so the documents are grouped already.
    if unique.size == starts.size:
        return slice(None), np.append(starts, n_documents), qid[starts]
    # np.unique sorts the ids. `position` has, for each id of this
    # sorted order, its position among the ids by first appearance.
    appearance = np.argsort(first)
    position = np.empty_like(appearance)
    position[appearance] = np.arange(unique.size)
    block_sizes = np.diff(np.append(starts, n_documents))
    query = np.repeat(position[inverse], block_sizes)
    query_ptr = np.append(0, np.cumsum(np.bincount(query)))
    return np.argsort(query, kind="stable"), query_ptr, qid[starts[first[appearance]]]


def rank_order(
    scores: ArrayLike,
    query_ptr: ArrayLike,
    convention: str | Convention,
    grading: Grading | None = None,
) -> Ints:
    """Return the documents of each query in rank order.

    Parameters
    ----------
    scores : array-like of shape (m,)
    query_ptr : array-like of shape (Q + 1,)
        First document of each query, followed by m.
    convention : str or Convention
        Key of the convention, which determines the order of ties. If it
        averages over all orders, ties keep the order of the file.
    grading : Grading, optional
        Ids of the documents, for conventions that use them.

    Returns
    -------
    ndarray of shape (m,)
        Rows; those of query q are ``query_ptr[q]:query_ptr[q + 1]``.

    Raises
    ------
    ParameterError
        For inconsistent shapes.
    DatasetError
        For a NaN score.

    Notes
    -----
    O(m log m). :class:`rankstudio.engine.metrics.evaluator.Evaluator`
    measures this order.

    Examples
    --------
    >>> rank_order([0.1, 0.9, 0.9], [0, 3], "letor4").tolist()
    [1, 2, 0]
    """
    rules = find_convention(convention) if isinstance(convention, str) else convention
    n_documents = np.shape(scores)[0] if np.ndim(scores) else 0
    ptr = check_query_ptr(query_ptr, n_documents)
    values = check_scores(scores, n_documents)
    # The greatest grade, 0, is not used for an order. `last_first` asks
    # for equal scores as they are ranked.
    order = reading_order(ptr, rules, grading or Grading(0.0), last_first=True)
    # None: documents with equal scores keep the order of the file.
    tie_order = np.arange(n_documents) if order is None else order
    query = np.repeat(np.arange(ptr.size - 1), np.diff(ptr))
    # The sort is stable: documents with equal scores keep the order of ties.
    return tie_order[np.lexsort((-values[tie_order], query))].astype(np.int64)
