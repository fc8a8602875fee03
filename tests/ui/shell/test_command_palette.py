"""The command palette: what it finds, and what comes of choosing it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from windows import finish, press_keys, settle

from rankstudio.ui.main_window import MainWindow
from rankstudio.ui.model.feature_search import matches_of_text
from rankstudio.ui.page.palette_entry import PaletteEntry
from rankstudio.ui.shell.command_palette import matching, palette_entries


def nothing() -> None:
    """Do nothing."""


ENTRIES = (
    PaletteEntry("command", "Save study as…", nothing, "Ctrl+Shift+S"),
    PaletteEntry("method", "Greedy RankRLS", nothing, "Pahikkala et al. 2010"),
    PaletteEntry("feature", "BM25 of body", nothing, "21"),
    PaletteEntry("method", "RankRLS", nothing),
    PaletteEntry("run", "run 1 RankRLS", nothing, "MQ2008"),
)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("rankrls", [3, 1, 4]),
        ("RANKRLS greedy", [1]),
        ("21", [2]),
        ("feature body", [2]),
        ("stu sav", [0]),
        ("method", [1, 3]),
        ("nothing of the kind", []),
    ],
)
def test_every_word_is_found_and_beginnings_come_first(
    typed: str, found: list[int]
) -> None:
    assert matching(ENTRIES, typed) == [ENTRIES[i] for i in found]


def test_words_come_before_the_beginnings_of_longer_ones() -> None:
    """Catches another convention chosen where the light theme was meant."""
    texts = "Convention › LightGBM", "Theme › Light"
    found = matching(
        [PaletteEntry("setting", text, nothing) for text in texts], "light"
    )
    assert [entry.text for entry in found] == ["Theme › Light", "Convention › LightGBM"]


def choose(window: MainWindow, typed: str) -> None:
    """Open the palette, type, and press Enter."""
    window.commands["palette"].trigger()
    palette = window.palette_dialog
    assert palette.isVisible()
    QTest.keyClicks(palette.field, typed)
    QTest.keyClick(palette.field, Qt.Key.Key_Return)


def test_commands_pages_methods_features_and_runs_are_found(window: MainWindow) -> None:
    pytest.importorskip("rankstudio.plugins.features")  # its folder may be absent
    choose(window, "compare page")
    assert window.workspace.page == "compare"
    choose(window, "gas method")
    assert window.session.plan.method == "gas"
    assert window.workspace.page == "select"
    choose(window, "undo")
    assert window.session.plan.method == "greedy-rankrls"
    finish(window)
    dataset = window.session.dataset
    choose(window, f"feature {dataset.feature_names[4]}")
    assert window.workspace.page == "features"
    assert window.sections.features.feature == dataset.feature_ids[4]
    finish(window)
    choose(window, "run 1")
    assert window.runs.shown is window.runs.record(1)
    settle(window)


def test_arrows_move_in_the_list_and_escape_changes_nothing(window: MainWindow) -> None:
    press_keys(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = window.palette_dialog
    page = window.workspace.page
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    assert palette.list.currentRow() == 1
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert window.workspace.page == page
    settle(window)


def test_settings_and_delete_are_found_and_nothing_is_said_to_match(
    window: MainWindow, questions: list[str]
) -> None:
    theme = window._theme
    choose(window, "theme dark")
    assert theme.dark
    choose(window, "measure P@10")
    assert window.session.measure == "P@10"
    entries = palette_entries(
        window.models, window.sections, window.commands, window.workspace
    )
    assert [entry.text for entry in matching(entries, "deutsch")] == [
        "Language › Deutsch"
    ]
    window.workspace.show_page("data")
    choose(
        window,
        f"setting {window.sections.select.method.form.field('protocol').label.text()}",
    )
    assert window.workspace.page == "select"
    assert window.sections.select.method.form.field("protocol").editor.hasFocus()
    finish(window)
    choose(window, "remove run 1")
    assert not questions and window.runs.records == ()
    choose(window, "german")
    assert window._settings.language == "de" and window.notice.newest.level == "info"
    window.commands["palette"].trigger()
    palette = window.palette_dialog
    QTest.keyClicks(palette.field, "xyzzy")
    assert [palette.list.item(i).text() for i in range(palette.list.count())] == [
        "Nothing matches “xyzzy”."
    ]
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
    palette.close()
    settle(window)


def test_one_of_very_many_features_is_found_by_its_id_or_its_name() -> None:
    page = pytest.importorskip("rankstudio.plugins.features.window.page")
    ids = np.arange(2, 60_002, 2)
    names = tuple(f"word {i}" for i in ids.tolist())
    dataset: Any = SimpleNamespace(
        feature_ids=ids, feature_names=names, n_features=ids.size
    )
    looked_at: list[object] = []
    for typed in ("60000", "word 60000"):
        (entry,) = page.found_features(
            dataset, matches_of_text(ids, names, typed), looked_at.append
        )
        assert (entry.text, entry.note) == ("word 60000", "60000")
        entry.act()
    assert looked_at == [60_000] * 2
    for typed in ("", "60001", "word", "2"):  # the first ones are listed anyway
        assert not matches_of_text(ids, names, typed)
