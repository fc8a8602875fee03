"""What each query adds to the scores by which the steps of a selector compare features.

A step selects another feature as soon as the parts of the remaining queries favour another one. For scores
that are means over queries the parts are exact; for others they are what the score loses without the query,
with what the step depends on otherwise, such as the features before, kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.pair_losses import LinearPairs, SquaredHinge
from rankstudio.engine.arithmetic.pairs import Pairs
from rankstudio.engine.arithmetic.query_data import QueryData, query_grams
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.selection.expected_divergence import ExpectedDivergence
from rankstudio.engine.methods.selection.fs_bfs import FSBFS
from rankstudio.engine.methods.selection.fsmrank import FSMSVM, FSMRank, FSMRankTop, by_weight, last_step
from rankstudio.engine.methods.selection.gas import GAS, MEASURES
from rankstudio.engine.methods.selection.l1_path import L1Path
from rankstudio.engine.methods.selection.recursive_elimination import RecursiveElimination
from rankstudio.engine.methods.selection.single_feature import (
    MutualInformation,
    SingleFeatureRanking,
    measuring_features,
    statistic_by_query,
)
from rankstudio.engine.methods.shards.sums import summed, sums_of_products
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.methods.shards.work import Joined
from rankstudio.engine.metrics.conventions import Convention, objective
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.metrics.names import measure as find_measure
from rankstudio.engine.steps import Step, steps_of
from rankstudio.engine.support.work import Waiting, WorkProgress, without_notes

_WHAT = "comparing queries"
_RIVALS = 8  # features whose queries are compared, where each takes its time: the best ones
_GROUPS = 20  # of queries without which densities are estimated again
_SAME = 1e-6  # share of α: the path has its knots up to rounding


@dataclass(frozen=True, eq=False)
class ComparedByQuery:
    """What a step compares, divided among the queries.

    Attributes
    ----------
    winners : tuple of int
        0-based columns that the step selects.
    scores : ndarray of shape (n,)
        Score of each candidate, the greater the better; NaN for the others.
    parts : ndarray of shape (n, Q)
        Part of each query in it. What all parts do not add up to counts for every query alike.
    counted : ndarray of shape (Q,), bool
        Queries that count at all; a measure may not be defined for the others.
    """

    winners: tuple[int, ...]
    scores: Floats
    parts: Floats
    counted: Bools


Compared = Iterator[ComparedByQuery | WorkProgress]


def divides_by_query(estimator: LinearRanker) -> bool:
    """Return whether it is known what each query adds to the scores by which a selector compares features."""
    if isinstance(estimator, SingleFeatureRanking | ExpectedDivergence | MutualInformation):
        return len(estimator.groups) == 0 and estimator.costs is None  # which divide the scores
    others = GAS, FSBFS, L1Path, RecursiveElimination, FSMRank, FSMRankTop, FSMSVM
    return isinstance(estimator, others)


def compared_by_query(estimator: Selector, data: TrainingData, n_features: int) -> Compared:
    """Yield what the steps that select the first features compare, with progress events in between.

    Parameters
    ----------
    estimator : Selector
        One that :func:`divides_by_query` knows.
    data : TrainingData
    n_features : int
        Number of features; a step may select several of them.
    """
    match estimator:
        case FSMRank() | FSMRankTop() | FSMSVM():
            return _by_weights(estimator, data, n_features)
        case L1Path():
            return _by_entry(estimator, data, n_features)
        case RecursiveElimination():
            return _by_elimination(estimator, data, n_features)
        case FSBFS():
            return _by_combinations(estimator, data, n_features)
        case _:
            return _by_means(estimator, data, n_features)


def _steps(estimator: Selector, data: TrainingData, n_features: int) -> Waiting[list[Step]]:
    """Return the steps that select so many features."""
    sized = type(estimator)(**{**estimator.get_params(deep=False), "n_features_to_select": n_features})
    return without_notes(steps_of(sized.work(data)))


def _by_means(estimator: Selector, data: TrainingData, n_features: int) -> Compared:
    """Yield the scores of filters: means over queries or documents, but for what is the same for all of them.

    The similarities of GAS, the better direction of a feature and the bins of mutual information and χ² are
    taken not to change with the queries. Mutual information is a mean over documents of
    ln(p(b, l) / (p(b) p(l))), which to first order does not depend on a query's documents.
    """
    steps = yield from _steps(estimator, data, n_features)
    if isinstance(estimator, MutualInformation):
        parts = yield from statistic_by_query(estimator, data)
        counted = np.ones(parts.shape[1], dtype=np.bool_)
    else:
        values = yield from scores_by_query(estimator, data)
        counted = ~np.isnan(values[0])
        parts = np.where(counted, values, 0.0) / max(1, counted.sum())
    if isinstance(estimator, ExpectedDivergence):
        parts = parts + (yield from _divergence_parts(estimator, data))
    for place, step in enumerate(steps):
        yield ComparedByQuery((step.selected[place],), step.candidates, parts, counted)


def _divergence_parts(estimator: ExpectedDivergence, data: TrainingData) -> Waiting[Floats]:
    """Return what FS-ED's divergences lose without each query, shape (n, Q).

    Densities are estimated again without each of some groups of queries, whose documents share the loss.
    """
    Q, sizes = data.ptr.size - 1, np.diff(data.ptr)
    whole = (yield from estimator.order_features(data, 1)).found["divergence_"]
    parts = np.empty((whole.size, Q))
    for number, some in enumerate(np.array_split(np.random.default_rng(0).permutation(Q), min(Q, _GROUPS))):
        yield WorkProgress(_WHAT, number / min(Q, _GROUPS))
        rest = data.taken(np.setdiff1d(np.arange(Q), some))
        lost = whole - (yield from estimator.order_features(rest, 1)).found["divergence_"]
        parts[:, some] = lost[:, None] * sizes[some] / sizes[some].sum()
    return parts


def scores_by_query(estimator: Selector, data: TrainingData) -> Waiting[Floats]:
    """Return the measure of each feature alone in each query, the greater the better, shape (n, Q)."""
    both = not isinstance(estimator, ExpectedDivergence)
    match estimator:
        case GAS():
            if not isinstance(estimator.importance, str):  # given: no query has a part in it
                return np.zeros((data.X.shape[1], data.ptr.size - 1))
            name = MEASURES[estimator.importance]
        case SingleFeatureRanking():
            name, both = estimator.measure, estimator.direction == "best"
        case _:
            name = "NDCG@10"
    convention = objective(estimator.convention)  # type: ignore[attr-defined] # all three have one
    _, directions = yield from measuring_features(data, name, convention, both)
    return (yield from _measured(data, np.diag(directions), name, convention))


def _measured(data: TrainingData, weights: Floats, name: str, convention: Convention) -> Waiting[Floats]:
    """Return a measure of each query ranked by some weights (c, n), the greater the better, shape (c, Q)."""
    name = find_measure(name).name
    (values,) = yield from summed(data, _WHAT, _values_by_query, weights, name, convention, by_blocks=True)
    return np.asarray(values if find_measure(name).higher_is_better else 1.0 - values)


def _values_by_query(data: QueryData, weights: Floats, name: str, convention: Convention) -> tuple[Joined]:
    evaluator = Evaluator(data.y, data.ptr, convention, [name], grading=data.grading)
    single = np.count_nonzero(weights, axis=1) == 1
    if single.all():  # a feature and its negative rank as they are, without any rounding
        columns = np.argmax(weights != 0, axis=1)
        scores = (data.X[:, columns] * weights[np.arange(len(weights)), columns]).T
    else:
        scores = weights @ data.X.T
    return (Joined(evaluator.per_query_many(np.ascontiguousarray(scores))[name]),)


def _by_combinations(estimator: FSBFS, data: TrainingData, n_features: int) -> Compared:
    """Yield the measures of the combinations that FS-BFS compares, which do not change with the queries."""
    n, taken = data.X.shape[1], 0
    for node in estimator.nodes(data):
        if isinstance(node, WorkProgress):
            yield node
            continue
        others = [column for column in node.reached if column not in node.features]
        combinations = np.array([node.coef, *(node.combinations[column] for column in others)])
        values = yield from _measured(data, combinations, estimator.measure, objective(estimator.convention))
        counted = ~np.isnan(values[0])
        values = np.where(counted, values, 0.0) / max(1, counted.sum())
        scores, parts = np.full(n, np.nan), np.zeros((n, counted.size))
        inside = list(node.features)
        scores[inside], parts[inside] = node.value, values[0]
        scores[others], parts[others] = [node.reached[column] for column in others], values[1:]
        yield ComparedByQuery(node.features, scores, parts, counted)
        taken += len(node.features)
        if taken >= n_features:
            return


def _by_entry(estimator: L1Path, data: TrainingData, n_features: int) -> Compared:
    """Yield for each step the α at which each feature comes into the lasso beside those that are in it.

    Beside the features A with the signs s, feature j comes in at α = N / (σ - M) for σ = 1 or -1, with
    N = t_j - G_jA G_AA⁻¹ t_A and M = G_jA G_AA⁻¹ s_A. Without a query the same holds for the other sums.
    """
    steps = yield from _steps(estimator, data, n_features)
    path = yield from estimator.order_features(data, n_features)
    gram, right = yield from sums_of_products(data)
    entered, knots = path.found["alphas_"], path.found["lasso_alphas_"]
    for place, step in enumerate(steps):
        winner, scores = step.selected[place], np.full(gram.shape[0], np.nan)
        knot = int(np.argmax(knots == entered[winner]))
        known = path.found["lasso_coefs_"][knot]
        inside = np.flatnonzero(known)
        candidates = np.setdiff1d(np.flatnonzero(~np.isnan(step.candidates)), inside)
        if np.isnan(entered[winner]) or winner not in candidates:
            yield ComparedByQuery((winner,), scores, *_nothing(data, gram.shape[0]))
            continue
        whole = np.block([[gram, right[:, None]], [right, 0.0]])[None]
        lasso = _Entry(np.sign(known[inside]), estimator.scaling == "unit")
        alphas, signs = lasso.best(whole, inside, candidates, knots[knot - 1] if knot else np.inf)
        if not abs(alphas[candidates == winner][0] - entered[winner]) <= _SAME * entered[winner]:
            yield ComparedByQuery((winner,), scores, *_nothing(data, gram.shape[0]))
            continue
        near = np.argsort(-np.nan_to_num(alphas, nan=-1.0), kind="stable")[: _RIVALS + 1]
        near = near[~np.isnan(alphas[near])]
        columns = [*inside.tolist(), *candidates[near].tolist()]
        own = yield from grams_by_query(data, columns)
        at = np.ix_([*columns, gram.shape[0]], [*columns, gram.shape[0]])
        places = np.arange(len(columns))
        without = lasso.alphas(whole[0][at] - own, places[: inside.size], places[inside.size :], signs[near])
        scores[candidates[near]] = alphas[near]
        parts = np.zeros((gram.shape[0], len(own)))
        parts[candidates[near]] = alphas[near, None] - without.T
        yield ComparedByQuery((winner,), scores, parts, np.ones(len(own), dtype=np.bool_))


@dataclass(frozen=True, eq=False)
class _Entry:
    """The α at which features come into the lasso beside some with given signs (a,)."""

    signs: Floats
    scaled: bool

    def best(self, gram: Floats, inside: Ints, candidates: Ints, most: float) -> tuple[Floats, Floats]:
        """Return the greatest α up to ``most`` of each candidate, and whether it comes in with 1 or -1."""
        both = [
            self.alphas(gram, inside, candidates, np.full(candidates.size, one))[0] for one in (1.0, -1.0)
        ]
        fits = [(one > 0) & (one <= most * (1 + _SAME)) for one in both]
        up, down = (np.where(fit, one, np.nan) for fit, one in zip(fits, both, strict=True))
        turned = fits[1] & ~(up >= down)
        return np.where(turned, down, up), np.where(turned, -1.0, 1.0)

    def alphas(self, gram: Floats, inside: Ints, candidates: Ints, sigma: Floats) -> Floats:
        """Return the α of each candidate by some sums [X y]'[X y] (B, n + 1, n + 1), shape (B, c)."""
        squares = np.diagonal(gram, axis1=1, axis2=2)
        length = np.sqrt(np.maximum(squares, 0.0)) if self.scaled else np.ones_like(squares)
        length[:, -1] = 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            gram = gram / length[:, :, None] / length[:, None, :]
            beside = gram[:, candidates][:, :, inside]
            matrix, right = gram[:, inside][:, :, inside], gram[:, inside, -1]
            ends = np.stack([right, np.broadcast_to(self.signs, right.shape)], axis=-1)
            N, M = np.moveaxis(beside @ np.linalg.solve(matrix, ends), -1, 0)
            found: Floats = (gram[:, candidates, -1] - N) / (sigma - M)
        return found


