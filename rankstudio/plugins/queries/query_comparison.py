"""Comparison of two models query by query: the measure of each model, and which one is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.metrics.conventions import convention as find_convention
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.statistics.paired import (
    WinTieLoss,
    mean_difference,
    win_tie_loss,
)
from rankstudio.engine.steps import Step

Scores = Mapping[int, Floats]
"""Scores of a model in each fold, by the fold's number: one score per document of the part."""


@dataclass(frozen=True)
class ComparedQuery:
    """One query with the measures of two models.

    Attributes
    ----------
    fold : int
        Number of the fold.
    position : int
        Position of the query in the part, from 0.
    query_id : str
    n_documents, n_relevant : int
        Number of documents, and of documents that are relevant by the convention.
    a, b : float
        Measures of models A and B; NaN if undefined.
    """

    fold: int
    position: int
    query_id: str
    n_documents: int
    n_relevant: int
    a: float
    b: float

    @property
    def difference(self) -> float:
        """Measure of B minus measure of A."""
        return self.b - self.a


@dataclass(frozen=True, eq=False)
class QueryComparison:
    """A comparison of two models, A and B, by a measure of each query of some folds.

    Attributes
    ----------
    part : str
        Part of the folds: "test", "vali" or "train".
    measure : str
    convention : str
        Key of the measure's convention.
    queries : tuple of ComparedQuery
        Queries, largest loss of B first; ties in the order of the data.
    """

    part: str
    measure: str
    convention: str
    queries: tuple[ComparedQuery, ...]

    @cached_property
    def a(self) -> Floats:
        """Measure of A, in the order of `queries`, shape (Q,)."""
        return np.array([query.a for query in self.queries])

    @cached_property
    def b(self) -> Floats:
        """Measure of B, in the order of `queries`, shape (Q,)."""
        return np.array([query.b for query in self.queries])

    @cached_property
    def gain(self) -> Floats:
        """Advantage of B in each query, positive if B is better, shape (Q,)."""
        return (
            self.b - self.a
            if find_measure(self.measure).higher_is_better
            else self.a - self.b
        )

    @cached_property
    def counts(self) -> WinTieLoss:
        """Number of queries in which B is better, equal and worse."""
        better = find_measure(self.measure).higher_is_better
        return win_tie_loss(self.b, self.a, higher_is_better=better)

    @cached_property
    def mean_difference(self) -> tuple[float, float, float]:
        """B minus A, mean over the queries, with its 95 % interval (bootstrap over queries)."""
        return mean_difference(self.b, self.a)


def model_scores(step: Step, data: RankingDataset) -> Floats:
    """Return the scores of a model for the documents of a part, shape (m,)."""
    return ScoredPart(data).scores(step)


def query_measures(
    data: RankingDataset, scores: Sequence[Floats], measure: str, convention: str
) -> tuple[Floats, ...]:
    """Return a measure of some models in each query of a part.

    ``scores`` has the scores (m,) of each model for the m documents;
    for each model, an array of shape (Q,) is returned, one value per
    query.
    """
    # `grading` has what measures need besides labels: the greatest
    # grade, and the order of ids.
    evaluator = Evaluator(
        data.y, data.query_ptr, convention, [measure], grading=data.grading
    )
    name = find_measure(measure).name
    return tuple(
        evaluator.per_query(document_scores)[name] for document_scores in scores
    )


def compare_queries(
    folds: Sequence[Fold],
    part: str,
    a: Scores,
    b: Scores,
    measure: str,
    convention: str,
) -> QueryComparison:
    """Compare two models, A and B, by a measure of every query.

    Parameters
    ----------
    folds : sequence of Fold
        Folds; those without this part, or without scores of a model, are skipped.
    part : str
        "test", "vali" or "train".
    a, b : Mapping of int to ndarray of shape (m,)
        Scores of both models for the documents of the part, by fold number.
    measure : str
        Name of the measure.
    convention : str
        Key of the convention, which says which labels are relevant.

    Returns
    -------
    QueryComparison
        All queries of these folds, the largest loss of B first.
    """
    least_relevant = find_convention(convention).relevant_from
    queries: list[ComparedQuery] = []

    for fold in folds:
        data = fold.parts.get(part)
        if data is None or fold.number not in a or fold.number not in b:
            continue
        values = query_measures(
            data, (a[fold.number], b[fold.number]), measure, convention
        )

        # number of relevant documents from the start of each query to the next one
        n_relevant = np.add.reduceat(
            (data.y >= least_relevant).astype(np.int64), data.query_ptr[:-1]
        )
        n_documents = np.diff(data.query_ptr)

        # The fields of ComparedQuery after `position`, in their order.
        columns = (column.tolist() for column in (n_documents, n_relevant, *values))
        rows = zip(data.query_ids, *columns, strict=True)
        queries += [
            ComparedQuery(fold.number, position, *row)
            for position, row in enumerate(rows)
        ]

    # by how much B is better: B minus A, or A minus B for measures that
    # are better if lower
    gains = np.array([query.difference for query in queries])
    if not find_measure(measure).higher_is_better:
        gains = -gains
    order = np.argsort(gains, kind="stable")  # NaN last
    return QueryComparison(
        part, measure, convention, tuple(queries[i] for i in order.tolist())
    )
