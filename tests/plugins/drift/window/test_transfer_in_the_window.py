"""Whether a selection made elsewhere holds here, in one action: against the engine's own comparison."""

from __future__ import annotations

from pathlib import Path

import pytest
from letor_folder import save_folds
from PySide6.QtWidgets import QFileDialog, QInputDialog
from waiting import wait_until
from windows import settle

from rankstudio.engine import Plan, open_dataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.plugins.drift.transfer import transfer
from rankstudio.ui.main_window import MainWindow


@pytest.fixture
def elsewhere(tmp_path: Path) -> tuple[Path, list[RunResult]]:
    """A study with two runs on other data, and their results."""
    data = save_folds(
        tmp_path / "Other",
        1,
        n_queries=15,
        n_redundant=1,
        n_noise=1,
        n_constant=0,
        seed=9,
    )
    path, results = tmp_path / "other.rankstudio", []
    with Study.create(path) as study:
        for k in (2, 3):
            plan = Plan(
                str(data),
                parameters={"n_features_to_select": k},
                measures=("NDCG@10", "MAP"),
            )
            results.append(list(run_stored(plan, open_dataset(data), study))[-1].result)
    return path, results


def _open(path: Path, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    monkeypatch.setattr(QInputDialog, "getItem", lambda *a, **_: (a[3][n - 1], True))


@pytest.mark.thorough
def test_both_runs_are_compared(
    window: MainWindow,
    elsewhere: tuple[Path, list[RunResult]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, results = elsewhere
    for number in (2, 2):  # the second time its own run is there
        _open(path, number, monkeypatch)
        before = len(window.runs.records)
        window.commands["transfer"].trigger()
        wait_until(
            lambda n=before: len(window.runs.records) > n and not window.runs.busy
        )
    settle(window)
    theirs, own, again = window.runs.records
    expected = transfer(
        results[1], open_dataset(results[1].plan.data), window.session.plan.data
    )
    assert (
        theirs.result is not None
        and own.result is not None
        and again.result is not None
    )
    assert (
        theirs.result.average["MAP"]
        == expected.transferred_run.average["MAP"]
        == again.result.average["MAP"]
    )
    assert own.result.average["MAP"] == expected.own_run.average["MAP"]
    assert (
        window.workspace.page == "compare" and window.models.marks.reference == own.key
    )
    assert [window.models.marks.is_ticked(r.key) for r in (theirs, own, again)] == [
        False,
        True,
        True,
    ]


def test_what_cannot_be_tested_is_said(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    window.sections.contributed.controllers["transfer"].failed.connect(said.append)
    Study.create(tmp_path / "empty.rankstudio").close()
    (tmp_path / "other.rankstudio").write_text("x")
    for name in ("empty", "other"):
        _open(tmp_path / f"{name}.rankstudio", 1, monkeypatch)
        window.commands["transfer"].trigger()
        wait_until(lambda n=name: any(n in text for text in said))
    assert not window.runs.records
