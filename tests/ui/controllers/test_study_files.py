"""Whole scenarios of studies: runs that come back, go on, move to another file, and files that are none."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from experiment import small
from PySide6.QtCore import QCoreApplication, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMessageBox
from waiting import turn, wait_until
from windows import finish, open_window, settle, slowly, write_folds

from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import results_as_dict
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import collect, open_data
from rankstudio.engine.experiment.storage import study as store
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.ui.app import begin
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunRecord, RunState
from rankstudio.ui.model.stored_run_records import record_of
from rankstudio.ui.model.study_store import StudyStore
from rankstudio.ui.process.crash import CrashReports
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme


@pytest.fixture(autouse=True)
def shelf_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for each test's studies without a name."""
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    return tmp_path / "user" / "studies"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Small data that a test may change."""
    return write_folds(tmp_path / "Small")


def written(record: RunRecord) -> dict[str, object]:
    """Return what the run's results are as a file, without how long it took."""
    assert record.result is not None
    values = results_as_dict(record.result)
    return {name: value for name, value in values.items() if name != "seconds"}


def stop_in_the_middle(window: MainWindow) -> RunRecord:
    """Run the plan and stop it when some units and not all are done."""
    window.commands["run"].trigger()
    wait_until(lambda: window.runs.records and window.runs.records[-1].units_done >= 2)
    window.commands["stop"].trigger()
    wait_until(lambda: not window.runs.busy)
    record = window.runs.records[-1]
    assert record.state is RunState.CANCELLED
    return record


def left_in_the_middle(theme: Theme, tmp_path: Path, data: Path) -> int:
    """Close a window in the middle of a run, and return how many of its units were done."""
    with open_window(theme, tmp_path / "config", data, slowly) as window:
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].units_done >= 2)
    with Study.open(Settings(tmp_path / "config").text("study/file")) as study:
        (summary,) = study.runs()
    assert not summary.finished
    return summary.n_finished


def test_runs_come_back_at_the_next_start_as_if_just_computed(
    theme: Theme, tmp_path: Path, data: Path, shelf_folder: Path
) -> None:
    with open_window(theme, tmp_path / "config", data) as window:
        finish(window)
        window.session.look_at(1)
        before = window.runs.records[0]
        row = window.sections.results.panel.rows()[0]
        settle(window)
        wait_until(lambda: Settings(tmp_path / "config").number("study/shown") == 1)
    assert len(list(shelf_folder.glob("*.rankstudio"))) == 1
    with open_window(theme, tmp_path / "config") as window:
        window.restore()
        wait_until(lambda: window.runs.shown is not None)
        [record] = window.runs.records
        assert record.state is RunState.DONE
        assert record.dataset is window.session.dataset
        assert written(record) == written(before)
        [again] = window.sections.results.panel.rows()
        assert (again.summary, again.state) == (row.summary, "done")
        assert "by RankStudio" in again.message
        curves = window.sections.run.curves.plots()["validation"]
        for setting in range(3):
            path = before.paths[1, setting]
            np.testing.assert_array_equal(curves.family[setting].ys, path.validation["MAP"])
        model = window.current.model
        assert model is not None
        assert model.step is record.folds[1].chosen.step
        wait_until(lambda: window.current.test)
        assert window.current.test == dict(before.folds[1].test)
        window.session.select((0.25,), 3)  # another model of the run is tested on the data
        wait_until(lambda: window.current.test)
        settle(window)


def test_a_stopped_run_goes_on_to_the_same_bits(theme: Theme, tmp_path: Path, data: Path) -> None:
    with open_window(theme, tmp_path / "config", data, slowly) as window:
        assert not window.commands["go_on"].isEnabled()
        record = stop_in_the_middle(window)
        assert window.commands["go_on"].isEnabled()
        told: list[object] = []
        window.runs.eventNoted.connect(lambda _, event: told.append(event))
        window.commands["go_on"].trigger()
        wait_until(lambda: record.state is RunState.DONE)
        steps = {(e.unit.fold, e.unit.position) for e in told if type(e).__name__ == "StepDone"}
        assert 0 < len(steps) < 6
        finish(window)
        anew = window.runs.records[1]
        assert written(anew) == written(record)
        assert not window.commands["go_on"].isEnabled()
        assert len(window.sections.results.panel.rows()) == 2


def test_a_run_left_when_the_window_closed_is_offered_and_goes_on(
    theme: Theme, tmp_path: Path, data: Path
) -> None:
    done = left_in_the_middle(theme, tmp_path, data)
    with open_window(theme, tmp_path / "config") as window:
        window.restore()
        wait_until(lambda: window.session.dataset is not None and window.session.has_documents)
        wait_until(window.notice.text)
        said = f"Greedy RankRLS on Small was left at {done} of 6 units."
        assert window.notice.text() == said
        assert window.notice.accessibleName().startswith("info: ")
        [row] = window.sections.results.panel.rows()
        assert (row.state, row.can_go_on) == ("unfinished", True)
        assert row.message.startswith(f"{done} of 6 units · ")
        settle(window)
        window.notice._action.click()
        wait_until(lambda: window.runs.records[0].state is RunState.DONE)
        record = window.runs.records[0]
        assert window.runs.shown is record
        assert window.notice.text() == ""
        finish(window)
        assert written(window.runs.records[1]) == written(record)


