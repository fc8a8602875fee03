"""Running a comparison in the real window: what is offered, how much work it is said to be, what runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Semaphore

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QFileDialog, QListWidget
from waiting import wait_until
from windows import finish, held, open_window, settle, write_folds
from wording import naming

from rankstudio.engine.experiment.results.events import UnitStarted
from rankstudio.ui.compare.comparison_dialog import ComparisonDialog, ticked
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.study.dialogs import OpenDialog
from rankstudio.ui.style.theme import Theme


def tick(ticks: QListWidget, *keys: str) -> None:
    """Tick these alone, with the keyboard."""
    for row in range(ticks.count()):
        item = ticks.item(row)
        on = item.checkState() == Qt.CheckState.Checked
        if (item.data(Qt.ItemDataRole.UserRole) in keys) != on:
            ticks.setCurrentRow(row)
            QTest.keyClick(ticks, Qt.Key.Key_Space)


def keys(ticks: QListWidget) -> list[str]:
    return [
        ticks.item(row).data(Qt.ItemDataRole.UserRole) for row in range(ticks.count())
    ]


def add(dialog: ComparisonDialog, *methods: str, ranker: str = "") -> None:
    tick(dialog.methods, *methods)
    dialog.ranker.setCurrentIndex(dialog.ranker.findData(ranker))
    QTest.mouseClick(dialog.add, Qt.MouseButton.LeftButton)


def titles(dialog: ComparisonDialog) -> list[str]:
    return [row.plan.title for row in dialog.table.rows()]


def test_pipelines_are_added_to_that_of_the_form_and_run_in_the_background(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(dialog: ComparisonDialog) -> int:
        add(dialog, "gas", ranker="ranksvm")
        add(dialog, "ranksvm", "single-feature", ranker="rankrls")
        asked.append(dialog.work())
        assert titles(dialog) == [
            "Greedy RankRLS",
            "GAS, then RankSVM",
            "Single features, then RankRLS",
            "RankSVM",
        ]
        return int(QDialog.DialogCode.Accepted)

    monkeypatch.setattr(ComparisonDialog, "exec", answer)
    window.workspace.show_page("compare")
    window.commands["comparison"].trigger()
    assert asked[0].startswith("4 runs, ")
    assert naming("rough estimate").search(asked[0])
    wait_until(lambda: len(window.runs.records) == 4 and not window.runs.busy)
    settle(window)
    table = window.sections.compare.panel.table
    assert len({row.method for row in table.rows()}) == 4
    assert all(row.state == "done" for row in table.rows())
    # the form's
    assert window.runs.records[0].plan.parameters["regularization"] == (0.25, 1.0, 4.0)


def test_a_pipeline_is_in_the_list_once_and_can_be_removed(window: MainWindow) -> None:
    dialog = window.comparison.dialog()
    dialog.show()
    tick(dialog.methods, "greedy-rankrls")
    assert not dialog.add.isEnabled()  # it is that of the form
    add(dialog, "greedy-rankrls", "gas", ranker="rankrls")
    tick(dialog.methods, "gas")
    assert not dialog.add.isEnabled()
    assert titles(dialog) == [
        "Greedy RankRLS",
        "Greedy RankRLS, then RankRLS",
        "GAS, then RankRLS",
    ]
    dialog.table.selectRow(1)
    QTest.mouseClick(dialog.remove, Qt.MouseButton.LeftButton)
    assert titles(dialog) == ["Greedy RankRLS", "GAS, then RankRLS"]
    tick(dialog.methods)
    assert [plan.title for plan in dialog.plans()] == titles(dialog)
    dialog.activateWindow()
    wait_until(dialog.isActiveWindow)
    dialog.table.setFocus()
    for _ in range(2):
        dialog.table.selectRow(0)
        QTest.keyClick(dialog.table, Qt.Key.Key_Delete)
    assert not dialog._run.isEnabled()
    assert naming("nothing").search(dialog.work().lower())
    dialog.close()
    dialog.deleteLater()


def test_a_table_that_cannot_be_saved_says_so_in_its_dialog(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = str(tmp_path / "missing" / "pipelines.csv")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (place, ""))
    dialog = window.comparison.dialog()
    dialog.table.save_as()
    assert place in dialog.work()
    dialog.deleteLater()


def test_added_selectors_have_the_k_of_the_form_and_rankers_all_features(
    window: MainWindow,
) -> None:
    window.session.change(
        "editing", parameters={"n_features_to_select": 10, "banned": (1,)}
    )
    dialog = window.comparison.dialog()
    add(dialog, "gas", "fsmrank")
    limits = [plan.parameters.get("n_features_to_select") for plan in dialog.plans()]
    assert limits == [10, None, 10]  # of greedy RankRLS, FSMRank and GAS
    assert "banned" in dialog.work().lower()  # neither of the two knows such features
    dialog.deleteLater()
    dialog = window.comparison.dialog()
    add(dialog, "greedy-rankrls", ranker="ranksvm")
    assert [plan.parameters["banned"] for plan in dialog.plans()] == [(1,), (1,)]
    assert "banned" not in dialog.work().lower()
    dialog.deleteLater()


def test_finished_runs_are_compared_as_they_are_and_only_the_others_are_run(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(window)
    window.session.change("editing", method="ranksvm", parameters={"C": (0.5,)})
    finish(window)
    # can be measured without another run
    window.session.change("editing", measures=("MAP", "P@5"))
    seen: list[ComparisonDialog] = []

    def answer(dialog: ComparisonDialog) -> int:
        rows = dialog.table.rows()
        assert [(row.plan.title, row.run, row.finished) for row in rows] == [
            ("Greedy RankRLS", 1, True),
            ("RankSVM", 2, True),
        ]
        assert rows[0].seconds == window.runs.records[0].result.seconds
        assert dialog.plans() == ()
        dialog.table.toggled.emit(rows[1])
        if not seen:
            seen.append(dialog)
            return int(QDialog.DialogCode.Accepted)
        add(dialog, "gas")
        assert naming("1 run estimated from finished runs").search(dialog.work())
        return int(QDialog.DialogCode.Accepted)

    monkeypatch.setattr(ComparisonDialog, "exec", answer)
    window.commands["comparison"].trigger()
    assert len(window.runs.records) == 2
    assert window.workspace.page == "compare"
    assert [window.models.marks.is_ticked(key) for key in (1, 2)] == [True, False]
    window.commands["comparison"].trigger()
    wait_until(lambda: len(window.runs.records) == 3 and not window.runs.busy)
    settle(window)
    assert window.runs.records[2].plan.method == "gas"


def test_data_are_added_in_the_dialog_and_what_is_not_data_is_refused(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folds(tmp_path / "Other")
    plan = tmp_path / "plan.toml"
    plan.write_text("", encoding="utf-8")
    chosen = [[str(tmp_path / "Other"), str(plan)], [], [str(tmp_path / "Other")]]
    monkeypatch.setattr(OpenDialog, "exec", lambda _: 1)
    monkeypatch.setattr(OpenDialog, "paths", lambda _: chosen.pop(0))

    def answer(dialog: ComparisonDialog) -> int:
        n = dialog.data.count()
        click_add = partial(
            QTest.mouseClick, dialog.add_data, Qt.MouseButton.LeftButton
        )
        click_add()
        assert keys(dialog.data)[n:] == [str(tmp_path / "Other")]
        assert naming("plan.toml").search(dialog.work())
        click_add()  # nothing chosen
        tick(dialog.data)
        assert not ticked(dialog.data)
        click_add()  # in the list already
        assert dialog.data.count() == n + 1
        assert ticked(dialog.data) == (str(tmp_path / "Other"),)
        assert naming("1 run").search(dialog.work())
        return int(QDialog.DialogCode.Accepted)

    monkeypatch.setattr(ComparisonDialog, "exec", answer)
    window.commands["comparison"].trigger()
    wait_until(lambda: len(window.runs.records) == 1 and not window.runs.busy)
    settle(window)
    assert window.runs.records[0].dataset.name == "Other"
    assert not chosen


@pytest.mark.thorough
def test_bundled_plans_and_plan_files_open_here(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = tmp_path / "two.toml"
    plan.write_text(
        'title = "Two"\ndata = "Other"\n[[runs]]\nmethod = ["gas", "single-feature"]\n',
        encoding="utf-8",
    )
    write_folds(tmp_path / "Other")
    seen: list[str] = []

    def answer(dialog: ComparisonDialog) -> int:
        seen.append(dialog.plan.currentText())
        assert any(
            "Selectors" in dialog.plan.itemText(i) for i in range(dialog.plan.count())
        )
        assert keys(dialog.data)[:2] == [
            window.session.plan.data,
            str(tmp_path / "Other"),
        ]
        assert [p.data for p in dialog.plans()] == [str(tmp_path / "Other")] * 2
        return int(QDialog.DialogCode.Accepted)

    monkeypatch.setattr(ComparisonDialog, "exec", answer)
    shown = window.session.dataset
    window.open_path(str(plan))
    assert seen == ["Plan: Two"]
    wait_until(lambda: len(window.runs.records) == 2 and not window.runs.busy)
    settle(window)
    assert [record.dataset.name for record in window.runs.records] == ["Other", "Other"]
    assert all(record.result is not None for record in window.runs.records)
    assert window.session.dataset is shown  # they ran in the background


def test_a_file_that_is_no_plan_of_several_runs_is_refused_with_a_sentence(
    window: MainWindow, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text('[[runs]]\nmethod = "no such method"\n', encoding="utf-8")
    said: list[str] = []
    window.comparison.failed.connect(said.append)
    window.open_path(str(bad))
    assert len(said) == 1
    assert "bad.toml" in said[0]
    assert window.runs.records == ()


def click(ticks: QListWidget, key: str) -> None:
    """Click the name of an entry, right of its box."""
    area = ticks.visualItemRect(ticks.item(keys(ticks).index(key)))
    QTest.mouseClick(
        ticks.viewport(),
        Qt.MouseButton.LeftButton,
        pos=QPoint(area.left() + 90, area.center().y()),
    )


def test_a_click_on_a_name_ticks_it_and_what_is_ticked_runs_without_add(
    window: MainWindow,
) -> None:
    """Catches names that take no click, and ticks that are lost because nobody pressed Add."""
    dialog = window.comparison.dialog()
    dialog.show()
    own = dialog.ranker.itemText
    assert own(0) == "Own model of the selector"
    click(dialog.methods, "gas")
    assert ticked(dialog.methods) == ("gas",) and own(0) == "Own model: RankRLS"
    click(dialog.methods, "gas")
    assert ticked(dialog.methods) == ()
    click(dialog.methods, "gas")
    dialog.ranker.setCurrentIndex(dialog.ranker.findData("ranksvm"))
    assert [plan.title for plan in dialog.plans()] == [
        "Greedy RankRLS",
        "GAS, then RankSVM",
    ]
    assert titles(dialog) == ["Greedy RankRLS"]
    assert dialog.work().startswith("2 runs, ")
    dialog.close()
    dialog.deleteLater()


def test_an_interrupted_run_is_offered_with_its_folds_and_goes_on(
    theme: Theme,
    tmp_path: Path,
    folds: Path,
    shelf_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches a comparison that calls an interrupted run "not run" and computes its folds again."""
    go = Semaphore(4)
    fifth = held(
        lambda _, event: isinstance(event, UnitStarted) and go.acquire(timeout=10)
    )
    with open_window(theme, tmp_path / "config", folds, fifth) as window:
        window.commands["run"].trigger()
        (record,) = window.runs.records
        wait_until(lambda: record.units_done == 4)
        window.commands["stop"].trigger()
        go.release(30)
        wait_until(lambda: record.state is RunState.CANCELLED)
        settle(window)
        said = []

        def answer(dialog: ComparisonDialog) -> int:
            (row,) = dialog.rows()
            index = dialog.table.rows_model.index(
                0, dialog.table.rows_model.columnCount() - 1
            )
            said.append((row.run, row.finished, index.data()))
            return int(QDialog.DialogCode.Accepted)

        monkeypatch.setattr(ComparisonDialog, "exec", answer)
        window.commands["comparison"].trigger()
        assert said == [(1, False, "interrupted at 1 of 2 folds")]
        wait_until(lambda: record.state is RunState.DONE)
        settle(window)
        assert window.runs.records == (record,)


