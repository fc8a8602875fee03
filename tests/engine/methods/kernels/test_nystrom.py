"""The Nyström map against the kernel it stands for, and removed basis vectors against mapping anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_oracles import kernel_by_loops

from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.methods.kernels.nystrom import (
    DependentBasisWarning,
    NystromMap,
    basis_rows,
    independent,
)


def documents(seed: int, m: int, n: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).random((m, n))


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 12), st.data())
def test_without_basis_vectors_it_is_the_map_of_the_others(
    seed: int, m: int, n_basis: int, data: st.DataObject
) -> None:
    X = documents(seed, m)
    whole = NystromMap(gamma=3.0, n_basis=n_basis).map(X)
    held = data.draw(st.lists(st.integers(0, m - 1), max_size=m))
    found = whole.without(held)
    left = np.setdiff1d(whole.basis, held)
    assert found.basis.tolist() == left.tolist()
    K = kernel_by_loops(X, X, "rbf", 3.0)
    expected = (
        K[:, left] @ np.linalg.solve(K[np.ix_(left, left)], K[left])
        if left.size
        else np.zeros((m, m))
    )
    np.testing.assert_allclose(found.features @ found.features.T, expected, atol=1e-9)
    w = np.random.default_rng(seed).normal(size=left.size)
    np.testing.assert_allclose(
        K[:, left] @ found.dual(w), found.features @ w, atol=1e-7
    )


@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_inner_products_of_the_features_are_the_kernel(seed: int, m: int) -> None:
    X = documents(seed, m)
    mapping = NystromMap(gamma=5.0).fit(X)
    Z = mapping.transform(X)
    np.testing.assert_allclose(Z @ Z.T, kernel_by_loops(X, X, "rbf", 5.0), atol=1e-9)
    np.testing.assert_array_equal(mapping.fit_transform(X), Z)
    b = mapping.map(X).dual(np.eye(m))
    np.testing.assert_allclose(
        b, np.linalg.inv(mapping.factor_.T), rtol=1e-6, atol=1e-6
    )


def test_dependent_vectors_are_dropped_with_a_warning() -> None:
    X = np.vstack((documents(0, 6), documents(0, 6), np.zeros((1, 3))))
    with pytest.warns(DependentBasisWarning, match="10 of 13 basis vectors"):
        mapping = NystromMap("linear").fit(X)
    assert mapping.basis_.size == 3
    np.testing.assert_allclose(
        mapping.transform(X) @ mapping.transform(X).T, X @ X.T, atol=1e-12
    )


def test_independent_vectors_have_the_factor_of_their_kernel() -> None:
    X = documents(1, 8, 2)
    gram = X @ X.T
    kept, factor = independent(gram)
    assert kept.size == 2
    np.testing.assert_allclose(factor @ factor.T, gram[np.ix_(kept, kept)])
    assert independent(np.zeros((3, 3)))[0].size == 0


@pytest.mark.parametrize(
    ("way", "n_basis"), [("uniform", 7), ("per_query", 7), ("per_query", 3)]
)
def test_a_basis_is_drawn_without_replacement(way: str, n_basis: int) -> None:
    ptr = np.array([0, 1, 6, 20])
    rows = basis_rows(ptr, n_basis, way, 0)
    assert len(set(rows.tolist())) == n_basis
    assert (np.diff(rows) > 0).all()
    assert basis_rows(ptr, 20, way, 0).tolist() == list(range(20))
    if way == "per_query":
        counts = np.bincount(np.searchsorted(ptr, rows, side="right") - 1, minlength=3)
        assert counts.tolist() == ([1, 3, 3] if n_basis == 7 else [1, 1, 1])


def test_queries_need_not_stand_together() -> None:
    X, qid = documents(2, 12), np.tile(np.arange(4), 3)
    mapping = NystromMap(n_basis=4, gamma=2.0, basis="per_query")
    whole = mapping.map(X, qid=qid)
    assert sorted(qid[mapping.basis_].tolist()) == [0, 1, 2, 3]
    np.testing.assert_allclose(whole.features, mapping.transform(X), atol=1e-12)
    np.testing.assert_array_equal(whole.basis, mapping.basis_)


def test_what_cannot_be_mapped_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    X = documents(3, 30)
    with pytest.raises(
        ParameterError, match="kernel: expected rbf, poly, linear or a function"
    ):
        NystromMap("precomputed").fit(X)
    with pytest.raises(
        ParameterError, match="n_basis: expected a whole number from 1 up, got 0"
    ):
        NystromMap(n_basis=0).fit(X)
    with pytest.raises(
        ParameterError, match="the rows of all held-out documents, in one call"
    ):
        NystromMap(gamma=5.0).map(X[:5]).without([0]).without([1])
    monkeypatch.setattr("rankstudio.engine.support.memory.available", lambda: 1e4)
    with pytest.raises(
        OutOfMemoryError, match=r"The kernel of 30 documents needs .* n_basis=8"
    ):
        NystromMap().fit(X)
