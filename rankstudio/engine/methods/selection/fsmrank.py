"""FSMRank: ranking errors minimised together with a penalty on weak and on redundant features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import once
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.language import tr
from rankstudio.engine.methods.capabilities import (
    Compared,
    ComparedByQuery,
    FeaturePenalties,
)
from rankstudio.engine.methods.catalog import selectors
from rankstudio.engine.methods.memory_need import (
    PAIRS,
    DataShape,
    MemoryNeed,
    sums_need,
)
from rankstudio.engine.methods.own_values import (
    OwnValues,
    own_importance,
    own_similarity,
)
from rankstudio.engine.methods.selection.base import (
    GrowingSelector,
    Selector,
    as_key,
    without,
)
from rankstudio.engine.methods.selection.kendall import (
    comparing_rankings,
    kendall_between,
)
from rankstudio.engine.methods.selection.single_feature import directed_measures
from rankstudio.engine.methods.shards.sums import summed
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.work import (
    Note,
    Waiting,
    WorkProgress,
    finish,
    without_notes,
)


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
    """Cache of the similarities of one dataset's features, by the kind of similarity.

    ``least_eigenvalues`` has the least eigenvalue of each matrix, and
    ``projected`` the nearest positive semidefinite matrix of those that
    are indefinite.
    """

    by_kind: dict[str, Floats] = field(default_factory=dict)
    least_eigenvalues: dict[str, float] = field(default_factory=dict)
    projected: dict[str, Floats] = field(default_factory=dict)


@dataclass(eq=False, repr=False, kw_only=True)
class _Weighing(Selector):
    """Base class of FSMRank and of the selectors that start from its weights.

    Such a selector has FSMRank's parameters, and after fitting
    FSMRank's importances and similarities of features.
    """

    lambda1: float = 0.1
    lambda2: float = 1e-4
    importance: Literal["pearson", "ndcg", "map", "none"] | OwnValues = "pearson"
    similarity: Literal["pearson", "kendall", "none"] | OwnValues = "pearson"
    loss: Literal["squared_hinge", "logistic", "least_squares"] = "squared_hinge"
    project: bool = False
    tol: float = 1e-10
    max_iter: int = 400

    importance_: Floats = field(init=False)
    importance_of_negative_: Floats = field(init=False)
    similarity_: Floats = field(init=False)
    n_iter_: int = field(init=False)

    def _set_penalty_attributes(self, similarity: Floats, importance: Floats) -> None:
        """Set the attributes ``similarity_`` (n, n), ``importance_`` and ``importance_of_negative_`` (n,).

        The first half of ``importance`` (2n,) is that of the n
        features, the second half that of their negatives.
        """
        n = similarity.shape[0]
        self.importance_ = importance[:n]
        self.importance_of_negative_ = importance[n:]
        # Read-only, because all methods that learn from the same data share the matrix.
        self.similarity_ = similarity.view()
        self.similarity_.flags.writeable = False

    def compared_by_query(self, data: TrainingData, n_features: int) -> Compared:
        """Yield a comparison for each of the first ``n_features`` features, in the order of their weights.

        The comparison has FSMRank's absolute weights (n,) of the
        features that are not yet selected, NaN for others, and the part
        of each query in them (n, Q): how much a weight decreases
        without the query. The weights without a query are estimated by
        one Newton step on the objective of the other queries.
        Similarities and importances stay as they are, and features with
        weight 0 keep weight 0. ``data`` are the training documents.
        """
        from rankstudio.engine.methods.selection.query_parts import pair_slopes  # noqa: PLC0415 - numba

        fsmrank, last = yield from last_step(self.get_params(), data)
        # The features with weight, largest weight first.
        order = by_weight(last.coef)
        # Similarities, importances, λ1 and λ2. Only the term of the
        # similarities, with λ1, enters the second derivatives. The run
        # has already shown the notes on similarities.
        similarity, _, lambda1, _ = yield from without_notes(fsmrank.penalties(data))
        n = data.X.shape[1]
        Q = data.ptr.size - 1
        parts = np.zeros((n, Q))
        scores = np.full(n, np.nan)
        if order.size:
            # For the k features with weights: the gradient of each
            # query's loss (k, Q), the second derivatives of the whole
            # loss (k, k), and the number of pairs of each query (Q,).
            weights = last.coef[order]
            slopes, curvature, pairs = yield from pair_slopes(
                data, order, weights, fsmrank.loss
            )
            n_pairs = max(1.0, float(pairs.sum()))
            n_other_pairs = np.maximum(n_pairs - pairs, 1.0)
            total = slopes.sum(axis=1, keepdims=True)
            # At the minimum, the gradient of the objective is 0.
            # Without a query, it is the change of the mean loss's
            # gradient.
            gradients = (total - slopes) / n_other_pairs - total / n_pairs
            signs = np.sign(weights)
            penalty = (
                lambda1 * similarity[np.ix_(order, order)] * np.outer(signs, signs)
            )
            # One Newton step from the minimum of all queries.
            hessian = curvature / n_pairs + penalty
            step, *_ = np.linalg.lstsq(hessian, gradients, rcond=None)
            weights_without = weights[:, None] - step
            # A weight that would change its sign ends at 0.
            parts[order] = np.abs(weights)[:, None] - np.maximum(
                signs[:, None] * weights_without, 0.0
            )
            scores[order] = np.abs(weights)
        for column in order[:n_features].tolist():
            yield ComparedByQuery(
                winners=(column,),
                scores=scores.copy(),
                parts=parts,
                counted=np.ones(Q, dtype=np.bool_),
            )
            scores[column] = np.nan

    def weighed_features(
        self, data: TrainingData, columns: Ints, other_columns: Ints
    ) -> Waiting[FeaturePenalties]:
        """Return the importances of ``columns`` (c,) and of their negatives, and the similarities to others.

        The similarities have shape (c, o) for the o columns in
        ``other_columns``. Importances and similarities are those of
        FSMRank's objective. ``data`` are the training documents. The
        generator yields progress events, and then returns the result.
        """
        # Only the parameters that FSMRank has; this selector may have more.
        names = FSMRank().get_params()
        fsmrank = FSMRank(
            **{
                name: value
                for name, value in self.get_params().items()
                if name in names
            }
        )
        importances = yield from weighing_features(data, fsmrank.checked("importance"))
        n = data.X.shape[1]
        # A user's own similarities, and projected ones, exist only as a whole matrix.
        if isinstance(fsmrank.similarity, str) and not fsmrank.project:
            similarity = yield from comparing_some_features(
                data, fsmrank.similarity, columns, other_columns
            )
        else:
            # The run has already shown the notes.
            matrix = yield from without_notes(fsmrank.similarities(data))
            similarity = np.asarray(matrix[np.ix_(columns, other_columns)])
        return FeaturePenalties(
            importance=importances[columns],
            of_negative=importances[n:][columns],
            similarity=similarity,
        )


@dataclass(eq=False, repr=False)
class FSMRank(_Weighing):
    """FSMRank selects features and learns their weights jointly, by convex optimisation (Lai et al. 2013).

    Minimises, over nonnegative weights w of the n features and of their negatives,

        λ1/2 w'Aw + λ2 sum_i w_i / s_i + 1/p sum over pairs of max(0, 1 - w'(x_i - x_j))²       (eq. (2)),

    where s_i is the importance of a feature, A_ij the similarity of two
    features, and p the number of pairs of documents of one query with
    different labels. The weight of a feature in the model is its weight
    minus that of its negative. The squared hinge may be replaced by
    another convex loss with a Lipschitz gradient (section III.A).

    Parameters
    ----------
    lambda1 : float, default 0.1
        λ1, from 0 up: penalty on pairs of similar features with nonzero weights.
    lambda2 : float, default 1e-4
        λ2, from 0 up: penalty on weight, larger for less important features.
    importance : {"pearson", "ndcg", "map", "none"}, array-like or callable, default "pearson"
        s: |Pearson's correlation| with the labels; NDCG@10 or MAP of
        ranking by the feature alone; 1; or own numbers from 0 up, of
        shape (n,), or (2n,) with the negatives last, or a function of
        X, y and the query of each document that returns such numbers.
        Features without importance, such as constant ones, are
        excluded.
    similarity : {"pearson", "kendall", "none"}, array-like or callable, default "pearson"
        A: |Pearson's correlation|; |Kendall's τ-b| averaged over
        queries; the identity; or an own symmetric matrix of shape (n,
        n), or a function that returns it.
    loss : {"squared_hinge", "logistic", "least_squares"}, default "squared_hinge"
        Loss of a pair whose scores differ by d = w'(x_i - x_j): max(0,
        1 - d)²; log(1 + exp(-d)), as of RankNet; or (1 - d)², which
        also penalises pairs in the right order that are more than 1
        apart.
    project : bool, default False
        Replace an indefinite A by the nearest positive semidefinite
        matrix. Absolute correlations may be indefinite, and then the
        objective may not be convex; without the projection there is a
        warning.
    tol : float, default 1e-10
        Algorithm 1 stops when an iteration changes the objective by at
        most this share. The paper's 1e-4 stops up to a few thousandths
        above the minimum, with another order of the first features. The
        default is the loosest power of ten that reaches the minimum
        within 1e-5 on every fold of MQ2008, with the λ of the catalog
        and with λ1 = 0.5, λ2 = 0: within 2e-6, compared with 1.5e-5 for
        1e-9. The first ten features are those of the minimum in 33 of
        these 35 fits, in the same order if their weights differ by more
        than 2 %, except for λ1 = 0.01 with λ2 up to 1e-4. There similar
        features share their weight in ways that hardly change the
        objective, and ``max_iter`` ends the search.
    max_iter : int, default 400
        T.
    solver : {"nesterov", "subgradient"}, default "nesterov"
        Algorithm 1, or the projected subgradient method that the paper
        compares it with, which is far slower.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        The weights.
    objective_ : float
        Minimum of the objective.
    importance_, importance_of_negative_ : ndarray of shape (n,)
        s of each feature, and of its negative; the two differ only for
        NDCG@10, MAP and own numbers. 0 for constant features.
    similarity_ : ndarray of shape (n, n)
        A of each pair of features, read-only; the projected one if
        ``project`` changed it.
    n_iter_ : int
        Iterations taken.
    support_ : ndarray of shape (n,), bool
        Mask of the features with weight.
    selection_order_ : ndarray of shape (k,)
        Features with weight, the largest |weight| first (section IV.D).
    coef_path_ : ndarray of shape (k, n)
        Models with the first 1, 2, … k of these features, with
        unchanged weights (section IV.D).

    Notes
    -----
    The paper uses features scaled to [0, 1]; other scales work, because
    the line search finds the Lipschitz constant. O(mn²) for A, then
    O(mn + m log m) per iteration for m documents, without a list of
    pairs: O(mn) for least squares, and O(mn + p) for the logistic loss,
    which goes through the p pairs.

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
    solver: Literal["nesterov", "subgradient"] = "nesterov"

    def n_steps(self, n_features: int) -> int:  # noqa: D102 - inherited
        return self.max_iter

    def memory_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return sums_need(shape, PAIRS)

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Minimise the objective, and yield one step per iteration, with progress events in between.

        A step has the weights, and the objective as its criterion. The
        step is an :class:`FSMStep`, which also has an estimate of the
        gradient's Lipschitz constant. ``data`` are the training
        documents.
        """
        data = training_data(data)
        tol = self.checked("tol")
        max_iter = self.checked("max_iter")
        solver = self.checked("solver")
        loss = self.checked("loss")
        # Similarities (n, n), importances (2n,), λ1 and λ2, in the
        # order of the objective's parameters. The first two become
        # attributes.
        penalties = yield from self.penalties(data)
        similarity, importance_values, *_ = penalties
        self._set_penalty_attributes(similarity, importance_values)
        # numba is imported where it is needed: reading the catalog must
        # not wait for it.
        from rankstudio.engine.arithmetic.optimisers.nesterov import (  # noqa: PLC0415
            FSMObjective,
            accelerated,
            subgradient,
        )
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415

        number = 0
        n = data.X.shape[1]
        with pairs_of(data) as problem:
            objective = FSMObjective(problem, *penalties, loss=loss)
            if solver == "subgradient":
                descent = subgradient(objective, max_iter)
            else:
                descent = accelerated(objective, tol, max_iter)
            for state in descent:
                if isinstance(state, WorkProgress):
                    yield state
                    continue
                number += 1
                # A feature has two nonnegative weights: one for itself,
                # and one for the negated feature.
                coef = state.w[:n] - state.w[n:]
                chosen = tuple(by_weight(coef).tolist())
                yield FSMStep(
                    number=number,
                    selected=chosen,
                    coef=coef,
                    criterion=state.objective,
                    candidates=np.empty(0),
                    lipschitz=state.lipschitz,
                )

    def objectives(
        self, data: TrainingData, coefs: Sequence[Floats]
    ) -> Waiting[list[float]]:
        """Return the objective of each model of ``coefs``, whose weights have shape (n,).

        Notes to the user are suppressed, because :meth:`work` has
        already warned about the same similarities. ``data`` are the
        training documents. The generator yields progress events, and
        then returns the result.
        """
        data = training_data(data)
        loss = self.checked("loss")
        # Similarities, importances, λ1 and λ2, as the objective takes them.
        penalties = yield from without_notes(self.penalties(data))
        from rankstudio.engine.arithmetic.optimisers.nesterov import FSMObjective  # noqa: PLC0415 - numba
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415 - numba

        values = []
        with pairs_of(data) as problem:
            objective = FSMObjective(problem, *penalties, loss=loss)
            for coef in coefs:
                # The objective has nonnegative weights of the features,
                # and then of their negatives.
                w = np.concatenate((np.maximum(coef, 0.0), np.maximum(-coef, 0.0)))
                values.append((yield from objective.value(w)))
        return values

    def penalties(
        self, data: TrainingData
    ) -> Waiting[tuple[Floats, Floats, float, float]]:
        """Return similarities (n, n), importances of the features and their negatives (2n,), λ1 and λ2."""
        lambda1 = self.checked("lambda1")
        lambda2 = self.checked("lambda2")
        importances = yield from weighing_features(data, self.checked("importance"))
        return (yield from self.similarities(data)), importances, lambda1, lambda2

    def similarities(self, data: TrainingData) -> Waiting[Floats]:
        """Return the similarities of the n features, shape (n, n), with a note to the user if they are indefinite.

        With the parameter ``project``, the nearest positive
        semidefinite matrix replaces an indefinite one, and there is no
        note. ``data`` are the training documents. The generator yields
        progress events, and then returns the result.
        """
        kind = self.checked("similarity")
        project = self.checked("project")
        # The similarities of a named kind are cached with the data, for
        # all parameters. A user's own matrix is not cached.
        if isinstance(kind, str):
            name = kind
            cache = data.shared.of(_Similarities)
            matrix = yield from all_similarities(data, kind)
        else:
            name = "own"
            cache = _Similarities()
            matrix = own_similarity(kind, data)
        # Without the term of the similarities, it does not matter
        # whether the matrix is indefinite.
        if self.lambda1 == 0:
            return matrix
        if name not in cache.least_eigenvalues:
            cache.least_eigenvalues[name] = float(np.linalg.eigvalsh(matrix)[0])
        least = cache.least_eigenvalues[name]
        # Entries are at most 1, so the norm is at most n: rounding
        # moves an eigenvalue by less than 1e-10 n.
        if least >= -1e-10 * matrix.shape[0]:
            return matrix
        if project:
            if name not in cache.projected:
                cache.projected[name] = nearest_positive_semidefinite(matrix)
            return cache.projected[name]
        sentence = tr(
            "The {name} similarities of the features are not positive semidefinite (least eigenvalue "
            "{least:.3g}), so the objective may not be convex. Turn on “make convex” (project)."
        ).format(name=name, least=least)
        yield Note(sentence, kind=IndefiniteSimilarityWarning)
        return matrix

    def _finish(self, data: QueryData, steps: list[Step]) -> None:
        """Set the attributes from the last of the ``steps``, which are iterations.

        ``coef_path_`` (k, n) has its model cut to the feature with the largest
        |weight|, to two, and so on up to the k features with weights.
        """
        super()._finish(data, steps)
        last = steps[-1]
        self.objective_ = last.criterion
        self.n_iter_ = last.number
        # Without any weight, the list is empty, and its array becomes (0, n).
        self.coef_path_ = np.array([step.coef for step in top_features(last)]).reshape(
            -1, last.coef.size
        )


def top_features(last: Step, all_features: bool = False) -> Iterator[Step]:
    """Yield the model of FSMRank's last step truncated to 1, 2, … features, the largest |weight| first.

    The weights are unchanged. The criterion is NaN, because FSMRank did
    not minimise its objective for so few features. Without
    ``all_features`` the steps end with the last feature that has a
    weight. With it the features without weight follow, which do not
    change the model.
    """
    coef = np.zeros_like(last.coef)
    order = by_weight(last.coef, all_features)
    for k, feature in enumerate(order.tolist(), start=1):
        coef = coef.copy()
        coef[feature] = last.coef[feature]
        yield Step(
            number=k,
            selected=tuple(order[:k].tolist()),
            coef=coef,
            criterion=float("nan"),
            candidates=np.empty(0),
        )


def by_weight(coef: Floats, all_features: bool = False) -> Ints:
    """Return the features with weight, the largest |weight| first; with ``all_features`` also those without.

    Ties go to the first column. ``coef`` (n,) are the weights.
    """
    order = np.argsort(-np.abs(coef), kind="stable").astype(np.int64)
    n_features = coef.size if all_features else np.count_nonzero(coef)
    first_features: Ints = order[:n_features]
    return first_features


@dataclass(eq=False, repr=False)
class _OfFSMRank(GrowingSelector, _Weighing):
    """Base class of selectors that take the features in the order of FSMRank's weights."""

    _: KW_ONLY
    all_features: bool = False

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        return sums_need(shape, PAIRS)

    def _run_fsmrank(self, data: TrainingData) -> Waiting[tuple[FSMRank, Step, int]]:
        """Return FSMRank with these parameters, its last step, and the maximum number of features to select.

        Also sets FSMRank's attributes, such as ``n_iter_`` and
        ``importance_``. ``data`` are the training documents. The
        generator yields progress events, and then returns the result.
        """
        max_features = self._n_to_select(data.X.shape[1])
        fsmrank, last = yield from last_step(self.get_params(), data)
        self.n_iter_ = last.number
        # Notes on the similarities were already shown by the run of
        # FSMRank. λ1 and λ2 follow the similarities and importances.
        similarity, importances, *_ = yield from without_notes(fsmrank.penalties(data))
        self._set_penalty_attributes(similarity, importances)
        return fsmrank, last, max_features


