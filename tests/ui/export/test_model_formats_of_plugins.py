"""Models in the format of a plug-in: listed, written, verified, and a writer that fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from plugins.installed import INI, plugins_of
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until

from rankstudio.engine.export.formats import plugin_model_format
from rankstudio.ui.export.dialog import ExportDialog
from rankstudio.ui.main_window import MainWindow

FAILING = """
from threading import Event
from rankstudio.api import ModelFormat, Plugin

GATE = Event()
PLUGIN = Plugin(name="bad", model_formats=(
    ModelFormat("raises", "Raises <b>", ".raises", writer="bad_plugin:write"),
    ModelFormat("hangs", "Hangs", ".hangs", writer="bad_plugin:hang"),
    ModelFormat("unread", "Unread", ".unread", writer="bad_plugin:text", reader="bad_plugin:unread"),
))

def write(model):
    raise ValueError("no <b>luck</b>\\n\\x1b[2J")

def hang(model):
    GATE.wait(30)

def text(model):
    return "text"

def unread(content, X, ids):
    raise SystemExit
"""


@pytest.fixture(autouse=True)
def plugins(tmp_path: Path) -> Iterator[None]:
    with plugins_of(tmp_path / "site", ini=INI, bad=dedent(FAILING)):
        yield


def opened(window: MainWindow) -> ExportDialog:
    dialog = window.export_controller.dialog()
    dialog.select("model-formats")
    dialog.show()
    return dialog


def save(dialog: ExportDialog, label: str, path: Path) -> str:
    place = next(i for i in range(dialog._format.count()) if dialog._format.itemText(i).startswith(label))
    dialog._format.setCurrentIndex(place)
    dialog._format.activated.emit(place)
    dialog._path.selectAll()
    QTest.keyClicks(dialog._path, str(path))
    QTest.mouseClick(dialog._save, Qt.MouseButton.LeftButton)
    wait_until(lambda: not dialog._writing)
    return dialog.message.text()


def test_a_model_is_written_and_verified(ran: MainWindow, tmp_path: Path) -> None:
    dialog = opened(ran)
    said = save(dialog, "INI file", tmp_path / "m.ini")
    assert ran.current.model is not None
    n = len(ran.current.model.step.selected)
    assert len((tmp_path / "m.ini").read_text("utf-8").splitlines()) == n + 1
    queries = (ran.current.model.fold.test or ran.current.model.fold.train).n_queries
    assert said.startswith(f"Written to {tmp_path / 'm.ini'}.") and f"{queries} of {queries}" in said
    dialog.deleteLater()


def test_failing_code_is_one_sentence(
    ran: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_model_format, "_PATIENCE", 0.2)
    dialog = opened(ran)
    for label in ("Raises", "Hangs"):
        said = save(dialog, label, tmp_path / f"m.{label.lower()}")
        assert "rankstudio-bad" in said and "\n" not in said and "\x1b" not in said
        assert not (tmp_path / f"m.{label.lower()}").exists() and dialog._save.isEnabled()
    said = save(dialog, "Unread", tmp_path / "m.unread")
    assert said.startswith(f"Written to {tmp_path / 'm.unread'}.") and "rankstudio-bad" in said
    assert save(dialog, "INI file", tmp_path / "m.ini").startswith("Written to")  # the dialog lives
    sys.modules["bad_plugin"].GATE.set()
    dialog.deleteLater()
