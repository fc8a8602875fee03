"""A run on threads, on processes or on any other executor has the bits of one unit after the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from pathlib import Path

import pytest
from experiment.small import assert_same, dataset, ended, two_settings
from wording import naming

from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.errors import (
    CacheWarning,
    Cancelled,
    OutputError,
    ParameterError,
    WorkerError,
)
from rankstudio.engine.experiment.execution import executors
from rankstudio.engine.experiment.execution import scheduler as spreading
from rankstudio.engine.experiment.execution.data_transport import (
    InMemory,
    UnitExecutor,
    write_folds,
)
from rankstudio.engine.experiment.execution.executors import on_processes, on_threads
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import (
    FoldFinished,
    StepDone,
    UnitFinished,
    UnitProgress,
)
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.support import threads

PLAN = Plan("small", parameters={"regularization": tuple(2.0**e for e in range(-6, 6))})


class Late(Executor):
    """Begins with the last call, when the first result is asked for: as good an executor as any."""

    def __init__(self) -> None:
        self.calls: list[tuple[Future, object, tuple]] = []

    def submit(self, fn, /, *args, **kwargs):
        future: Future = Future()
        self.calls.append((future, fn, args))
        if len(self.calls) == 12 * 2:
            for waiting, call, given in reversed(self.calls):
                waiting.set_result(call(*given))
        return future


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with on_processes(2) as pool:
        yield pool


def test_ours_know_how_they_carry_out_units(processes: Executor) -> None:
    with on_threads(1) as pool:
        assert isinstance(pool, UnitExecutor)
    assert isinstance(processes, UnitExecutor)
    assert not isinstance(Late(), UnitExecutor)


@pytest.mark.parametrize("plan", two_settings().values(), ids=two_settings())
def test_every_method_has_the_same_bits_on_every_executor(
    plan: Plan, processes: Executor
) -> None:
    alone = run_plan(plan, dataset())
    with on_threads(3) as pool:
        assert_same(run_plan(plan, dataset(), executor=pool), alone)
    assert_same(run_plan(plan, dataset(), executor=processes), alone)


def test_standard_errors_arrive_from_processes_too(processes: Executor) -> None:
    plan = PLAN.changed(protocol="nested 3-fold", rule="one-se")
    folds = tuple(
        Fold(fold.number, fold.train, None, fold.test) for fold in dataset().folds
    )
    data = replace(dataset(), folds=folds)
    assert_same(run_plan(plan, data, executor=processes), run_plan(plan, data))


def test_any_executor_will_do_and_folds_finish_in_their_order() -> None:
    events = list(run(PLAN, dataset(), executor=Late()))
    assert [e.result.fold for e in events if isinstance(e, FoldFinished)] == [1, 2]
    units = [e for e in events if isinstance(e, UnitFinished)]
    assert len({(e.unit.fold, e.unit.position) for e in units}) == len(units) == 24
    assert all(e.seconds is not None and e.seconds > 0 for e in units)
    assert not any(isinstance(e, StepDone) for e in events)
    assert_same(ended(iter(events)), run_plan(PLAN, dataset()))


def test_no_more_is_sent_out_than_is_asked_for() -> None:
    class Slow(Late):
        lost = ()

        def ahead(self):
            return 5

        def give(self, folds):
            return write_folds(folds)

    executor = Slow()
    events = run(PLAN, dataset(), executor=executor)
    next(
        e
        for e in events
        if isinstance(e, UnitProgress) and e.working.what == "waiting for the workers"
    )
    assert len(executor.calls) == 5
    future, call, given = executor.calls[2]
    future.set_result(call(*given))
    unit = next(e.unit for e in events if isinstance(e, UnitFinished))
    assert (unit.fold, unit.position) == (1, 2)
    assert len(executor.calls) == 6
    events.close()
    assert sum(waiting.cancelled() for waiting, *_ in executor.calls) == 5


def test_what_is_stored_already_is_not_sent_out(tmp_path: Path) -> None:
    class Counting(Late):
        def submit(self, fn, /, *args, **kwargs):
            future: Future = Future()
            self.calls.append((future, fn, args))
            future.set_result(fn(*args))
            return future

    with Study.create(tmp_path / "study.rankstudio") as study:
        events = run_stored(PLAN, dataset(), study)
        for event in events:
            if isinstance(event, UnitFinished) and (
                event.unit.fold,
                event.unit.position,
            ) == (2, 3):
                break
        events.close()
        executor = Counting()
        result = ended(run_stored(PLAN, dataset(), study, executor=executor))
        assert len(executor.calls) == 12 - 4
        assert_same(result, run_plan(PLAN, dataset()))
        (summary,) = study.runs()
        assert summary.finished
        assert_same(study.result(summary.key), result)


def test_units_have_one_thread_each() -> None:
    seen = []

    class Looking(Late):
        def submit(self, fn, /, *args, **kwargs):
            future: Future = Future()
            with threads.at_most(7):
                future.set_result(fn(*args))
                seen.append(threads.available())
            return future

    granted = []
    before = spreading.FoldContext.path

    def path(self, unit, follow):
        granted.append(
            (threads.available(), [lib["num_threads"] for lib in threads.blas().info()])
        )
        return before(self, unit, follow)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spreading.FoldContext, "path", path)
        run_plan(PLAN.changed(folds=(1,)), dataset(), executor=Looking())
        with on_threads(2) as pool:
            run_plan(PLAN.changed(folds=(1,)), dataset(), executor=pool)
    assert {count for count, _ in granted} == {1}
    assert {count for _, libraries in granted[12:] for count in libraries} == {1}
    assert set(seen) == {7}


def test_a_closed_run_takes_its_threads_with_it() -> None:
    plan = PLAN.changed(
        parameters={"regularization": tuple(2.0**e / 1e3 for e in range(300))}
    )
    with on_threads(2) as pool:
        events = run(plan, dataset(), executor=pool)
        for event in events:
            if isinstance(event, UnitFinished):
                break
        events.close()
        assert pool.submit(int).result(timeout=20) == 0  # nothing is queued before it
    source = InMemory(dataset().folds)
    source.give_up()
    with pytest.raises(Cancelled):
        spreading.learn_unit(
            spreading.Task("run", plan, source, Unit(1, 0, plan.combinations[0]))
        )


def test_a_long_unit_gives_signs_of_life_and_can_be_left() -> None:
    plan = Plan(
        "small",
        "coordinate-ascent",
        {"max_iter": 10_000, "n_restarts": 1000},
        folds=(1,),
    )
    with on_threads(1) as pool, on_processes(1) as process:
        for executor, what in ((pool, "start"), (process, "waiting for the workers")):
            events = run(plan, dataset(), executor=executor)
            for event in events:
                if isinstance(event, UnitProgress) and what in event.working.what:
                    break
            events.close()


def test_what_a_unit_raises_arrives_as_it_was(processes: Executor) -> None:
    plan = Plan("small", "listnet", {"max_iter": 1})
    unit = Unit(9, 0, plan.combinations[0])
    source = InMemory(())
    future = processes.submit(
        spreading.learn_unit, spreading.Task("run", plan, source, unit)
    )
    with pytest.raises(KeyError, match="9"):
        future.result(timeout=60)
    with on_threads(2) as pool, pytest.raises(ParameterError, match="banned"):
        run_plan(PLAN.changed(parameters={"banned": (99,)}), dataset(), executor=pool)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_process_is_said_and_what_is_finished_is_kept(
    processes: Executor, tmp_path: Path
) -> None:
    plan = PLAN.changed(
        parameters={"regularization": tuple(1.0 + e for e in range(60))}
    )
    shown = 0
    with Study.create(tmp_path / "study.rankstudio") as study:
        with on_processes(2) as pool, pytest.raises(WorkerError):
            worker = pool.submit(os.getpid).result()
            for event in run_stored(plan, dataset(), study, executor=pool):
                shown += isinstance(event, UnitFinished)
                if shown == 10:
                    os.kill(worker, signal.SIGKILL)
        (summary,) = study.runs()
        assert 10 <= shown <= summary.n_finished < 120
        again = run_stored(plan, dataset(), study, executor=processes)
        assert_same(ended(again), run_plan(plan, dataset()))


OWNER = """
import os, signal, sys, time
from rankstudio.engine.experiment.execution.executors import on_processes
def main():
    with on_processes(2) as pool:
        print(*{pool.submit(os.getpid).result() for _ in range(20)}, flush=True)
        pool.submit(time.sleep, 600)
        if sys.argv[1] == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("how", ["killed", "left"])
