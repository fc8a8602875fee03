"""Kernel RankRLS with any factors of a query's loss and several outputs, against explicit least squares."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_oracles import features_of, kernel_by_loops, ridge, spanned

from rankstudio.engine.methods.kernels.nystrom import NystromFeatures
from rankstudio.plugins.kernels.systems import (
    DualSystem,
    KernelSystem,
    QueryFactor,
    ReducedSystem,
)

GRID = (2.0**-15, 0.3, 2.0**15)


@st.composite
def factors(draw: st.DrawFn) -> tuple[np.ndarray, QueryFactor]:
    """A kernel of documents and random factors of their queries, some without a column."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 6), min_size=2, max_size=7))
    m, outputs = sum(sizes), draw(st.sampled_from([(), (1,), (3,)]))
    blocks = tuple(rng.normal(size=(size, draw(st.integers(0, 7)))) for size in sizes)
    X = rng.random((m, 3))
    targets = rng.normal(size=(sum(block.shape[1] for block in blocks), *outputs))
    ptr = np.append(0, np.cumsum(sizes)).astype(np.int64)
    return kernel_by_loops(X, X, "rbf", 2.0), QueryFactor(ptr, targets, blocks)


def dense(factor: QueryFactor) -> np.ndarray:
    """M as one matrix (m, p)."""
    out = np.zeros((factor.documents[-1], factor.ptr[-1]))
    for q, block in enumerate(factor.blocks or ()):
        rows, own = (
            slice(ptr[q], ptr[q + 1]) for ptr in (factor.documents, factor.ptr)
        )
        out[rows, own] = block
    return out


def rounding(kernel: np.ndarray, M: np.ndarray, regularization: float) -> float:
    """1e-8, and how far scores may be from those without rounding, as a share of targets and scores.

    One decomposition for all λ has an error of a few roundings of ||M'KM||, and the systems that are solved
    with it a condition number of at most 1 + ||M'KM|| / λ: 10^7 at the smallest λ, where retraining in double
    precision has lost as many digits. A dozen roundings each: six were the most in 30,000 left-out queries
    beside arithmetic of 18 digits.
    """
    condition = (
        1.0 + float(np.sum(M**2)) * float(np.linalg.norm(kernel)) / regularization
    )
    return 1e-8 + 16 * float(np.finfo(float).eps) * condition


def check(system: KernelSystem, kernel: np.ndarray, basis: np.ndarray | None) -> None:
    factor, M = system.factor, dense(system.factor)
    features, R = (
        features_of(kernel),
        np.arange(len(kernel)) if basis is None else basis,
    )
    whole = features if basis is None else spanned(features, basis)
    predicted = system.left_out(GRID)
    for value, scores in zip(GRID, predicted, strict=True):
        expected = whole @ ridge(M.T @ whole, factor.targets, value)
        bound = rounding(kernel, M, value)

        def same(found: np.ndarray, expected: np.ndarray, bound: float = bound) -> None:
            scale = max(
                float(np.linalg.norm(factor.targets)),
                float(np.abs(expected).max(initial=0.0)),
            )
            np.testing.assert_allclose(found, expected, rtol=0, atol=bound * scale)

        same(kernel[:, R] @ system.dual(value), expected)
        for q in range(factor.ptr.size - 1):
            rows = np.arange(factor.documents[q], factor.documents[q + 1])
            others = np.setdiff1d(
                np.arange(factor.ptr[-1]), np.arange(*factor.ptr[q : q + 2])
            )
            seen = (
                features
                if basis is None
                else spanned(features, np.setdiff1d(basis, rows))
            )
            w = ridge(M[:, others].T @ seen, factor.targets[others], value)
            same(scores[rows], seen[rows] @ w)
        residuals = factor.targets - M.T @ scores
        np.testing.assert_allclose(
            system.residuals(scores), residuals, rtol=1e-9, atol=1e-9
        )


@given(factors())
def test_any_factors_with_all_documents(
    problem: tuple[np.ndarray, QueryFactor],
) -> None:
    kernel, factor = problem
    check(DualSystem.of(kernel, factor), kernel, None)


@given(factors(), st.data())
def test_any_factors_with_basis_vectors(
    problem: tuple[np.ndarray, QueryFactor], data: st.DataObject
) -> None:
    kernel, factor = problem
    drawn = data.draw(st.sets(st.integers(0, len(kernel) - 1), min_size=1))
    found = NystromFeatures.of(kernel[sorted(drawn)], np.array(sorted(drawn)))
    inverse = found.dual(np.eye(found.basis.size))
    check(
        ReducedSystem.of(found.features, inverse, found.basis, factor),
        kernel,
        found.basis,
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([True, False]))
def test_centring_is_the_factor_that_takes_the_mean_off(seed: int, exact: bool) -> None:
    rng = np.random.default_rng(seed)
    X, y, ptr = (
        rng.random((14, 2)),
        rng.normal(size=(14, 2)),
        np.array([0, 1, 5, 9, 14]),
    )
    kernel = kernel_by_loops(X, X, "rbf", 2.0)
    usual = QueryFactor.centring(y, ptr)
    blocks = tuple(np.eye(size) - 1.0 / size for size in np.diff(ptr))
    given_blocks = QueryFactor(ptr, usual.targets, blocks)
    basis = np.array([0, 2, 3, 8, 13])
    found = []
    for factor in (usual, given_blocks):
        if exact:
            found.append(DualSystem.of(kernel, factor))
        else:
            mapped = NystromFeatures.of(kernel[basis], basis)
            inverse = mapped.dual(np.eye(5))
            found.append(ReducedSystem.of(mapped.features, inverse, basis, factor))
    centred, raw = (system.left_out(GRID) for system in found)
    for first, last in pairwise(ptr.tolist()):
        means = raw[:, first:last].mean(axis=1, keepdims=True)
        np.testing.assert_allclose(
            centred[:, first:last], raw[:, first:last] - means, rtol=1e-8, atol=1e-9
        )
