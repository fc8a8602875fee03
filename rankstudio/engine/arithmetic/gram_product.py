"""Products with X^'X^, of features centred inside queries, without that matrix."""

from __future__ import annotations

from concurrent.futures import Executor
from itertools import pairwise
from typing import Protocol

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.support.threads import share

# partial sums over queries, which are added in a fixed order for any number of threads
_PARTS = 8


class GramProduct(Protocol):
    """Interface of products X^'X^ v for solvers, which then need no Gram matrix.

    X^ are the features of the training data, centred in each query.

    Attributes
    ----------
    squares : ndarray of shape (n,)
        The diagonal of X^'X^.
    """

    squares: Floats

    def __call__(self, vector: Floats) -> Floats:
        """Return X^'X^v, shape (n,)."""

    def right(self, labels: Floats) -> Floats:
        """Return X^'y^ for centred labels, shape (n,)."""


class DenseGramProduct:
    """Products with X^'X^ for dense features: O(mn)."""

    def __init__(self, data: QueryData) -> None:
        self._X, _ = data.centred
        self.squares: Floats = np.einsum("ij,ij->j", self._X, self._X)

    def __call__(self, vector: Floats) -> Floats:  # noqa: D102 - of the protocol
        product: Floats = (self._X @ vector) @ self._X
        return product

    def right(self, labels: Floats) -> Floats:  # noqa: D102 - of the protocol
        product: Floats = labels @ self._X
        return product


def gram_product(
    data: QueryData | SparseQueryData,
    executor: Executor | None = None,
    workers: int = 1,
) -> GramProduct:
    """Return an object that multiplies vectors with X^'X^, for the features X of training data.

    X^ is X centred in each query. For sparse data, the threads of
    ``executor`` are used, with identical results. ``workers`` is their
    number.
    """
    return (
        SparseGramProduct(data, executor, workers)
        if data.sparse
        else DenseGramProduct(data)
    )


class SparseGramProduct:
    """Products of vectors with X^'X^, where X^ are sparse features, centred in each query.

    A product takes O(entries + n). The result does not depend on the threads.

    Parameters
    ----------
    data : SparseQueryData
        Training data with the features.
    executor : Executor or None
        Threads for blocks of queries.
    workers : int
        Number of threads.
    """

    def __init__(
        self, data: SparseQueryData, executor: Executor | None = None, workers: int = 1
    ) -> None:
        """Prepare the products: cut the queries into parts, each with about as many documents.

        ``workers`` is the number of threads of ``executor``; without an
        executor, this thread computes all parts.
        """
        # The features, shifted so that those constant in a query are 0
        # there, and the squared lengths of the centred columns.
        self._rows = data.shifted.tocsr()
        self._ptr = data.ptr
        self._executor = executor
        self._workers = workers
        self.squares = data.squares
        m = data.y.size
        # Equidistant documents, each moved to the first one of the next
        # query. A long query may contain several; unique leaves one.
        cuts = np.unique(
            np.searchsorted(data.ptr, np.linspace(0, m, _PARTS + 1))
        ).tolist()
        self._ranges = list(pairwise(cuts))
        # Scratch space of the products: the scores, and the result of each part.
        self._scores = np.empty(m)
        self._parts = np.empty((len(self._ranges), self._rows.shape[1]))

    def __call__(self, vector: Floats) -> Floats:
        """Return X^'X^ times a vector (n,), shape (n,)."""
        from rankstudio.engine.arithmetic._sparse_kernel import add_products  # noqa: PLC0415 - numba

        rows = self._rows
        ptr = self._ptr

        def work(part: int) -> None:
            """Compute the product X^'X^ v of the queries of a part, in a row for this part.

            Uses the vector, the features and ``ptr`` of the enclosing method.
            """
            out = self._parts[part]
            first, last = self._ranges[part]
            out[:] = 0.0
            add_products(
                rows.data,
                rows.indices,
                rows.indptr,
                ptr,
                vector,
                first,
                last,
                self._scores,
                out,
            )

        # Threads compute the parts. These are always the same, so that
        # their sum does not depend on the number of threads.
        share(self._executor, self._workers, work, range(len(self._ranges)))
        product: Floats = self._parts.sum(axis=0)
        return product

    def right(self, labels: Floats) -> Floats:  # noqa: D102 - of the protocol
        product: Floats = self._rows.T @ labels
        return product
