"""FSMRank: ranking errors minimised together with a penalty on weak and on redundant features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.language import tr
from rankstudio.engine.methods.capabilities import Compared, ComparedByQuery, FeaturePenalties
from rankstudio.engine.methods.catalog import selectors
from rankstudio.engine.methods.memory_need import PAIRS, DataShape, MemoryNeed, sums_need
from rankstudio.engine.methods.own_values import OwnValues, own_importance, own_similarity
from rankstudio.engine.methods.selection.base import GrowingSelector, Selector, as_key, without
from rankstudio.engine.methods.selection.kendall import comparing_rankings, kendall_between
from rankstudio.engine.methods.selection.single_feature import directed_measures
from rankstudio.engine.methods.shards.sums import summed
from rankstudio.engine.methods.shards.training_data import GivenData, TrainingData, training_data
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.work import Note, Waiting, WorkProgress, finish, without_notes


class IndefiniteSimilarityWarning(UserWarning):
    """The similarity matrix is not positive semidefinite, so the objective may not be convex."""


@dataclass(frozen=True, eq=False)
class FSMStep(Step):
    """One iteration of FSMRank; ``selected`` are the features with weight, largest weight first.

    Attributes
    ----------
    lipschitz : float
        Estimate of the Lipschitz constant; NaN for the subgradient method.
    """

    lipschitz: float


@dataclass
class _Similarities:
    """How similar the features of some data are, by the kind of similarity."""

    by_kind: dict[str, Floats] = field(default_factory=dict)


@dataclass(eq=False, repr=False, kw_only=True)
class _Weighing(Selector):
    """Base class of FSMRank and of what begins with it: its parameters."""

    lambda1: float = 0.1
    lambda2: float = 1e-4
    importance: str | OwnValues = "pearson"
    similarity: str | OwnValues = "pearson"
    project: bool = False
    tol: float = 1e-10
    max_iter: int = 400

    n_iter_: int = field(init=False)

    def compared_by_query(self, data: TrainingData, n_features: int) -> Compared:
        """Yield FSMRank's absolute weights; those without a query follow from derivatives of its objective.

        Similarities and importances stay as they are, and features without weight stay without.
        """
        from rankstudio.engine.methods.selection.query_parts import pair_slopes  # noqa: PLC0415 - numba

        fsmrank, last = yield from last_step(self.get_params(), data)
        order = by_weight(last.coef)
        similarity, _, lambda1, _ = yield from without_notes(fsmrank.penalties(data))
        n = data.X.shape[1]
        Q = data.ptr.size - 1
        parts = np.zeros((n, Q))
        scores = np.full(n, np.nan)
        if order.size:
            weights = last.coef[order]
            slopes, curvature, pairs = yield from pair_slopes(data, order, weights)
            n_pairs = max(1.0, float(pairs.sum()))
            rest = np.maximum(n_pairs - pairs, 1.0)
            total = slopes.sum(axis=1, keepdims=True)
            change = (total - slopes) / rest - total / n_pairs
            signs = np.sign(weights)
            bend = curvature / n_pairs + lambda1 * similarity[np.ix_(order, order)] * np.outer(signs, signs)
            without = weights[:, None] - np.linalg.lstsq(bend, change, rcond=None)[0]
            # A weight that would change its sign ends at 0.
            parts[order] = np.abs(weights)[:, None] - np.maximum(signs[:, None] * without, 0.0)
            scores[order] = np.abs(weights)
        for column in order[:n_features].tolist():
            yield ComparedByQuery((column,), scores.copy(), parts, np.ones(Q, dtype=np.bool_))
            scores[column] = np.nan

    def weighed_features(
        self, data: TrainingData, columns: Ints, other_columns: Ints
    ) -> Waiting[FeaturePenalties]:
        """Return the importance of some features, of their negatives, and their similarity to others."""
        names = FSMRank().get_params()
        fsmrank = FSMRank(**{name: value for name, value in self.get_params().items() if name in names})
        importances = yield from weighing_features(data, fsmrank.checked("importance"))
        n = data.X.shape[1]
        if isinstance(fsmrank.similarity, str) and fsmrank.similarity == "kendall" and not fsmrank.project:
            similarity = yield from kendall_between(data, columns, other_columns)
        else:
            matrix = yield from without_notes(fsmrank.similarities(data))  # the run gave them
            similarity = np.asarray(matrix[np.ix_(columns, other_columns)])
        return FeaturePenalties(importances[columns], importances[n:][columns], similarity)


@dataclass(eq=False, repr=False)
class FSMRank(_Weighing):
    """FSMRank selects features and learns their weights jointly, by convex optimisation (Lai et al. 2013).

    Minimises, over nonnegative weights w of the n features and of their negatives,

        λ1/2 w'Aw + λ2 sum_i w_i / s_i + 1/p sum over pairs of max(0, 1 - w'(x_i - x_j))²       (eq. (2)),

    where s_i is the importance of a feature, A_ij the similarity of two features, and p the number of pairs
    of documents of one query with different labels. The weight of a feature in the model is its weight minus
    that of its negative.

    Parameters
    ----------
    lambda1 : float, default 0.1
        λ1, from 0 up: penalty on pairs of similar features with nonzero weights.
    lambda2 : float, default 1e-4
        λ2, from 0 up: penalty on weight, larger for less important features.
    importance : {"pearson", "ndcg", "map", "none"}, array-like or callable, default "pearson"
        s: |Pearson's correlation| with the labels; NDCG@10 or MAP of ranking by the feature alone; 1; or own
        numbers from 0 up, of shape (n,), or (2n,) with those of the negatives last, or a function of X, y and
        the query of each document that returns them. Features without importance, such as constant ones, are
        excluded.
    similarity : {"pearson", "kendall", "none"}, array-like or callable, default "pearson"
        A: |Pearson's correlation|; |Kendall's τ-b| averaged over queries; the identity; or an own symmetric
        matrix of shape (n, n), or a function that returns it.
    project : bool, default False
        Replace an indefinite A by the nearest positive semidefinite matrix. Absolute correlations may be
        indefinite, and then the objective may not be convex; without the projection there is a warning.
    tol : float, default 1e-10
        Algorithm 1 stops when an iteration changes the objective by at most this share. The paper's 1e-4
        stops up to a few thousandths above the minimum, with another order of the first features. The default
        is the loosest power of ten that reaches the minimum within 1e-5 on every fold of MQ2008, with the λ
        of the catalog and with λ1 = 0.5, λ2 = 0: within 2e-6, compared with 1.5e-5 for 1e-9. The first ten
        features are those of the minimum in 33 of these 35 fits, in the same order if their weights differ by
        more than 2 %, except for λ1 = 0.01 with λ2 up to 1e-4. There similar features share their weight in
        ways that hardly change the objective, and ``max_iter`` ends the search.
    max_iter : int, default 400
        T.
    solver : {"nesterov", "subgradient"}, default "nesterov"
        Algorithm 1, or the projected subgradient method that the paper compares it with, which is far slower.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        The weights.
    objective_ : float
        Minimum of the objective.
    n_iter_ : int
        Iterations taken.
    support_ : ndarray of shape (n,), bool
        Mask of the features with weight.
    selection_order_ : ndarray of shape (k,)
        Features with weight, the largest |weight| first (section IV.D).
    coef_path_ : ndarray of shape (k, n)
        Models with the first 1, 2, … k of them, with unchanged weights (section IV.D).

    Notes
    -----
    The paper uses features scaled to [0, 1]; other scales work, because the line search finds the Lipschitz
    constant. O(mn²) for A, then O(mn + m log m) per iteration for m documents, without a list of pairs.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> FSMRank(lambda2=0.01).fit(train.X, train.y, qid=train.qid).selection_order_
    array([ 0,  3,  1,  2, 16,  4, 12,  7])
    """

    entry = selectors.FSMRANK

    objective_: float = field(init=False)

    _: KW_ONLY
    solver: str = "nesterov"

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.max_iter

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape, PAIRS)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one :class:`FSMStep` per iteration; its criterion is the objective."""
        data = training_data(data)
        tol = self.checked("tol")
        max_iter = self.checked("max_iter")
        solver = self.checked("solver")
        penalties = yield from self.penalties(data)
        # numba is imported where it is needed: reading the catalog must not wait for it.
        from rankstudio.engine.arithmetic.optimisers.nesterov import FSMObjective, accelerated, subgradient  # noqa: PLC0415
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415

        number = 0
        n = data.X.shape[1]
        with pairs_of(data) as problem:
            objective = FSMObjective(problem, *penalties)
            descent = (
                subgradient(objective, max_iter)
                if solver == "subgradient"
                else accelerated(objective, tol, max_iter)
            )
            for state in descent:
                if isinstance(state, WorkProgress):
                    yield state
                    continue
                number += 1
                coef = state.w[:n] - state.w[n:]
                chosen = tuple(by_weight(coef).tolist())
                yield FSMStep(number, chosen, coef, state.objective, np.empty(0), state.lipschitz)

    def objectives(self, data: TrainingData, coefs: Sequence[Floats]) -> Waiting[list[float]]:
        """Return the objective of some models (n,); a weight is that of the feature or of its negative.

        The data are those of :meth:`work`, which warns of similarities that are not convex.
        """
        data = training_data(data)
        penalties = yield from without_notes(self.penalties(data))
        from rankstudio.engine.arithmetic.optimisers.nesterov import FSMObjective  # noqa: PLC0415 - numba
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415 - numba

        values = []
        with pairs_of(data) as problem:
            objective = FSMObjective(problem, *penalties)
            for coef in coefs:
                w = np.concatenate((np.maximum(coef, 0.0), np.maximum(-coef, 0.0)))
                values.append((yield from objective.value(w)))
        return values

    def penalties(self, data: TrainingData) -> Waiting[tuple[Floats, Floats, float, float]]:
        """Return similarity, importance, λ1 and λ2."""
        lambda1 = self.checked("lambda1")
        lambda2 = self.checked("lambda2")
        s = yield from weighing_features(data, self.checked("importance"))
        return (yield from self.similarities(data)), s, lambda1, lambda2

    def similarities(self, data: TrainingData) -> Waiting[Floats]:
        """Return A, shape (n, n), with a note if it is indefinite."""
        kind = self.checked("similarity")
        project = self.checked("project")
        by_kind = data.shared.of(_Similarities).by_kind
        if isinstance(kind, str):
            matrix: Floats = yield from once(by_kind, kind, comparing_features(data, kind))
        else:
            matrix = own_similarity(kind, data)
        if self.lambda1 == 0:
            return matrix
        least = float(np.linalg.eigvalsh(matrix)[0])
        # Entries up to 1 bound the norm by n, of which an eigenvalue is off by some eps: 1e-10 n is above.
        if least >= -1e-10 * matrix.shape[0]:
            return matrix
        if project:
            return nearest_positive_semidefinite(matrix)
        name = kind if isinstance(kind, str) else "own"
        sentence = tr(
            "The {name} similarities of the features are not positive semidefinite (least eigenvalue "
            "{least:.3g}), so the objective may not be convex. Turn on “make convex” (project)."
        ).format(name=name, least=least)
        yield Note(sentence, kind=IndefiniteSimilarityWarning)
        return matrix

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        super()._finish(data, steps)
        last = steps[-1]
        self.objective_ = last.criterion
        self.n_iter_ = last.number
        self.coef_path_ = np.array([step.coef for step in top_features(last)]).reshape(-1, last.coef.size)


