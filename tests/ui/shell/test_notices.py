"""Messages of the window: over the page, which stays where it is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from waiting import wait_until
from windows import Opened, settle, slowly

from rankstudio.ui.main_window import MainWindow


def test_a_message_moves_no_button_and_covers_neither_toolbar_nor_strip(window: MainWindow) -> None:
    strip = window.sections.strip
    settle(window)  # the form takes the room that fields of the opened data need
    before = [_place(widget) for widget in (window.sections.select.curves, strip, window.toolbar)]
    for number in range(3):
        window.say_error(f"File {number} is damaged.")
    QApplication.processEvents()
    wait_until(lambda: window.notice.height() > 100)
    assert [_place(widget) for widget in (window.sections.select.curves, strip, window.toolbar)] == before
    own = window.notice.rect().translated(window.notice.mapTo(window, window.notice.rect().topLeft()))
    assert not any(own.intersects(place) for place in before[1:])
    for left in (2, 1, 0):
        QTest.keyClick(window, Qt.Key.Key_Escape)
        assert len(window.notice.texts()) == left


def test_esc_stops_a_run_before_it_closes_a_message(opened: Opened, folds) -> None:
    with opened(folds, slowly) as window:
        window.commands["run"].trigger()
        wait_until(window.commands["stop"].isEnabled)
        window.say_error("The disk is full.")
        QTest.keyClick(window, Qt.Key.Key_Escape)
        wait_until(lambda: not window.runs.busy)
        assert window.notice.text() == "The disk is full."


def _place(widget: QWidget):
    return widget.rect().translated(widget.mapTo(widget.window(), widget.rect().topLeft()))
