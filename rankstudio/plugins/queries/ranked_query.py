"""The documents of one query, ranked by two models A and B, with A's scores split by feature."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.comments import document_id
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import convention as find_convention
from rankstudio.engine.metrics.evaluation import rank_order
from rankstudio.engine.statistics.auc import auc_interval
from rankstudio.engine.steps import Step
from rankstudio.plugins.queries.score_contributions import (
    ScoreContributions,
    score_contributions,
)


@dataclass(frozen=True)
class RankedDocument:
    """A document of a query, with its ranks and scores by two models, A and B.

    Attributes
    ----------
    row : int
        Position among the documents of the query in the file, from 0.
    name : str
        Id of the document; its comment if it has no id, or "document 3"
        without a comment.
    comment : str
        Text after ``#`` in the file.
    label : float
    relevant : bool
        Whether the document is relevant by the convention.
    rank_a, rank_b : int
        Rank by each model, from 1.
    score_a, score_b : float
        Score by each model.
    """

    row: int
    name: str
    comment: str
    label: float
    relevant: bool
    rank_a: int
    rank_b: int
    score_a: float
    score_b: float


@dataclass(frozen=True, eq=False)
class RankedQuery:
    """One query with its documents as two models, A and B, rank them.

    Attributes
    ----------
    query_id : str
    documents : tuple of RankedDocument
        Documents in the order of model A.
    contributions : ScoreContributions
        Contributions to A's scores; rows are in the order of A, as ``documents``.
    names : tuple of str
        Names of the features in ``contributions.columns``.
    """

    query_id: str
    documents: tuple[RankedDocument, ...]
    contributions: ScoreContributions
    names: tuple[str, ...]

    @cached_property
    def least(self) -> Floats:
        """Smallest contribution of each feature to a document of this query, shape (s,)."""
        least: Floats = self.contributions.values.min(axis=0)
        return least

    @cached_property
    def above_least(self) -> Floats:
        """Contributions of s features to m documents' scores, minus each feature's smallest one, (m, s).

        The ranking by the sum of these contributions stays the same.
        """
        above: Floats = self.contributions.values - self.least
        return above

    @property
    def offset(self) -> float:
        """Part of the score that all documents of the query share: score minus the sum of `above_least`."""
        return float(self.least.sum()) + self.contributions.constant

    @cached_property
    def by_influence(self) -> tuple[int, ...]:
        """Positions of the features, most discriminating first."""
        spread = self.above_least.mean(axis=0)
        return tuple(np.argsort(-spread, kind="stable").tolist())

    def auc_intervals(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return DeLong's 95 % intervals of the AUC of A and of B."""
        relevant = [document.relevant for document in self.documents]
        of_a = [document.score_a for document in self.documents]
        return auc_interval(of_a, relevant), auc_interval(
            [d.score_b for d in self.documents], relevant
        )

    def decisive_feature(
        self, first: int, second: int
    ) -> tuple[int, float, float] | None:
        """Return the feature that decides which of two documents model A ranks higher.

        Parameters
        ----------
        first, second : int
            Positions in `documents`.

        Returns
        -------
        position, part, lead : int, float, float
            Position of the feature that most favors the document with
            the higher score, its part of the lead, and the lead. Lead
            and part are negative if the second document has the higher
            score. None if the scores are equal, or do not come from
            features.
        """
        # (documents, features): what each feature adds to a score
        values = self.contributions.values
        difference = values[first] - values[second]
        lead = self.documents[first].score_a - self.documents[second].score_a
        if lead == 0 or not difference.size:
            return None
        favor = difference if lead > 0 else -difference
        position = int(np.argmax(favor))
        return position, float(difference[position]), lead


def ranked_query(
    data: RankingDataset,
    position: int,
    a: Step,
    scores_a: Floats,
    scores_b: Floats,
    convention: str,
) -> RankedQuery:
    """Rank the documents of a query by two models.

    Parameters
    ----------
    data : RankingDataset
        Part of a fold.
    position : int
        Position of the query in the part, from 0.
    a : Step
        Model A, whose scores are split into contributions of features.
    scores_a, scores_b : ndarray of shape (m,)
        Scores of both models for all documents of the part.
    convention : str
        Key of the convention, which determines relevance and the order of ties.

    Raises
    ------
    StoreError
        If a study did not store the model.
    """
    begin, end = (int(pointer) for pointer in data.query_ptr[position : position + 2])
    one_query = np.array([0, end - begin])  # bounds of the only query, from 0
    query_scores_a = scores_a[begin:end]
    query_scores_b = scores_b[begin:end]

    # what measures need besides labels, for the documents of this query
    grading = data.grading.taken(slice(begin, end))
    order_a, order_b = (
        rank_order(scores, one_query, convention, grading)
        for scores in (query_scores_a, query_scores_b)
    )

    # The inverse of B's order: the rank, from 1, of each document.
    rank_b = np.empty(order_a.size, dtype=np.int64)
    rank_b[order_b] = np.arange(1, order_a.size + 1)
    least_relevant = find_convention(convention).relevant_from
    contributions = score_contributions(a, data.X[begin:end][order_a], data.feature_ids)
    unnamed = tr("document {number}")
    documents = []

    for rank, row in enumerate(order_a.tolist(), start=1):
        label = float(data.y[begin + row])
        comment = data.comments[begin + row] if data.comments else ""
        name = document_id(comment) or comment.strip() or unnamed.format(number=row + 1)
        documents.append(
            RankedDocument(
                row=row,
                name=name,
                comment=comment,
                label=label,
                relevant=label >= least_relevant,
                rank_a=rank,
                rank_b=int(rank_b[row]),
                score_a=float(query_scores_a[row]),
                score_b=float(query_scores_b[row]),
            )
        )

    names = tuple(data.feature_names[column] for column in contributions.columns)
    return RankedQuery(data.query_ids[position], tuple(documents), contributions, names)
