"""Systems of RankRLS with a kernel, decomposed once for all λ and outputs, with leave-query-out predictions.

RankRLS fits M_q'f_q to N_q for each query q (see :class:`QueryFactor`),
which is regularized least squares:

- If all documents are basis vectors, on the kernel K^ = M'KM (Paper I, section 3.2, but not by the
nonsymmetric
  system (31) there); see :class:`DualSystem`.
- With basis vectors R, on the features F = M'Z, where Z = K_MR C^-T and CC' = K_RR (Paper I, section 3.5;
thesis,
  section 5.6); see :class:`ReducedSystem`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from rankstudio.engine.arithmetic.query_data import centre
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.methods.kernels.nystrom import as_columns
from rankstudio.engine.support.threads import (
    STEADY,
    pool,
    share,
    steady_if_small,
    worthwhile,
)

# Negative eigenvalues up to this share of the greatest one are due to rounding.
_MAX_NEGATIVE_SHARE = 1e-8
_VALUES_PER_BLOCK = 1 << 18  # numbers that are multiplied at once


@dataclass(frozen=True, eq=False)
class KernelSystem(ABC):
    """The linear system of RankRLS with a kernel, after its eigendecomposition.

    Attributes
    ----------
    factor : QueryFactor
        Factor of the loss, with p rows and v outputs.
    values : ndarray of shape (k,)
        The eigenvalues Λ, none of which is negative.
    rows : ndarray of shape (p, k)
        U of :class:`DualSystem`, or W of :class:`ReducedSystem`.
    projected_targets : ndarray of shape (k,) or (k, v)
        The targets N projected on the columns of ``rows``: U'N or W'N.
    """

    factor: QueryFactor
    values: Floats
    rows: Floats
    projected_targets: Floats

    @abstractmethod
    def dual(self, regularization: float) -> Floats:
        """Return the weights of the kernel functions of the basis vectors, (r,) or (r, v)."""

    def with_factor(self, factor: QueryFactor) -> Self:
        """Return this system with other targets, such as those of other labels of the same documents.

        ``factor`` holds the loss Σ_q ||M_q'f_q - N_q||² of scores f:
        the matrices M_q of the queries q and the targets N, of shape
        (p,) or (p, v) for v outputs. It differs from the factor of this
        system only in N. The eigendecomposition, which does not depend
        on N, is shared, and not computed again.
        """
        projected_targets = self.rows.T @ factor.targets
        return replace(self, factor=factor, projected_targets=projected_targets)

    def left_out(self, regularizations: Sequence[float]) -> Floats:
        """Predict the documents of each query by the model trained without the query and its basis vectors.

        Parameters
        ----------
        regularizations : sequence of float
            L values of λ.

        Returns
        -------
        ndarray of shape (L, m) or (L, m, v)
            Scores of the documents. For the centering loss, they are
            centered within each query.

        Notes
        -----
        For a query of |q| documents, of which |H| are basis vectors,
        and one λ: O(k(|q| + |H|)²), or O(k³) in a
        :class:`ReducedSystem` if that is less. Threads share the
        queries, with identical results. For a single query, no training
        data are left, and all scores are 0.
        """
        # `left_out` has the scores of all documents, for each λ and
        # output, in an array of shape (L, m, v). Targets have v columns
        # from here on.
        projected_targets = as_columns(self.projected_targets)
        count = len(regularizations)

        # The bounds of each query's targets, and those of its documents.
        ptr = self.factor.ptr
        documents = self.factor.documents
        left_out = np.zeros((count, int(documents[-1]), projected_targets.shape[1]))
        targets = as_columns(self.factor.targets)

        # The estimated work decides whether threads are worthwhile:
        # `size` products of numbers, of 0.4 nanoseconds each.
        size = float((np.diff(ptr).astype(float) ** 2).sum()) * len(self.values) * count

        def work(q: int) -> None:
            """Write the scores of query q for all λ to the array ``left_out``, some λ at a time.

            The scores are by models trained without the query. The
            array, the bounds of the queries and the targets are those
            of the enclosing method.
            """
            span = slice(ptr[q], ptr[q + 1])  # of the query's targets
            rows = slice(documents[q], documents[q + 1])

            # A block of λ at a time, so that the matrices of the query stay small.
            n_values_per_lambda = (ptr[q + 1] - ptr[q] + 1) * len(self.values)
            n_lambdas = max(1, _VALUES_PER_BLOCK // max(1, n_values_per_lambda))
            for first in range(0, count, n_lambdas):
                last = first + n_lambdas
                grid = np.array(regularizations[first:last])
                left_out[first:last, rows] = self._without(
                    q, grid, targets[span], projected_targets
                )

        # a single query is not predicted
        n_predicted = ptr.size - 1 if ptr.size > 2 else 0

        # The threads are ours, one query each; within `STEADY`, those
        # of BLAS, which would change the last bits of results, are off.
        with STEADY, pool(worthwhile(0.4 * size)) as (executor, workers):
            share(executor, workers, work, range(n_predicted))
        return left_out if self.projected_targets.ndim > 1 else left_out[:, :, 0]

    def residuals(self, predicted: Floats) -> Floats:
        """Return the residuals N - M'f of the loss, for predictions f, (m,) or (m, v)."""
        scores = as_columns(predicted)
        projected = (
            scores
            if self.factor.blocks is None
            else self.factor.transposed_times(scores)
        )
        return self.factor.targets - projected.reshape(self.factor.targets.shape)

    @abstractmethod
    def _without(
        self, q: int, grid: Floats, targets: Floats, projected_targets: Floats
    ) -> Floats:
        """Return the scores of query q by models trained without it, (L, |q|, v).

        ``grid``, (L,), has the values of λ, a model for each. |q| is
        the number of documents of the query, and v the number of
        outputs. ``targets``, (p_q, v), are those of the query in the
        loss, and ``projected_targets``, (k, v), those of all queries
        projected on the k eigenvectors.
        """

    @property
    @abstractmethod
    def n_bytes(self) -> int:
        """Memory in bytes."""


