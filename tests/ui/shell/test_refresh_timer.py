"""When what a run has brought is drawn: each part once, however often it was asked for."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication
from waiting import wait_until

from rankstudio.ui.process.turns import turns
from rankstudio.ui.shell.refresh_timer import RefreshTimer


def test_many_askings_bring_each_part_up_to_date_once(app: QApplication) -> None:
    drawn: list[str] = []
    parent = QObject()
    timer = RefreshTimer(lambda: drawn.append("run"), lambda: drawn.append("results"), parent=parent)
    assert not timer.is_active
    for _ in range(5):
        timer.ask()
    assert timer.is_active
    wait_until(lambda: not timer.is_active)
    assert drawn == ["run", "results"]
    timer.ask()
    wait_until(lambda: not timer.is_active)
    assert drawn == ["run", "results"] * 2
    parent.deleteLater()


def test_nothing_is_drawn_once_it_was_stopped(app: QApplication) -> None:
    drawn: list[str] = []
    parent = QObject()
    timer = RefreshTimer(lambda: drawn.append("run"), lambda: drawn.append("results"), parent=parent)
    timer._begin()
    timer.ask()
    turns()._turn()
    timer.stop()
    assert drawn == ["run"]
    assert not timer.is_active
    parent.deleteLater()
