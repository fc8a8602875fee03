"""What is computed on demand: while it is seen, once for each key, and nothing that is wanted no more."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget
from waiting import turn, wait_until

from rankstudio.engine.errors import DatasetError
from rankstudio.ui.background.on_demand import Computation, Key, OnDemand, computation
from rankstudio.ui.background.worker import CancelFlag, Worker


class Source(QObject):
    """What the computation depends on, and what came of it."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.wanted: int | None = None
        self.shown: list[int] = []
        self.failed: list[str] = []
        self.computed: list[int] = []
        self.cleared = 0
        self.gate = threading.Event()
        self.gate.set()

    def want(self, number: int | None) -> None:
        self.wanted = number
        self.changed.emit()

    def key(self) -> Key | None:
        return None if self.wanted is None else (self.wanted,)

    def compute(self) -> Computation | None:
        assert self.wanted is not None
        if self.wanted < 0:  # known at once
            self.shown.append(self.wanted)
            return None
        return computation("Squaring", self.shown.append, self.square, self.wanted)

    def square(self, number: int) -> int:
        self.computed.append(number)
        self.gate.wait(20.0)
        if number == 13:
            raise DatasetError("Thirteen is not squared.")
        return number * number

    def clear(self) -> None:
        self.cleared += 1


@pytest.fixture
def source() -> Iterator[Source]:
    made = Source()
    yield made
    made.gate.set()


def demand(
    worker: Worker, source: Source, panel: QWidget | None = None, *, stops: bool = False
) -> OnDemand:
    given = source, worker, source.key, source.compute, source.failed.append
    return OnDemand(
        *given,
        panel=panel,
        on=(source.changed,),
        clear=source.clear,
        stops_when_hidden=stops,
    )


def test_each_key_is_computed_once(worker: Worker, source: Source) -> None:
    made = demand(worker, source)
    for number in (2, 2, 3, 3, 2):
        source.want(number)
        wait_until(lambda: not made.busy)
    assert source.shown == [4, 9, 4]
    assert made.key == (2,)
    made.forget()
    source.want(2)
    wait_until(lambda: len(source.shown) == 4)


def test_what_is_not_wanted_any_more_is_not_shown_nor_is_its_failure_told(
    worker: Worker, source: Source
) -> None:
    made = demand(worker, source)
    source.gate.clear()
    source.want(13)
    wait_until(lambda: source.computed == [13])
    source.want(3)
    source.gate.set()
    wait_until(lambda: source.shown == [9])
    assert source.failed == []
    source.gate.clear()
    source.want(4)
    source.want(None)
    source.gate.set()
    turn()
    assert (source.shown, source.cleared, made.key) == ([9], 1, None)


def test_a_failure_is_told_once_and_not_tried_again(
    worker: Worker, source: Source
) -> None:
    made = demand(worker, source)
    source.want(13)
    wait_until(lambda: source.failed == ["Thirteen is not squared."])
    source.want(13)
    assert not made.busy
    source.want(2)
    wait_until(lambda: source.shown == [4])
    source.want(13)
    wait_until(lambda: len(source.failed) == 2)


def test_what_is_known_is_shown_at_once(worker: Worker, source: Source) -> None:
    made = demand(worker, source)
    source.want(-1)
    assert source.shown == [-1]
    assert not made.busy


@pytest.mark.parametrize("stops", [False, True])
def test_nothing_is_computed_that_nobody_sees(
    worker: Worker, source: Source, stops: bool
) -> None:
    panel = QWidget()
    made = demand(worker, source, panel, stops=stops)
    source.want(2)
    assert not made.busy
    panel.show()
    source.gate.clear()
    made.update()
    wait_until(lambda: source.computed == [2])
    panel.hide()
    source.want(3)
    assert made.busy is not stops
    source.gate.set()
    turn()
    assert source.shown == ([] if stops else [4])
    panel.show()
    made.update()
    wait_until(lambda: source.shown[-1:] == [9])
    panel.deleteLater()


def test_a_computation_may_tell_several_things_and_ask_for_the_next_one(
    worker: Worker, source: Source
) -> None:
    """As one that is done in steps, each of which is known by its key."""
    made: OnDemand

    def compute() -> Computation:
        def work(_: CancelFlag) -> Iterator[int]:
            yield from (10, 20)

        def show(found: int) -> None:
            source.shown.append(found)
            if found == 20 and source.wanted is not None and source.wanted < 2:
                source.want(source.wanted + 1)

        return Computation("Counting", work, show)

    made = OnDemand(
        source, worker, source.key, compute, source.failed.append, on=(source.changed,)
    )
    source.want(0)
    wait_until(lambda: len(source.shown) == 6 and not made.busy)
    assert source.shown == [10, 20] * 3
