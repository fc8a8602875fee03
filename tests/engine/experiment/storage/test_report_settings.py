"""What is written for the report: kept in the study, brought to old ones, left out where it is damaged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import ReportSettings

WRITTEN = ReportSettings("Which features?", "λ at its end.\n\nAgain.", (("results", True), ("data", False)))


def test_what_is_written_is_there_when_the_study_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "one.rankstudio"
    with Study.create(path) as study:
        assert study.report_settings == ReportSettings()
        study.set_report_settings(ReportSettings("first"))
        study.set_report_settings(WRITTEN)
    with Study.open(path) as study:
        assert study.report_settings == WRITTEN
        assert study.damage() == ()


@pytest.mark.parametrize("change", ["question = 'forged'", "sections = 'no json'"])
def test_what_is_damaged_is_left_out_and_told(tmp_path: Path, change: str) -> None:
    path = tmp_path / "one.rankstudio"
    with Study.create(path) as study:
        study.set_report_settings(WRITTEN)
    db = sqlite3.connect(path)
    with db:
        db.execute(f"UPDATE report SET {change}")
    db.close()
    with Study.open(path) as study:
        assert study.report_settings == ReportSettings()
        assert study.damage() == (f"{study.path}: the texts for the report are damaged and left out.",)