def test_the_processes_end_with_their_owner_in_the_middle_of_their_work(
    how: str, tmp_path: Path
) -> None:
    script = tmp_path / "owner.py"
    script.write_text(OWNER)
    done = subprocess.run(
        [sys.executable, str(script), how],
        stdout=subprocess.PIPE,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    assert done.returncode == (-signal.SIGKILL if how == "killed" else 0)
    left = {int(pid) for pid in done.stdout.split()}
    assert left
    deadline = time.monotonic() + 20
    while left and time.monotonic() < deadline:
        left = {
            pid for pid in left if Path(f"/proc/{pid}").exists() and not _ended(pid)
        }
        time.sleep(0.05)
    assert not left


def _ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.skipif(not hasattr(os, "nice"), reason="there is no such thing")
def test_processes_stand_back_where_they_are_told_to(processes: Executor) -> None:
    before = os.nice(0)
    assert processes.submit(os.nice, 0).result(timeout=60) == before
    with on_processes(1, gently=True) as pool:
        assert pool.submit(os.nice, 0).result(timeout=60) > before
    assert os.nice(0) == before


def test_threads_take_the_place_of_processes_that_cannot_have_the_data(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: object) -> None:
        raise OutputError(
            "/cache: data for other processes could not be written: No space left on device."
        )

    monkeypatch.setattr(executors, "write_folds", fail)
    with (
        on_processes(2) as pool,
        pytest.warns(CacheWarning, match="/cache: data .* Threads") as warned,
    ):
        for _ in range(2):
            assert_same(
                run_plan(PLAN, dataset(), executor=pool), run_plan(PLAN, dataset())
            )
    assert len(warned) == 1


@pytest.mark.parametrize(
    "error", [OSError(12, "Cannot allocate memory"), BrokenExecutor("They died")]
)
def test_threads_take_the_place_of_processes_that_cannot_be_started(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(executors.ProcessPoolExecutor, "submit", fail)
    with (
        pytest.warns(CacheWarning, match=naming("Threads")),
        on_processes(2) as pool,
    ):
        assert_same(run_plan(PLAN, dataset(), executor=pool), run_plan(PLAN, dataset()))


@pytest.mark.parametrize("executor", [on_threads, on_processes])
def test_there_has_to_be_a_worker(executor) -> None:
    with (
        pytest.raises(ParameterError, match=naming("workers 1 10,000")),
        executor(0),
    ):
        pass
