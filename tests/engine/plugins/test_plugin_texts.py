"""Texts of plug-ins in German: their own ones only, and English where a catalog is damaged."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankstudio.api import Measure, Plugin
from rankstudio.engine import language
from rankstudio.engine.errors import PluginWarning
from rankstudio.engine.language import NullTranslations, add_texts, tr
from rankstudio.engine.plugins import entries, texts
from rankstudio.engine.plugins.loader import PluginSet
from rankstudio.engine.plugins.plugin import LoadedPlugin
from rankstudio.engine.plugins.texts import is_translation, plugin_texts, read_catalog

ROWS = {
    "Shares": "Anteile",
    "Share of {first} in %": "Anteil von {first} in %",
    "Open": "Hijacked",
    "Both {n} and {m}": "{n} {m} {x}",
    "Attribute {n}": "{n.__class__}",
    "Wide {n}": "{n:>99999999}",
    "Lines": "a\x1b[2J\nb",
}
MINE = Plugin(
    name="mine",
    measures=(
        Measure(
            "S",
            "Shares",
            "a:b",
            summary="Share of {first} in %",
            convention="Both {n} and {m}",
        ),
        Measure("T", "Attribute {n}", "a:b", summary="Wide {n}", convention="Lines"),
    ),
    texts="mine_texts:locale/all",
)


def catalog(rows: dict[str, str], order: str = "<") -> bytes:
    """Return a compiled catalog, as msgfmt writes one."""
    rows = {"": "Content-Type: text/plain; charset=UTF-8\n", **rows}
    pairs = [(a.encode(), b.encode()) for a, b in sorted(rows.items())]
    start = 28 + 16 * len(pairs)
    tables: list[bytes] = []
    content = b""
    for side in (0, 1):
        for pair in pairs:
            tables.append(
                struct.pack(f"{order}2I", len(pair[side]), start + len(content))
            )
            content += pair[side] + b"\0"
    head = struct.pack(
        f"{order}7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0
    )
    return head + b"".join(tables) + content


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The place of the catalog of a plug-in that alone is installed."""
    folder = tmp_path / "mine_texts" / "locale" / "all" / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (tmp_path / "mine_texts" / "__init__.py").write_text(
        "raise RuntimeError('imported')\n", encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    loaded = LoadedPlugin(MINE, "mine", "1")
    monkeypatch.setattr(texts, "plugins", lambda: PluginSet((loaded,)))
    monkeypatch.setattr(entries, "_given_warnings", set())
    yield folder / "mine.mo"


@pytest.mark.parametrize("order", ["<", ">"])
def test_own_texts_are_translated(
    file: Path, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    file.write_bytes(catalog(ROWS, order))
    with pytest.warns(PluginWarning, match="4 translations") as caught:
        found = plugin_texts("de")
    assert len(caught) == 1
    assert found == {
        "Shares": "Anteile",
        "Share of {first} in %": "Anteil von {first} in %",
        "Share of {{first}} in %": "Anteil von {{first}} in %",
    }
    monkeypatch.setattr(language._language, "key", "de")
    monkeypatch.setattr(language._language, "catalog", NullTranslations())
    monkeypatch.setattr(language._language, "added_texts", {})
    add_texts(found)
    assert tr("Shares") == "Anteile" and tr("Open") == "Open"
    assert tr("Share of {{first}} in %").format(first="x") == "Anteil von {first} in %"
    with language.in_english():
        assert tr("Shares") == "Shares"


def huge(number: int) -> bytes:
    return struct.pack("<7I", 0x950412DE, 0, number, 28, 28, 0, 0)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        b"\xde\x12\x04\x95",
        catalog(ROWS)[:200],
        huge(2**32 - 1),
        huge(5000),
        huge(1) + struct.pack("<2I", 2**30, 28),
        huge(1) + struct.pack("<2I", 4, 2**32 - 4),
        catalog({"Shares": "x" * 5000}),
        catalog({"Shares": "Anteile"}).replace(
            b"Anteile", b"\xff\xfe\xfd\xfc\xfb\xfa\xf9"
        ),
        catalog({"Shares": "Anteile"}) + bytes(1 << 20),
    ],
)
def test_a_damaged_catalog_is_one_warning(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.warns(PluginWarning) as caught:
        assert plugin_texts("de") == {}
    assert len(caught) == 1 and str(caught[0].message).isprintable()


def test_an_absent_catalog_is_one_warning(file: Path) -> None:
    with pytest.warns(PluginWarning):
        assert plugin_texts("de") == {}


@pytest.mark.parametrize(
    "place",
    ["nowhere:locale", "mine_texts:../x", "mine_texts:/etc", "os", "json.x:a", 7],
)
def test_odd_places_are_one_warning(
    file: Path, monkeypatch: pytest.MonkeyPatch, place: object
) -> None:
    odd = LoadedPlugin(Plugin(name="odd", texts=place), "odd", "1")  # type: ignore[arg-type]
    monkeypatch.setattr(texts, "plugins", lambda: PluginSet((odd,)))
    with pytest.warns(PluginWarning):
        assert plugin_texts("de") == {}


def test_contexts_and_plurals_are_passed_over(file: Path) -> None:
    file.write_bytes(
        catalog({"menu\4Shares": "x", "Shares\0Share": "a\0b", "Shares": "Anteile"})
    )
    assert dict(read_catalog(file)) == {"Shares": "Anteile"}


def test_fields_of_translations() -> None:
    assert is_translation("{a} of {b:g}", "{b:g}: {a}") and is_translation(
        "{a}", "fest"
    )
    assert (
        not is_translation("a", "{a}")
        and not is_translation("{a}", "{a!r}")
        and not is_translation("a", "")
    )
    assert is_translation("a}", "b{") and not is_translation("{a}", "{")
