"""Runs logged to a tracking store of MLflow."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from wording import naming

from rankstudio.cli import main
from rankstudio.engine.data.formats.dataset_writer import save_letor
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import SealMark
from rankstudio.plugins.mlflow import tracking_store as mlflow_log

FEW = [
    "run",
    "--sample",
    "--method",
    "greedy-rankrls",
    "--lambda",
    "1,8",
    "--features",
    "3",
    "--folds",
    "1,2",
]
SMALL = [*FEW, "--measures", "MAP,NDCG@10"]


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path: Path) -> None:
    """Work in an empty folder, and leave the environment as it was."""
    monkeypatch.chdir(tmp_path)
    for name in (
        *mlflow_log._FORCED_VARIABLES,
        *mlflow_log._DEFAULT_VARIABLES,
        "MLFLOW_TRACKING_URI",
        "MLFLOW_EXPERIMENT_NAME",
    ):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def runs_of(store: Path) -> list:
    """Return all runs of a store, those under another one last."""
    mlflow = mlflow_log._mlflow_library()
    client = mlflow.MlflowClient(tracking_uri=str(store))
    experiments = [
        e.experiment_id for e in client.search_experiments() if e.name != "Default"
    ]
    found = client.search_runs(experiments)
    return sorted(
        found,
        key=lambda run: (
            "mlflow.parentRunId" in run.data.tags,
            run.data.tags["mlflow.runName"],
        ),
    )


def artifacts(store: Path, run: str, path: str = "") -> set[str]:
    client = mlflow_log._mlflow_library().MlflowClient(tracking_uri=str(store))
    found = client.list_artifacts(run, path)
    return {f.path for f in found if not f.is_dir}.union(
        *(artifacts(store, run, f.path) for f in found if f.is_dir)
    )


def test_a_run_is_read_back_with_plan_measures_by_step_and_files(
    tmp_path, answer
) -> None:
    results = answer([*SMALL, "--log", "mlflow", "--out", "out", "--refit", "--json"])
    store = tmp_path / "mlruns"
    run, *units = runs_of(store)
    assert run.info.status == "FINISHED"
    assert run.data.params["method"] == "greedy-rankrls"
    assert run.data.params["parameters.regularization"] == "1.0, 8.0"
    assert run.data.params["measures"] == "MAP, NDCG@10"
    assert run.data.metrics["test/MAP"] == pytest.approx(
        results["average"]["MAP"], rel=1e-12
    )
    assert "test/NDCG_at_10" in run.data.metrics
    files = {
        str(p.relative_to("out"))
        for p in Path("out").rglob("*")
        if p.suffix != ".rankstudio"
    }
    assert artifacts(store, run.info.run_id) == {
        f for f in files if Path("out", f).is_file() and f[-4:] != ".png"
    }

    assert len(units) == 4
    assert {(u.data.params["fold"], u.info.status) for u in units} == {
        ("1", "FINISHED"),
        ("2", "FINISHED"),
    }
    assert sum(u.data.tags.get("chosen") == "yes" for u in units) == 2
    client = mlflow_log._mlflow_library().MlflowClient(tracking_uri=str(store))
    history = client.get_metric_history(units[0].info.run_id, "validation/MAP")
    with Study.open(Path("out/study.rankstudio"), reading=True) as study:
        path = study.finished(study.runs())[0].folds[0].paths[0]
    assert [(m.step, m.value) for m in history] == list(
        enumerate(path.validation["MAP"].tolist(), start=1)
    )


def test_under_seal_no_number_of_the_test_part_is_logged(tmp_path, capsys) -> None:
    study = tmp_path / "s.rankstudio"
    Study.create(study).close()
    with Study.open(study) as opened:
        opened.note_seal(SealMark.now(sealed=True))
    assert (
        main([*SMALL, "--log", f"mlflow:{tmp_path / 'logs'}", "--study", str(study)])
        == 0
    )
    run = runs_of(tmp_path / "logs")[0]
    assert not [name for name in run.data.metrics if "test" in name]
    assert run.data.metrics["validation/MAP"] > 0
    assert artifacts(tmp_path / "logs", run.info.run_id) == {
        "plan.toml",
        "selection_path.csv",
    }


def test_a_comparison_logs_each_run(tmp_path, capsys) -> None:
    for name, part in make_ranking(n_queries=20, seed=3).folds[0].parts.items():
        save_letor(part, tmp_path / f"{name}.txt")
    plan = tmp_path / "two.toml"
    plan.write_text(
        f'title = "Two"\ndata = ["{tmp_path}"]\n[[runs]]\nmethod = ["single-feature", "rankrls"]\n',
        encoding="utf-8",
    )
    assert main(["run", str(plan), "--log", "mlflow:logs"]) == 0
    parents = [
        run
        for run in runs_of(tmp_path / "logs")
        if "mlflow.parentRunId" not in run.data.tags
    ]
    assert {(run.data.params["method"], run.info.status) for run in parents} == {
        ("single-feature", "FINISHED"),
        ("rankrls", "FINISHED"),
    }


def test_a_server_that_answers_nothing_is_told_once_and_the_run_goes_on(
    monkeypatch, capsys
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    # takes connections, and says nothing
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        assert (
            main([*SMALL, "--log", f"mlflow:http://me:secret@{place}", "--json"]) == 0
        )
    printed = capsys.readouterr()
    assert json.loads(printed.out)["complete"]
    assert printed.err.count("MLflow at") == 1
    assert naming(f"MLflow http:// {place}").search(printed.err)
    assert "secret" not in printed.err


def test_a_folder_that_cannot_be_written_and_a_wrong_store_are_sentences(
    tmp_path, done, capsys
) -> None:
    (tmp_path / "file").write_text("")
    assert naming("run log").search(done([*SMALL, "--log", "mlflow:file/logs"]).err)
    assert main([*SMALL, "--log", "wandb"]) == 1
    assert "--log: expected mlflow" in capsys.readouterr().err


def test_a_disk_that_fills_up_while_it_logs_loses_nothing(
    monkeypatch, tmp_path, done
) -> None:
    client = mlflow_log._mlflow_library().MlflowClient
    logged = []

    def full(self, *args, **kwargs) -> None:
        logged.append(args)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(client, "set_tag", full)
    printed = done([*SMALL, "--log", "mlflow:logs", "--json"])
    assert len(json.loads(printed.out)["folds"]) == 2
    assert len(logged) == 1
    assert printed.err.count("No space left on device") == 1


def test_without_the_library_the_extra_is_named_before_any_work(
    monkeypatch, capsys
) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    assert main([*SMALL, "--log", "mlflow"]) == 1
    assert 'pip install "rankstudio[mlflow]"' in capsys.readouterr().err


def test_nothing_leaves_the_machine(tmp_path) -> None:
    program = f"""
import socket, sys
asked = []
def refuse(self, address, *rest):
    if self.family != socket.AF_UNIX: asked.append(address)
    raise OSError("no network")
socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = lambda *args, **rest: refuse(socket.socket(), args)
from rankstudio.cli import main
status = main({[*SMALL, "--log", "mlflow", "--json"]!r})
print(asked, status, file=sys.stderr)
"""
    own = {
        k: v
        for k, v in os.environ.items()
        if k not in ("CI", "PYTEST_CURRENT_TEST", "GITHUB_ACTIONS")
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=own,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == "[] 0"