def _by_elimination(estimator: RecursiveElimination, data: TrainingData, n_features: int) -> Compared:
    """Yield for each step which of the features so far would go, were there one too many.

    With t features left, the one with the smallest weight goes, and is the t-th of the path; the first one is
    what the second step leaves. Of RankRLS the weights without a query are exact, of RankSVM they follow from
    its gradient and the second derivatives.
    """
    steps = yield from _steps(estimator, data, max(n_features, min(2, data.X.shape[1])))
    importance, regularization = estimator.checked("importance"), estimator.checked("regularization")
    varies = np.diag((yield from sums_of_products(data))[0]) > 0
    n, Q = data.X.shape[1], data.ptr.size - 1
    for place in range(min(n_features, len(steps))):
        left = np.array(steps[min(max(place, 1), len(steps) - 1)].selected, dtype=np.int64)
        winner, scores, parts = int(left[place]), np.full(n, np.nan), np.zeros((n, Q))
        if left.size > 1 and varies[left].all():
            own = yield from grams_by_query(data, left.tolist())
            total = own.sum(axis=0)
            if estimator.ranker == "rankrls":
                weights = _ridge_weights(total[None], regularization)[0]
                without = _ridge_weights(total - own, regularization)
            else:
                weights, without = yield from _svm_weights(data, left, estimator.checked("C"))
            if importance == "scaled":
                weights = weights * np.sqrt(np.diag(total)[:-1])
                squares = np.diagonal(total - own, axis1=1, axis2=2)[:, :-1]
                without = without * np.sqrt(np.maximum(squares, 0.0))
            sign = 1.0 if place == 0 else -1.0
            scores[left] = sign * np.abs(weights)
            parts[left] = sign * (np.abs(weights)[:, None] - np.abs(without).T)
        yield ComparedByQuery((winner,), scores, parts, np.ones(Q, dtype=np.bool_))


