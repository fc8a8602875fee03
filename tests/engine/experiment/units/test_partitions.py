"""A measure is the mean of the values of the queries, however data are cut: by folds, shards, workers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from abilities import estimator_class
from experiment.small import assert_same
from hypothesis import given
from hypothesis import strategies as st
from slow_measures import slow, slow_beyond_letor

import rankstudio
from rankstudio.engine.analysis.measurements.measurement import Measurement
from rankstudio.engine.analysis.measurements.remeasurement import Remeasurement
from rankstudio.engine.analysis.tried_models.tried_models import values_by_query
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.splitting.splits import select_queries
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.left_out import measured_left_out
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.selection.single_feature import directed_measures
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.metrics.evaluator import Evaluator, average
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import finish

AdaRank = estimator_class("adarank")
CoordinateAscent = estimator_class("coordinate-ascent")

LETOR = ("MAP", "MAP@2", "P@3", "NDCG", "NDCG@3", "MeanNDCG", "Disagreement")
BEYOND = ("RR", "RR@2", "ERR", "ERR@3", "Recall@2", "AUC")
EVERY = LETOR + BEYOND
SOME = ("letor4", "trec_eval", "sklearn")
"""Conventions with each order of ties; measures by all of them are tested with the evaluator."""
GREATEST = 4.0


def graded(seed: int = 1, queries: int = 9) -> RankingDataset:
    """Rounded features, of which one says much; grade 4 in one query alone, and one without document ids."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 6, queries)
    ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    m = int(ptr[-1])
    X = np.round(rng.random((m, 4)) * 3)
    y = np.clip(np.round(0.5 * X[:, 0] + 0.4 * rng.normal(size=m)), 0, 2)
    y[ptr[4]] = GREATEST
    ids = rng.permutation(m)
    comments = [f"docid = GX{i:03d}" for i in ids]
    comments[ptr[2]] = "nothing is known"
    query = np.repeat(np.arange(queries), sizes)
    return RankingDataset.from_arrays(X, y, query, comments=comments)


def folded() -> FoldedDataset:
    return FoldedDataset("Graded", None, (Fold(1, graded(1), graded(2), graded(3)),))


def expected(
    part: RankingDataset, scores: Sequence[float], key: str, name: str
) -> list[float]:
    """Return a measure in each query, by plain code."""
    found = []
    for first, last in zip(part.query_ptr[:-1], part.query_ptr[1:], strict=True):
        ids = list(part.document_ids[first:last])
        if not all(ids):
            ids = [f"{row:05d}" for row in range(first, last)]
        given = part.y[first:last].tolist(), list(scores[first:last]), ids
        beyond = name in BEYOND
        found.append(
            slow_beyond_letor(key, name, *given, GREATEST)
            if beyond
            else slow(key, name, *given)
        )
    return found


def one_feature(protocol: str, **changes: object) -> Plan:
    """Return a plan whose models have many equal scores."""
    parameters = {"n_features_to_select": 1, "measure": "ERR@3"}
    return Plan(
        "graded",
        "single-feature",
        parameters,
        select_by="criterion",
        protocol=protocol,
        **changes,
    ).changed(measures=EVERY)  # type: ignore[arg-type]


