"""Every change of a set by one feature against retraining without each query in turn."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_problems import planted, untied
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import leave_query_out_error
from strategies import Problem

from rankstudio.engine import GreedyRankRLS, RankRLS, RankSVM, set_changes
from rankstudio.engine.errors import DatasetError, ParameterError


@settings(max_examples=10)
@given(untied(), st.data())
def test_each_change_is_the_error_after_it(
    problem: Problem, data: st.DataObject
) -> None:
    X, y, qid, regularization = problem
    n = X.shape[1]
    features = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n))
    found = set_changes(RankRLS(regularization), X, y, qid=qid, features=features)

    def error(columns: list[int]) -> float:
        return leave_query_out_error(X, y, qid, columns, regularization)

    exact = {"rtol": 1e-8, "atol": 1e-8 * error([])}
    np.testing.assert_allclose(found.criterion, error(features), **exact)
    for place, removed in enumerate(features):
        rest = [column for column in features if column != removed]
        np.testing.assert_allclose(found.without[place], error(rest), **exact)
        for other in set(range(n)) - set(features):
            np.testing.assert_allclose(
                found.swapped[place, other], error([*rest, other]), **exact
            )
    for other in set(range(n)) - set(features):
        np.testing.assert_allclose(
            found.added[other], error([*features, other]), **exact
        )
    assert np.isnan(found.added[features]).all()
    assert np.isnan(found.swapped[:, features]).all()
    assert not np.isnan(np.delete(found.added, features)).any()


@pytest.mark.parametrize("weighting", ["size", "pairs"])
def test_the_best_addition_is_the_next_step_of_greedy_with_its_loss(
    weighting: str,
) -> None:
    X, y, qid = planted(3)
    method = GreedyRankRLS(5, weighting=weighting)
    for step in method.steps(X, np.round(y), qid=qid):
        found = set_changes(
            method, X, np.round(y), qid=qid, features=step.selected[:-1]
        )
        assert int(np.nanargmin(found.added)) == step.selected[-1]
        assert found.criterion == pytest.approx(step.before, rel=1e-9)
        assert np.nanmin(found.added) == pytest.approx(step.criterion, rel=1e-9)


def test_nothing_changes_where_each_query_has_one_document() -> None:
    """Catches a division by an error of 0."""
    X, y, _ = planted(0)
    found = set_changes(RankRLS(), X, y, qid=np.arange(y.size), features=[0, 1])
    errors = [*found.without, *found.added[2:], *found.swapped[:, 2:].ravel()]
    assert {found.relative(error) for error in errors} == {0.0}


def test_what_is_no_set_is_refused() -> None:
    X, y, qid = planted(0)
    for features in ([3, 3], [25], [-1]):
        with pytest.raises(ParameterError, match="different columns"):
            set_changes(RankRLS(), X, y, qid=qid, features=features)
    with pytest.raises(ParameterError, match="RankRLS"):
        set_changes(RankSVM(), X, y, qid=qid, features=[0])
    with pytest.raises(DatasetError, match="quer"):
        set_changes(RankRLS(), X[:8], y[:8], qid=qid[:8], features=[0])
