"""The lasso's path: scikit-learn's where that is right, and the optimum's conditions where it is not."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.linear_model import lars_path_gram

from rankstudio.engine.methods.selection.l1_path import lasso_path

Path = tuple[np.ndarray, np.ndarray]


def worst_violation(gram: np.ndarray, right: np.ndarray, path: Path) -> float:
    """How far some knot is from the conditions of its optimum, as a share of the greatest α."""
    worst = 0.0
    for alpha, w in zip(*path, strict=True):
        correlation = right - gram @ w
        active = w != 0
        beyond = np.abs(correlation).max() - alpha
        off = np.abs(correlation[active] - alpha * np.sign(w[active])).max(initial=0.0)
        worst = max(worst, beyond, off)
    return worst / np.abs(right).max()


def by_scikit_learn(gram: np.ndarray, right: np.ndarray) -> Path:
    alphas, _, coefs = lars_path_gram(right, gram, n_samples=1, method="lasso")
    return alphas, coefs.T


@pytest.mark.parametrize("seed", range(5))
def test_the_path_of_independent_features_is_that_of_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, 8)), rng.normal(size=40)
    alphas, weights, entered = lasso_path(X.T @ X, X.T @ y, 8)
    expected_alphas, expected_weights = by_scikit_learn(X.T @ X, X.T @ y)
    np.testing.assert_allclose(alphas, expected_alphas, atol=1e-11 * alphas[0])
    np.testing.assert_allclose(weights, expected_weights, atol=1e-11)
    first = np.array([alphas[np.flatnonzero(w)[0] - 1] for w in weights.T])
    np.testing.assert_allclose(entered, first, rtol=1e-12)


def equally_good() -> tuple[np.ndarray, np.ndarray]:
    """Two features at a right angle with equal correlations."""
    return np.eye(2), np.ones(2)


def with_sums() -> tuple[np.ndarray, np.ndarray]:
    """Three features, and the sums of two pairs of them."""
    rng = np.random.default_rng(49)
    X = rng.normal(size=(12, 3))
    X = np.column_stack([X, X[:, 1:] + X[:, :-1]])
    return X.T @ X, X.T @ rng.normal(size=12)


@pytest.mark.parametrize("problem", [equally_good, with_sums])
def test_ties_and_combinations_keep_to_the_optimum(
    problem: Callable[[], tuple[np.ndarray, np.ndarray]],
) -> None:
    """scikit-learn's path (1.9.1) leaves it there by as much as the greatest α."""
    gram, right = problem()
    alphas, weights, _ = lasso_path(gram, right, right.size)
    assert worst_violation(gram, right, (alphas, weights)) < 1e-12
    assert alphas[-1] < 1e-12 * alphas[0]


def test_equally_good_features_come_in_at_the_same_penalty() -> None:
    alphas, weights, entered = lasso_path(*equally_good(), 2)
    assert entered.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(weights[-1], 1.0 - alphas[-1], atol=1e-15)
