"""Deciding queries by margins, against selectors that learn again without the queries."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from abilities import estimator_class
from evidence_problems import planted, untied
from hypothesis import given
from oracles import centred_by_loops
from strategies import Problem

from rankstudio.engine import (
    FSBFS,
    FSMSVM,
    GAS,
    ChiSquared,
    ExpectedDivergence,
    FSMRank,
    FSMRankTop,
    GreedyRankRLS,
    L1Path,
    MutualInformation,
    RecursiveElimination,
    SingleFeatureRanking,
    deciding_queries,
    selection_evidence,
)
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.capabilities import ComparedByQuery
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.methods.selection.single_feature import measured_alone
from rankstudio.engine.methods.shards.training_data import TrainingData, training_data
from rankstudio.engine.metrics.conventions import objective
from rankstudio.engine.support.work import finish
from rankstudio.plugins.evidence.deciding_by_margins import margin_steps

LambdaMARTTop = estimator_class("lambdamart-top")

SELECTORS = [
    (SingleFeatureRanking(3, measure="MAP"), 1.0),
    (SingleFeatureRanking(3, measure="NDCG@5", direction="descending"), 1.0),
    (ExpectedDivergence(2, convention="sklearn"), 0.6),
    (GAS(3), 0.8),
    (
        MutualInformation(3),
        0.6,
    ),  # of eight seeds 0.58: the bins shift, with which the estimate does not reckon
    (ChiSquared(3), 0.6),  # the same
    (L1Path(4), 0.9),
    (L1Path(4, scaling="none"), 0.9),
    (RecursiveElimination(4), 0.9),
    (RecursiveElimination(4, importance="scaled"), 0.9),
    (RecursiveElimination(4, ranker="ranksvm"), 0.8),
    (FSMRank(), 0.7),
    (FSMRank(loss="logistic", lambda2=1e-3), 0.7),
    (FSMRank(loss="least_squares"), 0.7),
    (FSMRankTop(4, lambda2=0.01), 0.7),
    (FSMSVM(4), 0.7),
    (FSBFS(2, subset_size=2, measure="MAP"), 0.8),
]
"""Selectors, and the share of steps that change at least where the reported queries are gone."""


def graded(seed: int, n: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, qid = planted(seed)
    return X[:, :n], np.clip(np.round(y + 2), 0, 4), qid


def order_of(
    method: Selector, X: np.ndarray, y: np.ndarray, qid: np.ndarray
) -> list[int]:
    with warnings.catch_warnings():
        # similarities that are not positive semidefinite
        warnings.simplefilter("ignore")
        return method.fit(X, y, qid=qid).selection_order_.tolist()


def without(method: Selector, seed: int, queries: tuple[int, ...]) -> list[int]:
    """The order where the method learns again without some queries."""
    X, y, qid = graded(seed)
    kept = ~np.isin(qid, np.unique(qid)[list(queries)])
    return order_of(method, X[kept], y[kept], qid[kept])


def decided_at(method: Selector, order: list[int], place: int) -> Any:
    """What a step decides: which feature goes, by elimination; otherwise which features there are."""
    if isinstance(method, RecursiveElimination):
        return order[place]
    return set(order[: place + 1])


def compared(
    method: Selector, data: TrainingData, n_features: int
) -> list[ComparedByQuery]:
    told = method.compared_by_query(data, n_features)
    assert told is not None
    return [one for one in told if isinstance(one, ComparedByQuery)]


@pytest.mark.parametrize(
    ("method", "least"),
    [
        # FSMRank's weights divide by the same rule in all three.
        pytest.param(
            *one,
            marks=pytest.mark.thorough
            if isinstance(one[0], FSMRankTop | FSMSVM)
            else (),
        )
        for one in SELECTORS
    ],
    ids=repr,
)
def test_without_the_queries_the_step_selects_another_feature(
    method: Selector, least: float
) -> None:
    """Without the reported queries most steps change; without half of them hardly any does.

    The counts are printed: ``pytest -s``. Steps after which the order would differ anyway count as changed.
    """
    changed, left, counts = 0, 0, []
    # these learn for long
    for seed in range(2 if isinstance(method, FSMRank | FSMSVM) else 4):
        X, y, qid = graded(seed)
        order = order_of(method, X, y, qid)
        most = None if hasattr(method, "n_features_to_select") else 4
        most = len(order) if isinstance(method, FSBFS) else most
        steps = finish(margin_steps(method, group(X, y, qid), most))
        assert [step.feature for step in steps] == order[: len(steps)]
        last = None
        for place, step in enumerate(steps):
            if not step.queries or step.queries == last:
                continue  # FS-BFS selects several features in a step
            last, end = step.queries, place
            while (
                isinstance(method, FSBFS)
                and end + 1 < len(steps)
                and steps[end + 1].queries == last
            ):
                end += 1
            before = decided_at(method, order, end)
            half = step.queries[: len(step.queries) // 2]
            counts.append(len(step.queries))
            changed += (
                decided_at(method, without(method, seed, step.queries), end) != before
            )
            left += decided_at(method, without(method, seed, half), end) == before
    sys.stdout.write(
        f"\n{method!r}: {changed} of {len(counts)} steps change, {left} not by half of {counts}"
    )
    assert len(counts) >= 6
    assert changed >= least * len(counts)
    assert left >= 0.6 * len(counts)


def test_of_single_features_they_are_the_fewest_for_the_rival() -> None:
    """Catches queries in another order, a margin of another rival, and one query too many."""
    method = SingleFeatureRanking(1, measure="NDCG@5", direction="descending")
    for seed in range(4):
        X, y, qid = graded(seed)
        (step,) = finish(margin_steps(method, group(X, y, qid)))
        assert (
            step.queries
            and step.feature == method.fit(X, y, qid=qid).selection_order_[0]
        )
        assert without(method, seed, step.queries)[0] == step.instead != step.feature
        assert without(method, seed, step.queries[:-1])[0] == step.feature


@pytest.mark.parametrize(
    ("method", "attribute"),
    [
        (GAS(3), "importance_"),
        (GAS(3, importance="ndcg@10"), "importance_"),
        (GAS(3, importance="loss"), "importance_"),
        (ExpectedDivergence(2), "importance_"),
        (SingleFeatureRanking(2), "scores_"),
        (SingleFeatureRanking(2, measure="MAP", direction="descending"), "scores_"),
    ],
    ids=repr,
)
def test_scores_of_queries_average_to_those_of_the_method(
    method: Selector, attribute: str
) -> None:
    """Catches another measure, direction or convention than the method's."""
    X, y, qid = graded(1)
    expected = getattr(method.fit(X, y, qid=qid), attribute)
    data = training_data(group(X, y, qid))
    if isinstance(method, ExpectedDivergence):  # whose parts have divergences, too
        alone = measured_alone(
            data, "NDCG@10", objective(method.convention), both_directions=False
        )
        found = np.nanmean(finish(alone), axis=1)
    else:
        found = compared(method, data, 2)[0].parts.sum(axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_parts_of_queries_add_up_to_mutual_information_and_to_measures_of_subsets() -> (
    None
):
    X, y, qid = graded(1)
    data = training_data(group(X, y, qid))
    (first, *_) = compared(MutualInformation(2), data, 2)
    np.testing.assert_allclose(first.parts.sum(axis=1), first.scores, atol=1e-12)
    for step in compared(FSBFS(2, subset_size=2, measure="MAP"), data, 3):
        there = ~np.isnan(step.scores)
        np.testing.assert_allclose(
            step.parts.sum(axis=1)[there], step.scores[there], atol=1e-12
        )


@given(untied(fewest_queries=8, most_features=4))
def test_where_the_lasso_takes_features_in_without_a_query_is_exact(
    problem: Problem,
) -> None:
    """Catches the signs, the scale and the sums of the other queries, where the path goes the same way."""
    data = group(problem.X, problem.y, problem.qid)
    n, Q = data.X.shape[1], data.ptr.size - 1
    for method in (L1Path(n), L1Path(n, scaling="none")):
        whole = method.fit(
            data.X, data.y, qid=np.repeat(np.arange(Q), np.diff(data.ptr))
        )
        entered = whole.alphas_.copy()
        steps = compared(method, training_data(data), n)
        for query in range(Q):
            kept = np.repeat(np.arange(Q) != query, np.diff(data.ptr))
            rest = L1Path(n, scaling=method.scaling).fit(
                data.X[kept],
                data.y[kept],
                qid=np.repeat(np.arange(Q), np.diff(data.ptr))[kept],
            )
            for place, step in enumerate(steps):
                (winner,) = step.winners
                if rest.selection_order_.tolist()[: place + 1] != [
                    one.winners[0] for one in steps[: place + 1]
                ]:
                    break
                if np.isnan(step.scores[winner]) or _turned(whole, rest, winner):
                    continue
                found = step.scores[winner] - step.parts[winner, query]
                np.testing.assert_allclose(
                    step.scores[winner], entered[winner], rtol=1e-6
                )
                np.testing.assert_allclose(
                    found, rest.alphas_[winner], rtol=1e-6, atol=1e-9
                )


def _turned(one: L1Path, other: L1Path, feature: int) -> bool:
    """Whether what is in the lasso, or a sign in it, differs where a feature comes in."""
    signs = []
    for path in (one, other):
        knot = int(np.argmax(path.lasso_alphas_ == path.alphas_[feature]))
        signs.append(
            (
                np.sign(path.lasso_coefs_[knot]),
                np.sign(path.lasso_coefs_[knot + 1][feature]),
            )
        )
    return bool((signs[0][0] != signs[1][0]).any() or signs[0][1] != signs[1][1])


@given(untied(fewest_queries=6, most_features=5))
def test_weights_without_a_query_are_those_of_rankrls_learned_again(
    problem: Problem,
) -> None:
    """Catches another λ, labels that are not centred, and the importance of what is not left."""
    data = group(problem.X, problem.y, problem.qid)
    n, qid = data.X.shape[1], np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    X, y = centred_by_loops(data.X, qid), centred_by_loops(data.y[:, None], qid)[:, 0]
    method = RecursiveElimination(n, regularization=problem.regularization)
    for step in compared(method, training_data(data), n)[1:]:
        left = np.flatnonzero(~np.isnan(step.scores))
        assert int(np.nanargmax(step.scores)) == step.winners[0]
        for query in range(data.ptr.size - 1):
            rows = X[qid != query][:, left]
            matrix = rows.T @ rows + problem.regularization * np.eye(left.size)
            weights = np.abs(np.linalg.solve(matrix, rows.T @ y[qid != query]))
            np.testing.assert_allclose(
                -(step.scores - step.parts[:, query])[left], weights, atol=1e-9
            )


@pytest.mark.parametrize(
    "key", ["ranksvm", "fsmrank", "fsmrank-logistic", "fsmrank-least_squares"]
)
def test_weights_without_a_query_are_right_to_first_order(key: str) -> None:
    """A query of twenty: what is left of its effect after the estimate is small beside the effect."""
    rng = np.random.default_rng(3)
    X, qid = rng.normal(size=(400, 4)), np.repeat(np.arange(20), 20)
    y = np.clip(np.round(X @ [1.0, 0.8, 0.5, 0.3] + 0.5 * rng.normal(size=400)), 0, 2)
    method: Selector
    if key == "ranksvm":
        method = RecursiveElimination(4, ranker="ranksvm", C=1e-4)
    else:
        method = FSMRank(importance="none", similarity="none", tol=1e-14, max_iter=5000)
        method.loss = key.partition("-")[2] or method.loss  # type: ignore[assignment]
    step = compared(method, training_data(group(X, y, qid)), 4)[
        -1 if key == "ranksvm" else 0
    ]
    effects, missed = [], []
    for query in range(20):
        kept = qid != query
        rest = compared(method, training_data(group(X[kept], y[kept], qid[kept])), 4)
        again = next(
            one
            for one in rest
            if np.array_equal(np.isnan(one.scores), np.isnan(step.scores))
        )
        effects.append(np.abs(step.scores - again.scores))
        missed.append(np.abs(step.scores - step.parts[:, query] - again.scores))
    assert np.max(effects) > 0
    assert np.linalg.norm(missed) < 0.15 * np.linalg.norm(effects)


@pytest.mark.parametrize(
    "method", [one for one, _ in SELECTORS if not isinstance(one, FSMRankTop)], ids=repr
)
def test_shards_give_the_same(method: Selector) -> None:
    """Catches sums over the queries of one shard, and queries in another order."""
    X, y, qid = graded(0)
    data = group(X, y, qid)
    most = 3 if isinstance(method, FSMRank | FSBFS) else None
    in_shards = TrainingData(data.X, data.y, data.ptr, documents=100)
    assert in_shards.several
    assert finish(margin_steps(method, in_shards, most)) == finish(
        margin_steps(method, data, most)
    )


def test_evidence_says_that_they_are_approximate() -> None:
    X, y, qid = graded(0)
    steps = deciding_queries(GAS(3), X, y, qid=qid)
    assert steps == finish(margin_steps(GAS(3), group(X, y, qid))) and not any(
        one.exact for one in steps
    )
    assert all(one.exact for one in deciding_queries(GreedyRankRLS(2), X, y, qid=qid))
    for method in (GAS(3), L1Path(3), FSBFS(2, subset_size=2, measure="MAP")):
        found = selection_evidence(method, X, y, qid=qid, parts=("deciding",))
        assert found.deciding_by_margins and len(found.deciding) == len(found.selected)
        assert any(row.n_deciding for row in found.rows)
    found = selection_evidence(
        FSMRank(), X, y, qid=qid, n_features=3, parts=("deciding",)
    )
    assert len(found.deciding) == 3
    exact = selection_evidence(GreedyRankRLS(2), X, y, qid=qid, parts=("deciding",))
    assert not exact.deciding_by_margins


def test_other_methods_have_none() -> None:
    X, y, qid = graded(0)
    priced = SingleFeatureRanking(2, costs=[1.0, 2.0, 3.0])
    for method in (
        GreedyRankRLS(2),
        SingleFeatureRanking(2, groups=[(1, 2)]),
        priced,
        LambdaMARTTop(2),
    ):
        assert method.compared_by_query(training_data(group(X, y, qid)), 2) is None
    with pytest.raises(ParameterError, match="divided among the queries"):
        finish(margin_steps(GreedyRankRLS(2), group(X, y, qid)))


@pytest.mark.parametrize("method", [MutualInformation(), ChiSquared()], ids=repr)
def test_the_part_of_a_document_is_the_derivative_of_the_statistic(
    method: MutualInformation,
) -> None:
    """Per document, the statistic changes by what a document gains more than the mean."""
    counts = np.random.default_rng(0).integers(0, 20, (4, 3)).astype(float)
    counts[1, 2] = 0.0
    m, h = counts.sum(), 1e-6
    chi = isinstance(method, ChiSquared)

    def per_document(counts: np.ndarray) -> float:
        return method.statistic(counts) / (counts.sum() if chi else 1.0)

    gains = method.gains(counts) * (1.0 if chi else m)
    there = counts > 0
    numeric = np.zeros_like(counts)
    for at in zip(*np.nonzero(there), strict=True):
        more = counts.copy()
        more[at] += h
        numeric[at] = (per_document(more) - per_document(counts)) / h * m
    expected = gains - np.sum(counts / m * gains)
    np.testing.assert_allclose(numeric[there], expected[there], atol=1e-3)
