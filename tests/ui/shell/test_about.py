"""*Help → About*."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from rankstudio.ui.shell import help as help_module
from rankstudio.ui.shell.help import Help
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Notices


@pytest.fixture
def about(app: QApplication, theme: Theme) -> Callable[[], str]:
    """Show the message, close it, and return its text."""
    window = QWidget()
    commands = Help(theme, Notices(theme), {}, window)
    texts: list[str] = []

    def close() -> None:
        (box,) = (
            widget
            for widget in QApplication.topLevelWidgets()
            if isinstance(widget, QMessageBox) and widget.isVisible()
        )
        texts.append(box.text())
        box.accept()

    def show() -> str:
        QTimer.singleShot(0, close)
        commands.about()
        return texts.pop()

    return show


def test_only_a_bundle_links_to_the_licences_of_its_libraries(
    about: Callable[[], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "LICENSES" not in about()

    file = tmp_path / "LICENSES.txt"
    monkeypatch.setattr(help_module, "resource", lambda name: tmp_path / name)
    assert "LICENSES" not in about()
    file.touch()
    assert f'href="{file.as_uri()}"' in about()
