"""Methods by shards on processes and on a cluster that loses states or a worker on the way: the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from abilities import estimator_class
from experiment.local_cluster import LocalCluster
from sharded_problems import assert_same_bits, cut, forget_states, problem, steps

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arrays import Floats
from rankstudio.engine.experiment.execution.executors import on_cluster, on_processes
from rankstudio.engine.experiment.execution.shard_executors import shard_executor
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.left_out import measured_left_out
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.rankers.rankrls_shards import left_out_predictions
from rankstudio.engine.methods.rankers.ranksvm import RankSVM
from rankstudio.engine.methods.selection.expected_divergence import ExpectedDivergence
from rankstudio.engine.methods.selection.fsmrank import FSMRank
from rankstudio.engine.methods.selection.gas import GAS
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS
from rankstudio.engine.methods.selection.single_feature import SingleFeatureRanking
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import finish

RankBoost = estimator_class("rankboost")

DATA = problem(60)
METHODS: list[LinearRanker] = [
    GreedyRankRLS(4, 0.5),
    GreedyRankRLS(4, 0.5, algorithm="rows"),
    RankRLS(0.5),
    FSMRank(max_iter=5),
    RankSVM(),
    RankBoost(4),
    ExpectedDivergence(n_features_to_select=3),
    GAS(n_features_to_select=3),
    SingleFeatureRanking(n_features_to_select=3),
]
NAMES = [f"{type(m).__name__} {getattr(m, 'algorithm', '')}".strip() for m in METHODS]


def on(executor: Executor) -> TrainingData:
    return replace(cut(DATA, 40), executor=shard_executor(executor))


@cache
def expected(number: int) -> list[Step]:
    """Return the steps of a method in this process: asked for first, so that kernels are compiled once."""
    return steps(METHODS[number], cut(DATA, 40))


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with on_processes(2) as started:
        steps(METHODS[0], on(started))  # all its threads are there from now on
        yield started


def test_two_processes_give_the_same_bits(processes: Executor) -> None:
    for number, method in enumerate(METHODS):
        alone = expected(number)
        assert_same_bits(steps(method, on(processes)), alone)


def left_out(
    data: TrainingData, between: Callable[[], object] = lambda: None
) -> list[Floats]:
    """Return what models of one, two … features measure on left-out queries; something happens between."""
    found = []
    for k in range(1, 5):
        scorer = finish(GreedyRankRLS(4, 0.5).left_out_scorer(data, range(k)))
        found.append(
            finish(measured_left_out(data, scorer, "letor4", ("MAP", "NDCG@5")))
        )
        if k == 2:
            between()
    return [*found, left_out_predictions(data, (0.5, 2.0), PairCost())]


def test_queries_are_left_out_on_processes_and_on_a_cluster_with_the_same_bits(
    processes: Executor, cluster: LocalCluster
) -> None:
    alone = left_out(cut(DATA, 40))
    assert all(map(np.array_equal, left_out(on(processes)), alone))
    cluster.keep(2)

    def kill() -> None:
        worker = cluster.workers.pop(0)
        worker.kill()
        worker.wait()

    with on_cluster(cluster.address) as workers:
        assert all(map(np.array_equal, left_out(on(workers), kill), alone))


def steps_with_a_loss(
    number: int, data: TrainingData, lose: Callable[[], None]
) -> list[Step]:
    """Return the steps of a method, on the way of which workers lose what they keep.

    Of a path after its second step; filters and RankRLS have all sums before the first.
    """
    method = METHODS[number]
    within = isinstance(method, GreedyRankRLS | FSMRank | RankSVM | RankBoost)
    found: list[Step] = []
    lost = False
    for signs, told in enumerate(method.work(data), start=1):
        found += [told] if isinstance(told, Step) else []
        if not lost and (len(found) == 2 if within else signs == 2):
            lost = True
            lose()
    assert lost
    return found


@pytest.mark.parametrize("number", range(len(METHODS)), ids=NAMES)
def test_states_that_a_cluster_loses_on_the_way_change_no_bit(
    cluster: LocalCluster, number: int
) -> None:
    alone, lost = expected(number), list[int]()
    cluster.keep(2)
    with on_cluster(cluster.address) as workers:

        def forget() -> None:
            lost.extend(workers._client.run(forget_states).values())

        assert_same_bits(steps_with_a_loss(number, on(workers), forget), alone)
    assert sum(lost) > 0


@pytest.mark.parametrize("number", [0, 7], ids=[NAMES[0], NAMES[7]])
def test_a_worker_that_is_killed_on_the_way_changes_no_bit(
    cluster: LocalCluster, number: int
) -> None:
    alone = expected(number)
    cluster.keep(2)
    first = cluster.workers[0]

    def kill() -> None:
        cluster.workers.remove(first)
        first.kill()
        first.wait()

    with on_cluster(cluster.address) as workers:
        assert_same_bits(steps_with_a_loss(number, on(workers), kill), alone)
