"""Fixtures of the tests of the window: one application offscreen, and a watch over what it leaves behind."""

from __future__ import annotations

import gc
import os
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QThread,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid
from windows import Opened, finish, open_window, visited, write_folds

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model import app_model, measured_runs
from rankstudio.ui.process import turns
from rankstudio.ui.process.memory import collect_due
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Question

# What the offscreen platform says of windows, which it cannot place.
_EXPECTED = ("This plugin does not support", "QStandardPaths: XDG_RUNTIME_DIR")
_GRACE = 0.3


class _Started:
    """Remembers every timer and thread that was started, without keeping it alive."""

    def __init__(self, kind: type[Any]) -> None:
        self._refs: list[weakref.ref[Any]] = []
        self._start = start = kind.start

        def watched(one: Any, *args: Any) -> None:
            self._refs.append(weakref.ref(one))
            start(one, *args)

        kind.start = watched

    def running(self, is_running: Callable[[Any], bool]) -> list[Any]:
        """Return those that still run."""
        alive = [
            one for ref in self._refs if (one := ref()) is not None and isValid(one)
        ]
        self._refs = [weakref.ref(one) for one in alive if is_running(one)]
        return [one for one in alive if is_running(one)]


_TIMERS = _Started(QTimer)
_THREADS = _Started(QThread)


@pytest.fixture(scope="session")
def app() -> Iterator[QApplication]:
    """The one application."""
    made = QApplication.instance() or QApplication(["rankstudio-tests"])
    assert isinstance(made, QApplication)
    yield made
    # Offscreen, Qt keeps what was copied until Python has ended, and crashes over what Python made of it.
    made.clipboard().clear()


@pytest.fixture(scope="session", autouse=True)
def prompt() -> Iterator[None]:
    """Have the window do at once what waits for a pause of the user: tests wait for it a thousand times.

    Measures of runs that nobody looks at yet are made in the tests alone that are about it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app_model, "_TASK_MILLISECONDS", 4)
        patch.setattr(measured_runs, "_QUIET_MILLISECONDS", 3_600_000)
        patch.setattr(turns, "_REFRESH_MILLISECONDS", 40)
        # the folder of an ability may be absent
        if find_spec("rankstudio.plugins.features") is not None:
            patch.setattr(
                "rankstudio.plugins.features.window.controller._SETTLED_MILLISECONDS",
                10,
            )
            patch.setattr(
                "rankstudio.plugins.features.window.substitutes_panel._SETTLED_MILLISECONDS",
                10,
            )
        if find_spec("rankstudio.plugins.report") is not None:
            patch.setattr(
                "rankstudio.plugins.report.window.controller._TYPING_PAUSE_MILLISECONDS",
                20,
            )
            patch.setattr(
                "rankstudio.plugins.report.window.panels._REDRAW_MILLISECONDS", 10
            )
        yield


@pytest.fixture(scope="session")
def theme(app: QApplication) -> Theme:
    """The application's theme; `tidy` makes it light again after every test."""
    made = Theme("light")
    made.apply(app)
    return made


@pytest.fixture
def stage(app: QApplication) -> Iterator[Callable[..., QWidget]]:
    """A function that shows a widget at a size and takes it away at the end of the test."""
    shown: list[QWidget] = []

    def show(widget: QWidget, width: int = 400, height: int = 300) -> QWidget:
        widget.resize(width, height)
        widget.show()
        shown.append(widget)
        QCoreApplication.processEvents()
        return widget

    yield show
    for widget in shown:
        if isValid(widget):
            widget.hide()
            widget.deleteLater()


@pytest.fixture(autouse=True)
def tidy(app: QApplication, theme: Theme) -> Iterator[None]:
    """Fail on Qt's warnings, exceptions in slots, and timers and threads that outlive the widgets.

    As in the program, garbage is searched for by this thread alone, and not in the middle of Qt's work.
    """
    gc.disable()
    # of a window that several tests share, which may work on
    shared = _THREADS.running(QThread.isRunning)
    said: list[str] = []

    def listen(kind: QtMsgType, _context: object, text: str) -> None:
        if kind != QtMsgType.QtDebugMsg and not text.startswith(_EXPECTED):
            said.append(text)

    def note(kind: type[BaseException], error: BaseException, _trace: object) -> None:
        said.append(f"{kind.__name__}: {error}")

    handler = qInstallMessageHandler(listen)
    hook, sys.excepthook = sys.excepthook, note
    yield
    sys.excepthook = hook
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    deadline = time.monotonic() + _GRACE
    while time.monotonic() < deadline and not shared and _TIMERS.running(_pending):
        QCoreApplication.processEvents()
    timers = [
        f"{type(t.parent()).__name__}'s"
        for t in _TIMERS.running(QTimer.isActive)
        if not shared
    ]
    threads = [
        t.objectName() or type(t).__name__
        for t in _THREADS.running(QThread.isRunning)
        if t not in shared
    ]
    theme.set_mode("light")
    collect_due()
    gc.enable()
    qInstallMessageHandler(handler)
    assert not said, f"Qt or a slot complained: {said}"
    assert not timers, f"timers were left running: {timers}"
    assert not threads, f"threads were left running: {threads}"


def _pending(timer: QTimer) -> bool:
    """Return whether a timer will stop by itself."""
    return timer.isActive() and timer.isSingleShot()


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that were asked; each is answered with yes."""
    asked: list[str] = []

    def answer(_parent: QWidget, _title: str, text: str, *_buttons: str) -> bool:
        asked.append(text)
        return True

    monkeypatch.setattr(Question, "ask", answer)
    return asked


@pytest.fixture(scope="session")
def folds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small data, written as a folder of folds."""
    return write_folds(tmp_path_factory.mktemp("data") / "Small")


@pytest.fixture
def shelf_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for the studies without a name of one test."""
    monkeypatch.setenv("RANKSTUDIO_DATA_DIR", str(tmp_path / "user"))
    return tmp_path / "user" / "studies"


@pytest.fixture
def opened(theme: Theme, tmp_path: Path) -> Opened:
    """Open a window as `open_window` does, with settings in a folder of the test: "config", or another."""

    def open_one(
        *given: Any, config: str = "config", **options: Any
    ) -> AbstractContextManager[MainWindow]:
        return open_window(theme, tmp_path / config, *given, **options)

    return open_one


@pytest.fixture
def window(opened: Opened, folds: Path) -> Iterator[MainWindow]:
    """The real window with those data open."""
    with opened(folds) as made:
        yield made


@pytest.fixture(scope="module")
def shared(
    request: pytest.FixtureRequest,
    theme: Theme,
    tmp_path_factory: pytest.TempPathFactory,
    folds: Path,
) -> Iterator[MainWindow]:
    """A window with those data that the tests of a module share, each by `ran`.

    What is done there first is the module's function ``prepare``; without one, a run.
    """
    with open_window(theme, tmp_path_factory.mktemp("config"), folds) as made:
        getattr(request.module, "prepare", finish)(made)
        yield made


@pytest.fixture
def ran(shared: MainWindow) -> Iterator[MainWindow]:
    """The window that the tests of a module share, as each of them finds it."""
    with visited(shared) as window:
        yield window


@pytest.fixture
def empty(opened: Opened) -> Iterator[MainWindow]:
    """The real window with nothing open."""
    with opened() as made:
        yield made
