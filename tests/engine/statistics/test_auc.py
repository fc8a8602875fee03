"""The three ways of adding held-out predictions up to an AUC, against loops over pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics.auc import (
    auc_interval,
    averaged_auc,
    mean_auc_interval,
    pair_auc,
    pooled_auc,
)

rows = st.integers(0, 12).flatmap(
    lambda m: st.tuples(
        st.lists(st.integers(0, 3), min_size=m, max_size=m),
        st.lists(st.integers(0, 2), min_size=m, max_size=m),
        st.lists(st.integers(0, 2), min_size=m, max_size=m),
    )
)


def share(right: list[float]) -> float:
    return float(np.mean(right)) if right else float("nan")


def order(a: float, b: float) -> float:
    return 1.0 if a > b else 0.5 if a == b else 0.0


@given(rows)
def test_pooled_and_averaged_are_shares_of_pairs(
    given_rows: tuple[list[int], list[int], list[int]],
) -> None:
    scores, labels, folds = given_rows
    every = [
        (i, j)
        for i in range(len(labels))
        for j in range(len(labels))
        if labels[i] > labels[j]
    ]
    pooled = share([order(scores[i], scores[j]) for i, j in every])
    averaged = share(
        [order(scores[i], scores[j]) for i, j in every if folds[i] == folds[j]]
    )
    assert pooled_auc(scores, labels) == pytest.approx(pooled, nan_ok=True)
    assert averaged_auc(scores, labels, folds) == pytest.approx(averaged, nan_ok=True)


@given(st.integers(0, 8), st.integers(0, 1000))
def test_leave_pair_out_compares_within_a_pair(m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    held_out, labels = rng.integers(0, 3, (m, m)).astype(float), rng.integers(0, 3, m)
    right = [
        order(held_out[i, j], held_out[j, i])
        for i in range(m)
        for j in range(m)
        if labels[i] > labels[j]
    ]
    assert pair_auc(held_out, labels) == pytest.approx(share(right), nan_ok=True)


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ParameterError, match="scores"):
        pooled_auc([1.0], [0, 1])
    with pytest.raises(ParameterError, match="folds"):
        averaged_auc([1.0, 2.0], [0, 1], [0])
    with pytest.raises(ParameterError, match="held_out"):
        pair_auc([[1.0]], [0, 1])


@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 10**6), st.booleans())
def test_delongs_interval_is_that_of_its_kernel_matrix(
    m: int, n: int, seed: int, tied: bool
) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, m + n).astype(float) if tied else rng.normal(size=m + n)
    relevant = np.arange(m + n) < m
    # psi of each pair
    matrix = np.array([[order(a, b) for b in scores[m:]] for a in scores[:m]])
    variance = matrix.mean(axis=1).var(ddof=1) / m + matrix.mean(axis=0).var(ddof=1) / n
    half = 1.959963984540054 * np.sqrt(variance)
    mixed = rng.permutation(m + n)
    found = auc_interval(scores[mixed], relevant[mixed])
    expected = max(0.0, matrix.mean() - half), min(1.0, matrix.mean() + half)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_no_interval_without_two_documents_of_each_kind() -> None:
    assert np.isnan(auc_interval([1, 2, 3], [True, False, False])).all()
    with pytest.raises(ParameterError):
        auc_interval([1, 2], [True, False], 1.0)


def test_the_interval_of_a_mean_holds_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    # one model separates the kinds by 1, the other does not
    truth = (0.7602499389065233 + 0.5) / 2
    relevant, few = np.arange(120) < 40, np.arange(60) < 25
    held, alone = 0, 0
    for _ in range(400):
        pair = [(rng.normal(size=120) + relevant, relevant), (rng.normal(size=60), few)]
        low, high = mean_auc_interval(pair)
        held += low <= truth <= high
        alone += mean_auc_interval(pair[:1]) == auc_interval(*pair[0])
    assert abs(held / 400 - 0.95) < 3.5 * np.sqrt(0.95 * 0.05 / 400)
    assert alone == 400
    assert np.isnan(mean_auc_interval([pair[0], (np.zeros(3), np.arange(3) < 1)])).all()
