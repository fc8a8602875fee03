from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetricsF, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QCompleter,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from waiting import wait_until
from wording import naming

from rankstudio.engine.support.resources import resource
from rankstudio.ui.style.colors import DARK, LIGHT
from rankstudio.ui.style.fonts import _FONT_FILES, family, font
from rankstudio.ui.style.stylesheet import style_sheet
from rankstudio.ui.style.theme import PER_TURN, Theme
from rankstudio.ui.widgets import Panel
from rankstudio.ui.widgets.layout import named


@pytest.fixture
def changes(theme):
    told = []
    slot = lambda: told.append(theme.colors)  # noqa: E731 - to be disconnected
    theme.changed.connect(slot)
    yield told
    theme.changed.disconnect(slot)


def test_modes_switch_and_tell_only_when_something_changes(theme, changes):
    assert theme.colors is LIGHT
    theme.set_mode("dark")
    assert theme.dark and theme.mode == "dark" and changes == [DARK]
    theme.set_mode("dark")
    assert changes == [DARK]
    theme.set_mode("light")
    assert changes == [DARK, LIGHT]


def test_system_is_light_where_the_platform_does_not_tell(app):
    assert app.platformName() == "offscreen"
    assert Theme("system").colors is LIGHT


def test_no_colour_of_the_other_theme_stays_behind(app, theme):
    own = {
        n: {getattr(c, n) for n in c.__dataclass_fields__ if n != "dark"}
        for n, c in _named().items()
    }
    for mode, other in (("dark", "light"), ("light", "dark")):
        theme.set_mode(mode)
        sheet = app.styleSheet()
        assert not [c for c in own[other] - own[mode] if c in sheet]
        assert app.palette().color(QPalette.ColorRole.Window) == QColor(
            _named()[mode].ground
        )
        assert app.palette().color(QPalette.ColorRole.Text) == QColor(
            _named()[mode].text
        )


def test_the_style_sheet_is_away_while_a_window_is_built_and_back_after_a_failure(
    app, theme
):
    sheet = app.styleSheet()
    with theme.building():
        assert app.styleSheet() == ""
    assert app.styleSheet() == sheet != ""
    with pytest.raises(ValueError, match="no window"), theme.building():
        raise ValueError("no window")
    assert app.styleSheet() == sheet
    with Theme("dark").building():
        assert app.styleSheet() == sheet, (
            "a theme that was never applied takes nothing away"
        )


def test_widgets_that_live_take_the_new_colours(theme, stage):
    panel = Panel(theme, "Title")
    panel.set_content(QLabel())
    stage(panel, 200, 120)
    spot = panel.rect().center()
    assert panel.grab().toImage().pixelColor(spot) == QColor(LIGHT.panel)
    theme.set_mode("dark")
    assert panel.grab().toImage().pixelColor(spot) == QColor(DARK.panel)


def test_the_primary_button_is_the_accent_and_a_disabled_one_is_not(theme, stage):
    button = QPushButton("Run")
    button.setProperty("role", "primary")
    stage(button, 120, 30)
    spot = button.rect().topLeft() + button.rect().bottomRight() * 0.12
    assert button.grab().toImage().pixelColor(spot) == QColor(LIGHT.accent)
    button.setEnabled(False)
    assert button.grab().toImage().pixelColor(spot) != QColor(LIGHT.accent)


def test_the_style_sheet_names_only_roles_and_pictures_there_are(theme):
    images = dict.fromkeys(
        (
            "chevron",
            "chevron_faint",
            "chevron_up",
            "chevron_right",
            "check",
            "check_text",
        ),
        "x.svg",
    )
    assert "$" not in style_sheet(LIGHT, images)
    with pytest.raises(KeyError):
        style_sheet(LIGHT, {})


def test_the_pictures_of_the_style_sheet_exist(app, theme):
    paths = {part.split('"')[0] for part in app.styleSheet().split('url("')[1:]}
    assert paths and all(Path(path).is_file() for path in paths)


