"""Scores of another program in the window: read in the background, a run like any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compare_page import run_with
from PySide6.QtWidgets import QFileDialog
from waiting import wait_until
from windows import settle
from wording import naming

from rankstudio.engine.metrics.evaluation import evaluate
from rankstudio.ui.features.features_panel import FeaturesPanel
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.page.page import Page
from rankstudio.ui.select.given_runs import GivenDialog, scores_path


def test_scores_become_a_run_that_every_page_shows(window: MainWindow, tmp_path: Path) -> None:
    run_with(window)
    dataset = window.session.dataset
    assert dataset is not None
    rng = np.random.default_rng(0)
    expected = []
    for fold in dataset.folds:
        place = tmp_path / "neural" / f"Fold{fold.number}"
        place.mkdir(parents=True)
        assert fold.test is not None
        scores = rng.normal(size=fold.test.n_documents)
        np.savetxt(place / "test.scores", scores, fmt="%.17g")
        expected.append(evaluate(fold.test.y, scores, fold.test.qid, measures=["MAP"])["MAP"])
    window.scores.read(scores_path(place / "test.scores"))
    wait_until(lambda: len(window.runs.records) == 2 and not window.runs.busy)
    record = window.runs.records[1]
    assert record.plan.title == "neural (given scores)"
    assert record.result is not None and record.result.average["MAP"] == pytest.approx(np.mean(expected))
    look_at(window.session, window.runs, record)
    for page in ("select", "features", "compare", "queries", "report"):
        window.workspace.show_page(page)
        settle(window)
    (path, *_) = window.workspace.findChildren(FeaturesPanel)
    assert naming("features path").search(path.table.placeholder)
    window.session.change("another method", method="rankrls", parameters={})
    assert not window.session.plan.scores


def test_the_order_of_the_file_becomes_a_run(window: MainWindow) -> None:
    window.commands["add_order"].trigger()
    wait_until(lambda: bool(window.runs.records) and not window.runs.busy)
    assert window.runs.records[0].plan.title == "Given order"
    assert window.runs.records[0].result is not None


def test_a_path_that_was_hidden_is_shown_beside_one_in_its_own_window(window: MainWindow) -> None:
    """Another path in sight must not keep that of Select from following when it comes back."""
    run_with(window)
    window.commands["add_order"].trigger()
    wait_until(lambda: len(window.runs.records) == 2 and not window.runs.busy)
    learned, given = window.runs.records
    window.workspace.show_page("features")
    own, other = window.sections.features.path, window.sections.features.features
    window.findChild(Page, "features-page").pop_out(own)
    look_at(window.session, window.runs, given)
    window.workspace.show_page("select")
    settle(window)
    assert own.isVisible() and not other.isVisible()
    look_at(window.session, window.runs, learned)
    settle(window)
    assert own.isVisible() and other.isVisible()
    assert (
        [row.feature_id for row in other.table.rows()] == [row.feature_id for row in own.table.rows()] != []
    )


def test_the_name_is_asked_for(window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = window.session.dataset
    assert dataset is not None
    m = sum(fold.test.n_documents for fold in dataset.folds if fold.test is not None)
    path = tmp_path / "bm25.scores"
    path.write_text("".join(f"{i}\n" for i in range(m)))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    window.commands["add_scores"].trigger()
    (dialog,) = window.findChildren(GivenDialog)
    assert dialog.run_name() == "bm25"
    dialog.name.setText(" BM25,  as  indexed ")
    dialog.accept()
    wait_until(lambda: bool(window.runs.records) and not window.runs.busy)
    assert window.runs.records[0].plan.title == "BM25, as indexed (given scores)"


def test_what_does_not_fit_is_said(window: MainWindow, tmp_path: Path) -> None:
    said: list[str] = []
    window.scores.failed.connect(said.append)
    (tmp_path / "short.txt").write_text("1\n")
    window.scores.read(tmp_path / "short.txt")
    wait_until(lambda: bool(said))
    assert naming("score document").search(said[0]) and not window.runs.records