def test_curves_of_stored_units_are_drawn_while_the_run_goes_on(
    theme: Theme, tmp_path: Path, data: Path
) -> None:
    left_in_the_middle(theme, tmp_path, data)
    with open_window(theme, tmp_path / "config", runner=slowly) as window:
        window.restore()
        wait_until(lambda: window.runs.records and window.runs.records[0].recorded is None)
        window.sections.results.goOnAsked.emit(window.runs.records[0])
        record = window.runs.records[0]
        window.session.look_at(1)
        wait_until(lambda: record.unit is not None and (record.unit.fold, record.unit.position) >= (1, 2))
        curves = window.sections.run.curves.plots()["validation"]
        np.testing.assert_array_equal(curves.family[0].ys, record.paths[1, 0].validation["MAP"])
        wait_until(lambda: record.state is RunState.DONE)
        settle(window)


# Files


def test_a_study_is_saved_as_a_file_and_opened_by_dropping_it(
    theme: Theme, tmp_path: Path, data: Path, shelf_folder: Path
) -> None:
    named = tmp_path / "Thesis.rankstudio"
    with open_window(theme, tmp_path / "config", data) as window:
        finish(window)
        window.study_files.save_as(str(named))
        wait_until(lambda: window.study_files.name == "Thesis")
        wait_until(lambda: window.windowTitle() == "Small – Thesis – RankStudio")
        assert not list(shelf_folder.glob("*.rankstudio"))
        finish(window)
    with Study.open(named) as study:
        assert [bool(run.finished) for run in study.runs()] == [True, True]
    with open_window(theme, tmp_path / "other") as window:
        mime = QMimeData()
        mime.setUrls([QUrl.fromLocalFile(str(named))])
        none = Qt.KeyboardModifier.NoModifier
        event = QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, none)
        over = QDragEnterEvent(QPoint(9, 9), Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, none)
        QCoreApplication.sendEvent(window, over)
        QCoreApplication.sendEvent(window, event)
        wait_until(lambda: len(window.runs.records) == 2 and window.session.has_documents)
        assert [row.state for row in window.sections.results.panel.rows()] == ["done", "done"]
        assert window.workspace.isVisible()
        assert window.runs.shown is window.runs.records[1]
        assert all(record.dataset is window.session.dataset for record in window.runs.records)
        assert window.session.plan.data == str(data)
        assert str(named) in window._settings.recent
        settle(window)


def test_the_command_line_opens_a_study(theme: Theme, tmp_path: Path, data: Path) -> None:
    left_in_the_middle(theme, tmp_path, data)
    study = Settings(tmp_path / "config").text("study/file")
    with open_window(theme, tmp_path / "other") as window:
        begin(window, [study], CrashReports(tmp_path))
        wait_until(lambda: window.session.has_documents)
        [record] = window.runs.records
        assert record.state is RunState.UNFINISHED
        wait_until(lambda: not window.models.run_worker.jobs)
        window.sections.results.panel.goOnRequested.emit(record.key)
        wait_until(lambda: record.state is RunState.DONE)
        settle(window)


@pytest.mark.parametrize("content", [b"my thesis, not a study", b"SQLite format 3\0 and then nothing", b""])
def test_a_file_that_is_no_study_is_a_sentence_and_nothing_else(
    window: MainWindow, tmp_path: Path, content: bytes
) -> None:
    finish(window)
    foreign = tmp_path / "foreign.rankstudio"
    foreign.write_bytes(content)
    rows, path, plan = (
        window.sections.results.panel.rows(),
        window.models.study_store.path,
        window.session.plan,
    )
    window.open_path(str(foreign))
    wait_until(window.notice.text)
    assert window.notice.text().startswith(f"{foreign}: ")
    assert window.notice.accessibleName().startswith("error: ")
    assert foreign.read_bytes() == content
    assert window.sections.results.panel.rows() == rows
    assert window.models.study_store.path == path
    assert window.session.plan == plan
    finish(window)
    assert window.runs.records[1].stored is not None


