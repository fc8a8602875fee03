"""Whole scenarios of studies: runs that come back, go on, and move to another file."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from hands import drop
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog
from stored_runs import left_in_the_middle, written
from waiting import turn, wait_until
from windows import Opened, finish, press_keys, settle, slowly

from rankstudio.engine.experiment.storage.study import Study
from rankstudio.ui.app import begin
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.session import Choice
from rankstudio.ui.process.crash import CrashReports
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.widgets import Question

pytestmark = pytest.mark.usefixtures("shelf_folder")


def stop_in_the_middle(window: MainWindow) -> RunRecord:
    """Run the plan and stop it when some units and not all are done."""
    window.commands["run"].trigger()
    wait_until(lambda: window.runs.records and window.runs.records[-1].units_done >= 2)
    window.commands["stop"].trigger()
    wait_until(lambda: not window.runs.busy)
    record = window.runs.records[-1]
    assert record.state is RunState.CANCELLED
    return record


def test_runs_come_back_at_the_next_start_as_if_just_computed(
    opened: Opened, tmp_path: Path, data: Path, shelf_folder: Path
) -> None:
    with opened(data) as window:
        finish(window)
        window.session.show_fold(1)
        before = window.runs.records[0]
        row = window.sections.compare.panel.rows()[0]
        settle(window)
        wait_until(lambda: Settings(tmp_path / "config").number("study/shown") == 1)
    assert len(list(shelf_folder.glob("*.rankstudio"))) == 1
    with opened() as window:
        window.restore()
        wait_until(lambda: window.runs.shown is not None)
        [record] = window.runs.records
        assert record.state is RunState.DONE
        assert record.dataset is window.session.dataset
        assert written(record) == written(before)
        [again] = window.sections.compare.panel.rows()
        assert (again.summary, again.state) == (row.summary, "done")
        assert "by RankStudio" in again.message
        curves = window.sections.select.curves.plots()["validation"]
        for setting in range(3):
            path = before.paths[1, setting]
            np.testing.assert_array_equal(
                curves.family[setting].ys, path.validation["MAP"]
            )
        model = window.current.model
        assert model.step is record.folds[1].chosen.step
        wait_until(lambda: window.current.test)
        assert window.current.test == dict(before.folds[1].test)
        # another model of the run is tested on the data
        window.session.select((0.25,), 3)
        wait_until(lambda: window.current.test)
        settle(window)
    with opened() as window:
        window.restore()
        wait_until(lambda: window.runs.shown is not None)
        settle(window)
        assert window.current.model.path.sizes[window.current.model.position] == 3
        assert window.session.choice == window.runs.shown.choice == Choice((0.25,), 3)


@pytest.mark.thorough
def test_a_stopped_run_goes_on_to_the_same_bits(opened: Opened, data: Path) -> None:
    with opened(data, slowly) as window:
        assert not window.commands["go_on"].isEnabled()
        record = stop_in_the_middle(window)
        assert window.commands["go_on"].isEnabled()
        told: list[object] = []
        window.runs.eventNoted.connect(lambda _, event: told.append(event))
        window.commands["go_on"].trigger()
        wait_until(lambda: record.state is RunState.DONE)
        steps = {
            (e.unit.fold, e.unit.position)
            for e in told
            if type(e).__name__ == "StepDone"
        }
        assert 0 < len(steps) < 6
        finish(window)
        anew = window.runs.records[1]
        assert written(anew) == written(record)
        assert not window.commands["go_on"].isEnabled()
        assert len(window.sections.compare.panel.rows()) == 2


def test_a_run_left_when_the_window_closed_is_offered_and_goes_on(
    opened: Opened, tmp_path: Path, data: Path
) -> None:
    done = left_in_the_middle(opened, tmp_path, data)
    with opened() as window:
        window.restore()
        wait_until(
            lambda: window.session.dataset is not None and window.session.has_documents
        )
        wait_until(window.notice.text)
        said = f"Greedy RankRLS on Small: interrupted at {done} of 6 fits."
        assert window.notice.text() == said
        assert window.notice.newest.accessibleName().startswith("info: ")
        [row] = window.sections.compare.panel.rows()
        assert (row.state, row.can_go_on) == ("unfinished", True)
        assert row.message.startswith(f"{done} of 6 fits · ")
        settle(window)
        window.notice.newest._buttons[0].click()
        wait_until(lambda: window.runs.records[0].state is RunState.DONE)
        record = window.runs.records[0]
        assert window.runs.shown is record
        assert window.notice.text() == ""
        finish(window)
        assert written(window.runs.records[1]) == written(record)


@pytest.mark.thorough
def test_curves_of_stored_units_are_drawn_while_the_run_goes_on(
    opened: Opened, tmp_path: Path, data: Path
) -> None:
    left_in_the_middle(opened, tmp_path, data)
    with opened(runner=slowly) as window:
        window.restore()
        wait_until(
            lambda: window.runs.records and window.runs.records[0].recorded is None
        )
        window.sections.compare.goOnAsked.emit(window.runs.records[0])
        record = window.runs.records[0]
        # and stay there, however far the run is by the next look
        window.session.choose_fold(1)
        wait_until(
            lambda: (
                record.unit is not None
                and (record.unit.fold, record.unit.position) >= (1, 2)
            )
        )
        curves = window.sections.select.curves.plots()["validation"]
        np.testing.assert_array_equal(
            curves.family[0].ys, record.paths[1, 0].validation["MAP"]
        )
        wait_until(lambda: record.state is RunState.DONE)
        settle(window)


# Files


def test_a_study_is_saved_as_a_file_and_opened_by_dropping_it(
    opened: Opened, tmp_path: Path, data: Path, shelf_folder: Path
) -> None:
    named = tmp_path / "Thesis.rankstudio"
    with opened(data) as window:
        finish(window)
        window.study_files.save_as(str(named))
        wait_until(lambda: window.study_files.name == "Thesis")
        wait_until(lambda: window.windowTitle() == "Small – Thesis – RankStudio")
        assert not list(shelf_folder.glob("*.rankstudio"))
        finish(window)
    with Study.open(named) as study:
        assert [bool(run.finished) for run in study.runs()] == [True, True]
    with opened(config="other") as window:
        drop(window, named)
        wait_until(
            lambda: len(window.runs.records) == 2 and window.session.has_documents
        )
        assert [row.state for row in window.sections.compare.panel.rows()] == [
            "done",
            "done",
        ]
        assert window.workspace.isVisible()
        assert window.runs.shown is window.runs.records[1]
        assert all(
            record.dataset is window.session.dataset for record in window.runs.records
        )
        assert window.session.plan.data == str(data)
        assert str(named) in window._settings.recent
        settle(window)


@pytest.mark.thorough
def test_the_command_line_opens_a_study(
    opened: Opened, tmp_path: Path, data: Path
) -> None:
    left_in_the_middle(opened, tmp_path, data)
    study = Settings(tmp_path / "config").text("study/file")
    with opened(config="other") as window:
        begin(window, [study], CrashReports(tmp_path))
        wait_until(lambda: window.session.has_documents)
        [record] = window.runs.records
        assert record.state is RunState.UNFINISHED
        wait_until(lambda: not window.models.run_worker.jobs)
        window.sections.compare.panel.goOnRequested.emit(record.key)
        wait_until(lambda: record.state is RunState.DONE)
        settle(window)


def test_a_file_that_is_no_study_is_a_sentence_and_nothing_else(
    window: MainWindow, tmp_path: Path
) -> None:
    content = b"SQLite format 3\0 and then nothing"
    finish(window)
    foreign = tmp_path / "foreign.rankstudio"
    foreign.write_bytes(content)
    rows, path, plan = (
        window.sections.compare.panel.rows(),
        window.models.study_store.path,
        window.session.plan,
    )
    window.open_path(str(foreign))
    wait_until(window.notice.text)
    assert window.notice.text().startswith(f"{foreign}: ")
    assert window.notice.newest.accessibleName().startswith("error: ")
    assert window.status.text() == "foreign.rankstudio was not opened"
    assert foreign.read_bytes() == content
    assert window.sections.compare.panel.rows() == rows
    assert window.models.study_store.path == path
    assert window.session.plan == plan
    finish(window)
    assert window.runs.records[1].stored is not None


@pytest.mark.thorough
def test_a_new_study_leaves_the_old_one_as_it_is(
    window: MainWindow, shelf_folder: Path
) -> None:
    finish(window)
    before = window.models.study_store.path
    assert before is not None
    window.commands["new_study"].trigger()
    assert window.runs.records == ()
    assert window.sections.compare.panel.rows() == ()
    finish(window)
    assert window.models.study_store.path not in (None, before)
    assert [row.key for row in window.sections.compare.panel.rows()] == [1]
    assert window._settings.recent[0] == str(before)
    with Study.open(before) as study:  # it was given up
        assert len(study.runs()) == 1
    window.open_path(str(before))
    wait_until(lambda: window.models.study_store.path == before)
    wait_until(lambda: window.runs.shown is not None)
    assert window.runs.shown.dataset is window.session.dataset
    settle(window)


@pytest.mark.thorough
def test_a_study_that_is_just_being_closed_is_waited_for(
    window: MainWindow, tmp_path: Path
) -> None:
    finish(window)
    before, go = window.models.study_store.path, threading.Event()
    window.models.run_worker.task("Ending a long run", lambda: go.wait(10))
    window.commands["new_study"].trigger()
    window.open_path(str(before))
    turn()  # it cannot be opened yet
    assert window.notice.text() == ""
    assert window.runs.records == ()
    go.set()
    wait_until(lambda: len(window.runs.records) == 1)
    settle(window)
    assert window.models.study_store.path == before
    assert window.notice.text() == ""


def test_a_run_that_works_is_asked_about_before_another_study_is_opened(
    opened: Opened, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.rankstudio"
    Study.create(other).close()
    answers = iter((False, True))
    monkeypatch.setattr(Question, "ask", lambda *_: next(answers))
    with opened(data, slowly) as window:
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].units_done)
        before = window.models.study_store.path
        window.open_path(str(other))
        turn(0.05)
        assert window.models.study_store.path == before
        assert window.runs.busy
        window.open_path(str(other))
        wait_until(lambda: window.models.study_store.path == other)
        assert window.runs.records == ()
        wait_until(lambda: not window.models.run_worker.jobs)
        assert before is not None
        with Study.open(before) as study:
            assert study.runs()[0].n_finished >= 1


@pytest.mark.thorough
def test_a_study_is_saved_elsewhere_while_a_run_works(
    opened: Opened, tmp_path: Path, data: Path
) -> None:
    named = tmp_path / "elsewhere.rankstudio"
    with opened(data, slowly) as window:
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].units_done)
        window.study_files.save_as(str(named))
        wait_until(
            lambda: not window.runs.busy and window.models.study_store.path == named
        )
        assert window.runs.records[0].state is RunState.DONE
    with Study.open(named) as study:
        assert [bool(run.finished) for run in study.runs()] == [True]


def test_ctrl_s_saves_the_study_and_asks_for_a_file_where_it_has_no_name(
    opened: Opened, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def name(*given: object) -> tuple[str, str]:
        asked.append(str(given[1]))
        return str(tmp_path / "mine.rankstudio"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", name)
    with opened(data) as window:
        finish(window)
        press_keys(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        settle(window)
        assert len(asked) == 1 and window.study_files.name == "mine"
        window.status.say("")
        press_keys(window, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
        wait_until(lambda: str(tmp_path / "mine.rankstudio") in window.status.text())
        assert len(asked) == 1
        settle(window)