def top_features(last: Step) -> Iterator[Step]:
    """Yield the model truncated to 1, 2, … features, the largest |weight| first.

    The weights are unchanged (section IV.D). The criterion is NaN, because the objective does not apply to
    truncated models.
    """
    coef = np.zeros_like(last.coef)
    order = by_weight(last.coef)
    for k, feature in enumerate(order.tolist(), start=1):
        coef = coef.copy()
        coef[feature] = last.coef[feature]
        yield Step(k, tuple(order[:k].tolist()), coef, float("nan"), np.empty(0))


def by_weight(coef: Floats) -> Ints:
    """Return the features with weight, the largest |weight| first.

    Ties go to the first column.
    """
    order = np.argsort(-np.abs(coef), kind="stable").astype(np.int64)
    chosen: Ints = order[: np.count_nonzero(coef)]
    return chosen


@dataclass(eq=False, repr=False)
class _OfFSMRank(GrowingSelector, _Weighing):
    """Base class of selectors that take the features in the order of FSMRank's weights."""

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        return sums_need(shape, PAIRS)

    def _weighed(self, data: TrainingData) -> Waiting[tuple[FSMRank, Step, int]]:
        """Return FSMRank, its last step and the greatest number of features."""
        max_features = self._n_to_select(data.X.shape[1])
        fsmrank, last = yield from last_step(self.get_params(), data)
        self.n_iter_ = last.number
        return fsmrank, last, max_features


