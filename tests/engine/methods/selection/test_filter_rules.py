"""Groups and costs in filters: a group has the score of its best feature, and comes as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracles import leave_query_out_error, rankrls_on_pairs
from ordering import ranking_problem

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.expected_divergence import ExpectedDivergence
from rankstudio.engine.methods.selection.single_feature import (
    MutualInformation,
    SingleFeatureRanking,
)

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
        assert step.criterion == pytest.approx(
            leave_query_out_error(X, y, qid, list(step.selected), 1.0)
        )
        coef = rankrls_on_pairs(X[:, list(step.selected)], y, qid, 1.0)
        np.testing.assert_allclose(step.coef[list(step.selected)], coef, atol=1e-10)
        assert np.isnan(step.candidates[list(before)]).all()
        for left in whole:
            if not set(left) & set(before):
                np.testing.assert_allclose(
                    step.candidates[list(left)], scores[list(left)].max()
                )
        before = step.selected
    assert kind(2, groups=groups).fit(X, y, qid=qid).selection_order_.tolist() == [
        *expected[0],
        *expected[1],
    ]


@pytest.mark.parametrize(
    "given", [{"groups": [(j,) for j in range(6)]}, {"costs": np.full(6, 0.5)}]
)
@pytest.mark.parametrize("kind", FILTERS)
def test_groups_of_one_feature_and_equal_costs_change_nothing(
    kind: type[Any], given: dict[str, Any]
) -> None:
    X, y, qid = ranking_problem()
    plain, same = (
        list(kind(**parameters).steps(X, y, qid=qid)) for parameters in ({}, given)
    )
    for step, other in zip(plain, same, strict=True):
        assert step.selected == other.selected
        assert step.criterion == other.criterion
        np.testing.assert_array_equal(step.candidates, other.candidates)


def test_size_counts_groups() -> None:
    X, y, qid = ranking_problem()
    assert MutualInformation(groups=((0, 1, 2),)).n_steps(6) == 4
    with pytest.raises(ParameterError, match="from 1 to 4"):
        MutualInformation(5, groups=((0, 1, 2),)).fit(X, y, qid=qid)


def slow_order(
    scores: np.ndarray, groups: list[tuple[int, ...]], costs: np.ndarray, budget: float
) -> list[int]:
    """The greatest score per cost of what still fits; a negative score times the cost."""
    taken: list[tuple[int, ...]] = []
    while True:
        spent = sum(costs[j] for group in taken for j in group)
        price = {
            group: sum(costs[j] for j in group)
            for group in groups
            if group not in taken
        }
        left = [group for group, cost in price.items() if spent + cost <= budget]
        if not left:
            return [j for group in taken for j in group]
        worth = {
            group: score / price[group] if score > 0 else score * price[group]
            for group in left
            for score in (scores[list(group)].max(),)
        }
        taken.append(max(left, key=worth.__getitem__))


@pytest.mark.parametrize("kind", FILTERS)
@pytest.mark.parametrize("groups", [(), ((0, 5), (2, 4))])
@pytest.mark.parametrize("budget", [None, 1.0, 3.0])
def test_costs_order_by_score_per_cost_within_the_budget(
    kind: type[Any], groups: tuple[tuple[int, ...], ...], budget: float | None
) -> None:
    X, y, qid = ranking_problem()
    scores = kind().fit(X, y, qid=qid).scores_
    whole = sorted(
        [*groups, *((j,) for j in range(6) if not any(j in group for group in groups))]
    )
    for seed in range(5):
        costs = 2.0 ** np.random.default_rng(seed).integers(-4, 0, 6)
        expected = slow_order(scores, whole, costs, budget or np.inf)
        found = kind(costs=costs, budget=budget, groups=groups)
        steps = list(found.steps(X, y, qid=qid))
        assert list(steps[-1].selected) == expected
        assert steps[-1].criterion == pytest.approx(
            leave_query_out_error(X, y, qid, expected, 1.0)
        )
        first = list(
            kind(2, costs=costs, budget=budget, groups=groups).steps(X, y, qid=qid)
        )
        assert [step.selected for step in first] == [
            step.selected for step in steps[:2]
        ]


def test_features_without_a_score_come_last_whatever_they_cost() -> None:
    X, y, qid = ranking_problem()
    X[:, 2] = 1.0
    found = SingleFeatureRanking(costs=[1, 1, 1e-9, 1, 1, 1]).fit(X, y, qid=qid)
    assert found.selection_order_[-1] == 2


@pytest.mark.parametrize(
    "given",
    [
        {"budget": 1.0},
        {"costs": [1.0]},
        {"costs": [0.0] * 6},
        {"costs": [2.0] * 6, "budget": 1.0},
    ],
)
def test_costs_that_are_none_are_refused(given: dict[str, Any]) -> None:
    X, y, qid = ranking_problem()
    with pytest.raises(ParameterError) as caught:
        MutualInformation(**given).fit(X, y, qid=qid)
    assert caught.value.name in given
