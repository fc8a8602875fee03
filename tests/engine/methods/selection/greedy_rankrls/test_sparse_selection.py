"""Greedy RankRLS on sparse features: the dense path, little memory, and back-fitting."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from oracles import centred_by_loops, leave_query_out_error, rankrls_on_pairs
from strategies import Problem, problems, tolerance

from rankstudio.engine import GAS, GreedyRankRLS
from rankstudio.engine.errors import DatasetError, ParameterError

FORMATS = ("csr", "csc", "coo", "lil")


def sparse_problem(
    seed: int, documents: int = 300, features: int = 25, density: float = 0.2
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scattered queries of about 8 documents, features that are mostly 0, one of them constant."""
    rng = np.random.default_rng(seed)
    X = rng.random((documents, features)) * (
        rng.random((documents, features)) < density
    )
    X[:, 0] = 3.0
    y = np.round(X @ rng.normal(size=features) + 0.5 * rng.normal(size=documents))
    return X, y, rng.integers(0, documents // 8, documents)


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(FORMATS),
    st.integers(-6, 8),
    st.floats(0.02, 1.0),
)
def test_the_path_is_that_of_dense_features(
    seed: int, kind: str, exponent: int, density: float
) -> None:
    X, y, qid = sparse_problem(seed, density=density)
    method = GreedyRankRLS(regularization=2.0**exponent)
    dense = list(method.steps(X, y, qid=qid))
    sparse = list(method.steps(scipy.sparse.csr_array(X).asformat(kind), y, qid=qid))
    assert sparse[-1].selected == dense[-1].selected
    for one, other in zip(dense, sparse, strict=True):
        np.testing.assert_allclose(other.criterion, one.criterion, rtol=1e-9)
        np.testing.assert_allclose(other.candidates, one.candidates, rtol=1e-9)
        np.testing.assert_allclose(other.coef, one.coef, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [
        {"search": "floating"},
        {"search": "swap", "n_features_to_select": 6},
        {"n_candidates": 5, "seed": 3},
        {"costs": np.linspace(1, 2, 25), "budget": 12},
        {"size_penalty": 0.003},
        {"pinned": (0, 9), "banned": (3, 4)},
        {"fitting": "back"},
    ],
)
def test_every_way_to_search_gives_the_path_of_dense_features(parameters: dict) -> None:
    X, y, qid = sparse_problem(1)
    dense, sparse = (
        GreedyRankRLS(**parameters).fit(features, y, qid=qid)
        for features in (X, scipy.sparse.csc_matrix(X))
    )
    assert sparse.selection_order_.tolist() == dense.selection_order_.tolist()
    np.testing.assert_allclose(sparse.criterion_path_, dense.criterion_path_, rtol=1e-9)


def test_no_dense_matrix_is_made() -> None:
    documents, features, entries = 1_000, 50_000, 40
    rng = np.random.default_rng(0)
    # Every row has entries of its own beside those of one of the first 50 columns, which tells its label.
    columns = rng.integers(0, features, (documents, entries))
    columns[:, 0] = rng.integers(0, 50, documents)
    rows = np.repeat(np.arange(documents), entries)
    X = scipy.sparse.csr_array(
        (rng.random(rows.size), (rows, columns.ravel())), shape=(documents, features)
    )
    y, qid = columns[:, 0] % 3.0, np.repeat(np.arange(50), 20)
    for parameters in (
        {},
        {"search": "floating"},
        {"fitting": "back"},
        {"n_candidates": 1000},
    ):
        method = GreedyRankRLS(4, **parameters)
        # what is loaded on first use is not counted
        method.fit(X[:40], y[:40], qid=qid[:40])
        tracemalloc.start()
        method.fit(X, y, qid=qid)
        scores = method.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        # X densely takes 400 MB, 50 as booleans; a path of 4 a dozen arrays of n numbers, and the entries.
        assert peak < 30e6
        np.testing.assert_allclose(scores, X @ method.coef_, rtol=1e-12)
        assert (method.selection_order_ < 50).all() or parameters.get("n_candidates")


