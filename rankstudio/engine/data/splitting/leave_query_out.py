"""Leave-query-out: a fold for every query, none of which keeps a copy of the data.

Test parts are views of the one matrix. Training parts are put together when they are asked for, and of all of
them only the one asked for last is kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.comments import TakenComments
from rankstudio.engine.data.dataset import Comments, Fold, RankingDataset
from rankstudio.engine.support.grades import Grading


def leave_query_out_folds(data: RankingDataset) -> tuple[Fold, ...]:
    """Return a fold for each query, in the order of the data: tested on it, trained on all others.

    Notes
    -----
    O(Q) memory besides the data for Q queries; each training part costs O(mn) when it is asked for.
    """
    kept = Kept()
    return tuple(left_out_fold(data, query, kept) for query in range(data.n_queries))


class Kept:
    """The matrix that was put together last, and which query is not in it."""

    def __init__(self) -> None:
        self.last: tuple[int, Floats] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept, ()  # another process puts its own together


def left_out_fold(data: RankingDataset, query: int, kept: Kept | None = None) -> Fold:
    """Return the fold that is tested on a query, by its index, and trained on all others.

    Parameters
    ----------
    data : RankingDataset
    query : int
    kept : Kept, optional
        Shared with other folds of these data.
    """
    return Fold(query + 1, LeftOut(data, query, kept or Kept()), None, _alone(data, query))


class LeftOut(RankingDataset):
    """All documents of a dataset but those of one query.

    Attributes
    ----------
    whole : RankingDataset
        All of them.
    query : int
        Index of the query that is left out.
    """

    whole: RankingDataset
    query: int
    _kept: Kept

    def __init__(self, whole: RankingDataset, query: int, kept: Kept) -> None:
        told = {
            "whole": whole,
            "query": query,
            "_kept": kept,
            "feature_ids": whole.feature_ids,
            "feature_names": whole.feature_names,
            "source": None,
            "missing": np.zeros(0, dtype=np.int64),
            "warnings": whole.warnings if query == 0 else (),  # told once
            "sparse": whole.sparse,
            "file_rows": None,
            "greatest_grade": whole.greatest_grade,
        }
        vars(self).update(told)

    @property
    def X(self) -> Floats:  # noqa: D102, N802 - inherited
        kept = self._kept
        last = kept.last
        if last is not None and last[0] == self.query:
            return last[1]
        del last
        kept.last = None  # not two of them at once
        X = self._without(self.whole.X)
        kept.last = self.query, X
        return X

    @property
    def from_disk(self) -> bool:
        """False: the matrix is put together in memory, and not only to be asked."""
        return False

    @property
    def y(self) -> Floats:  # noqa: D102 - inherited
        return self._without(self.whole.y)

    @property
    def query_ptr(self) -> Ints:  # noqa: D102 - inherited
        sizes = np.delete(np.diff(self.whole.query_ptr), self.query)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def query_ids(self) -> tuple[str, ...]:  # noqa: D102 - inherited
        ids = self.whole.query_ids
        return (*ids[: self.query], *ids[self.query + 1 :])

    @property
    def comments(self) -> Comments:  # noqa: D102 - inherited
        whole = self.whole.comments
        rows = np.delete(np.arange(len(whole)), slice(*self._rows))
        return TakenComments(whole, rows) if len(whole) else ()

    @property
    def grading(self) -> Grading:  # noqa: D102 - inherited
        begin, end = self._rows
        return self.whole.grading.taken(np.delete(np.arange(self.whole.n_documents), slice(begin, end)))

    @property
    def n_documents(self) -> int:  # noqa: D102 - inherited
        begin, end = self._rows
        return self.whole.n_documents - (end - begin)

    @property
    def n_features(self) -> int:  # noqa: D102 - inherited
        return self.whole.n_features

    @property
    def n_queries(self) -> int:  # noqa: D102 - inherited
        return self.whole.n_queries - 1

    @property
    def _rows(self) -> tuple[int, int]:
        ptr = self.whole.query_ptr
        return int(ptr[self.query]), int(ptr[self.query + 1])

    def _without(self, values: Floats) -> Floats:
        begin, end = self._rows
        array = np.concatenate([values[:begin], values[end:]])
        array.flags.writeable = False
        return array


def _alone(data: RankingDataset, query: int) -> RankingDataset:
    """Return one query, its arrays views of the data's."""
    begin, end = int(data.query_ptr[query]), int(data.query_ptr[query + 1])
    return replace(
        data,
        X=data.X[begin:end],
        y=data.y[begin:end],
        query_ptr=np.array([0, end - begin], dtype=np.int64),
        query_ids=(data.query_ids[query],),
        comments=TakenComments(data.comments, np.arange(begin, end)) if len(data.comments) else (),
        source=None,
        missing=np.zeros(0, dtype=np.int64),
        warnings=(),
        file_rows=None,
    )
