"""The window in German, and in a made-up language that shows what is not looked up."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from processes import started

from rankstudio.engine.methods.catalog import GIVEN, methods
from rankstudio.engine.metrics.families import FAMILIES

UI_TESTS = Path(__file__).resolve().parents[1]

PROGRAM = """
import json, sys
from gettext import NullTranslations
from pathlib import Path

from rankstudio.engine import language as texts_of_the_process
from rankstudio.ui import language

class MadeUp(NullTranslations):
    def gettext(self, text): return f"«{text}»"
    def pgettext(self, context, text): return f"«{text}»"
    def ngettext(self, one, several, n): return f"«{one if n == 1 else several}»"

if sys.argv[1] == "made up":
    texts_of_the_process._language.catalog = MadeUp()
else:
    language.install("system")

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QListWidget, QMenu, QWidget
from rankstudio.ui.app import application
from rankstudio.ui.shell.pages import PAGES
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import TableView
from evidence_page import rest
from seen_texts import texts
from waiting import wait_until
from windows import open_window, settle

app = application()
theme = Theme("light")
theme.apply(app)
with open_window(theme, Path(sys.argv[2]), Path(sys.argv[3])) as window:
    window.resize(1920, 900)  # buttons of the toolbar give way where a language needs more room
    window.commands["run"].trigger()
    wait_until(lambda: window.runs.records and not window.runs.busy, 120)
    window.workspace.show_page("features")
    table = window.findChild(TableView, "features-table")
    wait_until(lambda: table.rows_model.rows)
    cells = [
        [table.rows_model.index(row, column).data() for column in range(table.rows_model.columnCount())]
        for row in range(table.rows_model.rowCount())
    ]
    menus = {menu.objectName(): [a.text() for a in menu.actions()] for menu in window.findChildren(QMenu)}
    menus["bar"] = [action.text() for action in window.menuBar().actions()]
    there = {}
    for page in PAGES:
        window.workspace.show_page(page.key)
        settle(window)
        if page.key == "evidence":  # Stop is there while it is computed
            rest(window)
        there[page.key] = sorted({
            f"{type(widget).__name__} {widget.objectName()}"
            for widget in window.findChildren(QWidget)
            if widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus
            if not widget.objectName().startswith("Scroll")  # of tabs, where a language needs more room
        })
    window.workspace.show_page("report")
    sections = window.findChild(QListWidget, "report-sections")
    window.notice.say("!", "error")
    error = window.notice.newest.accessibleName()
    window._open_palette()
    found = window.palette_dialog.list
    palette = [found.item(row).text() for row in range(found.count())]
    window.palette_dialog.close()
    window.window_state.save()
    print(json.dumps({
        "there": there,
        "language": language.language(),
        "texts": sorted({text for text in texts(window) if text}),
        "cells": cells,
        "palette": palette,
        "error": error,
        "sections": [sections.item(row).text() for row in range(sections.count())],
        "tip": window.findChild(QWidget, "page-report").toolTip(),
        "menus": menus,
    }))
