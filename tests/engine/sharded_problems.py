"""Problems for tests of methods by shards: the same documents whole, cut, mapped and on threads."""

from __future__ import annotations

import pickle
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.execution import shard_calls
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.shards.training_data import (
    InProcess,
    ShardSession,
    Sums,
    TrainingData,
)
from rankstudio.engine.methods.shards.work import ShardWork
from rankstudio.engine.steps import Step
from rankstudio.engine.support import threads
from rankstudio.engine.support.work import WorkProgress


def problem(
    n_queries: int = 30, n: int = 5, seed: int = 0, rounded: bool = True
) -> QueryData:
    """Features of which one is constant and one nearly a copy, with ties unless they are not rounded."""
    rng = np.random.default_rng(seed)
    ptr: Ints = np.cumsum([0, *rng.integers(1, 12, n_queries)])
    X = rng.standard_normal((ptr[-1], n)) * 2.0 ** np.arange(n)
    X[:, 1] = X[:, 0] + 0.2 * rng.standard_normal(ptr[-1])
    X[:, n - 1] = 3.7
    y = np.clip(np.round(X[:, 0] + 0.5 * rng.standard_normal(ptr[-1])), 0, 2)
    return QueryData(np.round(X, 1) if rounded else X, y, ptr)


def cut(data: QueryData, documents: int) -> TrainingData:
    """Return the same documents in shards of at most so many."""
    return TrainingData(
        data.X, data.y, data.ptr, documents=documents, validation=data.validation
    )


def steps(method: LinearRanker, data: QueryData | TrainingData) -> list[Step]:
    """Return what a method learns of data, of which nothing was computed before."""
    return [told for told in method.work(replace(data)) if isinstance(told, Step)]


def forget_states() -> int:
    """Discard what this worker keeps of shards, as if it had been killed; return of how many sessions."""
    sessions = list(shard_calls._WORKER_STATE._sessions)
    for session in sessions:
        shard_calls.forget(session)
    return len(sessions)


def assert_same_bits(left: list[Step], right: list[Step]) -> None:
    """Compare steps field by field, to the last bit."""
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        for field in fields(one):
            a, b = getattr(one, field.name), getattr(other, field.name)
            assert np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f"), (
                field.name
            )


class Forgetful:
    """Has works and messages sent, and every shard begun anew for each, as where workers are lost."""

    @contextmanager
    def session(self, data: TrainingData, work: ShardWork) -> Iterator[ShardSession]:
        messages: list[Any] = []

        class Session:
            def sum(
                self, message: Any, activity: str = ""
            ) -> Generator[WorkProgress, None, Sums]:
                messages.append(message)
                there, heard = pickle.loads(pickle.dumps((work, messages)))
                with InProcess().session(data, there) as session:
                    for before in heard[:-1] if work.replayed else ():
                        yield from session.sum(before, activity)
                    return (yield from session.sum(heard[-1], activity))

        yield Session()


def elsewhere(data: QueryData, documents: int, folder: Path) -> Iterator[TrainingData]:
    """Yield the same shards in memory and mapped from a file, with and without room, on several threads."""
    np.save(folder / "X.npy", data.X)
    mapped: Floats = np.load(folder / "X.npy", mmap_mode="r")
    for X, room, count in (
        (data.X, 0.0, 5),
        (data.X, 1e9, 2),
        (mapped, 0.0, 1),
        (mapped, 1e9, 5),
    ):
        with threads.at_most(count):
            executor = InProcess(lambda room=room: room)  # type: ignore[misc]
            yield replace(cut(data, documents), X=X, executor=executor)


def assert_same_everywhere(
    method: LinearRanker, data: QueryData, folder: Path, documents: int = 40
) -> None:
    """Check that a method learns the same bits of shards wherever they are, and gives signs of life."""
    expected = steps(method, cut(data, documents))
    for other in elsewhere(data, documents, folder):
        assert_same_bits(steps(method, other), expected)
    assert_same_bits(
        steps(method, replace(cut(data, documents), executor=Forgetful())), expected
    )
    told: list[Any] = list(method.work(cut(data, documents)))
    assert any(isinstance(what, WorkProgress) for what in told)


def assert_one_shard_is_whole(method: LinearRanker, data: QueryData) -> None:
    """Check that documents of one shard keep their bits."""
    assert_same_bits(steps(method, cut(data, 1 << 16)), steps(method, data))


EPS = float(np.finfo(float).eps)


def weights_bound(
    rows: tuple[Floats, Floats], regularization: float, w: Floats
) -> float:
    """Return how far apart two solutions w of (X'X + λI) w = X'y may be, for centred ``rows`` X (m, n) and y.

    Their sums have the same m terms, rounded in another order: each is off by m eps sum|x|, so that the
    matrix is off by m eps ||X||² and the right-hand side by m eps ||X|| ||y||; n² eps more come from solving.
    The smallest eigenvalue, at least λ, divides both, and there are two of them to be off.
    """
    X, y = rows
    m, n = X.shape
    size = float(np.linalg.norm(X))
    least = max(float(np.linalg.eigvalsh(X.T @ X)[0]), 0.0) + regularization
    off = size * float(np.linalg.norm(y)) + (size**2 + regularization) * float(
        np.linalg.norm(w)
    )
    return 2 * (m + n**2) * EPS * off / least


def error_bound(
    rows: tuple[Floats, Floats], regularization: float, error: float
) -> float:
    """Return how far apart two leave-query-out errors may be whose weights are within their bound.

    The weights without a query solve a system whose smallest eigenvalue is at least λ, so that ||w|| is at
    most ||y|| / (2 sqrt λ); with weights that are off by d, E = ||r||² is by at most 2 ||r|| ||X|| d and
    ||X||² d², and by m eps E from adding it up.
    """
    X, y = rows
    m, n = X.shape
    size, labels = float(np.linalg.norm(X)), float(np.linalg.norm(y))
    off = size * labels + (size**2 + regularization) * labels / (
        2 * np.sqrt(regularization)
    )
    moved = size * 2 * (m + n**2) * EPS * off / regularization
    return float(2 * np.sqrt(error) * moved + moved**2 + 2 * m * EPS * error)
