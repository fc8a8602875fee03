"""What holds for every selector that puts features in an order."""

from __future__ import annotations

from typing import Any

import numpy as np
from oracles import rankrls_on_pairs


def ranking_problem(seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """10 queries of 12 documents, 6 features of which 4 and 1 tell the labels 0 … 2."""
    rng = np.random.default_rng(seed)
    X, qid = rng.random((120, 6)), np.repeat(np.arange(10), 12)
    return (
        X,
        np.clip(np.round(2 * X[:, 4] + X[:, 1] + 0.2 * rng.random(120) - 0.5), 0, 2),
        qid,
    )


def ranking(m: int, n: int, queries: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Documents of so many queries of any size, of which the first two features tell the labels 0 … 2."""
    rng = np.random.default_rng(0)
    X, qid = rng.random((m, n)), np.sort(rng.integers(0, queries, m))
    return (
        X,
        np.clip(np.round(2 * X[:, 0] + X[:, 1] + rng.normal(size=m) - 1.5), 0, 2),
        qid,
    )


def check_conventions(selector: Any) -> None:
    """Steps, fit and predict of a selector of two features; test_estimators has what all methods share."""
    X, y, qid = ranking_problem()
    steps = list(selector.steps(X, y, qid=qid))
    assert [s.number for s in steps] == [1, 2]
    assert selector.n_steps(6) == 2
    assert steps[1].selected[:1] == steps[0].selected
    order = selector.fit(X, y, qid=qid).selection_order_.tolist()
    assert order == list(steps[-1].selected)
    expected = np.zeros(6)
    expected[order] = rankrls_on_pairs(X[:, order], y, qid, selector.regularization)
    np.testing.assert_allclose(selector.coef_, expected, atol=1e-10)
    np.testing.assert_allclose(selector.predict(X), X @ selector.coef_, rtol=1e-12)
