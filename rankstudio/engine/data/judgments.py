"""Judgments of the same documents by several judges: people, a language model, clicks."""

from __future__ import annotations

from dataclasses import dataclass

from rankstudio.engine.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Judgments:
    """Labels of the documents of a dataset by several judges, grouped by query.

    Attributes
    ----------
    names : tuple of str
        Names of the J judges.
    labels : ndarray of shape (m, J)
        Label of each document by each judge; NaN where a judge has not
        judged a document.
    query_ptr : ndarray of shape (Q + 1,)
        First row of each query, followed by m.
    query_ids : tuple of str
        Ids of the queries.
    """

    names: tuple[str, ...]
    labels: Floats
    query_ptr: Ints
    query_ids: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class PartJudgments:
    """Labels of a dataset's documents by several judges, stored as an extension of the dataset.

    Attributes
    ----------
    parts : tuple of Judgments
        Judgments of each part of the first fold of the files.
    """

    parts: tuple[Judgments, ...]
