"""The toolbar: every button is reachable at every width."""

import pytest
from PySide6.QtWidgets import QApplication, QMainWindow, QPushButton

from rankstudio.ui.shell.actions import Actions
from rankstudio.ui.shell.selection_line import PARTS, Part
from rankstudio.ui.shell.toolbar import ActionButton, MainToolBar


@pytest.fixture
def window(theme, stage):
    made = QMainWindow()
    made.toolbar = MainToolBar(Actions(made, theme), theme)
    made.addToolBar(made.toolbar)
    made.toolbar.measure_button.setText("NDCG@10")
    made.toolbar.convention_button.setText("LETOR 4.0")
    texts = ("MQ2008", "fold 3", "run 12 Greedy RankRLS → RankSVM", "λ = 2⁵", "k = 6")
    made.toolbar.line.show_parts({key: Part(text, tuple) for key, text in zip(PARTS, texts, strict=True)})
    stage(made, 1440, 200)
    return made


@pytest.mark.parametrize("width", [1440, 1201, 1199, 1100, 960])
def test_every_button_is_in_sight(window, width):
    window.resize(width, 200)
    QApplication.processEvents()
    bar = window.toolbar
    for button in bar.findChildren(QPushButton):
        if button.objectName() == "tool-palette" and not bar.findChild(ActionButton, "tool-export").text():
            continue  # Ctrl+K
        assert button.isVisible(), button.objectName()
        right = button.mapTo(bar, button.rect().topRight()).x()
        assert right < (width if button.parent() is bar else bar.line.geometry().right() + 1)
        assert button.width() >= button.minimumSizeHint().width(), button.objectName()


def test_texts_give_way_to_icons_and_come_back_and_names_stay(window):
    button = window.toolbar.findChild(ActionButton, "tool-export")
    texts = []
    for width in (1440, 1100, 1440):
        window.resize(width, 200)
        QApplication.processEvents()
        texts.append(button.text())
        assert button.accessibleName() == "Export…"
    assert texts == ["Export…", "", "Export…"]


def test_a_wider_toolbar_never_shows_less_of_a_name(window):
    line, shown = window.toolbar.line, []
    for width in range(960, 1500, 20):
        window.resize(width, 200)
        QApplication.processEvents()
        shown.append(min(line.width(), line.whole_width))
    assert shown == sorted(shown) and shown[-1] == line.whole_width
    assert window.toolbar.findChild(ActionButton, "tool-export").text() == "Export…"
