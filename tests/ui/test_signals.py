"""The reason for the upper end of the range of PySide6 versions in pyproject.toml."""

import sys

import pytest
from PySide6.QtCore import QObject, Signal, Slot

pytestmark = pytest.mark.smoke


class Emitter(QObject):
    flagged = Signal(bool)
    handed = Signal(object)


class Receiver(QObject):
    def __init__(self):
        super().__init__()
        self.count = 0

    @Slot(bool)
    def on_flag(self, value):
        self.count += value


def test_ten_thousand_booleans_through_a_signal_do_not_abort(app):
    # PySide6 6.12 on Python <= 3.11 gives one reference to True away per emit, and the process ends with
    # it. A count that sinks by thousands tells before the process dies.
    emitter, receiver = Emitter(), Receiver()
    emitter.flagged.connect(receiver.on_flag)
    emitter.handed.connect(receiver.on_flag)
    before = sys.getrefcount(True)
    for _ in range(5_000):
        emitter.flagged.emit(True)
        emitter.handed.emit(True)
    assert receiver.count == 10_000
    assert sys.getrefcount(True) > before - 100