@dataclass(eq=False, repr=False)
class FSMRankTop(_OfFSMRank):
    """FSMRank truncated to the k features with the largest weights, which are unchanged.

    "We learn a ranking model w on all the features, and sort the
    features decreasingly by their weights in w. [...] we can easily
    construct a model containing k features, by simply combining the top
    k features (using their associated weights in w)" (Lai et al. 2013,
    section IV.D). No model is retrained for any k;
    :class:`rankstudio.engine.FSMSVM` retrains.

    Parameters
    ----------
    n_features_to_select : int, optional
        Maximum number of features, k; by default, and at most, all to
        which FSMRank gives weight, or all features.
    lambda1, lambda2 : float, default 0.1 and 1e-4
        Parameters of FSMRank, like the following ones.
    importance : {"pearson", "ndcg", "map", "none"}, default "pearson"
    similarity : {"pearson", "kendall", "none"}, default "pearson"
    loss : {"squared_hinge", "logistic", "least_squares"}, default "squared_hinge"
        Loss of FSMRank's pairs.
    project : bool, default False
        As in `FSMRank`.
    tol : float, default 1e-10
        As in `FSMRank`.
    max_iter : int, default 400
        As in `FSMRank`.
    all_features : bool, default False
        Also select the features to which FSMRank gives no weight, after
        all others, in column order.

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
        Models with the first 1, 2, … k selected features.
    importance_, importance_of_negative_ : ndarray of shape (n,)
        As in `FSMRank`.
    similarity_ : ndarray of shape (n, n)
        As in `FSMRank`.
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
        """Yield one step per selected feature: FSMRank weights of this and all earlier features.

        If FSMRank leaves every weight at 0, and features without weight
        are not wanted, the only step is the model without features.
        ``data`` are the training documents.
        """
        data = training_data(data)
        # FSMRank, its last step, and how many features to select.
        fsmrank, last, max_features = yield from self._run_fsmrank(data)
        # FSMRank's model, cut to the first 1, 2, … features.
        scores = np.abs(last.coef)
        zeros = np.zeros_like(last.coef)
        truncated = list(top_features(last, self.checked("all_features")))[
            :max_features
        ]
        if not truncated:
            truncated = [
                Step(1, (), coef=zeros, criterion=float("nan"), candidates=np.empty(0))
            ]
        # The criterion of a step is FSMRank's objective of the cut
        # model. Its candidates have the
        # |weights| of all features but those of earlier
        # steps: only the last selected feature is new.
        objectives = yield from fsmrank.objectives(
            data, [step.coef for step in truncated]
        )
        for step, objective in zip(truncated, objectives, strict=True):
            candidate_scores = without(scores, list(step.selected[:-1]))
            yield replace(step, criterion=objective, candidates=candidate_scores)


@dataclass
class _LastSteps:
    """Cache of the last steps of FSMRank on one dataset, by FSMRank's parameters."""

    by_parameters: dict[tuple[tuple[str, Any], ...], Step] = field(default_factory=dict)


