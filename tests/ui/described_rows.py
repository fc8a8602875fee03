"""The table of features on the Data page, as tests read it and write into it."""

from __future__ import annotations

from waiting import wait_until

from rankstudio.ui.data.statistics_panel import DescribedFeature
from rankstudio.ui.main_window import MainWindow


def rows(window: MainWindow) -> list[DescribedFeature]:
    return window.sections.data.statistics.table.rows()


def show_data(window: MainWindow) -> None:
    window.workspace.show_page("data")
    wait_until(lambda: rows(window) and rows(window)[0].quality)


def write(window: MainWindow, row: int, key: str, text: str) -> None:
    """Do what the editor of a cell does."""
    model = window.sections.data.statistics.table.rows_model
    column = [c.key for c in model.columns].index(key)
    model.setData(model.index(row, column), text)
