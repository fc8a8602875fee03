"""The eigendecomposition of a centred kernel, which all regularisations, outputs and hold-outs share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DatasetError


@dataclass(frozen=True, eq=False)
class KernelDecomposition:
    """Eigenvectors V and eigenvalues Λ of SKS, with K the kernel of m documents and S = I - 11'/m.

    Attributes
    ----------
    vectors : ndarray of shape (m, r)
        V. Vectors of the eigenvalue 0 may be left out.
    values : ndarray of shape (r,)
        Λ, none negative.
    """

    vectors: Floats
    values: Floats

    @classmethod
    def of(cls, X: ArrayLike) -> KernelDecomposition:
        """Decompose the linear kernel of documents with features X, shape (m, n): O(mn min(m, n))."""
        features = np.asarray(X, dtype=np.float64)
        shifted = features - features[0]  # so that a constant feature comes out as exactly 0
        left, singular, _ = np.linalg.svd(shifted - shifted.mean(axis=0), full_matrices=False)
        return cls(left, singular**2)

    @classmethod
    def of_kernel(cls, kernel: ArrayLike) -> KernelDecomposition:
        """Decompose a symmetric kernel matrix, shape (m, m): O(m³).

        Raises
        ------
        DatasetError
            For another shape.
        """
        K = np.asarray(kernel, dtype=np.float64)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise DatasetError(f"kernel: expected a square matrix, got shape {K.shape}.")
        rows = K.mean(axis=1)
        values, vectors = np.linalg.eigh(K - rows[:, None] - rows + rows.mean())
        return cls(vectors, np.maximum(values, 0.0))

    @property
    def n_documents(self) -> int:
        """How many documents there are, m."""
        return int(self.vectors.shape[0])

    def hat(self, regularization: float) -> Floats:
        """Return H = VΛ(Λ + λI)^-1V', with which Hy^ are the centred predictions, shape (m, m): O(m²r)."""
        hat: Floats = (self.vectors * self._shrinkage(regularization)) @ self.vectors.T
        return hat

    def hat_of(self, rows: ArrayLike, regularization: float) -> Floats:
        """Return the rows and columns of H of some documents, shape (u, u): O(u²r)."""
        vectors = self.vectors[np.asarray(rows)]
        hat: Floats = (vectors * self._shrinkage(regularization)) @ vectors.T
        return hat

    def residuals(self, labels: Floats, regularization: float) -> Floats:
        """Return y^ - Hy^ for centred labels of shape (m,) or (m, v)."""
        shrinkage = self._shrinkage(regularization)
        along = (self.vectors.T @ labels).T * shrinkage
        residuals: Floats = labels - self.vectors @ along.T
        return residuals

    def _shrinkage(self, regularization: float) -> Floats:
        return self.values / (self.values + regularization)
