"""What is written for the report: kept in the study, brought to old ones, left out where it is damaged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from rankstudio.engine.experiment.storage import sqlite_file
from rankstudio.engine.experiment.storage.report_settings import ReportSettings
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_rows import MIGRATIONS, write

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


def test_a_study_of_the_version_before_can_have_a_report(tmp_path: Path) -> None:
    def fill(db: sqlite3.Connection) -> None:
        write(db, "study", title="old", created="2026-01-01T00:00:00+00:00", versions="{}")

    path = tmp_path / "one.rankstudio"
    sqlite_file.create(path, MIGRATIONS[:6], fill=fill)
    with Study.open(path) as study:
        study.set_report_settings(WRITTEN)
        assert study.report_settings == WRITTEN


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
        assert study.damage() == (
            f"{study.path}: what was written for the report is damaged: it is left out.",
        )