@dataclass(eq=False, repr=False)
class FSMRankTop(_OfFSMRank):
    """FSMRank truncated to the k features with the largest weights, which are unchanged.

    "We learn a ranking model w on all the features, and sort the features decreasingly by their weights in w.
    [...] we can easily construct a model containing k features, by simply combining the top k features (using
    their associated weights in w)" (Lai et al. 2013, section IV.D). No model is retrained for any k;
    :class:`rankstudio.engine.FSMSVM` retrains.

    Parameters
    ----------
    n_features_to_select : int, optional
        Maximum number of features, k; by default, and at most, all to which FSMRank gives weight.
    lambda1, lambda2 : float, default 0.1 and 1e-4
        Parameters of FSMRank, like the following ones.
    importance : {"pearson", "ndcg", "map", "none"}, default "pearson"
    similarity : {"pearson", "kendall", "none"}, default "pearson"
    project : bool, default False
        As in `FSMRank`.
    tol : float, default 1e-10
        As in `FSMRank`.
    max_iter : int, default 400
        As in `FSMRank`.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        FSMRank's weights of the selected features, 0 for the others.
    support_ : ndarray of shape (n,), bool
        Mask of the selected features.
    selection_order_ : ndarray of shape (k,)
        0-based columns, the largest |weight| first.
    criterion_path_ : ndarray of shape (k,)
        FSMRank's objective of each truncated model; with all weights it is the minimum.
    coef_path_ : ndarray of shape (k, n)
        Models with the first 1, 2, … k of them.
    n_iter_ : int
        Number of iterations of FSMRank.

    Notes
    -----
    The cost of FSMRank, plus one evaluation of the objective for every k.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> FSMRankTop(n_features_to_select=3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([0, 3, 1])
    """

    entry = selectors.FSMRANK_TOP

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one step per selected feature: FSMRank's weights of it and all earlier ones.

        If FSMRank leaves every weight at 0, the only step is the model without features.
        """
        data = training_data(data)
        fsmrank, last, max_features = yield from self._weighed(data)
        scores = np.abs(last.coef)
        zeros = np.zeros_like(last.coef)
        cut = list(top_features(last))[:max_features] or [Step(1, (), zeros, float("nan"), np.empty(0))]
        objectives = yield from fsmrank.objectives(data, [step.coef for step in cut])
        for step, objective in zip(cut, objectives, strict=True):
            compared = without(scores, list(step.selected[:-1]))
            yield replace(step, criterion=objective, candidates=compared)


@dataclass
class _LastSteps:
    """Last steps of FSMRank on some data, by its parameters."""

    by_parameters: dict[tuple[tuple[str, Any], ...], Step] = field(default_factory=dict)


def last_step(parameters: dict[str, Any], data: TrainingData) -> Waiting[tuple[FSMRank, Step]]:
    """Return FSMRank with its own ones among some parameters, and its last step.

    It is computed once for all methods that start with it.
    """
    names = FSMRank().get_params()
    fsmrank = FSMRank(**{name: value for name, value in parameters.items() if name in names})
    last_steps = data.shared.of(_LastSteps).by_parameters
    key = tuple((name, as_key(value)) for name, value in fsmrank.get_params().items())
    if key in last_steps:
        return fsmrank, last_steps[key]
    work = fsmrank.work(data)
    steps = yield from steps_of(work, lambda step: WorkProgress("FSMRank", step.number / fsmrank.max_iter))
    last_steps[key] = steps[-1]  # FSMRank takes at least one step
    return fsmrank, last_steps[key]


_TOL = 1e-6  # duality gap of a refitted model beside its objective
_MAX_ITER = 1000  # truncated Newton takes some 20; this only ends what cannot converge


@dataclass(eq=False, repr=False)
class FSMSVM(_OfFSMRank):
    """FSMSVM orders features by FSMRank's weights and refits RankSVM, squared hinge, on the first k.

    Parameters
    ----------
    n_features_to_select : int, optional
        Maximum number of features, k; by default, and at most, all to which FSMRank gives weight.
    lambda1, lambda2 : float, default 0.1 and 1e-4
        Parameters of FSMRank, like the following ones.
    importance : {"pearson", "ndcg", "map", "none"}, default "pearson"
    similarity : {"pearson", "kendall", "none"}, default "pearson"
    project : bool, default False
        As in `FSMRank`.
    tol : float, default 1e-10
        As in `FSMRank`.
    max_iter : int, default 400
        As in `FSMRank`.
    C : float, default 1.0
        C of RankSVM, greater than 0: ½ w'w + C sum over pairs of the squared hinge.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        RankSVM's weights with all selected features, 0 for the others.
    support_ : ndarray of shape (n,), bool
        Mask of the selected features.
    selection_order_ : ndarray of shape (k,)
        0-based columns, the largest weight of FSMRank first.
    criterion_path_ : ndarray of shape (k,)
        RankSVM's objective after each step; it decreases with every feature.
    coef_path_ : ndarray of shape (k, n)
        Model after each step.
    n_iter_ : int
        Number of iterations of FSMRank.

    Notes
    -----
    The cost of FSMRank, plus a few times O(mk + m log m) for the model with k features of m documents.

    Examples
    --------
    >>> from rankstudio.engine.data.synthetic import make_ranking
    >>> train = make_ranking(n_queries=30, seed=0).folds[0].train
    >>> FSMSVM(n_features_to_select=3).fit(train.X, train.y, qid=train.qid).selection_order_
    array([0, 3, 1])
    """

    entry = selectors.FSMSVM

    _: KW_ONLY
    C: float = 1.0

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Yield one step per selected feature: RankSVM with it and all earlier ones.

        If FSMRank leaves every weight at 0, the only step is the model without features.
        """
        data = training_data(data)
        n = data.X.shape[1]
        C = self.checked("C")
        _, last, max_features = yield from self._weighed(data)
        order = last.selected[:max_features]
        scores = np.abs(last.coef)
        from rankstudio.engine.arithmetic.optimisers.pair_problem import solution  # noqa: PLC0415 - numba
        from rankstudio.engine.arithmetic.optimisers.truncated_newton import minimise_squared_hinge  # noqa: PLC0415
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415 - numba

        with pairs_of(data) as pairs:
            if not order:
                yield Step(1, (), np.zeros(n), C * (yield from pairs.count()), scores)
            for k in range(1, len(order) + 1):
                chosen = list(order[:k])
                problem = pairs.narrowed(chosen)
                optimum = yield from solution(minimise_squared_hinge(problem, C, _TOL, _MAX_ITER))
                coef = np.zeros(n)
                coef[chosen] = optimum.w
                compared = without(scores, chosen[:-1])
                yield Step(k, tuple(chosen), coef, optimum.objective, compared)


