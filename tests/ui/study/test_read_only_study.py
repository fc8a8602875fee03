"""A study that may not be written: the window shows its runs, and says what it cannot do with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiment.small import ended
from waiting import wait_until
from windows import Opened, finish, settle, write_folds
from wording import naming

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import UnitFinished
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import open_data
from rankstudio.engine.experiment.storage import sqlite_file
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.ui.model.run_record import RunState


@pytest.fixture
def study(tmp_path: Path, shelf_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study with a finished run and one that is not, which may not be written."""
    path = tmp_path / "disk" / "study.rankstudio"
    path.parent.mkdir()
    plan = Plan(
        str(write_folds(tmp_path / "Small")),
        parameters={"regularization": (1.0, 2.0)},
        folds=(1,),
    )
    dataset = open_data(plan)
    with Study.create(path) as made:
        ended(run_stored(plan, dataset, made))
        events = run_stored(plan.changed(folds=(2,)), dataset, made)
        next(event for event in events if isinstance(event, UnitFinished))
        events.close()
    monkeypatch.setattr(
        sqlite_file, "_writable", lambda place: place.parent != path.parent
    )
    return path


def test_its_runs_are_shown_and_nothing_is_written(
    opened: Opened, study: Path, questions: list[str]
) -> None:
    before = study.read_bytes()
    with opened() as window:
        window.open_path(str(study))
        wait_until(
            lambda: len(window.runs.records) == 2 and window.session.has_documents
        )
        settle(window)
        done, left = window.runs.records
        assert done.state is RunState.DONE
        assert (left.state, left.units_done) == (RunState.UNFINISHED, 1)
        assert naming("1 of 2 read-only").search(left.remark)
        assert window.notice.text().startswith(
            f"{study}: this study is read-only. Its runs are shown"
        )
        assert not left.can_go_on
        assert not window.commands["go_on"].isEnabled()
        window.notice.dismiss()

        window.sections.compare.changes.ask_removal(done)
        assert window.notice.text().startswith(f"{study}: run 1 stays in the list")
        assert (questions, len(window.runs.records)) == ([], 2)
        window.notice.dismiss()

        finish(window)  # it is computed, and was said already not to be stored
        assert window.runs.records[2].state is RunState.DONE
        assert window.runs.records[2].stored is None
        assert window.notice.text() == ""
        window.sections.compare.changes.ask_removal(window.runs.records[2])
        assert len(window.runs.records) == 2
    assert study.read_bytes() == before
    assert [path.name for path in study.parent.iterdir()] == [study.name]


@pytest.mark.thorough
def test_a_copy_of_it_is_gone_on_with(
    opened: Opened, study: Path, tmp_path: Path
) -> None:
    with opened() as window:
        window.open_path(str(study))
        wait_until(
            lambda: len(window.runs.records) == 2 and window.session.has_documents
        )
        window.study_files.save_as(str(tmp_path / "copy.rankstudio"))
        settle(window)
        left = window.runs.records[1]
        assert left.can_go_on
        window.restorer.go_on(left)
        wait_until(lambda: left.state is RunState.DONE)
        settle(window)
    with Study.open(tmp_path / "copy.rankstudio") as copy:
        assert [run.finished is not None for run in copy.runs()] == [True, True]
