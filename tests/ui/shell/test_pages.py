"""The pages of the window: by the rail, by keys, remembered, and a panel alone on its page."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from windows import open_window, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.shell.page import Page
from rankstudio.ui.shell.workspace import FIRST, PAGES
from rankstudio.ui.style.theme import Theme


def page(window: MainWindow) -> Page:
    return window.findChild(Page, f"{window.workspace.page}-page")


def double_click_header(panel: QWidget) -> None:
    header = panel.layout().itemAt(0).widget()
    QTest.mouseDClick(header, Qt.MouseButton.LeftButton, pos=QPoint(4, 4))


@pytest.mark.parametrize("number", range(1, len(PAGES) + 1))
def test_a_page_is_shown_by_its_key_and_by_its_button(window: MainWindow, number: int) -> None:
    wanted = PAGES[number - 1].key
    key = Qt.Key(Qt.Key.Key_0 + number)
    QTest.keyClick(window, key, Qt.KeyboardModifier.ControlModifier)
    assert window.workspace.page == wanted
    assert window.findChild(QToolButton, f"page-{wanted}").isChecked()
    window.workspace.show_page(FIRST)
    QTest.mouseClick(window.findChild(QToolButton, f"page-{wanted}"), Qt.MouseButton.LeftButton)
    assert window.workspace.page == wanted
    assert page(window).isVisible()
    settle(window)


def test_the_rail_is_one_stop_of_tab_and_arrows_walk_along_it(window: MainWindow) -> None:
    first = window.findChild(QToolButton, f"page-{PAGES[0].key}")
    window.workspace.show_page(PAGES[0].key)
    first.setFocus()
    for wanted in PAGES[1:]:
        QTest.keyClick(window.workspace.rail, Qt.Key.Key_Down)
        assert window.workspace.page == wanted.key
    QTest.keyClick(window.workspace.rail, Qt.Key.Key_Down)
    assert window.workspace.page == PAGES[-1].key
    stops = [
        b
        for b in window.workspace.rail.findChildren(QToolButton)
        if b.focusPolicy() & Qt.FocusPolicy.TabFocus
    ]
    assert [stop.objectName() for stop in stops] == [f"page-{PAGES[-1].key}"]
    settle(window)


def test_a_double_click_on_a_header_gives_a_panel_the_page_and_another_takes_it_back(
    window: MainWindow,
) -> None:
    curves = window.sections.run.curves
    others = [window.sections.method.form, window.sections.run.heat, window.sections.inspect.features]
    settle(window)
    QApplication.processEvents()
    before = curves.size()
    double_click_header(curves)
    QApplication.processEvents()
    assert page(window).maximised is curves
    assert not any(other.isVisible() for other in others)
    assert curves.width() > before.width()
    double_click_header(curves)
    QApplication.processEvents()
    assert all(other.isVisible() for other in others)
    assert curves.size() == before


def test_page_and_sizes_are_remembered_but_not_that_a_panel_was_alone(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    config = tmp_path / "config"
    with open_window(theme, config, folds) as window:
        window.workspace.show_page("features")
        page(window).maximise(window.sections.inspect.profile)
        settle(window)
    with open_window(theme, config, folds) as window:
        assert window.workspace.page == "features"
        assert window.sections.inspect.path.isVisible()
        settle(window)


def test_a_page_shows_what_was_chosen_while_another_one_was_seen(window: MainWindow) -> None:
    window.session.toggle("pinned", 2)
    settle(window)
    window.workspace.show_page("features")
    path = window.sections.inspect.path
    assert path.table.rows()
    assert [row.feature_id for row in path.table.rows()] == [
        row.feature_id for row in window.sections.inspect.features.table.rows()
    ]
    settle(window)


def test_f1_opens_the_guide_where_it_tells_of_the_place(window: MainWindow) -> None:
    def told() -> str:
        window.commands["guide"].trigger()
        guide = window.help.guide
        assert guide is not None
        block = guide._browser.cursorForPosition(QPoint(40, 24)).block()
        while block.blockFormat().headingLevel() == 0:
            block = block.next()
        return str(block.text())

    window.workspace.show_page("compare")
    window.sections.results.panel.table.setFocus()
    assert told() == "Runs"
    window.workspace.show_page("select")
    window.sections.run.curves.validation_plot.setFocus()
    assert told() == "Criterion and validation"
    assert window.help.guide is not None
    window.help.guide.close()
    settle(window)
