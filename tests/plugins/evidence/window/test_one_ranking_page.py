"""The Evidence page of documents without queries: what halves of the documents say, and nothing empty."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from evidence_page import rest
from waiting import wait_until
from windows import Opened, settle
from wording import naming

from rankstudio.cli import main
from rankstudio.engine import GreedyRankRLS, stability_selection
from rankstudio.plugins.evidence.window.evidence import Package, Progress
from rankstudio.ui.main_window import MainWindow


def objects(m: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(m, 5)), 3)
    y = (X[:, 0] + 0.3 * rng.normal(size=m) > 0).astype(float)
    y[:2] = 0, 1
    return X, y


def study_of(folder: Path, m: int) -> Path:
    """Run greedy RankRLS on a table of m documents without queries."""
    lines = [",".join(["label", *"abcde"])]
    lines += [
        f"{label:g},{','.join(map(str, row))}"
        for row, label in zip(*objects(m), strict=True)
    ]
    (folder / "objects.csv").write_text("\n".join(lines) + "\n")
    study = folder / "objects.rankstudio"
    words = ["run", "--data", str(folder / "objects.csv"), "--no-queries", "--k", "2"]
    assert main([*words, "--lambda", "1", "--study", str(study)]) == 0
    return study


def show_run(window: MainWindow) -> None:
    """Show the Select page of the stored run."""
    wait_until(lambda: window.current.model is not None)
    window.workspace.show_page("select")
    settle(window)


def test_how_sure_leads_to_halves_of_the_documents(
    opened: Opened, tmp_path: Path, shelf_folder: Path
) -> None:
    with opened(study_of(tmp_path, 40)) as window:
        show_run(window)
        link = window.sections.select.strip.sure_button
        assert link.isVisible()
        link.click()
        rest(window)
        page = window.sections.evidence
        evidence = page.evidence
        assert evidence.progress(Package.FEATURES) is Progress.OFFERED
        assert page.panel.work.button.isVisible()
        assert naming("documents").search(page.panel.work.button.toolTip())
        assert not page.best.isVisible() and not page.sets.isVisible()
        page.panel.work.button.click()
        rest(window)
        assert evidence.progress(Package.FEATURES) is Progress.DONE
        for package in (Package.BEST, Package.NEAR, Package.STOP):
            assert evidence.progress(package) is Progress.ABSENT
        # the halves are those of the engine, by the plan's seed
        expected = stability_selection(
            GreedyRankRLS(5, 1.0), *objects(40), qid=None, seed=0
        )
        np.testing.assert_array_equal(evidence.found.stability.places, expected.places)
        assert naming("100 40 documents").search(page.panel.caption())
        assert naming("one ranking").search(page.panel.foot.text())
        columns = page.panel.table.rows_model.columns
        assert [column.key for column in columns] == [
            *("feature", "name", "probability", "position", "verdict")
        ]
        tips = " ".join(column.tooltip for column in columns)
        assert "halves of the documents" in tips and "queries" not in tips
        # neither permuting nor the tray of sets compares queries of one ranking
        assert not page.panel.permuting.isVisible()
        assert not evidence.has_judge and not evidence.all_parts_apply


def test_few_documents_have_no_link_and_one_sentence(
    opened: Opened, tmp_path: Path, shelf_folder: Path
) -> None:
    with opened(study_of(tmp_path, 7)) as window:
        show_run(window)
        assert not window.sections.select.strip.sure_button.isVisible()
        window.workspace.show_page("evidence")
        rest(window)
        page = window.sections.evidence
        assert naming("7 8 documents").search(page.panel.table.placeholder)
        assert not any(
            panel.isVisible() for panel in (page.best, page.sets, page.probability)
        )
