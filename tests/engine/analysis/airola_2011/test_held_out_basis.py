"""Basis vectors kept and removed, against learning anew; kept they make estimates pessimistic."""

import numpy as np
import pytest
from scipy.linalg import solve

from rankstudio.engine.analysis.airola_2011 import held_out_basis
from rankstudio.engine.analysis.airola_2011.held_out_basis import (
    GRID,
    held_out_errors,
    removal_error,
    removal_time,
)
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.methods.kernels.nystrom import basis_rows

GAMMA = 4.0


def alike(n_queries: int = 40, size: int = 6) -> RankingDataset:
    """Documents that are more like those of their query than others, as parses of a sentence."""
    rng = np.random.default_rng(0)
    centres = np.repeat(rng.random((n_queries, 3)), size, axis=0)
    X = centres + 0.05 * rng.standard_normal(centres.shape)
    y = np.rint(np.clip(X[:, 0] + 0.3 * rng.standard_normal(len(X)), 0, 2))
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(n_queries), size))


def gaussian(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.exp(-GAMMA * ((a[:, None] - b[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("removed", [True, False])
def test_each_fold_is_learned_without_its_queries(removed: bool) -> None:
    data = alike()
    errors = held_out_errors(data, 2, GAMMA)["removed" if removed else "kept"]
    basis = basis_rows(data.query_ptr, 80, "per_query", 0)
    fold = held_out_basis._folds(data, 0)[data.query_index]
    at = [GRID.index(1e-2), GRID.index(1.0), GRID.index(1e3)]
    expected = np.zeros(3)
    for number in range(10):
        held = fold == number
        own = basis[~held[basis]] if removed else basis
        K, R = gaussian(data.X, data.X[own]), gaussian(data.X[own], data.X[own])
        for place, position in enumerate(at):
            left = K[~held].T @ K[~held] + GRID[position] * R
            dual = solve(left + 1e-13 * np.eye(own.size), K[~held].T @ data.y[~held], assume_a="sym")
            expected[place] += ((K[held] @ dual - data.y[held]) ** 2).sum()
    np.testing.assert_allclose(errors[at], expected / data.y.size, rtol=1e-4)


def test_kept_basis_vectors_raise_the_error_at_small_regularization_alone() -> None:
    errors = held_out_errors(alike())
    ratio = errors["kept"] / errors["removed"]
    assert ratio[:3].min() > 1.5
    np.testing.assert_allclose(ratio[-3:], 1.0, atol=1e-3)
    found = removal_error(alike(), "Made")
    assert [row[3] for row in found.rows] == pytest.approx(ratio)
    assert f"is {ratio[0]:,.3g} times the correct one" in found.said[1]


def test_times_are_of_some_hold_outs_and_scaled_to_all() -> None:
    printed = {
        way: {"efficient": [1.0, 2.0], "baseline": [7.0, 16.0]}
        for way in ("leave-query-out", "10 folds of queries")
    }
    queries, folds = removal_time(alike(), "Made", printed, (1, 2))
    assert [row[:2] for row in queries.rows] == [row[:2] for row in folds.rows] == [(1, 40), (2, 80)]
    assert [row[6] for row in queries.rows] == [7.0, 8.0]
    assert queries.said[0].startswith("3 of 40 hold-outs were timed and scaled by 13.3.")
    assert folds.said[0].startswith("3 of 10 hold-outs were timed")
    assert (queries.source, folds.source) == ("Paper III, Table 1", "Paper III, Table 2")
