"""Runs killed at random moments, wherever they are carried out, go on and end with the same bytes."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from importlib.util import find_spec
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

TERMINAL: dict[str, tuple[str, ...]] = {
    "threads": (),
    "one thread": ("--workers", "1"),
    "processes": ("--workers", "2"),
}
SHARES = {
    "threads": 0.23,
    "one thread": 0.23,
    "processes": 0.2,
    "cluster": 0.14,
    "window": 0.2,
}
"""Of all kills, by the way of execution."""

PROGRAM, WORKERS = (0,), (0, 0, -1, -2)

# with more kills it takes longer; every program has its own limit
pytestmark = pytest.mark.timeout(0)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_folds(tmp_path_factory.mktemp("data") / "Small")


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer("window_user", "rankstudio.plugins.cluster.dask_cluster") as made:
        yield made


@pytest.fixture(scope="module")
def terminal(
    server: ForkServer, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Way]:
    """A function that returns the terminal's way with some options, each made once."""

    @cache
    def way(*options: str) -> Way:
        def command(out: Path, study: Path | None) -> tuple[str, ...]:
            what = ("--data", str(data), "--lambda", "2^-4..2^3")
            return (
                "run",
                *(("--resume", str(study)) if study else what),
                "--out",
                str(out),
                *options,
            )

        return Way(server, tmp_path_factory.mktemp("cases"), "terminal", command)

    return way


def kill(way: Way, name: str, runs: float, victims: tuple[int, ...] = PROGRAM) -> None:
    """Kill so many runs of a way; print where that was."""
    landed: Counter[str] = Counter()
    number = 0
    while landed.total() < max(round(runs), 1):
        number += 1
        landed.update(way.kill(Random(f"{name} {number}"), f"{name} {number}", victims))
    sys.stdout.write(table({name: landed}))  # to be seen with -s


@pytest.mark.parametrize("name", TERMINAL)
def test_in_the_terminal(terminal: Callable[..., Way], name: str, kills: int) -> None:
    victims = WORKERS if name == "processes" else PROGRAM
    kill(terminal(*TERMINAL[name]), name, SHARES[name] * kills, victims)


@pytest.mark.skipif(find_spec("distributed") is None, reason="dask is not installed")
def test_on_a_cluster(terminal: Callable[..., Way], tmp_path: Path, kills: int) -> None:
    with closing(LocalCluster(tmp_path)) as cluster:
        for _ in range(2):
            cluster.add_worker()
        way = terminal("--scheduler", cluster.address)
        kill(way, "cluster", SHARES["cluster"] * kills)
        for number in range(max(round(kills / 100), 1)):
            worker = cluster.workers[-2].pid
            cluster.add_worker()
            landed = way.kill(Random(f"worker {number}"), f"worker {number}", (worker,))
            # it costs nothing: another one does its work
            assert set(landed) == {"too late"}
        if kills >= 100:  # dask looks for a lost scheduler for half a minute
            lost = way.lose(
                cluster.scheduler.pid,
                Random("s3"),
                "scheduler",
                terminal("--workers", "1"),
            )
            sys.stdout.write(table({"cluster, its scheduler": Counter([lost])}))


@pytest.mark.gui
def test_in_the_window(
    server: ForkServer, data: Path, tmp_path_factory: pytest.TempPathFactory, kills: int
) -> None:
    folder = tmp_path_factory.mktemp("plan")
    # the window is told of several at a time
    grid = tuple(2.0**exponent for exponent in range(-8, 8))
    save_plan(
        Plan(str(data), parameters={"regularization": grid}), folder / "plan.toml"
    )
    calls = None
    for backend, victims in (("live", PROGRAM), ("processes", WORKERS)):

        def command(
            out: Path, _: Path | None, backend: str = backend
        ) -> tuple[str, ...]:
            return str(folder / "plan.toml"), str(out), backend

        way = Way(server, folder / backend, "window", command, calls)
        calls = way.calls
        kill(way, f"window, {backend}", SHARES["window"] * kills / 2, victims)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", TERMINAL)
def test_asked_to_end(
    terminal: Callable[..., Way], name: str, number: signal.Signals, kills: int
) -> None:
    way, title = terminal(*TERMINAL[name]), f"{number.name}, {name}"
    times = range(max(round(kills / 18), 1))
    landed = Counter(
        way.signal(number, Random(f"{title} {n}"), f"{title} {n}") for n in times
    )
    sys.stdout.write(table({title: landed}))


def test_kernels_that_are_being_written(
    server: ForkServer, tmp_path: Path, kills: int
) -> None:
    def call(name: str, **changes: object) -> int:
        request = Request(
            "kernel", (str(tmp_path / name),), {}, str(tmp_path / "printed"), **changes
        )
        ended = server.start(request)
        return ended.calls if changes.get("count") else ended.status

    if not server.can_follow:
        pytest.skip("processes cannot be followed here")
    calls = call("counted", count=True)
    for at in Random("kernel").sample(
        range(1, calls + 1), min(calls, max(kills // 6, 1))
    ):
        assert call(f"at {at}", moment=Moment(call=at)) == -signal.SIGKILL
        assert call(f"at {at}") == 0
        assert call(f"at {at}") == 0
