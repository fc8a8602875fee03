"""The dialog of analyses: chosen, started, stopped and closed with the mouse; failing and hanging code."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from installed_analyses import installed_analyses
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from waiting import wait_until
from windows import Opened, settle

from rankstudio.api import Analysis, Kind, Needs, Parameter
from rankstudio.engine.plugins import entries
from rankstudio.engine.plugins.loader import PluginSet
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.selected_model import SEALED
from rankstudio.ui.shell.analysis_dialog import AnalysisDialog

MODULE = """
import threading
from rankstudio.api import AnalysisResult, AnalysisTable, WorkProgress

HOLD = threading.Event()


def means(data, digits=2):
    yield WorkProgress("adding", 0.5)
    means = data.X.mean(axis=0).tolist()
    rows = tuple((name, round(mean, digits)) for name, mean in zip(data.feature_names, means))
    return AnalysisTable("Means", ("feature", "mean"), rows, "Of all documents.")


def tested(run, data):
    n_tests = sum(fold.test is not None for fold in data.folds)
    return [AnalysisTable(f"A & {n}", ("fold", "test parts"), ((run.folds[0].fold, n_tests),)) for n in "BC"]


def raises(data):
    raise RuntimeError("no <b>luck</b>")


def hangs(data):
    HOLD.wait()


def counted(data):
    n_tests = sum(fold.test is not None for fold in data.folds)
    return AnalysisTable("Folds", ("test parts",), ((n_tests,),), above="Above\\n")


def planned(plan, data):
    n_tests = sum(fold.test is not None for fold in data.folds)
    tables = (AnalysisTable("First", ("test parts",), ((n_tests,),)), AnalysisTable("Second", ("a",), ()))
    yield AnalysisResult(tables)
    HOLD.wait()
