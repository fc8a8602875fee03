"""Translation of texts for users: the texts are English, and are looked up in a catalog if one is installed.

The window installs a catalog; the terminal and worker processes never
do, so their texts are English. A text is looked up where its sentence
is made: an error of the engine is in the language of the process that
raised it. A text that has to be in English in any language, such as a
report, is made inside
:func:`in_english`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from string import Formatter
from typing import Any

SOURCE = "en"
"""The language of the texts in the source."""

_english: ContextVar[bool] = ContextVar("english", default=False)


class _Language:
    """The language of this process, with the catalog in which its texts are looked up."""

    def __init__(self) -> None:
        self.key = SOURCE
        self.catalog = NullTranslations()
        # translations that the catalog lacks, by text
        self.added_texts: Mapping[str, str] = {}
        self.used = False  # whether a text was looked up already


_language = _Language()


class _NumberFormatter(Formatter):
    """Formatter that works as `str.format`, with the thousands separator of a language."""

    def __init__(self, separator: str) -> None:
        self._separator = separator

    def format_field(self, value: Any, format_spec: str) -> Any:
        """Return a formatted field, with the language's separator if its format has the option ``,``."""
        text = format(value, format_spec)
        return text.replace(",", self._separator) if "," in format_spec else text


class _Text(str):
    """A translated text, which groups the digits of its numbers as its language does."""

    __slots__ = ()

    def format(self, *args: object, **fields: object) -> str:
        """Return the text with its fields filled in."""
        return _NumberFormatter(thousands_separator()).vformat(self, args, fields)


def thousands_separator() -> str:
    """Return the sign between groups of three digits in the language of the process: "," in English."""
    return tr(",", "thousands separator")


def tr(text: str, context: str = "") -> str:
    """Return a text in the language of the process.

    Parameters
    ----------
    text : str
        English literal: catalogs are extracted from the source.
        Placeholders are names in braces, filled in by ``.format``.
    context : str
        Distinguishes two meanings of a word: "menu".

    Examples
    --------
    >>> from rankstudio.api import tr
    >>> tr("found {n} features").format(n=3)
    'found 3 features'
    """
    if not text or _english.get():  # gettext returns the header of the catalog for ""
        return text
    _language.used = True
    catalog = _language.catalog
    translated = catalog.pgettext(context, text) if context else catalog.gettext(text)
    # Texts of plug-ins are in catalogs of their own.
    if translated == text and not context:
        translated = _language.added_texts.get(text, text)
    return translated if _language.key == SOURCE else _Text(translated)


def translatable(text: str) -> str:
    """Return a text unchanged, but mark it for the catalogs: :func:`tr` translates it later."""
    return text


def trn(singular: str, plural: str, number: int) -> str:
    """Return the singular or plural text for a number, in the language of the process."""
    if _english.get():
        return singular if number == 1 else plural
    _language.used = True
    translated = _language.catalog.ngettext(singular, plural, number)
    return translated if _language.key == SOURCE else _Text(translated)


def either(texts: Sequence[str]) -> str:
    """Return "one, another or a third"."""
    return _joined(texts, tr("{first} or {last}"))


def together(texts: Sequence[str]) -> str:
    """Return "one, another and a third"."""
    return _joined(texts, tr("{first} and {last}"))


def _joined(texts: Sequence[str], pair: str) -> str:
    if len(texts) < 2:
        return "".join(texts)
    return pair.format(first=", ".join(texts[:-1]), last=texts[-1])


def language() -> str:
    """Return the key of the language of the process."""
    return _language.key


def install(key: str, catalog: Path | None = None) -> None:
    """Set the language of this process, before any text is translated.

    Texts that were translated earlier keep their language. That gives a
    `RuntimeWarning` and no error: a window in two languages is better
    than no window.

    Parameters
    ----------
    key : str
        Key of the language, such as "de".
    catalog : Path, optional
        Compiled catalog of the language; without a catalog, texts stay English.
    """
    if _language.used and key != _language.key:
        warnings.warn(
            f"Texts were looked up in {_language.key} before {key} was chosen.",
            RuntimeWarning,
            stacklevel=2,
        )
    _language.key = key
    if catalog is not None:
        with catalog.open("rb") as file:
            _language.catalog = GNUTranslations(file)


def add_texts(translations: Mapping[str, str]) -> None:
    """Add translations of texts that the catalog of the language does not have, such as those of plug-ins."""
    _language.added_texts = dict(translations)


@contextmanager
def in_english(english: bool = True) -> Iterator[None]:
    """Keep texts in English on this thread inside a ``with`` block.

    ``in_english(False)`` inside such a block returns to the language of the process.
    """
    before = _english.set(english)
    try:
        yield
    finally:
        _english.reset(before)
