"""Data in the format of a plug-in, in the window: opened every way, run, opened again, and without it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hands import drop, fact_texts
from plugins.installed import NPZ, plugins_of, without_plugins
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox, QPushButton
from waiting import wait_until
from windows import Opened, finish, settle

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.dataset_writer import save_dataset
from rankstudio.engine.data.formats.format_catalog import format_of_key
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.study.dialogs import ColumnsDialog, OpenDialog, kind_of

pytestmark = pytest.mark.usefixtures("shelf_folder")

COLS = """
    from threading import Event
    from rankstudio.api import DataFormat, Plugin
    GATE = Event()
    PLUGIN = Plugin(name="cols", data_formats=(
        DataFormat("cols", "Columns <b> (old)", (".cols",), reader="cols_plugin:read", is_table=True),
        DataFormat("slow", "Slow", (".slow",), reader="cols_plugin:hang"),
    ))
    def read(path):
        n = 40
        yield {
            "session": [f"q{i // 4}" for i in range(n)], "clicked": [i % 3 for i in range(n)],
            "tf": [i * 7 % 11 for i in range(n)], "idf": [i * 5 % 13 for i in range(n)],
        }
    def hang(path):
        GATE.wait(60)
        yield [[1.0]], [1], [1]
"""


@pytest.fixture
def archives(tmp_path: Path) -> Iterator[Path]:
    """A fold in the format of an installed plug-in."""
    folder = tmp_path / "Archives" / "Fold1"
    folder.mkdir(parents=True)
    with plugins_of(tmp_path / "site", npz=NPZ):
        for seed, name in enumerate(("train", "vali", "test")):
            draw = np.random.default_rng(seed)
            labels = draw.integers(0, 3, 40)
            data = RankingDataset.from_arrays(
                draw.random((40, 3)), labels, np.repeat(range(10), 4)
            )
            save_dataset(data, folder / f"{name}.npz", format_of_key("npz"))
        yield folder.parent


def asked(window: MainWindow) -> ColumnsDialog:
    wait_until(lambda: [d for d in window.findChildren(ColumnsDialog) if d.isVisible()])
    return next(d for d in window.findChildren(ColumnsDialog) if d.isVisible())


def press_open(dialog: ColumnsDialog) -> None:
    (buttons,) = dialog.findChildren(QDialogButtonBox)
    QTest.mouseClick(
        buttons.button(QDialogButtonBox.StandardButton.Open), Qt.MouseButton.LeftButton
    )


def tick_of(dialog: ColumnsDialog, row: int) -> QPoint:
    return dialog._table.visualRect(dialog._table.model().index(row, 0)).center()


def is_open(window: MainWindow, name: str) -> None:
    wait_until(
        lambda: (
            window.session.dataset is not None and window.session.dataset.name == name
        )
    )
    settle(window)


def test_archives_are_dropped_run_opened_again_and_shown_without_the_package(
    opened: Opened, tmp_path: Path, archives: Path
) -> None:
    with opened() as window:
        drop(window, archives)
        is_open(window, "Archives")
        assert ("read as", "NumPy archive") in fact_texts(
            window.sections.data.panel._facts
        )
        # its documents are no rows of named columns
        assert not window.commands["columns"].isEnabled()
        drop(window, archives / "Fold1" / "train.npz")
        is_open(window, "Archives Fold1 train")
        (recent,) = [
            action
            for action in window.commands.submenus["recent"].actions()
            if "Archives" in action.text() and "train" not in action.text()
        ]
        recent.trigger()
        is_open(window, "Archives")
        window.session.change(
            "other", method="single-feature", parameters={"n_features_to_select": 2}
        )
        finish(window)
        (record,) = window.runs.records
        assert record.plan.columns["format"] == "npz of rankstudio-npz==1.2"
    with opened() as window:
        window.restore()
        wait_until(lambda: window.runs.shown is not None)
        settle(window)
        assert (
            window.session.dataset is not None
            and window.session.dataset.name == "Archives"
        )
        assert window.runs.shown.dataset is window.session.dataset
    with without_plugins(tmp_path / "site"), opened() as window:
        window.restore()
        wait_until(
            lambda: (
                window.notice.isVisible()
                and window.runs.records
                and not window.models.loader.busy
            )
        )
        settle(window)
        (text,) = window.notice.texts()
        assert "rankstudio-npz 1.2" in text and "\n" not in text
        (row,) = window.sections.compare.panel.rows()
        assert row.state == "done" and not window.session.has_documents
        window.commands["sample"].trigger()  # the window lives
        wait_until(lambda: window.session.has_documents)
        settle(window)
        settle(window)


def test_a_table_of_a_plugin_is_chosen_in_the_dialog_and_asked_for_its_columns(
    opened: Opened, tmp_path: Path
) -> None:
    path = tmp_path / "clicks.data"  # whose name tells nothing
    path.write_bytes(b"\0\1")
    (tmp_path / "x.cols").write_bytes(b"\0\1")
    with plugins_of(tmp_path / "site", cols=COLS), opened() as window:
        assert kind_of(tmp_path / "x.cols") == "table"
        filters = OpenDialog(window._theme, None, str(tmp_path)).nameFilters()
        assert any(
            text.startswith("Columns <b> (old) (*.cols *.cols.gz ") for text in filters
        )
        plan = tmp_path / "plan.toml"
        plan.write_text(
            'data = "clicks.data"\nmethod = "single-feature"\n'
            '[columns]\nformat = "cols"\nqid = "session"\nlabel = "clicked"\n'
        )
        drop(window, plan)
        is_open(window, "clicks")
        assert window.session.plan.columns["format"] == "cols"
        window.commands["columns"].trigger()
        dialog = asked(window)
        assert [row.name for row in dialog._table.rows()] == [
            "session",
            "clicked",
            "tf",
            "idf",
        ]
        QTest.mouseClick(
            dialog._table.viewport(), Qt.MouseButton.LeftButton, pos=tick_of(dialog, 3)
        )
        before = window.session.dataset
        press_open(dialog)
        wait_until(lambda: window.session.dataset is not before)
        settle(window)
        assert window.session.dataset.feature_names == ("tf",)
        assert window.session.plan.columns["format"] == "cols"


def test_opening_with_a_reader_that_hangs_is_cancelled(
    opened: Opened, tmp_path: Path
) -> None:
    path = tmp_path / "x.slow"
    path.write_bytes(b"\0\1")
    with plugins_of(tmp_path / "site", cols=COLS), opened() as window:
        drop(window, path)
        wait_until(lambda: "cols_plugin" in sys.modules and window.loading.isVisible())
        cancel = next(
            b for b in window.loading.findChildren(QPushButton) if b.isVisible()
        )
        QTest.mouseClick(cancel, Qt.MouseButton.LeftButton)
        wait_until(lambda: not window.models.loader.busy)
        assert window.session.dataset is None
        sys.modules["cols_plugin"].GATE.set()
