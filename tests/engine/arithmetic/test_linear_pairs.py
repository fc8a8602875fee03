"""Products with features, relative to each query's first document, against products with centred ones."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import centred_by_loops
from strategies import Problem, problems

from rankstudio.engine.arithmetic.pair_losses import LinearPairs, smoothed_hinge, squared_hinge
from rankstudio.engine.arithmetic.pairs import Pairs
from rankstudio.engine.arithmetic.query_data import group


@given(problems(), st.integers(0, 99), st.sampled_from([0.0, 1.0, 1e6]))
def test_products_are_those_with_centred_features(problem: Problem, seed: int, offset: float) -> None:
    data = group(problem.X, problem.y, problem.qid)
    rng = np.random.default_rng(seed)
    sizes = np.diff(data.ptr)
    added = offset * np.repeat(rng.normal(size=(sizes.size, data.X.shape[1])), sizes, axis=0)
    X = data.X + added  # this addition rounds, and so does the difference of two rows
    rounding = 1e-14 + 4.0 * np.finfo(float).eps * np.abs(added).max()
    qid = np.repeat(np.arange(sizes.size), sizes)
    centred = centred_by_loops(data.X, qid)
    linear = LinearPairs(X, Pairs(data.y, data.ptr))
    w = rng.normal(size=X.shape[1])
    scores = linear.scores(w)
    expected = centred @ w - (centred @ w)[data.ptr[:-1][qid]]
    np.testing.assert_allclose(scores, expected, rtol=0, atol=rounding * np.abs(w).sum())
    for smooth in (squared_hinge(linear.pairs, scores), smoothed_hinge(linear.pairs, scores, 0.5)):
        atol = rounding * (1.0 + np.abs(smooth.slopes).sum())
        np.testing.assert_allclose(linear.weigh(smooth.slopes), centred.T @ smooth.slopes, rtol=0, atol=atol)
    rows = rng.integers(0, len(X), 5)
    np.testing.assert_allclose(linear.centred(rows), centred[rows], rtol=0, atol=rounding)


def test_an_offset_that_is_exact_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 1000, (60, 4)) / 1024.0
    y, ptr = rng.integers(0, 3, 60).astype(float), np.array([0, 7, 30, 60])
    offset = np.repeat(2.0 ** rng.integers(10, 30, (3, 4)), np.diff(ptr), axis=0)
    w = rng.normal(size=4)
    plain, shifted = (LinearPairs(features, Pairs(y, ptr)) for features in (X, X + offset))
    assert (plain.scores(w) == shifted.scores(w)).all()
    slopes = plain.pairs.hinge(plain.scores(w)).slopes
    assert (plain.weigh(slopes) == shifted.weigh(slopes)).all()


@pytest.mark.parametrize(("m", "n"), [(120_000, 2), (12_000, 900)])
def test_products_do_not_depend_on_the_threads(m: int, n: int) -> None:
    rng = np.random.default_rng(1)
    X, y, w = rng.normal(size=(m, n)), rng.integers(0, 3, m).astype(float), rng.normal(size=n)
    ptr = np.concatenate(([0], np.sort(rng.choice(np.arange(1, m), 800, replace=False)), [m]))
    found = []
    with ThreadPoolExecutor(3) as executor:
        for threads, workers in ((None, 1), (executor, 4)):
            linear = LinearPairs(X, Pairs(y, ptr, threads, workers))
            scores = linear.scores(w)
            smooth = squared_hinge(linear.pairs, scores)
            found.append((scores, linear.weigh(smooth.slopes), linear.curvature(smooth, w)))
    for alone, together in zip(*found, strict=True):
        assert (alone == together).all()
    scores, gradient, curved = found[0]
    first = np.repeat(ptr[:-1], np.diff(ptr))
    np.testing.assert_allclose(scores, (X - X[first]) @ w, atol=1e-10)
    # Each sum of m products is off by at most m roundings of their absolute values, in either order.
    rounding = 2.0 * m * np.finfo(float).eps
    assert (np.abs(gradient - X.T @ smooth.slopes) <= rounding * (np.abs(X).T @ np.abs(smooth.slopes))).all()
    joined = 2.0 * squared_hinge(Pairs(y, ptr), scores).outer.laplacian(X @ w)
    assert (np.abs(curved - X.T @ joined) <= rounding * (np.abs(X).T @ np.abs(joined))).all()


@pytest.mark.parametrize("n", [1, 46])
def test_one_long_query(n: int) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(999, n)), rng.integers(0, 5, 999).astype(float)
    linear = LinearPairs(X, Pairs(y, np.array([0, 999])))
    rows = np.array([0, 5, 998])
    np.testing.assert_allclose(linear.centred(rows), X[rows] - X.mean(axis=0), atol=1e-12)
    weights = linear.pairs.hinge_at_zero.slopes
    np.testing.assert_allclose(linear.weigh(weights), X.T @ weights, rtol=1e-12, atol=1e-9)
