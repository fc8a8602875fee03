"""The language of the window: which is chosen, what is looked up, and room for longer names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import started
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator

from rankstudio.engine import language as texts
from rankstudio.ui import language
from rankstudio.ui.language import install, tr, translate_qt, trn
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings


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
    assert [trn("{n} run", "{n} runs", n).format(n=n) for n in (1, 2)] == [
        "1 run",
        "2 runs",
    ]
    assert tr("") == "", "and not the heading of the catalog"


def test_german_is_looked_up(fresh: None) -> None:
    assert install("de") == "de" == language.language()
    assert tr("Open…") == "Öffnen…"
    assert [trn("{n} run", "{n} runs", n).format(n=n) for n in (1, 2)] == [
        "1 Lauf",
        "2 Läufe",
    ]
    assert tr("&Run", "menu") == "&Lauf" and tr("&Run") == "&Starten"
    assert tr("") == ""
    assert tr("what no catalog has") == "what no catalog has"


@pytest.mark.parametrize(
    ("wished", "key"),
    [(["de-AT", "de", "en"], "de"), (["fi-FI", "de"], "en"), (["C"], "en"), ([], "en")],
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


def test_a_language_that_is_chosen_late_is_warned_of_and_keeps_nobody_out(
    fresh: None,
) -> None:
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
            QCoreApplication.translate("QPlatformTheme", "Cancel")
            == {"en": "Cancel", "de": "Abbrechen"}[key]
        )
    finally:
        for translator in app.findChildren(QTranslator):
            if translator not in there:
                app.removeTranslator(translator)


def test_a_language_is_chosen_for_the_next_start_and_said(empty: MainWindow) -> None:
    actions = empty.commands.submenus["language"].actions()
    assert {action.data(): action.text() for action in actions} == {
        "system": "Same as system",
        "en": "English",
        "de": "Deutsch",
    }
    assert [action.data() for action in actions if action.isChecked()] == ["system"]
    next(action for action in actions if action.data() == "de").trigger()
    assert "next start" in empty.notice.text()
    assert [action.data() for action in actions if action.isChecked()] == ["de"]
    assert Settings(empty._settings.folder).language == "de"
    assert empty.commands["quit"].text() == "&Quit", "this window stays as it is"


ROOM = """
import sys
from pathlib import Path
from rankstudio.ui.language import install
install(sys.argv[1])
from rankstudio.engine.experiment.plan.plan import SAMPLE
from rankstudio.ui.app import application
from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.process.settings import Settings
from rankstudio.ui.style.theme import Theme

app, theme = application(), Theme("light")
theme.apply(app)
with theme.building():
    window = MainWindow(theme, Settings(Path(sys.argv[2])))
window.resize(1280, 760)
window.show()
window.open_path(SAMPLE)
while window.session.dataset is None:
    app.processEvents()
window.sections.workspace.show_page("select")
app.processEvents()
editor = window.sections.select.method.form.field("method").editor
print(editor.width() - editor.sizeHint().width())
sys.stdout.flush()
import os
os._exit(0)
"""


@pytest.mark.parametrize("key", ["en", "de"])
def test_names_of_methods_have_the_same_room_in_every_language(
    key: str, tmp_path: Path
) -> None:
    """Only a process of its own can have another language."""
    assert int(started(ROOM, tmp_path, key, str(tmp_path))[0].split()[-1]) >= 30