def test_a_new_study_leaves_the_old_one_as_it_is(window: MainWindow, shelf_folder: Path) -> None:
    finish(window)
    before = window.models.study_store.path
    assert before is not None
    window.commands["new_study"].trigger()
    assert window.runs.records == ()
    assert window.sections.results.panel.rows() == ()
    finish(window)
    assert window.models.study_store.path not in (None, before)
    assert [row.key for row in window.sections.results.panel.rows()] == [1]
    assert window._settings.recent[0] == str(before)
    with Study.open(before) as study:  # it was given up
        assert len(study.runs()) == 1
    window.open_path(str(before))
    wait_until(lambda: window.models.study_store.path == before)
    wait_until(lambda: window.runs.shown is not None)
    assert window.runs.shown.dataset is window.session.dataset
    settle(window)


def test_a_study_that_is_just_being_closed_is_waited_for(window: MainWindow, tmp_path: Path) -> None:
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
    theme: Theme, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.rankstudio"
    Study.create(other).close()
    answers: Iterator[QMessageBox.StandardButton] = iter(
        (QMessageBox.StandardButton.No, QMessageBox.StandardButton.Yes)
    )
    monkeypatch.setattr(QMessageBox, "question", lambda *_: next(answers))
    with open_window(theme, tmp_path / "config", data, slowly) as window:
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


def test_a_study_is_saved_elsewhere_while_a_run_works(theme: Theme, tmp_path: Path, data: Path) -> None:
    named = tmp_path / "elsewhere.rankstudio"
    with open_window(theme, tmp_path / "config", data, slowly) as window:
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].units_done)
        window.study_files.save_as(str(named))
        wait_until(lambda: not window.runs.busy and window.models.study_store.path == named)
        assert window.runs.records[0].state is RunState.DONE
    with Study.open(named) as study:
        assert [bool(run.finished) for run in study.runs()] == [True]


# What can go wrong


def test_a_second_window_begins_a_study_of_its_own(theme: Theme, tmp_path: Path, data: Path) -> None:
    with open_window(theme, tmp_path / "config", data) as first:
        finish(first)
        wait_until(lambda: Settings(tmp_path / "config").plan == first.session.plan)
        with open_window(theme, tmp_path / "config") as second:
            second.restore()
            wait_until(lambda: second.session.dataset is not None)
            settle(second)
            assert second.notice.text() == ""
            assert second.runs.records == ()
            finish(second)
            assert second.models.study_store.path != first.models.study_store.path
            second.open_path(str(first.models.study_store.path))
            wait_until(second.notice.text)
            assert "the study is in use by process" in second.notice.text()
            assert len(second.runs.records) == 1
        finish(first)
        assert len(first.runs.records) == 2


def test_runs_go_on_where_no_study_can_be_written_and_that_is_said_once(
    window: MainWindow, shelf_folder: Path
) -> None:
    shelf_folder.parent.mkdir(parents=True)
    shelf_folder.write_text("a file where the folder should be")
    finish(window)
    assert window.runs.records[0].state is RunState.DONE
    assert window.notice.text().startswith("Runs are not kept, and end with the window: ")
    assert str(shelf_folder) in window.notice.text()
    assert window.notice.accessibleName().startswith("warning: ")
    window.notice.dismiss()
    finish(window)
    assert window.notice.text() == ""
    assert not window.runs.records[1].can_go_on


def test_a_full_disk_in_the_middle_stops_the_run_and_keeps_what_was_stored(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, left = Study.save_unit, iter(range(2))

    def until_full(self, *given):  # type: ignore[no-untyped-def]
        if next(left, None) is None:
            raise StoreError(f"{self.path}: the disk is full; what was stored before is safe.")
        save(self, *given)

    monkeypatch.setattr(Study, "save_unit", until_full)
    window.commands["run"].trigger()
    wait_until(lambda: not window.runs.busy)
    record = window.runs.records[0]
    assert record.state is RunState.FAILED
    assert window.notice.text().endswith("the disk is full; what was stored before is safe.")
    assert len(record.paths) == 2
    monkeypatch.setattr(Study, "save_unit", save)
    window.commands["go_on"].trigger()
    wait_until(lambda: record.state is RunState.DONE)
    expected = collect(record.plan, open_data(record.plan), tuple(record.folds.values()), 0.0)
    assert results_as_dict(expected)["folds"] == written(record)["folds"]
    settle(window)


def test_runs_are_shown_where_their_data_are_gone(theme: Theme, tmp_path: Path, data: Path) -> None:
    with open_window(theme, tmp_path / "config", data) as window:
        finish(window)
        before, study = window.runs.records[0], str(window.models.study_store.path)
    shutil.rmtree(data)
    with open_window(theme, tmp_path / "other") as window:
        window.open_path(study)
        wait_until(window.notice.text)
        assert str(data) in window.notice.text()
        assert window.notice.text().endswith("The run is shown as it was stored.")
        [record] = window.runs.records
        assert window.runs.shown is record
        curves = window.sections.run.curves.plots()["validation"]
        np.testing.assert_array_equal(curves.family[1].ys, before.paths[1, 1].validation["MAP"])
        assert window.sections.inspect.features.table.rows()
        assert window.current.test == dict(before.folds[1].test)
        assert not window.commands["run"].isEnabled()
        window.session.look_at(2)
        chosen = record.folds[2].chosen.unit.values
        window.session.select(next(values for values in record.combinations if values != chosen), 3)
        assert window.current.model is not None
        assert window.current.test == {}
        assert "are not open" in window.sections.inspect.features._test.text()
        window.session.look_at(None)
        settle(window)


def test_data_that_changed_are_noticed(theme: Theme, tmp_path: Path, data: Path) -> None:
    done = left_in_the_middle(theme, tmp_path, data)
    file = data / "Fold2" / "test.txt"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:-1]) + "\n")
    with open_window(theme, tmp_path / "other", runner=slowly) as window:
        window.open_path(Settings(tmp_path / "config").text("study/file"))
        wait_until(window.notice.text)
        assert window.notice.text().startswith(f"{file}: the file changed: recorded were ")
        [record] = window.runs.records
        assert record.recorded is not None
        window.notice.dismiss()
        window.commands["go_on"].trigger()
        wait_until(window.notice.text)
        assert "the file changed" in window.notice.text()
        assert record.state is RunState.UNFINISHED
        assert record.units_done == done


