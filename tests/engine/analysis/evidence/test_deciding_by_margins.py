"""Deciding queries by margins: exact for single features in one direction, near for other filters."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_problems import planted

from rankstudio.engine import GAS, ExpectedDivergence, GreedyRankRLS, SingleFeatureRanking, selection_evidence
from rankstudio.engine.analysis.evidence.deciding_by_margins import (
    _scores_by_query,
    has_margins,
    margin_steps,
)
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.base import Selector
from rankstudio.engine.support.work import finish


def graded(seed: int, n: int = 8) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, qid = planted(seed)
    return X[:, :n], np.clip(np.round(y + 2), 0, 4), qid


def selected_without(method: Selector, seed: int, queries: tuple[int, ...], step: int) -> int:
    """What a step selects where the method learns again without some queries."""
    X, y, qid = graded(seed)
    kept = ~np.isin(qid, np.unique(qid)[list(queries)])
    return int(method.fit(X[kept], y[kept], qid=qid[kept]).selection_order_[step])


@pytest.mark.parametrize("seed", range(4))
def test_of_single_features_they_are_exact(seed: int) -> None:
    """Catches queries in another order, a margin of another rival, and one query too many."""
    method = SingleFeatureRanking(1, measure="NDCG@5", direction="descending")
    X, y, qid = graded(seed)
    (step,) = finish(margin_steps(method, group(X, y, qid)))
    assert step.queries and step.feature == method.fit(X, y, qid=qid).selection_order_[0]
    assert selected_without(method, seed, step.queries, 0) == step.instead != step.feature
    assert selected_without(method, seed, step.queries[:-1], 0) == step.feature


@pytest.mark.parametrize(
    ("method", "attribute"),
    [
        (GAS(3), "importance_"),
        (GAS(3, importance="ndcg@10"), "importance_"),
        (ExpectedDivergence(2), "importance_"),
        (SingleFeatureRanking(2), "scores_"),
        (SingleFeatureRanking(2, measure="MAP", direction="descending"), "scores_"),
    ],
    ids=repr,
)
def test_scores_of_queries_average_to_those_of_the_method(method: Selector, attribute: str) -> None:
    """Catches another measure, direction or convention than the method's."""
    X, y, qid = graded(1)
    expected = getattr(method.fit(X, y, qid=qid), attribute)
    found = np.nanmean(_scores_by_query(method, group(X, y, qid)), axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("method", [GAS(3), SingleFeatureRanking(2, measure="MAP")], ids=repr)
def test_of_other_filters_they_are_near(method: Selector) -> None:
    """Half as many queries more change the step in most cases, and half as many leave it."""
    changed, left, n = 0, 0, 0
    for seed in range(6):
        X, y, qid = graded(seed)
        order = method.fit(X, y, qid=qid).selection_order_
        for place, step in enumerate(finish(margin_steps(method, group(X, y, qid)))):
            assert step.feature == order[place]
            if place or not step.queries:
                continue  # later steps may differ already before
            count = len(step.queries)
            changed += selected_without(method, seed, step.queries, place) != step.feature
            left += selected_without(method, seed, step.queries[: count // 2], place) == step.feature
            n += 1
    assert n >= 4
    assert changed >= 0.6 * n
    assert left >= 0.6 * n


def test_evidence_says_that_they_are_approximate() -> None:
    X, y, qid = graded(0)
    found = selection_evidence(GAS(3), X, y, qid=qid, parts=("deciding",))
    assert found.deciding_by_margins and len(found.deciding) == 3
    assert any(row.n_deciding for row in found.rows)
    exact = selection_evidence(GreedyRankRLS(2), X, y, qid=qid, parts=("deciding",))
    assert not exact.deciding_by_margins


def test_other_methods_have_none() -> None:
    X, y, qid = graded(0)
    assert not has_margins(GreedyRankRLS(2)) and not has_margins(SingleFeatureRanking(2, groups=[(1, 2)]))
    with pytest.raises(ParameterError, match="filter"):
        finish(margin_steps(GreedyRankRLS(2), group(X, y, qid)))
