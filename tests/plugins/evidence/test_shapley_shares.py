"""Shapley values of the left-out gain against all orders of retrained subsets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from evidence_problems import planted, untied
from hypothesis import given, settings
from oracles import leave_query_out_error, shapley_by_orders
from strategies import Problem

from rankstudio.engine import GreedyRankRLS, RankRLS, RankSVM, shapley_shares
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.work import WorkProgress
from rankstudio.plugins.evidence.shapley_shares import ShapleyShares, shapley_steps


@settings(max_examples=10)
@given(untied())
def test_values_are_those_of_all_orders(problem: Problem) -> None:
    X, y, qid, regularization = problem
    columns = list(range(X.shape[1]))[::-1]
    empty = leave_query_out_error(X, y, qid, [], regularization)
    gain = {
        frozenset(some): empty
        - leave_query_out_error(X, y, qid, list(some), regularization)
        for size in range(len(columns) + 1)
        for some in combinations(columns, size)
    }
    found = shapley_shares(RankRLS(regularization), X, y, qid=qid, features=columns)
    np.testing.assert_allclose(
        found.values, shapley_by_orders(gain, columns), atol=1e-8 * empty
    )
    prefixes = [gain[frozenset(columns[:size])] for size in range(len(columns) + 1)]
    np.testing.assert_allclose(found.in_order, np.diff(prefixes), atol=1e-8 * empty)
    assert found.values.sum() == pytest.approx(found.gain)


def test_twins_share_equally_whichever_comes_first() -> None:
    X, y, qid = planted(0)
    X[:, 4] = X[:, 3]
    found = shapley_shares(RankRLS(), X, y, qid=qid, features=(3, 0, 4))
    assert found.values[0] == pytest.approx(found.values[2])
    assert found.in_order[0] > 10 * found.in_order[2]


@pytest.mark.parametrize("weighting", ["size", "pairs"])
def test_greedy_selects_the_features_and_its_drops_are_the_gains_in_order(
    weighting: str,
) -> None:
    X, y, qid = planted(0)
    method = GreedyRankRLS(4, weighting=weighting)
    found = shapley_shares(method, X, np.round(y), qid=qid)
    *_, last = steps = list(method.steps(X, np.round(y), qid=qid))
    assert found.features == last.selected
    np.testing.assert_allclose(
        found.in_order, [step.before - step.criterion for step in steps]
    )


def test_it_tells_how_far_it_is_and_refuses_what_it_cannot() -> None:
    X, y, qid = planted(0)
    told = list(shapley_steps(RankRLS(), group(X, y, qid), range(8)))
    assert told
    assert all(isinstance(one, WorkProgress) and 0 <= one.share <= 1 for one in told)
    for method, features in (
        (RankSVM(), (0,)),
        (RankRLS(), None),
        (RankRLS(), ()),
        (RankRLS(), (0, 0)),
        (RankRLS(), (25,)),
        (RankRLS(), range(16)),
    ):
        with pytest.raises(ParameterError):
            shapley_shares(method, X, y, qid=qid, features=features)


@pytest.mark.parametrize("values", [[0.0, 0.0], [0.5, -1.5]])
def test_without_a_gain_there_are_no_shares(values: list[float]) -> None:
    nothing = ShapleyShares((0, 1), np.array(values), np.zeros(2), sum(values))
    assert np.isnan(nothing.shares).all()
