"""What the window holds at rest, and who searches for garbage and deletes Qt's objects."""

from __future__ import annotations

import ast
import gc
from pathlib import Path

import pytest
from processes import started
from PySide6.QtCore import QAbstractItemModel, QCoreApplication, QEvent
from shiboken6 import isValid
from windows import Opened

from rankstudio.ui.background import tasks
from rankstudio.ui.process.memory import collect_due

_HEAVY = (
    *("sklearn", "joblib", "pandas", "pyarrow", "matplotlib", "lightgbm"),
    *("scipy.sparse", "scipy.stats", "scipy.optimize"),
    "PySide6.QtNetwork",
)
_MOST_MEGABYTES = (
    # of its own, besides code of libraries that the system drops; 155 were measured on Linux
    220
)

_AT_REST = f"""
import linecache, sys
from pathlib import Path
from rankstudio.ui import app
from PySide6.QtCore import QTimer
from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.engine.support.memory import release_unused

def look(window, timer):
    if window.models.n_busy or window.models.loader.busy or window.session.dataset is None:
        return
    timer.stop()
    release_unused()
    lines = sum(len(entry[2]) for entry in linecache.cache.values() if len(entry) > 2)
    status = Path("/proc/self/status")
    own = status.read_text().partition("RssAnon:")[2].split()[0] if status.exists() else 0
    print([[name for name in {_HEAVY!r} if name in sys.modules], lines, int(own) / 1024], flush=True)
    window.close()

def begin(window, *given):
    begun(window, *given)
    window.open_path(SAMPLE)
    timer = QTimer(window)
    timer.timeout.connect(lambda: look(window, timer))
    timer.start(10)

begun, app.begin = app.begin, begin
app.main([])
"""


@pytest.fixture(scope="module")
def at_rest(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], int, float]:
    """What a window says of itself that has the sample open and nothing to do."""
    printed, _ = started(_AT_REST, tmp_path_factory.mktemp("window"))
    modules, lines, megabytes = ast.literal_eval(printed)
    return modules, lines, megabytes


def test_the_window_at_rest_has_not_imported_what_nothing_shown_needs(
    at_rest: tuple[list[str], int, float],
) -> None:
    assert at_rest[0] == []


def test_the_source_of_modules_is_not_kept(
    at_rest: tuple[list[str], int, float],
) -> None:
    assert at_rest[1] < 20_000  # 290,000 where PySide reads them


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="the system does not tell what is resident",
)
def test_the_window_at_rest_takes_little_memory(
    at_rest: tuple[list[str], int, float],
) -> None:
    assert at_rest[2] < _MOST_MEGABYTES


PROGRAM = """
import threading

from PySide6.QtCore import QTimer, Qt

from rankstudio.ui import app
from rankstudio.ui.model import app_model

window_thread = threading.get_ident()
deleted_by = set()
kept = []


def litter():
    for _ in range(20):
        garbage = QTimer()
        garbage.itself = garbage
        garbage.destroyed.connect(
            lambda: deleted_by.add(threading.get_ident() == window_thread), Qt.ConnectionType.DirectConnection
        )
    del garbage
    worker = threading.Thread(target=lambda: kept.extend([] for _ in range(1_000_000)))
    worker.start()
    worker.join()
    turn.start(10)


def end():
    if deleted_by:
        turn.stop()
        print(deleted_by, flush=True)  # before it leaves, as that does not wait for what a worker loads
        application.closeAllWindows()


app_model.warm_up = lambda: None  # what is there at its end is not searched any more
application = app.application()
turn = QTimer()
turn.timeout.connect(end)
begun = app.begin


def begin(*given):
    begun(*given)
    QTimer.singleShot(0, litter)  # what was there before is not searched any more, either


app.begin = begin
app.asks_for_sample = lambda *_: False  # what loads it keeps the search waiting
app.main([])
"""


def test_garbage_of_qt_is_deleted_by_the_thread_of_the_window(tmp_path: Path) -> None:
    """A worker that makes many objects has Python search for garbage, and does not delete what is Qt's."""
    assert started(PROGRAM, tmp_path) == ("{True}\n", "")


def models() -> list[QAbstractItemModel]:
    found = [
        one for one in gc.get_objects() if issubclass(type(one), QAbstractItemModel)
    ]
    return [model for model in found if isValid(model)]


@pytest.mark.thorough
def test_no_model_of_a_closed_window_waits_for_python_to_delete_it(
    opened: Opened,
) -> None:
    before = models()
    with opened() as window:
        window.session.change("trying", method="greedy-rankrls", parameters={})
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert [
        type(model).__name__
        for model in models()
        if all(model is not one for one in before)
    ] == []


def test_nobody_searches_for_garbage_while_the_engine_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[int] = []

    def load() -> None:
        collect_due()
        raise ImportError("the engine is not there")

    monkeypatch.setattr(gc, "get_count", lambda: (10**6, 10**6, 10**6))
    monkeypatch.setattr(gc, "collect", searched.append)
    monkeypatch.setattr(tasks, "_rehearse_run", load)
    with pytest.raises(ImportError):
        tasks.warm_up()
    assert searched == []
    collect_due()
    assert searched == [2]


def test_all_objects_are_searched_for_a_hundredth_of_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[int] = []
    clock = [5.0]

    def collect(generation: int) -> None:
        searched.append(generation)
        clock[0] += 0.25

    monkeypatch.setattr(gc, "get_count", lambda: (10**6, 10**6, 10**6))
    monkeypatch.setattr(gc, "collect", collect)
    last = collect_due(clock=lambda: clock[0])
    clock[0] += 24.0
    assert collect_due(last, lambda: clock[0]) == last  # the younger ones alone
    clock[0] += 1.0
    assert collect_due(last, lambda: clock[0]) != last
    assert searched == [2, 1, 2]


@pytest.mark.thorough
def test_objects_are_not_listed_while_others_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A tuple that is being filled elsewhere must not get into a list."""

    def listing(*_: object) -> list[object]:
        raise AssertionError("a list of all objects")

    monkeypatch.setattr(gc, "get_objects", listing)
    monkeypatch.setattr(gc, "get_referrers", listing)
    monkeypatch.setattr(gc, "get_count", lambda: (10**6, 10**6, 10**6))
    collect_due(collect_due())
