"""What keys do in a table: where Home and End lead, and to which row the menu key's menu belongs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from walks.user import User

from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, TableView


@pytest.fixture
def table(theme: Theme, stage: Callable[..., QWidget]) -> TableView:
    columns = (Column("real", "number", value=lambda n: n), Column("twice", "twice", value=lambda n: 2 * n))
    made = TableView(theme, columns, "numbers-table")
    made.set_rows(range(9))
    stage(made, 300, 400)
    made.select(4)
    return made


def test_home_and_end_lead_to_the_first_and_the_last_row(table: TableView) -> None:
    heard: list[int] = []
    table.chosen.connect(heard.append)
    for key, row in ((Qt.Key.Key_Home, 0), (Qt.Key.Key_End, 8)):
        QTest.keyClick(table, key)
        assert table.current() == row
        assert [index.row() for index in table.selectionModel().selectedRows()] == [row]
    assert heard == [0, 8]


@pytest.mark.parametrize("row", [0, 7])
def test_the_menu_key_opens_the_menu_of_the_chosen_row(table: TableView, row: int) -> None:
    asked: list[object] = []
    table.row_actions = lambda one: asked.append(one) or ()
    places: list[QPoint] = []

    def look(menu: QMenu) -> None:
        places.append(menu.pos())
        menu.close()

    table.select(row)
    middle = table.rect().center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, middle, table.mapToGlobal(middle))
    User().doing(lambda: QCoreApplication.sendEvent(table, event), look, QMenu)
    assert asked == [row]
    room = table.visualRect(table.currentIndex())
    assert places == [table.viewport().mapToGlobal(room.bottomLeft())]