"""

_LISTED = sorted(
    [m.label for m in (*methods(), *GIVEN)] + [f.name for f in FAMILIES], reverse=True
)
NAMES = re.compile(
    rf"""
    \b({"|".join(map(re.escape, _LISTED))}|[A-Z]\w*@\d+
    |Small|RankStudio|LETOR|Standard|MSLR|RankLib|trec_eval|LightGBM|scikit-learn|Jaccard|Ctrl|Shift|Esc|Right|Left|Holm
    |train|vali|test|given|fold|split|nested|leave-query-out|feature|English|Deutsch|MB|et|al|Pahikkala|Scroll|Export)\b
    """,
    re.VERBOSE,
)
"""What has the same name in every language: methods, measures, formats, data, and keys that Qt names."""


@pytest.fixture(scope="module")
def said(
    tmp_path_factory: pytest.TempPathFactory, folds: Path
) -> dict[str, dict[str, object]]:
    """What the window says in German and in the made-up language."""
    return {
        kind: _say(kind, tmp_path_factory.mktemp("config"), folds)
        for kind in ("German", "made up")
    }


def _say(kind: str, config: Path, folds: Path) -> dict[str, object]:
    modules = os.pathsep.join([str(UI_TESTS), str(UI_TESTS.parent / "engine")])
    surroundings = {"LANGUAGE": "de_DE", "LC_ALL": "C.UTF-8", "PYTHONPATH": modules}
    printed, _ = started(PROGRAM, config, kind, str(config), str(folds), **surroundings)
    return json.loads(printed.splitlines()[-1])


def test_the_window_speaks_the_language_of_the_system(
    said: dict[str, dict[str, object]],
) -> None:
    assert said["German"]["language"] == "de"
    texts = said["German"]["texts"]
    assert isinstance(texts, list)
    assert {"Merkmale", "2 Folds &starten", "&Export…"} & set(texts) == {
        "Merkmale",
        "2 Folds &starten",
    }
    menus = said["German"]["menus"]
    assert isinstance(menus, dict)
    assert menus["bar"] == ["&Datei", "&Bearbeiten", "&Ansicht", "&Lauf", "&Hilfe"]


def test_keys_kinds_and_titles_of_the_engine_are_german_too(
    said: dict[str, dict[str, object]],
) -> None:
    german = said["German"]
    palette, sections = german["palette"], german["sections"]
    assert isinstance(palette, list) and isinstance(sections, list)
    assert "Öffnen…   (Befehl · Strg+O)" in palette
    assert not [text for text in palette if "command" in text or "Ctrl" in text]
    assert sections[:3] == ["Frage und Notizen", "Ergebnisse", "Gepaarte Tests"]
    assert german["error"] == "Fehler: !"
    assert str(german["tip"]).endswith("(Strg+7)")


def test_the_same_can_be_reached_in_every_language(
    said: dict[str, dict[str, object]],
) -> None:
    assert said["German"]["there"] == said["made up"]["there"] != {}


@pytest.mark.parametrize("kind", ["German", "made up"])
def test_a_letter_chooses_one_entry_of_a_menu(
    said: dict[str, dict[str, object]], kind: str
) -> None:
    menus = said[kind]["menus"]
    assert isinstance(menus, dict)
    for name, entries in menus.items():
        letters = [
            letter.lower() for text in entries for letter in re.findall(r"&(\w)", text)
        ]
        assert sorted(letters) == sorted(set(letters)), f"{name}: {entries}"


def test_numbers_in_tables_have_a_point(said: dict[str, dict[str, object]]) -> None:
    cells = said["German"]["cells"]
    assert isinstance(cells, list) and cells
    numbers = [
        text
        for row in cells
        for text in row
        if re.fullmatch(r"[+−]?\d*[.,]\d+( %)?", str(text))
    ]
    assert numbers
    assert [text for text in numbers if "," in text] == []


def test_every_text_that_is_seen_is_looked_up(
    said: dict[str, dict[str, object]],
) -> None:
    texts = said["made up"]["texts"]
    assert isinstance(texts, list)
    assert {text: rest for text in texts if (rest := _not_looked_up(text))} == {}


def _not_looked_up(text: str) -> str:
    """Return the words of a text that stand outside the marks of the made-up language and are no names."""
    # papers, formulas and paths are names
    text = re.sub(
        r"<b>«(symbol|source)»</b>[^<]*|<[bi]>[^«<]*</[bi]>|<[^>]*>|^/.*", " ", text
    )
    while (inner := re.sub(r"«[^«»]*»", " ", text)) != text:
        text = inner
    text = re.sub(r"«[^«»]*$", " ", text)  # cut, where room is short
    words = re.findall(r"[^\W\d_]{2,}", NAMES.sub(" ", re.sub(r"&\w+;", " ", text)))
    return " ".join(words)
