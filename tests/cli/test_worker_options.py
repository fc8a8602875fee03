"""``--workers`` and ``--scheduler``: who does the work changes no number."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from letor_folder import save_folds
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.experiment.execution import executors
from rankstudio.engine.experiment.execution.executors import on_threads
from rankstudio.engine.experiment.execution.workers import Workers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three folds of LETOR text."""
    root = tmp_path_factory.mktemp("data") / "Made"
    return save_folds(root, 3, n_queries=40, seed=5)


def results(out: Path) -> dict[str, bytes]:
    return {
        name: (out / name).read_bytes()
        for name in ("metrics.csv", "selection_path.csv", "plan.toml")
    }


def test_processes_threads_and_one_thread_write_the_same(
    folder: Path, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("RANKSTUDIO_THREADS", "2")
    served = []
    before = Workers.serve
    monkeypatch.setattr(
        Workers, "serve", lambda *args: served.append(before(*args)) or served[-1]
    )
    written = []
    for place, options in (
        ("alone", ["--workers", "1"]),
        ("threads", []),
        ("two", ["--workers", "2"]),
    ):
        out = tmp_path / place
        assert (
            main(
                [
                    "run",
                    "--data",
                    str(folder),
                    "--lambda",
                    "1 2 4",
                    "--out",
                    str(out),
                    *options,
                ]
            )
            == 0
        )
        written.append(results(out))
    assert written[0] == written[1] == written[2]
    assert [type(executor).__name__ for executor in served] == [
        "NoneType",
        "_Threads",
        "_Processes",
    ]


def test_a_few_units_are_left_to_the_methods_own_threads(
    folder: Path, monkeypatch
) -> None:
    monkeypatch.setenv("RANKSTUDIO_THREADS", "2")
    served = []
    before = Workers.serve
    monkeypatch.setattr(
        Workers, "serve", lambda *args: served.append(before(*args)) or served[-1]
    )
    for folds in ("1", "1,2,3"):
        assert (
            main(["run", "--data", str(folder), "--lambda", "1", "--folds", folds]) == 0
        )
    assert served == [None, None]
    assert (
        main(["run", "--data", str(folder), "--lambda", "1 2", "--folds", "1,2"]) == 0
    )
    assert served[-1] is not None


def test_large_data_are_left_to_the_methods_own_threads_unless_processes_are_asked_for() -> (
    None
):
    with on_threads(1) as pool:
        some = Workers(pool, least=4, most=100)
        assert some.serve(4, 100) is pool
        assert some.serve(4, 101) is None
        assert some.serve(3, 100) is None
        assert Workers(pool).serve(1, 10**12) is pool


def test_a_comparison_goes_to_the_workers_too(folder: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'data = "{folder}"\nmeasures = ["MAP"]\n[parameters.rankrls]\nregularization = [1.0, 2.0]\n'
        '[[runs]]\nmethod = ["gas", "single-feature"]\nranker = "rankrls"\n'
    )
    for place, options in (("alone", ["--workers", "1"]), ("two", ["--workers", "2"])):
        assert main(["run", str(plan), "--out", str(tmp_path / place), *options]) == 0
    tables = [
        (tmp_path / place / "comparison.csv").read_bytes() for place in ("alone", "two")
    ]
    assert tables[0] == tables[1]


def test_what_cannot_be_is_said(folder: Path, refused, monkeypatch) -> None:
    refused(["run", "--data", str(folder), "--workers", "0"], "workers 1 10,000")
    refused(
        [
            "run",
            "--data",
            str(folder),
            "--workers",
            "2",
            "--scheduler",
            "tcp://127.0.0.1:1",
        ],
        "--workers --scheduler",
    )
    refused(
        ["run", "--data", str(folder), "--scheduler", "tcp://127.0.0.1:1"],
        "tcp://127.0.0.1:1",
    )
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(
        sys.modules, "rankstudio.plugins.cluster.dask_cluster", raising=False
    )
    message = r'pip install "rankstudio\[cluster\]"'
    with (
        pytest.raises(MissingExtraError, match=message),
        executors.on_cluster("tcp://127.0.0.1:1"),
    ):
        pass


def test_certificates_come_together_and_with_a_scheduler(
    folder: Path, tmp_path: Path, refused, capsys
) -> None:
    base = ["run", "--data", str(folder)]
    refused(
        [*base, "--scheduler", "tls://127.0.0.1:1", "--tls-ca", "ca.pem"],
        "--tls-cert --tls-key TLS",
    )
    files = ["--tls-ca", __file__, "--tls-cert", __file__, "--tls-key", __file__]
    assert main([*base, *files]) == 1
    assert "expected --scheduler tls://" in capsys.readouterr().err
    missing = str(tmp_path / "ca.pem")
    assert (
        main(
            [*base, "--scheduler", "tls://127.0.0.1:1", *files[2:], "--tls-ca", missing]
        )
        == 1
    )
    told = capsys.readouterr().err
    assert naming("--tls-ca PEM No").search(told)
    assert missing in told
