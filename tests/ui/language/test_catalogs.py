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


@pytest.mark.shipped
def test_catalogs_have_exactly_the_texts_of_the_source() -> None:
    assert catalogs.main(check=True) == 0


@pytest.mark.shipped
@pytest.mark.parametrize(("release", "status"), [(False, 0), (True, 1)])
def test_an_untranslated_text_is_told_and_fails_before_a_release_only(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    release: bool,
    status: int,
) -> None:
    monkeypatch.setattr(catalogs, "open_texts", lambda _catalog: ["Two words"])
    assert catalogs.main(check=True, release=release) == status
    assert capsys.readouterr().out == "de.po: not translated: Two words\n"


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


def test_translations_stay_when_texts_come_and_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, kept = Catalog(), made(stays="bleibt", goes="geht")
    for text in ("stays", "is new"):
        source.add(text)
    monkeypatch.setattr(catalogs, "catalog", lambda _language: kept)
    now = catalogs.updated("de", source)
    assert {m.id: m.string or "" for m in now if m.id} == {
        "stays": "bleibt",
        "is new": "",
    }


def test_the_terminal_offers_the_languages_of_the_window() -> None:
    assert set(OF_THE_TERMINAL) == set(LANGUAGES)
    assert {"en", *catalogs.LANGUAGES} == set(LANGUAGES)
