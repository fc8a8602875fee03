"""Correlations of sparse features, computed row by row on demand: all pairs would not fit in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Floats


class SparseCorrelations:
    """Pearson's correlations of features centred in each query, read like an array (n, n).

    A constant feature has correlations of 0. A row takes O(entries),
    and is cached. An index should select few rows, or few columns.

    Parameters
    ----------
    data : SparseQueryData
        Training data with the n features.
    """

    def __init__(self, data: SparseQueryData) -> None:
        """Prepare the correlations; rows are computed when they are needed, and cached.

        A correlation is the inner product of two centred columns
        divided by their lengths. The inverse of each length is stored,
        0 for a length of
        0.
        """
        n = data.X.shape[1]
        self.shape = n, n
        self._data = data
        lengths = np.sqrt(data.squares)
        self._inverse = np.divide(1.0, lengths, out=np.zeros(n), where=lengths > 0)
        self._rows: dict[int, Floats] = {}

    def __getitem__(self, key: Any) -> Any:
        """Return a row, or the correlations of some features with some others.

        As in NumPy, the key is a row, or (rows, columns): arrays that
        are paired, or an array and the slice of all features.
        """
        if not isinstance(key, tuple):
            return self._row(int(key))
        first, second = key
        # The matrix is symmetric: columns are rows, and the two indices
        # may be exchanged.
        if isinstance(second, slice):
            return np.array([self._row(int(j)) for j in np.ravel(first)])
        if isinstance(first, slice):
            return np.array([self._row(int(j)) for j in np.ravel(second)]).T
        first = np.asarray(first)
        second = np.asarray(second)
        # Fewer rows are needed if the shorter index gives these.
        if first.size > second.size:
            first, second = second, first
        features, indices = np.unique(first, return_inverse=True)
        rows = np.array([self._row(int(j)) for j in features]).reshape(
            features.size, -1
        )
        return rows[indices.reshape(first.shape), second]

    def _row(self, column: int) -> Floats:
        """Return the correlations of a feature with all, computed once."""
        if column not in self._rows:
            products = self._data.shifted.T @ self._data.centred_column(column)
            row = np.clip(products * self._inverse * self._inverse[column], -1.0, 1.0)
            self._rows[column] = row
        return self._rows[column]
