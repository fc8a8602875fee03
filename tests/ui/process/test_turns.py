"""Work spread over turns of the event loop, one piece a turn, each once; and what runs brought, drawn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QApplication
from waiting import wait_until

from rankstudio.ui.process.turns import PacedUpdate, RefreshTimer, Turns, turns


@pytest.fixture
def made(app: QApplication) -> Iterator[Turns]:
    turns = Turns()
    yield turns
    turns.deleteLater()


class Listener(QObject):
    """Notes the events that Qt hands to it, and what it is called for."""

    def __init__(self, noted: list[str]) -> None:
        super().__init__()
        self.noted = noted

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.User:
            self.noted.append("event")
        return super().event(event)

    def note(self) -> None:
        self.noted.append("called")


def test_a_turn_calls_one_function(made: Turns) -> None:
    called: list[str] = []
    made.ask(lambda: called.append("a"), lambda: called.append("b"))
    made.ask(lambda: called.append("c"))
    for done in ("a", "ab", "abc", "abc"):
        made._turn()
        assert "".join(called) == done
    assert not made.waiting


def test_between_two_turns_qt_hands_over_what_happened(made: Turns) -> None:
    noted: list[str] = []
    listener = Listener(noted)

    def first() -> None:
        noted.append("first")
        QCoreApplication.postEvent(listener, QEvent(QEvent.Type.User))

    made.ask(first, lambda: noted.append("second"))
    wait_until(lambda: not made.waiting)
    assert noted == ["first", "event", "second"]


def test_what_waits_already_is_called_once_and_what_asks_again_later_once_more(
    made: Turns,
) -> None:
    noted: list[str] = []
    listener = Listener(noted)

    def again() -> None:
        noted.append("again")
        made.ask(again)

    made.ask(listener.note, listener.note, again)
    made.ask(listener.note)
    for _ in range(4):
        made._turn()
    assert noted == ["called", "again", "again", "again"]
    made.drop(again)
    assert not made.waiting


def test_what_was_dropped_or_deleted_is_not_called(made: Turns) -> None:
    noted: list[str] = []
    dropped, deleted = Listener(noted), Listener(noted)
    made.ask(dropped.note, deleted.note, lambda: noted.append("last"))
    made.drop(dropped.note)
    deleted.deleteLater()
    QCoreApplication.sendPostedEvents(deleted, QEvent.Type.DeferredDelete.value)
    wait_until(lambda: not made.waiting)
    assert noted == ["last"]


def test_a_failure_stops_no_other_function(made: Turns) -> None:
    called: list[str] = []

    def fail() -> None:
        raise ValueError("no drawing today")

    made.ask(fail, lambda: called.append("next"))
    with pytest.raises(ValueError, match="no drawing today"):
        made._turn()
    wait_until(lambda: called == ["next"])


def test_an_application_has_one_queue_of_turns(app: QApplication) -> None:
    assert turns() is turns()


def test_many_askings_bring_each_part_up_to_date_once(app: QApplication) -> None:
    drawn: list[str] = []
    parent = QObject()
    timer = RefreshTimer(
        lambda: drawn.append("run"), lambda: drawn.append("results"), parent=parent
    )
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


def test_what_takes_long_is_asked_for_less_often(
    app: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a run that waits for its table of thousands of rows, made anew eight times a second."""
    now = [0.0]
    monkeypatch.setattr("rankstudio.ui.process.turns.time.thread_time", lambda: now[0])
    rests, least = [], RefreshTimer(parent=turns())._timer.interval()
    for took in (0.01, 0.1, 30.0, 0.01):
        parent = QObject()
        timer = RefreshTimer(
            lambda took=took: now.__setitem__(0, now[0] + took), parent=parent
        )
        timer._begin()
        wait_until(lambda: not turns().waiting)
        rests.append(timer._timer.interval())
        parent.deleteLater()
    assert rests == [least, 300, 1000, least]


def test_nothing_is_drawn_once_it_was_stopped(app: QApplication) -> None:
    drawn: list[str] = []
    parent = QObject()
    timer = RefreshTimer(
        lambda: drawn.append("run"), lambda: drawn.append("results"), parent=parent
    )
    timer._begin()
    timer.ask()
    turns()._turn()
    timer.stop()
    assert drawn == ["run"]
    assert not timer.is_active
    parent.deleteLater()


def test_a_paced_update_rests_after_a_slow_update_and_serves_all_requests_at_once(
    app: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter([0.0, 0.001, 0.0, 0.1, 0.0, 0.001])  # before and after each update
    monkeypatch.setattr(
        "rankstudio.ui.process.turns.time.thread_time", lambda: next(seconds)
    )
    calls: list[int] = []
    paced = PacedUpdate(lambda: calls.append(len(calls)), parent=app)
    paced.ask()
    paced.ask()  # the first one was fast
    assert len(calls) == 2
    for _ in range(100):
        paced.ask()
    assert len(calls) == 2
    wait_until(lambda: len(calls) > 2)
    assert len(calls) == 3
    paced.deleteLater()
