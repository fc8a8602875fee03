"""Filters and RankSVM on sparse features: the numbers of dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from strategies import Problem, problems

from rankstudio.engine import RankSVM
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arithmetic.sparse_query_data import group_sparse
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.methods.selection.single_feature import (
    MutualInformation,
    directed_measures,
)
from rankstudio.engine.methods.shards.order_statistics import order_statistics
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.support.sparse_rows import SparseRows
from rankstudio.engine.support.work import finish

MEASURES = ("MAP", "NDCG@3", "MeanNDCG", "Disagreement", "AUC", "Tau", "SquaredError")


def rounded(problem: Problem, density: float) -> np.ndarray:
    """Return features with many zeros, negative values, ties, and one that a query has throughout."""
    X = np.round(problem.X - 0.4, 1)
    X[np.random.default_rng(0).random(X.shape) > density] = 0.0
    X[problem.qid == problem.qid[0], 0] = 0.7
    return X


@given(
    problems(),
    st.floats(0.05, 1.0),
    st.sampled_from(MEASURES),
    st.sampled_from(sorted(CONVENTIONS)),
)
def test_each_feature_alone_measures_as_much(
    problem: Problem, density: float, measure: str, convention: str
) -> None:
    X = rounded(problem, density)
    dense = training_data(group(X, problem.y, problem.qid))
    sparse = training_data(
        group_sparse(scipy.sparse.csr_array(X), problem.y, problem.qid)
    )
    expected = finish(directed_measures(dense, measure, convention))
    found = finish(directed_measures(sparse, measure, convention))
    for one, other in zip(found, expected, strict=True):
        assert one is not None
        # A sum over the queries of numbers up to 1, in another order.
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


@given(problems(), st.floats(0.05, 1.0), st.integers(2, 12))
def test_mutual_information_is_that_of_dense_features(
    problem: Problem, density: float, n_bins: int
) -> None:
    X = rounded(problem, density)
    dense = MutualInformation(n_bins=n_bins).fit(X, problem.y, qid=problem.qid)
    sparse = MutualInformation(n_bins=n_bins).fit(
        scipy.sparse.csr_array(X), problem.y, qid=problem.qid
    )
    assert sparse.scores_.tolist() == dense.scores_.tolist()
    assert sparse.selection_order_.tolist() == dense.selection_order_.tolist()
    np.testing.assert_allclose(sparse.criterion_path_, dense.criterion_path_, rtol=1e-9)


@given(problems(), st.floats(0.0, 1.0))
def test_order_statistics_count_the_zeros(problem: Problem, density: float) -> None:
    X = rounded(problem, density)
    data = training_data(
        group_sparse(scipy.sparse.csr_array(X), problem.y, problem.qid)
    )
    ranks = np.unique(np.linspace(0, len(X) - 1, 7).astype(np.int64))
    found = finish(order_statistics(data, ranks, ""))
    rows = data.whole("").X
    assert (found == np.sort(np.asarray(rows), axis=0)[ranks].T).all()


@pytest.mark.parametrize(
    ("parameters", "m", "n", "offset"),
    [
        ({}, 200, 20, 100.0),
        ({}, 300, 1500, 0.0),
        ({"loss": "hinge"}, 200, 20, 0.0),
        ({"loss": "hinge", "solver": "bundle", "C": 0.01}, 200, 20, 100.0),
        ({"weighting": "pairs"}, 300, 1500, 0.0),
    ],
)
def test_ranksvm_ends_at_the_same_minimum(
    parameters: dict, m: int, n: int, offset: float
) -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(m, n)), 1) * (rng.random((m, n)) < 0.1)
    X[:50, 0] += offset
    qid, y = (
        np.sort(rng.choice(15, m)),
        np.round(X[:, 1] * 3 + X[:, 2] + rng.normal(size=m)),
    )
    dense, sparse = (
        RankSVM(tol=1e-6, **parameters).fit(rows, y, qid=qid)
        for rows in (X, scipy.sparse.csr_array(X))
    )
    # The objective is ½ w'w at least: gaps of 1e-6 of it leave a difference of 2√(1e-6) of the length.
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=2e-6)
    assert np.linalg.norm(sparse.coef_ - dense.coef_) < 2e-3 * np.linalg.norm(
        dense.coef_
    )
    np.testing.assert_allclose(
        sparse.predict(scipy.sparse.csc_array(X)),
        X @ sparse.coef_,
        rtol=1e-10,
        atol=1e-10,
    )


@given(problems(), st.floats(0.1, 1.0))
def test_a_profile_is_that_of_dense_features(problem: Problem, density: float) -> None:
    profiles = pytest.importorskip("rankstudio.plugins.features.feature_profile")
    X = rounded(problem, density)
    data = RankingDataset.from_arrays(X, problem.y, problem.qid)
    dense, sparse = (
        profiles.Inspector(data.changed(X=rows))
        for rows in (data.X, SparseRows.of_array(np.array(data.X)))
    )
    n = X.shape[1]
    matrix = dense.correlations
    np.testing.assert_allclose(
        [sparse.correlations[j] for j in range(n)], matrix, rtol=0, atol=1e-10
    )
    some = np.arange(n)[::2]
    np.testing.assert_allclose(
        sparse.correlations[:, some], matrix[:, some], atol=1e-10
    )
    np.testing.assert_allclose(
        sparse.correlations[np.ix_(some, [0])], matrix[np.ix_(some, [0])], atol=1e-10
    )
    one, other = sparse.profile(0, [n - 1]), dense.profile(0, [n - 1])
    assert (one.alone, one.constant, one.ascending) == (
        other.alone,
        other.constant,
        other.ascending,
    )
    assert one.explained == pytest.approx(other.explained, abs=1e-6, nan_ok=True)
