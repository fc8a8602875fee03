"""Running a comparison in the real window: what is offered, how much work it is said to be, what runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QListWidget
from waiting import wait_until
from windows import finish, settle, write_folds
from wording import naming

from rankstudio.ui.compare.comparison_dialog import ComparisonDialog
from rankstudio.ui.main_window import MainWindow


def tick(ticks: QListWidget, *keys: str) -> None:
    """Tick these alone, with the keyboard."""
    for row in range(ticks.count()):
        item = ticks.item(row)
        on = item.checkState() == Qt.CheckState.Checked
        if (item.data(Qt.ItemDataRole.UserRole) in keys) != on:
            ticks.setCurrentRow(row)
            QTest.keyClick(ticks, Qt.Key.Key_Space)


def keys(ticks: QListWidget) -> list[str]:
    return [ticks.item(row).data(Qt.ItemDataRole.UserRole) for row in range(ticks.count())]


def test_three_methods_are_run_in_the_background_and_stand_in_the_table(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(dialog: ComparisonDialog) -> int:
        tick(dialog.methods, "greedy-rankrls", "gas", "ranksvm")
        tick(dialog.rankers, "", "rankrls")
        asked.append(dialog.work())
        assert [plan.title for plan in dialog.plans()][-1] == "RankSVM"
        tick(dialog.rankers, "")
        return int(QDialog.DialogCode.Accepted)

    monkeypatch.setattr(ComparisonDialog, "exec", answer)
    window.workspace.show_page("compare")
    window.commands["comparison"].trigger()
    assert asked[0].startswith("5 runs, ")
    assert naming("rough estimate").search(asked[0])
    assert len(window.runs.records) == 3
    wait_until(lambda: not window.runs.busy)
    settle(window)
    table = window.sections.results.panel.table
    assert {row.method for row in table.rows()} == {"Greedy RankRLS", "GAS", "RankSVM"}
    assert all(row.state == "done" for row in table.rows())
    assert window.runs.records[0].plan.parameters["regularization"] == (0.25, 1.0, 4.0)  # the form's


def test_the_time_is_estimated_from_the_runs_there_are(window: MainWindow) -> None:
    finish(window)
    dialog = window.comparison.dialog()
    assert naming("1 run 6 fits").search(dialog.work())
    assert dialog.work().endswith(", estimated from finished runs.")
    tick(dialog.methods)
    assert dialog.work() == "Nothing to run: select a method and data."
    assert not dialog._run.isEnabled()
    dialog.deleteLater()


def test_bundled_plans_and_plan_files_open_here(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = tmp_path / "two.toml"
    plan.write_text(
        'title = "Two"\ndata = "Other"\n[[runs]]\nmethod = ["gas", "single-feature"]\n', encoding="utf-8"
    )
    write_folds(tmp_path / "Other")
    seen: list[str] = []

    def answer(dialog: ComparisonDialog) -> int:
        seen.append(dialog.plan.currentText())
        assert not dialog.methods.isEnabled()
        assert any("Selectors" in dialog.plan.itemText(i) for i in range(dialog.plan.count()))
        assert keys(dialog.data)[:2] == [window.session.plan.data, str(tmp_path / "Other")]
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
