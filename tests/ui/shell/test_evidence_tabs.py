"""The Estimates tab of the Evidence page is reached by all that led to the page that it was."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTabBar, QToolButton
from windows import Opened, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.shell.workspace import ESTIMATES

prepare = settle


def choose(window: MainWindow, typed: str) -> None:
    """Open the palette, type, and press Enter."""
    window.commands["palette"].trigger()
    QTest.keyClicks(window.palette_dialog.field, typed)
    QTest.keyClick(window.palette_dialog.field, Qt.Key.Key_Return)


def test_the_tab_has_a_key_and_the_rail_leads_back_to_it(window: MainWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_8, Qt.KeyboardModifier.ControlModifier)
    assert window.workspace.place == ESTIMATES
    window.workspace.show_page("data")
    QTest.mouseClick(window.findChild(QToolButton, "page-evidence"), Qt.MouseButton.LeftButton)
    assert window.workspace.place == ESTIMATES  # where the page was left
    QTest.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    assert window.workspace.place == "evidence"
    settle(window)


@pytest.mark.thorough
def test_settings_that_name_the_page_lead_to_the_tab(opened: Opened, folds: object) -> None:
    with opened(folds) as window:
        window.workspace.show_page(ESTIMATES)
        settle(window)
    with opened(folds) as window:
        assert window.workspace.place == ESTIMATES
        QApplication.processEvents()
        assert window.sections.lab.auc.form.isVisible()
        assert window._settings.text("window/page") == ESTIMATES
        settle(window)


def test_the_rail_keeps_seven_pages_and_the_tab_is_in_one(ran: MainWindow) -> None:
    assert len(PAGES) == 7
    ran.workspace.show_page(ESTIMATES)
    assert (ran.workspace.page, ran.workspace.place) == ("evidence", ESTIMATES)
    assert ran.sections.lab.auc.form.isVisible() and ran.sections.lab.tabs.isVisible()
    assert not ran.sections.evidence.panel.isVisible()
    ran.workspace.show_page("evidence")
    assert ran.sections.evidence.panel.isVisible() and not ran.sections.lab.auc.form.isVisible()
    settle(ran)


def test_no_tab_is_scrolled_away(ran: MainWindow) -> None:
    bar = ran.findChild(QTabBar, "evidence-tabs")
    for place in ("evidence", ESTIMATES):
        ran.workspace.show_page(place)
        for _ in range(3):
            settle(ran)
            QApplication.processEvents()
        assert bar.width() >= bar.sizeHint().width(), place


@pytest.mark.parametrize("typed", ["estimates page", "lab page"])
def test_the_palette_finds_the_tab_by_its_old_and_new_name(ran: MainWindow, typed: str) -> None:
    choose(ran, typed)
    assert ran.workspace.place == ESTIMATES
