"""Sums over shards on processes and on a cluster: the same bits as here, whichever worker dies meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiment.local_cluster import LocalCluster
from experiment.shard_works import DeflationWork, DyingWork, SumWork
from wording import naming

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data import shared_parts
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import WorkerError
from rankstudio.engine.experiment.execution import shard_calls
from rankstudio.engine.experiment.execution.executors import (
    on_cluster,
    on_processes,
    on_threads,
)
from rankstudio.engine.experiment.execution.shard_calls import ShardCall, answer
from rankstudio.engine.experiment.execution.shard_executors import (
    shard_executor,
    write_part,
)
from rankstudio.engine.methods.shards.training_data import IN_PROCESS, TrainingData
from rankstudio.engine.support.work import finish


def problem(executor: Executor | None = None) -> TrainingData:
    rng = np.random.default_rng(0)
    ptr = np.cumsum([0, *rng.integers(1, 8, 120)])
    X, y = rng.standard_normal((ptr[-1], 5)), rng.integers(0, 3, ptr[-1]).astype(float)
    return TrainingData(X, y, ptr, shard_executor(executor), documents=40)


MESSAGES: Sequence[Floats] = [
    np.random.default_rng(i).standard_normal(5) for i in range(6)
]


def sums(
    data: TrainingData,
    work: Any,
    between: Callable[[Any, float], None] = lambda *_: None,
) -> list[Floats]:
    """Return the sums after each message; between two of them something may happen."""
    found: list[Floats] = []
    with data.session(work) as session:
        for message in MESSAGES:
            values, pids = finish(session.sum(message))
            found.append(values)
            between(session, float(pids[0]))
    return found


def same(left: Sequence[Floats], right: Sequence[Floats]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


@pytest.fixture(scope="module")
def expected() -> tuple[list[Floats], list[Floats]]:
    return sums(problem(), DeflationWork()), sums(problem(), SumWork())


def test_threads_and_unknown_executors_leave_it_to_this_process() -> None:
    with on_threads(2) as threads:
        assert shard_executor(threads) is IN_PROCESS
    assert shard_executor(None) is IN_PROCESS


@pytest.fixture
def processes() -> Iterator[Executor]:
    with on_processes(2) as started:
        yield started


def test_processes_give_the_same_bits(
    processes: Executor, expected: tuple[list[Floats], list[Floats]]
) -> None:
    pids: set[float] = set()
    data = problem(processes)
    assert same(sums(data, DeflationWork(), lambda _, pid: pids.add(pid)), expected[0])
    assert same(sums(data, SumWork()), expected[1])
    assert float(os.getpid() * len(data.shards)) not in pids  # nobody worked here


def test_a_process_that_is_killed_between_two_steps_costs_a_replay(
    processes: Executor, expected: tuple[list[Floats], list[Floats]]
) -> None:
    data = problem(processes)
    workers = data.executor._workers  # type: ignore[attr-defined]
    killed: list[int] = []

    def kill(*_: object) -> None:
        if len(killed) < 2:
            killed.append(workers._processes[0].submit(os.getpid).result())
            os.kill(killed[-1], signal.SIGKILL)

    assert same(sums(data, DeflationWork(), kill), expected[0])
    assert len(set(killed)) == 2


def test_a_worker_that_dies_of_the_same_shard_each_time_ends_the_session_in_one_sentence(
    processes: Executor,
) -> None:
    data = problem(processes)
    with (
        data.session(DyingWork()) as session,
        pytest.raises(WorkerError, match=naming("work")),
    ):
        finish(session.sum(None))


def test_a_cluster_gives_the_same_bits_with_a_worker_killed_in_the_middle(
    cluster: LocalCluster, expected: tuple[list[Floats], list[Floats]]
) -> None:
    killed: list[int] = []
    cluster.keep(2)

    def kill(session: Any, _: float) -> None:
        if not killed:
            worker = cluster.workers.pop(0)
            worker.kill()
            killed.append(worker.pid)

    with on_cluster(cluster.address) as workers:
        data = problem(workers)
        assert same(sums(data, SumWork()), expected[1])
        assert same(sums(data, DeflationWork(), kill), expected[0])
    assert killed


def test_a_state_that_heard_another_number_of_messages_begins_anew(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    expected: tuple[list[Floats], list[Floats]],
) -> None:
    data = problem()
    part = write_part(data)
    call = partial(ShardCall, "a session", part, DeflationWork(), 0, room=0.0)
    first = answer(call(heard=0, messages=(MESSAGES[0],)))
    assert first is not None
    assert answer(call(heard=3, messages=(MESSAGES[3],))) is None  # it missed two
    both = answer(call(heard=0, messages=tuple(MESSAGES[:2])))
    again = answer(call(heard=0, messages=tuple(MESSAGES[:2])))  # whose answer was lost
    assert both is not None and again is not None and np.array_equal(both[0], again[0])
    shard_calls.forget("a session")
    assert answer(call(heard=2, messages=(MESSAGES[2],))) is None


def test_data_in_memory_are_written_once_for_all_works_and_again_when_they_are_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, keep, kept = problem(), shared_parts.keep, list[str]()

    def counted(parts: Sequence[RankingDataset]) -> list[str]:
        kept.extend(names := keep(parts))
        return names

    monkeypatch.setattr(shared_parts, "keep", counted)
    first = write_part(data)
    assert write_part(data) == first
    assert len(kept) == 1
    shutil.rmtree(first.path)
    assert write_part(data) == first
    assert first.open().X.shape == data.X.shape
    assert len(kept) == 2
