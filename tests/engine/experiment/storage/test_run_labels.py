"""Names, notes and tags of runs in a study: kept, brought to old studies, and never in the way of numbers."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from experiment.small import dataset

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.engine.experiment.storage.study_contents import RunLabel

LABEL = RunLabel("for the paper", "λ is at its end, look again", ("paper", "ü, with a comma"), True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "one.rankstudio"


def test_what_is_said_of_a_run_is_there_when_the_study_is_opened_again(path: Path) -> None:
    with Study.create(path) as study:
        first = study.begin(Plan("small"), dataset())
        second = study.begin(Plan("small", "gas"), dataset())
        assert study.label(first) == RunLabel()
        study.set_label(first, RunLabel("first of all"))
        study.set_label(first, LABEL)
    with Study.open(path) as study:
        assert (study.label(first), study.label(second)) == (LABEL, RunLabel())
        assert study.damage() == ()


@pytest.mark.parametrize("change", ["name = 'forged'", "tags = 'no json'", "hidden = 0"])
def test_a_damaged_label_is_left_out_and_told_and_the_run_is_sound(path: Path, change: str) -> None:
    with Study.create(path) as study:
        run = study.begin(Plan("small"), dataset())
        study.set_label(run, LABEL)
    db = sqlite3.connect(path)
    with db:
        db.execute(f"UPDATE label SET {change}")
    db.close()
    with Study.open(path) as study:
        assert study.label(run) == RunLabel()
        assert study.damage() == (f"{study.path}: the name and notes of a run are damaged and left out.",)
        assert [summary.damage for summary in study.runs()] == [""]