def test_a_run_of_another_version_is_shown_and_not_gone_on_with(
    theme: Theme, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {**store.versions(), "rankstudio": "0.0.1"}
    monkeypatch.setattr(store, "versions", lambda: found)
    left_in_the_middle(theme, tmp_path, data)
    monkeypatch.undo()
    with open_window(theme, tmp_path / "other") as window:
        window.open_path(Settings(tmp_path / "config").text("study/file"))
        wait_until(lambda: window.session.has_documents)
        [row] = window.sections.results.panel.rows()
        assert not row.can_go_on
        assert "by RankStudio 0.0.1 · It was begun by RankStudio 0.0.1, here is" in row.message
        assert not window.commands["go_on"].isEnabled()
        settle(window)


def test_models_that_the_study_did_not_keep_are_said_to_be_so(
    theme: Theme, tmp_path: Path, data: Path
) -> None:
    with open_window(theme, tmp_path / "config", data) as window:
        window.session.change("boosting", method="rankboost", parameters={"n_rounds": 4})
        finish(window)
        study = str(window.models.study_store.path)
    with open_window(theme, tmp_path / "other") as window:
        window.open_path(study)
        wait_until(lambda: window.session.has_documents)
        settle(window)
        model = window.current.model
        assert model is not None
        assert model.step.whole
        items = {item.key: item for item in window.export_controller._items()}
        assert items["model"].unavailable == ""
        other = next(s for s in model.path.steps if not s.whole)
        window.session.select(model.values, other.number)
        assert window.current.model is not None
        assert window.current.model.step is other
        settle(window)
        assert window.notice.text() == ""
        assert "keeps the best model" in window.sections.inspect.features._test.text()
        items = {item.key: item for item in window.export_controller._items()}
        assert "keeps the best model" in items["model"].unavailable


def test_the_shelf_makes_files_of_different_names_within_a_minute(tmp_path: Path) -> None:
    first, second = StudyStore(tmp_path), StudyStore(tmp_path)
    first._make()
    second._make()
    assert first.path != second.path
    assert first.is_own(first.path)
    assert not first.is_own(tmp_path.parent / "x.rankstudio")
    first.close_all()
    second.close_all()


def test_a_damaged_run_says_so_and_can_go_on(tmp_path: Path) -> None:
    path, store = tmp_path / "study.rankstudio", StudyStore(tmp_path)
    with Study.create(path) as study:
        for seed in (0, 1):
            list(run_stored(Plan("small", "rankrls", seed=seed), small.dataset(1), study))
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE fold SET payload = replace(payload, '0.', '0.9') WHERE run = 1")
        db.execute("UPDATE run SET same = '' WHERE id = 2")
        db.commit()
    opened, run, sentence = store.read(path)(lambda: False)
    store.close_all()
    record = record_of(run, opened.versions)
    assert record.failure.startswith(f"{path}: run 1 is damaged (the results of fold 1)")
    assert (record.can_go_on, record.result) == (True, None)
    assert sentence == f"{path}: what is stored of run 2 is damaged; please run it anew."


def test_nothing_of_another_study_stays_in_the_views_of_results(window: MainWindow) -> None:
    for rule in ("best", "at most 3"):
        window.session.change("the rule", rule=rule)
        finish(window)
    views = window.sections.results.views
    window.workspace.show_page("compare")
    views.show_view("tests")
    wait_until(lambda: [row.role for row in views.tests.table.rows()].count("compared") == 1)
    window.commands["new_study"].trigger()
    assert not views.tests.table.rows()
    assert window.sections.results._tests._found == {}
    settle(window)
