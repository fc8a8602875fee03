import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QAction, QColor, QIcon
from PySide6.QtWidgets import QPushButton

from rankstudio.engine.support.resources import resource
from rankstudio.ui.style import icons
from rankstudio.ui.style.colors import DARK, LIGHT
from rankstudio.ui.style.drawings import svg

NAMES = sorted(path.stem for path in resource("icons").glob("*.svg"))
ASKED = """
open sample run pause stop step sun moon system export compare pin ban undo redo copy search close
chevron-down chevron-up chevron-left chevron-right info warning error check folder settings help reset
"""


def colors_in(picture):
    image = picture.toImage()
    found = [
        image.pixelColor(x, y)
        for x in range(image.width())
        for y in range(image.height())
    ]
    return {c.name() for c in found if c.alpha() == 255}


def nearly(color, other):
    """Whether two colours differ by no more than the rounding of overlapping strokes."""
    a, b = QColor(color).toRgb(), QColor(other).toRgb()
    return (
        max(abs(x - y) for x, y in zip(a.getRgb()[:3], b.getRgb()[:3], strict=True))
        <= 2
    )


def test_the_family_is_complete():
    assert set(ASKED.split()) <= set(NAMES)


def test_every_icon_is_drawn_in_the_same_way(app):
    way = {
        "viewBox": "0 0 24 24",
        "stroke": "currentColor",
        "stroke-width": "1.75",
        "stroke-linecap": "round",
    }
    for name in NAMES:
        if name != "app":
            root = ET.fromstring(resource("icons", f"{name}.svg").read_text())
            assert way.items() <= root.attrib.items(), name
            drawn = colors_in(icons.pixmap(name, "#c02040", 48))
            assert drawn and all(nearly(color, "#c02040") for color in drawn), name


@pytest.mark.parametrize("ratios", [(1.0,), (1.0, 2.0), (1.25, 3.0)])
def test_pictures_fit_every_screen(app, theme, monkeypatch, ratios):
    screens = [
        SimpleNamespace(devicePixelRatio=lambda ratio=ratio: ratio) for ratio in ratios
    ]
    monkeypatch.setattr(
        icons, "QGuiApplication", SimpleNamespace(screens=lambda: screens)
    )
    made = icons.icon(theme, "open")
    for ratio in ratios:
        picture = made.pixmap(QSize(icons.SIZE, icons.SIZE), ratio)
        assert picture.width() == round(icons.SIZE * ratio)
    assert icons.pixmap("open", "#000000", 16, 1.5).width() == 24


def test_an_icon_follows_the_theme_on_buttons_and_actions(app, theme):
    button, action = QPushButton(), QAction("x")
    for target in (button, action):
        icons.set_icon(target, theme, "stop")
    assert (
        {LIGHT.text}
        == colors_in(button.icon().pixmap(16))
        == colors_in(action.icon().pixmap(16))
    )
    theme.set_mode("dark")
    assert (
        {DARK.text}
        == colors_in(button.icon().pixmap(16))
        == colors_in(action.icon().pixmap(16))
    )
    assert colors_in(button.icon().pixmap(16, QIcon.Mode.Disabled)) == {DARK.faint}


def test_a_second_icon_replaces_the_first_for_good(app, theme):
    button = QPushButton()
    icons.set_icon(button, theme, "moon")
    icons.set_icon(button, theme, "stop", "accent")
    theme.set_mode("dark")
    assert colors_in(button.icon().pixmap(16)) == {DARK.accent}
    assert len(button.findChildren(icons._Binding)) == 1


def test_a_button_that_is_gone_is_not_redrawn(app, theme):
    button = QPushButton()
    icons.set_icon(button, theme, "moon")
    del button
    theme.set_mode("dark")  # would raise on a dead button


def test_the_icon_of_the_program_is_there(app):
    assert not icons.app_icon().isNull()
    assert QColor("#ffffff").name() in colors_in(icons.pixmap("app", "#000000", 256))


def test_an_icon_that_does_not_exist_is_an_error(app):
    with pytest.raises(FileNotFoundError):
        svg("no-such-icon", "#000000")