"""
DIGITS = Parameter(
    "digits", "digits", Kind.INTEGER, 2, "Decimals of each mean.", low=0, high=9
)
ENTRIES = (
    Analysis(
        "means",
        "Means",
        "List the mean of each feature",
        "analysis_for_window:means",
        (DIGITS,),
    ),
    Analysis(
        "tested",
        "Tested",
        "List the folds",
        "analysis_for_window:tested",
        needs=Needs.RUN,
    ),
    Analysis("raises", "Raises", "Fail", "analysis_for_window:raises"),
    Analysis("hangs", "Hangs", "Never end", "analysis_for_window:hangs"),
    Analysis(
        "counted", "Counted", "Count", "analysis_for_window:counted", needs=Needs.FOLDS
    ),
    Analysis(
        "planned", "Planned", "Plan", "analysis_for_window:planned", needs=Needs.PLAN
    ),
)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    with installed_analyses(
        monkeypatch, tmp_path, "analysis_for_window", MODULE
    ) as install:
        install(*ENTRIES)
        yield


def shown(window: MainWindow, key: str) -> AnalysisDialog:
    """Open the dialog by its command, and choose an analysis."""
    # in a window that was there before the package
    window.commands["analyses"].setVisible(True)
    window.commands["analyses"].trigger()
    dialog = window.analysis_dialog
    QTest.qWaitForWindowExposed(dialog)
    dialog.choice.setCurrentIndex(dialog.choice.findData(key))
    return dialog


def press(dialog: AnalysisDialog) -> None:
    """Press *Start*."""
    QTest.mouseClick(dialog.start, Qt.MouseButton.LeftButton)


def test_tables_of_the_training_part(window: MainWindow) -> None:
    assert window.commands["analyses"].isVisible()
    dialog = shown(window, "means")
    editor = dialog.findChild(QLineEdit, "editor-analysis-digits")
    editor.selectAll()
    QTest.keyClicks(editor, "10")
    press(dialog)
    assert not dialog.tables() and dialog.section.fields["digits"].has_error
    editor.selectAll()
    QTest.keyClicks(editor, "3")
    press(dialog)
    wait_until(lambda: bool(dialog.tables()))
    train = window.session.dataset.folds[0].train
    (table,) = dialog.tables()
    lines = table.rows_as_csv().splitlines()
    assert lines[0] == "feature,mean" and len(lines) == 1 + train.X.shape[1]
    assert float(lines[1].split(",")[1]) == pytest.approx(
        train.X[:, 0].mean(), rel=2e-3
    )
    assert dialog.note.text() == "Of all documents." and not dialog.message.isVisible()
    wait_until(dialog.start.isEnabled)
    dialog.choice.setCurrentIndex(dialog.choice.findData("raises"))
    assert not dialog.tables() and not dialog.note.isVisible()
    dialog.reject()
    settle(window)


def test_a_run_is_given_without_its_sealed_part(ran: MainWindow) -> None:
    dialog = shown(ran, "tested")
    press(dialog)
    wait_until(lambda: bool(dialog.tables()))
    first, second = dialog.tables()
    sealed = ran.session.sealed
    n_tests = 0 if sealed else len(ran.session.dataset.folds)
    assert (
        first.rows_as_csv() == second.rows_as_csv() == f"fold,test parts\n1,{n_tests}\n"
    )
    assert dialog.tabs.tabText(0) == "A && B"
    dialog.reject()


def test_folds_and_plans_are_given_without_their_sealed_part(ran: MainWindow) -> None:
    n_tests = 0 if ran.session.sealed else len(ran.session.dataset.folds)
    dialog = shown(ran, "counted")
    press(dialog)
    wait_until(lambda: bool(dialog.tables()))
    assert dialog.tables()[0].rows_as_csv() == f"test parts\n{n_tests}\n"
    assert dialog.note.text() == "Above"
    dialog.choice.setCurrentIndex(dialog.choice.findData("planned"))
    press(dialog)
    wait_until(lambda: len(dialog.tables()) == 2)  # what is finished, while it goes on
    assert (
        dialog.tables()[0].rows_as_csv() == f"test parts\n{n_tests}\n"
        and dialog.stop.isEnabled()
    )
    QTest.mouseClick(dialog.stop, Qt.MouseButton.LeftButton)
    wait_until(lambda: not ran.models.task_worker.jobs)
    assert len(dialog.tables()) == 2
    import_module("analysis_for_window").HOLD.set()
    dialog.reject()


def test_the_command_is_copied_where_there_is_one(ran: MainWindow) -> None:
    dialog = shown(ran, "means")
    editor = dialog.findChild(QLineEdit, "editor-analysis-digits")
    editor.selectAll()
    QTest.keyClicks(editor, "3")
    QTest.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    words = shlex.split(QGuiApplication.clipboard().text())
    assert words[:2] == ["rankstudio", "means"] and words[-2:] == ["--digits", "3"]
    dialog.choice.setCurrentIndex(dialog.choice.findData("tested"))
    QTest.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    copied = shlex.split(QGuiApplication.clipboard().text())
    assert (copied[1] == "tested") == (
        ran.models.current.shown.record.stored is not None
    )
    assert dialog.status.text()
    dialog.reject()


def test_one_without_a_run_says_what_it_needs(window: MainWindow) -> None:
    dialog = shown(window, "tested")
    assert (
        not dialog.start.isEnabled()
        and dialog.message.isVisible()
        and dialog.message.text()
    )
    dialog.reject()


def test_failing_and_hanging_code_end_in_a_sentence_and_by_stop(
    window: MainWindow,
) -> None:
    dialog = shown(window, "raises")
    press(dialog)
    wait_until(lambda: "luck" in dialog.message.text())
    assert dialog.message.isVisible() and dialog.start.isEnabled()
    dialog.choice.setCurrentIndex(dialog.choice.findData("hangs"))
    assert "luck" not in dialog.message.text()
    press(dialog)
    wait_until(dialog.stop.isEnabled)
    QTest.mouseClick(dialog.stop, Qt.MouseButton.LeftButton)
    wait_until(lambda: not window.models.task_worker.jobs)
    assert dialog.start.isEnabled() and not dialog.stop.isEnabled()
    press(dialog)
    dialog.reject()
    wait_until(lambda: not window.models.task_worker.jobs)
    import_module("analysis_for_window").HOLD.set()


def test_without_analyses_the_command_is_not_seen(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entries, "plugins_with", lambda _: PluginSet(()))
    with opened() as window:
        assert not window.commands["analyses"].isVisible()


def test_an_analysis_of_a_sealed_test_part_says_that_it_is_sealed(
    window: MainWindow,
) -> None:
    pytest.importorskip("rankstudio.plugins.drift")
    window.session.seal(True)
    dialog = shown(window, "drift")
    press(dialog)
    wait_until(lambda: bool(dialog._problem))
    assert SEALED in dialog.message.text()
    dialog.reject()
    settle(window)
