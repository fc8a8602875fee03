"""A run on a cluster: a real scheduler on this machine, with two worker processes."""

from __future__ import annotations

import logging
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import closing, nullcontext, suppress
from pathlib import Path

import pytest
from experiment.local_cluster import LocalCluster
from experiment.small import assert_same, dataset
from experiment.tls_files import make_certificates
from wording import naming

from rankstudio.engine.errors import OpenClusterWarning, ParameterError, WorkerError
from rankstudio.engine.experiment.execution.data_transport import write_folds
from rankstudio.engine.experiment.execution.executors import on_cluster
from rankstudio.engine.experiment.execution.workers import Certificates
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import UnitFinished
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.experiment.storage.study import Study

CommClosedError = pytest.importorskip("distributed.comm.core").CommClosedError
module = pytest.importorskip("rankstudio.plugins.cluster.dask_cluster")

PLAN = Plan("small", parameters={"regularization": tuple(2.0**e for e in range(-6, 6))})


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with closing(LocalCluster(tmp_path_factory.mktemp("cluster"))) as made:
        made.add_worker()
        made.add_worker(str(tmp_path_factory.mktemp("another machine")))
        yield made


def test_a_run_on_a_cluster_has_the_same_bits(cluster: LocalCluster) -> None:
    plans = (
        PLAN,
        Plan(
            "small", "gas", ranker="rankrls", ranker_parameters={"regularization": 1.0}
        ),
    )
    # first, so that kernels are compiled once
    alone = [run_plan(plan, dataset()) for plan in plans]
    with on_cluster(cluster.address) as workers:
        for plan, expected in zip(plans, alone, strict=True):
            assert_same(run_plan(plan, dataset(), executor=workers), expected)


def test_workers_that_do_not_see_this_disk_are_sent_the_data(
    cluster: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKSTUDIO_CACHE_DIR", str(tmp_path / "mine"))
    files = write_folds(dataset(3).folds)
    delivery = module.Delivery(files)
    (tmp_path / "mine").rename(tmp_path / "hidden")
    monkeypatch.setattr(module, "write_folds", lambda _: files)
    monkeypatch.setattr(module, "Delivery", lambda _: delivery)
    with on_cluster(cluster.address) as workers:
        assert_same(
            run_plan(PLAN, dataset(3), executor=workers), run_plan(PLAN, dataset(3))
        )


def test_a_result_that_is_lost_on_the_way_ends_the_wait(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lost(*_: object, **__: object) -> None:
        raise CommClosedError("the scheduler is gone")

    with on_cluster(cluster.address) as workers:
        assert workers.submit(abs, -3).result(60) == 3
        with monkeypatch.context() as gone:
            gone.setattr(workers._client, "_gather", lost)
            assert isinstance(workers.submit(abs, -4).exception(60), CommClosedError)
        with pytest.raises(ZeroDivisionError):
            workers.submit(divmod, 1, 0).result(60)


def test_what_dask_tries_when_a_scheduler_ends_is_not_printed(
    cluster: LocalCluster,
) -> None:
    names = (
        "distributed.batched",
        "distributed.client",
        "distributed.core",
        "tornado.application",
    )
    before = [logging.getLogger(name).getEffectiveLevel() for name in names]
    with on_cluster(cluster.address):
        assert {logging.getLogger(name).getEffectiveLevel() for name in names} == {
            logging.CRITICAL
        }
    assert [logging.getLogger(name).getEffectiveLevel() for name in names] == before


def test_a_worker_that_is_killed_costs_nothing(
    cluster: LocalCluster, tmp_path: Path
) -> None:
    plan = PLAN.changed(
        parameters={"regularization": tuple(1.0 + e for e in range(100))}
    )
    shown = 0
    with (
        Study.create(tmp_path / "study.rankstudio") as study,
        on_cluster(cluster.address) as workers,
    ):
        for event in run_stored(plan, dataset(), study, executor=workers):
            shown += isinstance(event, UnitFinished)
            if shown == 10:
                cluster.workers[0].send_signal(signal.SIGKILL)
        assert shown == 200
        assert cluster.workers[0].wait(10) == -signal.SIGKILL
        (summary,) = study.runs()
        assert_same(study.result(summary.key), run_plan(plan, dataset()))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "127.0.0.1"])
