"""RankSVM with a kernel against a general optimiser on explicit features and pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_oracles import KERNELS, features_of, kernel_by_loops, kernel_matrix, spanned
from pair_oracles import differences, least_hinge, least_squared_hinge
from scipy.sparse import csr_array
from strategies import Problem, problems

from rankstudio.engine import RankSVM
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.kernels.nystrom import DependentBasisWarning

C = 0.5


@pytest.mark.filterwarnings(
    "ignore::rankstudio.engine.methods.kernels.nystrom.DependentBasisWarning"
)
@given(
    problems(),
    KERNELS.filter(lambda kernel: kernel["kernel"] != "linear"),
    st.sampled_from([None, 4, 12]),
    st.sampled_from(["squared_hinge", "hinge"]),
)
@pytest.mark.thorough
def test_it_is_as_good_as_a_general_optimiser(
    problem: Problem, parameters: dict[str, Any], n_basis: int | None, loss: str
) -> None:
    X, y, qid, _ = problem
    method = RankSVM(C=C, loss=loss, tol=1e-8, **parameters, n_basis=n_basis).fit(
        X, y, qid=qid
    )
    kernel = kernel_matrix(X, parameters)
    D = differences(spanned(features_of(kernel), method.basis_), y, qid)
    least = (least_squared_hinge if loss == "squared_hinge" else least_hinge)(D, C)
    b, R = method.dual_coef_, method.basis_
    scores = method.predict(X)
    np.testing.assert_allclose(
        scores, kernel[:, R] @ b, atol=1e-6 * (1.0 + np.abs(scores).max())
    )
    gaps = np.maximum(0.0, 1.0 - differences(scores[:, None], y, qid)[:, 0])
    lost = float(gaps @ gaps) if loss == "squared_hinge" else float(gaps.sum())
    found = 0.5 * float(b @ kernel[np.ix_(R, R)] @ b) + C * lost
    assert found == pytest.approx(method.objective_, rel=1e-6, abs=1e-9)
    assert found <= least * (1 + 1e-6) + 1e-9
    # The hinge's oracle is less accurate than the gap.
    assert least <= found * (1 + (1e-6 if loss == "squared_hinge" else 1e-4)) + 1e-9


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_a_linear_kernel_as_a_function_learns_what_the_linear_method_does(
    loss: str,
) -> None:
    rng = np.random.default_rng(0)
    X, qid = rng.random((24, 4)), np.arange(24) // 6
    y = np.round(3 * X[:, 0])
    linear = RankSVM(loss=loss, tol=1e-9).fit(X, y, qid=qid)
    assert not hasattr(linear, "dual_coef_")
    with pytest.warns(DependentBasisWarning):
        mapped = RankSVM(loss=loss, tol=1e-9, kernel=lambda A, B: A @ B.T).fit(
            X, y, qid=qid
        )
    assert mapped.objective_ == pytest.approx(linear.objective_, rel=1e-8)
    np.testing.assert_allclose(mapped.predict(X), linear.predict(X), atol=1e-4)
    assert not hasattr(
        mapped.set_params(kernel="linear").fit(X, y, qid=qid), "dual_coef_"
    )


def test_steps_score_as_the_model_does() -> None:
    rng = np.random.default_rng(1)
    X, qid = rng.random((60, 4)), np.arange(60) // 6
    y = np.round(3 * X[:, 0] * X[:, 1])
    method = RankSVM(kernel="rbf", gamma=1.0, n_basis=20, seed=3)
    *_, last = method.steps(X, y, qid=qid)
    scores = method.fit(X, y, qid=qid).predict(X)
    np.testing.assert_array_equal(last.scores(np.ascontiguousarray(X.T)), scores)
    kernel = kernel_by_loops(X, X[method.basis_], "rbf", 1.0)
    np.testing.assert_allclose(scores, kernel @ method.dual_coef_, rtol=1e-9, atol=1e-9)
    assert method.coef_.argsort()[-2:].tolist() in ([0, 1], [1, 0])


def test_a_precomputed_kernel_is_refused() -> None:
    with pytest.raises(
        ParameterError,
        match="kernel: expected linear, rbf, poly or a function of documents",
    ):
        RankSVM(kernel="precomputed").fit(np.eye(4), np.arange(4.0), qid=[1, 1, 2, 2])


@pytest.mark.parametrize("sparse", [False, True])
def test_a_sum_of_kernels_is_the_callable_that_adds(sparse: bool) -> None:
    rng = np.random.default_rng(2)
    X, qid = rng.random((40, 4)) * (rng.random((40, 4)) < 0.6), np.arange(40) // 5
    y = np.round(3 * X[:, 0] * X[:, 1])

    def added(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return 2.0 * A @ B.T + kernel_by_loops(A, B, "rbf", 1.0)

    settings = {"n_basis": 15, "tol": 1e-10}
    expected = RankSVM(kernel=added, **settings).fit(X, y, qid=qid)
    rows = csr_array(X) if sparse else X
    method = RankSVM(kernel="2*linear + rbf", gamma=1.0, **settings)
    method.fit(rows, y, qid=qid)
    assert method.objective_ == pytest.approx(expected.objective_, rel=1e-9)
    np.testing.assert_allclose(method.predict(rows), expected.predict(X), atol=1e-4)
    with pytest.warns(DependentBasisWarning):
        only_linear = RankSVM(kernel="2 * linear", **settings).fit(rows, y, qid=qid)
    assert only_linear.dual_coef_.size <= 4
