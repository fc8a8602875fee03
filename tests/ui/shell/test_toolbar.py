"""The toolbar: every button is reachable at every width, and its line says and changes what is selected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QListWidget,
    QMainWindow,
    QPushButton,
    QWidget,
)
from waiting import wait_until
from windows import finish, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.shell.actions import Actions
from rankstudio.ui.shell.selection_line import PARTS, SelectionLine, SelectionPart
from rankstudio.ui.shell.toolbar import ActionButton, MainToolBar


@pytest.fixture
def bare(theme, stage):
    made = QMainWindow()
    made.toolbar = MainToolBar(Actions(made, theme), theme)
    made.addToolBar(made.toolbar)
    made.toolbar.measure_button.setText("NDCG@10")
    made.toolbar.convention_button.setText("LETOR 4.0")
    texts = ("MQ2008", "fold 3", "run 12 Greedy RankRLS → RankSVM", "λ = 2⁵", "k = 6")
    made.toolbar.line.show_parts(
        {
            key: SelectionPart(text, tuple)
            for key, text in zip(PARTS, texts, strict=True)
        }
    )
    stage(made, 1440, 200)
    return made


@pytest.mark.parametrize("width", [1440, 1201, 1199, 1100, 960])
def test_every_button_is_in_sight(bare, width):
    bare.resize(width, 200)
    QApplication.processEvents()
    bar = bare.toolbar
    replaced = {"tool-palette"} if width < 1300 else set()  # Ctrl+K
    replaced |= {"theme-button"} if width < 1240 else set()  # the menu View
    replaced |= {"tool-step"} if width < 1000 else set()  # the menu Run
    for button in bar.findChildren(QPushButton):
        if button.objectName() in replaced:
            continue
        assert button.isVisible(), button.objectName()
        right = button.mapTo(bar, button.rect().topRight()).x()
        assert right < (
            width if button.parent() is bar else bar.line.geometry().right() + 1
        )
        assert button.width() >= button.minimumSizeHint().width(), button.objectName()


def test_texts_give_way_to_icons_and_come_back_and_names_stay(bare):
    button = bare.toolbar.findChild(ActionButton, "tool-export")
    texts = []
    for width in (1440, 1000, 1440):
        bare.resize(width, 200)
        QApplication.processEvents()
        texts.append(button.text())
        assert button.accessibleName() == "Export…"
    assert texts == ["Export…", "", "Export…"]


def test_what_a_narrow_window_leaves_out_comes_back(bare):
    """Catches a theme button that 1280 pixels had room for at the start, and not after 1024 pixels."""

    def shown(width: int) -> list[str]:
        bare.resize(width, 200)
        QApplication.processEvents()
        return [
            one.objectName()
            for one in bare.toolbar.findChildren(QPushButton)
            if one.isVisible()
        ]

    run = bare.toolbar.findChild(ActionButton, "tool-run")
    shown(1300)
    run.setText("Run 5 folds")  # as soon as data are open
    for width in range(1100, 1460, 10):
        before = shown(1460) and shown(width)
        assert shown(900) and shown(width) == before, width


def test_buttons_that_menus_replace_give_way_to_a_line_in_large_text(bare, theme):
    """Catches a line of five "…" at 1024 pixels and the largest text."""
    theme.set_text_size(18)
    theme.finish()
    try:
        bare.resize(1024, 200)
        QApplication.processEvents()
        line, shown = bare.toolbar.line, set()
        for button in line.findChildren(QPushButton):
            assert len(button.text().strip("…")) >= 3, button.text()
        for name in (
            "tool-run",
            "tool-pause",
            "tool-stop",
            "measure-button",
            "tool-export",
            "tool-open",
        ):
            shown.add(bare.toolbar.findChild(QPushButton, name).isVisible())
        assert shown == {True}
    finally:
        theme.set_text_size(13)
        theme.finish()
    bare.resize(1440, 200)
    QApplication.processEvents()
    assert bare.toolbar.convention_button.isVisible()


@pytest.mark.parametrize("width", [1440, 1280, 1024])
def test_no_button_moves_by_what_the_line_says(bare, width):
    bare.resize(width, 200)
    line, seen = bare.toolbar.line, []
    for run in (
        "",
        "run 1 GAS",
        "run 3 FSMRank, then coordinate ascent",
        "run 12 of a study, " * 9,
    ):
        said = (
            "MQ2008",
            "fold 1",
            run,
            "RankSVM C = 2⁻¹⁴" if run else "",
            "k = 12" if run else "",
        )
        line.show_parts(
            {
                key: SelectionPart(text, tuple)
                for key, text in zip(PARTS, said, strict=True)
            }
        )
        QApplication.processEvents()
        others = [
            one
            for one in bare.toolbar.findChildren(QPushButton)
            if one.parent() is bare.toolbar
        ]
        seen.append(
            [(one.isVisible(), one.text(), one.geometry().getRect()) for one in others]
        )
    assert len(others) > 8 and all(one == seen[0] for one in seen)


def test_a_usual_line_is_whole_where_the_texts_are(bare):
    line = bare.toolbar.line
    texts = ("MQ2008", "fold 3", "run 12 Greedy RankRLS", "λ = 2⁵", "k = 6")
    line.show_parts(
        {
            key: SelectionPart(text, tuple)
            for key, text in zip(PARTS, texts, strict=True)
        }
    )
    for width in range(1280, 1700, 20):
        bare.resize(width, 200)
        QApplication.processEvents()
        assert line.width() >= line.whole_width
        assert bare.toolbar.findChild(ActionButton, "tool-export").text() == "Export…"


def parts(window: MainWindow) -> list[str]:
    line = window.toolbar.line
    return [
        line.text(key)
        for key in ("dataset", "fold", "run", "parameters", "size")
        if line.text(key)
    ]


def test_the_line_says_what_all_pages_show(window: MainWindow) -> None:
    assert parts(window) == ["Small", "fold 1"]
    finish(window)
    model = window.current.model
    label = {0.25: "λ = 2⁻²", 1.0: "λ = 2⁰", 4.0: "λ = 2²"}[model.values[0]]
    assert parts(window) == [
        "Small",
        "fold 2",
        "run 1 Greedy RankRLS",
        label,
        f"k = {model.x_value}",
    ]
    window.commands["next_fold"].trigger()
    assert parts(window)[1] == "fold 1"
    window.session.show_fold(None)
    assert parts(window) == ["Small", "all folds", "run 1 Greedy RankRLS"]
    settle(window)


def test_each_part_changes_what_is_selected(window: MainWindow) -> None:
    finish(window)
    window.session.change("editing", rule="at most 2")
    finish(window)
    line = window.toolbar.line
    line.menu("run").pick(1)
    assert window.runs.shown is window.runs.record(1)
    line.menu("fold").pick(1)
    assert window.session.fold == 1
    line.menu("parameters").pick((4.0,))
    line.menu("size").pick(3)
    model = window.current.shown.inspected  # a menu inspects, it does not choose
    assert (model.values, model.x_value) == ((4.0,), 3)
    entries = line.menu("size").entries()
    values = model.path.validation[window.session.measure]
    assert entries[0] == (None, "best by validation")
    assert entries[3] == (3, f"k = 3   {window.session.measure} {values[2]:.4f}")
    line.menu("parameters").pick(None)
    assert window.session.choice.values is None
    line.menu("fold").pick(None)
    assert window.session.fold is None
    settle(window)


def test_what_was_open_lately_is_opened_from_the_line(
    window: MainWindow, folds: Path
) -> None:
    menu = window.toolbar.line.menu("dataset")
    assert menu.entries() == [(str(folds), "Small"), ("", "Open…")]
    window.session.show_fold(2)
    menu.pick(str(folds))
    wait_until(lambda: window.session.fold == 1)
    settle(window)


def test_a_part_is_picked_by_the_keyboard_alone(window: MainWindow) -> None:
    button = window.findChild(QWidget, "selection-fold")
    button.setFocus()
    menu = button.menu()
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))
    shown = menu.findChild(QListWidget)
    wait_until(shown.hasFocus)
    QTest.keyClick(shown, Qt.Key.Key_Down)
    QTest.keyClick(shown, Qt.Key.Key_Return)
    assert not menu.isVisible()
    assert window.session.fold == 2
    settle(window)


def test_the_longest_part_gives_way_first(
    app: QApplication, stage: Callable[..., QWidget]
) -> None:
    line = stage(SelectionLine(), 500, 40)
    texts = {
        "dataset": "MQ2008",
        "fold": "fold 3",
        "run": "run 1 " + "a very long method " * 6,
        "size": "k = 3",
    }
    line.show_parts(
        {key: SelectionPart(text, lambda: ()) for key, text in texts.items()}
    )
    app.processEvents()
    shown = {key: line.findChild(QWidget, f"selection-{key}") for key in texts}
    assert [shown[key].text() for key in ("dataset", "fold", "size")] == [
        "MQ2008",
        "fold 3",
        "k = 3",
    ]
    # in the middle, so that similar names stay different
    assert "…" in shown["run"].text()[3:-3]
    assert all(button.geometry().right() <= line.width() for button in shown.values())
    assert texts["run"].strip() in shown["run"].toolTip()
    line.resize(180, 40)
    app.processEvents()
    assert all(button.text() for button in shown.values())
