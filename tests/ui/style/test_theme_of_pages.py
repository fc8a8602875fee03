"""Pages that are not seen take other colours on later, and look the same then."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget
from waiting import wait_until
from windows import finish, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.shell.page import Page
from rankstudio.ui.shell.workspace import FIRST, PAGES
from rankstudio.ui.style.theme import Theme


class Told(QObject):
    """Counts how often each widget of some pages is told of another style."""

    def __init__(self, pages: list[Page]) -> None:
        super().__init__()
        self.widgets = {widget for page in pages for widget in (page, *page.findChildren(QWidget))}
        self.counts: dict[QObject, int] = {}

    def eventFilter(self, target: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if event.type() == QEvent.Type.StyleChange and target in self.widgets:
            self.counts[target] = self.counts.get(target, 0) + 1
        return False


@pytest.fixture
def visited(window: MainWindow, theme: Theme) -> Iterator[MainWindow]:
    """A window every page of which was seen, with a run."""
    finish(window)
    window.session.look_at(1)
    for page in PAGES:
        window.workspace.show_page(page.key)
        settle(window)
    window.workspace.show_page(FIRST)
    settle(window)
    yield window
    theme.set_text_size(13)


def pictures(window: MainWindow) -> dict[str, QImage]:
    """Return how each page looks."""
    found = {}
    for page in PAGES:
        window.workspace.show_page(page.key)
        settle(window)
        found[page.key] = window.workspace.grab().toImage()
    window.workspace.show_page(FIRST)
    return found


def test_pages_look_as_if_all_had_been_styled_at_once(
    visited: MainWindow, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    theme.set_mode("dark")
    later = pictures(visited)
    theme.set_mode("light")
    wait_until(lambda: not theme._late)
    monkeypatch.setattr(theme, "_pages", [])
    theme.set_mode("dark")
    assert [key for key, picture in pictures(visited).items() if picture != later[key]] == []


def test_only_the_page_that_is_seen_is_styled_at_once_and_once(
    visited: MainWindow, theme: Theme, app: QApplication
) -> None:
    wait_until(lambda: not theme._late)
    seen = [page for page in visited.findChildren(Page) if page.isVisible()]
    hidden = [page for page in visited.findChildren(Page) if not page.isVisible()]
    here, elsewhere = Told(seen), Told(hidden)
    assert len(seen) == 1 and len(elsewhere.widgets) > len(here.widgets) > 20
    for told in (here, elsewhere):
        app.installEventFilter(told)
    theme.set_mode("dark")
    assert elsewhere.counts == {}
    assert median(here.counts.values()) == 1, "not of the moment without a sheet too"
    theme.set_mode("light")
    theme.set_mode("dark")
    assert elsewhere.counts == {}, "what waits goes on waiting"
    wait_until(lambda: not theme._late)
    assert median(elsewhere.counts.values()) == 1
    theme.set_mode("light")
    theme.set_text_size(14)
    assert median(elsewhere.counts.values()) == 2, "another size of the text is for all at once"
    for told in (here, elsewhere):
        app.removeEventFilter(told)
