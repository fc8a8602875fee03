"""The repeated left-out curve against selecting anew without each query."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_problems import planted, untied
from hypothesis import given, settings
from oracles import centred_by_loops, greedy_by_retraining, rankrls_on_pairs
from strategies import Problem

from rankstudio.engine import GreedyRankRLS, repeated_left_out
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.support.work import finish
from rankstudio.plugins.evidence.partial_result import PartialResult
from rankstudio.plugins.evidence.repeated_left_out import (
    RepeatedLeftOut,
    left_out_steps,
)


@settings(max_examples=max(settings().max_examples // 2, 5))
@given(untied())
def test_errors_are_those_of_selecting_without_each_query(problem: Problem) -> None:
    X, y, qid, regularization = problem
    n = X.shape[1]
    found = repeated_left_out(GreedyRankRLS(n, regularization), X, y, qid=qid)
    _, criteria = greedy_by_retraining(X, y, qid, n, regularization)
    np.testing.assert_allclose(found.usual_criterion, criteria, rtol=1e-7)
    Xc, yc = centred_by_loops(X, qid), centred_by_loops(y[:, None], qid)[:, 0]
    for place, query in enumerate(dict.fromkeys(qid.tolist())):
        held = qid == query
        path, _ = greedy_by_retraining(
            X[~held], y[~held], qid[~held], n, regularization
        )
        assert list(found.selected[place]) == path
        assert found.empty[place] == pytest.approx(yc[held] @ yc[held])
        for size in range(1, n + 1):
            columns = path[:size]
            w = rankrls_on_pairs(
                X[~held][:, columns], y[~held], qid[~held], regularization
            )
            error = np.sum((yc[held] - Xc[held][:, columns] @ w) ** 2)
            assert found.repeated[place, size - 1] == pytest.approx(
                error, rel=1e-6, abs=1e-9
            )
    gain = yc @ yc - found.usual_criterion
    # where there is a gain
    lost = np.where(gain > 1e-9 * (yc @ yc), found.criterion - criteria, np.nan)
    np.testing.assert_allclose(found.optimism * gain, lost, atol=1e-6 * (yc @ yc))


def test_selection_among_noise_is_optimistic_and_of_one_feature_it_is_not() -> None:
    rng, qid = np.random.default_rng(0), np.repeat(np.arange(15), 5)
    X, y = rng.normal(size=(75, 20)), rng.normal(size=75)
    noise = repeated_left_out(GreedyRankRLS(4), X, y, qid=qid)
    assert (noise.criterion > noise.usual_criterion).all()
    strong = repeated_left_out(GreedyRankRLS(1), X, X[:, 3], qid=qid)
    np.testing.assert_allclose(strong.criterion, strong.usual_criterion)
    assert set(strong.selected) == {(3,)}


def test_an_interrupted_curve_is_of_the_first_queries_and_goes_on() -> None:
    X, y, qid = planted(0)
    method, data = GreedyRankRLS(3), group(X, y, qid)
    whole = finish(left_out_steps(method, data))
    told = next(left_out_steps(method, data))
    assert isinstance(told, PartialResult)
    count = told.found.repeated.shape[0]
    assert 0 < count < 80
    np.testing.assert_array_equal(told.found.repeated, whole.repeated[:count])
    np.testing.assert_array_equal(told.found.usual, whole.usual[:count])
    again = finish(left_out_steps(method, data, told.found))
    np.testing.assert_array_equal(again.repeated, whole.repeated)
    assert again.selected == whole.selected


def test_a_path_that_ends_early_keeps_its_last_model() -> None:
    X, y, qid = planted(0)
    found = repeated_left_out(GreedyRankRLS(25, size_penalty=0.02), X, y, qid=qid)
    assert 0 < found.usual.shape[1] < 25
    assert np.isfinite(found.repeated).all()
    with pytest.raises(DatasetError):
        repeated_left_out(GreedyRankRLS(), X, y, qid=qid // 40)


def test_without_a_gain_there_is_no_optimism() -> None:
    found = RepeatedLeftOut(
        np.array([[3.0, 1.0]]), np.array([[4.0, 1.5]]), np.array([2.0]), ((0, 1),)
    )
    np.testing.assert_array_equal(found.optimism, [np.nan, 0.5])
    assert found.no_gain(1)
    assert found.no_gain(2) == ""
