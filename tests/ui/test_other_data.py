"""What is shown after other data are opened belongs to these, and the window begins with their page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event as Flag

import pytest
from compare_page import look as look_at_view
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from queries_page import look
from waiting import wait_until
from windows import Opened, finish, held, pages_present, settle, unseal, write_folds

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.widgets.columns import ROW_ROLE


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folds(tmp_path_factory.mktemp("others") / "Other")


def open_data(window: MainWindow, data: Path) -> None:
    before = window.session.dataset
    window.open_path(str(data))
    wait_until(lambda: window.session.dataset is not before)
    settle(window)


def press(button: QAbstractButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_the_foot_of_select_names_no_run_of_other_data(
    window: MainWindow, other: Path, folds: Path
) -> None:
    finish(window)
    strip = window.sections.select.strip
    assert strip._run.isVisibleTo(strip)
    outcome = strip._state.text()
    open_data(window, other)
    window.workspace.show_page("select")
    assert not strip._run.isVisible()
    assert strip._state.text() != outcome
    assert "MAP" not in strip._state.text()
    assert strip.all_runs_button.isEnabled()  # the run can still be looked at
    finish(window)
    assert strip._run.text().startswith("run 2 ")


@pytest.fixture
def halfway(opened: Opened, folds: Path, other: Path) -> Iterator[MainWindow]:
    """A window with a run on data, and another in the middle of its work on other data."""
    go, holds = Flag(), Flag()

    def wait(number: int, _: object) -> None:
        if holds.is_set() and number == 10:
            go.wait(10)

    with opened(folds, held(wait)) as window:
        finish(window)
        open_data(window, other)
        holds.set()
        window.session.change(
            "editing", method="rankrls", parameters={"regularization": (0.5, 2.0)}
        )
        window.commands["run"].trigger()
        wait_until(lambda: window.runs.current is not None)
        yield window
        go.set()
        wait_until(lambda: not window.runs.busy)


def test_views_of_a_run_at_work_show_no_run_of_other_data(halfway: MainWindow) -> None:
    window = halfway
    look_at_view(window, "pareto")
    compare = window.sections.compare
    assert not compare.views.pareto.plot.spots
    assert compare.views.pareto.table.rows() == []
    assert not compare.curves.plot.curves
    assert not window.sections.compare._tests.rows
    look_at_view(window, "tests")
    assert compare.views.tests.table.rows() == []
    press_row_of_run(window, 1)
    assert window.session.dataset is window.runs.record(1).dataset
    look_at_view(window, "pareto")
    assert compare.views.pareto.table.rows()
    assert compare.curves.plot.curves


def press_row_of_run(window: MainWindow, key: int) -> None:
    table = window.sections.compare.panel.table
    indexes = [table.model().index(row, 3) for row in range(table.model().rowCount())]
    [index] = [
        index for index in indexes if getattr(index.data(ROW_ROLE), "key", None) == key
    ]
    table.scrollTo(index)
    at = table.visualRect(index).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=at)
    settle(window)


def test_queries_forgets_its_part_with_the_data(
    window: MainWindow, other: Path
) -> None:
    finish(window)
    page = look(window)
    parts = [value for value, _ in page.bar.part.options()]
    assert page.bar.part.value() == parts[0] == "test"
    press(page.bar.part._buttons()[parts.index("train")])
    settle(window)
    assert page.bar.part.value() == "train"
    window.session.change("editing", seed=1)  # which is no other data
    finish(window)
    assert look(window).bar.part.value() == "train"
    page.list.field.setText("1")
    open_data(window, other)
    finish(window)
    page = look(window)
    assert page.bar.part.value() == "test"
    assert page.list.field.text() == ""
    assert len(page.list.table.rows()) == len(page.queries)


def test_the_data_are_seen_first_when_they_are_opened(
    empty: MainWindow, folds: Path, other: Path
) -> None:
    unseal(empty)
    assert empty.workspace.page != "data"
    open_data(empty, folds)
    assert empty.workspace.page == "data"
    page = "evidence" if pages_present(empty, "evidence") else "compare"
    empty.workspace.show_page(page)
    empty.open_controller.read_again("normalize", "query_minmax")
    before = empty.session.dataset
    wait_until(lambda: empty.session.dataset is not before)
    assert empty.workspace.page == page  # the same data, read in another way
    open_data(empty, other)
    assert empty.workspace.page == "data"


def test_data_that_are_run_at_once_are_seen_at_work(
    empty: MainWindow, folds: Path
) -> None:
    empty.open_path(str(folds), run=True)
    wait_until(lambda: empty.runs.records and not empty.runs.busy)
    assert empty.workspace.page == "select"
