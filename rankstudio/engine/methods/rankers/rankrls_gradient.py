"""RankRLS by conjugate gradients: for sparse features of any number, which are never made dense."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.gram_product import gram_product
from rankstudio.engine.arithmetic.optimisers.conjugate_gradient import minimise
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import ParameterError, between
from rankstudio.engine.methods.base import iterations
from rankstudio.engine.methods.shards.training_data import GivenData
from rankstudio.engine.steps import Iteration
from rankstudio.engine.support.threads import pool, worthwhile
from rankstudio.engine.support.work import Note, Waiting, WorkProgress

SOLVERS = ("auto", "direct", "cg")

_MOST_ITERATIONS = 10_000_000  # without rounding n would do; a greater number is taken for a slip


_PROGRESS_TEXT = "solving the normal equations"
_ROUNDING_SHARE = 1e-31  # of the first squared residual: what rounding leaves


@dataclass(frozen=True)
class ConjugateGradients:
    """Use and stopping rule of conjugate gradients.

    Attributes
    ----------
    solver : str
        "auto", "direct" or "cg".
    tol : float
        Backward error of the weights at which they stop, see
        `rankstudio.engine.arithmetic.optimisers.conjugate_gradient`.
    max_iter : int
    """

    solver: str
    tol: float
    max_iter: int

    @classmethod
    def of(cls, solver: Any, tol: Any, max_iter: Any) -> ConjugateGradients:
        """Check the parameters; ParameterError if one is out of range."""
        if solver not in SOLVERS:
            raise ParameterError("solver", solver, f"one of {', '.join(SOLVERS)}")
        number = isinstance(tol, float | int | np.floating) and not isinstance(tol, bool)
        if not number or not 0 < tol < np.inf:
            raise ParameterError("tol", tol, "a finite number greater than 0")
        return cls(solver, float(tol), between("max_iter", max_iter, 1, _MOST_ITERATIONS))

    def are_used_for(self, data: GivenData) -> bool:
        """Return whether gradients are used for such data; ParameterError for "direct" with sparse X."""
        if data.sparse:
            self.check_sparse()
        return data.sparse or self.solver == "cg"

    def check_sparse(self) -> None:
        """Raise ParameterError for a solver that sparse X is not learned with."""
        if self.solver == "direct":
            raise ParameterError("solver", self.solver, "auto or cg where X is sparse")

    def iterations(
        self, data: QueryData | SparseQueryData, labels: Floats, regularization: float
    ) -> Iterator[Iteration]:
        """Minimise ||y^ - X^w||² + λ||w||², with one :class:`Iteration` per step; few of very many weights.

        Parameters
        ----------
        data : QueryData or SparseQueryData
        labels : ndarray of shape (m,)
            Labels, centred within each query, y^.
        regularization : float
            λ > 0.

        Yields
        ------
        Iteration
            Its criterion is the minimised sum.

        Notes
        -----
        O(entries of X + n) time per iteration, and memory.
        """
        large = worthwhile(6.0 * data.X.nnz) if data.sparse else False  # an iteration
        with pool(large) as (executor, workers):
            product = gram_product(data, executor, workers)
            right = product.right(labels)
            constant = float(labels @ labels)
            states = minimise(
                product, product.squares, right, constant, regularization, self.tol, self.max_iter
            )
            yield from iterations(states, data.X.shape[1])

    def solution(
        self, data: QueryData | SparseQueryData, labels: Floats, regularization: float
    ) -> Waiting[Iteration]:
        """Return the last of :meth:`iterations`, with progress events, and a note if they do not converge."""
        first = 0.0
        for last in self.iterations(data, labels, regularization):
            first = first or last.gap
            if not last.converged:
                yield WorkProgress(_PROGRESS_TEXT, _progress_share(last.gap / first))
        if not last.converged:
            yield self._unconverged(last)
        return last

    def warn_unless_converged(self, last: Iteration) -> None:
        """Issue a ConvergenceWarning if the last iteration is not close enough to the minimum."""
        if not last.converged:
            note = self._unconverged(last)
            warnings.warn(note.what, note.kind, stacklevel=5)

    def _unconverged(self, last: Iteration) -> Note:
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - where it is needed

        sentence = (
            f"RankRLS stopped after {last.number} conjugate gradient steps at an objective of "
            f"{last.criterion:.6g}, at most {last.gap:.3g} above the minimum (tol {self.tol:g}). "
            f"Increase max_iter, now {self.max_iter}, or tol."
        )
        return Note(sentence, kind=ConvergenceWarning)


def _progress_share(decrease: float) -> float:
    """Return the share of the work that is done; ``decrease`` is the squared residual by the first one."""
    return min(1.0, math.log(max(decrease, _ROUNDING_SHARE)) / math.log(_ROUNDING_SHARE))