def _ridge_weights(grams: Floats, regularization: float) -> Floats:
    """Return RankRLS's weights by some sums [X y]'[X y] (B, c + 1, c + 1), shape (B, c)."""
    left = grams[:, :-1, :-1] + regularization * np.eye(grams.shape[1] - 1)
    return np.asarray(np.linalg.solve(left, grams[:, :-1, -1:])[:, :, 0])


def _svm_weights(data: TrainingData, columns: Ints, C: float) -> Waiting[tuple[Floats, Floats]]:
    """Return RankSVM's weights with some columns (c,), and to first order those without each query (Q, c)."""
    from rankstudio.engine.methods.selection.recursive_elimination import ranksvm_weights  # noqa: PLC0415 - numba

    with ranksvm_weights(data, C) as learned:
        weights = yield from learned(columns)
    slopes, curvature, _ = yield from _pair_slopes(data, columns, weights)
    change = np.linalg.solve(np.eye(columns.size) + C * curvature, C * slopes)
    return weights, weights + change.T


def _by_weights(estimator: FSMRank | FSMRankTop | FSMSVM, data: TrainingData, n_features: int) -> Compared:
    """Yield FSMRank's absolute weights; without a query they follow from the derivatives of its objective.

    Similarities and importances stay as they are, and features without weight stay without.
    """
    fsmrank, last = yield from last_step(estimator.get_params(), data)
    order = by_weight(last.coef)
    similarity, _, lambda1, _ = yield from without_notes(fsmrank.penalties(data))
    n, Q = data.X.shape[1], data.ptr.size - 1
    parts, left = np.zeros((n, Q)), np.full(n, np.nan)
    if order.size:
        weights = last.coef[order]
        slopes, curvature, pairs = yield from _pair_slopes(data, order, weights)
        whole = max(1.0, float(pairs.sum()))
        rest = np.maximum(whole - pairs, 1.0)
        total = slopes.sum(axis=1, keepdims=True)
        change = (total - slopes) / rest - total / whole
        signs = np.sign(weights)
        bend = curvature / whole + lambda1 * similarity[np.ix_(order, order)] * np.outer(signs, signs)
        without = weights[:, None] - np.linalg.lstsq(bend, change, rcond=None)[0]
        # A weight that would change its sign ends at 0.
        parts[order] = np.abs(weights)[:, None] - np.maximum(signs[:, None] * without, 0.0)
        left[order] = np.abs(weights)
    for column in order[:n_features].tolist():
        yield ComparedByQuery((column,), left.copy(), parts, np.ones(Q, dtype=np.bool_))
        left[column] = np.nan


