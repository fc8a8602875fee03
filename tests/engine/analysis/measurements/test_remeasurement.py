"""Runs measured anew against runs that were measured so from the beginning."""

from __future__ import annotations

import gc
from itertools import cycle, repeat

import numpy as np
import pytest
from experiment.small import dataset, ended

from rankstudio.engine.analysis.measurements import remeasurement
from rankstudio.engine.analysis.measurements.measurement import (
    Measurement,
    without_test,
)
from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.metrics.conventions import CONVENTIONS
from rankstudio.engine.metrics.evaluation import evaluate

GREEDY = Plan(
    "small",
    parameters={"regularization": (0.25, 4.0)},
    measures=("MAP",),
    select_by="MAP",
)
OTHERS = {
    "all features at once": Plan(
        "small", "rankrls", {"regularization": (0.5, 8.0)}, measures=("MAP",)
    ),
    "within one standard error": GREEDY.changed(rule="one-se"),
    "not significantly worse": GREEDY.changed(rule="smallest"),
    "trees": Plan(
        "small", "lambdamart", {"n_rounds": 3, "min_data_in_leaf": 5}, measures=("MAP",)
    ),
}


@pytest.fixture(scope="module")
def data() -> FoldedDataset:
    return dataset(2)


def finished(plan: Plan, data: FoldedDataset) -> RunResult:
    return ended(run(plan, data))


def same(one: RunResult, other: RunResult) -> None:
    assert one.plan == other.plan
    for mine, its in zip(one.folds, other.folds, strict=True):
        assert mine.chosen.unit == its.chosen.unit
        assert mine.chosen.step.number == its.chosen.step.number
        assert mine.selected == its.selected
        assert dict(mine.validation) == dict(its.validation)
        assert dict(mine.test) == dict(its.test)
        assert dict(mine.baseline.test) == dict(its.baseline.test)
        for name in its.per_query:
            np.testing.assert_array_equal(mine.per_query[name], its.per_query[name])
        assert its.cross_fitted
        assert set(mine.cross_fitted) == set(its.cross_fitted)
        for name in its.cross_fitted:
            np.testing.assert_array_equal(
                mine.cross_fitted[name], its.cross_fitted[name]
            )
        for path, its_path in zip(mine.paths, its.paths, strict=True):
            assert path.validation
            for name in path.validation:
                np.testing.assert_array_equal(
                    path.validation[name], its_path.validation[name]
                )


def same_tests(one: RunResult, other: RunResult) -> None:
    """Each model is held against the best one of its path by what chooses now."""
    by = one.plan.select_by
    for mine, its in zip(one.folds, other.folds, strict=True):
        for path, its_path in zip(mine.paths, its.paths, strict=True):
            assert list(path.p_values) == [by]
            np.testing.assert_array_equal(path.p_values[by], its_path.p_values[by])


@pytest.mark.parametrize(
    ("first", "key", "name"),
    [
        *zip(repeat(GREEDY), CONVENTIONS, cycle(("NDCG@3", "ERR", "Disagreement"))),
        *((plan, "ranklib", "ERR") for plan in OTHERS.values()),
    ],
)
def test_a_run_measured_anew_is_the_run_measured_so(
    data: FoldedDataset, first: Plan, key: str, name: str
) -> None:
    again = Remeasurement().run(
        finished(first, data), data, Measurement(key, name, chooses=True)
    )
    expected = finished(
        first.changed(measures=("MAP", name), convention=key, select_by=name), data
    )
    # Which single feature is the best one is chosen by the plan's own measure, and stays.
    for mine, its in zip(again.folds, expected.folds, strict=True):
        if mine.baseline.feature != its.baseline.feature:
            object.__setattr__(its, "baseline", mine.baseline)
    same(again, expected)
    same_tests(again, expected)


def test_the_choice_stays_where_nobody_asks_for_another(data: FoldedDataset) -> None:
    first = finished(GREEDY, data)
    again = Remeasurement().run(first, data, Measurement("trec_eval", "RR"))
    assert again.plan == GREEDY.changed(convention="trec_eval", measures=("MAP", "RR"))
    for one, other in zip(first.folds, again.folds, strict=True):
        assert other.chosen is one.chosen
    assert (
        Remeasurement().run(first, data, Measurement("standard", "MAP")).folds
        == first.folds
    )


@pytest.mark.parametrize("key", list(CONVENTIONS))
def test_test_measures_are_those_of_evaluate(data: FoldedDataset, key: str) -> None:
    first = finished(GREEDY, data)
    anew = Remeasurement()
    for name in ("NDCG@10", "P@5", "Recall@2", "AUC"):
        for one in anew.run(first, data, Measurement(key, name)).folds:
            part = next(fold for fold in data.folds if fold.number == one.fold).test
            assert part is not None
            scores = one.chosen.step.scores(np.ascontiguousarray(part.X.T))
            found = evaluate(part.y, scores, part.qid, convention=key, measures=[name])
            assert one.test[name] == pytest.approx(found[name], rel=1e-14, nan_ok=True)


