"""FSMSVM: features chosen by FSMRank, weights by RankSVM (Lai et al. 2013, section IV.D)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankstudio.engine.methods.catalog import fsm
from rankstudio.engine.methods.memory_need import PAIRS, DataShape, MemoryNeed, sums_need
from rankstudio.engine.methods.selection.base import GrowingSelector
from rankstudio.engine.methods.selection.filter_base import without
from rankstudio.engine.methods.selection.fsmrank_top import last_step
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress

_TOL = 1e-6  # duality gap of a refitted model beside its objective
_MAX_ITER = 1000  # truncated Newton takes some 20; this only ends what cannot converge


class FSMSVM(GrowingSelector):
    """FSMSVM orders features by FSMRank's weights and refits RankSVM, squared hinge, on the first k.

    Parameters
    ----------
    n_features_to_select : int, optional
        How many features to select at most, k; all that FSMRank gives a weight where it is not given, and
        never more than those.
    C : float, default 1.0
        Of RankSVM, greater than 0: ½ w'w + C sum over pairs of the squared hinge.
    lambda1, lambda2 : float, default 0.1 and 1e-4
        Of FSMRank, as are the parameters that follow.
    importance : {"pearson", "ndcg", "map", "none"}, default "pearson"
    similarity : {"pearson", "kendall", "none"}, default "pearson"
    project : bool, default False
    tol : float, default 1e-10
    max_iter : int, default 400

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        RankSVM's weights with all selected features, 0 for the others.
    support_ : ndarray of shape (n,), bool
        Which features are selected.
    selection_order_ : ndarray of shape (k,)
        Their 0-based columns, the greatest weight of FSMRank first.
    criterion_path_ : ndarray of shape (k,)
        RankSVM's objective after each step; it falls with every feature.
    coef_path_ : ndarray of shape (k, n)
        The model after each step.
    n_iter_ : int
        Iterations that FSMRank took.

    Notes
    -----
    FSMRank's cost, then a few times O(mk + m log m) for the model with k features of m documents.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> FSMSVM(n_features_to_select=3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([0, 3, 1])
    """

    entry = fsm.FSMSVM

    n_iter_: int

    def __init__(
        self,
        n_features_to_select: int | None = None,
        C: float = 1.0,
        lambda1: float = 0.1,
        lambda2: float = 1e-4,
        importance: str = "pearson",
        similarity: str = "pearson",
        project: bool = False,
        tol: float = 1e-10,
        max_iter: int = 400,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.importance = importance
        self.similarity = similarity
        self.project = project
        self.tol = tol
        self.max_iter = max_iter

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape, PAIRS)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one step a selected feature: RankSVM with it and all before it.

        Where FSMRank leaves every weight at 0, the one step is the model without a feature.
        """
        data = training_data(data)
        n = data.X.shape[1]
        C = self.checked("C")
        wanted = self._most(n)
        _, last = yield from last_step(self.get_params(), data)
        self.n_iter_ = last.number
        order, scores = last.selected[:wanted], np.abs(last.coef)
        from rankstudio.engine.arithmetic.optimisers.pair_problem import solution  # noqa: PLC0415 - numba
        from rankstudio.engine.arithmetic.optimisers.truncated_newton import minimise_squared_hinge  # noqa: PLC0415
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415 - numba

        with pairs_of(data) as pairs:
            if not order:
                yield Step(1, (), np.zeros(n), C * (yield from pairs.count()), scores)
            for k in range(1, len(order) + 1):
                chosen = list(order[:k])
                problem = pairs.narrowed(chosen)
                now = yield from solution(minimise_squared_hinge(problem, C, _TOL, _MAX_ITER))
                coef = np.zeros(n)
                coef[chosen] = now.w
                compared = without(scores, chosen[:-1])
                yield Step(k, tuple(chosen), coef, now.objective, compared)