@dataclass(frozen=True, eq=False)
class DualSystem(KernelSystem):
    """The system in which all documents are basis vectors, with K^ = UΛU'.

    The residuals of query q by the model trained without it are e =
    (G_qq)^-1 a_q, where G = U(Λ + λI)^-1U' and a = GN. This is Paper I,
    eq. (33), in symmetric form.

    With an intercept, G = U(Λ + λI)^-1U' - 11'/(mλ), a part of the
    inverse of the bordered system [K + λI, 1; 1', 0].

    Attributes
    ----------
    scores : ndarray of shape (m, p), optional
        KMU, by which scores are computed; None for the centering loss,
        where they follow from the residuals.
    """

    scores: Floats | None = None

    @classmethod
    def of(cls, kernel: Floats, factor: QueryFactor) -> DualSystem:
        """Decompose the kernel K, (m, m), of all documents with the loss of ``factor``, O(m³).

        Raises
        ------
        DatasetError
            If the kernel is not positive semidefinite.
        """
        # K^ = M'KM, as `factor.transposed_times` returns M'Z for values
        # Z; M is the factor of the loss. Its eigenvalues are Λ, its
        # eigenvectors U.
        projected = factor.transposed_times(
            np.ascontiguousarray(factor.transposed_times(kernel).T)
        )
        with steady_if_small(len(projected)):
            values, vectors = np.linalg.eigh(projected)

        # Small negative eigenvalues are rounding errors and become 0 below.
        greatest = float(np.abs(values).max(initial=0.0))
        if values.size and values[0] < -_MAX_NEGATIVE_SHARE * greatest:
            raise DatasetError(
                "The kernel is not positive semidefinite: expected no eigenvalue below 0, found "
                f"{values[0]:.3g} and a largest eigenvalue of {greatest:.3g}."
            )

        # KMU turns a model into scores. Only losses with blocks need
        # it: with the centering loss, scores are targets minus
        # residuals.
        scores = (
            None
            if factor.blocks is None
            else factor.transposed_times(kernel).T @ vectors
        )
        return cls(
            factor,
            values=np.maximum(values, 0.0),
            rows=vectors,
            projected_targets=vectors.T @ factor.targets,
            scores=scores,
        )

    def dual(self, regularization: float) -> Floats:
        """Return the weights α of the kernel functions of all documents, (m,) or (m, v).

        The weights are α = Ma, with a = (K^ + λI)^-1 N, for the factor
        M and the targets N of the loss.
        """
        projected_targets = as_columns(self.projected_targets)
        solved = self.rows @ (
            projected_targets / (self.values + regularization)[:, None]
        )
        dual = self.factor.times(solved)
        return dual if self.projected_targets.ndim > 1 else dual[:, 0]

    def _without(
        self, q: int, grid: Floats, targets: Floats, projected_targets: Floats
    ) -> Floats:
        """Return the scores of query q by models trained without it, for each λ, (L, |q|, v).

        ``grid``, (L,), has the values of λ, and |q| is the number of
        documents of the query. ``targets``, (p_q, v), are those of the
        query in the loss, for v outputs, and ``projected_targets``, (k,
        v), those of all queries projected on the k eigenvectors. The
        residuals of the targets are

            e = (U_q D U_q')^-1 U_q D ``projected_targets``

        Here U_q, (p_q, k), are the rows of the query in the matrix of
        eigenvectors, and D = (Λ + λI)^-1.
        """
        span = slice(self.factor.ptr[q], self.factor.ptr[q + 1])
        rows = self.rows[span]  # U_q
        inverse = 1.0 / (self.values + grid[:, None])  # D for each λ
        right_side = rows @ (inverse[:, :, None] * projected_targets)
        matrix = products(rows, inverse)  # U_q D U_q'
        # An intercept is one more unknown, which changes the inverse.
        if self.factor.intercept:
            matrix -= (1.0 / (self.factor.n_documents * grid))[:, None, None]
        residuals = np.linalg.solve(matrix, right_side)

        # Without the matrix `scores`, the loss has one target per
        # document, and centres scores: the centred scores are targets
        # minus residuals.
        if self.scores is None:
            return targets - residuals

        # Otherwise the matrix turns the model without the query into
        # the scores of its documents. The model is θ = D
        # (`projected_targets` - U_q'e).
        documents = slice(self.factor.documents[q], self.factor.documents[q + 1])
        theta = inverse[:, :, None] * (projected_targets - rows.T @ residuals)
        return np.asarray(self.scores[documents] @ theta)

    @property
    def n_bytes(self) -> int:
        """Memory in bytes."""
        return self.rows.nbytes + (0 if self.scores is None else self.scores.nbytes)