def test_without_inner_folds_models_there_is_no_other_validation(
    data: FoldedDataset,
) -> None:
    plan = GREEDY.changed(protocol="nested 2-fold")
    first = finished(plan, data) if plan.inner else None
    assert first is not None
    again = Remeasurement().run(first, data, Measurement("ranklib", "MAP"))
    for one, other in zip(first.folds, again.folds, strict=True):
        assert one.validation
        assert not other.validation
        assert other.test


def test_rankings_go_with_the_paths(data: FoldedDataset) -> None:
    anew = Remeasurement()
    first = finished(GREEDY, data)
    anew.run(first, data, Measurement("ranklib", "MAP"))
    assert len(anew._paths) == 4
    del first
    gc.collect()
    assert not anew._paths
    assert not anew._models


def test_nothing_of_the_test_part_is_left_while_it_is_sealed(
    data: FoldedDataset,
) -> None:
    first = finished(GREEDY, data)
    for wanted in (
        Measurement("letor4", "MAP", sealed=True),
        Measurement("mslr", "P@3", sealed=True),
    ):
        sealed = Remeasurement().run(first, data, wanted)
        assert sealed.average == sealed.folds[0].validation or len(sealed.folds) > 1
        for one, fold in zip(sealed.folds, data.folds, strict=True):
            assert fold.vali is not None
            assert (one.test, one.baseline.test) == ({}, {})
            assert one.per_query[wanted.measure].size == fold.vali.n_queries
            assert np.nanmean(one.per_query[wanted.measure]) == pytest.approx(
                one.validation[wanted.measure]
            )
    bare = without_test(first.folds[0])
    assert (bare.test, bare.baseline.test, bare.per_query) == ({}, {}, {})
    assert bare.validation == first.folds[0].validation


def test_a_plan_that_is_measured_as_it_stands_stays_the_very_same_though_another_is_equal() -> (
    None
):
    plans = [Plan(data="sample"), Plan(data="sample")]
    wanted = Measurement(plans[0].convention, plans[0].measures[0])
    assert all(wanted.plan(plan) is plan for plan in plans)


@pytest.mark.parametrize(
    "plan", [GREEDY, *OTHERS.values(), GREEDY.changed(protocol="nested 2-fold")]
)
def test_rankings_that_are_prepared_are_all_there_are(
    data: FoldedDataset, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, wanted = finished(plan, data), Measurement("ranklib", "NDCG@3")
    expected = Remeasurement().run(first, data, wanted)
    prepared = Remeasurement()
    for _ in prepared.rank_models(first, data):
        pass
    monkeypatch.setattr(remeasurement, "rank", None)  # nothing is ranked any more
    for _ in prepared.measure_models(first, data, [wanted]):
        pass
    monkeypatch.setattr(Remeasurement, "_measured_fold", None)  # nor measured
    again = prepared.run(first, data, wanted)
    assert again.average == expected.average
    for mine, its in zip(again.folds, expected.folds, strict=True):
        assert dict(mine.baseline.test) == dict(its.baseline.test)
        for path, its_path in zip(mine.paths, its.paths, strict=True):
            for name in its_path.validation:
                np.testing.assert_array_equal(
                    path.validation[name], its_path.validation[name]
                )


@pytest.mark.parametrize("left_out", ["_MAX_SCORES", "_MAX_RANKING_BYTES"])
def test_what_is_too_large_to_be_prepared_is_ranked_when_it_is_asked_for(
    data: FoldedDataset, left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, wanted = finished(GREEDY, data), Measurement("ranklib", "NDCG@3")
    expected = Remeasurement().run(first, data, wanted)
    prepared = Remeasurement()
    with monkeypatch.context() as patch:
        patch.setattr(remeasurement, left_out, 1)
        assert sum(1 for _ in prepared.rank_models(first, data)) > 0
        assert len(prepared._paths) <= 1
    same(prepared.run(first, data, wanted), expected)


@pytest.mark.parametrize("kept", [0, 4000])
def test_without_room_for_rankings_the_measures_are_the_same(
    data: FoldedDataset, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, wanted = finished(GREEDY, data), Measurement("ranklib", "NDCG@3")
    roomy = Remeasurement().run(first, data, wanted)
    monkeypatch.setattr(remeasurement, "_MAX_RANKING_BYTES", kept)
    narrow = Remeasurement()
    for _ in range(2):
        same(narrow.run(first, data, wanted), roomy)
    assert len(narrow._distinct) <= 1
