"""The guide's window: its pages, and how they are set."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QUrl
from PySide6.QtGui import QTextBlock, QTextDocument
from PySide6.QtWidgets import QApplication, QLabel, QTextBrowser

from rankstudio.engine.plugins.entries import imported
from rankstudio.engine.plugins.window_parts import own_pages
from rankstudio.engine.support.resources import guide
from rankstudio.ui.shell.help import GuideWindow
from rankstudio.ui.style.terms import slug as slug_of
from rankstudio.ui.style.theme import Theme

PLACES = {
    place
    for page in own_pages()
    for place in (page.guide, *imported(page.controller).places.values())
}


@pytest.fixture
def window(app: QApplication, theme: Theme) -> Iterator[GuideWindow]:
    made = GuideWindow(theme)
    made.show()
    QApplication.processEvents()
    yield made
    made.close()
    made.deleteLater()


def blocks(window: GuideWindow) -> list[QTextBlock]:
    document = window.findChild(QTextBrowser, "guide-page").document()
    return [document.findBlockByNumber(n) for n in range(document.blockCount())]


@pytest.mark.parametrize("page", sorted(path.name for path in guide().glob("*.md")))
def test_a_page_is_shown_without_what_is_meant_for_the_tests(
    window: GuideWindow, page: str
) -> None:
    window.open(QUrl(page))
    title = guide(page).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    assert window._browser.toPlainText().startswith(title)
    for mark in ("<!--", "not run:", "```"):
        assert mark not in window._browser.toPlainText()


def test_the_lines_of_a_block_of_code_stand_together_and_apart_from_the_text(
    window: GuideWindow,
) -> None:
    window.open(QUrl("python.md"))
    code = [
        block for block in blocks(window) if block.blockFormat().nonBreakableLines()
    ]
    assert any(block.text() == "data = load_sample()" for block in code)
    for above, below in pairwise(blocks(window)):
        room = above.blockFormat().bottomMargin() + below.blockFormat().topMargin()
        if above in code or below in code:
            assert (room == 0) == (above in code and below in code)
    assert min(block.blockFormat().leftMargin() for block in code) > 0


def test_a_long_page_is_laid_out_once_and_not_after_each_of_its_paragraphs(
    window: GuideWindow,
) -> None:
    changes: list[None] = []
    window.findChild(QTextBrowser, "guide-page").document().contentsChanged.connect(
        lambda: changes.append(None)
    )
    window.open(QUrl("methods.md"))
    assert len(blocks(window)) > 100
    assert 0 < len(changes) < 10


@pytest.mark.parametrize("place", sorted(PLACES))
def test_every_place_of_the_window_has_its_heading(place: str) -> None:
    page, _, slug = place.partition("#")
    lines = guide(page).read_text(encoding="utf-8").splitlines()
    assert not slug or slug in {
        slug_of(line.lstrip("#")) for line in lines if line.startswith("#")
    }


def test_a_link_to_a_heading_brings_it_to_the_top(window: GuideWindow) -> None:
    window.open(QUrl("terminal.md#folds-and-rules"))
    bar = window._browser.verticalScrollBar()
    assert bar.value() > 0
    place = window._browser.cursorForPosition(QPoint(40, 20)).block()
    while place.blockFormat().headingLevel() == 0:
        place = place.next()
    assert place.text() == "Folds and rules"


def test_search_goes_on_from_page_to_page(window: GuideWindow) -> None:
    window.open(QUrl("index.md"))
    window.field.setText("Nogueira")
    seen = []
    for _ in range(6):
        window.find_next()
        seen.append(Path(window._browser.source().path()).name)
        assert window._browser.textCursor().selectedText().lower() == "nogueira"
    assert len(set(seen)) > 1
    window.field.setText("there is no such word here")
    window.find_next()
    assert (
        window.findChild(QLabel, "guide-nothing-found")
        .text()
        .startswith("Nothing found for")
    )
    window.field.setText("")
    assert not window.findChild(QLabel, "guide-nothing-found").text()


def test_a_dark_theme_shows_the_dark_picture_of_a_pair(
    window: GuideWindow, theme: Theme
) -> None:
    browser = window.findChild(QTextBrowser, "guide-page")
    window.open(QUrl("index.md"))
    ground = {}
    for mode in ("light", "dark"):
        theme.set_mode(mode)
        theme.finish()
        kind = QTextDocument.ResourceType.ImageResource
        image = browser.loadResource(kind.value, QUrl("images/concept-light.svg"))
        ground[mode] = image.pixelColor(image.width() // 2, 3).lightness()
        # a picture without a pair stays as it is
        alone = browser.loadResource(kind.value, QUrl("images/window-ranker.webp"))
        assert alone.pixelColor(3, 3).lightness() > 200
    assert ground["light"] > 200
    assert ground["dark"] < 60


def test_pictures_leave_room_for_the_scroll_bar(window: GuideWindow) -> None:
    browser = window.findChild(QTextBrowser, "guide-page")
    window.open(QUrl("evidence.md"))
    QApplication.processEvents()
    assert browser.verticalScrollBar().maximum() > 0
    assert browser.horizontalScrollBar().maximum() == 0
