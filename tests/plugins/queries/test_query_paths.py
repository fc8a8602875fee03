"""Paths of some of the queries against the method on their documents alone."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_problems import planted, untied
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Problem

from rankstudio.engine import GreedyRankRLS, RankRLS, paths_by_queries
from rankstudio.engine.errors import DatasetError, ParameterError


@settings(max_examples=10)
@given(untied(), st.data())
def test_both_paths_are_those_of_the_documents_alone(
    problem: Problem, data: st.DataObject
) -> None:
    X, y, qid, regularization = problem
    queries = list(dict.fromkeys(qid.tolist()))
    marked = data.draw(
        st.lists(
            st.integers(0, len(queries) - 1),
            unique=True,
            min_size=2,
            max_size=len(queries) - 2,
        )
    )
    method = GreedyRankRLS(regularization=regularization)
    found = paths_by_queries(method, X, y, qid=qid, marked=marked)
    inside = np.isin(qid, [queries[position] for position in marked])
    for steps, rows in ((found.marked, inside), (found.others, ~inside)):
        alone = list(method.steps(X[rows], y[rows], qid=qid[rows]))
        assert [step.selected for step in steps] == [step.selected for step in alone]
        np.testing.assert_allclose(
            [step.criterion for step in steps],
            [step.criterion for step in alone],
            rtol=1e-8,
        )


def test_parts_that_cannot_be_learned_from_are_refused() -> None:
    X, y, qid = planted(0)
    for marked in ([], [3], range(79)):
        with pytest.raises(DatasetError, match="at least 2 queries"):
            paths_by_queries(GreedyRankRLS(2), X, y, qid=qid, marked=marked)
    with pytest.raises(ParameterError, match="positions of queries"):
        paths_by_queries(GreedyRankRLS(2), X, y, qid=qid, marked=[0, 80])
    with pytest.raises(ParameterError, match="GreedyRankRLS"):
        paths_by_queries(RankRLS(), X, y, qid=qid, marked=[0, 1])
