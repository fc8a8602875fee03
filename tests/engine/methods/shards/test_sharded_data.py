"""Sums over shards: the same bits in memory, from the disk and on threads, and those of the whole."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.shared import SharedResults
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.shards.scratch import Room, Scratch
from rankstudio.engine.methods.shards.training_data import InProcess, TrainingData
from rankstudio.engine.methods.shards.work import TreeSum
from rankstudio.engine.support import threads
from rankstudio.engine.support.file_pages import in_file
from rankstudio.engine.support.work import WorkProgress, finish


class Powers:
    """X^'X^ of a shard times how much it has heard so far: a state that messages change."""

    def __init__(self, data: QueryData, scratch: Scratch) -> None:
        self.centred = scratch.empty(*data.X.shape)
        self.centred[:] = data.centred[0]
        self.heard = 0.0

    def step(self, data: QueryData, message: float) -> tuple[Floats, ...]:
        assert np.array_equal(self.centred, data.centred[0])
        self.heard += message
        return self.heard * (self.centred.T @ self.centred), np.array(
            [float(data.X.shape[0])]
        )


@dataclass(frozen=True)
class PowersWork:
    replayed: ClassVar[bool] = True

    def begin(self, data: QueryData, scratch: Scratch) -> Powers:
        return Powers(data, scratch)


def problem(
    n_queries: int = 30, n: int = 4, seed: int = 0
) -> tuple[Floats, Floats, Ints]:
    rng = np.random.default_rng(seed)
    ptr = np.cumsum([0, *rng.integers(1, 8, n_queries)])
    return (
        rng.standard_normal((ptr[-1], n)),
        rng.integers(0, 3, ptr[-1]).astype(float),
        ptr,
    )


def heard(
    data: TrainingData, messages: tuple[float, ...] = (1.0, 2.5)
) -> list[tuple[Floats, ...]]:
    with data.session(PowersWork()) as session:
        return [finish(session.sum(message)) for message in messages]


def same(left: Any, right: Any) -> bool:
    return all(
        np.array_equal(a, b)
        for one, two in zip(left, right, strict=True)
        for a, b in zip(one, two, strict=True)
    )


@given(st.integers(1, 60), st.integers(0, 10))
def test_sums_are_those_of_the_whole(documents: int, seed: int) -> None:
    X, y, ptr = problem(seed=seed)
    whole = QueryData(X, y, ptr).centred[0]
    (first, count), (second, _) = heard(TrainingData(X, y, ptr, documents=documents))
    # A sum of m products of numbers below 6 has an error of at most m eps times theirs, in any order.
    bound = X.shape[0] * np.finfo(float).eps * (np.abs(whole).T @ np.abs(whole)).max()
    assert count == X.shape[0]
    assert np.abs(first - whole.T @ whole).max() <= 2 * bound
    assert np.abs(second - 3.5 * (whole.T @ whole)).max() <= 8 * bound


def test_memory_disk_and_threads_give_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Also messages whose answers take less time than threads need to begin.
    monkeypatch.setattr(threads, "worthwhile", lambda *_: True)
    X, y, ptr = problem(200)
    expected = heard(TrainingData(X, y, ptr, documents=40))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for rows in (X, mapped):
        for room in (0.0, 4000.0, 1e9):
            for count in (1, 2, 5):
                with threads.at_most(count):
                    data = TrainingData(
                        rows, y, ptr, InProcess(lambda room=room: room), documents=40
                    )
                    assert same(heard(data), expected)


def test_threads_answer_only_what_took_long_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    submitted: list[int] = []

    class Executor(ThreadPoolExecutor):
        def submit(self, *args: Any, **kwargs: Any) -> Any:
            submitted.append(1)
            return super().submit(*args, **kwargs)

    monkeypatch.setattr(threads, "ThreadPoolExecutor", Executor)
    X, y, ptr = problem(200)
    data = TrainingData(X, y, ptr, documents=40)
    counts = []
    for is_worthwhile in (False, False, True):
        # the first answers are always on threads, as nothing is known of them
        monkeypatch.setattr(
            threads, "worthwhile", lambda n, yes=is_worthwhile: yes or n == np.inf
        )
        submitted.clear()
        with threads.at_most(2):
            heard(data, (1.0,))
        counts.append(len(submitted))
    assert counts == [len(data.shards), 0, len(data.shards)]


def test_data_of_one_source_share_the_results_of_their_shards() -> None:
    X, y, ptr = problem(200)
    cache = SharedResults()
    first, second, larger = (
        TrainingData(X, y, ptr, documents=documents, sharing=cache)
        for documents in (40, 40, 80)
    )
    assert first.shard(1).shared is second.shard(1).shared
    assert first.shard(1).shared is not first.shard(0).shared
    assert first.shard(1).shared is not larger.shard(1).shared
    assert (
        first.shard(0).shared
        is not TrainingData(X, y, ptr, documents=40).shard(0).shared
    )


def test_one_can_stop_after_any_shard() -> None:
    data = TrainingData(*problem(200), documents=40)
    with data.session(PowersWork()) as session:
        asking = session.sum(1.0, "adding up")
        told = next(asking)
        assert told == WorkProgress("adding up", 1 / len(data.shards))
        asking.close()


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8])
def test_the_tree_adds_neighbours_first(count: int) -> None:
    def tree(values: list[float]) -> float:
        if len(values) == 1:
            return values[0]
        half = 1 << (len(values) - 1).bit_length() - 1
        return tree(values[:half]) + tree(values[half:])

    values = [0.1 * 3**i for i in range(count)]
    total = TreeSum()
    for value in values:
        total.add((np.array([value]),))
    assert total.result()[0][0] == tree(values)


def test_states_that_do_not_fit_are_mapped_and_make_room_when_they_are_closed() -> None:
    room = Room(lambda: 100.0)
    scratch = Scratch(room)
    fits, large = scratch.empty(10), scratch.empty(3, 5)
    large[:] = 2.0
    scratch.release()
    assert (in_file(fits), in_file(large), large.sum()) == (False, True, 30.0)
    scratch.close()
    assert not in_file(Scratch(room).empty(12))


def test_what_a_shard_raises_is_raised_by_the_sum() -> None:
    @dataclass(frozen=True)
    class Broken:
        replayed: ClassVar[bool] = False
        begin: Callable[..., Any] = lambda *_: 1 / 0

    data = TrainingData(*problem(200), documents=40)
    with data.session(Broken()) as session, pytest.raises(ZeroDivisionError):
        finish(session.sum(None))


@pytest.mark.parametrize("documents", [10, 10_000])
def test_some_queries_are_those_of_the_whole(documents: int, tmp_path: Path) -> None:
    """Catches rows of the shard before, and a copy in memory of what is mapped from a file."""
    X, y, ptr = problem()
    np.save(tmp_path / "X.npy", X)
    queries = np.array([0, 3, 4, 11, 12, 28])
    expected = QueryData(X, y, ptr).taken(queries)
    for rows in (X, np.load(tmp_path / "X.npy", mmap_mode="r")):
        data = TrainingData(rows, y, ptr, documents=documents)
        for whole in (data, data.narrowed([3, 1])):
            some = whole.taken(queries)
            columns = [3, 1] if whole is not data else slice(None)
            assert same(
                [[some.X, some.y, some.ptr]],
                [[expected.X[:, columns], expected.y, expected.ptr]],
            )
            assert not data.several or in_file(some.X) == in_file(rows)
            assert some.grading.greatest_grade == y.max()
