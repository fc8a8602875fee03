"""What the tests of the Lab page share: windows that show it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from window_fixtures import *  # noqa: F403 - pytest finds fixtures here
from windows import open_window, settle, write_folds

from rankstudio.plugins.lab.window.controller import AucTab, SelectionTab
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme


@pytest.fixture(autouse=True)
def own_studies(shelf_folder: Path) -> Path:
    return shelf_folder


@pytest.fixture
def lab(window: MainWindow) -> AucTab:
    """The tab of AUC estimates, seen."""
    window.commands["page_lab"].trigger()
    settle(window)
    assert window.workspace.page == "lab"
    return window.sections.contributed.controllers["lab"].auc


@pytest.fixture
def five_folds(theme: Theme, tmp_path: Path) -> Iterator[MainWindow]:
    """A window with data of five folds, on the page."""
    data = write_folds(tmp_path / "Five", 5)
    with open_window(theme, tmp_path / "config", data) as made:
        made.commands["page_lab"].trigger()
        settle(made)
        yield made


@pytest.fixture
def own(five_folds: MainWindow) -> SelectionTab:
    """The tab of estimates on the data that are open, seen."""
    five_folds.sections.contributed.controllers["lab"].tabs.select("selection")
    return five_folds.sections.contributed.controllers["lab"].selection
