"""Kernel functions (thesis of Airola 2011, section 2.6): Gaussian, polynomial, linear, or any callable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.support.blocks import VALUES
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
        "rbf" is exp(-γ||x - x'||²), "poly" (γ x'x' + c)^d, "linear" x'x'; a callable
        takes documents (a, n) and (b, n) and returns the values (a, b).
    gamma, coef0 : float
        γ and c.
    degree : int
        d.
    """

    function: str | KernelFunction = "rbf"
    gamma: float = 2.0**-6
    degree: int = 3
    coef0: float = 1.0

    @property
    def by_distance(self) -> bool:
        """Whether the kernel is a function of the squared distance; otherwise of the inner product."""
        return self.function == "rbf"

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
        if not callable(self.function):
            return self.values(self.pairwise(A, B))
        values = np.array(self.function(A, B), dtype=np.float64)
        if values.shape != (A.shape[0], B.shape[0]):
            expected = (
                f"a function that returns an array of shape {(A.shape[0], B.shape[0])}"
            )
            raise ParameterError("kernel", f"shape {values.shape}", expected)
        return _finite(values)

    def pairwise(self, A: Floats, B: Floats) -> Floats:
        """Return the squared distances or inner products, shape (a, b), from which :meth:`values` follow."""
        from rankstudio.engine.arithmetic import _rows_kernel as kernels  # noqa: PLC0415 - numba

        function = (
            kernels.squared_distances if self.by_distance else kernels.inner_products
        )
        left = np.ascontiguousarray(A)
        right = np.ascontiguousarray(B)
        rows = left.shape[0]
        out = np.empty((left.shape[0], right.shape[0]))
        # Threads compute blocks of rows.
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
        """Return the kernel's values from the result of :meth:`pairwise`, which is overwritten."""
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

    def scores(self, X: Floats, vectors: Floats, coefs: Floats) -> Floats:
        """Score documents with expansions: f(x) = Σ_i b_i k(x, v_i).

        Parameters
        ----------
        X : ndarray of shape (m, n)
        vectors : ndarray of shape (r, n)
            v_i.
        coefs : ndarray of shape (K, r)
            b, one row per expansion.

        Returns
        -------
        ndarray of shape (K, m)
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
            block = self.matrix(vectors, X[first : first + step])
            out[:, first : first + step] = linear_scores(
                np.ascontiguousarray(block), coefs
            )
        return out

    def slopes(self, vectors: Floats, coef: Floats) -> Floats:
        """Return the importance of each feature: the root mean square slope of the score at some of the v_i.

        Parameters
        ----------
        vectors : ndarray of shape (r, n)
        coef : ndarray of shape (r,)

        Returns
        -------
        ndarray of shape (n,)
            |w| for the linear kernel; zeros for a callable.

        Notes
        -----
        O(rn) at each of at most 500 evenly spaced vectors.
        """
        if callable(self.function) or not len(vectors):
            return np.zeros(vectors.shape[1])
        step = -(-len(vectors) // _SLOPES)  # rounded up
        sample = vectors[::step]
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
    if not np.isfinite(values).all():
        raise DatasetError(
            "The kernel has values that are not finite. Scale the features, or use a smaller gamma or degree."
        )
    return values
