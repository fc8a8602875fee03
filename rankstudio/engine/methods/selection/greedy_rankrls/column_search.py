"""On-demand searches, which store nothing for candidates.

The products of candidates come from Gram matrices, or are computed from sparse columns.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Protocol

import numpy as np

from rankstudio.engine.arithmetic.nested_rankrls import factorise
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.selection.greedy_rankrls import (
    _column_products_kernel as column_kernels,
)
from rankstudio.engine.methods.selection.greedy_rankrls import (
    _column_search_kernel as kernels,
)
from rankstudio.engine.support.threads import STEADY, pool, share, worthwhile

Comparison = Callable[[Ints], Floats]


class Products(Protocol):
    """Products X^_q[:, i]'X^_q[:, j] of features i and j in each query q, and products with the labels."""

    n_queries: int
    informative: Bools
    labels: Floats  # y^_q'y^_q, shape (Q,)

    def keep(self, feature: int, t: int) -> tuple[Floats, Floats]:
        """Select a feature as the t-th, from 0, and return its products.

        Queries are in blocks of ``BLOCK``.

        Returns
        -------
        query_products : ndarray of shape (ceil(Q / BLOCK), t + 2, BLOCK)
            Its products in each query: with itself, the labels, and the
            t features selected earlier.
        total : ndarray of shape (t + 2,)
            Sums of these products over all queries.
        """

    def comparison(
        self, factor: Floats, regularization: float, state: kernels.State
    ) -> Comparison:
        """Return the function from candidates (c,) to their change of the criterion, shape (c,).

        The criterion is the leave-query-out error. A candidate is the
        column of a feature.

        Parameters
        ----------
        factor : ndarray of shape (t, t)
            L with LL' = T[A, A] + λI for the t selected features A,
            whose products over all queries are T[A, A].
        regularization : float
            λ.
        state : tuple of ndarray
            Models of the selected features without each query.
        """


class GramProducts:
    """Products from the Gram matrices of the queries.

    A shard is a part of the data with whole queries.

    Parameters
    ----------
    gram : ndarray of shape (blocks, n + 1, n + 1, BLOCK)
        ``[X^_q y^_q]'[X^_q y^_q]`` for each query, side by side.
    total : ndarray of shape (n + 1, n + 1)
        Sum over all queries, including those of other shards.
    n_queries : int
        Number of these queries.
    """

    def __init__(self, gram: Floats, total: Floats, n_queries: int) -> None:
        """Start without selected features, with the Gram matrices of features and labels, labels last.

        ``gram`` (blocks, n + 1, n + 1, BLOCK) has the matrix of each
        query, and ``total`` (n + 1, n + 1) is their sum. The last block
        may be padded: only ``n_queries`` count. Queries are in blocks
        of ``BLOCK``.
        """
        n = total.shape[0] - 1
        self.n_queries = n_queries
        # A feature that varies within no query has a square of 0.
        self.informative: Bools = np.diagonal(total)[:-1] > 0
        # The labels are the last row and column; the last block may be padded.
        self.labels: Floats = gram[:, n, n].reshape(-1)[:n_queries]
        self.total = total
        self.gram = gram
        # The labels' column, then those of the selected features.
        self._index = np.full(n + 1, n)

    def keep(self, feature: int, t: int) -> tuple[Floats, Floats]:  # noqa: D102 - of the protocol
        rows = np.append(feature, self._index[: t + 1])
        self._index[t + 1] = feature
        return np.ascontiguousarray(self.gram[:, rows, feature]), self.total[
            rows, feature
        ]

    def comparison(
        self, factor: Floats, regularization: float, state: kernels.State
    ) -> Comparison:
        """Return the function from candidates (c,) to their change of the criterion, shape (c,).

        The criterion is the leave-query-out error. Of ``factor`` (t,
        t), only the shape is used: t is the number of selected
        features. ``regularization`` is λ, and ``state`` has the models
        of the selected features without each query.
        """
        # Columns of the labels and of the selected features; the factor
        # has a row for each selected feature.
        index = self._index[: factor.shape[0] + 1]

        def changes(candidates: Ints) -> Floats:
            """Return the change of the leave-query-out error by each candidate column, shape (c,).

            Uses ``index``, ``regularization`` and ``state`` of the
            enclosing method. ``index`` are the columns of the labels
            and selected features in the Gram matrices.
            """
            out = np.empty(candidates.size)
            # The square of each candidate, then its products with those columns.
            totals = np.empty((candidates.size, index.size + 1))
            totals[:, 0] = self.total[candidates, candidates]
            totals[:, 1:] = self.total[np.ix_(candidates, index)]
            kernels.changes_by_statistics(
                index, candidates, self.gram, totals, regularization, state, out
            )
            return out

        return changes