def test_figures_have_one_width(app):
    for bold in (False, True):
        tabular, proportional = font(13, bold), font(13, bold)
        proportional.unsetFeature(QFont.Tag("tnum"))
        spreads = []
        for one in (tabular, proportional):
            widths = [
                QFontMetricsF(one).horizontalAdvance(str(d) * 8) for d in range(10)
            ]
            spreads.append(max(widths) - min(widths))
        assert spreads[0] < 0.3
        assert spreads[1] > 10


def test_the_font_is_inter_and_our_files_are_good(app):
    assert family() == "Inter"
    for name in _FONT_FILES:
        handle = QFontDatabase.addApplicationFont(str(resource("fonts", name)))
        assert "Inter" in QFontDatabase.applicationFontFamilies(handle)
    assert naming("SIL OPEN FONT LICENSE").search(
        resource("fonts", "Inter-LICENSE.txt").read_text()
    )


def _named():
    return {"light": LIGHT, "dark": DARK}


def test_one_sheet_is_taken_off_before_another_is_put_on(app, theme, monkeypatch):
    """Qt styles every widget of the window several times over where one sheet takes another's place."""
    lengths = []
    own = app.setStyleSheet
    monkeypatch.setattr(
        app, "setStyleSheet", lambda sheet: lengths.append(len(sheet)) or own(sheet)
    )
    theme.set_mode("dark")
    assert lengths[0] == 0
    assert len(lengths) == 2


def test_all_text_follows_the_size_and_stops_at_the_ends(app, theme, changes):
    theme.apply(app)
    panel, small = Panel(theme, "Title", "caption"), font(12).pixelSize()
    panel.show()
    header = panel._title.parentWidget()
    title, height = panel._title.fontMetrics().height(), header.height()
    theme.set_text_size(17)
    try:
        assert (theme.text_size, font().pixelSize(), len(changes)) == (17, 17, 1)
        assert font(12).pixelSize() > small
        assert panel._title.fontMetrics().height() > title
        assert "font-size: 16px" in app.styleSheet()
        theme.set_text_size(99)
        assert theme.text_size == 18
        app.processEvents()
        assert header.height() > height
        theme.set_text_size(1)
        assert theme.text_size == 11
    finally:
        theme.set_text_size(13)
    assert font(12).pixelSize() == small == 12
    app.processEvents()
    assert header.height() == height
    panel.close()
    panel.deleteLater()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_completions_have_the_ground_of_a_panel_and_letters_that_stand_out(
    app, theme, mode
):
    theme.set_mode(mode)
    line = QLineEdit()
    line.setCompleter(QCompleter(["LMIR.ABS", "LMIR.DIR"], line))
    popup = named(QListView(), role="popup")
    line.completer().setPopup(popup)
    line.show()
    QTest.keyClicks(line, "L")
    line.completer().complete()
    picture = popup.grab().toImage()
    corner = picture.pixelColor(picture.width() - 8, picture.height() - 8)
    assert corner.name() == theme.colors.panel
    spots = (
        (x, y)
        for x in range(4, min(120, picture.width() - 4))
        for y in range(4, picture.height() - 4)
    )
    seen = {picture.pixelColor(x, y).name() for x, y in spots}
    assert len(seen) > 4, "letters"
    line.close()
    line.deleteLater()


def test_the_screen_shows_the_new_colours_without_waiting_for_a_click(theme, stage):
    page = QWidget()
    column = QVBoxLayout(page)
    for number in range(2 * PER_TURN):  # more than one turn styles
        column.addWidget(QLabel(str(number)))
    stage(page, 300, 300)
    assert on_screen(page) == LIGHT.ground
    # a request to draw that comes while the window is held, as that of a pressed button
    page.update()
    theme.set_mode("dark")
    wait_until(lambda: not theme.waits)
    QTest.qWait(0)
    assert on_screen(page) == DARK.ground


def on_screen(widget):
    """Return the colour at the corner of a window as the screen has it: to grab the widget draws it anew."""
    return widget.screen().grabWindow(widget.winId()).toImage().pixelColor(2, 2).name()
