"""Pages and panels of plug-ins: seen, used, fed, hidden, broken, and never in the way of the window."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QToolButton
from waiting import wait_until
from windows import Opened, finish, settle

from rankstudio.api import Plugin, WindowPage, WindowPanel
from rankstudio.engine.errors import PluginWarning
from rankstudio.engine.plugins import window_parts
from rankstudio.engine.plugins.loader import PluginSet
from rankstudio.engine.plugins.plugin import LoadedPlugin
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.shell.plugin_parts import PluginPanel

MODULE = """
import threading, time
from PySide6.QtWidgets import QLabel

HOLD = threading.Event()
CALLS = []


def mean(context):
    label = QLabel(objectName="mean")

    def update():
        CALLS.append("mean")
        run = context.run
        tested = [fold for fold in context.data.folds if fold.test is not None] if context.data else []
        text = "nothing" if run is None else f"{run.average[context.measure]:.6f}"
        label.setText(f"{text} {len(context.runs)} runs, {len(tested)} test parts")

    context.on_change(update)
    return label


def counted(context):
    label = QLabel(objectName="counted")

    def update():
        context.compute(len, context.data.feature_names, show=lambda n: label.setText(str(n)))

    context.on_change(update)
    return label


def raises(context):
    raise RuntimeError("no <b>luck</b>\\x1b[2J")


def exits(context):
    raise SystemExit(3)


def nothing(context):
    return "a text"


def late(context):
    label = QLabel()

    def fail():
        raise KeyError("gone")

    context.compute(fail, show=label.setText)
    return label


def hangs(context):
    label = QLabel("it hangs", objectName="hangs")
    context.compute(HOLD.wait, show=str)
    return label
