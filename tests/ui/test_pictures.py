"""The script that takes the guide's pictures opens one window after the other in a process."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme

SCRIPT = Path(__file__).parents[2] / "docs" / "screenshots.py"


@pytest.mark.thorough
def test_a_window_whose_pictures_are_taken_is_deleted_with_all_it_holds(
    theme: Theme, tmp_path: Path
) -> None:
    spec = importlib.util.spec_from_file_location("screenshots", SCRIPT)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    before = set(QApplication.topLevelWidgets())
    with theme.building():
        window = MainWindow(theme, Settings(tmp_path))
    window.show()
    page = window.workspace
    script.delete(window)
    assert not isValid(window) and not isValid(page)
    assert set(QApplication.topLevelWidgets()) <= before
    with theme.building():
        assert all(map(isValid, theme._unstyled)), (
            "forgotten when the next one is built"
        )
