"""What the window computes for runs of earlier versions, and its study keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from waiting import wait_until
from windows import Opened, finish, settle

from rankstudio.engine.experiment.results.part import Part
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.ui.process.settings import Settings


@pytest.mark.thorough
def test_the_study_keeps_cross_fitted_values_that_the_window_computed(
    opened: Opened, tmp_path: Path, folds: Path
) -> None:
    with opened(folds, sealed=True) as window:
        finish(window)
        run = window.runs.records[0].result
    path = Settings(tmp_path / "config").text("study/file")
    with Study.open(path) as study:
        (summary,) = study.runs()
        for fold in study.result(summary.key).folds:
            # as earlier versions stored it
            study.save_fold(summary.key, replace(fold, cross_fitted={}))
        assert not study.result(summary.key).has_cross_fitted
    with opened(sealed=True) as window:
        window.open_path(path)
        wait_until(
            lambda: bool(window.runs.records) and window.session.dataset is not None
        )
        window.workspace.show_page("compare")
        settle(window)
        [row] = window.sections.compare.panel.rows()
        assert row.summary.part is Part.CROSS_FITTED
    with Study.open(path) as study:
        stored = study.result(summary.key)
        for kept, fold in zip(stored.folds, run.folds, strict=True):
            for name in run.plan.evaluated:
                np.testing.assert_array_equal(
                    kept.cross_fitted[name], fold.cross_fitted[name]
                )
