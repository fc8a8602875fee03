"""Kernel functions (thesis of Airola 2011, section 2.6): Gaussian, polynomial, linear, sums, or any callable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.kernel_sums import sum_derivatives, sum_values
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.support.blocks import VALUES
from rankstudio.engine.support.named_sums import Product, is_sum, parse_sum
from rankstudio.engine.support.threads import pool, share, worthwhile

NAMES = ("rbf", "poly", "linear")
PRECOMPUTED = "precomputed"

KernelFunction = Callable[[Floats, Floats], Any]
"""Returns the kernel's values (a, b) for documents (a, n) and (b, n)."""

_SLOPES = 500  # maximum number of vectors at which slopes are computed
_ROWS = 64  # rows per task of a thread


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters.

    Attributes
    ----------
    function : str or callable
        "rbf" is exp(-γ||x - x'||²), "poly" (γ x'x' + c)^d, "linear"
        x'x'; a sum of products such as "linear + 0.5 * rbf" combines
        them. A callable takes documents (a, n) and (b, n) and returns
        the values (a, b).
    gamma, coef0 : float
        γ and c, for all kernels in a sum.
    degree : int
        d, the degree of "poly".
    """

    function: str | KernelFunction = "rbf"
    gamma: float = 2.0**-6
    degree: int = 3
    coef0: float = 1.0

    @property
    def by_distance(self) -> bool:
        """Whether the kernel is a function of the squared distance of documents.

        Otherwise the kernel is a function of the inner product of the
        documents.
        """
        return self.function == "rbf"

    @cached_property
    def products(self) -> tuple[Product, ...]:
        """Products of weights and named kernels that the sum of kernels consists of.

        The tuple is empty for a single kernel or a callable.
        ParameterError is raised for a text that is no sum of products
        of kernels.
        """
        if callable(self.function) or not is_sum(self.function):
            return ()
        return parse_sum(self.function, NAMES, "kernel")

    @property
    def parts(self) -> dict[str, Kernel]:
        """The kernels of which a sum consists, by name.

        All have the parameters of this kernel.
        """
        names = (name for product in self.products for name in product.names)
        return {name: replace(self, function=name) for name in names}

    def matrix(self, A: Floats, B: Floats) -> Floats:
        """Return the kernel's values for each pair of documents of A (a, n) and B (b, n), shape (a, b).

        Raises
        ------
        ParameterError
            If a callable returns another shape.
        DatasetError
            If a value is out of the floating-point range.

        Notes
        -----
        O(abn). Values are identical regardless of the other documents.
        """
        # A text such as "linear + 0.5 * rbf" is a sum of products of kernels.
        if self.products:
            return self._sum_matrix(A, B)
        if not callable(self.function):
            return self.values(self.pairwise(A, B))
        values = np.array(self.function(A, B), dtype=np.float64)
        if values.shape != (A.shape[0], B.shape[0]):
            expected = (
                f"a function that returns an array of shape {(A.shape[0], B.shape[0])}"
            )
            raise ParameterError("kernel", f"shape {values.shape}", expected)
        return _finite(values)

    def _sum_matrix(self, A: Floats, B: Floats) -> Floats:
        """Return the values, of shape (a, b), of a sum of products of kernels.

        A has shape (a, n), B shape (b, n). Some rows are computed at a
        time, to save memory.
        """
        out = np.empty((A.shape[0], B.shape[0]))
        # As many rows of A at a time as have about VALUES kernel values.
        n_rows = max(_ROWS, VALUES // max(1, B.shape[0]))
        for first in range(0, A.shape[0], n_rows):
            rows = A[first : first + n_rows]
            matrices = {name: part.matrix(rows, B) for name, part in self.parts.items()}
            # Multiply the values of the kernels in each product, and add these up.
            out[first : first + n_rows] = sum_values(self.products, matrices)
        # Values may overflow: that is an error.
        return _finite(out)

    def pairwise(self, A: Floats, B: Floats) -> Floats:
        """Return the squared distances or inner products of documents, shape (a, b).

        A (a, n) and B (b, n) have one document per row. Which of the
        two is returned depends on the kernel, whose values follow from
        the result.
        """
        from rankstudio.engine.arithmetic import _rows_kernel as kernels  # noqa: PLC0415 - numba

        function = (
            kernels.squared_distances if self.by_distance else kernels.inner_products
        )
        left = np.ascontiguousarray(A)
        right = np.ascontiguousarray(B)
        rows = left.shape[0]
        out = np.empty((left.shape[0], right.shape[0]))
        # Threads compute blocks of rows; a product takes about 0.4 nanoseconds.
        with pool(worthwhile(0.4 * out.size * left.shape[1])) as (executor, workers):
            firsts = range(0, rows, _ROWS)
            share(
                executor,
                workers,
                lambda first: function(
                    left, right, first, min(first + _ROWS, rows), out
                ),
                firsts,
            )
        return out

    def values(self, pairwise: Floats) -> Floats:
        """Return the kernel's values from the squared distances or inner products of documents, shape (a, b).

        The array ``pairwise`` is overwritten with the values, some rows
        at a time, to save memory.
        """
        # An inner product p itself for the linear kernel; exp(-γ d) of
        # a distance d; (γ p + c)^degree of an inner product p. Values
        # that are not finite are an error.
        if self.function == "linear":
            return _finite(pairwise)
        step = max(1, VALUES // max(1, pairwise.shape[-1]))
        with np.errstate(over="ignore"):
            for first in range(0, len(pairwise), step):
                part = pairwise[first : first + step]
                part *= -self.gamma if self.by_distance else self.gamma
                if self.by_distance:
                    np.exp(part, out=part)
                else:
                    part += self.coef0
                    np.power(part, self.degree, out=part)
        return _finite(pairwise)

    def derivative(self, pairwise: Floats) -> Floats:
        """Return the derivative of the kernel in the squared distance or inner product.

        ``pairwise``, of shape (a, b), has the squared distances or
        inner products of pairs of documents. The result has the same
        shape. The kernel must not be a sum or a callable.
        """
        # 1 for the linear kernel; -γ exp(-γ d) for a distance d; γ degree (γ p
        # + c)^(degree - 1) for an inner product p.
        if self.function == "linear":
            return np.ones_like(pairwise)
        if self.by_distance:
            return -self.gamma * self.values(pairwise.copy())
        powers: Floats = np.power(self.gamma * pairwise + self.coef0, self.degree - 1)
        return _finite(self.gamma * self.degree * powers)

    def sum_slopes(self, X: Floats, vectors: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of a sum of products of kernels.

        Parameters
        ----------
        X : ndarray of shape (m, n)
            Documents x.
        vectors : ndarray of shape (r, n)
            Documents v of the expansion.

        Returns
        -------
        inner, distance : ndarray of shape (m, r)
            Derivatives i and s of k(x, v) in x'v and in ||x - v||². Its
            gradient in x is i v + 2s (x - v).
        """
        parts = self.parts
        # The inner products and the squared distances, and the values of the kernels.
        pairwise = {name: part.pairwise(X, vectors) for name, part in parts.items()}
        matrices = {
            name: part.values(pairwise[name].copy()) for name, part in parts.items()
        }
        # The chain rule: the derivative of the sum in a kernel, times
        # the derivative of this kernel.
        outer = sum_derivatives(self.products, matrices)
        inner = np.zeros((X.shape[0], vectors.shape[0]))
        distance = np.zeros_like(inner)
        for name, part in parts.items():
            slope = outer[name] * part.derivative(pairwise[name])
            if part.by_distance:
                distance += slope
            else:
                inner += slope
        return inner, distance

    def scores(self, X: Floats, vectors: Floats, coefs: Floats) -> Floats:
        """Score documents with expansions: f(x) = Σ_i b_i k(x, v_i).

        Parameters
        ----------
        X : ndarray of shape (m, n)
            Documents x.
        vectors : ndarray of shape (r, n)
            Documents v_i of the expansion.
        coefs : ndarray of shape (K, r)
            Coefficients b, one row per expansion.

        Returns
        -------
        ndarray of shape (K, m)
            Scores of the m documents with each of the K expansions.
            Equal documents have equal scores.

        Notes
        -----
        O(mr(n + K)) time, without an m × r matrix in memory.
        """
        out = np.zeros((coefs.shape[0], X.shape[0]))
        if not vectors.shape[0]:
            return out
        step = max(1, VALUES // vectors.shape[0])
        for first in range(0, X.shape[0], step):
            # The kernel's values, of shape (r, documents): f(x) is linear in them.
            block = self.matrix(vectors, X[first : first + step])
            out[:, first : first + step] = linear_scores(
                np.ascontiguousarray(block), coefs
            )
        return out

    def slopes(self, vectors: Floats, coef: Floats) -> Floats:
        """Return the importance of each feature in a kernel model: the root mean square slope of the score.

        The slopes are taken at some of the documents v_i.

        Parameters
        ----------
        vectors : ndarray of shape (r, n)
            Documents v_i.
        coef : ndarray of shape (r,)
            Coefficients b_i: the score of x is the sum of b_i k(x, v_i).

        Returns
        -------
        ndarray of shape (n,)
            Importance of each feature: |w| for the linear kernel with
            weights w; zeros for a callable.

        Notes
        -----
        O(rn) at each of at most 500 evenly spaced vectors.
        """
        if callable(self.function) or not len(vectors):
            return np.zeros(vectors.shape[1])
        step = -(-len(vectors) // _SLOPES)  # rounded up
        sample = vectors[::step]
        if self.products:
            # The gradient of b k(x, v) in x is b (i v + 2s (x - v)),
            # with the derivatives i and s in x'v and in ||x - v||².
            inner, distance = self.sum_slopes(sample, vectors)
            weights = 2.0 * distance * coef
            slopes = weights.sum(axis=1)[:, None] * sample
            slopes += (inner * coef - weights) @ vectors
            return _root_mean_square(slopes)
        values = self.pairwise(sample, vectors)
        if self.by_distance:
            # The derivative of b_i k(x, v_i) in x is -2γ b_i k(x, v_i) (x - v_i).
            weights = self.values(values) * (-2.0 * self.gamma * coef)
            slopes = weights.sum(axis=1)[:, None] * sample - weights @ vectors
        elif self.function == "linear":
            slopes = (coef @ vectors)[None, :]
        else:
            powers = np.power(self.gamma * values + self.coef0, self.degree - 1)
            slopes = (self.gamma * self.degree) * ((powers * coef) @ vectors)
        importance: Floats = _root_mean_square(slopes)
        return importance


def _root_mean_square(values: Floats) -> Floats:
    """Return the root mean square of each column, without overflow of squares."""
    greatest = np.abs(values).max(axis=0)
    scale = np.where(greatest > 0, greatest, 1.0)
    return np.asarray(scale * np.sqrt(np.mean((values / scale) ** 2, axis=0)))


def _finite(values: Floats) -> Floats:
    """Return values; raise DatasetError if one is not finite."""
    if not np.isfinite(values).all():
        raise DatasetError(
            "The kernel has values that are not finite. Scale the features, or use a smaller gamma or degree."
        )
    return values
