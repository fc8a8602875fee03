"""Training parts that are some queries of one dataset, and whose matrix is assembled on demand.

Folds that train on overlapping queries would keep many copies of the
same documents. Each of these parts only knows its queries, and of all
parts of a dataset only the last matrix that was assembled is kept.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data import store
from rankstudio.engine.data.comments import TakenComments
from rankstudio.engine.data.dataset import Comments, Fold, RankingDataset, read_only
from rankstudio.engine.support.file_pages import in_file, taken_rows
from rankstudio.engine.support.grades import Grading


class Division(Protocol):
    """Rule that divides a dataset into folds, whose training parts are parts of the whole dataset.

    The rule is a small value, which other processes receive.
    """

    def fold(self, dataset: RankingDataset, number: int) -> Fold:
        """Return the fold with a number, counted from 1."""


class MatrixCache:
    """Cache of the most recently assembled matrix of the parts of a dataset."""

    def __init__(self) -> None:
        # number of the part, and its matrix
        self.last: tuple[int, Floats] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return MatrixCache, ()  # another process assembles matrices of its own


class PartOfWhole(RankingDataset):
    """Some queries of a dataset, whose arrays are assembled when they are accessed.

    Attributes
    ----------
    whole : RankingDataset
        Dataset to which the queries belong.
    number : int
        Number of the part, which no other part of the division has.
    division : Division
        Division that created the part.
    """

    whole: RankingDataset
    number: int
    division: Division
    _matrix_cache: MatrixCache

    def __init__(
        self,
        dataset: RankingDataset,
        number: int,
        division: Division,
        matrix_cache: MatrixCache,
        first: bool,
    ) -> None:
        """Make a part of ``dataset`` without copying.

        ``number`` and ``division`` are attributes of the class;
        ``matrix_cache`` has the matrix of the part that was used last,
        of all parts of the dataset. ``first`` is whether this part
        shows the warnings of the dataset.
        """
        attributes = {
            "whole": dataset,
            "number": number,
            "division": division,
            "_matrix_cache": matrix_cache,
            "feature_ids": dataset.feature_ids,
            "feature_names": dataset.feature_names,
            "source": None,
            "missing": np.zeros(0, dtype=np.int64),
            # of the whole dataset, shown once
            "warnings": dataset.warnings if first else (),
            "sparse": dataset.sparse,
            "file_rows": None,
            "greatest_grade": dataset.greatest_grade,
        }
        # The class is frozen, and other attributes are properties:
        # enter these directly.
        vars(self).update(attributes)

    @property
    def queries(self) -> Ints:
        """Indices of the part's queries in the whole dataset, ascending."""
        raise NotImplementedError

    @property
    def recorded_as(self) -> str:
        """Text that distinguishes the part from other parts of equal data.

        The text is a part of the checksum by which data are recognised.
        """
        raise NotImplementedError

    @property
    def X(self) -> Floats:  # noqa: N802 - inherited
        """The features of the part, shape (m, n), selected when they are accessed.

        Only the matrix of the part that was used last is in memory.
        """
        cache = self._matrix_cache
        # (number of the part, its matrix), or None
        last = cache.last
        if last is not None and last[0] == self.number:
            return last[1]
        # Drop both references to the old matrix, so that its memory is
        # free before another one is assembled.
        del last
        cache.last = None
        X = self._selected_rows(self.whole.X)
        cache.last = self.number, X
        return X

    @property
    def from_disk(self) -> bool:
        """Whether its matrix is mapped from a file, as for the whole dataset."""
        return in_file(self.whole.X)

    @property
    def y(self) -> Floats:  # noqa: D102 - inherited
        return self._selected_rows(self.whole.y)

    @property
    def query_ptr(self) -> Ints:  # noqa: D102 - inherited
        sizes = np.diff(self.whole.query_ptr)[self.queries]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @property
    def query_ids(self) -> tuple[str, ...]:  # noqa: D102 - inherited
        ids = self.whole.query_ids
        return tuple(ids[query] for query in self.queries.tolist())

    @property
    def comments(self) -> Comments:  # noqa: D102 - inherited
        all_comments = self.whole.comments
        return TakenComments(all_comments, self._rows) if len(all_comments) else ()

    @property
    def grading(self) -> Grading:  # noqa: D102 - inherited
        return self.whole.grading.taken(self._rows)

    @property
    def n_documents(self) -> int:  # noqa: D102 - inherited
        return int(np.diff(self.whole.query_ptr)[self.queries].sum())

    @property
    def n_features(self) -> int:  # noqa: D102 - inherited
        return self.whole.n_features

    @property
    def n_queries(self) -> int:  # noqa: D102 - inherited
        return int(self.queries.size)

    @property
    def _rows(self) -> Ints:
        """Indices of the part's rows in the whole dataset."""
        # The first rows of all queries in the whole, and the part's own
        # queries, as indices of these.
        ptr = self.whole.query_ptr
        queries = self.queries
        own_ptr = self.query_ptr
        # A row of the whole is a row of the part plus an offset for each query.
        offsets = ptr[queries] - own_ptr[:-1]
        rows: Ints = np.repeat(offsets, np.diff(own_ptr)) + np.arange(own_ptr[-1])
        return rows

    def _selected_rows(self, values: Floats) -> Floats:
        """Return the part's rows of an array that has a row for each document of the whole dataset.

        If the array is a matrix mapped from a file, the result is mapped, too.
        """
        if in_file(values) and values.ndim > 1:
            return read_only(taken_rows(values, self._rows, store.scratch_folder()))
        return read_only(values[self._rows])