def last_step(
    parameters: dict[str, Any], data: TrainingData
) -> Waiting[tuple[FSMRank, Step]]:
    """Return FSMRank with these parameters, and the last step of its run.

    Parameters that FSMRank does not have are ignored. The step is
    cached with the data, for all methods that start from it. The
    generator yields progress events, and then returns the result.
    """
    names = FSMRank().get_params()
    fsmrank = FSMRank(
        **{name: value for name, value in parameters.items() if name in names}
    )
    # The steps that are cached with the data, by the parameters.
    last_steps = data.shared.of(_LastSteps).by_parameters
    # `as_key` makes the user's own arrays hashable.
    key = tuple((name, as_key(value)) for name, value in fsmrank.get_params().items())
    if key in last_steps:
        return fsmrank, last_steps[key]
    work = fsmrank.work(data)
    steps = yield from steps_of(
        work, lambda step: WorkProgress("FSMRank", step.number / fsmrank.max_iter)
    )
    last_steps[key] = steps[-1]  # FSMRank takes at least one step
    return fsmrank, last_steps[key]


_TOL = 1e-6  # duality gap of a refitted model, relative to its objective
# Truncated Newton takes about 20; this only ends problems that cannot converge.
_MAX_ITER = 1000


@dataclass(eq=False, repr=False)
class FSMSVM(_OfFSMRank):
    """FSMSVM orders features by FSMRank's weights and refits RankSVM, squared hinge, on the first k.

    Parameters
    ----------
    n_features_to_select : int, optional
        Maximum number of features, k; by default, and at most, all to
        which FSMRank gives weight, or all features.
    lambda1, lambda2 : float, default 0.1 and 1e-4
        Parameters of FSMRank, like the following ones.
    importance : {"pearson", "ndcg", "map", "none"}, default "pearson"
    similarity : {"pearson", "kendall", "none"}, default "pearson"
    loss : {"squared_hinge", "logistic", "least_squares"}, default "squared_hinge"
        Loss of FSMRank's pairs.
    project : bool, default False
        As in `FSMRank`.
    tol : float, default 1e-10
        As in `FSMRank`.
    max_iter : int, default 400
        As in `FSMRank`.
    all_features : bool, default False
        Also select the features to which FSMRank gives no weight, after
        all others, in column order.
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
    importance_, importance_of_negative_ : ndarray of shape (n,)
        As in `FSMRank`.
    similarity_ : ndarray of shape (n, n)
        As in `FSMRank`.
    n_iter_ : int
        Number of iterations of FSMRank.

    Notes
    -----
    The cost of FSMRank, plus a few times O(mk + m log m) for the model
    with k features of m documents.

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
        """Yield one step per selected feature: RankSVM with this and all earlier features.

        If FSMRank leaves every weight at 0, the only step is the model
        without features. ``data`` are the training documents.
        """
        data = training_data(data)
        n = data.X.shape[1]
        C = self.checked("C")
        # FSMRank's last step, and how many features to select.
        _, last, max_features = yield from self._run_fsmrank(data)
        order = by_weight(last.coef, self.checked("all_features"))[
            :max_features
        ].tolist()
        scores = np.abs(last.coef)
        from rankstudio.engine.arithmetic.optimisers.pair_problem import solution  # noqa: PLC0415 - numba
        from rankstudio.engine.arithmetic.optimisers.truncated_newton import (  # noqa: PLC0415
            minimise_squared_hinge,
        )
        from rankstudio.engine.methods.shards.pair_losses import pairs_of  # noqa: PLC0415 - numba

        with pairs_of(data) as pairs:
            if not order:
                # With w = 0 the loss of every pair is 1.
                objective = C * (yield from pairs.count())
                yield Step(
                    1, (), coef=np.zeros(n), criterion=objective, candidates=scores
                )
            for k in range(1, len(order) + 1):
                chosen = order[:k]
                problem = pairs.narrowed(chosen)  # to the columns of these features
                optimum = yield from solution(
                    minimise_squared_hinge(problem, C, _TOL, _MAX_ITER)
                )
                coef = np.zeros(n)
                coef[chosen] = optimum.w
                # All features but those of earlier steps; the last one is new.
                candidate_scores = without(scores, chosen[:-1])
                yield Step(
                    number=k,
                    selected=tuple(chosen),
                    coef=coef,
                    criterion=optimum.objective,
                    candidates=candidate_scores,
                )


_MEASURES = {"ndcg": "NDCG@10", "map": "MAP"}
# The convention of NDCG@10, because the paper evaluates on LETOR.
_CONVENTION = "letor4"


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
        Importance from 0 to 1; the second half is that of the
        negatives. 0 for constant features, for which none of these is
        defined.
    """
    return finish(weighing_features(training_data(data), kind))


