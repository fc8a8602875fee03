"""Messages of the window: over the page, which stays where it is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton, QWidget
from waiting import wait_until
from windows import Opened, finish, noting, pages_present, settle, slowly

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.widgets.notice import Level, Notice

prepare = settle


def test_esc_stops_a_run_before_it_closes_a_message(opened: Opened, folds) -> None:
    with opened(folds, slowly) as window:
        window.commands["run"].trigger()
        wait_until(window.commands["stop"].isEnabled)
        window.say_error("The disk is full.")
        QTest.keyClick(window, Qt.Key.Key_Escape)
        wait_until(lambda: not window.runs.busy)
        assert window.notice.text() == "The disk is full."


def test_the_warning_of_a_run_comes_again_among_the_kept_ones(
    opened: Opened, folds, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    monkeypatch.setattr(Notice, "isActiveWindow", lambda bar: True)
    with opened(folds, noting) as window:
        finish(window)
        (text,) = window.notice.texts()
        window.notice.newest.expire()
        for page in pages_present(window, "features", "compare", "select"):
            window.workspace.show_page(page)
            assert window.notice.texts() == ()
            assert window.notice.kept() == (() if page == "compare" else (text,))
        window.status.messages.click()
        window.notice.close_newest()
        window.workspace.show_page("features")
        assert window.notice.texts() == window.notice.kept() == ()


def test_a_message_moves_no_button_and_covers_neither_toolbar_nor_strip(
    ran: MainWindow,
) -> None:
    strip = ran.sections.select.strip
    settle(ran)  # the form takes the room that fields of the opened data need
    before = [
        _place(widget) for widget in (ran.sections.select.curves, strip, ran.toolbar)
    ]
    for number in range(3):
        ran.say_error(f"File {number} is damaged.")
    QApplication.processEvents()
    wait_until(lambda: ran.notice.height() > 100)
    assert [
        _place(widget) for widget in (ran.sections.select.curves, strip, ran.toolbar)
    ] == before
    own = ran.notice.rect().translated(
        ran.notice.mapTo(ran, ran.notice.rect().topLeft())
    )
    assert not any(own.intersects(place) for place in before[1:])
    for left in (2, 1, 0):
        QTest.keyClick(ran, Qt.Key.Key_Escape)
        assert len(ran.notice.texts()) == left


def test_a_warning_goes_by_itself_and_can_be_read_again(
    ran: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Notice, "isActiveWindow", lambda bar: True)
    notice, button = ran.notice, ran.status.messages
    height = ran.status.height()
    ran.say_warning("The column is constant.")
    bar = notice.newest
    assert (
        bar._expiry_timer.isActive()
        and bar._expiry_timer.interval() >= 6000
        and not button.isVisible()
    )
    bar.expire()
    assert (
        notice.texts() == ()
        and not notice.isVisible()
        and not bar._expiry_timer.isActive()
    )
    assert button.isVisible() and button.text().startswith("1 ")
    QApplication.processEvents()
    assert ran.status.height() == height
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert notice.texts() == ("The column is constant.",) and not button.isVisible()
    assert not notice.newest._expiry_timer.isActive()  # who asked for it closes it
    QTest.keyClick(ran, Qt.Key.Key_Escape)
    assert notice.texts() == notice.kept() == () and not button.isVisible()


@pytest.mark.parametrize("level", ["error", "info"])
def test_what_asks_for_something_stays(ran: MainWindow, level: Level) -> None:
    ran.notice.say("The disk is full.", level)
    assert not ran.notice.newest._expiry_timer.isActive()


def test_a_warning_stays_while_it_is_being_read(
    ran: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    for looked_at in ("mouse", "other window", "keyboard"):
        with monkeypatch.context() as there:
            there.setattr(
                Notice, "isActiveWindow", lambda bar, at=looked_at: at != "other window"
            )
            there.setattr(Notice, "underMouse", lambda bar, at=looked_at: at == "mouse")
            ran.say_warning(looked_at)
            bar = ran.notice.newest
            focus = bar.findChild(QToolButton) if looked_at == "keyboard" else None
            there.setattr(QApplication, "focusWidget", lambda focus=focus: focus)
            bar.expire()
            assert ran.notice.texts() == (looked_at,) and bar._expiry_timer.isActive()
            ran.notice.dismiss()
            assert not bar._expiry_timer.isActive()


def _place(widget: QWidget):
    return widget.rect().translated(
        widget.mapTo(widget.window(), widget.rect().topLeft())
    )