_MEASURES = {"ndcg": "NDCG@10", "map": "MAP"}
_CONVENTION = "letor4"  # of NDCG@10: the paper measures LETOR's data


def importance(data: QueryData, kind: str) -> Floats:
    """Return the importance of each feature and of its negative.

    Parameters
    ----------
    data : QueryData
        Documents, n features.
    kind : {"pearson", "ndcg", "map", "none"}
        |Pearson's correlation| with the labels over all documents (Lai et al. 2013, section III.B); NDCG@10
        or MAP of ranking by the feature alone, in descending and in ascending order; or 1 for all.

    Returns
    -------
    ndarray of shape (2n,)
        Importance from 0 to 1; the second half is that of the negatives. 0 for constant features, for which
        none of these is defined.
    """
    return finish(weighing_features(training_data(data), kind))


def weighing_features(data: TrainingData, kind: str | OwnValues) -> Waiting[Floats]:
    """Compute :func:`importance`, with progress events."""
    if not isinstance(kind, str):
        importances = own_importance(kind, data)
    elif kind == "none":
        importances = np.ones(2 * data.X.shape[1])
    elif kind != "pearson":
        downwards, upwards = yield from directed_measures(
            data, _MEASURES[kind], convention(_CONVENTION).objective
        )
        assert upwards is not None  # asked for
        importances = np.concatenate((downwards, upwards))
    else:
        correlations = (yield from correlating(data))[0]
        importances = np.tile(np.abs(correlations[:-1, -1]), 2)
    varies = (yield from correlating(data))[1]
    return np.where(np.tile(varies, 2), importances, 0.0)


