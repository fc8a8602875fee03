"""The page *Estimates* is off the rail until it is asked for, by its keys, the menu or the palette."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTabBar, QToolButton
from windows import Opened, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.shell.pages import PAGES

prepare = settle


def button(window: MainWindow) -> QToolButton:
    """Return the page's button in the rail."""
    return window.findChild(QToolButton, "page-lab")


def tick(window: MainWindow) -> None:
    """Choose the page in the menu *View, Pages*."""
    (action,) = window.commands.submenus["pages"].actions()
    action.trigger()
    settle(window)


def test_its_keys_show_it_and_give_it_a_button(window: MainWindow) -> None:
    assert "lab" not in {page.key for page in PAGES} and not button(window).isVisible()
    # it takes a third of a second to make
    assert "lab" not in window.sections.contributed.controllers
    QTest.keyClick(window, Qt.Key.Key_8, Qt.KeyboardModifier.ControlModifier)
    assert window.workspace.page == "lab" and button(window).isVisible()
    window.workspace.show_page("data")
    QTest.mouseClick(button(window), Qt.MouseButton.LeftButton)
    assert window.workspace.page == "lab"
    QTest.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    assert window.workspace.page == "evidence"
    settle(window)


def test_the_menu_puts_it_on_the_rail_and_takes_it_away(window: MainWindow) -> None:
    (action,) = window.commands.submenus["pages"].actions()
    assert not action.isChecked()
    tick(window)
    assert (
        action.isChecked()
        and button(window).isVisible()
        and window.workspace.page != "lab"
    )
    window.workspace.show_page("lab")
    settle(window)
    assert window.sections.contributed.controllers["lab"].auc.form.isVisible()
    tick(window)
    assert (
        not button(window).isVisible()
        and window.workspace.page == "select"
        and not action.isChecked()
    )


@pytest.mark.thorough
@pytest.mark.parametrize("page", ["lab", "data"])
def test_the_next_start_has_what_was_asked_for(
    opened: Opened, folds: object, page: str
) -> None:
    with opened(folds) as window:
        assert not button(window).isVisible()
        window.workspace.show_page("lab")
        window.workspace.show_page(page)
        settle(window)
    with opened(folds) as window:
        assert window.workspace.page == page and button(window).isVisible()
        tick(window)
    with opened(folds) as window:
        assert window.workspace.page != "lab" and not button(window).isVisible()
        settle(window)


def test_no_tab_is_scrolled_away(ran: MainWindow) -> None:
    ran.workspace.show_page("lab")
    bar = ran.findChild(QTabBar, "lab-tabs")
    for _ in range(3):
        settle(ran)
        QApplication.processEvents()
    assert bar.isVisible() and bar.width() >= bar.sizeHint().width()


def test_the_palette_finds_it(ran: MainWindow) -> None:
    ran.workspace.show_page("data")
    ran.commands["palette"].trigger()
    QTest.keyClicks(ran.palette_dialog.field, "estimates page")
    QTest.keyClick(ran.palette_dialog.field, Qt.Key.Key_Return)
    assert ran.workspace.page == "lab"
