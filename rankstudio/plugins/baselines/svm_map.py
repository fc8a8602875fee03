"""SVM-MAP: a structural support vector machine for average precision (Yue et al. 2007)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from rankstudio.engine.methods.base import ConvergingRanker
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.baselines.entries import SVM_MAP

if TYPE_CHECKING:
    from rankstudio.engine.arithmetic.optimisers.conjugate_gradient import (
        OptimizerState,
    )

# documents with this label or a higher one are relevant, as for LETOR's MAP
_MIN_RELEVANT_LABEL = 1.0


@dataclass(eq=False, repr=False)
class SVMMAP(ConvergingRanker):
    """SVM-MAP fits a structural support vector machine for average precision (Yue et al. 2007).

    Minimizes ½ w'w + C/Q' sum_q ξ_q over the Q' queries that have both
    relevant documents (labels from 1 up) and irrelevant ones. This is
    the paper's Optimization Problem 1, where all queries are of this
    kind. Other queries have the same average precision for all w, so
    they add no constraint and are not counted. The slack of a query is

        ξ_q = max_y 1 - AP(y) + w'Ψ(y) - w'Ψ(y*),    Ψ(y) = 1/(RN) sum_{i, j} y_ij (x_i - x_j),

    where y are all rankings of its documents, i its R relevant and j
    its N irrelevant documents, y_ij = 1 if y ranks i above j and -1
    otherwise, and y* a ranking with all relevant documents first. The
    slack is at least 1 - AP of the ranking by w.

    Parameters
    ----------
    C : float, default 10.0
        Weight of the mean slack relative to the squared norm, greater than 0.
    tol : float, default 1e-4
        Stops when the duality gap is at most this share of the
        objective, and of its reduction from w = 0; greater than 0.
    max_iter : int, default 1000
        Maximum number of cutting planes, 1 to 1,000,000.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        The weights.
    objective_ : float
        Minimum of the objective.
    gap_ : float
        Duality gap: an upper bound of the distance of ``objective_`` from the minimum.
    n_iter_ : int
        Number of cutting planes.

    Notes
    -----
    Cutting planes bound the mean slack of all queries together: the
    one-slack form with margin rescaling of Joachims, Finley & Yu
    (2009), which has the same minimum as the paper's slack per query.
    The most violated ranking of d documents takes O(d log d), compared
    with O(d log d + RN) for Algorithm 2 of the paper, so a plane costs
    O(mn + m log m) for m documents and n features, and its line search
    a few more O(m log m). If no query has both relevant documents and
    others, the only step is a model of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> X, qid = np.array([[3.0], [1.0], [2.0], [0.0]]), np.array([1, 1, 2, 2])
    >>> SVMMAP(C=10.0).fit(X, np.array([1, 0, 1, 0]), qid=qid).coef_.round(3)
    array([0.125])
    """

    entry = SVM_MAP

    C: float = 10.0
    _: KW_ONLY
    tol: float = 1e-4
    max_iter: int = 1000

    def _minimise(
        self, data: TrainingData, C: float, tol: float, max_iter: int
    ) -> Iterator[OptimizerState | WorkProgress]:
        """Minimise the loss by cutting planes, and yield the states of the optimiser, and progress events.

        ``data`` are the training documents. ``C`` weighs the loss, and
        the optimiser stops at a relative duality gap of ``tol``, or
        after ``max_iter`` planes.
        """
        from rankstudio.engine.arithmetic.optimisers.bundle_method import (  # noqa: PLC0415 - numba
            minimise_by_planes,
        )
        from rankstudio.plugins.baselines.average_precision import planes_of  # noqa: PLC0415 - numba

        with planes_of(data, _MIN_RELEVANT_LABEL) as problem:
            yield from minimise_by_planes(problem, C, tol, max_iter)
