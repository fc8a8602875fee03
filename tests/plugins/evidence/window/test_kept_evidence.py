"""What was found is kept in the study with the run, and comes back with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from evidence_page import K, rest
from waiting import wait_until
from windows import Opened, finish

from rankstudio.plugins.evidence.window import importance
from rankstudio.plugins.evidence.window.evidence import Package, Progress
from rankstudio.plugins.evidence.window.evidence_tasks import EvidenceTasks


@pytest.fixture(autouse=True)
def own_studies(shelf_folder: Path) -> Path:
    return shelf_folder


def test_evidence_comes_back_with_the_run_and_is_not_computed_again(
    opened: Opened, folds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(folds) as window:
        finish(window)
        window.study_files.save_as(str(tmp_path / "kept.rankstudio"))
        wait_until(
            lambda: (
                window.models.study_store.path
                == (tmp_path / "kept.rankstudio").resolve()
            )
        )
        window.session.select((1.0,), K)
        window.workspace.show_page("evidence")
        rest(window)
        wait_until(lambda: not window.models.task_worker.jobs)
        fold, before = window.session.fold, window.sections.evidence.evidence.found
        assert before is not None and before.significance is not None
        window.workspace.show_page("report")
        wait_until(lambda: window.sections.report.report is not None)
        (section,) = (
            one
            for one in window.sections.report.report.sections
            if one.key == "evidence"
        )
        _advice, table, sentences, *figures = section.blocks
        assert (
            table.title == f"Run 1, fold {fold}: evidence for 3 features"
            and len(table.rows) == K
        )
        assert before.stop.sentence in sentences.text and len(figures) >= 3

    def never(*_: object) -> object:
        raise AssertionError("it is known")

    monkeypatch.setattr(EvidenceTasks, "evidence", never)
    with opened(folds, config="other") as window:
        window.open_path(str(tmp_path / "kept.rankstudio"))
        wait_until(lambda: window.runs.records and window.session.has_documents)
        window.session.show_fold(fold)
        wait_until(lambda: window.current.model is not None)
        window.session.select((1.0,), K)
        window.workspace.show_page("evidence")
        rest(window)
        evidence = window.sections.evidence.evidence
        assert all(evidence.progress(package) is Progress.DONE for package in Package)
        assert evidence.found.rows == before.rows and evidence.found is not before
        assert window.sections.evidence.panel.table.rows()


def test_permutation_importance_comes_back_with_the_run_and_stands_in_the_report(
    opened: Opened, folds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches what is kept for another model, part or measure."""
    with opened(folds) as window:
        window.session.change(
            "rankrls", method="rankrls", parameters={"regularization": (1.0,)}
        )
        finish(window)
        window.study_files.save_as(str(tmp_path / "kept.rankstudio"))
        wait_until(
            lambda: (
                window.models.study_store.path
                == (tmp_path / "kept.rankstudio").resolve()
            )
        )
        window.workspace.show_page("evidence")
        rest(window)
        wait_until(lambda: not window.models.task_worker.jobs)
        fold, before = window.session.fold, window.sections.evidence.importance.found
        assert before is not None
        window.workspace.show_page("report")
        wait_until(lambda: window.sections.report.report is not None)
        (section,) = (
            one
            for one in window.sections.report.report.sections
            if one.key == "evidence"
        )
        table, figure = section.blocks[:2]
        assert table.title.startswith(f"Run 1, fold {fold}: permutation importance")
        assert f"{before.measure.name} lost" in table.header and len(table.rows) == len(
            before.groups
        )
        assert [float(row[1]) for row in table.rows] == sorted(
            before.mean.round(4), reverse=True
        )
        assert figure.figure.rows == tuple(row[0] for row in table.rows)

    def never(*_: object) -> object:
        raise AssertionError("it is known")

    monkeypatch.setattr(importance, "_importance_steps", never)
    with opened(folds, config="other") as window:
        window.open_path(str(tmp_path / "kept.rankstudio"))
        wait_until(lambda: window.runs.records and window.session.has_documents)
        window.session.show_fold(fold)
        wait_until(lambda: window.current.model is not None)
        window.workspace.show_page("evidence")
        rest(window)
        found = window.sections.evidence.importance.found
        assert found is not None and found is not before
        assert (found.loss == before.loss).all() and found.measure == before.measure
        assert len(window.sections.evidence.panel.table.rows()) == len(found.groups)
