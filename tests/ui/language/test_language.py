from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator

from rankstudio.engine import language as texts
from rankstudio.ui import language
from rankstudio.ui.language import install, tr, translate_qt, trn


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process in which no text was looked up yet."""
    monkeypatch.setattr(texts, "_language", texts._Language())


@pytest.fixture
def locale() -> Iterator[None]:
    """What Qt writes numbers by, as it was."""
    before = QLocale()
    yield
    QLocale.setDefault(before)


def test_texts_are_english_where_no_language_was_chosen(fresh: None) -> None:
    assert tr("Open…") == "Open…"
    assert [trn("{n} run", "{n} runs", n).format(n=n) for n in (1, 2)] == ["1 run", "2 runs"]
    assert tr("") == "", "and not the heading of the catalog"


def test_german_is_looked_up(fresh: None) -> None:
    assert install("de") == "de" == language.language()
    assert tr("Open…") == "Öffnen…"
    assert [trn("{n} run", "{n} runs", n).format(n=n) for n in (1, 2)] == ["1 Lauf", "2 Läufe"]
    assert tr("&Run", "menu") == "&Lauf" and tr("&Run") == "&Starten"
    assert tr("") == ""
    assert tr("what no catalog has") == "what no catalog has"


@pytest.mark.parametrize(
    ("wished", "key"), [(["de-AT", "de", "en"], "de"), (["fi-FI", "de"], "en"), (["C"], "en"), ([], "en")]
)
def test_the_system_is_followed_where_there_is_its_language(
    fresh: None, monkeypatch: pytest.MonkeyPatch, wished: list[str], key: str
) -> None:
    class System:
        def uiLanguages(self) -> list[str]:  # noqa: N802 - Qt's name
            return wished

    monkeypatch.setattr(language.QLocale, "system", System)
    assert install("system") == key
    assert install("klingon") == key


def test_a_language_that_is_chosen_late_is_warned_of_and_keeps_nobody_out(fresh: None) -> None:
    tr("Open…")
    assert install("en") == "en"
    with pytest.warns(RuntimeWarning, match="before de was chosen"):
        install("de")
    assert tr("Open…") == "Öffnen…"


@pytest.mark.parametrize("key", ["en", "de"])
def test_numbers_have_a_point_in_every_language(
    fresh: None, app: QCoreApplication, locale: None, key: str
) -> None:
    QLocale.setDefault(QLocale(QLocale.Language.German))
    install(key)
    there = app.findChildren(QTranslator)
    translate_qt(app)
    try:
        assert QLocale().toString(0.5) == "0.5"
        assert (
            QCoreApplication.translate("QPlatformTheme", "Cancel") == {"en": "Cancel", "de": "Abbrechen"}[key]
        )
    finally:
        for translator in app.findChildren(QTranslator):
            if translator not in there:
                app.removeTranslator(translator)
