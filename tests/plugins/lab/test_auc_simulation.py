"""The AUC simulation against learning from each training set anew, and what its chapter concludes."""

import numpy as np
import pytest

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics.auc import averaged_auc, pooled_auc
from rankstudio.engine.support.work import finish
from rankstudio.plugins.lab.simulation.auc_simulation import (
    ESTIMATORS,
    TwoClasses,
    auc_estimates,
    simulate_auc,
)
from rankstudio.plugins.lab.simulation.deviations import Deviations


def learned(
    X: np.ndarray, y: np.ndarray, regularization: float
) -> tuple[np.ndarray, float]:
    """Weights and bias by least squares on explicit rows."""
    centre, n = X.mean(axis=0), X.shape[1]
    A = np.vstack((X - centre, np.sqrt(regularization) * np.eye(n)))
    w = np.linalg.lstsq(A, np.concatenate((y - y.mean(), np.zeros(n))), rcond=None)[0]
    return w, float(y.mean() - centre @ w)


def left_out(
    X: np.ndarray, y: np.ndarray, held: np.ndarray, regularization: float
) -> np.ndarray:
    kept = np.setdiff1d(np.arange(y.size), held)
    w, bias = learned(X[kept], y[kept], regularization)
    return X[held] @ w + bias


@pytest.mark.parametrize(
    "size", [(30, 0.5, 4), (20, 0.1, 3), (12, 0.4, 25), (11, 0.7, 1), (6, 0.5, 2)]
)
def test_every_estimate_is_that_of_learning_anew(size: tuple[int, float, int]) -> None:
    m, positive, n = size
    data = TwoClasses(m, positive, n, n, 0.3)
    X, y = data.draw(3, np.random.default_rng(0)), data.labels
    found, weights = auc_estimates(data, X, 0.7)
    for b in range(3):
        np.testing.assert_allclose(
            weights[b], learned(X[b], y, 0.7)[0], rtol=1e-8, atol=1e-10
        )
        pairs = []
        for i in range(data.n_positive):
            for j in range(data.n_positive, m):
                first, second = left_out(X[b], y, np.array([i, j]), 0.7)
                pairs.append(float(np.heaviside(first - second, 0.5)))
        expected = [float(np.mean(pairs))]
        for folds in (np.arange(m), data.folds(5), data.folds(10)):
            scores = np.empty(m)
            for fold in set(folds.tolist()):
                held = np.flatnonzero(folds == fold)
                scores[held] = left_out(X[b], y, held, 0.7)
            expected += [pooled_auc(scores, y), averaged_auc(scores, y, folds)]
        np.testing.assert_allclose(
            found[b], [expected[i] for i in (0, 1, 3, 4, 5, 6)], rtol=1e-12
        )


def test_the_truth_is_the_share_of_pairs_of_new_documents() -> None:
    data = TwoClasses(6, 0.5, 3, 2, 0.8)
    w = np.array([1.0, -0.5, 2.0])
    rng = np.random.default_rng(1)
    new = (
        rng.standard_normal((200_000, 3)) + data.direction
    ) @ w - rng.standard_normal((200_000, 3)) @ w
    assert data.auc(w) == pytest.approx(float((new > 0).mean()), abs=0.005)
    assert data.auc(np.zeros(3)) == 0.5
    np.testing.assert_allclose(data.auc(np.stack((w, 3 * w))), data.auc(w))


def test_folds_have_both_classes_where_that_can_be() -> None:
    for m, positive in ((30, 0.5), (40, 0.25), (100, 0.1), (37, 0.6)):
        data = TwoClasses(m, positive)
        for count in (5, 10):
            folds = data.folds(count)
            sizes = np.bincount(folds)
            assert sizes.max() - sizes.min() <= 1
            share = np.bincount(folds, weights=data.labels)
            assert share.max() - share.min() <= 1
            if data.n_positive >= count:
                assert ((share > 0) & (share < sizes)).all()


def bias_and_sd(**options: float) -> tuple[dict[str, float], dict[str, float]]:
    found = finish(simulate_auc(**options))  # type: ignore[arg-type]
    names = found.estimators
    return (
        dict(zip(names, found.bias.tolist(), strict=True)),
        dict(zip(names, found.conditional_sd.tolist(), strict=True)),
    )


def test_leaving_pairs_out_is_nearly_unbiased_and_pooling_is_pessimistic() -> None:
    without, _ = bias_and_sd()
    with_signal, _ = bias_and_sd(shift=0.5)
    assert abs(without["leave-pair-out"]) <= 0.02
    assert abs(with_signal["leave-pair-out"]) <= 0.02
    assert without["leave-one-out, pooled"] < -0.02


def test_averaging_folds_varies_more_where_there_are_few_pairs() -> None:
    _, few = bias_and_sd(positive=0.1)
    assert few["10-fold, averaged"] > few["leave-pair-out"]
    _, many = bias_and_sd(n_examples=100, repetitions=4000)
    assert abs(many["10-fold, averaged"] - many["leave-pair-out"]) <= 0.01


def test_steps_grow_and_a_seed_gives_the_same_bits() -> None:
    steps = list(simulate_auc(repetitions=600, seed=3))
    assert [step.truth.size for step in steps] == [250, 500, 600]
    assert all(
        step.n_repetitions == 600 and step.estimates.shape == (step.truth.size, 6)
        for step in steps
    )
    np.testing.assert_array_equal(steps[-1].estimates[:250], steps[0].estimates)
    again = finish(simulate_auc(repetitions=600, seed=3))
    longer = finish(simulate_auc(repetitions=750, seed=3))
    np.testing.assert_array_equal(again.estimates, steps[-1].estimates)
    np.testing.assert_array_equal(longer.estimates[:500], again.estimates[:500])
    other = finish(simulate_auc(repetitions=600, seed=4))
    assert (other.estimates != again.estimates).any()


def test_deviations_are_from_the_model_and_from_the_mean_of_models() -> None:
    estimates = np.array([[0.5, np.nan, np.nan], [0.9, 0.8, np.nan]])
    found = Deviations(("a", "b", "c"), np.array([0.6, 0.7]), estimates, 2)
    np.testing.assert_allclose(found.conditional[:, 0], [-0.1, 0.2])
    np.testing.assert_allclose(found.unconditional[:, 0], [-0.15, 0.25])
    np.testing.assert_allclose(found.bias, [0.05, 0.1, np.nan])
    np.testing.assert_allclose(found.conditional_sd, [0.15, 0.0, np.nan])
    np.testing.assert_allclose(found.unconditional_sd, [0.2, 0.0, np.nan])
    np.testing.assert_array_equal(found.counts, [2, 1, 0])
    np.testing.assert_allclose(found.standard_error, [0.15 / np.sqrt(2), 0.0, np.nan])
    assert ESTIMATORS[0] == "leave-pair-out"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n_examples": 3}, "n_examples"),
        ({"positive": 1.0}, "positive"),
        ({"n_informative": 11}, "n_informative"),
        ({"shift": np.inf}, "shift"),
        ({"regularization": 0.0}, "regularization"),
        ({"repetitions": 0}, "repetitions"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, float], named: str) -> None:
    with pytest.raises(ParameterError, match=named):
        finish(simulate_auc(**options))  # type: ignore[arg-type]
