"""Cascades against the same ranking made document by document."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

import numpy as np
import pytest
from experiment.small import dataset, ended
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine import evaluate
from rankstudio.engine.analysis.tried_models.tried_models import tried_models
from rankstudio.engine.data.dataset import FoldedDataset, RankingDataset
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.errors import DatasetError, ParameterError, PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.support.work import finish
from rankstudio.plugins.search_engines.cascades import (
    cascade_milliseconds,
    cascade_scores,
    find_cascades,
)

DATA = dataset(3)
N = DATA.n_features
COSTS = FeatureCosts(
    tuple((i, 0.01 * (1 + i % 3), float(i % 2)) for i in range(1, N + 1)), 20.0
)


@pytest.fixture(scope="module")
def result() -> RunResult:
    return ended(
        run(
            Plan(
                "small",
                parameters={"regularization": (0.25, 4.0)},
                measures=("MAP", "NDCG@3"),
            ),
            DATA,
        )
    )


def slow_ranking(
    first: list[float], second: list[float], depth: int
) -> list[tuple[int, float]]:
    """Return the stage and score of each document of one query: sort, cut, sort again."""
    order = sorted(range(len(first)), key=lambda i: -first[i])
    head = set(order[:depth])
    return [(0, second[i]) if i in head else (1, first[i]) for i in range(len(first))]


few = st.integers(-2, 2).map(float)


@given(
    st.lists(
        st.lists(st.tuples(few, few), min_size=1, max_size=8), min_size=1, max_size=4
    ),
    st.integers(1, 9),
)
def test_scores_order_documents_as_sorting_twice_does(
    queries: list[list[tuple[float, float]]], depth: int
) -> None:
    ptr = np.cumsum([0, *map(len, queries)])
    first, second = np.array([pair for query in queries for pair in query]).T
    found = cascade_scores(first, second, ptr, depth)
    for begin, end, query in zip(ptr[:-1], ptr[1:], queries, strict=True):
        own = slow_ranking(*map(list, zip(*query, strict=True)), depth)
        for i, one in enumerate(own):
            for j, other in enumerate(own):
                before = one[0] < other[0] or (one[0] == other[0] and one[1] > other[1])
                assert (found[begin + i] > found[begin + j]) == before
                assert (found[begin + i] == found[begin + j]) == (one == other)
        assert end - begin == len(own)


def slow_value(
    part: RankingDataset, first: np.ndarray, second: np.ndarray, depth: int | None
) -> float:
    """Return the measure of a cascade by `evaluate`, of scores that are made query by query."""
    X = np.asarray(part.X)
    one, two = X @ first, X @ second
    scores = np.empty(len(one))
    for begin, end in zip(part.query_ptr[:-1], part.query_ptr[1:], strict=True):
        rows = slice(begin, end)
        if depth is None:
            scores[rows] = one[rows]
            continue
        staged = slow_ranking(one[rows].tolist(), two[rows].tolist(), depth)
        levels = sorted(set(staged), key=lambda told: (told[0], -told[1]))
        scores[rows] = [-levels.index(told) for told in staged]
    return evaluate(part.y, scores, part.qid, measures=["NDCG@3"])["NDCG@3"]


def slow_cost(
    part: RankingDataset,
    first: tuple[int, ...],
    second: tuple[int, ...],
    depth: int | None,
) -> float:
    totals = []
    for d in np.diff(part.query_ptr).tolist():
        total = sum(COSTS.per_query[i] + d * COSTS.per_document[i] for i in first)
        if depth is not None:
            ranked = sum(1 for place in range(d) if place < depth)
            total += sum(
                COSTS.per_query[i] + ranked * COSTS.per_document[i]
                for i in second
                if i not in first
            )
        totals.append(total)
    return mean(totals)


def test_the_front_is_that_of_all_cascades_measured_one_by_one(
    result: RunResult,
) -> None:
    path = max(tried_models(result, "NDCG@3"), key=lambda p: float(p.means.max()))
    depths = (1, 3, 100)
    found = finish(find_cascades(result, DATA, COSTS, "NDCG@3", depths))
    every = []
    folds = {fold.number: fold for fold in DATA.folds}
    n_steps = len(path.positions)
    pairs = [(i, j, k) for j in range(n_steps) for i in range(j) for k in depths] + [
        (i, i, None) for i in range(n_steps)
    ]
    for i, j, depth in pairs:
        values, times = [], []
        for done, own in zip(result.folds, path.paths, strict=True):
            part = folds[done.fold].vali
            one, two = own.steps[i], own.steps[j]
            values.append(slow_value(part, one.coef, two.coef, depth))
            sets = [tuple(c + 1 for c in step.selected) for step in (one, two)]
            times.append(slow_cost(part, *sets, depth))
        every.append((mean(times), mean(values), i + 1, j + 1, depth))
    assert found.n_tried == len(every)
    expected = {
        (round(x, 9), round(y, 9))
        for x, y, *_ in every
        if not any(
            (a <= x + 1e-12 and b > y + 1e-12) or (a < x - 1e-12 and b >= y - 1e-12)
            for a, b, *_ in every
        )
    }
    assert {
        (round(c.milliseconds, 9), round(c.validation, 9)) for c in found.cascades
    } == expected
    for one in found.cascades:
        assert any(
            told[2:] == (one.first, one.second, one.depth)
            and told[:2] == pytest.approx((one.milliseconds, one.validation))
            for told in every
        )
        tests = [
            slow_value(
                folds[done.fold].test,
                own.steps[one.first - 1].coef,
                own.steps[one.second - 1].coef,
                one.depth,
            )
            for done, own in zip(result.folds, path.paths, strict=True)
        ]
        assert one.test == pytest.approx(mean(tests))
    for budget in (found.cascades[0].milliseconds, 1.0, 3.0, 1e9):
        affordable = [told for told in every if told[0] <= budget + 1e-12]
        chosen = found.within(budget)
        assert (chosen is None) == (not affordable)
        if chosen is not None:
            assert chosen.validation == pytest.approx(
                max(told[1] for told in affordable)
            )
    assert found.within(found.cascades[0].milliseconds / 2) is None


def test_a_cascade_that_ranks_all_again_is_the_second_model(result: RunResult) -> None:
    part = DATA.folds[0].vali
    first, second = np.random.default_rng(0).normal(size=(2, part.n_documents))
    whole = cascade_scores(first, second, part.query_ptr, 10**6)
    for name in ("MAP", "NDCG@3"):
        found, expected = (
            evaluate(part.y, s, part.qid, measures=[name])[name]
            for s in (whole, second)
        )
        assert found == expected


def test_costs_of_features_that_are_not_known_are_refused(result: RunResult) -> None:
    with pytest.raises(DatasetError):
        cascade_milliseconds(COSTS, (1,), (1, N + 1), np.array([3]), 2)


def test_runs_without_cascades_are_refused(result: RunResult) -> None:
    ranker = ended(run(Plan("small", "rankrls", {"regularization": 1.0}), DATA))
    bare = FoldedDataset(
        "Small", None, tuple(replace(fold, vali=None) for fold in DATA.folds)
    )
    for one, data, name in (
        (ranker, DATA, "MAP"),
        (result, bare, "MAP"),
        (result, DATA, "P@3"),
    ):
        with pytest.raises(PlanError, match=naming("RankRLS")):
            finish(find_cascades(one, data, COSTS, name))
    for depths in ((), (0,), (1.5,)):
        with pytest.raises(ParameterError):
            finish(find_cascades(result, DATA, COSTS, "MAP", depths))