def results(plan: Plan, data: FoldedDataset, **given: object) -> RunResult:
    return run_plan(plan, data, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", SOME)
@given(cuts=st.sets(st.integers(1, 8)), seed=st.integers(0, 50))
def test_any_cuts_give_the_values_of_the_whole(
    key: str, cuts: set[int], seed: int
) -> None:
    whole = graded(seed)
    scores = np.random.default_rng(seed).integers(0, 3, whole.n_documents).astype(float)
    evaluator = Evaluator(whole.y, whole.query_ptr, key, EVERY, grading=whole.grading)
    values = evaluator.per_query(scores)
    learned = QueryData(whole.X, whole.y, whole.query_ptr, part_of=whole.grading)
    ends = [0, *sorted(cuts), 9]
    for name in EVERY:
        np.testing.assert_allclose(
            values[name], expected(whole, scores.tolist(), key, name), atol=1e-12
        )
    for first, end in pairwise(ends):
        part, piece = (
            select_queries(whole, np.arange(first, end)),
            learned.queries(first, end),
        )
        own = scores[whole.query_ptr[first] : whole.query_ptr[end]]
        of_part = Evaluator(
            part.y, part.query_ptr, key, EVERY, grading=part.grading
        ).per_query(own)
        of_piece = Evaluator(
            piece.y, piece.ptr, key, EVERY, grading=piece.grading
        ).per_query(own)
        for name in EVERY:
            np.testing.assert_array_equal(
                of_part[name], values[name][first:end], err_msg=name
            )
            np.testing.assert_array_equal(
                of_piece[name], values[name][first:end], err_msg=name
            )


@pytest.mark.parametrize(
    ("key", "protocol"),
    [
        ("trec_eval", "leave-query-out"),
        ("letor4", "3-fold"),
        ("ranklib", "split 60/20/20"),
    ],
)
def test_any_protocol_measures_each_query_as_it_is(key: str, protocol: str) -> None:
    data = parse_protocol(protocol).divide(
        FoldedDataset.of(graded(seed=5, queries=15)), 0
    )
    plan = one_feature(protocol, convention=key)
    for one, fold in zip(results(plan, data).folds, data.folds, strict=True):
        assert fold.test is not None
        scores = ScoredPart(fold.test).scores(one.chosen.step).tolist()
        for name in EVERY:
            values = expected(fold.test, scores, key, name)
            np.testing.assert_allclose(
                one.per_query[name], values, atol=1e-12, err_msg=name
            )
            mean = float(average(np.array(values)))
            np.testing.assert_allclose(one.test[name], mean, atol=1e-12, err_msg=name)


def sharded(data: TrainingData) -> TrainingData:
    return TrainingData(data.X, data.y, data.ptr, documents=8, part_of=data.part_of)


@pytest.mark.parametrize("key", SOME)
def test_single_features_are_measured_alike_in_blocks(key: str) -> None:
    train, part = group_training(folded().folds[0]), graded(1)
    assert not train.several
    for name in EVERY:
        values = finish(directed_measures(train, name, key))
        for one, other in zip(
            values, finish(directed_measures(sharded(train), name, key)), strict=True
        ):
            assert one is not None and other is not None
            np.testing.assert_allclose(one, other, atol=1e-12, err_msg=name)
        for column, found in enumerate(values[0]):
            own = expected(part, part.X[:, column].tolist(), key, name)
            np.testing.assert_allclose(
                found, average(np.array(own)), atol=1e-12, err_msg=name
            )


@pytest.mark.parametrize("key", ["letor4", "trec_eval"])
def test_left_out_queries_are_measured_alike_in_blocks(key: str) -> None:
    train = group_training(folded().folds[0])
    assert not train.several
    scores = RankRLS().left_out(train, (0, 1)).tolist()
    blocks = sharded(train)
    scorer = finish(RankRLS().left_out_scorer(blocks, (0, 1)))
    found = finish(measured_left_out(blocks, scorer, key, EVERY))
    for name, values in zip(EVERY, found, strict=True):
        np.testing.assert_allclose(
            values, expected(graded(1), scores, key, name), atol=1e-12, err_msg=name
        )


@pytest.mark.parametrize("key", ["letor4", "trec_eval"])
@pytest.mark.parametrize(
    "method",
    [AdaRank("ERR", n_rounds=3), CoordinateAscent("ERR", n_restarts=1, max_iter=2)],
    ids=["adarank", "coordinate ascent"],
)
def test_methods_that_raise_a_measure_raise_that_of_the_whole(
    method: LinearRanker, key: str
) -> None:
    train = group_training(folded().folds[0])
    assert not train.several
    method = type(method)(**{**method.get_params(), "convention": key})
    part = graded(1)
    for data in (train, sharded(train)):
        for step in (told for told in method.work(data) if isinstance(told, Step)):
            own = expected(part, ScoredPart(part).scores(step).tolist(), key, "ERR")
            assert -step.criterion == pytest.approx(float(np.mean(own)), abs=1e-12)


@pytest.mark.thorough
def test_workers_measure_alike() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        for protocol, chosen in (("given", "MAP"), ("leave-query-out", "criterion")):
            data = folded() if protocol == "given" else FoldedDataset.of(graded())
            data = parse_protocol(protocol).divide(data, 0)
            plan = one_feature(protocol, convention="trec_eval").changed(
                select_by=chosen
            )
            assert_same(results(plan, data), results(plan, data, executor=executor))


@pytest.mark.parametrize("key", SOME)
def test_measured_anew_is_measured_alike(key: str) -> None:
    data = folded()
    grid = {"n_features_to_select": 1, "regularization": (1.0, 4.0)}
    plan = Plan(
        "graded", "mutual-information", grid, select_by="MAP", measures=("MAP",)
    )
    first, measuring = results(plan, data), Remeasurement()
    for name in EVERY:
        there = results(
            plan.changed(convention=key, measures=("MAP", name), select_by=name), data
        )
        anew = measuring.run(first, data, Measurement(key, name, chooses=True))
        assert anew.folds[0].test[name] == there.folds[0].test[name]
        np.testing.assert_array_equal(
            anew.folds[0].per_query[name], there.folds[0].per_query[name]
        )
        values = anew.folds[0].paths[0].validation[name]
        np.testing.assert_array_equal(values, there.folds[0].paths[0].validation[name])
        (own,) = values_by_query(there, data, [there.folds[0].paths[0].steps], name)
        np.testing.assert_allclose(average(own), values, atol=1e-12)


def test_every_part_knows_the_greatest_grade_of_all() -> None:
    low = RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], [1, 1])
    high = RankingDataset.from_arrays([[1.0], [2.0]], [0, 3], [2, 2])
    data = FoldedDataset(
        "Small", None, (Fold(1, low, None, high), Fold(2, high, None, low))
    )
    assert data.greatest_grade == 3
    assert {
        part.greatest_grade for fold in data.folds for part in fold.parts.values()
    } == {3.0}
    assert low.greatest_grade == 1


def test_every_evaluator_is_told_of_what_dataset_it_measures() -> None:
    root = Path(rankstudio.__file__).parent
    calls = [
        (path.name, call)
        for path in root.rglob("*.py")
        for call in re.findall(
            r"(?<!class )(?<!>>> evaluator = )\bEvaluator\((?:[^()]|\([^()]*\))*\)",
            path.read_text(encoding="utf-8"),
        )
    ]
    assert len(calls) > 12
    assert [where for where, call in calls if "grading=" not in call] == []
