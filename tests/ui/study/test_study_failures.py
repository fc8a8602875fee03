"""What can go wrong with a study: no room, no permission, data that are gone, and damage."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from experiment import small
from stored_runs import left_in_the_middle, written
from waiting import wait_until
from windows import Opened, finish, settle, slowly
from wording import naming

from rankstudio.engine.errors import StoreError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import results_as_dict
from rankstudio.engine.experiment.resume import run_stored
from rankstudio.engine.experiment.runner import collect, open_data
from rankstudio.engine.experiment.storage import study as store
from rankstudio.engine.experiment.storage.study import Study
from rankstudio.ui.export.items import export_items
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.model.study_store import StudyStore
from rankstudio.ui.process.settings import Settings

pytestmark = pytest.mark.usefixtures("shelf_folder")


def test_a_second_window_begins_a_study_of_its_own(
    opened: Opened, tmp_path: Path, data: Path
) -> None:
    with opened(data) as first:
        finish(first)
        wait_until(lambda: Settings(tmp_path / "config").plan == first.session.plan)
        wait_until(lambda: Settings(tmp_path / "config").text("study/data"))
        with opened() as second:
            second.restore()
            wait_until(lambda: second.session.dataset is not None)
            settle(second)
            assert second.notice.text() == ""
            assert second.runs.records == ()
            finish(second)
            assert second.models.study_store.path != first.models.study_store.path
            second.open_path(str(first.models.study_store.path))
            wait_until(second.notice.text)
            assert naming("study process").search(second.notice.text())
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
    assert window.notice.text().startswith(
        "Runs are not stored and are lost when the window closes: "
    )
    assert str(shelf_folder) in window.notice.text()
    assert window.notice.newest.accessibleName().startswith("warning: ")
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
            raise StoreError(
                f"{self.path}: the disk is full; data stored before are safe."
            )
        save(self, *given)

    monkeypatch.setattr(Study, "save_unit", until_full)
    window.commands["run"].trigger()
    wait_until(lambda: not window.runs.busy)
    record = window.runs.records[0]
    assert record.state is RunState.FAILED
    assert window.notice.text().endswith(
        "the disk is full; data stored before are safe."
    )
    assert len(record.paths) == 2
    monkeypatch.setattr(Study, "save_unit", save)
    window.commands["go_on"].trigger()
    wait_until(lambda: record.state is RunState.DONE)
    expected = collect(
        record.plan, open_data(record.plan), tuple(record.folds.values()), 0.0
    )
    assert results_as_dict(expected)["folds"] == written(record)["folds"]
    settle(window)


def test_runs_are_shown_where_their_data_are_gone(opened: Opened, data: Path) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    with opened(data) as window:
        finish(window)
        before, study = window.runs.records[0], str(window.models.study_store.path)
    shutil.rmtree(data)
    with opened(config="other") as window:
        window.open_path(study)
        wait_until(window.notice.text)
        assert str(data) in window.notice.text()
        assert window.notice.text().endswith("The run is shown as stored.")
        [record] = window.runs.records
        assert window.runs.shown is record
        curves = window.sections.select.curves.plots()["validation"]
        np.testing.assert_array_equal(
            curves.family[1].ys, before.paths[1, 1].validation["MAP"]
        )
        assert window.sections.features.features.table.rows()
        assert window.current.test == dict(before.folds[1].test)
        assert window.sections.features.inspector.plot.placeholder.startswith(
            "Open the data"
        )
        assert not window.commands["run"].isEnabled()
        window.session.show_fold(2)
        chosen = record.folds[2].chosen.unit.values
        window.session.select(
            next(values for values in record.combinations if values != chosen), 3
        )
        assert window.current.model is not None
        assert window.current.test == {}
        assert "are not open" in window.sections.features.features._test.text()
        window.session.show_fold(None)
        settle(window)


def test_data_that_changed_are_noticed(
    opened: Opened, tmp_path: Path, data: Path
) -> None:
    done = left_in_the_middle(opened, tmp_path, data)
    file = data / "Fold2" / "test.txt"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[:-1]) + "\n")
    with opened(runner=slowly, config="other") as window:
        window.open_path(Settings(tmp_path / "config").text("study/file"))
        wait_until(window.notice.text)
        assert window.notice.text().startswith(f"{file}: the file changed: ")
        [record] = window.runs.records
        assert record.recorded is not None
        window.notice.dismiss()
        window.commands["go_on"].trigger()
        wait_until(window.notice.text)
        assert "the file changed" in window.notice.text()
        assert record.state is RunState.UNFINISHED
        assert record.units_done == done


def test_a_run_of_another_version_is_shown_and_not_gone_on_with(
    opened: Opened, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {**store.versions(), "rankstudio": "0.0.1"}
    monkeypatch.setattr(store, "versions", lambda *_: found)
    left_in_the_middle(opened, tmp_path, data)
    monkeypatch.undo()
    with opened(config="other") as window:
        window.open_path(Settings(tmp_path / "config").text("study/file"))
        wait_until(lambda: window.session.has_documents)
        [row] = window.sections.compare.panel.rows()
        assert not row.can_go_on
        assert naming("RankStudio 0.0.1").search(row.message)
        assert not window.commands["go_on"].isEnabled()
        settle(window)


def test_models_that_the_study_did_not_keep_are_said_to_be_so(
    opened: Opened, data: Path
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    with opened(data) as window:
        window.session.change(
            "boosting", method="rankboost", parameters={"n_rounds": 4}
        )
        finish(window)
        study = str(window.models.study_store.path)
    with opened(config="other") as window:
        window.open_path(study)
        wait_until(lambda: window.session.has_documents)
        settle(window)
        model = window.current.model
        assert model.step.whole
        items = {
            item.key: item for item in export_items(window.models, window.sections)
        }
        assert items["model"].unavailable == ""
        other = next(s for s in model.path.steps if not s.whole)
        window.session.select(model.values, other.number)
        assert window.current.model.step is other
        settle(window)
        assert window.notice.text() == ""
        assert naming("best model").search(
            window.sections.features.features._test.text()
        )
        items = {
            item.key: item for item in export_items(window.models, window.sections)
        }
        assert naming("best model").search(items["model"].unavailable)


def test_the_shelf_makes_files_of_different_names_within_a_minute(
    tmp_path: Path,
) -> None:
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
            list(
                run_stored(Plan("small", "rankrls", seed=seed), small.dataset(1), study)
            )
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "UPDATE fold SET payload = replace(payload, '0.', '0.9') WHERE run = 1"
        )
        db.execute("UPDATE run SET same = '' WHERE id = 2")
        db.commit()
    _opened, record, sentence = store.read(path)(lambda: False)
    store.close_all()
    assert record.failure.startswith(
        f"{path}: run 1 is damaged (the results of fold 1)"
    )
    assert (record.can_go_on, record.result) == (True, None)
    assert sentence.startswith(f"{path}: the stored results of run 2 are damaged")


def test_nothing_of_another_study_stays_in_the_views_of_results(
    window: MainWindow,
) -> None:
    for rule in ("best", "at most 3"):
        window.session.change("the rule", rule=rule)
        finish(window)
    views = window.sections.compare.views
    window.workspace.show_page("compare")
    views.show_view("tests")
    wait_until(
        lambda: [row.role for row in views.tests.table.rows()].count("compared") == 1
    )
    window.commands["new_study"].trigger()
    assert not views.tests.table.rows()
    assert window.sections.compare._tests._tests == {}
    settle(window)
