"""Correlations of sparse features, row by row as they are asked for: all pairs of a million have no room."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Floats


class SparseCorrelations:
    """Pearson's correlations of query-centred columns, read as an array (n, n); 0 for a constant one.

    A row takes O(entries), and is kept. Indices may name few rows, or few columns.

    Parameters
    ----------
    data : SparseQueryData
    """

    def __init__(self, data: SparseQueryData) -> None:
        n = data.X.shape[1]
        self.shape = n, n
        self._data = data
        lengths = np.sqrt(data.squares)
        self._inverse = np.divide(1.0, lengths, out=np.zeros(n), where=lengths > 0)
        self._rows: dict[int, Floats] = {}

    def __getitem__(self, key: Any) -> Any:
        """Return a row, or the correlations of some features with some others."""
        if not isinstance(key, tuple):
            return self._row(int(key))
        one, other = key
        if isinstance(one, slice) or isinstance(other, slice):
            rows = np.array([self._row(int(j)) for j in np.ravel(one if isinstance(other, slice) else other)])
            return rows if isinstance(other, slice) else rows.T
        one = np.asarray(one)
        other = np.asarray(other)
        if one.size > other.size:  # as correlations are symmetric
            one, other = other, one
        places, at = np.unique(one, return_inverse=True)
        rows = np.array([self._row(int(j)) for j in places]).reshape(places.size, -1)
        return rows[at.reshape(one.shape), other]

    def _row(self, column: int) -> Floats:
        if column not in self._rows:
            products = self._data.shifted.T @ self._data.centred_column(column)
            row = np.clip(products * self._inverse * self._inverse[column], -1.0, 1.0)
            self._rows[column] = row
        return self._rows[column]