def test_a_fitted_method_takes_sparse_and_dense_features_alike() -> None:
    X, y, qid = sparse_problem(2)
    method = GreedyRankRLS(3).fit(scipy.sparse.csr_matrix(X), y, qid=qid)
    np.testing.assert_allclose(
        method.predict(scipy.sparse.csc_array(X)), method.predict(X), rtol=1e-14
    )
    chosen = method.get_support(indices=True)
    for kind in FORMATS:
        kept = method.transform(scipy.sparse.csr_array(X).asformat(kind))
        assert scipy.sparse.issparse(kept)
        assert (kept.toarray() == X[:, chosen]).all()
    assert (method.transform(X) == X[:, chosen]).all()
    assert method.n_features_in_ == 25


def test_documents_with_equal_features_have_equal_scores() -> None:
    X, y, qid = sparse_problem(3)
    X[100:200] = X[:100]
    scores = GreedyRankRLS().fit(X, y, qid=qid).predict(scipy.sparse.csr_array(X))
    assert (scores[100:200] == scores[:100]).all()


def test_what_does_not_go_with_sparse_features_is_refused() -> None:
    X, y, qid = sparse_problem(4)
    sparse = scipy.sparse.csr_array(X)
    for algorithm in ("statistics", "rows", "algorithm1"):
        with pytest.raises(
            ParameterError,
            match="algorithm: expected auto or columns where X is sparse",
        ):
            GreedyRankRLS(algorithm=algorithm).fit(sparse, y, qid=qid)
    with pytest.raises(DatasetError, match="qid: expected one query id per"):
        GreedyRankRLS().fit(sparse, y, qid=qid[1:])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        GAS().fit(sparse, y, qid=qid)


def slow_back_fitting_cost(
    problem: Problem, selected: list[int], candidate: int
) -> float:
    """Leave each query out: learn with the selected features, then the candidate's weight on what is left."""
    X, y, qid, regularization = problem
    Xc, yc = centred_by_loops(X, qid), centred_by_loops(y[:, None], qid)[:, 0]
    error = 0.0
    for query in np.unique(qid):
        held = qid == query
        w = np.zeros(len(selected))
        if selected and not held.all():
            w = rankrls_on_pairs(
                X[~held][:, selected], y[~held], qid[~held], regularization
            )
        residual, x = yc - Xc[:, selected] @ w, Xc[:, candidate]
        weight = x[~held] @ residual[~held] / (x[~held] @ x[~held] + regularization)
        error += float(np.sum((residual[held] - weight * x[held]) ** 2))
    return error


@given(problems(fewest_queries=2), st.booleans())
def test_back_fitting_judges_a_candidate_by_its_own_weight(
    problem: Problem, dense: bool
) -> None:
    X, y, qid, regularization = problem
    X[(X < 0.4) & (np.random.default_rng(1).random(X.shape) < 0.8)] = 0.0
    rtol, atol = tolerance(problem)
    method = GreedyRankRLS(regularization=regularization, fitting="back")
    before: list[int] = []
    for step in method.steps(X if dense else scipy.sparse.csr_array(X), y, qid=qid):
        compared = np.flatnonzero(~np.isnan(step.candidates)).tolist()
        for j in compared:
            expected = slow_back_fitting_cost(problem, before, j)
            assert step.candidates[j] == pytest.approx(expected, rel=rtol, abs=atol)
        best = min(step.candidates[j] for j in compared)
        assert step.candidates[step.selected[-1]] == pytest.approx(
            best, rel=rtol, abs=atol
        )
        before = list(step.selected)
        error = leave_query_out_error(X, y, qid, before, regularization)
        assert step.criterion == pytest.approx(error, rel=rtol, abs=atol)
        expected = np.zeros(X.shape[1])
        expected[before] = rankrls_on_pairs(X[:, before], y, qid, regularization)
        np.testing.assert_allclose(
            step.coef, expected, rtol=rtol, atol=atol / min(1.0, regularization)
        )


def test_back_fitting_goes_by_columns_alone() -> None:
    X, y, qid = sparse_problem(0)
    with pytest.raises(
        ParameterError, match="algorithm: expected auto or columns with back-fitting"
    ):
        GreedyRankRLS(fitting="back", algorithm="statistics").fit(X, y, qid=qid)
