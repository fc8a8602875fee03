"""The Queries page as its tests go about it: runs to compare, and the page once it has computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from PySide6.QtCore import Qt
from windows import finish, press_keys, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.shell.pages import PAGES

if TYPE_CHECKING:
    from rankstudio.plugins.queries.window.controller import QueriesController


def run_with(window: MainWindow, **changes: object) -> None:
    window.session.change("editing", **changes)
    finish(window)


def look(window: MainWindow) -> QueriesController:
    """Go to the page as the keyboard does, and wait for all that is computed there."""
    pytest.importorskip("rankstudio.plugins.queries")  # its folder may be absent
    # The number of the page's key depends on the pages of the other abilities.
    number = [page.key for page in PAGES].index("queries") + 1
    key = Qt.Key(Qt.Key.Key_0 + number)
    press_keys(window, key, Qt.KeyboardModifier.ControlModifier)
    assert window.workspace.page == "queries"
    settle(window)
    return window.sections.queries


def two_runs(window: MainWindow) -> QueriesController:
    finish(window)
    run_with(window, method="rankrls", parameters={"regularization": (0.5, 2.0)})
    return look(window)


def values(window: MainWindow, key: int) -> list[float]:
    """What a run has kept of each query, over its folds, ascending."""
    folds = window.runs.record(key).folds.values()
    return sorted(np.concatenate([fold.per_query["MAP"] for fold in folds]))