@dataclass(frozen=True, eq=False)
class ReducedSystem(KernelSystem):
    """The system in which some documents are basis vectors, with F'F = VΛV' and W = FV.

    The model trained without query q and its basis vectors H is θ = D(τ - W_q'e
    + B_H'μ), where D = (Λ + λI)^-1, τ = W'N, and e and μ solve the system

        [ I - W_q D W_q'   W_q D B_H' ] [e]   [ N_q - W_q D τ ]
        [ -B_H D W_q'      B_H D B_H' ] [μ] = [ -B_H D τ      ]

    The first row means that e = N_q - W_q θ are the residuals of the
    query, the second one that the weights B_H θ of H are 0.

    An intercept is a further unknown in θ. Its column is 1 in W and 0
    in B, and its part of Λ + λI is m.

    Attributes
    ----------
    basis : ndarray of shape (r,)
        R, the rows of the documents that are basis vectors, ascending.
    weights : ndarray of shape (r, k)
        B = C^-T V, by which θ gives the weights of the basis vectors.
    scores : ndarray of shape (m, k), optional
        ZV, by which θ gives the scores; None for the centering loss,
        where they follow from the residuals.
    """

    basis: Ints
    weights: Floats
    scores: Floats | None = None

    @classmethod
    def of(
        cls, mapped: Floats, inverse: Floats, basis: Ints, factor: QueryFactor
    ) -> ReducedSystem:
        """Return the system of some basis vectors, decomposed from the result of a Nyström map, O(mr²).

        Parameters
        ----------
        mapped : ndarray of shape (m, r)
            Z, the features to which the map takes m documents.
        inverse : ndarray of shape (r, r)
            C^-T, which turns weights of the features into weights of
            the r basis vectors.
        basis : ndarray of shape (r,)
            Rows of the basis vectors, ascending.
        factor : QueryFactor
            Factor M and targets N of the loss.
        """
        projected = factor.transposed_times(mapped)
        with steady_if_small(len(basis)):
            values, vectors = np.linalg.eigh(projected.T @ projected)
        rows = projected @ vectors

        # ZV turns a model into scores. Only losses with blocks need it:
        # with the centering loss, scores are targets minus residuals.
        scores = None if factor.blocks is None else mapped @ vectors
        values = np.maximum(values, 0.0)  # negative ones are rounding errors
        return cls(
            factor=factor,
            values=values,
            rows=rows,
            projected_targets=rows.T @ factor.targets,
            basis=basis,
            weights=inverse @ vectors,
            scores=scores,
        )

    def dual(self, regularization: float) -> Floats:
        """Return the weights b = Bθ of the basis vectors, with θ = (Λ + λI)^-1 τ.

        τ are the targets projected on the eigenvectors, and
        ``regularization`` is λ. The shape is (r,) or (r, v) for v
        outputs.
        """
        projected_targets = as_columns(self.projected_targets)
        solved = self.weights @ (
            projected_targets / (self.values + regularization)[:, None]
        )
        return solved if self.projected_targets.ndim > 1 else solved[:, 0]

    def _without(
        self, q: int, grid: Floats, targets: Floats, projected_targets: Floats
    ) -> Floats:
        """Return the scores of query q by models trained without it, for each λ, (L, |q|, v).

        The basis vectors of the query are left out, too. ``grid``,
        (L,), has the values of λ, and |q| is the number of documents of
        the query. ``targets``, (p_q, v), are those of the query in the
        loss, for v outputs, and ``projected_targets``, (k, v), those of
        all queries projected on the k eigenvectors.
        """
        span = slice(*self.factor.ptr[q : q + 2])  # rows of W of the query
        documents = slice(*self.factor.documents[q : q + 2])

        # The basis vectors of the query are a range, as the basis is ascending.
        first, last = np.searchsorted(self.basis, (documents.start, documents.stop))
        held_out_weights = self.weights[first:last]  # B_H
        rows = self.rows[span]

        # An intercept is a further unknown: a column of 1 in the rows, of 0 elsewhere.
        n_documents = 0
        if self.factor.intercept:
            n_documents = self.factor.n_documents
            rows = _bordered(rows, 1.0)
            held_out_weights = _bordered(held_out_weights, 0.0)
            projected_targets = _bordered(projected_targets.T, 0.0).T
        score_rows = rows if self.scores is None else self.scores[documents]

        # Of two equivalent systems, solve that with fewer unknowns.
        if len(rows) > len(self.values):
            theta = long_query(
                rows,
                held_out_weights,
                self.values,
                grid,
                projected_targets,
                targets,
                n_documents=n_documents,
            )
            return np.asarray(score_rows @ theta)
        system = LeftOutSystem(
            rows, held_out_weights, self.values, grid, n_documents=n_documents
        )
        theta, residuals, _ = system.solve(projected_targets, targets)
        # Without the matrix `scores`, the loss has one target per
        # document, and centres scores: the centred scores are targets
        # minus residuals.
        return (
            targets - residuals
            if self.scores is None
            else np.asarray(score_rows @ theta)
        )

    def leave_one_out(self, regularization: float) -> Floats:
        """Predict the label of each document by the model trained without the document.

        The model has an intercept. A basis vector is left out with its document.

        Returns
        -------
        ndarray of shape (m,) or (m, v)
            Predictions minus the mean of all labels.

        Notes
        -----
        O(mk). For a document that is no basis vector, the residual is e = r / (1 - w'Dw
        - 1/m), with D = (Λ + λI)^-1, its row w of W, and its residual r by the model of
        all documents.
        """
        projected_targets = as_columns(self.projected_targets)
        targets = as_columns(self.factor.targets)
        m = len(targets)
        inverse = 1.0 / (self.values + regularization)
        residuals = targets - self.rows @ (inverse[:, None] * projected_targets)

        # w'Dw + 1/m of each document
        leverage = self.rows**2 @ inverse + 1.0 / m
        predicted: Floats = targets - residuals / (1.0 - leverage)[:, None]

        # A basis vector is left out with its document: the document is
        # a query of its own.
        single = replace(
            self,
            factor=self.factor.of_single_documents(),
        )
        grid = np.array([regularization])
        for row in self.basis.tolist():
            span = slice(row, row + 1)
            (predicted[span],) = single._without(
                row,
                grid,
                targets[span],
                projected_targets,
            )
        return predicted.reshape(self.factor.targets.shape)

    @property
    def n_bytes(self) -> int:
        """Memory in bytes."""
        return (
            self.rows.nbytes
            + self.weights.nbytes
            + (0 if self.scores is None else self.scores.nbytes)
        )