@pytest.mark.thorough
def test_an_interrupted_run_on_data_that_are_not_open_goes_on(
    theme: Theme,
    tmp_path: Path,
    folds: Path,
    shelf_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches a run of a study that counts as "not run" until its data are opened by hand."""
    other = str(write_folds(tmp_path / "Other", 1))
    go = Semaphore(4)
    fifth = held(
        lambda _, event: isinstance(event, UnitStarted) and go.acquire(timeout=10)
    )
    with open_window(theme, tmp_path / "config", folds, fifth) as window:
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.records[0].units_done == 4)
        window.commands["stop"].trigger()
        go.release(1000)
        wait_until(lambda: window.runs.records[0].state is RunState.CANCELLED)
        window.open_path(other)
        wait_until(lambda: window.session.plan.data == other)
        finish(window)
    with open_window(theme, tmp_path / "config") as window:
        window.restore()
        wait_until(lambda: window.session.has_documents and bool(window.runs.records))
        settle(window)
        record, last = window.runs.records
        assert record.recorded is not None and window.session.plan.data == other
        shown = window.session.dataset
        said = []

        def answer(dialog: ComparisonDialog) -> int:
            tick(dialog.data, str(folds))
            said.extend(
                (row.run, row.finished, row.folds_done) for row in dialog.rows()
            )
            return int(QDialog.DialogCode.Accepted)

        monkeypatch.setattr(ComparisonDialog, "exec", answer)
        window.commands["comparison"].trigger()
        assert (1, False, 1) in said
        wait_until(lambda: record.state is RunState.DONE)
        settle(window)
        assert window.runs.records == (record, last)
        assert window.session.dataset is shown
