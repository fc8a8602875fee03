"""RankRLS with a kernel, decomposed once for every λ and output; and what it predicts of queries left out.

With M_q'f_q to be like N_q (see :mod:`rankstudio.engine.methods.kernels.query_factor`) RankRLS is regularised
least squares: on K^ = M'KM with all documents (Paper I, section 3.2, never by its nonsymmetric (31)), on
F = M'Z, Z = K_MR C^-T, CC' = K_RR, with the basis vectors R (Paper I, section 3.5; thesis, section 5.6).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.methods.kernels.left_out_systems import LeftOutSystem, long_query, products
from rankstudio.engine.methods.kernels.query_factor import QueryFactor, as_columns
from rankstudio.engine.support.threads import STEADY, pool, share, worthwhile

_INDEFINITE = 1e-8  # share of the greatest eigenvalue by which another may be below 0, which is rounding
_VALUES = 1 << 18  # of what is multiplied at once


@dataclass(frozen=True, eq=False)
class KernelSystem(ABC):
    """RankRLS with a kernel, its one eigendecomposition done.

    Attributes
    ----------
    factor : QueryFactor
        What the loss sees, of p rows.
    values : ndarray of shape (k,)
        Λ, none negative.
    rows : ndarray of shape (p, k)
        U, or W.
    along : ndarray of shape (k,) or (k, v)
        Rows' N.
    """

    factor: QueryFactor
    values: Floats
    rows: Floats
    along: Floats

    @abstractmethod
    def dual(self, regularization: float) -> Floats:
        """Return the weights of the kernel functions of the basis vectors, (r,) or (r, v)."""

    def left_out(self, regularizations: Sequence[float]) -> Floats:
        """Predict each query by the model learned without it and its basis vectors.

        Parameters
        ----------
        regularizations : sequence of float
            λ, L of them.

        Returns
        -------
        ndarray of shape (L, m) or (L, m, v)
            Scores of the documents. Where the loss is that of centring they are centred inside each query.

        Notes
        -----
        O(k(|q| + |H|)²) for a query of |q| documents with |H| basis vectors and a λ, and with basis vectors
        O(k³) where that is less; threads share the queries, and change no bit. Where there is one query,
        nothing is left to learn from, and all scores are 0.
        """
        outputs = as_columns(self.along)
        count, ptr, documents = len(regularizations), self.factor.ptr, self.factor.documents
        found = np.zeros((count, int(documents[-1]), outputs.shape[1]))
        targets = as_columns(self.factor.targets)
        size = float((np.diff(ptr).astype(float) ** 2).sum()) * len(self.values) * count

        def work(q: int) -> None:
            own, rows = slice(ptr[q], ptr[q + 1]), slice(documents[q], documents[q + 1])
            step = max(1, _VALUES // max(1, (ptr[q + 1] - ptr[q] + 1) * len(self.values)))
            for first in range(0, count, step):
                grid = np.array(regularizations[first : first + step])
                found[first : first + step, rows] = self._without(q, grid, targets[own], outputs)

        with STEADY, pool(worthwhile(0.4 * size)) as (executor, workers):  # the products are small
            share(executor, workers, work, range(ptr.size - 1 if ptr.size > 2 else 0))
        return found if self.along.ndim > 1 else found[:, :, 0]

    def residuals(self, predicted: Floats) -> Floats:
        """Return N - M'f for predictions (m,) or (m, v)."""
        scores = as_columns(predicted)
        seen = scores if self.factor.blocks is None else self.factor.of(scores)
        return self.factor.targets - seen.reshape(self.factor.targets.shape)

    @abstractmethod
    def _without(self, q: int, grid: Floats, targets: Floats, outputs: Floats) -> Floats:
        """Return the scores (L, documents, v) of query q by the models learned without it."""

    @property
    @abstractmethod
    def n_bytes(self) -> int:
        """How much memory it takes."""


