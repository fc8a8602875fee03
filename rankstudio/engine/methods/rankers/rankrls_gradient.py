"""RankRLS by conjugate gradients: for any number of sparse features, which are never made dense."""

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

# A larger number is probably a mistake: without rounding, n would suffice.
_MOST_ITERATIONS = 10_000_000


_PROGRESS_TEXT = "solving the normal equations"
# Share of the first squared residual that rounding leaves at the end.
_ROUNDING_SHARE = 1e-31


@dataclass(frozen=True)
class ConjugateGradients:
    """Settings of conjugate gradients: when they are used, and when they stop.

    Attributes
    ----------
    solver : str
        "auto", "direct" or "cg".
    tol : float
        Backward error of the weights at which iterations stop, see
        `rankstudio.engine.arithmetic.optimisers.conjugate_gradient`.
    max_iter : int
        Maximum number of iterations.
    """

    solver: str
    tol: float
    max_iter: int

    @classmethod
    def of(cls, solver: Any, tol: Any, max_iter: Any) -> ConjugateGradients:
        """Check the parameters of an estimator, and return them as settings; ParameterError if one is invalid."""
        if solver not in SOLVERS:
            raise ParameterError("solver", solver, f"one of {', '.join(SOLVERS)}")
        # For Python, True and False are numbers, too.
        is_number = isinstance(tol, float | int | np.floating) and not isinstance(
            tol, bool
        )
        if not is_number or not 0 < tol < np.inf:
            raise ParameterError("tol", tol, "a finite number greater than 0")
        return cls(
            solver, float(tol), between("max_iter", max_iter, 1, _MOST_ITERATIONS)
        )

    def are_used_for(self, data: GivenData) -> bool:
        """Return whether conjugate gradients are used for data: if chosen, or by default if X is sparse.

        Raises a ParameterError for the solver "direct" with sparse X.
        """
        if data.sparse:
            self.check_sparse()
        return data.sparse or self.solver == "cg"

    def check_sparse(self) -> None:
        """Raise a ParameterError for a solver that does not support sparse X."""
        if self.solver == "direct":
            raise ParameterError("solver", self.solver, "auto or cg where X is sparse")

    def iterations(
        self, data: QueryData | SparseQueryData, labels: Floats, regularization: float
    ) -> Iterator[Iteration]:
        """Minimise ||y^ - X^w||² + λ||w||², and yield the iterations, or only some of many large ones.

        Parameters
        ----------
        data : QueryData or SparseQueryData
            Documents; X^ are their features, centred within each query.
        labels : ndarray of shape (m,)
            Labels, centred within each query, y^.
        regularization : float
            λ > 0.

        Yields
        ------
        Iteration
            An iteration, whose criterion is the minimised sum.

        Notes
        -----
        O(entries of X + n) time per iteration, and memory.
        """
        # Threads for sparse data whose iterations take long enough, at
        # about 6 ns per entry. The products of dense data have the
        # threads of BLAS.
        uses_threads = worthwhile(6.0 * data.X.nnz) if data.sparse else False
        with pool(uses_threads) as (executor, workers):
            # The sum is w'(X^'X^ + λI)w - 2 w'X^'y^ + y^'y^. `product`
            # multiplies by X^'X^, whose diagonal is `squares`. It is
            # used to scale the unknowns; `right` is X^'y^.
            product = gram_product(data, executor, workers)
            right = product.right(labels)
            constant = float(labels @ labels)
            states = minimise(
                product,
                product.squares,
                right,
                constant,
                regularization,
                self.tol,
                self.max_iter,
            )
            yield from iterations(states, data.X.shape[1])

    def solution(
        self, data: QueryData | SparseQueryData, labels: Floats, regularization: float
    ) -> Waiting[Iteration]:
        """Return the last iteration of the minimisation, and a note if it has not converged.

        ``labels`` (m,) are centred within queries. The gap is how far
        an iteration is at most above the minimum. The progress is the
        share of the way from the first gap to the tolerance.
        ``regularization`` is λ. ``data`` has the documents. The
        generator yields progress events, and then returns the result.
        """
        first_gap = 0.0
        for last in self.iterations(data, labels, regularization):
            first_gap = first_gap or last.gap  # set once
            if not last.converged:
                yield WorkProgress(
                    _PROGRESS_TEXT, _progress_share(last.gap / first_gap)
                )
        if not last.converged:
            yield self._unconverged(last)
        return last

    def warn_unless_converged(self, last: Iteration) -> None:
        """Issue a ConvergenceWarning if the last iteration is not close enough to the minimum."""
        if not last.converged:
            note = self._unconverged(last)
            # The warning names the line that calls fit.
            warnings.warn(note.what, note.kind, stacklevel=5)

    def _unconverged(self, last: Iteration) -> Note:
        """Return the note about a last iteration that is not close enough to the minimum."""
        from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 - where it is needed

        sentence = (
            f"RankRLS stopped after {last.number} conjugate gradient steps at an objective of "
            f"{last.criterion:.6g}, at most {last.gap:.3g} above the minimum (tol {self.tol:g}). "
            f"Increase max_iter, now {self.max_iter}, or tol."
        )
        return Note(sentence, kind=ConvergenceWarning)


def _progress_share(decrease: float) -> float:
    """Return the share of the work that is done, from 0 to 1, by how much the gap has decreased.

    ``decrease`` is the gap divided by the first one; its logarithm
    decreases about linearly.
    """
    return min(
        1.0, math.log(max(decrease, _ROUNDING_SHARE)) / math.log(_ROUNDING_SHARE)
    )