def _pair_slopes(
    data: TrainingData, columns: Ints, weights: Floats
) -> Waiting[tuple[Floats, Floats, Floats]]:
    """Return derivatives of the squared hinge in some weights (c,).

    Returns
    -------
    slopes : ndarray of shape (c, Q)
        Gradient of the loss of each query.
    curvature : ndarray of shape (c, c)
        Second derivatives of the whole loss.
    pairs : ndarray of shape (Q,)
        Number of pairs of each query.
    """
    found = yield from summed(data, _WHAT, _slopes_by_query, columns, weights, by_blocks=True)
    return found[0], found[1], found[2][0]


def _slopes_by_query(data: QueryData, columns: Ints, weights: Floats) -> tuple[Any, ...]:
    X = np.ascontiguousarray(data.X[:, columns])
    problem = LinearPairs(X, Pairs(data.y, data.ptr))
    at = SquaredHinge()(problem.pairs, problem.scores(weights))
    slopes = np.add.reduceat(X * at.slopes[:, None], data.ptr[:-1])
    curvature = np.array([problem.curvature(at, unit) for unit in np.eye(columns.size)])
    sizes = [np.unique(data.y[a:b], return_counts=True)[1] for a, b in pairwise(data.ptr.tolist())]
    pairs = np.array([(one.sum() ** 2 - (one**2).sum()) / 2 for one in sizes], dtype=np.float64)
    return Joined(slopes.T), curvature, Joined(pairs[None])


def grams_by_query(data: TrainingData, columns: Sequence[int]) -> Waiting[Floats]:
    """Return [X^ y^]'[X^ y^] of each query for some columns, shape (Q, c + 1, c + 1)."""
    (grams,) = yield from summed(data, _WHAT, _grams_by_query, tuple(columns), by_blocks=True)
    return np.ascontiguousarray(np.moveaxis(grams, -1, 0))


def _grams_by_query(data: QueryData, columns: tuple[int, ...]) -> tuple[Joined]:
    X, y = QueryData(np.ascontiguousarray(data.X[:, list(columns)]), data.y, data.ptr).centred
    out = np.empty((data.ptr.size - 1, len(columns) + 1, len(columns) + 1))
    return (Joined(np.moveaxis(query_grams(X, y, data.ptr, out), 0, -1)),)


def _nothing(data: TrainingData, n: int) -> tuple[Floats, Bools]:
    """Return the parts of queries in scores that are not compared."""
    Q = data.ptr.size - 1
    return np.zeros((n, Q)), np.ones(Q, dtype=np.bool_)
