"""Selecting with one method and ranking with another: retraining by hand on the selected columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from abilities import estimator_class
from ordering import ranking_problem

from rankstudio.engine import RankRLS, RankSVM
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.catalog.method import CandidateScore, ScoreSource
from rankstudio.engine.methods.two_stage import (
    Columns,
    Narrowed,
    comparisons,
    selections,
    two_stage_steps,
)
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress

RankBoost = estimator_class("rankboost")

# In no order of the columns; the second set has two features more, as where subsets are selected.
NESTED: tuple[Columns, ...] = ((4,), (4, 0, 3), (4, 0, 3, 1))


class PlainRankRLS(RankRLS):
    """RankRLS that knows no faster way along an order."""

    def nested(self, data: QueryData, order: tuple[int, ...]) -> None:  # type: ignore[override]
        return None


@pytest.fixture
def data() -> QueryData:
    return group(*ranking_problem(3))


def steps(
    ranker: LinearRanker, data: QueryData, sets: tuple[Columns, ...]
) -> list[Step]:
    return [
        step for step in two_stage_steps(ranker, data, sets) if isinstance(step, Step)
    ]


def by_hand(ranker: LinearRanker, data: QueryData, columns: Columns) -> LinearRanker:
    qid = np.repeat(np.arange(data.ptr.size - 1), np.diff(data.ptr))
    return ranker.fit(data.X[:, list(columns)], data.y, qid=qid)


def test_every_set_is_retrained_on_its_columns_alone(data: QueryData) -> None:
    taken = steps(RankSVM(C=0.1), data, NESTED)
    assert [(step.number, step.selected) for step in taken] == list(
        enumerate(NESTED, start=1)
    )
    for step, columns in zip(taken, NESTED, strict=True):
        coef = np.zeros(6)
        ascending = tuple(sorted(columns))
        coef[list(ascending)] = by_hand(RankSVM(C=0.1), data, ascending).coef_
        np.testing.assert_array_equal(step.coef, coef)
        assert step.linear
        last = list(RankSVM(C=0.1).learn(data.narrowed(ascending)))[-1]
        assert step.criterion == last.criterion


def test_the_fast_way_along_an_order_gives_the_steps_of_the_plain_one(
    data: QueryData,
) -> None:
    order = (4, 0, 3, 1, 5, 2)
    every = tuple(order[:k] for k in range(1, 7))
    for sets in (every, NESTED):
        fast, plain = (
            steps(RankRLS(0.5), data, sets),
            steps(PlainRankRLS(0.5), data, sets),
        )
        assert (
            [step.selected for step in fast]
            == [step.selected for step in plain]
            == list(sets)
        )
        for number, (one, other) in enumerate(zip(fast, plain, strict=True), start=1):
            assert one.number == other.number == number
            np.testing.assert_allclose(one.coef, other.coef, rtol=1e-9, atol=1e-9)
            assert one.criterion == pytest.approx(other.criterion, rel=1e-9)


def test_sets_that_do_not_grow_from_each_other_are_retrained_one_by_one(
    data: QueryData,
) -> None:
    sets: tuple[Columns, ...] = ((1, 2), (0, 4), (5, 4, 3))
    for step, columns in zip(steps(RankRLS(2.0), data, sets), sets, strict=True):
        coef = np.zeros(6)
        coef[list(columns)] = by_hand(RankRLS(2.0), data, columns).coef_
        np.testing.assert_allclose(step.coef, coef, rtol=1e-9, atol=1e-12)


@pytest.mark.ability("baselines")
def test_a_ranker_that_is_not_linear_scores_the_selected_columns_alone(
    data: QueryData,
) -> None:
    columns = np.ascontiguousarray(np.random.default_rng(8).random((6, 40)))
    for step, chosen in zip(
        steps(RankBoost(n_rounds=7), data, NESTED), NESTED, strict=True
    ):
        assert isinstance(step, Narrowed)
        assert not step.linear
        alone = by_hand(RankBoost(n_rounds=7), data, chosen)
        np.testing.assert_array_equal(
            step.scores(columns), alone.predict(columns[list(chosen)].T)
        )
        # What the step before gave is another model's: nothing goes on from there.
        np.testing.assert_array_equal(
            step.scores(columns, np.full(40, 1e6)), step.scores(columns)
        )
        assert np.flatnonzero(step.coef).tolist() == sorted(
            np.array(chosen)[alone.coef_ != 0]
        )


@pytest.mark.parametrize(
    "ranker", [RankRLS(0.5), RankSVM(C=0.1), RankBoost(3)], ids=str
)
def test_without_a_feature_all_documents_score_alike(
    data: QueryData, ranker: LinearRanker
) -> None:
    taken = steps(ranker, data, ((),))
    assert [(step.number, step.selected) for step in taken] == [(1, ())]
    assert np.isnan(taken[0].criterion)
    assert not taken[0].scores(np.ascontiguousarray(data.X.T)).any()
    assert [step.selected for step in steps(ranker, data, ((), (2,)))] == [(), (2,)]


def test_there_are_signs_of_life_before_every_step(data: QueryData) -> None:
    told = list(two_stage_steps(RankSVM(C=0.1, max_iter=3, tol=1e-12), data, NESTED))
    assert isinstance(told[0], WorkProgress)
    assert isinstance(told[-1], Step)
    shares = [one.share for one in told if isinstance(one, WorkProgress)]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] < 1
    assert told[0].what == "ranking with 1 feature"


def test_equal_sets_are_learned_once_whoever_selects_them(data: QueryData) -> None:
    counted: list[int] = []

    class Counting(RankSVM):
        def work(self, data: Any) -> Iterator[Step | WorkProgress]:
            counted.append(data.X.shape[1])
            yield from super().work(data)

    first = steps(Counting(C=0.1), data, ((4,), (4, 0, 3)))
    again = steps(Counting(C=0.1), data, ((0, 3), (0, 3, 4)))
    assert counted == [1, 3, 2]
    np.testing.assert_array_equal(first[1].coef, again[1].coef)
    assert again[1].selected == (0, 3, 4)
    steps(Counting(C=0.2), data, ((4,),))
    assert counted == [1, 3, 2, 1]


def test_the_selections_of_growing_steps_are_theirs() -> None:
    growing = [
        Step(k, (3, 1, 2, 0)[: 2 * k], np.zeros(4), 0.0, np.empty(0)) for k in (1, 2)
    ]
    assert selections(growing, growing=True) == ((3, 1), (3, 1, 2, 0))


def test_the_selections_of_iterations_follow_the_order_of_the_last() -> None:
    last = Step(2, (3, 1, 2), np.zeros(4), 0.0, np.empty(0))
    iterations = [Step(1, (0, 1), np.zeros(4), 0.0, np.empty(0)), last]
    assert selections(iterations, growing=False) == ((3,), (3, 1), (3, 1, 2))
    nothing = [Step(1, (), np.zeros(4), 0.0, np.empty(0))]
    assert selections(nothing, growing=False) == ((),)


def test_the_scores_of_the_selection_come_along() -> None:
    drop = CandidateScore("drop", "", ScoreSource.CRITERION)
    grown = [
        Step(1, (1,), np.zeros(3), 4.0, np.array([8.0, 4.0, 9.0]), before=10.0),
        Step(2, (1, 0), np.zeros(3), 3.0, np.array([3.0, np.nan, 3.5]), before=4.0),
    ]
    compared = comparisons(grown, True, drop, 2.0)
    np.testing.assert_array_equal(compared, [[1.0, 3.0, 0.5], [0.5, np.nan, 0.25]])
    weight = CandidateScore("weight", "", ScoreSource.WEIGHT)
    last = Step(9, (2, 0), np.array([-1.0, 0.0, 3.0]), 1.0, np.empty(0))
    compared = comparisons([last], False, weight, 1.0)
    np.testing.assert_array_equal(compared, [[1.0, 0.0, 3.0], [1.0, 0.0, np.nan]])
    for steps, growing in (
        (grown, True),
        ([last], False),
        ([Step(1, (), np.zeros(3), 1.0, np.empty(0))], False),
    ):
        assert len(comparisons(steps, growing, weight, 1.0)) == len(
            selections(steps, growing)
        )
        assert all(
            scores.size == 0 for scores in comparisons(steps, growing, None, 1.0)
        )
