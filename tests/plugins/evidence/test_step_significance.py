"""p of each step against retraining with permuted residuals, and the stopping rule."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_problems import planted, untied
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import (
    centred_by_loops,
    greedy_by_retraining,
    leave_query_out_error,
    rankrls_on_pairs,
)
from strategies import Problem

from rankstudio.engine import GreedyRankRLS, RankSVM, step_significance
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.greedy_rankrls.step_test import ResidualTest
from rankstudio.engine.statistics.row_permutation import permuted_rows
from rankstudio.plugins.evidence.step_significance import forward_stop


@settings(max_examples=10)
@given(untied(), st.integers(0, 2**32 - 1))
def test_drops_are_those_of_retraining_with_permuted_residuals(
    problem: Problem, seed: int
) -> None:
    regularization = problem.regularization
    data = group(problem.X, problem.y, problem.qid)
    X, y, qid = (
        data.X,
        data.y,
        np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr)),
    )
    n = X.shape[1]
    found = step_significance(
        GreedyRankRLS(n, regularization), X, y, qid=qid, n_permutations=3, seed=seed
    )
    path, criteria = greedy_by_retraining(X, y, qid, n, regularization)
    assert list(found.selected) == path
    centred = centred_by_loops(y[:, None], qid)[:, 0]
    scale = float(centred @ centred)
    np.testing.assert_allclose(
        found.drops, -np.diff([scale, *criteria]), atol=1e-8 * scale
    )
    for number in range(3):
        order = permuted_rows(data.ptr, seed, number)
        for step in range(n):
            before = path[:step]
            fitted = np.zeros(y.size)
            if before:
                w = rankrls_on_pairs(X[:, before], y, qid, regularization)
                fitted = centred_by_loops(X[:, before], qid) @ w
            labels = fitted + (centred - fitted)[order]
            errors = [
                leave_query_out_error(X, labels, qid, [*before, j], regularization)
                for j in range(n)
                if j not in before
            ]
            drop = leave_query_out_error(X, labels, qid, before, regularization) - min(
                errors
            )
            assert found.permuted[number, step] == pytest.approx(drop, abs=1e-8 * scale)


def test_planted_steps_are_significant_and_noise_is_not() -> None:
    stops = []
    for seed in range(10):
        X, y, qid = planted(seed)
        found = step_significance(GreedyRankRLS(8), X, y, qid=qid, n_permutations=39)
        assert (found.p_values[:4] == 1 / 40).all()
        stops.append(found.n_steps(0.1))
    print(f"steps to stop after, 4 true: {stops}")  # noqa: T201 - the counts
    assert 4 <= np.median(stops) <= 5


def test_p_of_noise_is_uniform() -> None:
    rng, qid = np.random.default_rng(0), np.repeat(np.arange(12), 5)
    p = [
        step_significance(
            GreedyRankRLS(2),
            rng.normal(size=(60, 5)),
            rng.normal(size=60),
            qid=qid,
            n_permutations=19,
        ).p_values
        for _ in range(150)
    ]
    rejected = (np.array(p) <= 0.1).mean(axis=0)
    print(f"noise rejected at .1: {rejected}")  # noqa: T201 - the counts
    assert rejected[0] <= 0.1 + 2.6 * np.sqrt(0.09 / 150)  # exact at step 1
    assert rejected[1] <= 0.2


def test_forward_stop_is_its_definition() -> None:
    assert forward_stop([], 0.1) == 0
    assert forward_stop([1.0, 0.0], 0.1) == 0
    assert forward_stop([0.05, 0.05, 0.2, 0.9], 0.1) == 2
    # A later step may make up for an earlier one.
    assert forward_stop([0.15, 0.01], 0.1) == 2
    p = np.random.default_rng(0).random(30) ** 3
    means = [np.mean(-np.log(1 - p[:k])) for k in range(1, 31)]
    assert forward_stop(p, 0.2) == max(
        (k for k in range(1, 31) if means[k - 1] <= 0.2), default=0
    )
    with pytest.raises(ParameterError):
        forward_stop(p, 1.0)


def test_a_path_that_may_end_early_has_no_drop_there() -> None:
    X, y, qid = planted(0)
    found = step_significance(
        GreedyRankRLS(25, size_penalty=0.05), X, y, qid=qid, n_permutations=9
    )
    assert 0 < len(found.selected) < 25
    assert found.permuted.shape == (9, len(found.selected))
    assert (found.permuted >= 0).all()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"pinned": (7, 0)},
        {"size_penalty": 0.01},
        {"banned": (1,)},
        {"weighting": "pairs"},
    ],
)
def test_drops_of_all_permutations_at_once_are_those_of_a_path_each(
    options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, qid = planted(3)
    X[:, 9] = qid  # a feature that cannot rank
    method = GreedyRankRLS(6, 4.0, **options)  # type: ignore[arg-type]
    found = step_significance(method, X, np.round(y), qid=qid, n_permutations=9)

    def one_by_one(self: ResidualTest, targets: np.ndarray, step: int) -> np.ndarray:
        return np.array([self._drop(labels[:, None], step) for labels in targets.T])

    monkeypatch.setattr(ResidualTest, "_best_drops", one_by_one)
    slow = step_significance(method, X, np.round(y), qid=qid, n_permutations=9)
    np.testing.assert_allclose(found.permuted, slow.permuted, atol=1e-9 * found.empty)
    assert found.selected == slow.selected


def test_costs_and_random_candidates_have_paths_of_their_own() -> None:
    X, y, qid = planted(4)
    options = (
        {"costs": list(range(1, 26)), "budget": 40.0},
        {"n_candidates": 5, "seed": 2},
    )
    for one in options:
        found = step_significance(
            GreedyRankRLS(3, **one), X, y, qid=qid, n_permutations=4
        )  # type: ignore[arg-type]
        assert found.permuted.shape == (4, len(found.selected))


@pytest.mark.parametrize(
    "method", [RankSVM(), GreedyRankRLS(search="floating"), GreedyRankRLS(ties=False)]
)
def test_other_methods_are_refused(method: GreedyRankRLS) -> None:
    X, y, qid = planted(0)
    with pytest.raises(ParameterError):
        step_significance(method, X, np.round(y), qid=qid)