@dataclass(frozen=True, eq=False)
class DualSystem(KernelSystem):
    """All documents are basis vectors: K^ = UΛU'.

    Without a query e = (G_qq)^-1 a_q with G = U(Λ + λI)^-1U' and a = GN: Paper I, eq. (33), symmetric.

    Attributes
    ----------
    scores : ndarray of shape (m, p), optional
        KMU, where the loss is not that of centring.
    """

    scores: Floats | None = None

    @classmethod
    def of(cls, kernel: Floats, factor: QueryFactor) -> DualSystem:
        """Decompose the kernel (m, m) of all documents, O(m³).

        Raises
        ------
        DatasetError
            Where the kernel is not positive semidefinite.
        """
        seen = factor.of(np.ascontiguousarray(factor.of(kernel).T))
        values, vectors = np.linalg.eigh(seen)
        greatest = float(np.abs(values).max(initial=0.0))
        if values.size and values[0] < -_INDEFINITE * greatest:
            raise DatasetError(
                "The kernel is not positive semidefinite: expected no eigenvalue below 0, found "
                f"{values[0]:.3g} beside {greatest:.3g}."
            )
        scores = None if factor.blocks is None else factor.of(kernel).T @ vectors
        return cls(factor, np.maximum(values, 0.0), vectors, vectors.T @ factor.targets, scores)

    def dual(self, regularization: float) -> Floats:
        """Return α = Ma, a = (K^ + λI)^-1 N."""
        outputs = as_columns(self.along)
        solved = self.rows @ (outputs / (self.values + regularization)[:, None])
        dual = self.factor.back(solved)
        return dual if self.along.ndim > 1 else dual[:, 0]

    def _without(self, q: int, grid: Floats, targets: Floats, outputs: Floats) -> Floats:
        own = slice(self.factor.ptr[q], self.factor.ptr[q + 1])
        rows, inverse = self.rows[own], 1.0 / (self.values + grid[:, None])
        right = rows @ (inverse[:, :, None] * outputs)
        left_out = np.linalg.solve(products(rows, inverse), right)
        if self.scores is None:
            return targets - left_out
        documents = slice(self.factor.documents[q], self.factor.documents[q + 1])
        theta = inverse[:, :, None] * (outputs - rows.T @ left_out)
        return np.asarray(self.scores[documents] @ theta)

    @property
    def n_bytes(self) -> int:
        """How much memory it takes."""
        return self.rows.nbytes + (0 if self.scores is None else self.scores.nbytes)


@dataclass(frozen=True, eq=False)
class ReducedSystem(KernelSystem):
    """Some documents are basis vectors: F'F = VΛV', W = FV.

    Without a query q and its basis vectors H, θ = D(τ - W_q'e + B_H'μ) with D = (Λ + λI)^-1, τ = W'N and
    e, μ of the system

        [ I - W_q D W_q'   W_q D B_H' ] [e]   [ N_q - W_q D τ ]
        [ -B_H D W_q'      B_H D B_H' ] [μ] = [ -B_H D τ      ]

    which says that θ leaves N_q - e of the query and has weights Bθ of which those of H are 0.

    Attributes
    ----------
    basis : ndarray of shape (r,)
        R, rows of the documents, ascending.
    weights : ndarray of shape (r, k)
        B = C^-T V.
    scores : ndarray of shape (m, k), optional
        ZV, where the loss is not that of centring.
    """

    basis: Ints
    weights: Floats
    scores: Floats | None = None

    @classmethod
    def of(cls, mapped: Floats, inverse: Floats, basis: Ints, factor: QueryFactor) -> ReducedSystem:
        """Decompose what a Nyström map gave, O(mr²).

        Parameters
        ----------
        mapped : ndarray of shape (m, r)
            Z.
        inverse : ndarray of shape (r, r)
            C^-T.
        basis : ndarray of shape (r,)
            Rows of the basis vectors, ascending.
        factor : QueryFactor
        """
        seen = factor.of(mapped)
        values, vectors = np.linalg.eigh(seen.T @ seen)
        rows = seen @ vectors
        scores = None if factor.blocks is None else mapped @ vectors
        values = np.maximum(values, 0.0)
        return cls(factor, values, rows, rows.T @ factor.targets, basis, inverse @ vectors, scores)

    def dual(self, regularization: float) -> Floats:
        """Return b = Bθ, θ = (Λ + λI)^-1 τ."""
        outputs = as_columns(self.along)
        solved = self.weights @ (outputs / (self.values + regularization)[:, None])
        return solved if self.along.ndim > 1 else solved[:, 0]

    def _without(self, q: int, grid: Floats, targets: Floats, outputs: Floats) -> Floats:
        own, documents = slice(*self.factor.ptr[q : q + 2]), slice(*self.factor.documents[q : q + 2])
        first, last = np.searchsorted(self.basis, (documents.start, documents.stop))
        held, p = self.weights[first:last], own.stop - own.start
        known = self.rows[own], held, self.values, grid
        seen = self.rows if self.scores is None else self.scores
        if p > len(self.values):
            return np.asarray(seen[documents] @ long_query(*known, outputs, targets))
        theta, left_out, _ = LeftOutSystem(*known).solve(outputs, targets)
        return targets - left_out if self.scores is None else np.asarray(seen[documents] @ theta)

    @property
    def n_bytes(self) -> int:
        """How much memory it takes."""
        return self.rows.nbytes + self.weights.nbytes + (0 if self.scores is None else self.scores.nbytes)
