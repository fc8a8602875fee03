"""RankRLS with a kernel on basis vectors, for the simulation on real data (Airola 2011, section 5.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from rankstudio.engine.analysis.simulation.learners import Estimator, Scorer, estimators
from rankstudio.engine.analysis.simulation.parameters import BASIS_KEPT
from rankstudio.engine.arithmetic.kernel_functions.kernel import Kernel
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.base import between
from rankstudio.engine.methods.kernels.nystrom import basis_rows, independent, kernel_of
from rankstudio.engine.methods.rankers.kernel_rankrls import KernelRankRLS
from rankstudio.engine.support.blocks import solve_lower

_MOST = 1_000_000

BASIS_ESTIMATORS: Mapping[str, Estimator] = estimators(BASIS_KEPT)
"""Estimators by name. "Basis vectors kept" has those of held-out queries in the models without them."""


@dataclass(frozen=True, eq=False)
class BasisRankRLS:
    """RankRLS with a kernel, over some documents of each training query or over given vectors.

    Attributes
    ----------
    kernel : Kernel
    per_query : int
        How many documents of each training query are basis vectors.
    regularization : float
        λ > 0.
    seed : int
        Of their draw.
    vectors : ndarray of shape (r, n) or None
        Given basis vectors; None where they are to be drawn.
    """

    kernel: Kernel = field(default_factory=Kernel)
    per_query: int = 2
    regularization: float = 1.0
    seed: int = 0
    vectors: Floats | None = None

    @classmethod
    def of(cls, kernel: str, gamma: float, per_query: int, regularization: float) -> BasisRankRLS:
        """Check the parameters; ParameterError where one is out of its range."""
        method = KernelRankRLS(kernel, gamma, regularization=regularization)
        count = between("per_query", per_query, 1, _MOST)
        return cls(kernel_of(method), count, method.checked("regularization"))

    def learn(self, data: QueryData) -> Scorer:
        """Draw basis vectors, if they are not given, and learn: a sum of their kernel functions.

        Notes
        -----
        O(mr² + r³) for r basis vectors.
        """
        from scipy.linalg import solve_triangular  # noqa: PLC0415 - where it is needed

        given = self._basis(data)
        kept, factor = independent(self.kernel.matrix(given, given))
        vectors = given[kept]
        features = np.ascontiguousarray(solve_lower(factor, self.kernel.matrix(vectors, data.X)).T)
        mapped = QueryData(features, data.y, data.ptr)
        weights = mapped.statistics.weights(tuple(range(kept.size)), self.regularization)
        dual = solve_triangular(factor, weights, lower=True, trans="T", check_finite=False)
        return lambda X: self.kernel.matrix(np.ascontiguousarray(X), vectors) @ dual

    def fixed(self, data: QueryData) -> BasisRankRLS:
        """Return the learner with the basis vectors of these documents."""
        return replace(self, vectors=self._basis(data))

    def _basis(self, data: QueryData) -> Floats:
        if self.vectors is not None:
            return self.vectors
        count = self.per_query * (data.ptr.size - 1)
        return np.ascontiguousarray(data.X[basis_rows(data.ptr, count, "per_query", self.seed)])
