"""The search that keeps nothing of its candidates, against retraining: additions, removals, other sets."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from oracles import leave_query_out_error, rankrls_on_pairs
from strategies import Problem, problems, tolerance

from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData, group_sparse
from rankstudio.engine.methods.selection.greedy_rankrls.column_search import (
    ColumnProducts,
    GramProducts,
    OnDemandSearch,
)
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (
    gram_statistics,
)

Maker = Callable[[np.ndarray, np.ndarray, np.ndarray], GramProducts | ColumnProducts]


def gram_products(X: np.ndarray, y: np.ndarray, qid: np.ndarray) -> GramProducts:
    data = group(X, y, qid)
    known = gram_statistics(data)
    return GramProducts(known.gram, known.total, data.ptr.size - 1)


PRODUCTS: dict[str, Maker] = {
    "statistics": gram_products,
    "dense columns": lambda X, y, qid: ColumnProducts(
        SparseQueryData.of(group(X, y, qid))
    ),
    "sparse columns": lambda X, y, qid: ColumnProducts(
        group_sparse(scipy.sparse.csr_array(X), y, qid)
    ),
}

EVERY_KIND = pytest.mark.parametrize(
    "kind",  # dense columns go the way of sparse ones
    [
        pytest.param(k, marks=pytest.mark.thorough if k == "dense columns" else ())
        for k in PRODUCTS
    ],
)


def check_against_retraining(search: OnDemandSearch, problem: Problem) -> None:
    """Compare everything the search knows with models learned without each query in turn."""
    X, y, qid, regularization = problem
    rtol, atol = tolerance(problem)
    selected = list(search.selected)

    def error(features: list[int]) -> float:
        return leave_query_out_error(X, y, qid, features, regularization)

    assert search.criterion() == pytest.approx(error(selected), rel=rtol, abs=atol)
    others = [j for j in range(X.shape[1]) if j not in selected]
    costs = search.costs(np.array(others, dtype=np.int64))
    np.testing.assert_allclose(
        costs, [error([*selected, j]) for j in others], rtol=rtol, atol=atol
    )
    without = [error([j for j in selected if j != i]) for i in selected]
    np.testing.assert_allclose(search.removals(), without, rtol=rtol, atol=atol)
    expected = np.zeros(X.shape[1])
    if selected:
        expected[selected] = rankrls_on_pairs(X[:, selected], y, qid, regularization)
    np.testing.assert_allclose(
        search.weights(), expected, rtol=rtol, atol=atol / min(1.0, regularization)
    )


@EVERY_KIND
@given(problem=problems())
def test_from_one_set_to_any_other(kind: str, problem: Problem) -> None:
    X, y, qid, regularization = problem
    X[(X < 0.4) & (np.random.default_rng(1).random(X.shape) < 0.8)] = 0.0
    search = OnDemandSearch(PRODUCTS[kind](X, y, qid), regularization)
    rng = np.random.default_rng(X.shape[0])
    for _ in range(5):
        size = int(rng.integers(0, X.shape[1] + 1))
        chosen = tuple(rng.permutation(X.shape[1])[:size].tolist())
        search.move_to(chosen)
        assert search.selected == chosen
        check_against_retraining(search, problem)


@EVERY_KIND
def test_more_queries_than_a_block_and_more_features_than_there_was_room_for(
    kind: str,
) -> None:
    rng = np.random.default_rng(2)
    X, qid = rng.random((300, 20)), np.sort(rng.integers(0, 75, 300))
    X[X < 0.6] = 0.0
    y = np.round(X @ rng.normal(size=20) + rng.normal(size=300))
    search = OnDemandSearch(PRODUCTS[kind](X, y, qid), 0.5)
    for feature in range(18):
        search.select(feature)
    check_against_retraining(search, Problem(X, y, qid, 0.5))
    search.move_to((0, 1, 2, 19, 4))
    check_against_retraining(search, Problem(X, y, qid, 0.5))
