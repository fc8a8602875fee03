"""The three ways of adding held-out predictions up to an AUC, against loops over pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.statistics.auc import averaged_auc, pair_auc, pooled_auc

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
def test_pooled_and_averaged_are_shares_of_pairs(given_rows: tuple[list[int], list[int], list[int]]) -> None:
    scores, labels, folds = given_rows
    every = [(i, j) for i in range(len(labels)) for j in range(len(labels)) if labels[i] > labels[j]]
    pooled = share([order(scores[i], scores[j]) for i, j in every])
    averaged = share([order(scores[i], scores[j]) for i, j in every if folds[i] == folds[j]])
    assert pooled_auc(scores, labels) == pytest.approx(pooled, nan_ok=True)
    assert averaged_auc(scores, labels, folds) == pytest.approx(averaged, nan_ok=True)


@given(st.integers(0, 8), st.integers(0, 1000))
def test_leave_pair_out_compares_within_a_pair(m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    held_out, labels = rng.integers(0, 3, (m, m)).astype(float), rng.integers(0, 3, m)
    right = [
        order(held_out[i, j], held_out[j, i]) for i in range(m) for j in range(m) if labels[i] > labels[j]
    ]
    assert pair_auc(held_out, labels) == pytest.approx(share(right), nan_ok=True)


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(ParameterError, match="scores"):
        pooled_auc([1.0], [0, 1])
    with pytest.raises(ParameterError, match="folds"):
        averaged_auc([1.0, 2.0], [0, 1], [0])
    with pytest.raises(ParameterError, match="held_out"):
        pair_auc([[1.0]], [0, 1])
