"""Translations of the texts in the entries of plug-ins, from compiled gettext catalogs.

A plug-in translates its own texts only. A text stays in English where
the catalog is damaged, or where the translation is not one line or has
other fields for values than the text.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib.util import find_spec
from pathlib import Path
from string import Formatter

from rankstudio.engine.errors import one_line
from rankstudio.engine.language import tr
from rankstudio.engine.plugins.entries import warn_once
from rankstudio.engine.plugins.loader import plugins
from rankstudio.engine.plugins.plugin import LoadedPlugin

_PACKAGE_AND_FOLDER = re.compile(r"([A-Za-z_]\w*):((?:[\w-]+/)*[\w-]+)")
_MAX_BYTES = 1 << 20
_MAX_TEXTS = 10_000
_MAX_TEXT_LENGTH = 4000
_MAGIC = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}


def plugin_texts(language: str) -> dict[str, str]:
    """Return the translations of the texts of all plug-ins, by text.

    Where several plug-ins translate a text, the translation of the first one counts.

    Parameters
    ----------
    language : str
        Key of the language, such as "de".
    """
    translations: dict[str, str] = {}
    for loaded in plugins().loaded:
        if not loaded.plugin.texts:
            continue
        try:
            texts = _valid_translations(loaded, language)
        except (
            OSError,
            ValueError,
            ImportError,
            AttributeError,
            struct.error,
        ) as error:
            text = tr("The texts of the plug-in {name} stay in English: {reason}.")
            warn_once(text, name=loaded.plugin.name, reason=str(error).rstrip("."))
            continue
        # The translations of earlier plug-ins come last, and so win.
        translations = {**texts, **translations}
    return translations


def _valid_translations(loaded: LoadedPlugin, language: str) -> dict[str, str]:
    """Return the valid translations of a plug-in's own texts, by text.

    A translation is left out, with a warning, if it has fields for
    values that the text lacks. Raise ValueError for a damaged catalog.
    ``language`` is a key such as "de".
    """
    catalog = dict(read_catalog(_catalog_path(loaded.plugin.texts, language)))
    # Only texts that its entries show are translated, no other texts of the program.
    own_texts = set[str]()
    for field in fields(loaded.plugin):
        value = getattr(loaded.plugin, field.name)
        if isinstance(value, tuple | list):  # entries of one kind
            own_texts.update(_texts(value))
    valid = {
        text: catalog[text]
        for text in own_texts
        if text in catalog and is_translation(text, catalog[text])
    }
    # An empty translation is none yet, and no reason for a warning.
    refused_texts = sorted(
        text for text in own_texts if catalog.get(text) and text not in valid
    )
    if refused_texts:
        text = tr(
            "{n} translations of the plug-in {name} cannot be used, such as that of “{first}”."
        )
        warn_once(
            text,
            n=str(len(refused_texts)),
            name=loaded.plugin.name,
            first=refused_texts[0],
        )
    # Texts are also shown as parts of templates, where braces are doubled.
    with_double_braces = {
        _with_double_braces(text): _with_double_braces(translated)
        for text, translated in valid.items()
    }
    # A text itself precedes another one with doubled braces.
    return {**with_double_braces, **valid}


def _with_double_braces(text: str) -> str:
    """Return a text with its braces doubled.

    Texts of measures have doubled braces in sentences that are formatted later.
    """
    return text.replace("{", "{{").replace("}", "}}")


def _catalog_path(reference: str, language: str) -> Path:
    """Return the path of the first compiled catalog of a plug-in's translations to a language.

    ``reference`` is "package:folder", and the catalog is a file ``.mo``
    in the subfolder of the language. Raise ValueError for a reference
    of another form, or without a catalog.
    """
    match = (
        _PACKAGE_AND_FOLDER.fullmatch(reference) if isinstance(reference, str) else None
    )
    # The location of the package, None if it is not installed.
    spec = find_spec(match[1]) if match is not None else None
    if match is None or spec is None or not spec.submodule_search_locations:
        raise ValueError(
            tr("texts: expected “package:folder”, got {value}").format(value=reference)
        )
    folder = (
        Path(next(iter(spec.submodule_search_locations)))
        / match[2]
        / language
        / "LC_MESSAGES"
    )
    catalogs = sorted(folder.glob("*.mo"))
    if not catalogs:
        raise ValueError(tr("there is no file .mo in {folder}").format(folder=folder))
    return catalogs[0]


def read_catalog(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (text, translation) pairs of a compiled catalog.

    Texts with a context or a plural are left out.

    The counts and positions in the file are not trusted: the sizes of
    the file and of each text are limited.

    Parameters
    ----------
    path : Path
        File of gettext's format ``.mo``, in UTF-8.

    Raises
    ------
    ValueError, struct.error
        For a damaged, foreign or large file.
    """
    with path.open("rb") as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError(tr("{path} is larger than 1 MB").format(path=path))
    # The first four bytes mark the format and say the order of bytes, "<" or ">".
    order = _MAGIC.get(content[:4])
    if order is None:
        raise ValueError(tr("{path} is no compiled gettext catalog").format(path=path))
    # After magic and version: the number of texts, and where the tables
    # of texts and of translations start.
    count, text_table, translation_table = struct.unpack_from(f"{order}3I", content, 8)
    if count > _MAX_TEXTS:
        raise ValueError(
            tr("{path} has more than {most} texts").format(path=path, most=_MAX_TEXTS)
        )
    # An entry of a table is the length and the position of a text.
    for number in range(count):
        extent = struct.unpack_from(f"{order}2I", content, text_table + 8 * number)
        text = _decoded_text(content, extent, path)
        extent = struct.unpack_from(
            f"{order}2I", content, translation_table + 8 * number
        )
        translated = _decoded_text(content, extent, path)
        # gettext separates plurals by \0, and a context from its text by \4.
        has_plural_or_context = bool({"\0", "\4"} & {*text, *translated})
        if text and translated and not has_plural_or_context:
            yield text, translated


def _decoded_text(content: bytes, extent: tuple[int, ...], path: Path) -> str:
    """Return the text at an extent, which is the pair of its length and its start in bytes."""
    length, start = extent
    if length > _MAX_TEXT_LENGTH or start + length > len(content):
        raise ValueError(tr("{path} is damaged").format(path=path))
    return content[start : start + length].decode("utf-8")


def is_translation(text: str, translated: str) -> bool:
    """Return whether a translation is one line, and has no fields that its text lacks.

    Fields are those for values, such as "{name}": another field would
    fail when the text is shown.
    """
    if not translated or one_line(translated) != translated:
        return False
    text_fields = _format_fields(text)
    translated_fields = _format_fields(translated)
    # A text that cannot be formatted is shown as it is.
    return text_fields is None or (
        translated_fields is not None and translated_fields <= text_fields
    )


def _format_fields(text: str) -> set[tuple[str, str, str]] | None:
    """Return (name, format, conversion) of each field, as in "{n:.2f} of {m}".

    Return None if the braces do not match, so that the text cannot be formatted.
    """
    try:
        return {
            (name, form or "", conversion or "")
            for _, name, form, conversion in Formatter().parse(text)
            if name is not None
        }
    except ValueError:
        return None


def _texts(value: object) -> Iterator[str]:
    """Yield all texts in an entry of a plug-in, also in lists and entries within it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _texts(item)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _texts(getattr(value, field.name))
