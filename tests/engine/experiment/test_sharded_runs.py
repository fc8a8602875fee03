"""Runs on data of several shards: the same bits in memory, from the disk, on threads and on processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import pytest
from experiment.small import assert_same, quick
from wording import naming

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.data import shared_parts, store
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.experiment.execution.executors import on_processes, on_threads
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import StepDone, UnitProgress
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.experiment.units.fold_context import (
    group_training,
    make_fold_context,
)
from rankstudio.engine.experiment.units.measured_part import MeasuredPart
from rankstudio.engine.methods.catalog import method
from rankstudio.engine.methods.left_out import with_columns
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.steps import Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.work import WorkProgress

LEFT_OUT = "leave-query-out MAP"
PLAN = Plan(
    "large",
    parameters={"n_features_to_select": 3, "regularization": (0.5, 8.0)},
    measures=("MAP",),
)


def part(seed: int, n_queries: int = 700) -> RankingDataset:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100 * n_queries, 6))
    y = np.clip(
        np.round(X @ [1.0, 0.0, 0.5, 0.0, 0.25, 0.0] + rng.standard_normal(len(X))),
        0,
        2,
    )
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(n_queries), 100))


@pytest.fixture(scope="module")
def dataset() -> FoldedDataset:
    return FoldedDataset("large", None, (Fold(1, part(0), part(1), part(2, 50)),))


@pytest.fixture(scope="module")
def on_disk(dataset: FoldedDataset) -> FoldedDataset:
    """Return the same data, mapped from files."""
    parts = dataset.folds[0].parts
    opened = [
        shared_parts.open_kept(store.scratch_folder() / name)
        for name in shared_parts.keep([*parts.values()])
    ]
    return replace(dataset, folds=(Fold(1, *opened),))


@pytest.fixture(scope="module")
def processes(on_disk: FoldedDataset) -> Iterator[Executor]:
    with on_processes(2) as started:
        # all its threads are there from now on
        run_plan(PLAN, on_disk, executor=started)
        yield started


def test_steps_arrive_one_by_one_with_signs_of_life(dataset: FoldedDataset) -> None:
    told = [type(event) for event in run(PLAN, dataset)]
    assert told.count(StepDone) == 6
    assert UnitProgress in told[told.index(StepDone) :]


def test_memory_disk_threads_and_processes_give_the_same_bits(
    dataset: FoldedDataset, on_disk: FoldedDataset, processes: Executor
) -> None:
    assert in_file(on_disk.folds[0].train.X)
    expected = run_plan(PLAN, dataset)
    assert_same(run_plan(PLAN, on_disk), expected)
    with on_threads(2) as threads:
        assert_same(run_plan(PLAN, on_disk, executor=threads), expected)
    assert_same(run_plan(PLAN, on_disk, executor=processes), expected)


@pytest.mark.parametrize("ranker", ["rankrls", "ranksvm"])
def test_ranking_with_selected_features_has_the_same_bits_within_a_small_budget(
    dataset: FoldedDataset, on_disk: FoldedDataset, processes: Executor, ranker: str
) -> None:
    one = {
        "rankrls": {"regularization": (0.5, 8.0)},
        "ranksvm": {"C": 0.1, "max_iter": 3},
    }[ranker]
    few = {"n_features_to_select": 2}
    plan = Plan(
        "large",
        "single-feature",
        few,
        measures=("MAP",),
        ranker=ranker,
        ranker_parameters=one,
    )
    expected = run_plan(plan, dataset)
    with memory.within(1e6):
        assert_same(run_plan(plan, on_disk), expected)
    assert_same(run_plan(plan, on_disk, executor=processes), expected)


@pytest.mark.parametrize(
    "plan",
    [
        PLAN.changed(select_by=LEFT_OUT),
        Plan(
            "large",
            "rankrls",
            {"regularization": (0.5, 8.0)},
            LEFT_OUT,
            measures=("MAP",),
        ),
        Plan(
            "large",
            "single-feature",
            {"n_features_to_select": 2},
            LEFT_OUT,
            measures=("MAP",),
            ranker="rankrls",
            ranker_parameters={"regularization": (0.5, 8.0)},
        ),
    ],
    ids=["greedy", "RankRLS", "ranked by RankRLS"],
)
def test_queries_are_left_out_by_shards_in_less_memory_than_the_data_with_the_same_bits(
    plan: Plan, dataset: FoldedDataset, on_disk: FoldedDataset, processes: Executor
) -> None:
    expected = run_plan(plan, dataset)
    paths = expected.folds[0].paths
    with memory.within(1e6):
        small = run_plan(plan, on_disk)
    with on_threads(2) as threads:
        spread = run_plan(plan, on_disk, executor=threads)
    elsewhere = run_plan(plan, on_disk, executor=processes)
    for result in (small, spread, elsewhere):
        assert_same(result, expected)
        for path, same in zip(result.folds[0].paths, paths, strict=True):
            assert np.array_equal(path.validation[LEFT_OUT], same.validation[LEFT_OUT])
            assert np.array_equal(
                path.standard_errors[LEFT_OUT], same.standard_errors[LEFT_OUT]
            )


def test_a_run_stops_while_queries_are_left_out(on_disk: FoldedDataset) -> None:
    events = run(PLAN.changed(select_by=LEFT_OUT), on_disk)
    told = (event.working for event in events if isinstance(event, UnitProgress))
    sign = next(sign for sign in told if sign.what == "leaving queries out")
    assert sign.share == 0.5  # the first of two shards
    events.close()
    assert not any(
        thread.name.startswith("rankstudio") for thread in threading.enumerate()
    )


def test_measures_of_left_out_queries_are_those_of_the_scores(
    dataset: FoldedDataset,
) -> None:
    plan, train = PLAN.changed(select_by=LEFT_OUT), dataset.folds[0].train
    path = run_plan(plan, dataset).folds[0].paths[1]
    whole = QueryData(train.X, train.y, train.query_ptr)
    for step, found in zip(path.steps, path.validation[LEFT_OUT], strict=True):
        scores = RankRLS(8.0).left_out(
            with_columns(whole, step.selected), range(len(step.selected))
        )
        expected = Evaluator(
            train.y, train.query_ptr, plan.convention, ["MAP"]
        ).evaluate(scores)["MAP"]
        assert found == pytest.approx(expected, rel=1e-12)


def test_measures_of_left_out_queries_come_between_signs_of_life(
    on_disk: FoldedDataset,
) -> None:
    asked_for = PLAN.changed(select_by=LEFT_OUT)
    path = run_plan(asked_for, on_disk).folds[0].paths[0]
    fold = make_fold_context(PLAN, on_disk.folds[0])
    told = list(fold.measure_left_out(path, ["MAP"], PLAN.convention))
    rows = [row for row in told if not isinstance(row, WorkProgress)]
    assert [row[LEFT_OUT] for row in rows] == path.validation[LEFT_OUT].tolist()
    # of each shard: once for all steps, and for each
    assert len(told) - len(rows) == 2 * (1 + len(rows))


@pytest.mark.parametrize("key", ["rankboost", "lambdamart", "lambdamart-top"])
def test_boosted_models_have_the_same_bits(
    dataset: FoldedDataset, on_disk: FoldedDataset, processes: Executor, key: str
) -> None:
    plan = Plan("large", key, quick(method(key)), measures=("MAP",))
    expected = run_plan(plan, dataset)
    with memory.within(1e6):
        assert_same(run_plan(plan, on_disk), expected)
    # Processes share the shards of RankBoost, and have units of the others.
    assert_same(run_plan(plan, on_disk, executor=processes), expected)


def test_a_method_that_looks_at_all_documents_needs_the_memory_for_them(
    on_disk: FoldedDataset,
) -> None:
    plan = Plan(
        "large", "kernel-rankrls", quick(method("kernel-rankrls")), measures=("MAP",)
    )
    with (
        memory.within(1e6),
        pytest.raises(OutOfMemoryError, match=naming("RankRLS 70,000 6")),
    ):
        run_plan(plan, on_disk)


def test_large_parts_are_several_shards_and_small_ones_are_one(
    dataset: FoldedDataset,
) -> None:
    fold = dataset.folds[0]
    assert group_training(fold).several
    assert fold.test is not None
    assert not group_training(Fold(1, fold.test)).several


def test_a_large_part_is_measured_by_shards_with_the_same_bits(
    on_disk: FoldedDataset,
) -> None:
    data = on_disk.folds[0].vali
    assert data is not None
    rng = np.random.default_rng(3)
    coefs = rng.standard_normal((4, 6)) * (rng.random((4, 6)) < 0.5)
    columns = np.ascontiguousarray(data.X.T)
    evaluator = Evaluator(data.y, data.query_ptr, PLAN.convention, PLAN.evaluated)
    expected = evaluator.evaluate_many(linear_scores(columns, coefs))
    steps = [Step(i + 1, (), coef, 0.0, np.empty(0)) for i, coef in enumerate(coefs)]
    measured = MeasuredPart(data, PLAN)
    found, queries = measured.measure_all(steps, "MAP")
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert np.array_equal(found[name], values)
        assert measured.measure(measured.scores(steps[1]))[name] == values[1]
    expected_queries = evaluator.per_query(steps[2].scores(columns))["MAP"]
    assert np.array_equal(measured.per_query(steps[2])["MAP"], expected_queries)
    assert queries is not None
    assert np.array_equal(queries[2], expected_queries)


class Doubled(Step):
    """A model that is not linear, and goes on from what the one before gave."""

    linear = False

    def scores(
        self, columns: np.ndarray, previous_scores: np.ndarray | None = None
    ) -> np.ndarray:
        return columns[0] + (0.0 if previous_scores is None else 2.0 * previous_scores)


def test_models_that_are_not_linear_go_on_from_the_one_before_in_each_shard(
    on_disk: FoldedDataset,
) -> None:
    data = on_disk.folds[0].vali
    assert data is not None
    step, measured = (
        Doubled(1, (), np.zeros(6), 0.0, np.empty(0)),
        MeasuredPart(data, PLAN),
    )
    first = measured.scores(step)
    assert np.array_equal(first, data.X[:, 0])
    assert np.array_equal(measured.scores(step, first), 3.0 * data.X[:, 0])
    two = measured.measure_all([step, step]).means
    assert two["MAP"][0] == measured.measure(first)["MAP"]
