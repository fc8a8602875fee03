"""A walk through the window with nothing but the keyboard."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QListWidget, QMenu
from walks import readings
from walks.user import Keyboard, found

from rankstudio.ui.compare.comparison_dialog import ComparisonDialog
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.study.dialogs import OpenDialog
from rankstudio.ui.widgets import TableView


def test_the_walk_by_keyboard(walked: MainWindow, home: Path) -> None:
    keys = Keyboard()

    def name_data(dialog: OpenDialog) -> None:
        keys.type(str(home / "Small"))
        keys.press("Return")

    keys.press("Ctrl+O", then=name_data)
    readings.is_open(walked, home / "Small")

    keys.press("Ctrl+5")
    keys.tab_to("run-comparison")
    keys.press("Space", then=lambda dialog: compare_three(keys, dialog))
    readings.runs_are_there(walked)

    keys.tab_to("runs-table")
    go_to_run(keys, 1)
    readings.rest(walked)
    keys.press("Ctrl+6")
    readings.rest(walked)
    keys.tab_to("query-table")
    keys.press("Home")
    readings.rest(walked)
    readings.chosen_query(walked)
    readings.why_first(walked)

    keys.press("Ctrl+3")
    readings.substitute(walked)

    keys.press("Ctrl+5")
    readings.seal_says(walked, readings.SEALED, "validation")
    keys.press("Ctrl+Shift+L")
    readings.seal_says(walked, readings.UNSEALED, "test")

    def remove(menu: QMenu) -> None:
        keys.choose(menu, "Remove")

    keys.tab_to("runs-table")
    go_to_run(keys, 2)
    readings.rest(walked)
    keys.press("Delete")
    readings.runs_left(walked, 1, 3)
    keys.press("Ctrl+Z")
    readings.runs_left(walked, 1, 2, 3)
    keys.tab_to("runs-table")
    go_to_run(keys, 3)
    readings.rest(walked)
    keys.open_menu(then=remove)
    readings.runs_left(walked, 1, 2)
    readings.undo_offered(3)
    keys.tab_to("notice-action", "Shift+Tab")
    keys.press("Space")
    readings.runs_left(walked, 1, 2, 3)

    def name_study(dialog: QFileDialog) -> None:
        keys.type(str(home / "walked.rankstudio"))
        keys.press("Return")

    keys.press("Ctrl+Shift+S", then=name_study)
    readings.rest(walked)
    keys.press("Ctrl+Shift+N")
    readings.runs_left(walked)
    keys.press("Ctrl+Shift+O", then=name_study)
    readings.runs_are_there(walked)
    readings.seal_says(walked, readings.UNSEALED, "test")
    assert "walked" in walked.windowTitle()


def compare_three(keys: Keyboard, dialog: ComparisonDialog) -> None:
    """Add two methods to that of the form, and run them."""
    ticks = found(QListWidget, "comparison-methods", dialog)
    keys.tab_to("comparison-methods")
    for name in readings.METHODS[1:]:
        for _ in range(ticks.count()):
            if ticks.currentItem().text() == name:
                break
            keys.press("Down")
        assert ticks.currentItem().text() == name
        keys.press("Space")
    keys.press("Alt+A")
    keys.press("Alt+R")


def go_to_run(keys: Keyboard, number: int) -> None:
    """Go to a run in the table of runs, which has the keyboard."""
    numbers = [row.key for row in found(TableView, "runs-table").rows()]
    keys.press("Home", *["Down"] * numbers.index(number))