"""
BROKEN = {
    "raises": "RuntimeError",
    "exits": "SystemExit",
    "nothing": "TypeError",
    "late": "KeyError",
}
GOOD = (
    WindowPage(
        "mean", "R&D mean", "The mean of the shown run", "window_parts_for_test:mean"
    ),
    WindowPage(
        "hangs", "Hangs", "Never ends", "window_parts_for_test:hangs", icon="no-such"
    ),
    WindowPage(
        "absent", "Absent", "Its module does not exist", "no_such_module_for_test:build"
    ),
    *(
        WindowPage(name, name, f"It {name}", f"window_parts_for_test:{name}")
        for name in BROKEN
    ),
)
PANELS = (
    WindowPanel(
        "counted", "Counted <b>", "Features", "compare", "window_parts_for_test:counted"
    ),
)


def plugins_with(
    pages: tuple[object, ...], panels: tuple[object, ...] = ()
) -> PluginSet:
    return PluginSet(
        (
            LoadedPlugin(
                Plugin("parts", pages=pages, panels=panels), "rankstudio-parts", "1.2"
            ),
        )
    )


@pytest.fixture(autouse=True)
def parts_read_anew() -> Iterator[None]:
    window_parts.window_parts.cache_clear()
    yield
    window_parts.window_parts.cache_clear()


@pytest.fixture
def plugged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Opened, folds: Path
) -> Iterator[MainWindow]:
    """A window with data, a finished run, and the parts of a plug-in."""
    (tmp_path / "window_parts_for_test.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(window_parts, "plugins", lambda: plugins_with(GOOD, PANELS))
    with opened(folds) as window:
        window.commands["run"].trigger()
        finish(window)
        yield window
        import_module("window_parts_for_test").HOLD.set()


def label(window: MainWindow, name: str) -> QLabel:
    wait_until(lambda: window.findChild(QLabel, name) is not None)
    found = window.findChild(QLabel, name)
    assert isinstance(found, QLabel)
    return found


def show(window: MainWindow, key: str) -> PluginPanel:
    """Show a page by its command, and return its panel."""
    window.commands[f"page_{key}"].trigger()
    settle(window)
    panel = window.findChild(PluginPanel, f"plugin-{key}")
    assert isinstance(panel, PluginPanel) and panel.isVisible()
    return panel


def test_a_page_shows_what_the_window_shows_and_keeps_the_seal(
    plugged: MainWindow,
) -> None:
    button = plugged.findChild(QToolButton, "page-mean")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    text = label(plugged, "mean")
    plugged.session.seal(sealed=True)
    settle(plugged)
    record = plugged.runs.shown
    assert record is not None and record.result is not None
    sealed = plugged.models.measured.view(record).result
    assert sealed is not None
    name = plugged.session.measure
    expected = f"{sealed.average[name]:.6f} 1 runs, 0 test parts"
    wait_until(lambda: text.text() == expected)
    plugged.session.seal(sealed=False)
    settle(plugged)
    n_folds = len(plugged.session.dataset.folds)
    wait_until(
        lambda: (
            text.text()
            == f"{record.result.average[name]:.6f} 1 runs, {n_folds} test parts"
        )
    )
    assert record.result.average[name] != sealed.average[name]


def test_what_nobody_sees_is_not_called_and_catches_up(plugged: MainWindow) -> None:
    show(plugged, "mean")
    text = label(plugged, "mean")
    calls = import_module("window_parts_for_test").CALLS
    plugged.workspace.show_page("select")
    settle(plugged)
    n_calls = len(calls)
    before = text.text()
    plugged.session.show_measure("P@5")
    settle(plugged)
    assert (len(calls), text.text()) == (n_calls, before)
    show(plugged, "mean")
    wait_until(lambda: text.text() != before)


@pytest.mark.parametrize(
    ("key", "error"), [*BROKEN.items(), ("absent", "ModuleNotFoundError")]
)
def test_a_broken_part_says_so_in_its_place(
    plugged: MainWindow, key: str, error: str
) -> None:
    panel = show(plugged, key)
    wait_until(lambda: error in panel.message.text())
    assert "rankstudio-parts 1.2" in panel.message.text()
    assert panel.message.isVisible()
    assert "\x1b" not in panel.message.text()
    assert plugged.commands["run"].isEnabled()


def test_a_function_that_never_ends_holds_nothing_up(plugged: MainWindow) -> None:
    show(plugged, "hangs")
    label(plugged, "hangs")
    plugged.commands["run"].trigger()
    finish(plugged)
    assert len(plugged.runs.records) == 2
    assert any(thread.is_alive() and thread.daemon for thread in threading.enumerate())


def test_a_panel_stands_on_its_page_and_can_be_hidden(plugged: MainWindow) -> None:
    plugged.workspace.show_page("compare")
    count = label(plugged, "counted")
    wait_until(lambda: count.text() == str(plugged.session.dataset.n_features))
    panel = plugged.sections.plugin_parts.panels["counted"]
    action = plugged.commands["panel_counted"]
    assert action.isChecked() and panel.isVisible()
    action.trigger()
    assert not panel.isVisible()
    plugged.workspace.save(plugged._settings)
    plugged.workspace.restore(plugged._settings)
    assert not action.isChecked() and panel.isHidden()


def test_pages_without_data_cannot_be_shown(
    monkeypatch: pytest.MonkeyPatch, opened: Opened
) -> None:
    monkeypatch.setattr(window_parts, "plugins", lambda: plugins_with(GOOD, PANELS))
    with opened() as window:
        assert not window.commands["page_mean"].isEnabled()


ODD = (
    7,
    replace(GOOD[0], key="Not a key"),
    replace(GOOD[0], key="select"),
    replace(GOOD[0], key="long", label="a" * 15),
    replace(GOOD[0], key="control", label="a\x1b[2J"),
    replace(GOOD[0], key="empty", summary=" "),
    replace(GOOD[0], key="path", build="../x.py:f"),
    replace(GOOD[0], key="icon", icon="../../etc/passwd"),
    replace(GOOD[0], key="nobuild", build=""),
    replace(GOOD[0], key="controller", controller="window_parts_for_test:mean"),
    GOOD[0],
    GOOD[0],
)
ODD_PANELS = (
    PANELS[0],
    PANELS[0],
    replace(PANELS[0], key="nowhere", page="lab"),
    "panel",
)


def test_odd_parts_are_one_warning_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window_parts, "plugins", lambda: plugins_with(ODD, ODD_PANELS))
    with pytest.warns(PluginWarning) as warned:
        parts = window_parts.window_parts()
    assert [page for page, _ in parts.pages] == [GOOD[0]]
    assert [panel for panel, _ in parts.panels] == [PANELS[0]]
    texts = [str(warning.message) for warning in warned]
    assert len(texts) == len(ODD) - 1 + len(ODD_PANELS) - 1
    assert not any("\x1b" in text or "\n" in text for text in texts)


def test_a_panel_on_the_page_of_an_absent_ability_is_said_with_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    panel = replace(PANELS[0], page="queries")
    monkeypatch.setattr(window_parts, "plugins", lambda: plugins_with((), (panel,)))
    monkeypatch.setattr(
        window_parts,
        "own_pages",
        lambda: tuple(p for p in PAGES if p.key != panel.page),
    )
    with pytest.warns(PluginWarning, match=r"plug-in queries, which is absent"):
        assert window_parts.window_parts().panels == ()


def test_the_pages_of_the_window_are_those_that_panels_can_name() -> None:
    # the folder of an ability, with its page, may be absent
    keys = [page.key for page in PAGES]
    assert (
        keys == [key for key in window_parts.OWN_PAGES if key in keys] and len(keys) > 2
    )
