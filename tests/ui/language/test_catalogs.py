from __future__ import annotations

import catalogs
import pytest
from babel.messages import Catalog

from rankstudio.cli import LANGUAGES as OF_THE_TERMINAL
from rankstudio.ui.language import LANGUAGES


def made(**texts: str) -> Catalog:
    """Return a catalog of texts and their translations."""
    catalog = Catalog("de")
    for text, translation in texts.items():
        catalog.add(text.replace("_", " "), translation)
    return catalog


def test_catalogs_have_exactly_the_texts_of_the_source_all_translated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    catalogs.main(check=True)
    assert capsys.readouterr().out == ""


def test_an_open_text_is_told() -> None:
    assert catalogs.open_texts(made(Two_words="")) == ["Two words"]
    assert catalogs.open_texts(made(Two_words="Zwei Wörter")) == []


@pytest.mark.parametrize(
    ("text", "translation"),
    [
        ("{n} runs", "{m} Läufe"),
        ("{share:.2f} of it", "{share} davon"),
        ("&Open", "Öffnen"),
        (" and {more} more", "und {more} weitere"),
        ("Log\tL", "Log"),
        ("Plans (*.toml)", "Pläne"),
        ("<b>Bold</b>", "Fett"),
    ],
)
def test_a_translation_that_lacks_a_part_is_told(text: str, translation: str) -> None:
    catalog = Catalog("de")
    catalog.add(text, translation)
    assert catalogs.broken_texts(catalog) == [text]


def test_translations_stay_when_texts_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    source, kept = Catalog(), made(stays="bleibt", goes="geht")
    for text in ("stays", "is new"):
        source.add(text)
    monkeypatch.setattr(catalogs, "catalog", lambda _language: kept)
    now = catalogs.updated("de", source)
    assert {m.id: m.string or "" for m in now if m.id} == {"stays": "bleibt", "is new": ""}


def test_the_terminal_offers_the_languages_of_the_window() -> None:
    assert set(OF_THE_TERMINAL) == set(LANGUAGES)
    assert {"en", *catalogs.LANGUAGES} == set(LANGUAGES)
