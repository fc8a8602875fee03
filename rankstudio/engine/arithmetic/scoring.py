"""Scores of linear models, summed in one fixed order.

A matrix product may sum equal rows in different orders, depending on
their position in the matrix. The scores of two documents with the same
features would then differ by rounding, and a tie that should keep the
order of the file would be broken by accident. Here the score of every
document is summed in the order of the columns, so that equal documents
have equal scores, and a model has the same scores alone as among
others, on every machine.
"""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.sparse_rows import SparseColumns


def linear_scores(columns: Floats | SparseColumns, coefs: Floats) -> Floats:
    """Score documents with linear models.

    Parameters
    ----------
    columns : ndarray of shape (n, m), C order, or SparseColumns
        Features of the documents, one row per feature:
        ``np.ascontiguousarray(X.T)``.
    coefs : ndarray of shape (K, n)
        Weights, one row per model.

    Returns
    -------
    ndarray of shape (K, m)
        Score of each document with each model: ``coefs @ X.T``, summed
        from the first feature to the last over the nonzero weights.

    Notes
    -----
    O(m · number of nonzero weights).
    """
    # The transpose of sparse columns is a sparse matrix with a row per document.
    if isinstance(columns, SparseColumns):
        return columns.T.scores(coefs)
    from rankstudio.engine.arithmetic._rows_kernel import accumulate  # noqa: PLC0415 - numba, where it is needed

    out = np.zeros((coefs.shape[0], columns.shape[1]))
    accumulate(columns, np.ascontiguousarray(coefs), out)
    return out
