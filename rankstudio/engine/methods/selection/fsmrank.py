"""FSMRank: ranking errors minimised together with a penalty on weak and on redundant features."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.catalog.fsm import FSMRANK
from rankstudio.engine.methods.memory_need import PAIRS, DataShape, MemoryNeed, sums_need
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.selection.feature_importance import (
    comparing_features,
    nearest_positive_semidefinite,
    weighing_features,
)
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Note, Value, WorkProgress


class IndefiniteSimilarityWarning(UserWarning):
    """The matrix of similarities is not positive semidefinite, so the objective may not be convex."""


@dataclass(frozen=True, eq=False)
class FSMStep(Step):
    """One iteration of FSMRank; ``selected`` are the features in use, the greatest weight first.

    Attributes
    ----------
    lipschitz : float
        Estimate of the Lipschitz constant; NaN for the subgradient method.
    """

    lipschitz: float

    @property
    def n_nonzero(self) -> int:
        """How many features are in use."""
        return len(self.selected)


@dataclass
class _Similarities:
    """How similar the features of some data are, by the kind of similarity."""

    by_kind: dict[str, Floats] = field(default_factory=dict)


class FSMRank(Selector):
    """FSMRank selects features and learns their weights jointly, by convex optimisation (Lai et al. 2013).

    Minimises, over non-negative weights w of the n features and of their negatives,

        λ1/2 w'Aw + λ2 sum_i w_i / s_i + 1/p sum over pairs of max(0, 1 - w'(x_i - x_j))²       (eq. (2)),

    s_i the importance of a feature, A_ij the similarity of two, and p the number of pairs of documents of
    one query with different labels. A weight of the model is that of the feature minus that of its negative.

    Parameters
    ----------
    lambda1 : float, default 0.1
        λ1, from 0 up: the penalty on similar features that both have weight.
    lambda2 : float, default 1e-4
        λ2, from 0 up: the penalty on weight, the greater the less important the feature.
    importance : {"pearson", "ndcg", "map", "none"}, default "pearson"
        s: |Pearson's correlation| with the labels; NDCG@10 or MAP of ranking by the feature alone; 1.
        A feature without importance, such as a constant one, is out.
    similarity : {"pearson", "kendall", "none"}, default "pearson"
        A: |Pearson's correlation|; |Kendall's τ-b| averaged over queries; the identity.
    project : bool, default False
        Replace an A that is not positive semidefinite by the nearest one that is. Absolute correlations
        need not be, and then the objective may not be convex; without the projection there is a warning.
    solver : {"nesterov", "subgradient"}, default "nesterov"
        Algorithm 1, or the projected subgradient method the paper compares it with, which is far slower.
    tol : float, default 1e-10
        Algorithm 1 stops where an iteration changes the objective by at most this share of it. The paper's
        1e-4 stops up to some thousandths above the minimum, with other features first than the minimum has.
        The default is the loosest power of ten that comes within 1e-5 of it on every fold of MQ2008, with the
        λ of the catalog and with λ1 = 0.5, λ2 = 0: within 2e-6, where 1e-9 leaves 1.5e-5. The first ten
        features are those of the minimum in 33 of these 35 fits, in its order wherever their weights differ
        by more than 2 %, but for λ1 = 0.01 with λ2 up to 1e-4. There like features share their weight in ways
        that the objective hardly tells apart, and ``max_iter`` ends the search.
    max_iter : int, default 400
        T.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        The weights.
    objective_ : float
        The minimised sum.
    n_iter_ : int
        Iterations taken.
    support_ : ndarray of shape (n,), bool
        Which features have weight.
    selection_order_ : ndarray of shape (k,)
        The features with weight, the greatest |weight| first (section IV.D).
    coef_path_ : ndarray of shape (k, n)
        Models with the first 1, 2, … k of them, their weights unchanged (section IV.D).

    Notes
    -----
    The paper takes features scaled to [0, 1]; other scales work, the Lipschitz constant is found by the line
    search. O(mn²) for A, then O(mn + m log m) an iteration for m documents: no list of pairs.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> FSMRank(lambda2=0.01).fit(train.X, train.y, qid=train.qid).selection_order_
    array([ 0,  3,  1,  2, 16,  4, 12,  7])
    """

    entry = FSMRANK

    objective_: float
    n_iter_: int

    def __init__(
        self,
        lambda1: float = 0.1,
        lambda2: float = 1e-4,
        importance: str = "pearson",
        similarity: str = "pearson",
        project: bool = False,
        solver: str = "nesterov",
        tol: float = 1e-10,
        max_iter: int = 400,
    ) -> None:
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.importance = importance
        self.similarity = similarity
        self.project = project
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.max_iter

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape, PAIRS)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one :class:`FSMStep` an iteration; its criterion is the objective."""
        data = training_data(data)
        tol = self.checked("tol")
        max_iter = self.checked("max_iter")
        solver = self.checked("solver")
        penalties = yield from self._penalties(data)
        # numba is imported where it is needed: reading the catalog must not wait for it.
        from rankstudio.engine.arithmetic.optimisers.nesterov import FSMObjective, accelerated, subgradient  # noqa: PLC0415
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415

        number, n = 0, data.X.shape[1]
        with pairs_of(data) as problem:
            objective = FSMObjective(problem, *penalties)
            descent = (
                subgradient(objective, max_iter)
                if solver == "subgradient"
                else accelerated(objective, tol, max_iter)
            )
            for now in descent:
                if isinstance(now, WorkProgress):
                    yield now
                    continue
                number += 1
                coef = now.w[:n] - now.w[n:]
                chosen = tuple(by_weight(coef).tolist())
                yield FSMStep(number, chosen, coef, now.objective, np.empty(0), now.lipschitz)

    def objectives(
        self, data: TrainingData, coefs: Sequence[Floats]
    ) -> Generator[WorkProgress, None, list[float]]:
        """Return the objective of some models, shape (n,) each; a weight is the feature's or its negative's.

        The data are those of :meth:`work`, which has warned of similarities that are not convex.
        """
        data = training_data(data)
        penalties = yield from _without_notes(self._penalties(data))
        from rankstudio.engine.arithmetic.optimisers.nesterov import FSMObjective  # noqa: PLC0415 - numba
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415 - numba

        values = []
        with pairs_of(data) as problem:
            objective = FSMObjective(problem, *penalties)
            for coef in coefs:
                w = np.concatenate((np.maximum(coef, 0.0), np.maximum(-coef, 0.0)))
                values.append((yield from objective.value(w)))
        return values

    def _penalties(
        self, data: TrainingData
    ) -> Generator[WorkProgress, None, tuple[Floats, Floats, float, float]]:
        """Return similarity, importance, λ1 and λ2."""
        lambda1, lambda2 = self.checked("lambda1"), self.checked("lambda2")
        s = yield from weighing_features(data, self.checked("importance"))
        return (yield from self._similarity(data)), s, lambda1, lambda2

    def _similarity(self, data: TrainingData) -> Generator[WorkProgress, None, Floats]:
        kind, project = self.checked("similarity"), self.checked("project")
        known = data.shared.of(_Similarities).by_kind
        matrix: Floats = yield from once(known, kind, comparing_features(data, kind))
        if self.lambda1 == 0:
            return matrix
        least = float(np.linalg.eigvalsh(matrix)[0])
        if least >= -1e-10 * matrix.shape[0]:
            return matrix
        if project:
            return nearest_positive_semidefinite(matrix)
        yield Note(
            f"The {self.similarity} similarities of the features are not positive semidefinite (least "
            f"eigenvalue {least:.3g}), so the objective may not be convex. Set the parameter “make convex” "
            "(project) to make it convex.",
            kind=IndefiniteSimilarityWarning,
        )
        return matrix

    def _finish(self, data: QueryData, taken: list[Step]) -> None:
        super()._finish(data, taken)
        last = taken[-1]
        self.objective_, self.n_iter_ = last.criterion, last.number
        self.coef_path_ = np.array([step.coef for step in top_features(last)]).reshape(-1, last.coef.size)


def top_features(last: Step) -> Iterator[Step]:
    """Yield one step a feature with weight, the greatest |weight| first: the model cut down to those so far.

    The weights stay as they are (section IV.D). The criterion is NaN: the objective does not fit cut models.
    """
    coef = np.zeros_like(last.coef)
    order = by_weight(last.coef)
    for k, feature in enumerate(order.tolist(), start=1):
        coef = coef.copy()
        coef[feature] = last.coef[feature]
        yield Step(k, tuple(order[:k].tolist()), coef, float("nan"), np.empty(0))


def by_weight(coef: Floats) -> Ints:
    """Return the features with weight, the greatest |weight| first and of equal ones the first column."""
    order = np.argsort(-np.abs(coef), kind="stable").astype(np.int64)
    chosen: Ints = order[: np.count_nonzero(coef)]
    return chosen


def _without_notes(work: Generator[WorkProgress, None, Value]) -> Generator[WorkProgress, None, Value]:
    """Give the signs of life of a generator, but not its notes, and return its value."""
    while True:
        try:
            told = next(work)
        except StopIteration as end:
            value: Value = end.value
            return value
        if not isinstance(told, Note):
            yield told
