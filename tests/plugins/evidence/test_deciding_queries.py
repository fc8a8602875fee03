"""Deciding queries against retraining without them, and against all small sets of queries."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from evidence_problems import planted, untied
from hypothesis import given, settings
from oracles import greedy_by_retraining, leave_query_out_error
from strategies import Problem

from rankstudio.engine import GreedyRankRLS, deciding_queries
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import DatasetError
from rankstudio.plugins.evidence.deciding_queries import deciding_steps
from rankstudio.plugins.evidence.partial_result import PartialResult


def chosen(problem: Problem, removed: tuple[int, ...], before: list[int]) -> int:
    """What retraining without some queries selects after some features."""
    X, y, qid, regularization = problem
    names = list(dict.fromkeys(qid.tolist()))
    rows = ~np.isin(qid, [names[query] for query in removed])
    left = [j for j in range(X.shape[1]) if j not in before]
    errors = [
        leave_query_out_error(X[rows], y[rows], qid[rows], [*before, j], regularization)
        for j in left
    ]
    return left[int(np.argmin(errors))]


@settings(max_examples=10)
@given(untied())
def test_without_them_retraining_selects_another_feature(problem: Problem) -> None:
    X, y, qid, regularization = problem
    n, Q = X.shape[1], len(set(qid.tolist()))
    steps = deciding_queries(GreedyRankRLS(n, regularization), X, y, qid=qid)
    path, _ = greedy_by_retraining(X, y, qid, n, regularization)
    assert [step.feature for step in steps] == path
    assert steps[-1].queries == ()  # nothing else is left
    for place, step in enumerate(steps):
        before = path[:place]
        if not step.queries:
            continue
        assert len(set(step.queries)) == len(step.queries) <= Q - 2
        assert chosen(problem, step.queries, before) == step.instead != step.feature
        assert chosen(problem, step.queries[:-1], before) == step.feature


def test_they_are_about_as_few_as_of_all_sets() -> None:
    rng, found, fewest = np.random.default_rng(0), [], []
    for _ in range(20):
        X, qid = rng.normal(size=(48, 4)), np.repeat(np.arange(12), 4)
        y = X[:, 0] + 0.8 * X[:, 1] + rng.normal(size=48)
        problem = Problem(X, y, qid, 1.0)
        (step,) = deciding_queries(GreedyRankRLS(1), X, y, qid=qid)
        if not 0 < len(step.queries) <= 3:
            continue
        sizes = (
            size
            for size in (1, 2, 3)
            if any(
                chosen(problem, some, []) != step.feature
                for some in combinations(range(12), size)
            )
        )
        fewest.append(next(sizes))
        found.append(len(step.queries))
    print(f"queries found {found}, fewest of all sets {fewest}")  # noqa: T201 - the counts
    assert len(found) >= 5
    assert np.mean(np.array(found) == fewest) >= 0.8


def test_a_clear_step_has_none_and_a_pinned_one_neither() -> None:
    X, _, qid = planted(0)
    y = X[:, 0] + 0.01 * X[:, 1]
    assert deciding_queries(GreedyRankRLS(1), X, y, qid=qid)[0].queries == ()
    pinned = deciding_queries(GreedyRankRLS(2, pinned=(7,)), X, y, qid=qid)
    assert (pinned[0].feature, pinned[0].queries, pinned[1].feature) == (7, (), 0)


def test_it_tells_the_steps_so_far() -> None:
    X, y, qid = planted(0)
    told = list(deciding_steps(GreedyRankRLS(3), group(X, y, qid)))
    assert [len(one.found) for one in told if isinstance(one, PartialResult)] == [
        1,
        2,
        3,
    ]
    with pytest.raises(DatasetError):
        deciding_queries(GreedyRankRLS(3), X, y, qid=qid // 40)
