"""Widgets take another look on a few in each turn of the event loop, and look the same then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QTextBrowser, QToolButton, QWidget
from waiting import wait_until
from windows import finish, pages_present, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.page.page import Page
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.shell.workspace import FIRST
from rankstudio.ui.style.theme import PER_TURN, Theme

LONG = 500
"""Milliseconds: timers that are shorter belong to what a page shows."""
CHANGES: dict[str, Callable[[Theme], None]] = {
    "dark": lambda theme: theme.set_mode("dark"),
    "larger": lambda theme: theme.set_text_size(16),
}


class Told(QObject):
    """Counts how often each widget is told of another style, and how many are in each turn."""

    def __init__(self, widgets: set[QWidget]) -> None:
        super().__init__()
        self.widgets = widgets
        self.counts: Counter[QObject] = Counter()
        self.turns: list[int] = [0]

    def eventFilter(self, target: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.StyleChange and target in self.widgets:
            self.counts[target] += 1
            self.turns[-1] += 1
        return False


def prepare(window: MainWindow) -> None:
    """Run, and look at every page."""
    window.resize(1280, 760)
    finish(window)
    window.session.show_fold(1)
    for page in PAGES:
        window.workspace.show_page(page.key)
        settle(window)
    window.workspace.show_page(FIRST)
    settle(window)


@pytest.fixture
def sized(theme: Theme) -> Iterator[Theme]:
    """The theme, which afterwards has the usual size of the text again."""
    yield theme
    theme.set_text_size(13)
    theme.finish()


@pytest.fixture
def visited(ran: MainWindow, sized: Theme) -> MainWindow:
    """A window every page of which was seen, with a run."""
    ran.resize(1280, 760)
    sized.finish()
    return ran


def inside(window: MainWindow) -> set[QWidget]:
    return {window, *window.findChildren(QWidget)}


def pictures(window: MainWindow) -> dict[str, QImage]:
    """Return how each page looks."""
    found = {}
    for page in PAGES:
        window.workspace.show_page(page.key)
        pauses = [
            timer for timer in window.findChildren(QTimer) if timer.isSingleShot()
        ]
        pauses = [timer for timer in pauses if timer.interval() < LONG]
        wait_until(lambda: not any(timer.isActive() for timer in pauses))  # noqa: B023 - called here
        settle(window)
        for text in window.workspace.findChildren(QTextBrowser):
            # lays out all of it, which else goes on in later turns
            text.document().pageCount()
        found[page.key] = window.workspace.grab().toImage()
    window.workspace.show_page(FIRST)
    return found


def _style_all(app: QApplication) -> None:
    """Have Qt style all widgets at once."""
    sheet = app.styleSheet()
    app.setStyleSheet("")
    app.setStyleSheet(sheet)


@pytest.mark.parametrize("change", CHANGES)
def test_pages_look_as_if_qt_had_styled_all_of_them_at_once(
    window: MainWindow, sized: Theme, app: QApplication, change: str
) -> None:
    theme = sized
    # What begins by itself where it is quick would come between two pictures, and move what is around it.
    for page in pages_present(window, "evidence"):
        judged = window.sections.find(page)
        judged.evidence.is_view_visible = judged.importance.is_view_visible = lambda: (
            False
        )
    prepare(window)
    theme.finish()
    for laid_out in (
        window.sections.select.curves.slider,
        window.sections.select.method.form,
    ):
        laid_out.hide()  # a new layout moves them by a few pixels, which is no style
    settle(window)
    CHANGES[change](theme)
    wait_until(window.updatesEnabled)
    assert theme.waits, "what is not seen"
    early = pictures(window)
    theme.finish()
    # another size of the text moves what is seen, by a few pixels in later turns
    dark = change == "dark"
    late, fonts = pictures(window) if dark else {}, _fonts(window)
    _style_all(app)
    assert _fonts(window) == fonts
    if dark:
        wanted = pictures(window)
        assert [key for key, picture in late.items() if picture != wanted[key]] == []
        assert [key for key, picture in early.items() if picture != wanted[key]] == []


def _fonts(window: MainWindow) -> list[str]:
    """Return in which font each widget of the window is written."""
    return [widget.font().toString() for widget in window.findChildren(QWidget)]


def test_no_turn_of_the_event_loop_styles_more_than_its_part(
    visited: MainWindow, theme: Theme, app: QApplication
) -> None:
    for make in CHANGES.values():
        told = Told(inside(visited))
        seen = {widget for widget in told.widgets if widget.isVisible()}
        assert len(told.widgets) > 10 * PER_TURN > 2 * len(seen) > 4 * PER_TURN
        app.installEventFilter(told)
        make(theme)
        assert told.counts == {}, "the turn of the click only begins"
        shown_after = 0
        while theme.waits:
            told.turns.append(0)
            app.processEvents()
            if visited.updatesEnabled() and not shown_after:
                shown_after = len(told.counts)
        app.removeEventFilter(told)
        assert max(told.turns) <= PER_TURN
        assert 0.9 * len(seen) <= shown_after <= len(seen) + PER_TURN, (
            "drawn when what is seen is styled"
        )
        assert set(told.counts.values()) == {1}, (
            "not of the moment without a sheet too, and not twice"
        )
        assert len(told.counts) > 0.9 * len(told.widgets)


def test_a_change_amid_a_change_styles_every_widget_once_more(
    visited: MainWindow, theme: Theme, app: QApplication
) -> None:
    theme.set_mode("dark")
    for _ in range(3):
        app.processEvents()
    assert theme.waits and not visited.updatesEnabled()
    told = Told(inside(visited))
    app.installEventFilter(told)
    theme.set_mode("light")
    theme.finish()
    app.removeEventFilter(told)
    assert visited.updatesEnabled() and not theme.waits
    assert set(told.counts.values()) == {1}
    assert len(told.counts) > 0.9 * len(told.widgets)


def test_a_window_may_be_closed_meanwhile(window: MainWindow, theme: Theme) -> None:
    theme.set_mode("dark")
    window.close()
    theme.finish()
    assert not theme.waits


def test_icons_follow_and_a_page_that_is_shown_meanwhile_has_its_style(
    visited: MainWindow, theme: Theme, app: QApplication
) -> None:
    buttons = visited.workspace.rail.findChildren(QToolButton)
    before = [button.icon().pixmap(16).toImage() for button in buttons]
    page = next(page for page in visited.findChildren(Page) if not page.isVisible())
    told = Told({page, *page.findChildren(QWidget)})
    app.installEventFilter(told)
    theme.set_mode("dark")
    theme.style_page(page)
    app.removeEventFilter(told)
    assert set(told.counts) == told.widgets
    theme.finish()
    assert all(
        button.icon().pixmap(16).toImage() != old
        for button, old in zip(buttons, before, strict=True)
    )


def test_labels_of_a_form_that_is_not_seen_fit_the_size_of_the_text(
    window: MainWindow, sized: Theme
) -> None:
    theme = sized
    for page in ("lab", FIRST):
        window.workspace.show_page(page)
        settle(window)
    form = window.sections.contributed.controllers["lab"].auc.form
    labels = [field.label for field in form._fields.values()]
    before = labels[0].maximumWidth()
    theme.set_text_size(16)
    theme.finish()
    assert not labels[0].isVisible()
    assert (
        labels[0].maximumWidth()
        >= max(label.sizeHint().width() for label in labels)
        > before
    )
