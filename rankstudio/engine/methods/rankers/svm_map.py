"""SVM-MAP: a structural support vector machine for average precision (Yue et al. 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankstudio.engine.methods.base import ConvergingRanker
from rankstudio.engine.methods.catalog.rankers import SVM_MAP
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import WorkProgress

if TYPE_CHECKING:
    from rankstudio.engine.arithmetic.optimisers.conjugate_gradient import OptimizerState

_RELEVANT = 1.0  # from this label on, as for LETOR's MAP


@dataclass(eq=False, repr=False)
class SVMMAP(ConvergingRanker):
    """SVM-MAP fits a structural support vector machine for average precision (Yue et al. 2007).

    Minimises ½ w'w + C/Q' sum_q ξ_q over the Q' queries with both relevant documents, of labels from 1 up,
    and others: the paper's Optimization Problem 1, where every query is such a one. The average precision of
    the rest is the same for all w, so they carry no constraint and are not counted. The slack of a query is

        ξ_q = max_y 1 - AP(y) + w'Ψ(y) - w'Ψ(y*),    Ψ(y) = 1/(RN) sum_{i, j} y_ij (x_i - x_j),

    over all rankings y of its documents, with i over its R relevant documents and j over its N others,
    y_ij = 1 where y has i above j and -1 where not, and y* a ranking with all relevant documents first. It is
    at least 1 - AP of the ranking by w.

    Parameters
    ----------
    C : float, default 10.0
        Weight of the mean slack against the squared norm, greater than 0.
    tol : float, default 1e-4
        Stops where the duality gap is at most this share of the objective, and of what it has fallen by
        since w = 0; greater than 0.
    max_iter : int, default 1000
        Cutting planes at most, 1 to 1,000,000.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        The weights.
    objective_ : float
        The minimised sum.
    gap_ : float
        Duality gap: ``objective_`` is at most this much above the minimum.
    n_iter_ : int
        Cutting planes taken.

    Notes
    -----
    Cutting planes are under the mean slack, all queries together: the one-slack form with margin rescaling of
    Joachims, Finley & Yu (2009), whose minimum is that of the paper's slack for each query. The most violated
    ranking of d documents takes O(d log d) where Algorithm 2 of the paper takes O(d log d + RN), so a plane
    costs O(mn + m log m) for m documents and n features, and its line search some more O(m log m).
    Data in which no query has both relevant documents and others give one step, a model of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> X, qid = np.array([[3.0], [1.0], [2.0], [0.0]]), np.array([1, 1, 2, 2])
    >>> SVMMAP(C=10.0).fit(X, np.array([1, 0, 1, 0]), qid=qid).coef_.round(3)
    array([0.125])
    """

    entry = SVM_MAP

    C: float = 10.0
    tol: float = 1e-4
    max_iter: int = 1000

    def _minimise(
        self, data: TrainingData, C: float, tol: float, max_iter: int
    ) -> Iterator[OptimizerState | WorkProgress]:
        from rankstudio.engine.arithmetic.optimisers.bundle_method import minimise_by_planes  # noqa: PLC0415 - numba
        from rankstudio.engine.methods.rankers.average_precision import planes_of  # noqa: PLC0415 - numba

        with planes_of(data, _RELEVANT) as problem:
            yield from minimise_by_planes(problem, C, tol, max_iter)
