"""Damaged settings of the window: each value is as it was, or counts as not there."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from fuzzer import Fuzz, Outcome
from mutations import MUTATIONS, mutated
from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QApplication, QMainWindow, QSplitter, QWidget

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.ui.language import LANGUAGES, SYSTEM
from rankstudio.ui.page.page import Page, column, row
from rankstudio.ui.process.settings import MOST_RECENT, THEMES, Settings
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import named
from rankstudio.ui.widgets.panel import Panel

PLAN = Plan(
    data="/data/MQ2008",
    parameters={"regularization": (0.1, 1 / 3), "pinned": (39,)},
    folds=(2,),
)
TEXTS = {
    **{"window/theme": "dark", "window/language": "de", "study/data": "/data/MQ2008"},
    **{"study/file": "/s.rankstudio", "windows/some-page": "first second"},
}
HOSTILE = (
    *(
        b"@Variant(\\0\\0\\0\\x7f\\0\\0\\0\\xe\\x66)",
        b"@Variant(\0\0\0\x0b)",
        b"@ByteArray(\\xff\\x0)",
    ),
    *(
        b"@Rect(1 2 3)",
        b"@Size(9999999999 1)",
        b"@Point()",
        b"@Invalid()",
        b"@String(x)",
        b"@@x",
        b"@",
    ),
    *(
        b"\\x110000",
        b"%U0041",
        b"a, b, c",
        b'"a\\',
        b"[study]\n",
        b"=\n",
        b"1e999",
        b"nan",
    ),
)


@pytest.fixture(scope="module")
def window() -> QMainWindow:
    """A window with a splitter, as the layout of the last time is given to."""
    app = QApplication.instance() or QApplication(["rankstudio-tests"])
    assert isinstance(app, QApplication)
    made = QMainWindow()
    splitter = QSplitter(Qt.Orientation.Horizontal)
    splitter.setObjectName("outer")
    splitter.addWidget(QWidget())
    splitter.addWidget(QWidget())
    made.setCentralWidget(splitter)
    return made


@pytest.fixture
def page() -> Iterator[Page]:
    """A page with three panels, of which any may be in a window of its own."""
    theme = Theme("light")
    panels = [
        named(Panel(theme, title), title) for title in ("first", "second", "third")
    ]
    below = row("below", (panels[1], 1, 300), (panels[2], 1, 300))
    made = Page("some", column("rows", (panels[0], 1, 200), (below, 1, 200)))
    made.resize(600, 400)
    yield made
    made.bring_back()
    made.deleteLater()


def check_page(page: Page, settings: Settings) -> None:
    """Restore a page: whichever panels are in windows, and come back, it has all of them and some room."""
    page.restore(settings)
    page.reopen_windows()
    page.bring_back()
    assert {panel.objectName() for panel in page.findChildren(Panel)} == {
        "first",
        "second",
        "third",
    }
    assert (page.width(), page.height()) == (600, 400)


def insert_value(rng: random.Random, content: bytes) -> bytes:
    """Put a value of another kind behind a key."""
    at = content.find(b"=", rng.randint(0, len(content))) + 1
    return content[:at] + rng.choice(HOSTILE) + content[at:]


def test_settings(fuzz: Fuzz, window: QMainWindow, page: Page, tmp_path: Path) -> None:
    whole = Settings(tmp_path / "whole")
    for key, text in TEXTS.items():
        whole.set(key, text)
    whole.set("study/shown", 3)
    whole.set("window/geometry", window.saveGeometry())
    splitter = window.centralWidget()
    assert isinstance(splitter, QSplitter)
    whole.set("splitters/outer", splitter.saveState())
    page.save(whole)
    whole.set("windows/some-page", TEXTS["windows/some-page"])
    whole.set("panels/first", window.saveGeometry())
    for number in range(4):
        whole.add_recent(f"/data/{number}, with é")
    whole.save_plan(PLAN)
    whole.sync()
    contents = {
        name: (tmp_path / "whole" / name).read_bytes()
        for name in ("window.ini", "plan.toml")
    }

    def attempt(rng: random.Random, folder: Path) -> Outcome:
        chosen = "window.ini" if rng.random() < 0.9 else "plan.toml"
        for name, content in contents.items():
            changed = mutated(
                rng, content, (), (*MUTATIONS, insert_value, insert_value)
            )
            (folder / name).write_bytes(changed if name == chosen else content)
        settings = Settings(folder)
        assert settings.theme in THEMES
        assert settings.language in (*LANGUAGES, SYSTEM)
        assert 0 <= settings.text_size <= 40
        assert len(settings.recent) <= MOST_RECENT and all(
            isinstance(p, str) for p in settings.recent
        )
        assert all(isinstance(settings.text(key), str) for key in TEXTS)
        assert isinstance(settings.number("study/shown"), float | None)
        for key, restore in (
            ("window/geometry", window.restoreGeometry),
            ("splitters/outer", splitter.restoreState),
        ):
            state = settings.bytes(key)
            assert state is None or isinstance(state, QByteArray)
            if state is not None:
                restore(state)
        check_page(page, settings)
        plan = settings.plan
        assert plan is None or isinstance(plan, Plan)
        if chosen == "window.ini":
            assert plan == PLAN
        settings.add_recent("/data/new")
        assert settings.recent[0] == "/data/new"
        settings.sync()
        same = all(settings.text(key) == text for key, text in TEXTS.items())
        return Outcome.READ if same and plan == PLAN else Outcome.REFUSED

    fuzz("settings", attempt, 200)
