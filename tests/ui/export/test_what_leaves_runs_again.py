"""What the window exports of kernels, left-out queries, preferences, permutations, simulations runs again."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from preference_oracles import write_preferences
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from waiting import wait_until
from windows import finish, settle, write_item

from rankstudio.cli import main
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.reports import RESULT_FILES, write_results
from rankstudio.engine.export.models import load_model
from rankstudio.ui.export.items import export_items
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.page.export_item import ExportItem

_RUN_NOTEBOOK = """
import sys, nbclient, nbformat
found = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(found, timeout=200, kernel_name="python3").execute()
"""

KERNEL = {"gamma": (0.05, 0.5), "regularization": (0.1, 1.0), "n_basis": 20}
FEW = {"regularization": (1.0, 4.0), "n_features_to_select": 3}
PLOTS, TABLES = {".png", ".svg", ".pdf", ".csv"}, {".csv", ".tex", ".md"}

prepare = settle


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep studies in a folder of the test's own, and what the terminal does with warnings out of others."""
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)


_LEAVES = (
    *(
        "results",
        "model",
        "features",
        "runs",
        "plot-validation",
        "plot-criterion",
        "plot-heat",
    ),
    *("plan-toml", "plan-command", "plan-python", "plan-notebook"),
)


def kernel(window: MainWindow, _: Path) -> None:
    changes = {
        "method": "kernel-rankrls",
        "parameters": KERNEL,
        "select_by": "leave-query-out MAP",
    }
    window.session.change("editing", **changes)


def judged_by_a_kernel(window: MainWindow, _: Path) -> None:
    window.session.change(
        "editing", parameters=FEW, ranker="kernel-rankrls", ranker_parameters=KERNEL
    )


def left_out(window: MainWindow, _: Path) -> None:
    window.session.change(
        "editing", parameters=FEW, select_by="leave-query-out NDCG@10"
    )


def preferences(window: MainWindow, folder: Path) -> None:
    pytest.importorskip("rankstudio.plugins.preferences")  # its folder may be absent
    assert window.session.dataset is not None
    write_preferences(folder / "clicks.csv", window.session.dataset)
    window.commands["open_preferences"].trigger()
    wait_until(lambda: bool(preferences_of(window.session.plan)))
    window.session.change("editing", parameters=FEW)


def written_here(item: ExportItem) -> bool:
    return item.write is not None or item.key.startswith("plot-")


def export(window: MainWindow, folder: Path, *keys: str) -> dict[str, list[Path]]:
    """Write what can be exported in all its formats, or some of it; return the files of each item."""
    written: dict[str, list[Path]] = {}
    for item in export_items(window.models, window.sections):
        if (
            item.unavailable
            or (keys and item.key not in keys)
            or not written_here(item)
        ):
            continue
        for _, suffix in item.formats:
            path = folder / f"{item.key}{suffix}"
            write_item(item, path)
            written.setdefault(item.key, []).append(path)
    return written


def files(folder: Path) -> dict[str, bytes]:
    models = (path.relative_to(folder) for path in sorted(folder.glob("models/*")))
    return {
        str(name): (folder / name).read_bytes() for name in (*RESULT_FILES, *models)
    }


def carried_out(path: Path, results: Path) -> None:
    """Run a notebook in a kernel of its own, from its first cell to its last, and write its results."""
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    text = f"from rankstudio.engine import write_results\nwrite_results(result, {str(results)!r})"
    notebook.cells.append(nbformat.v4.new_code_cell(text))
    nbformat.write(notebook, path)
    done = subprocess.run(
        [sys.executable, "-c", _RUN_NOTEBOOK, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("choose", [kernel, judged_by_a_kernel, left_out, preferences])
def test_plan_command_program_and_notebook_give_the_same_bytes(
    ran: MainWindow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    choose: Callable[[MainWindow, Path], None],
) -> None:
    monkeypatch.setattr(
        QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "clicks.csv"), "")
    )
    monkeypatch.chdir(tmp_path)
    choose(ran, tmp_path)
    finish(ran)
    ran.session.show_fold(1)
    settle(ran)
    out = tmp_path / "out"
    out.mkdir()
    # to paint every plot takes seconds
    written = export(ran, out, *(() if choose is kernel else _LEAVES))
    for key in ("plot-validation", "plot-criterion", "plot-heat"):
        assert {path.suffix for path in written[key]} == PLOTS
    for key in ("features", "runs"):
        assert {path.suffix for path in written[key]} == TABLES
    assert all(
        path.is_dir() or path.stat().st_size > 0
        for paths in written.values()
        for path in paths
    )
    assert load_model(written["model"][0]).features

    (told,) = written["results"]
    expected = files(told)
    assert len(expected) == len(RESULT_FILES) + 2  # a model a fold
    assert (
        main(["run", str(written["plan-toml"][0]), "--out", str(tmp_path / "toml")])
        == 0
    )
    assert files(tmp_path / "toml") == expected
    command = shlex.split(written["plan-command"][0].read_text())
    assert command[:2] == ["rankstudio", "run"]
    assert main([*command[1:], "--out", str(tmp_path / "command")]) == 0
    assert files(tmp_path / "command") == expected
    space: dict[str, Any] = {}
    exec(written["plan-python"][0].read_text(), space)
    write_results(space["result"], tmp_path / "program")
    assert files(tmp_path / "program") == expected
    cells = nbformat.read(written["plan-notebook"][0], 4).cells
    again: dict[str, Any] = {}
    exec("\n".join(cell.source for cell in cells[1:3]), again)
    assert again["plan"] == space["plan"]
    if choose is kernel:  # a kernel of its own takes long
        carried_out(written["plan-notebook"][0], tmp_path / "notebook")
        assert files(tmp_path / "notebook") == expected