@dataclass(frozen=True, eq=False)
class QueryFactor:
    """The loss Σ_q ||M_q'f_q - N_q||² of scores f, up to a constant.

    Attributes
    ----------
    documents : ndarray of shape (Q + 1,)
        Query q has the documents ``documents[q]:documents[q + 1]``.
    targets : ndarray of shape (p,) or (p, v)
        The targets N, query by query, for v outputs.
    blocks : tuple of ndarray of shape (documents of q, p_q), optional
        The matrices M_q. By default I - 11'/|q|, which subtracts the
        mean of the query, for the magnitude-preserving cost.
    intercept : bool
        Whether the loss is Σ_i (y_i - f_i - b)² with an intercept b. Then M = I
        - 11'/m, without blocks. Queries only say what is left out together.
    """

    documents: Ints
    targets: Floats
    blocks: tuple[Floats, ...] | None = None
    intercept: bool = False

    @classmethod
    def centring(cls, y: Floats, ptr: Ints) -> QueryFactor:
        """Return the factor of RankRLS's loss for labels (m,) or (m, v), grouped by query."""
        return cls(ptr, centre(as_columns(y), ptr).reshape(y.shape))

    @classmethod
    def with_intercept(cls, y: Floats, ptr: Ints) -> QueryFactor:
        """Return the factor of regression with an intercept: targets are labels minus their mean.

        The labels y have the shape (m,) or (m, v), and ``ptr``, (Q +
        1,), bounds the documents of each query, which are left out
        together.
        """
        # The bounds ptr[[0, -1]] make all documents one group with one mean.
        targets = centre(as_columns(y), ptr[[0, -1]])
        return cls(
            ptr,
            targets.reshape(y.shape),
            intercept=True,
        )

    def of_single_documents(self) -> QueryFactor:
        """Return the factor with each document as a query of its own."""
        return replace(self, documents=np.arange(self.n_documents + 1))

    @property
    def n_documents(self) -> int:
        """Number of documents, m."""
        return int(self.documents[-1])

    @property
    def _centred_together(self) -> Ints:
        """Bounds (as in ``documents``) of the groups of documents whose means are subtracted.

        A group is a query, or all documents if there is an intercept.
        Only factors without blocks have such groups.
        """
        return self.documents[[0, -1]] if self.intercept else self.documents

    @cached_property
    def ptr(self) -> Ints:
        """Bounds of the rows of M' by query, shape (Q + 1,): query q has the rows ``ptr[q]:ptr[q + 1]``."""
        if self.blocks is None:
            return self.documents
        return np.append(
            0, np.cumsum([block.shape[1] for block in self.blocks])
        ).astype(np.int64)

    def transposed_times(self, values: Floats) -> Floats:
        """Return M'Z (p, c) for values Z (m, c), one row per document.

        M is the matrix of the loss, block diagonal with a block for
        each query. Without blocks, M'Z are the values minus their
        means.
        """
        if self.blocks is None:
            return centre(values, self._centred_together)
        out = np.empty((int(self.ptr[-1]), values.shape[1]))

        # for each query: M_q, its documents, and its rows of M'
        for block, rows, span in self._pieces():
            out[span] = block.T @ values[rows]
        return out

    def times(self, values: Floats) -> Floats:
        """Return MA (m, c) for values A (p, c), one row per row of M'.

        M is the matrix of the loss, block diagonal with a block for
        each query. Without blocks, MA are the values minus their means.
        """
        if self.blocks is None:
            return centre(values, self._centred_together)
        out = np.empty((int(self.documents[-1]), values.shape[1]))

        # for each query: M_q, its documents, and its rows of M'
        for block, rows, span in self._pieces():
            out[rows] = block @ values[span]
        return out

    def _pieces(self) -> list[tuple[Floats, slice, slice]]:
        """Return for each query its block M_q, and the slices of its documents and of its rows of M'."""
        rows = [slice(*ends) for ends in pairwise(self.documents.tolist())]
        spans = [slice(*ends) for ends in pairwise(self.ptr.tolist())]
        return list(zip(self.blocks or (), rows, spans, strict=True))


