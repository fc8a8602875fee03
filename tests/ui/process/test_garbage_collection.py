"""Who deletes Qt's objects that nobody refers to any more."""

from __future__ import annotations

import gc
from pathlib import Path

from processes import started
from PySide6.QtCore import QAbstractItemModel, QCoreApplication, QEvent
from shiboken6 import isValid
from windows import open_window

from rankstudio.ui.style.theme import Theme

PROGRAM = """
import threading

from PySide6.QtCore import QTimer, Qt

from rankstudio.ui import app
from rankstudio.ui.model import app_model

window_thread = threading.get_ident()
deleted_by = set()


def litter():
    for _ in range(20):
        garbage = QTimer()
        garbage.itself = garbage
        garbage.destroyed.connect(
            lambda: deleted_by.add(threading.get_ident() == window_thread), Qt.ConnectionType.DirectConnection
        )
    del garbage
    worker = threading.Thread(target=lambda: [[] for _ in range(1_000_000)])
    worker.start()
    worker.join()
    turn.start(10)


def end():
    if deleted_by:
        application.closeAllWindows()


app_model.warm_up = lambda: None  # what is there at its end is not searched any more
application = app.application()
turn = QTimer()
turn.timeout.connect(end)
QTimer.singleShot(200, litter)
app.main([])
print(deleted_by)
"""


def test_garbage_of_qt_is_deleted_by_the_thread_of_the_window(tmp_path: Path) -> None:
    """A worker that makes many objects has Python search for garbage, and does not delete what is Qt's."""
    assert started(PROGRAM, tmp_path) == ("{True}\n", "")


def models() -> list[QAbstractItemModel]:
    found = [one for one in gc.get_objects() if issubclass(type(one), QAbstractItemModel)]
    return [model for model in found if isValid(model)]


def test_no_model_of_a_closed_window_waits_for_python_to_delete_it(theme: Theme, tmp_path: Path) -> None:
    before = models()
    with open_window(theme, tmp_path / "config") as window:
        window.session.change("trying", method="greedy-rankrls", parameters={})
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert [type(model).__name__ for model in models() if all(model is not one for one in before)] == []
