"""Runs killed at random moments, wherever they are carried out, go on and end with the same bytes."""

from __future__ import annotations

import importlib.util
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

if sys.platform != "linux":
    pytest.skip("needs fork, and looks into /proc", allow_module_level=True)

from experiment.local_cluster import LocalCluster
from fork_client import ForkServer, write_small_folds
from fork_server import Moment, Request
from killed_runs import Way, table

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.toml import save_plan
from rankstudio.ui.model.execution_backend import LIVE, PROCESSES

SHARES = {"threads": 0.2, "1": 0.2, "2": 0.2, "cluster": 0.15, LIVE: 0.125, PROCESSES: 0.125}
"""Of all kills, by the way of execution."""

WORKERS = (-1, -2)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_folds(tmp_path_factory.mktemp("data") / "Small")


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer() as made:
        yield made


def in_the_terminal(server: ForkServer, folder: Path, data: Path, *options: str) -> Way:
    def command(out: Path, study: Path | None) -> tuple[str, ...]:
        what = (
            ("--resume", str(study)) if study is not None else ("--data", str(data), "--lambda", "2^-4..2^3")
        )
        return ("run", *what, "--out", str(out), *options)

    return Way(server, folder, "terminal", command)


def kill(way: Way, name: str, kills: int, victims: tuple[int, ...] = (0,)) -> None:
    """Kill so many runs of a way; print where that was."""
    landed: Counter[str] = Counter()
    number = 0
    while landed.total() < max(round(SHARES[name] * kills), 1):
        number += 1
        landed.update(way.kill(Random(f"{name} {number}"), f"{name} {number}", victims))
    sys.stdout.write(table({name: landed}))  # to be seen with -s


@pytest.mark.parametrize("workers", ["threads", "1", "2"])
def test_in_the_terminal(server: ForkServer, data: Path, tmp_path: Path, workers: str, kills: int) -> None:
    options = () if workers == "threads" else ("--workers", workers)
    way = in_the_terminal(server, tmp_path / "cases", data, *options)
    kill(way, workers, kills, (0, 0, *WORKERS) if workers == "2" else (0,))


@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="dask is not installed")
def test_on_a_cluster(data: Path, tmp_path: Path, kills: int) -> None:
    cluster = LocalCluster(tmp_path)
    try:
        cluster.add_worker()
        cluster.add_worker()
        with ForkServer("cluster") as server:
            way = in_the_terminal(server, tmp_path / "cases", data, "--scheduler", cluster.address)
            kill(way, "cluster", kills)
            # A worker that is killed costs nothing, and is replaced here.
            ended = way.kill(Random("worker"), "worker", (cluster.workers[0].pid,))
            assert set(ended) == {"too late"}
    finally:
        cluster.close()


@pytest.mark.parametrize("backend", [LIVE, PROCESSES])
def test_in_the_window(data: Path, tmp_path: Path, backend: str, kills: int) -> None:
    grid = tuple(2.0**exponent for exponent in range(-4, 4))
    save_plan(Plan(str(data), parameters={"regularization": grid}), tmp_path / "plan.toml")

    def command(out: Path, _: Path | None) -> tuple[str, ...]:
        return str(tmp_path / "plan.toml"), str(out), backend

    with ForkServer("window") as server:
        way = Way(server, tmp_path / "cases", "window", command)
        kill(way, backend, kills, (0, *WORKERS) if backend == PROCESSES else (0,))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", ["threads", "1", "2"])
def test_asked_to_end(
    server: ForkServer, data: Path, tmp_path: Path, number: signal.Signals, workers: str, kills: int
) -> None:
    options = () if workers == "threads" else ("--workers", workers)
    way = in_the_terminal(server, tmp_path / "cases", data, *options)
    name = f"{number.name} {workers}"
    landed = Counter(
        way.signal(number, Random(f"{name} {n}"), f"case {n}") for n in range(max(kills // 18, 1))
    )
    sys.stdout.write(table({name: landed}))


def test_kernels_that_are_being_written(server: ForkServer, tmp_path: Path, kills: int) -> None:
    def call(name: str, **changes: object) -> int:
        request = Request("kernel", (str(tmp_path / name),), {}, str(tmp_path / "printed"), **changes)
        ended = server.start(request)
        return ended.calls if changes.get("count") else ended.status

    if not server.can_follow:
        pytest.skip("processes cannot be followed here")
    calls = call("counted", count=True)
    for at in Random("kernel").sample(range(1, calls + 1), min(calls, max(kills // 6, 1))):
        assert call(f"at {at}", moment=Moment(call=at)) == -signal.SIGKILL
        assert call(f"at {at}") == 0
        assert call(f"at {at}") == 0
