"""Open, run and close, again and again: nothing is left of it."""

from __future__ import annotations

import gc
from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid
from windows import finish, open_window, settle

from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.style.theme import Theme

# what a round leaves is there after one; what every other one leaves, after two
_WARM_UP, _ROUNDS = 2, 2

#: Qt opens a font at the first text that needs it and keeps it, once, until the program ends. Which round
#: that is depends on what the window had time to draw.
_KEPT = {".ttf", ".otf", ".ttc", ".pfb"}


def open_files() -> list[str]:
    """Name the open files, other than fonts."""
    names = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            names.append(str(link.readlink()))
        except (
            FileNotFoundError
        ):  # the folder itself, which was open while it was listed
            continue
    return sorted(name for name in names if Path(name).suffix.lower() not in _KEPT)


def left() -> dict[str, int]:
    """Count what lives: objects of Qt by their classes, widgets of its own, threads, and open files."""
    for _ in range(2):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        QCoreApplication.processEvents()
        gc.collect()
    kinds = Counter(
        type(one).__name__
        for one in gc.get_objects()
        if issubclass(type(one), QObject) and isValid(one)
    )
    own = {
        "widgets": len(QApplication.allWidgets()),
        "threads": len(list(Path("/proc/self/task").iterdir())),
    }
    return {**kinds, **own, "files": len(open_files())}


def walk(theme: Theme, config: Path, folds: Path) -> None:
    """Open data, run a method, look at every page, and close."""
    with open_window(theme, config, folds) as window:
        finish(window)
        for page in PAGES:
            window.workspace.show_page(page.key)
            settle(window)


@pytest.mark.skipif(
    not Path("/proc/self/fd").exists(),
    reason="counts threads and files as Linux lists them",
)
def test_rounds_of_open_run_and_close_leave_nothing(
    theme: Theme, tmp_path: Path, folds: Path
) -> None:
    for number in range(_WARM_UP):
        walk(theme, tmp_path / str(number), folds)
    before = left()
    for number in range(_WARM_UP, _WARM_UP + _ROUNDS):
        walk(theme, tmp_path / str(number), folds)
    after = left()
    assert {
        kind: (before.get(kind, 0), n)
        for kind, n in after.items()
        if n > before.get(kind, 0)
    } == {}
