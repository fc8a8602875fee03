"""A walk through the window with nothing but a mouse."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import (
    QListWidget,
    QMenu,
    QPushButton,
    QStyle,
    QStyleOptionViewItem,
    QToolButton,
    QTreeView,
)
from waiting import wait_until
from walks import readings
from walks.user import Mouse, found

from rankstudio.ui.compare.comparison_dialog import ComparisonDialog
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.study.dialogs import OpenDialog
from rankstudio.ui.widgets import Heading, TableView


def test_the_walk_by_mouse(walked: MainWindow, home: Path) -> None:
    mouse = Mouse()
    mouse.click(
        found(QPushButton, "welcome-open"),
        then=lambda dialog: open_there(mouse, dialog, "Small"),
    )
    readings.is_open(walked, home / "Small")

    show_page(mouse, "compare")
    mouse.click(
        found(QPushButton, "run-comparison"),
        then=lambda dialog: compare_three(mouse, dialog),
    )
    readings.runs_are_there(walked)

    mouse.click_cell(*run_cell(found(TableView, "runs-table"), 1))
    readings.rest(walked)
    show_page(mouse, "queries")
    readings.rest(walked)
    mouse.click_cell(*cell_of(found(TableView, "query-table"), 0, "query_id"))
    readings.rest(walked)
    readings.chosen_query(walked)
    readings.why_first(walked)

    show_page(mouse, "features")
    readings.substitute(walked)

    show_page(mouse, "compare")
    readings.seal_says(walked, readings.SEALED, "validation")
    mouse.click(found(QPushButton, "covered-number"))
    readings.seal_says(walked, readings.UNSEALED, "test")

    table = found(TableView, "runs-table")

    def remove(menu: QMenu) -> None:
        mouse.choose(menu, "Remove")

    mouse.click_cell(*run_cell(table, 2), then=remove, button=mouse.RIGHT)
    readings.runs_left(walked, 1, 3)
    mouse.click(readings.undo_offered(2).findChild(QPushButton))
    readings.runs_left(walked, 1, 2, 3)

    file = walked.models.study_store.path
    mouse.open_menu(walked.menuBar(), "File", "New study")
    readings.runs_left(walked)
    mouse.open_menu(walked.menuBar(), "File", "Open recent", file.name)
    readings.runs_are_there(walked)
    readings.seal_says(walked, readings.UNSEALED, "test")


def show_page(mouse: Mouse, key: str) -> None:
    """Click on a page's button of the rail."""
    mouse.click(found(QToolButton, f"page-{key}"))


def open_there(mouse: Mouse, dialog: OpenDialog, name: str) -> None:
    """Double-click on a folder of the list."""
    view = found(QTreeView, "treeView", dialog)
    model = view.model()

    def index():
        rows = [
            model.index(row, 0, view.rootIndex())
            for row in range(model.rowCount(view.rootIndex()))
        ]
        return next((one for one in rows if one.data() == name), None)

    wait_until(index)
    wait_until(lambda: not view.visualRect(index()).isEmpty())
    mouse.click_cell(view, index(), double=True)


def compare_three(mouse: Mouse, dialog: ComparisonDialog) -> None:
    """Add two methods to that of the form, and run them."""
    ticks = found(QListWidget, "comparison-methods", dialog)
    for name in readings.METHODS[1:]:
        tick(mouse, ticks, name)
    mouse.click(found(QPushButton, "comparison-add", dialog))
    mouse.click(found(QPushButton, "comparison-run", dialog))


def tick(mouse: Mouse, ticks: QListWidget, name: str) -> None:
    """Click on the box before a name; where that is not in sight, turn the wheel."""
    [item] = [
        ticks.item(row)
        for row in range(ticks.count())
        if ticks.item(row).text() == name
    ]
    index = ticks.indexFromItem(item)
    mouse.wheel_to(ticks, index)
    option = QStyleOptionViewItem()
    ticks.initViewItemOption(option)
    option.rect = ticks.visualRect(index)
    option.features |= QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator
    box = ticks.style().subElementRect(
        QStyle.SubElement.SE_ItemViewItemCheckIndicator, option, ticks
    )
    mouse.click_part(ticks.viewport(), box)


def cell_of(table: TableView, row: int, key: str) -> tuple[TableView, QModelIndex]:
    """Return a table and the cell of a row in a column."""
    keys = [column.key for column in table.rows_model.columns]
    return table, table.model().index(row, keys.index(key))


def run_cell(table: TableView, number: int) -> tuple[TableView, QModelIndex]:
    """Return the table of runs and the cell with the name of a run."""
    rows = table.rows_model.shown_rows()
    [place] = [
        at
        for at, row in enumerate(rows)
        if not isinstance(row, Heading) and row.key == number
    ]
    return cell_of(table, place, "method")
