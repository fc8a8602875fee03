"""Leave-query-out: a fold for every query, none of which keeps a copy of the data.

Test parts are views of the whole matrix. The matrix of a training part
is assembled on demand, and only the last one assembled is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.comments import TakenComments
from rankstudio.engine.data.dataset import Fold, RankingDataset
from rankstudio.engine.data.splitting.part_of_whole import MatrixCache, PartOfWhole
from rankstudio.engine.support.sparse_rows import concatenated


def leave_query_out_folds(data: RankingDataset) -> tuple[Fold, ...]:
    """Return a fold for each query, in the order of the data.

    The test part is the query, and the training part all other queries.

    Notes
    -----
    O(Q) memory besides the data for Q queries; each training part costs O(mn) on first use.
    """
    matrix_cache = MatrixCache()
    return tuple(
        left_out_fold(data, query, matrix_cache) for query in range(data.n_queries)
    )


def left_out_fold(
    data: RankingDataset, query: int, matrix_cache: MatrixCache | None = None
) -> Fold:
    """Return the fold that is tested on one query and trained on all others.

    The number of the fold is the index of the query plus 1. There is no
    validation part.

    Parameters
    ----------
    data : RankingDataset
        All documents.
    query : int
        Index of the test query, from 0.
    matrix_cache : MatrixCache, optional
        Cache shared with the other folds of these data.
    """
    # The parts are train, vali (None) and test.
    return Fold(
        query + 1,
        LeftOut(data, query, matrix_cache or MatrixCache()),
        None,
        _single_query(data, query),
    )


@dataclass(frozen=True)
class EachQueryLeftOut:
    """The division into folds with one test query each."""

    def fold(self, dataset: RankingDataset, number: int) -> Fold:
        """Return the fold that leaves out query ``number``, counted from 1."""
        return left_out_fold(dataset, number - 1)


class LeftOut(PartOfWhole):
    """All documents of a dataset except those of one query, as a training part.

    Attributes
    ----------
    query : int
        Index of the left-out query.
    """

    def __init__(
        self, dataset: RankingDataset, query: int, matrix_cache: MatrixCache
    ) -> None:
        super().__init__(
            dataset, query, EachQueryLeftOut(), matrix_cache, first=query == 0
        )

    @property
    def query(self) -> int:  # noqa: D102 - of the class
        return self.number

    @property
    def queries(self) -> Ints:  # noqa: D102 - inherited
        return np.delete(np.arange(self.whole.n_queries), self.query)

    @property
    def recorded_as(self) -> str:  # noqa: D102 - inherited
        return f"without query {self.query}"

    @property
    def from_disk(self) -> bool:
        """False: the matrix is assembled in memory."""
        return False

    @property
    def n_documents(self) -> int:  # noqa: D102 - inherited
        begin, end = self._excluded_rows
        return self.whole.n_documents - (end - begin)

    @property
    def n_queries(self) -> int:  # noqa: D102 - inherited
        return self.whole.n_queries - 1

    @property
    def _excluded_rows(self) -> tuple[int, int]:
        """Rows of the left-out query in the whole dataset.

        The tuple has the first row of the query, and the row behind its
        last row.
        """
        ptr = self.whole.query_ptr
        return int(ptr[self.query]), int(ptr[self.query + 1])

    def _selected_rows(self, values: Floats) -> Floats:
        begin, end = self._excluded_rows
        array: Floats = concatenated([values[:begin], values[end:]])
        array.flags.writeable = False
        return array


def _single_query(data: RankingDataset, query: int) -> RankingDataset:
    """Return a dataset of one query, by its index from 0.

    The arrays of the result are views of the whole data: nothing is copied.
    """
    begin = int(data.query_ptr[query])
    end = int(data.query_ptr[query + 1])
    return replace(
        data,
        X=data.X[begin:end],
        y=data.y[begin:end],
        query_ptr=np.array([0, end - begin], dtype=np.int64),
        query_ids=(data.query_ids[query],),
        # Data without comments have an empty sequence of them.
        comments=TakenComments(data.comments, np.arange(begin, end))
        if len(data.comments)
        else (),
        source=None,
        missing=np.zeros(0, dtype=np.int64),
        warnings=(),
        file_rows=None,
    )