def similarity(data: QueryData, kind: str) -> Floats:
    """Return the similarity of each pair of features, shape (n, n), from 0 to 1 with ones on the diagonal.

    Parameters
    ----------
    data : QueryData
        Documents, n features.
    kind : {"pearson", "kendall", "none"}
        |Pearson's correlation| over all documents (section III.B); |Kendall's τ-b| averaged over queries;
        or the identity.
    """
    return finish(comparing_features(training_data(data), kind))


def comparing_features(data: TrainingData, kind: str) -> Waiting[Floats]:
    """Compute :func:`similarity`, with progress events."""
    if kind == "none":
        return np.eye(data.X.shape[1])
    if kind == "kendall":
        matrix = yield from comparing_rankings(data)
    else:
        correlations = (yield from correlating(data))[0]
        matrix = np.minimum(np.abs(correlations[:-1, :-1]), 1.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def nearest_positive_semidefinite(matrix: Floats) -> Floats:
    """Return the nearest positive semidefinite matrix in the Frobenius norm."""
    values, vectors = np.linalg.eigh(matrix)
    nearest: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return nearest


@dataclass
class _Correlations:
    """Result of :func:`correlating` on some data."""

    found: tuple[Floats, Bools] | None = None


def correlating(data: TrainingData) -> Waiting[tuple[Floats, Bools]]:
    """Return Pearson's correlations of the features and the labels (n + 1, n + 1), in two passes.

    Also return which features have more than one value (n,). Both are cached.
    """
    cache = data.shared.of(_Correlations)
    if cache.found is None:
        activity = "correlating features"
        origin = np.append(data.X[0], data.y[0])
        total, different = yield from summed(data, activity, _shifted_sums, origin, by_blocks=True)
        mean = total / data.y.size
        (products,) = yield from summed(data, activity, _centred_products, origin, mean, by_blocks=True)
        length = np.sqrt(np.diag(products))
        length[length == 0] = 1.0
        cache.found = products / length / length[:, None], different[:-1] > 0
    return cache.found


def _shifted_sums(data: QueryData, origin: Floats) -> tuple[Floats, Floats]:
    """Return the sums of features and labels, less those of one document, and the counts of differences."""
    shifted = np.column_stack((data.X, data.y)) - origin
    return shifted.sum(axis=0), np.count_nonzero(shifted, axis=0).astype(np.float64)


def _centred_products(data: QueryData, origin: Floats, mean: Floats) -> tuple[Floats]:
    """Return the products of features and labels, each minus its mean."""
    # The document goes before the mean does, so that a constant column leaves no rounding behind.
    shifted = np.column_stack((data.X, data.y))
    shifted -= origin
    shifted -= mean
    return (shifted.T @ shifted,)