def weighing_features(data: TrainingData, kind: str | OwnValues) -> Waiting[Floats]:
    """Return the importance of each feature and of its negative, shape (2n,).

    ``kind`` is "pearson", "ndcg", "map" or "none" (all are 1), or the
    user's own numbers. Features that are constant have importance 0.
    ``data`` are the training documents. The generator yields progress
    events, and then returns the result.
    """
    if not isinstance(kind, str):
        importances = own_importance(kind, data)
    elif kind == "none":
        importances = np.ones(2 * data.X.shape[1])
    elif kind != "pearson":
        # The measures (n,) of the rankings by each feature alone, with
        # its largest values first, and with its smallest values first.
        downwards, upwards = yield from directed_measures(
            data, _MEASURES[kind], convention(_CONVENTION).objective
        )
        # To rank downwards by a feature's negative is to rank upwards
        # by the feature. `upwards` is only None if a caller asks for
        # one direction.
        assert upwards is not None
        importances = np.concatenate((downwards, upwards))
    else:
        correlations, _ = yield from correlating(data)
        # The last column is that of the labels. A feature and its
        # negative have the same |correlation|.
        importances = np.tile(np.abs(correlations[:-1, -1]), 2)
    _, varies = yield from correlating(data)
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
    """Return the similarity of each pair of features, shape (n, n), from 0 to 1.

    The similarity is |Pearson's correlation| over all documents, or
    with ``kind`` "kendall" the mean of
    |Kendall's τ-b| over queries. With "none", it is the
    identity matrix. ``data`` are the training documents. The generator
    yields progress events, and then returns the result.
    """
    if kind == "none":
        return np.eye(data.X.shape[1])
    if kind == "kendall":
        matrix = yield from comparing_rankings(data)
    else:
        correlations, _ = yield from correlating(data)
        # Without the last row and column, those of the labels. Rounding
        # could give more than 1.
        matrix = np.minimum(np.abs(correlations[:-1, :-1]), 1.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def all_similarities(data: TrainingData, kind: str) -> Waiting[Floats]:
    """Return the similarity of each pair of features, shape (n, n), which is cached with the data.

    ``kind`` is "pearson", "kendall" or "none". The generator yields
    progress events, and then returns the result.
    """
    by_kind = data.shared.of(_Similarities).by_kind
    return (yield from once(by_kind, kind, comparing_features(data, kind)))


def comparing_some_features(
    data: TrainingData, kind: str, columns: Ints, other_columns: Ints
) -> Waiting[Floats]:
    """Return the similarities of ``columns`` (c,) to ``other_columns`` (o,), shape (c, o).

    ``kind`` is "pearson", "kendall" or "none". Kendall's τ is only
    computed for these pairs, unless it is cached for all pairs.
    ``data`` are the training documents. The generator yields progress
    events, and then returns the result.
    """
    if kind == "kendall" and kind not in data.shared.of(_Similarities).by_kind:
        similarity = yield from kendall_between(data, columns, other_columns)
        return np.where(columns[:, None] == other_columns, 1.0, similarity)
    matrix = yield from all_similarities(data, kind)
    return np.asarray(matrix[np.ix_(columns, other_columns)])


def nearest_positive_semidefinite(matrix: Floats) -> Floats:
    """Return the nearest positive semidefinite matrix in the Frobenius norm."""
    values, vectors = np.linalg.eigh(matrix)
    nearest: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return nearest


@dataclass
class _Correlations:
    """Cache of the result of :func:`correlating` on one dataset."""

    found: tuple[Floats, Bools] | None = None


def correlating(data: TrainingData) -> Waiting[tuple[Floats, Bools]]:
    """Return Pearson's correlations of the features and the labels, and which features vary.

    The correlations have shape (n + 1, n + 1), with the labels last.
    The mask of the features with more than one value has shape (n,).
    Correlations and mask are cached. Takes two passes over the data.
    The generator yields progress events, and then returns the result.
    """
    cache = data.shared.of(_Correlations)
    if cache.found is None:
        activity = "correlating features"
        # First pass: sums of the differences from the first document,
        # which are small where a column is nearly constant, and how
        # many values differ. Second pass: products of the centred
        # columns, which need the mean difference.
        origin = np.append(data.X[0], data.y[0])
        total, different = yield from summed(
            data, activity, _shifted_sums, origin, by_blocks=True
        )
        mean = total / data.y.size
        (products,) = yield from summed(
            data, activity, _centred_products, origin, mean, by_blocks=True
        )
        length = np.sqrt(np.diag(products))
        length[length == 0] = 1.0  # a constant column has correlations of 0
        cache.found = products / length / length[:, None], different[:-1] > 0
    return cache.found


def _shifted_sums(data: QueryData, origin: Floats) -> tuple[Floats, Floats]:
    """Return the sums of features and labels minus the origin, and how many values differ from the origin.

    The origin holds the features and the label of one document.
    ``data`` has the documents.
    """
    shifted = np.column_stack((data.X, data.y)) - origin
    return shifted.sum(axis=0), np.count_nonzero(shifted, axis=0).astype(np.float64)


def _centred_products(data: QueryData, origin: Floats, mean: Floats) -> tuple[Floats]:
    """Return the products of features and labels, each minus its mean, shape (n + 1, n + 1).

    ``origin`` (n + 1,) is a document with its label, and ``mean`` (n +
    1,) the mean difference from it. ``data`` has the documents.
    """
    # The origin is subtracted before the mean, so that a constant
    # column becomes exactly 0.
    shifted = np.column_stack((data.X, data.y))
    shifted -= origin
    shifted -= mean
    return (shifted.T @ shifted,)
