"""Queries told by how many documents each has."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.errors import DatasetError


def group_by_size(where: str, sizes: Ints, n_documents: int) -> tuple[Ints, tuple[str, ...]]:
    """Return the first row of each query, and ids "1", "2" …, of queries that have so many documents.

    A query without documents is none, but has its number.

    Raises
    ------
    DatasetError
        Where there are more or fewer documents.
    """
    if int(sizes.sum()) != n_documents:
        raise DatasetError(
            f"{where}: found {n_documents} documents, expected {int(sizes.sum())}, as many as the "
            "queries of the file of sizes beside it have."
        )
    kept = np.flatnonzero(sizes)
    query_ptr = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes[kept])])
    return query_ptr, tuple(str(i + 1) for i in kept.tolist())
