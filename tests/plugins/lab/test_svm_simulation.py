"""Support vector machines of the AUC simulation against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics.auc import averaged_auc, pooled_auc
from rankstudio.engine.support.work import finish
from rankstudio.plugins.lab.simulation.auc_simulation import (
    TwoClasses,
    simulate_auc,
    svm_auc_estimates,
)

TOLERANCE = 1e-8
"""Violation of optimality at which both trainings end."""


def weight_error(cost: float, m: int) -> float:
    """Return how far the weights of two models may be apart.

    A violation ε of optimality bounds the duality gap by
    ε Σ|β| / 2 <= ε C m / 2. The primal objective
    ½|w|² + C Σ hinge is strongly convex, with modulus 1.
    So |w - w*|² is at most twice the gap, for each model.
    """
    return 2.0 * float(np.sqrt(TOLERANCE * cost * m))


def trained(X: np.ndarray, y: np.ndarray, regularization: float) -> SVC:
    svm = SVC(
        C=1 / (2 * regularization),
        kernel="linear",
        tol=TOLERANCE,
    )
    return svm.fit(X, y)


def held_out(
    X: np.ndarray, y: np.ndarray, held: np.ndarray, regularization: float
) -> np.ndarray:
    """Return the scores by the machine trained without the documents."""
    rest = np.setdiff1d(np.arange(y.size), held)
    if len(set(y[rest])) == 1:
        return np.full(held.size, 2 * y[rest][0] - 1)
    return trained(X[rest], y[rest], regularization).decision_function(X[held])


@pytest.mark.parametrize("regularization", [0.05, 0.5, 8.0])
@pytest.mark.parametrize("size", [(30, 0.5, 4), (20, 0.1, 3), (12, 0.4, 25)])
def test_weights_are_those_of_svc(
    size: tuple[int, float, int], regularization: float
) -> None:
    m, positive, n = size
    data = TwoClasses(m, positive, n, n, 0.5)
    X = data.draw(4, np.random.default_rng(1))
    _, weights = svm_auc_estimates(data, X, regularization)
    atol = weight_error(1 / (2 * regularization), m)
    for features, found in zip(X, weights, strict=True):
        expected = trained(features, data.labels, regularization).coef_[0]
        np.testing.assert_allclose(found, expected, rtol=0, atol=atol)


@pytest.mark.parametrize("regularization", [0.05, 2.0])
@pytest.mark.parametrize(
    ("m", "positive", "n"),
    [(16, 0.5, 3), (14, 0.1, 2), (10, 0.4, 15)],
)
def test_every_estimate_is_that_of_training_anew(
    m: int, positive: float, n: int, regularization: float
) -> None:
    data = TwoClasses(m, positive, n, n, 0.4)
    X = data.draw(2, np.random.default_rng(3))
    found, _ = svm_auc_estimates(data, X, regularization)
    for features, estimates in zip(X, found, strict=True):
        expected = anew(data, features, regularization)
        np.testing.assert_allclose(
            estimates,
            expected,
            rtol=1e-12,
        )


def anew(data: TwoClasses, X: np.ndarray, regularization: float) -> list[float]:
    """Return the six estimates by training for each."""
    y = data.labels
    m = y.size
    orders = []
    for i in range(data.n_positive):
        for j in range(data.n_positive, m):
            pair = np.array([i, j])
            first, second = held_out(
                X,
                y,
                pair,
                regularization,
            )
            # equal up to the end of training
            order = np.round(first - second, 6)
            orders.append(np.heaviside(order, 0.5))
    expected = [float(np.mean(orders))]
    alone = np.arange(m)
    for folds in (
        alone,
        data.folds(5),
        data.folds(10),
    ):
        scores = np.empty(m)
        for fold in set(folds.tolist()):
            held = np.flatnonzero(folds == fold)
            scores[held] = held_out(
                X,
                y,
                held,
                regularization,
            )
        expected.append(pooled_auc(scores, y))
        if folds is not alone:
            averaged = averaged_auc(scores, y, folds)
            expected.append(averaged)
    return expected


def test_pairs_are_nearly_unbiased_and_pooling_is_pessimistic() -> None:
    found = finish(simulate_auc(16, repetitions=500, seed=3, learner="svm"))
    assert found.estimators[:2] == (
        "leave-pair-out",
        "leave-one-out, pooled",
    )
    bias = found.bias
    error = found.standard_error
    assert abs(bias[0]) <= 3 * error[0]
    assert bias[1] < -3 * error[1]


def test_a_seed_gives_the_same_bits() -> None:
    sizes = {"n_examples": 10, "n_features": 2, "seed": 3}
    first = finish(simulate_auc(**sizes, repetitions=20, learner="svm"))
    again = finish(simulate_auc(**sizes, repetitions=20, learner="svm"))
    np.testing.assert_array_equal(again.estimates, first.estimates)
    least_squares = finish(simulate_auc(**sizes, repetitions=20))
    assert (first.estimates != least_squares.estimates).any()


def test_an_unknown_learner_is_refused() -> None:
    with pytest.raises(ParameterError, match="rls, svm"):
        finish(simulate_auc(learner="knn"))  # type: ignore[arg-type]