# Accepted error, in units of the decomposition's own rounding; 6 was
# the largest in 30,000 left-out queries.
_ROUNDINGS = 16
_REFINEMENT_STEPS = 3  # maximum number of refinements; one is usually enough


class LeftOutSolution(NamedTuple):
    """Solution of the linear system for one left-out query, for each of L values of λ.

    In shapes, p counts the targets of the query, h its basis vectors, k
    the eigenvalues, v the outputs and L the values of λ.

    Attributes
    ----------
    theta : ndarray of shape (L, k, v)
        θ, the models trained without the query.
    left_out : ndarray of shape (L, p, v)
        e, the residuals of the query's targets.
    mu : ndarray of shape (L, h, v)
        μ, the multipliers of the constraints on the weights of the
        query's basis vectors.
    """

    theta: Floats
    left_out: Floats
    mu: Floats


class LeftOutSystem:
    """The system of :class:`ReducedSystem` for a left-out query, whose solution is iteratively refined.

    It is Λ + λI bordered by the rows W_q of the query, which are
    subtracted, and by the weights B_H of its basis vectors, which are
    constrained to 0. In shapes, p counts the targets of the query, h
    its basis vectors, k the eigenvalues, v the outputs and L the values
    of λ.

    Parameters
    ----------
    rows : ndarray of shape (p, k)
        W_q.
    held_out : ndarray of shape (h, k)
        B_H.
    values : ndarray of shape (k,)
        Λ.
    grid : ndarray of shape (L,)
        λ.
    n_documents : int
        The number m if the last unknown is an intercept, which Λ does
        not contain; otherwise 0.

    Notes
    -----
    If a basis vector depends linearly on others up to a share g of its
    squared length, Z has a column that separates them, and B has
    entries of g^-1/2. Well-determined parts of the model are then small
    differences of undetermined ones; at λ = 2^-15, predictions had
    errors of 7e-6. The residuals of the system show this error, because
    W_q and B_H are exact up to rounding, and a step of iterative
    refinement corrects it. The remaining error is due to the rounding
    of the kernel values.
    """

    def __init__(
        self,
        rows: Floats,
        held_out: Floats,
        values: Floats,
        grid: Floats,
        n_documents: int = 0,
    ) -> None:
        """Prepare the system: compute the products of the rows W_q and B_H for each of L values of λ.

        All solutions share these products. ``rows``, (p, k), are W_q of
        the left-out query, and ``held_out``, (h, k), is B_H, the
        weights of its basis vectors. ``values``, (k,), has the
        eigenvalues Λ, and ``grid``, (L,), the values of λ.
        ``n_documents`` is not 0 if the last unknown is an intercept.
        """
        diagonal = _diagonal(values, grid, n_documents)  # Λ + λI, (L, k)
        self._rows = rows
        self._held_out = held_out
        self._diagonal = diagonal[:, :, None]
        self._bordered = np.concatenate((rows, held_out))  # (p + h, k)
        self._inverse = 1.0 / diagonal
        self._products = products(self._bordered, self._inverse)

        # Relative error of the decomposition, for each λ: rounding
        # times the condition number of Λ + λI. Corrections below it are
        # noise.
        self._rounding = (
            _ROUNDINGS * np.finfo(float).eps * (1.0 + values.max(initial=0.0) / grid)
        )

    def solve(self, projected_targets: Floats, targets: Floats) -> LeftOutSolution:
        """Return the models trained without a query, with its residuals, for each λ.

        ``projected_targets`` is τ, (k, v), the targets of all queries
        projected on the eigenvectors, and ``targets`` are those of the
        query, N_q, (p, v). The solution is refined for each λ whose
        correction exceeds the error of the decomposition, which remains
        in any case.
        """
        solution = self._solve(
            projected_targets, targets, np.zeros((len(self._held_out), 1))
        )

        # A correction solves the same system for what the solution
        # misses. It counts if it is larger than rounding errors of the
        # targets.
        for _ in range(_REFINEMENT_STEPS):
            correction = self._solve(
                *self._residuals(projected_targets, targets, solution)
            )
            size = np.maximum(
                np.abs(targets).max(initial=0.0), _largest_magnitudes(solution.left_out)
            )
            is_inexact = (
                _largest_magnitudes(correction.left_out) > self._rounding * size
            )
            if not is_inexact.any():
                break
            pairs = zip(solution, correction, strict=True)
            solution = LeftOutSolution(
                *(
                    part + np.where(is_inexact[:, None, None], change, 0.0)
                    for part, change in pairs
                )
            )
        return solution

    def _residuals(
        self, projected_targets: Floats, targets: Floats, solution: LeftOutSolution
    ) -> tuple[Floats, Floats, Floats]:
        """Return by how much a solution misses each of the three equations that `_solve` solves.

        The equations are (Λ + λI)θ + W'e - B'μ = ``projected_targets``, e + Wθ
        = ``targets``, and Bθ = 0, for the rows W of the left-out query and the
        weights B of its basis vectors. The unknowns θ, e and μ are
        those of ``solution``.
        """
        theta, left_out, mu = solution
        first = (
            projected_targets
            - self._rows.T @ left_out
            + self._held_out.T @ mu
            - self._diagonal * theta
        )
        return first, targets - left_out - self._rows @ theta, -(self._held_out @ theta)

    def _solve(
        self, projected_targets: Floats, targets: Floats, weights: Floats
    ) -> LeftOutSolution:
        """Solve the three equations of the left-out query for each λ.

        The equations are (Λ + λI)θ + W'e - B'μ = ``projected_targets``, e + Wθ
        = ``targets``, and Bθ = ``weights``.

        W, (p, k), are the rows of the left-out query, and B, (h, k),
        gives the weights of its h basis vectors. The unknowns are the
        models θ, the residuals e and μ.
        """
        # With D = (Λ + λI)^-1 and the projected targets t, the first
        # equation gives θ = D(t - W'e + B'μ). The others become, with n
        # = ``targets`` and b = ``weights``:
        #     (I - WDW')e + WDB'μ = n - WDt
        #     BDB'μ = BDW'e - (BDt - b)
        # `inner`, (L, p + h, p + h), has these products of W and B.
        p = len(self._rows)
        inner = self._products
        wdw = inner[:, :p, :p]
        wdb = inner[:, :p, p:]
        bdw = inner[:, p:, :p]
        bdb = inner[:, p:, p:]
        transformed = self._bordered @ (self._inverse[:, :, None] * projected_targets)
        wdt = transformed[:, :p]
        bdt = transformed[:, p:]

        # μ is eliminated first, so that both systems are symmetric and
        # definite: μ = slope e - constant.
        rhs = np.concatenate((bdw, bdt - weights), axis=2)
        solved = np.linalg.solve(bdb, rhs) if len(self._held_out) else rhs
        slope = solved[:, :, :p]
        constant = solved[:, :, p:]
        left_out = np.asarray(
            np.linalg.solve(
                np.eye(p) - wdw + wdb @ slope, targets - wdt + wdb @ constant
            ),
            dtype=np.float64,
        )
        mu: Floats = slope @ left_out - constant
        theta = self._inverse[:, :, None] * (
            projected_targets - self._rows.T @ left_out + self._held_out.T @ mu
        )
        return LeftOutSolution(theta, left_out, mu)


