"""Groups of features in filters: a group has the score of its best feature, and comes as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles import leave_query_out_error, rankrls_on_pairs
from ordering import ranking_problem

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.expected_divergence import ExpectedDivergence
from rankstudio.engine.methods.selection.single_feature import MutualInformation, SingleFeatureRanking

FILTERS = [SingleFeatureRanking, MutualInformation, ExpectedDivergence]


@pytest.mark.parametrize("kind", FILTERS)
def test_groups_come_in_the_order_of_their_best_feature(kind: type[Any]) -> None:
    X, y, qid = ranking_problem()
    scores = kind().fit(X, y, qid=qid).scores_
    groups = ((0, 5), (4, 2))
    whole = [(0, 5), (1,), (2, 4), (3,)]
    expected = sorted(whole, key=lambda group: -scores[list(group)].max())
    steps = list(kind(groups=groups).steps(X, y, qid=qid))
    assert [step.number for step in steps] == [1, 2, 3, 4]
    before: tuple[int, ...] = ()
    for step, group in zip(steps, expected, strict=True):
        assert step.selected == before + group
        assert step.criterion == pytest.approx(leave_query_out_error(X, y, qid, list(step.selected), 1.0))
        coef = rankrls_on_pairs(X[:, list(step.selected)], y, qid, 1.0)
        np.testing.assert_allclose(step.coef[list(step.selected)], coef, atol=1e-10)
        assert np.isnan(step.candidates[list(before)]).all()
        for left in whole:
            if not set(left) & set(before):
                np.testing.assert_allclose(step.candidates[list(left)], scores[list(left)].max())
        before = step.selected
    assert kind(2, groups=groups).fit(X, y, qid=qid).selection_order_.tolist() == [*expected[0], *expected[1]]


@pytest.mark.parametrize("kind", FILTERS)
def test_groups_of_one_feature_change_nothing(kind: type[Any]) -> None:
    X, y, qid = ranking_problem()
    plain, alone = (list(kind(groups=g).steps(X, y, qid=qid)) for g in ((), tuple((j,) for j in range(6))))
    for step, other in zip(plain, alone, strict=True):
        assert step.selected == other.selected
        assert step.criterion == other.criterion
        np.testing.assert_array_equal(step.candidates, other.candidates)


def test_size_counts_groups() -> None:
    X, y, qid = ranking_problem()
    assert MutualInformation(groups=((0, 1, 2),)).n_steps(6) == 4
    with pytest.raises(ParameterError, match="from 1 to 4"):
        MutualInformation(5, groups=((0, 1, 2),)).fit(X, y, qid=qid)
