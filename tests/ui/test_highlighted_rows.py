"""The highlighted row of a table is the one that the window shows, and the one that keys act on."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from queries_page import look
from waiting import wait_until
from windows import finish, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.widgets import TableView
from rankstudio.ui.widgets.columns import ROW_ROLE

N_RUNS = 6
SHIFT, CONTROL = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


def prepare(window: MainWindow) -> None:
    assert window.session.dataset is not None
    for _ in range(N_RUNS):
        window.runs.start(window.session.plan, window.session.dataset)
    wait_until(lambda: not window.runs.busy)
    settle(window)


def click(
    table: TableView,
    key: int,
    keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """Click on the row of a run where it is seen, beside what a column may do by itself."""
    column = [column.key for column in table.rows_model.columns].index("key")
    indexes = [
        table.model().index(row, column) for row in range(table.model().rowCount())
    ]
    [index] = [
        index for index in indexes if getattr(index.data(ROW_ROLE), "key", None) == key
    ]
    at = table.visualRect(index).center()
    assert table.viewport().rect().contains(at)
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, keys, at)


def runs_table(window: MainWindow) -> TableView:
    """Return the table of the runs, with room for three of them and scrolled to its end."""
    table = runs_table_of_all(window)
    table.setFixedHeight(4 * table.verticalHeader().defaultSectionSize())
    settle(window)
    table.verticalScrollBar().setValue(table.verticalScrollBar().maximum())
    assert table.verticalScrollBar().value() > 0
    return table


def runs_table_of_all(window: MainWindow) -> TableView:
    window.workspace.show_page("compare")
    settle(window)
    return window.sections.compare.panel.table


def highlighted(table: TableView) -> list[int]:
    return [row.key for row in table.selected()]


def test_delete_removes_the_run_that_is_highlighted_in_a_scrolled_table(
    window: MainWindow,
) -> None:
    prepare(window)
    table = runs_table(window)
    click(table, 4)
    assert highlighted(table) == [4] == [window.runs.shown.key]
    QTest.keyClick(table, Qt.Key.Key_Delete)
    assert [record.key for record in window.runs.records] == [1, 2, 3, 5, 6]
    assert highlighted(table) == [window.runs.shown.key]


def test_delete_removes_all_runs_that_are_highlighted_and_one_undo_brings_them_back(
    window: MainWindow,
) -> None:
    prepare(window)
    table = runs_table(window)
    click(table, 4)
    click(table, 6, CONTROL)
    assert highlighted(table) == [4, 6]
    assert window.runs.shown.key == 6
    QTest.keyClick(table, Qt.Key.Key_Delete)
    assert [record.key for record in window.runs.records] == [1, 2, 3, 5]
    notice = window.notice.newest
    assert notice is not None
    [undo] = notice._buttons
    QTest.mouseClick(undo, Qt.MouseButton.LeftButton)
    assert [record.key for record in window.runs.records] == [1, 2, 3, 4, 5, 6]
    assert highlighted(table) == [window.runs.shown.key]


def test_the_shown_run_is_highlighted_again_when_the_filter_lists_it_again(
    window: MainWindow,
) -> None:
    prepare(window)
    window.sections.compare.panel.filter.setText("no such run")
    table = runs_table_of_all(window)
    assert highlighted(table) == []
    QTest.keyClick(table, Qt.Key.Key_Delete)
    assert len(window.runs.records) == N_RUNS
    window.sections.compare.panel.filter.clear()
    assert highlighted(table) == [window.runs.shown.key]


def test_a_click_on_nothing_leaves_the_shown_run_highlighted(
    window: MainWindow,
) -> None:
    finish(window)
    table = runs_table_of_all(window)
    assert highlighted(table) == [1]
    below = QPoint(40, table.viewport().height() - 3)
    assert not table.indexAt(below).isValid()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=below)
    assert highlighted(table) == [1] == [window.runs.shown.key]


@pytest.mark.parametrize("share", [0.3, 0.6, 1.0])
def test_the_documents_are_those_of_the_highlighted_query(
    window: MainWindow, share: float
) -> None:
    finish(window)
    page = look(window)
    table, bar = page.list.table, page.list.table.verticalScrollBar()
    table.setFixedHeight(5 * table.verticalHeader().defaultSectionSize())
    settle(window)
    assert bar.maximum() > 0
    for y in (15, 60, 100):
        bar.setValue(round(share * bar.maximum()))
        query = table.rows()[table.indexAt(QPoint(30, y)).row()]
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(30, y))
        settle(window)
        assert table.selected() == [query]
        assert page.queries[page._picked_position] == query
        assert page.documents._title.text() == f"Query {query.query_id}"