class ColumnProducts:
    """Products computed on demand over the entries of sparse columns.

    Parameters
    ----------
    data : SparseQueryData
        Training data.
    """

    def __init__(self, data: SparseQueryData) -> None:
        """Start without selected features, for features and labels centred within queries."""
        y = data.centred_labels
        self.n_queries = data.ptr.size - 1
        # The mask of the features that vary within some query.
        self.informative = data.informative
        # The squares of the labels, summed in each query.
        self.labels: Floats = np.add.reduceat(y * y, data.ptr[:-1])
        self._data = data
        # The centred labels. The centred columns of selected features
        # are appended, with room for more.
        self._basis = y[:, None].copy()

    @property
    def columns(self) -> column_kernels.Columns:
        """Sparse columns, and the arrays for products with them, as the kernels expect them.

        The arrays are the columns' entries, the rows of the entries,
        the first entry of each column, the centred columns' squares,
        labels and selected features by row, the query of each row, and
        the first row of each query.
        """
        data = self._data
        # Columns less a constant in each query, so that constant
        # columns are 0 there; the centred columns are the same.
        X = data.shifted
        return (
            X.data,
            X.indices,
            X.indptr,
            data.squares,
            self._basis,
            data.query,
            data.ptr,
        )

    def keep(self, feature: int, t: int) -> tuple[Floats, Floats]:
        """Select a feature as the t-th, from 0, and return its products in each query and over all queries.

        The products are those of the feature with itself, with the
        labels and with the earlier features, shapes (blocks, t + 2,
        BLOCK) and (t + 2,). The centred column of the feature is
        stored, for products with later features. Queries are in blocks
        of ``BLOCK``.
        """
        # As many blocks of queries as needed, rounded up.
        by_query = np.zeros((-(-self.n_queries // kernels.BLOCK), t + 2, kernels.BLOCK))
        totals = np.empty((1, t + 2))
        column_kernels.products_by_query(self.columns, t, feature, by_query)
        column_kernels.products_of_columns(self.columns, t, np.array([feature]), totals)
        # Without room for one more column, the array is doubled.
        if t + 1 == self._basis.shape[1]:
            self._basis = np.pad(self._basis, ((0, 0), (0, t + 1)))
        self._basis[:, t + 1] = self._data.centred_column(feature)
        return by_query, totals[0]

    def comparison(
        self, factor: Floats, regularization: float, state: kernels.State
    ) -> Comparison:
        """Return the function from candidates (c,) to their change of the criterion, shape (c,).

        The criterion is the leave-query-out error. ``factor`` (t, t) is
        L with LL' the regularised Gram matrix of the t selected
        features over all queries. ``regularization`` is λ, and
        ``state`` has the models of the selected features without each
        query.
        """
        t = factor.shape[0]
        columns = self.columns
        # Matrices (Q, t, t) and vectors (Q, t), in coordinates that all
        # queries share. For the candidate's products p in these, p'Sp,
        # p'Hp, p'a and p'b are the effect of leaving out each query.
        S, H, a, b = _in_whitened_coordinates(factor, state, self.n_queries)
        # S and H are symmetric: their lower triangles suffice, with
        # entries off the diagonal counted twice.
        low, high = np.tril_indices(t)
        twice = np.where(low == high, 1.0, 2.0)[:, None]
        S_pairs, H_pairs = (twice * matrix[:, low, high].T for matrix in (S, H))
        from scipy.linalg import solve_triangular  # noqa: PLC0415 - where it is needed

        # The kernel is compiled for arrays in C order.
        inverse = np.ascontiguousarray(
            solve_triangular(factor, np.eye(t), lower=True, check_finite=False)
        )

        def changes(candidates: Ints) -> Floats:
            """Return the change of the leave-query-out error by each candidate column, shape (c,).

            In most queries a sparse candidate has no entries, so its
            change follows from products of matrices. Only in queries
            with entries is it computed by itself. Uses the variables of
            the enclosing method: the t selected features' ``inverse``
            factor and ``columns``. ``a``, ``b``, S and H have the
            effect of leaving out each query. ``low`` and ``high`` are
            the rows and columns of the pairs of a triangle.
            """
            # Of each candidate: its square, its product with the
            # labels, its products with the t features.
            totals = np.empty((candidates.size, t + 2))
            column_kernels.products_of_columns(columns, t, candidates, totals)
            # The quadratic forms p'Sp and p'Hp of all candidates and
            # queries are products with these pairs.
            p = totals[:, 2:] @ inverse.T
            pairs = p[:, low] * p[:, high]
            out = pairs @ S_pairs
            lengths = pairs @ H_pairs
            column_kernels.changes_where_absent(
                totals, regularization, out, lengths, p @ a.T, p @ b.T
            )
            # That is wrong in queries where a candidate has entries:
            # there its change is computed again.
            column_kernels.changes_where_present(
                columns, candidates, totals, p, regularization, inverse, S, H, a, b, out
            )
            summed: Floats = out.sum(axis=1)
            return summed

        return changes


def _in_whitened_coordinates(
    factor: Floats, state: kernels.State, n_queries: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return four arrays with the effect of each left-out query, in coordinates that all queries share.

    For the query q and t selected features A, these are S_q = R'R and
    H_q = R'U'U R of shapes (Q, t, t), and a_q = R'along and b_q =
    R'residual_products of shapes (Q, t), with R = L_q^-1 L. L is
    ``factor``, LL' = T[A, A] + λI with the products T over all queries,
    and L_q the same without query q. ``state`` has L_q^-1, U'U, along
    and residual_products: the products of the held-out features in the
    coordinates of L_q with each other, the solution, and products with
    the residual.

    In the coordinates in which T[A, A] + λI is the identity, the
    products of a candidate j with the selected features over all
    queries are p = L^-1 T[A, j]. If j is 0 throughout query q, its
    pivot there is s = T[j, j] + λ - p'S_q p, its weight is β
    = (T[j, y] - p'a_q) / s, and the error changes by
    β² p'H_q p + 2 β p'b_q. Quadratic forms in p for many candidates and
    queries are one matrix product.
    """
    t = factor.shape[0]
    # Queries, including those that pad the last block.
    rows = state[0].shape[0] * kernels.BLOCK
    # The queries of a block are the last axis of each array: they are
    # moved next to the blocks, so that both together become the axis of
    # the queries.
    inverse, inner, along, _, residual_products, _ = (
        np.moveaxis(array, -1, 1) for array in state
    )
    K, U = (
        array[:, :, :t, :t].reshape(rows, t, t)[:n_queries]
        for array in (inverse, inner)
    )
    z, e = (
        array[:, :, :t].reshape(rows, t, 1)[:n_queries]
        for array in (along, residual_products)
    )
    R = K @ factor
    R_transposed = R.transpose(0, 2, 1)
    # `inner` only has the lower triangle.
    H = R_transposed @ (U + np.tril(U, -1).transpose(0, 2, 1)) @ R
    return R_transposed @ R, H, (R_transposed @ z)[:, :, 0], (R_transposed @ e)[:, :, 0]


# Candidates are divided into at least this many parts, which threads share.
_MIN_PARTS = 4
_MULTIPLICATION = 0.2  # nanoseconds
# Candidates times queries that a thread compares at once: a megabyte
# for each array of one number per pair.
_MAX_PAIRS_PER_PART = 1 << 17


class OnDemandSearch:
    """Search that computes the leave-query-out error after adding a feature to a selection, or removing one.

    Parameters
    ----------
    products : Products
        Products of the training data.
    regularization : float
        λ > 0.

    Notes
    -----
    The criterion of a set S is sum_q ||y^_q - X^_q[:, S] w_q||², where
    w_q are the RankRLS weights trained on all queries except q
    (Pahikkala et al. 2010, eq. (7)). With t features selected and Q
    queries, a candidate costs O(Qt²), and its products cost O(Qt) from
    Gram matrices and O(t) per entry from a column. With columns, a
    comparison costs a further O(Qt³), once for all candidates.
    Selecting a feature costs O(Qt²); the criterion without each of the
    t features costs O(Qt³). O(Qk²) memory for k features.
    """

    def __init__(self, products: Products, regularization: float) -> None:
        """Start without selected features; ``products`` computes products of features in each query.

        ``regularization`` is λ > 0. Sets the state of the models
        without each query, in blocks of ``BLOCK`` queries.
        """
        self.selected: tuple[int, ...] = ()
        self.informative = products.informative
        self._products = products
        self._regularization = regularization
        blocks = -(-products.n_queries // kernels.BLOCK)  # rounded up
        width = kernels.BLOCK
        padding = blocks * width - products.n_queries
        # The error of the empty model in each query is the square of its labels.
        empty_errors = np.pad(products.labels, (0, padding)).reshape(blocks, 1, width)
        # The arrays have room for 0 features; they grow when features are selected.
        flat = (blocks, 0, width)
        square = (blocks, 0, 0, width)
        self._state: kernels.State = (
            np.empty(square),  # inverse
            np.empty(square),  # inner
            np.empty(flat),  # along
            np.empty(flat),  # label_products
            np.empty(flat),  # residual_products
            empty_errors,
        )
        # The equations of the weights over all queries: T[A, A] + λI and T[A, y].
        self._left_side = np.empty((0, 0))
        self._right_side = np.empty(0)

    def costs(self, candidates: Ints) -> Floats:
        """Return the criterion with each candidate added, shape (c,).

        Parts of the candidates are compared in threads. The criterion
        is the leave-query-out error. ``candidates`` (c,) are columns of
        features.
        """
        # The parts do not depend on the number of threads, so that the
        # results do not depend on it, either.
        n_parts = max(
            _MIN_PARTS,
            candidates.size * self._products.n_queries // _MAX_PAIRS_PER_PART,
        )
        parts = np.array_split(candidates, n_parts)
        changes = [np.empty(0)] * n_parts
        # BLAS has one thread, because with several its sums differ in
        # their last bits.
        with STEADY, self._threads(candidates.size) as (executor, workers):
            compare = self._comparison()

            def work(part: int) -> None:
                """Write the changes by the candidates of a part, which is its number, to ``changes``."""
                changes[part] = compare(parts[part])

            share(executor, workers, work, range(n_parts))
        costs: Floats = self.criterion() + np.concatenate(changes)
        return costs

    def _comparison(self) -> Comparison:
        """Return the function from candidates (c,) to the change of the criterion by each, (c,)."""
        return self._products.comparison(
            self._factor(), self._regularization, self._state
        )

    def _factor(self) -> Floats:
        """Return L with LL' = T[A, A] + λI, shape (t, t), of the products of the t selected features A."""
        t = len(self.selected)
        return factorise(self._left_side[:t, :t], self._regularization)

    def removals(self) -> Floats:
        """Return the criterion without each of the t selected features, shape (t,)."""
        t = len(self.selected)
        # The change of the criterion by each removal, summed over the
        # queries of a block. The last array of the state has the
        # errors, (blocks, …).
        partial = np.empty((self._state[-1].shape[0], t))
        self._share_blocks(
            count=t,
            work=lambda first, last: kernels.removals(
                t, first, last, self._state, partial
            ),
        )
        costs: Floats = self.criterion() + partial.sum(axis=0)
        return costs

    def criterion(self) -> float:
        """Return the criterion of the current selection, its leave-query-out error."""
        return float(self._state[-1][:, len(self.selected)].sum())

    def select(self, feature: int) -> None:
        """Add a feature to the selection, in the models without each query and in that of all queries."""
        t = len(self.selected)
        # `_right_side` has room for as many features as all arrays.
        if t == self._right_side.size:
            self._make_room(max(8, 2 * t))
        # The feature's products with itself, the labels and the selected features.
        by_query, total = self._products.keep(feature, t)
        self._share_blocks(
            count=1,
            work=lambda first, last: kernels.append(
                t, by_query, total, self._regularization, first, last, self._state
            ),
        )
        square, label_product = total[:2]
        # The equations of the weights over all queries: the products
        # with the earlier features, then the diagonal, then the
        # right-hand side.
        self._left_side[t, :t] = self._left_side[:t, t] = total[2:]
        self._left_side[t, t] = square + self._regularization
        self._right_side[t] = label_product
        self.selected = (*self.selected, feature)

    def _share_blocks(self, count: int, work: Callable[[int, int], None]) -> None:
        """Call ``work(first, last)`` for ranges of the blocks of queries, in threads if worthwhile.

        The range is ``first`` to ``last`` - 1. All calls together do
        ``count`` times O(t²) operations per query, by which threads are
        worthwhile.
        """
        with self._threads(count) as (executor, workers):
            blocks = self._state[-1].shape[0]
            # Two ranges per thread, as one may take longer than another.
            cuts = (
                np.linspace(0, blocks, min(blocks, 2 * workers) + 1)
                .astype(int)
                .tolist()
            )
            share(executor, workers, lambda ends: work(*ends), list(pairwise(cuts)))

    def _threads(
        self, count: int
    ) -> AbstractContextManager[tuple[Executor | None, int]]:
        """Provide an executor, None without threads, and the number of threads.

        There are threads if ``count`` times O(t²) operations per query
        take long enough.
        """
        t = len(self.selected) + 1
        return pool(
            worthwhile(_MULTIPLICATION * count * self._products.n_queries * t * t)
        )

    def _make_room(self, capacity: int) -> None:
        """Enlarge the arrays of the selected features to ``capacity`` of them."""
        # Arrays are (blocks, features, features, BLOCK) or (blocks,
        # features, BLOCK); new entries are 0.
        growth = capacity - self._right_side.size
        inverse, inner, *flat_arrays = self._state
        square = ((0, 0), (0, growth), (0, growth), (0, 0))
        flat = ((0, 0), (0, growth), (0, 0))
        along, label_products, residual_products, error = (
            np.pad(array, flat) for array in flat_arrays
        )
        self._state = (
            np.pad(inverse, square),
            np.pad(inner, square),
            along,
            label_products,
            residual_products,
            error,
        )
        self._left_side = np.pad(self._left_side, (0, growth))
        self._right_side = np.pad(self._right_side, (0, growth))

    def move_to(self, selected: tuple[int, ...]) -> None:
        """Change the search to another selection.

        Features with which both selections begin stay selected. The
        others are removed, and the following ones of the new selection
        are added.
        """
        n_common = 0
        while (
            n_common < min(len(selected), len(self.selected))
            and selected[n_common] == self.selected[n_common]
        ):
            n_common += 1
        # Later features leave first, so that only the common ones remain.
        if n_common < len(self.selected):
            self.selected = selected[:n_common]
            kernels.forget(n_common, self._state)
        for feature in selected[n_common:]:
            self.select(feature)

    def weights(self) -> Floats:
        """Return RankRLS's weights with the current selection, trained on all queries, shape (n,)."""
        t = len(self.selected)
        coef = np.zeros(self.informative.size)
        from scipy.linalg import cho_solve  # noqa: PLC0415 - where it is needed

        # Products with the labels. The array has room for more features.
        right_side = self._right_side[:t]
        coef[list(self.selected)] = cho_solve(
            # True: the factor is the lower triangle.
            (self._factor(), True),
            right_side,
            check_finite=False,
        )
        return coef


class BackFittingSearch(OnDemandSearch):
    """On-demand search that compares candidates as if the weights of the earlier features stayed unchanged.

    Named as future work in Pahikkala et al. 2010, section 5, after Vincent and Bengio
    2002. Without a query q, the candidate's weight is that of RankRLS on the residuals
    of the current model w_q, β_q = x_j'(y^ - X^_S w_q) / (x_j'x_j + λ)
    over the documents of the other queries. If a candidate is 0
    throughout a query, the error does not change, so only its entries
    count. After its selection, the weights of all features are
    retrained: :meth:`criterion` and :meth:`weights` are exact.

    Parameters
    ----------
    data : SparseQueryData
        Training data.
    regularization : float
        λ > 0.

    Notes
    -----
    O(t) per entry of a candidate with t features selected, so O(k² m̄
    κ) for k of them with κ candidates of m̄ entries each: the paper's
    bound. In addition, O(k³ Q + k² m) for Q queries and m documents.
    """

    def __init__(self, data: SparseQueryData, regularization: float) -> None:
        self._columns = ColumnProducts(data)
        super().__init__(self._columns, regularization)

    def _comparison(self) -> Comparison:
        """Return the function from candidates (c,) to the change of the criterion by each, by back-fitting.

        The weights of the selected features stay as they are; only the
        candidate gets a weight. The criterion is the leave-query-out
        error.
        """
        t = len(self.selected)
        # The entries of the sparse columns. columns[4] has a row per
        # document: its label and its values of the selected features,
        # centred.
        columns = self._columns.columns
        # The weights of the t features without each query.
        models = np.empty((self._columns.n_queries, t))
        # For each document, its label minus its score by the weights
        # without its query.
        residual = np.empty(columns[4].shape[0])
        # Fill both arrays. `_state` has the equations of the weights
        # without each query, as solved by the selections so far.
        column_kernels.held_out_models(t, self._state, columns, models, residual)

        def changes(candidates: Ints) -> Floats:
            """Return the change of the leave-query-out error by each candidate column, shape (c,).

            The weights of the t selected features stay as they are:
            those of ``models``, which leave ``residual`` of the labels.
            Uses these and ``columns`` of the enclosing method.
            """
            out = np.empty(candidates.size)
            column_kernels.changes_by_back_fitting(
                t, candidates, columns, self._regularization, models, residual, out
            )
            return out

        return changes
