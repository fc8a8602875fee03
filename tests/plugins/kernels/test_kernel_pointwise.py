"""Kernel RankRLS without pairs, regression with an intercept, against retraining on explicit features."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_oracles import KERNELS, features_of, kernel_matrix, ridge, spanned
from oracles import centred_by_loops
from strategies import Problem, problems

from rankstudio.engine import KernelRankRLS, RankRLS
from rankstudio.engine.data.preferences import Preferences
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.kernels.nystrom import DependentBasisWarning

BASES = st.sampled_from([None, 1, 3, 8, 20])


@st.composite
def duplicated(draw: st.DrawFn, fewest_queries: int = 1) -> Problem:
    """A problem in which some rows stand twice."""
    problem = draw(problems(fewest_queries=fewest_queries))
    X = problem.X.copy()
    m = len(X)
    for _ in range(draw(st.integers(0, 3))):
        X[draw(st.integers(0, m - 1))] = X[draw(st.integers(0, m - 1))]
    return problem._replace(X=X)


def fitted(method: KernelRankRLS, problem: Problem, qid: np.ndarray) -> KernelRankRLS:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DependentBasisWarning)
        return method.fit(problem.X, problem.y, qid=qid)


def regressed(
    features: np.ndarray,
    y: np.ndarray,
    is_training: np.ndarray,
    regularization: float,
    basis: np.ndarray | None,
) -> np.ndarray:
    """Predict all labels by regression with an intercept on some documents and their basis vectors."""
    if basis is not None:
        features = spanned(features, basis[is_training[basis]])
    mean = features[is_training].mean(axis=0)
    offset = y[is_training].mean()
    w = ridge(features[is_training] - mean, y[is_training] - offset, regularization)
    return (features - mean) @ w + offset


def close(scores: np.ndarray, expected: np.ndarray, y: np.ndarray) -> None:
    scale = float(np.abs(y).max())
    np.testing.assert_allclose(scores, expected, rtol=1e-8, atol=1e-8 * scale)


def learned(
    problem: Problem, settings: dict[str, Any], n_basis: int | None, qid: np.ndarray
) -> tuple[KernelRankRLS, np.ndarray, np.ndarray | None]:
    """Return a fitted method, the features of its kernel, and its basis unless it is exact."""
    method = KernelRankRLS(
        **settings,
        regularization=problem.regularization,
        n_basis=n_basis,
        pairs="pointwise",
    )
    fitted(method, problem, qid)
    is_exact = n_basis is None or n_basis >= problem.y.size
    features = features_of(kernel_matrix(problem.X, settings))
    return method, features, None if is_exact else method.basis_


@given(duplicated(), KERNELS, BASES)
def test_scores_are_those_of_regression_up_to_the_intercept(
    problem: Problem, settings: dict[str, Any], n_basis: int | None
) -> None:
    X, y, qid, regularization = problem
    method, features, basis = learned(problem, settings, n_basis, qid)
    everybody = np.ones(y.size, dtype=bool)
    expected = regressed(features, y, everybody, regularization, basis)
    scores = method.predict(X)
    close(scores - scores.mean(), expected - expected.mean(), y)


@given(duplicated(), KERNELS, BASES)
def test_documents_are_left_out_as_by_retraining_without_them_and_their_basis_vector(
    problem: Problem, settings: dict[str, Any], n_basis: int | None
) -> None:
    X, y, _, regularization = problem
    if y.size < 2:
        return
    method, features, basis = learned(problem, settings, n_basis, np.zeros(y.size))
    expected = np.empty(y.size)
    for i in range(y.size):
        is_training = np.arange(y.size) != i
        expected[i] = regressed(features, y, is_training, regularization, basis)[i]
    close(method.leave_one_out(X, y), expected, y)
    (_, second) = method.leave_one_out(X, y, regularization=[7.0, regularization])
    close(second, expected, y)
    error = float(np.sum((y - expected) ** 2))
    scale = float(np.abs(y).max()) ** 2 * y.size
    assert method.criterion_ == pytest.approx(error, rel=1e-7, abs=1e-7 * scale)


@given(duplicated(fewest_queries=2), KERNELS, BASES)
def test_queries_are_left_out_as_by_retraining_without_them_and_their_basis_vectors(
    problem: Problem, settings: dict[str, Any], n_basis: int | None
) -> None:
    X, y, qid, regularization = problem
    method, features, basis = learned(problem, settings, n_basis, qid)
    expected = np.empty(y.size)
    for query in np.unique(qid):
        is_training = qid != query
        predicted = regressed(features, y, is_training, regularization, basis)[
            ~is_training
        ]
        expected[~is_training] = predicted - predicted.mean()
    close(method.leave_query_out(X, y, qid=qid), expected, y)
    errors = centred_by_loops(y, qid) - expected
    scale = float(np.abs(y).max()) ** 2 * y.size
    assert method.criterion_ == pytest.approx(
        float(errors @ errors), rel=1e-7, abs=1e-7 * scale
    )


@given(duplicated(), st.booleans())
def test_the_linear_kernel_is_pointwise_rankrls(
    problem: Problem, grouped: bool
) -> None:
    X, y, qid, regularization = problem
    qid = qid if grouped else np.zeros(y.size)
    linear = RankRLS(regularization, pairs="pointwise").fit(X, y, qid=qid)
    method = KernelRankRLS(
        "linear", regularization=regularization, pairs="pointwise"
    ).fit(X, y, qid=qid)
    scores = method.predict(X)
    expected = X @ linear.coef_
    close(scores - scores.mean(), expected - expected.mean(), y)
    scale = float(np.abs(y).max()) ** 2 * y.size
    assert method.criterion_ == pytest.approx(
        linear.criterion_, rel=1e-7, abs=1e-7 * scale, nan_ok=True
    )
    if y.size > 2:
        sets = [[0], [0, 2]]
        for scores, left in zip(
            method.leave_sets_out(X, y, sets),
            linear.leave_sets_out(X, y, sets),
            strict=True,
        ):
            close(scores, left, y)


def test_what_needs_pairs_is_refused() -> None:
    X = np.eye(4)
    y = np.arange(4.0)
    qid = np.array([1, 1, 2, 2])
    pointwise = KernelRankRLS(pairs="pointwise")
    with pytest.raises(ParameterError, match="pairs: expected query or pointwise"):
        KernelRankRLS(pairs="all").fit(X, y, qid=qid)
    for changes in ({"cost": "unit"}, {"ties": False}, {"weighting": "none"}):
        method = KernelRankRLS(pairs="pointwise", **changes)
        with pytest.raises(ParameterError, match="single documents have no pairs"):
            method.fit(X, y, qid=qid)
    with pytest.raises(ParameterError, match="pairs: expected query with preferences"):
        pointwise.fit(X, qid=qid, preferences=Preferences([0], [1]))
    with pytest.raises(
        ParameterError, match="pairs: expected pointwise when documents"
    ):
        KernelRankRLS().leave_one_out(X, y)
    with pytest.raises(DatasetError, match="at least two documents"):
        pointwise.leave_one_out(X[:1], y[:1])
    one = np.zeros(1)
    assert np.isnan(pointwise.fit(X[:1], y[:1], qid=one).criterion_)
    with pytest.raises(DatasetError, match="leave-query-out"):
        pointwise.leave_query_out(X, y, qid=np.zeros(4))
