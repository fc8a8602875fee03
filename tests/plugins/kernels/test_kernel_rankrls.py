"""Kernel RankRLS against explicit features, RankRLS and retraining."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_oracles import (
    KERNELS,
    features_of,
    kernel_by_loops,
    kernel_matrix,
    left_out_by_retraining,
    ridge,
    spanned,
)
from oracles import centred_by_loops
from sklearn.base import clone
from strategies import Problem, problems

from rankstudio.engine import KernelRankRLS, RankRLS
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.errors import DatasetError, OutOfMemoryError, ParameterError
from rankstudio.engine.methods.kernels.nystrom import DependentBasisWarning

BASES = st.sampled_from([None, 1, 3, 8, 20, 1000])
WAYS = st.sampled_from(["uniform", "per_query"])


@st.composite
def duplicated(draw: st.DrawFn, fewest_queries: int = 1) -> Problem:
    """A problem in which some rows stand twice, in their own query and in others."""
    problem = draw(problems(fewest_queries=fewest_queries))
    X, m = problem.X.copy(), len(problem.y)
    for _ in range(draw(st.integers(0, 4))):
        X[draw(st.integers(0, m - 1))] = X[draw(st.integers(0, m - 1))]
    y = np.zeros(m) if draw(st.integers(0, 5)) == 0 else problem.y
    return problem._replace(X=X, y=y)


def quietly(method: KernelRankRLS, problem: Problem) -> KernelRankRLS:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DependentBasisWarning)
        return method.fit(problem.X, problem.y, qid=problem.qid)


def close(found: np.ndarray, expected: np.ndarray, y: np.ndarray) -> None:
    scale = float(np.abs(y).max())
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * scale)


@given(duplicated(), KERNELS, BASES, WAYS)
def test_it_minimises_the_loss_over_the_span_of_the_basis(
    problem: Problem, settings: dict[str, Any], n_basis: int | None, way: str
) -> None:
    X, y, qid, regularization = problem
    method = KernelRankRLS(
        **settings, regularization=regularization, n_basis=n_basis, basis=way
    )
    quietly(method, problem)
    features = features_of(kernel_matrix(X, settings))
    if n_basis is not None and n_basis < len(y):
        features = spanned(features, method.basis_)
    w = ridge(centred_by_loops(features, qid), centred_by_loops(y, qid), regularization)
    scores = method.predict(X)
    close(
        centred_by_loops(scores[:, None], qid)[:, 0],
        centred_by_loops(features @ w, qid),
        y,
    )


@given(duplicated(fewest_queries=2), KERNELS, BASES, WAYS)
def test_left_out_predictions_are_those_of_retraining_without_the_query_and_its_basis_vectors(
    problem: Problem, settings: dict[str, Any], n_basis: int | None, way: str
) -> None:
    X, y, qid, regularization = problem
    method = KernelRankRLS(
        **settings, regularization=regularization, n_basis=n_basis, basis=way
    )
    found = method.leave_query_out(X, y, qid=qid)
    basis = (
        None
        if n_basis is None or n_basis >= len(y)
        else quietly(method, problem).basis_
    )
    expected = left_out_by_retraining(
        kernel_matrix(X, settings), y, qid, regularization, basis
    )
    close(found, expected, y)


@given(duplicated(fewest_queries=2), KERNELS, BASES)
def test_a_grid_is_what_each_value_gives_alone(
    problem: Problem, settings: dict[str, Any], n_basis: int | None
) -> None:
    X, y, qid, regularization = problem
    grid = [2.0**-15, regularization, 2.0**15]
    method = KernelRankRLS(**settings, n_basis=n_basis)
    together = method.leave_query_out(X, y, qid=qid, regularization=grid)
    assert together.shape == (3, y.size)
    for value, row in zip(grid, together, strict=True):
        alone = method.set_params(regularization=value).leave_query_out(X, y, qid=qid)
        np.testing.assert_allclose(row, alone, rtol=1e-9, atol=1e-11 * np.abs(y).max())


@given(duplicated(fewest_queries=2), BASES)
def test_the_criterion_is_the_left_out_squared_error(
    problem: Problem, n_basis: int | None
) -> None:
    X, y, qid, regularization = problem
    method = KernelRankRLS(gamma=1.0, regularization=regularization, n_basis=n_basis)
    residuals = centred_by_loops(y, qid) - method.leave_query_out(X, y, qid=qid)
    criterion = quietly(method, problem).criterion_
    assert criterion == pytest.approx(float(residuals @ residuals), rel=1e-9, abs=1e-12)


@given(duplicated(fewest_queries=2))
def test_the_linear_kernel_is_rankrls(problem: Problem) -> None:
    X, y, qid, regularization = problem
    linear = RankRLS(regularization=regularization).fit(X, y, qid=qid)
    method = quietly(KernelRankRLS("linear", regularization=regularization), problem)
    scores = centred_by_loops(method.predict(X)[:, None], qid)[:, 0]
    close(scores, centred_by_loops((X @ linear.coef_)[:, None], qid)[:, 0], y)
    left_out = method.leave_query_out(X, y, qid=qid)
    close(left_out, linear.leave_query_out(X, y, qid=qid), y)


def data(seed: int = 0, m: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((m, 4))
    return X, np.round(3 * X[:, 0] * X[:, 1]), np.arange(m) // 5


@pytest.mark.parametrize("n_basis", [None, 12])
def test_a_precomputed_kernel_and_a_callable_give_what_the_named_one_does(
    n_basis: int | None,
) -> None:
    X, y, qid = data()
    shuffled = np.random.default_rng(1).permutation(y.size)
    X, y, qid = X[shuffled], y[shuffled], qid[shuffled]
    new = np.random.default_rng(2).random((7, 4))

    def gaussian(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return kernel_by_loops(A, B, "rbf", 2.0)

    named = KernelRankRLS("rbf", gamma=2.0, n_basis=n_basis).fit(X, y, qid=qid)
    given = KernelRankRLS("precomputed", n_basis=n_basis).fit(
        gaussian(X, X), y, qid=qid
    )
    function = KernelRankRLS(gaussian, n_basis=n_basis).fit(X, y, qid=qid)
    expected = named.predict(new)
    np.testing.assert_allclose(function.predict(new), expected, rtol=1e-9)
    np.testing.assert_allclose(given.predict(gaussian(new, X)), expected, rtol=1e-9)
    assert given.basis_.tolist() == named.basis_.tolist() == function.basis_.tolist()
    np.testing.assert_allclose(given.coef_[given.basis_], named.dual_coef_, rtol=1e-8)
    left_out = named.leave_query_out(X, y, qid=qid)
    np.testing.assert_allclose(
        given.leave_query_out(gaussian(X, X), y, qid=qid), left_out, rtol=1e-8
    )


def test_a_matrix_that_is_no_kernel_is_refused() -> None:
    X, y, qid = data(m=20)
    with pytest.raises(
        DatasetError, match="expected the kernel matrix of the 20 documents"
    ):
        KernelRankRLS("precomputed").fit(X, y, qid=qid)
    skew = np.eye(20)
    skew[0, 1] = 0.5
    with pytest.raises(
        DatasetError, match=r"expected a symmetric kernel, found an asymmetry of 0\.5"
    ):
        KernelRankRLS("precomputed").fit(skew, y, qid=qid)
    with pytest.raises(DatasetError, match="not positive semidefinite"):
        KernelRankRLS("precomputed").fit(-np.eye(20), y, qid=qid)
    with pytest.raises(ParameterError, match=r"shape \(20, 20\)"):
        KernelRankRLS(lambda A, B: A @ A.T @ A).fit(X, y, qid=qid)
    with pytest.raises(DatasetError, match="finite"):
        KernelRankRLS("poly", degree=20, gamma=1e9).fit(1e12 * X, y, qid=qid)
    with pytest.raises(
        ParameterError,
        match=r"kernel: expected rbf, poly or linear, or a sum .* got 'cubic'",
    ):
        KernelRankRLS("cubic").fit(X, y, qid=qid)
    for text, position in (("precomputed + rbf", 1), ("rbf + poly linear", 12)):
        with pytest.raises(
            ParameterError, match=rf"kernel: .* at character {position},"
        ):
            KernelRankRLS(text).fit(X, y, qid=qid)


def test_dependent_basis_vectors_are_dropped_with_a_warning() -> None:
    X, y, qid = data()
    X[20:40] = X[:20]
    with pytest.warns(DependentBasisWarning):
        method = KernelRankRLS(gamma=1.0, n_basis=50).fit(X, y, qid=qid)
    assert method.basis_.size == method.dual_coef_.size < 50
    assert len(np.unique(X[method.basis_], axis=0)) == method.basis_.size


def test_equal_documents_have_equal_scores() -> None:
    X, y, qid = data()
    method = KernelRankRLS(gamma=1.0, n_basis=37).fit(X, y, qid=qid)
    for count in (1, 7, 64, 129):
        scores = method.predict(np.tile(X[:1], (count, 1)))
        assert np.unique(scores).tolist() == [method.predict(X)[0]]


def test_basis_vectors_come_from_each_query_alike() -> None:
    X, y, qid = data()
    method = KernelRankRLS(gamma=1.0, n_basis=24, basis="per_query").fit(X, y, qid=qid)
    assert np.bincount(qid[method.basis_]).tolist() == [2] * 12
    other = KernelRankRLS(gamma=1.0, n_basis=24, basis="per_query", seed=1).fit(
        X, y, qid=qid
    )
    assert method.basis_.tolist() != other.basis_.tolist()


def test_what_does_not_fit_in_memory_is_refused_with_what_would(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, qid = data(m=400)
    monkeypatch.setattr("rankstudio.engine.support.memory.available", lambda: 1e6)
    with pytest.raises(OutOfMemoryError) as refused:
        KernelRankRLS().fit(X, y, qid=qid)
    assert str(refused.value) == (
        "The kernel of 400 documents needs 6.4 MB of memory, and 1.0 MB are free. Use n_basis=66."
    )
    assert KernelRankRLS(gamma=30.0, n_basis=66).fit(X, y, qid=qid).basis_.size == 66
    with pytest.raises(
        OutOfMemoryError, match=r"400 documents with 90 basis vectors needs 1\.4 MB"
    ):
        KernelRankRLS(n_basis=90).fit(X, y, qid=qid)


def test_one_decomposition_serves_every_regularization(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, qid = data()
    grouped = QueryData(X, y, np.arange(0, 61, 5))
    count, eigh = [], np.linalg.eigh
    monkeypatch.setattr("numpy.linalg.eigh", lambda a: count.append(a.shape) or eigh(a))
    for n_basis in (None, 10):
        for value in (0.25, 1.0, 4.0):
            (step,) = KernelRankRLS(
                gamma=1.0, n_basis=n_basis, regularization=value
            ).learn(grouped)
            for columns in ((0, 1), (0, 1, 2)):
                narrow = grouped.narrowed(columns)
                list(
                    KernelRankRLS(
                        gamma=1.0, n_basis=n_basis, regularization=value
                    ).learn(narrow)
                )
            alone = KernelRankRLS(gamma=1.0, n_basis=n_basis, regularization=value).fit(
                X, y, qid=qid
            )
            assert alone.criterion_ == step.criterion
            count.pop()
    assert len(count) == 2 * 3


def test_one_query_leaves_nothing_to_learn_from() -> None:
    X, y, _ = data(m=10)
    with pytest.raises(
        DatasetError, match="leave-query-out predictions of kernel RankRLS: expected"
    ):
        KernelRankRLS().leave_query_out(X, y, qid=np.zeros(10))


def test_pairs_are_held_out_of_the_exact_kernel() -> None:
    X, y, _ = data(m=12)
    method = KernelRankRLS(gamma=2.0, regularization=0.3)
    found = method.leave_pair_out(X, y, pairs=[[2, 7]])[0]
    left = np.setdiff1d(np.arange(12), [2, 7])
    alone = method.fit(X[left], y[left], qid=np.zeros(10)).predict(X)
    assert found[0] - found[1] == pytest.approx(alone[2] - alone[7], rel=1e-9)
    with pytest.raises(ParameterError, match="n_basis: expected None"):
        KernelRankRLS(n_basis=5).leave_pair_out(X, y)


@pytest.mark.parametrize("n_basis", [None, 12])
def test_a_sum_is_the_callable_that_adds_and_multiplies(n_basis: int | None) -> None:
    X, y, qid = data()
    new = np.random.default_rng(2).random((7, 4))

    def added(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return A @ B.T + 0.5 * (A @ B.T) * kernel_by_loops(A, B, "rbf", 2.0)

    text = "linear+0.5*linear*rbf"
    named = KernelRankRLS(text, gamma=2.0, n_basis=n_basis).fit(X, y, qid=qid)
    function = KernelRankRLS(added, n_basis=n_basis).fit(X, y, qid=qid)
    np.testing.assert_allclose(named.predict(new), function.predict(new), rtol=1e-8)
    assert named.criterion_ == pytest.approx(function.criterion_, rel=1e-8)
    assert not function.coef_.any()
    assert named.coef_.all()
    assert clone(named).fit(X, y, qid=qid).criterion_ == named.criterion_
    if n_basis is None:
        pairs = np.array([[2, 7], [0, 59]])
        np.testing.assert_allclose(
            named.leave_pair_out(X, y, pairs=pairs),
            function.leave_pair_out(X, y, pairs=pairs),
            rtol=1e-7,
        )


def test_a_kernel_with_weight_one_is_the_kernel_to_the_last_bit() -> None:
    X, y, qid = data()
    plain = KernelRankRLS("rbf", gamma=2.0).fit(X, y, qid=qid)
    weighted = KernelRankRLS("1 * rbf", gamma=2.0).fit(X, y, qid=qid)
    np.testing.assert_array_equal(weighted.dual_coef_, plain.dual_coef_)
    assert weighted.criterion_ == plain.criterion_
