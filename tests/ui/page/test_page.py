"""A page of the window: sizes come back, and damaged ones are not believed."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from rankstudio.ui.page.page import Page, Splitter, column, row
from rankstudio.ui.process.settings import Settings


@pytest.fixture
def page(stage: Callable[..., QWidget]) -> Page:
    below = row("below", (QWidget(), 1, 600), (QWidget(), 1, 600))
    return stage(
        Page("some", column("rows", (QWidget(), 1, 400), (below, 1, 400))), 1200, 800
    )


def sizes(page: Page) -> dict[str, list[int]]:
    """How all splitters stand."""
    return {
        splitter.objectName(): splitter.sizes()
        for splitter in page.findChildren(QSplitter)
    }


def test_sizes_come_back(page: Page, tmp_path: Path) -> None:
    settings, rows = Settings(tmp_path), page.findChild(QSplitter, "rows")
    rows.setSizes([500, 270])
    dragged = sizes(page)
    page.save(settings)
    rows.setSizes([300, 470])
    assert sizes(page) != dragged
    page.restore(settings)
    assert sizes(page) == dragged


def test_what_is_damaged_is_not_believed(page: Page, tmp_path: Path) -> None:
    settings, rng, characters = Settings(tmp_path), random.Random(0), "0123456789 -x²"
    page.save(settings)
    kept = {name: settings.text(f"sizes/{name}") for name in sizes(page)}
    assert all(len(text.split()) == 2 for text in kept.values())
    for _ in range(300):
        name = rng.choice(sorted(kept))
        text = list(kept[name])
        for _ in range(rng.choice((1, 1, 9))):
            text.insert(rng.randrange(len(text)), rng.choice(characters))
        settings.set(f"sizes/{name}", "".join(text[: rng.choice((None, None, 3))]))
        page.restore(settings)
        assert page.width() == 1200
        assert all(
            0 <= size <= 1200 for found in sizes(page).values() for size in found
        )
        assert all(sum(found) > 700 for found in sizes(page).values())


def test_what_was_never_seen_is_not_remembered(
    app: QApplication, tmp_path: Path
) -> None:
    settings = Settings(tmp_path)
    unseen = Page("some", row("rows", (QWidget(), 0, 300), (QWidget(), 1, 900)))
    unseen.save(settings)
    assert settings.text("sizes/rows") == ""
    unseen.deleteLater()


def test_what_is_hidden_keeps_the_size_that_is_remembered(
    page: Page, tmp_path: Path
) -> None:
    settings, below = Settings(tmp_path), page.findChild(Splitter, "below")
    page.save(settings)
    kept = settings.text("sizes/below")
    below.widget(0).hide()
    page.save(settings)
    assert settings.text("sizes/below") == kept