def long_query(
    rows: Floats,
    held_out: Floats,
    values: Floats,
    grid: Floats,
    projected_targets: Floats,
    targets: Floats,
    n_documents: int = 0,
) -> Floats:
    """Return θ (L, k, v) without a query that has more rows than θ has unknowns, in O((k + h)³).

    θ are the weights of the model for each of L values of λ and v
    outputs. θ solves (Λ + λI - W_q'W_q) θ - B_H'μ = τ
    - W_q'N_q, B_Hθ = 0, with ``rows`` W_q (p, k),
    ``held_out`` B_H (h, k), ``values`` Λ (k,), ``grid`` λ (L,),
    ``projected_targets`` τ (k, v) and ``targets`` N_q (p, v).
    ``n_documents`` is not 0 if the last unknown is an intercept.
    """
    k = rows.shape[1]
    diagonal = _diagonal(values, grid, n_documents)
    matrix = -(rows.T @ rows) + diagonal[:, :, None] * np.eye(k)
    right_side = projected_targets - rows.T @ targets

    # Without basis vectors in the query, there is no condition on θ.
    if not len(held_out):
        return np.asarray(
            np.linalg.solve(
                matrix, np.broadcast_to(right_side, (grid.size, *right_side.shape))
            )
        )

    # One system with both unknowns: θ and μ.
    h = len(held_out)
    system = np.zeros((grid.size, k + h, k + h))
    system[:, :k, :k] = matrix
    system[:, :k, k:] = -held_out.T
    system[:, k:, :k] = held_out
    bordered = np.concatenate((right_side, np.zeros((h, right_side.shape[1]))))
    return np.asarray(
        np.linalg.solve(
            system, np.broadcast_to(bordered, (grid.size, *bordered.shape))
        )[:, :k]
    )


def _diagonal(values: Floats, grid: Floats, n_documents: int) -> Floats:
    """Return the diagonal of Λ + λI for each of L values of λ, shape (L, k).

    ``values``, (k,), has the eigenvalues Λ, and ``grid``, (L,), the
    values of λ. If ``n_documents`` is not 0, the last unknown is an
    intercept. The result then has one more column with the number of
    documents.
    """
    diagonal = values + grid[:, None]
    if n_documents:
        return _bordered(diagonal, float(n_documents))
    return diagonal


def _bordered(rows: Floats, value: float) -> Floats:
    """Return a matrix with a further, constant column."""
    return np.column_stack((rows, np.full(len(rows), value)))


def _largest_magnitudes(values: Floats) -> Floats:
    """Return the largest absolute value for each λ, shape (L,)."""
    largest: Floats = np.abs(values).max(axis=(1, 2), initial=0.0)
    return largest


def products(rows: Floats, weights: Floats) -> Floats:
    """Return R diag(d) R' (L, s, s) for rows R (s, k) and each of L vectors d (L, k)."""
    return np.asarray((rows * weights[:, None, :]) @ rows.T)
