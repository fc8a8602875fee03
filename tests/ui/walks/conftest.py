"""A window as a user finds it: nothing open, data in the folder at home."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from waiting import wait_until
from windows import open_window, write_folds

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.style.theme import Theme

_ABILITIES = ("evidence", "features", "judges", "permutation", "preferences", "queries")
_ABSENT = [
    name for name in _ABILITIES if find_spec(f"rankstudio.plugins.{name}") is None
]
collect_ignore_glob = ["test_*.py"] if _ABSENT else []
"""One walks through all pages: where the folder of an ability is absent, nobody walks."""

_SIZE = "1280x760"
_SECONDS_A_STEP, _SHORTENING = 1.0, 600.0
"""So long a step may take on a busy machine, and so long a walk that fails may be made shorter."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Give random walks the time that so many steps need."""
    for item in items:
        if item.path.name == "test_random_walk.py":
            seconds = config.getoption("--walk-steps") * _SECONDS_A_STEP + _SHORTENING
            item.add_marker(pytest.mark.timeout(seconds))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder, with small data in it; studies and the log are beside it."""
    there = tmp_path / "home"
    write_folds(there / "Small")
    monkeypatch.setenv("HOME", str(there))
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    return there


@pytest.fixture
def walked(theme: Theme, tmp_path: Path, home: Path) -> Iterator[MainWindow]:
    """The window, at the size that the environment wants it to have."""
    with open_window(theme, tmp_path / "config", sealed=True) as made:
        width, height = map(
            int, os.environ.get("RANKSTUDIO_WALK_SIZE", _SIZE).split("x")
        )
        made.resize(width, height)
        made.activateWindow()
        wait_until(made.isActiveWindow)
        QCoreApplication.processEvents()
        assert (made.width(), made.height()) == (width, height)
        yield made