@pytest.mark.ability("permutation")
def test_the_band_of_permuted_labels_is_what_the_terminal_says(
    ran: MainWindow, tmp_path: Path, folds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran.session.change(
        "editing", parameters={"regularization": (4.0,), "n_features_to_select": 3}
    )
    finish(ran)
    ran.session.show_fold(2)
    settle(ran)
    tests = ran.sections.contributed.controllers["permutation"].tests
    ran.commands["chance"].trigger()
    wait_until(lambda: tests.band is not None and tests.band.n_permutations == 999)
    settle(ran)
    written = export(ran, tmp_path, "plot-criterion")["plot-criterion"]
    assert {path.suffix for path in written} == PLOTS
    (path,) = (path for path in written if path.suffix == ".csv")
    rows = [
        row
        for row in csv.reader(path.read_text().splitlines())
        if row[0].startswith("permuted")
    ]
    capsys.readouterr()
    options = "--folds 2 --features 3 --lambda 4 --json"
    assert main(["permute", str(folds), *options.split()]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    names = ("permuted_mean", "permuted_low", "permuted_high")
    assert [[float(cell) for cell in row[2:]] for row in rows] == [
        [s[name] for name in names] for s in steps
    ]


@pytest.mark.ability("permutation")
@pytest.mark.parametrize("choose", [left_out, preferences])
def test_a_permutation_test_runs_again_from_its_command_and_its_program(
    ran: MainWindow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    choose: Callable[[MainWindow, Path], None],
) -> None:
    monkeypatch.setattr(
        QFileDialog, "getOpenFileName", lambda *_: (str(tmp_path / "clicks.csv"), "")
    )
    choose(ran, tmp_path)
    ran.session.change("editing", parameters={"n_features_to_select": 3}, seed=5)
    finish(ran)
    ran.session.show_fold(2)
    settle(ran)
    items = {item.key: item for item in export_items(ran.models, ran.sections)}
    assert items["permutation.sh"].unavailable.startswith("No permutation test yet")
    tests = ran.sections.contributed.controllers["permutation"].tests
    ran.commands["chance"].trigger()
    wait_until(lambda: tests.band is not None and tests.band.n_permutations > 0)
    ran.commands["stop"].trigger()
    assert tests.band is not None
    written = export(ran, tmp_path, "permutation.sh", "permutation.py")
    shown = json.loads(json.dumps(tests.band.as_dict()))
    capsys.readouterr()
    _, *words = shlex.split(written["permutation.sh"][0].read_text())
    assert main([*words, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["fold"], again["permutations"]) == (2, shown["permutations"])
    assert [
        {name: step[name] for name in shown["steps"][0]} for step in again["steps"]
    ] == shown["steps"]
    done = subprocess.run(
        [sys.executable, str(written["permutation.py"][0])],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == shown


def test_deviations_are_what_the_terminal_says(
    ran: MainWindow, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran.commands["page_lab"].trigger()
    settle(ran)
    lab = ran.sections.contributed.controllers["lab"].auc
    for name, value in {
        "n_examples": "20",
        "shift": "0.5",
        "repetitions": "500",
        "values": "10",
    }.items():
        editor = lab.form.field(name).editor
        editor.selectAll()
        QTest.keyClicks(editor, value)
    lab.form.start.click()
    wait_until(lambda: lab.form.status.text() == "done")
    written = export(
        ran, tmp_path, "lab-deviations", "plot-lab-auc", "plot-lab-bias", "plot-lab-sd"
    )
    assert {path.suffix for path in written["lab-deviations"]} == TABLES
    for key in ("plot-lab-auc", "plot-lab-bias", "plot-lab-sd"):
        assert {path.suffix for path in written[key]} == PLOTS
    capsys.readouterr()
    options = "--examples 20 --shift 0.5 --repetitions 500 --json"
    assert main(["lab", "auc", *options.split()]) == 0
    told = json.loads(capsys.readouterr().out)["estimators"]
    (path,) = (path for path in written["lab-deviations"] if path.suffix == ".csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert {row["estimator"]: float(row["mean"]) for row in rows} == {
        n: v["bias"] for n, v in told.items()
    }
    assert [float(row["sd"]) for row in rows] == [
        v["conditional_sd"] for v in told.values()
    ]