def test_a_scheduler_that_is_not_there_is_named(address: str) -> None:
    with (
        pytest.raises(WorkerError, match=f"^{address}: no response from a scheduler"),
        on_cluster(address),
    ):
        pass


def test_a_scheduler_without_tls_is_named(
    cluster: LocalCluster, capfd: pytest.CaptureFixture[str]
) -> None:
    address = cluster.address.replace("tcp", "tls")
    with (
        pytest.raises(WorkerError, match=f"^{address}: no response from a scheduler"),
        on_cluster(address),
    ):
        pass
    assert capfd.readouterr().err == ""


def test_a_scheduler_that_does_not_shake_hands_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(
                WorkerError, match=f"^{address}: no response from a scheduler"
            ),
            on_cluster(address),
        ):
            pass
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xff" * 64, b"\0" * 64]
)
def test_what_is_no_scheduler_is_named(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", 1)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        ThreadPoolExecutor(1) as pool,
    ):
        server.settimeout(60)  # so that a failure ends too

        def serve() -> None:
            for _ in range(2):  # a look whether somebody is there, then the handshake
                caller = server.accept()[0]
                with caller, suppress(ConnectionError):
                    caller.sendall(answer)
                    while caller.recv(1 << 12):
                        pass

        served = pool.submit(serve)
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with (
            pytest.raises(WorkerError, match="no response from a scheduler") as caught,
            on_cluster(address),
        ):
            pass
        assert address in str(caught.value)
        served.result()


def test_a_run_that_begins_when_the_scheduler_is_gone_ends_in_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(LocalCluster(tmp_path)) as ending:
        ending.add_worker()
        with on_cluster(ending.address) as workers:
            # for which dask looks for the scheduler, 10 seconds else
            workers._client._timeout = 0.5
            ending.scheduler.kill()
            ending.scheduler.wait(10)
            with pytest.raises(WorkerError, match=naming("workers")):
                list(run(PLAN, dataset(), executor=workers))
    assert capfd.readouterr().err == ""


def test_workers_of_another_version_are_refused(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"tcp://127.0.0.1:5": {"numpy": "1.0"}}
    monkeypatch.setattr("distributed.Client.run", lambda *_: there)
    expected = r"the worker tcp://127.0.0.1:5 has rankstudio None, expected"
    with pytest.raises(WorkerError, match=expected), on_cluster(cluster.address):
        pass


def test_a_scheduler_without_workers_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", 0.5)
    with (
        closing(LocalCluster(tmp_path)) as empty,
        pytest.raises(WorkerError, match="has no workers"),
        on_cluster(empty.address),
    ):
        pass


def test_work_that_is_cancelled_wakes_who_waits_for_it(cluster: LocalCluster) -> None:
    # The last test of this cluster: what works on there is not interrupted.
    with on_cluster(cluster.address) as workers:
        waiting = [workers.submit(time.sleep, 60) for _ in range(6)]
        assert waiting[-1].cancel()
        workers.shutdown(cancel_futures=True)
        for future in waiting:
            with pytest.raises(CancelledError):
                future.result(60)


def test_a_cluster_with_certificates_listens_to_who_has_one(tmp_path: Path) -> None:
    files = make_certificates(tmp_path)
    with closing(LocalCluster(tmp_path, files)) as made:
        made.add_worker()
        assert made.address.startswith("tls://127.0.0.1:")
        with on_cluster(made.address, Certificates(*files)) as workers:
            assert_same(
                run_plan(PLAN, dataset(), executor=workers), run_plan(PLAN, dataset())
            )
        with (
            pytest.raises(WorkerError, match="no response from a scheduler"),
            on_cluster(made.address),
        ):
            pass


def test_without_certificates_a_network_has_to_be_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "connected", lambda *_: nullcontext())
    for address in ("tcp://127.0.0.1:8786", "localhost:8786", "tls://10.0.0.1:8786"):
        with on_cluster(address):
            pass
    with (
        pytest.warns(OpenClusterWarning, match="TLS"),
        on_cluster("tcp://10.0.0.1:8786"),
    ):
        pass


def test_certificates_are_for_tls_and_can_be_read(tmp_path: Path) -> None:
    here = Path(__file__)
    with (
        pytest.raises(ParameterError, match="tls://"),
        on_cluster("tcp://127.0.0.1:1", Certificates(here, here, here)),
    ):
        pass
    with pytest.raises(ParameterError, match="--tls-key"):
        Certificates(here, here, tmp_path / "nothing.pem")
