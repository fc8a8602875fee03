"""Several outputs of kernel RankRLS against fitting each output alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_oracles import KERNELS, kernel_by_loops
from strategies import Problem, problems

from rankstudio.engine import KernelRankRLS
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.kernels.nystrom import DependentBasisWarning


def labels_of(problem: Problem) -> np.ndarray:
    rng = np.random.default_rng(problem.y.size)
    random = rng.random(problem.y.size)
    return np.column_stack((problem.y, rng.integers(0, 3, problem.y.size), random))


def close(values: np.ndarray, expected: np.ndarray, labels: np.ndarray) -> None:
    scale = float(np.abs(labels).max())
    np.testing.assert_allclose(values, expected, rtol=1e-8, atol=1e-8 * scale)


@given(
    problems(fewest_queries=1),
    KERNELS,
    st.sampled_from([None, 1, 5]),
    st.sampled_from(["query", "pointwise"]),
    st.booleans(),
)
def test_outputs_are_learned_as_each_alone(
    problem: Problem,
    settings: dict[str, Any],
    n_basis: int | None,
    pairs: str,
    grouped: bool,
) -> None:
    X, _, qid, regularization = problem
    qid = qid if grouped else np.zeros(len(X))
    labels = labels_of(problem)
    parameters = {**settings, "regularization": regularization}
    parameters |= {"n_basis": n_basis, "pairs": pairs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DependentBasisWarning)
        joint_model = KernelRankRLS(**parameters).fit(X, labels, qid=qid)
        single_models = [
            KernelRankRLS(**parameters).fit(X, labels[:, v], qid=qid) for v in range(3)
        ]
    assert joint_model.dual_coef_.shape == (3, joint_model.basis_.size)
    assert joint_model.coef_.shape == (3, X.shape[1])
    for v, single in enumerate(single_models):
        column = labels[:, v]
        close(joint_model.predict(X)[:, v], single.predict(X), column)
        close(joint_model.coef_[v], single.coef_, column)
        scale = float(column @ column)
        assert joint_model.criterion_[v] == pytest.approx(
            single.criterion_, rel=1e-8, abs=1e-8 * scale, nan_ok=True
        )
    grid = [regularization, 2.0 * regularization]
    if np.unique(qid).size > 1:
        left_out = joint_model.leave_query_out(X, labels, qid=qid, regularization=grid)
        assert left_out.shape == (2, *labels.shape)
        for v, single in enumerate(single_models):
            column = labels[:, v]
            expected = single.leave_query_out(X, column, qid=qid, regularization=grid)
            close(left_out[:, :, v], expected, column)
    if pairs == "pointwise" and len(X) > 1:
        left_out = joint_model.leave_one_out(X, labels)
        for v, single in enumerate(single_models):
            column = labels[:, v]
            close(left_out[:, v], single.leave_one_out(X, column), column)


def test_one_decomposition_serves_all_outputs_of_queries_that_stand_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    labels = rng.random((60, 4))
    qid = rng.integers(0, 6, 60)
    gram = kernel_by_loops(X, X, "rbf", 2.0)
    sizes = []
    eigh = np.linalg.eigh
    monkeypatch.setattr("numpy.linalg.eigh", lambda a: sizes.append(len(a)) or eigh(a))
    named = KernelRankRLS("rbf", gamma=2.0).fit(X, labels, qid=qid)
    assert sizes == [60]
    precomputed_model = KernelRankRLS("precomputed").fit(gram, labels, qid=qid)
    np.testing.assert_allclose(
        precomputed_model.predict(gram), named.predict(X), rtol=1e-8
    )
    np.testing.assert_allclose(
        precomputed_model.coef_[:, precomputed_model.basis_],
        precomputed_model.dual_coef_,
    )
    single_model = KernelRankRLS("rbf", gamma=2.0).fit(X, labels[:, 2], qid=qid)
    np.testing.assert_allclose(
        named.predict(X)[:, 2], single_model.predict(X), rtol=1e-8
    )
    left_out = named.leave_query_out(X, labels, qid=qid)[:, 2]
    expected = single_model.leave_query_out(X, labels[:, 2], qid=qid)
    np.testing.assert_allclose(left_out, expected, rtol=1e-7)
    # A single output is learned as before.
    assert named.fit(X, labels[:, :1].ravel(), qid=qid).predict(X).shape == (60,)


def test_outputs_that_cannot_share_a_decomposition_are_refused() -> None:
    X = np.eye(4)
    labels = np.arange(8.0).reshape(4, 2)
    qid = np.array([1, 1, 2, 2])
    with pytest.raises(ParameterError, match="cost: expected the default with several"):
        KernelRankRLS(cost="unit").fit(X, labels, qid=qid)
    labels[3, 1] = np.nan
    with pytest.raises(DatasetError):
        KernelRankRLS().fit(X, labels, qid=qid)
