"""Where to get data: reachable from the welcome page and the Data page, and on to a folder."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget
from waiting import wait_until

from rankstudio.engine.support.resources import table
from rankstudio.ui.data.data_sources import DataSources
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.study.dialogs import OpenDialog

LEFT = Qt.MouseButton.LeftButton


def test_every_source_says_what_on_which_terms_where_and_how_to_open_it() -> None:
    sources = table("features", "sources.toml")["source"]
    names = " ".join(source["name"] for source in sources)
    assert all(word in names for word in ("LETOR", "MSLR", "Yahoo", "Istella"))
    for source in sources:
        assert set(source) == {"name", "holds", "terms", "address", "open", "cite"}
        assert source["address"].startswith("http")
        assert all(text.strip() == text and text for text in source.values())


def test_it_is_reached_from_the_welcome_page_and_leads_to_a_folder(
    empty: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(OpenDialog, "exec", lambda _: asked.append(True))
    QTest.mouseClick(empty.findChild(QWidget, "welcome-sources"), LEFT)
    dialog = empty.findChild(DataSources)
    assert dialog.isVisible()
    copies = [b for b in dialog.findChildren(QPushButton) if b.text() == "Copy address"]
    QTest.mouseClick(copies[0], LEFT)
    assert QGuiApplication.clipboard().text().startswith("https://www.microsoft.com/")
    QTest.mouseClick(dialog.findChild(QPushButton, "data-sources-open"), LEFT)
    wait_until(lambda: asked == [True])
    wait_until(lambda: empty.findChild(DataSources) is None)


def test_it_is_reached_from_the_data_page_and_by_its_command(
    window: MainWindow,
) -> None:
    window.workspace.show_page("data")
    button = next(
        b
        for b in window.sections.data.panel.findChildren(QToolButton)
        if b.accessibleName() == "Where to get data"
    )
    QTest.mouseClick(button, LEFT)
    assert window.findChild(DataSources).isVisible()
    window.findChild(DataSources).reject()
    wait_until(lambda: window.findChild(DataSources) is None)
    window.commands["sources"].trigger()
    window.findChild(DataSources).reject()
