"""Models in the format of a plug-in: listed, written, verified, and a writer that fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from hands import drop
from plugins.installed import INI, plugins_of, without_plugins
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from waiting import wait_until
from windows import Opened, pages_present, settle

from rankstudio.engine.export.formats import plugin_model_format
from rankstudio.ui.export.dialog import ExportDialog
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.run_record import RunState
from rankstudio.ui.select.given_runs import GivenDialog

pytestmark = pytest.mark.usefixtures("shelf_folder")

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


def show_formats(window: MainWindow) -> ExportDialog:
    dialog = window.export_controller.dialog()
    dialog.select("model-formats")
    dialog.show()
    return dialog


def save(dialog: ExportDialog, label: str, path: Path) -> str:
    place = next(
        i
        for i in range(dialog._format.count())
        if dialog._format.itemText(i).startswith(label)
    )
    dialog._format.setCurrentIndex(place)
    dialog._format.activated.emit(place)
    dialog._path.selectAll()
    QTest.keyClicks(dialog._path, str(path))
    QTest.mouseClick(dialog._save, Qt.MouseButton.LeftButton)
    wait_until(lambda: not dialog._writing_jobs)
    return dialog.message.text()


def test_a_model_is_written_and_verified(ran: MainWindow, tmp_path: Path) -> None:
    dialog = show_formats(ran)
    said = save(dialog, "INI file", tmp_path / "m.ini")
    assert ran.current.model is not None
    n = len(ran.current.model.step.selected)
    assert len((tmp_path / "m.ini").read_text("utf-8").splitlines()) == n + 1
    queries = (ran.current.model.fold.test or ran.current.model.fold.train).n_queries
    assert (
        said.startswith(f"Written to {tmp_path / 'm.ini'}.")
        and f"{queries} of {queries}" in said
    )
    dialog.deleteLater()


def test_a_file_of_the_format_is_dropped_and_ranks(
    opened: Opened, folds: Path, tmp_path: Path
) -> None:
    path = tmp_path / "mine.ini"
    path.write_text("[weights]\n1 = 0.5\n3 = -0.25\n")
    with opened(folds) as window:
        drop(window, path)
        (dialog,) = [one for one in window.findChildren(GivenDialog) if one.isVisible()]
        QTest.mouseClick(dialog._accept, Qt.MouseButton.LeftButton)
        wait_until(lambda: window.runs.records and not window.runs.busy)
        settle(window)
        (record,) = window.runs.records
        assert record.state is RunState.DONE
        part = record.dataset.folds[0].test
        step = record.folds[1].chosen.step
        expected = part.X[:, [0, 2]] @ [0.5, -0.25]
        assert np.allclose(step.scores(np.ascontiguousarray(part.X.T)), expected)
        # every page lives with such a model
        for page in pages_present(window, "features", "queries", "evidence", "compare"):
            window.workspace.show_page(page)
            settle(window)
        export = show_formats(window)
        # nothing else can express it
        assert export.message.text() and not export._save.isEnabled()
        export.deleteLater()
    with without_plugins(tmp_path / "site"), opened() as window:
        window.restore()
        wait_until(
            lambda: window.runs.shown is not None and not window.models.loader.busy
        )
        settle(window)
        assert window.runs.records[0].state is RunState.DONE
        assert len(window.notice.texts()) <= 1


def test_failing_code_is_one_sentence(
    ran: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_model_format, "PATIENCE", 0.2)
    dialog = show_formats(ran)
    for label in ("Raises", "Hangs"):
        said = save(dialog, label, tmp_path / f"m.{label.lower()}")
        assert "rankstudio-bad" in said and "\n" not in said and "\x1b" not in said
        assert (
            not (tmp_path / f"m.{label.lower()}").exists() and dialog._save.isEnabled()
        )
    said = save(dialog, "Unread", tmp_path / "m.unread")
    assert (
        said.startswith(f"Written to {tmp_path / 'm.unread'}.")
        and "rankstudio-bad" in said
    )
    # the dialog lives
    assert save(dialog, "INI file", tmp_path / "m.ini").startswith("Written to")
    sys.modules["bad_plugin"].GATE.set()
    dialog.deleteLater()
