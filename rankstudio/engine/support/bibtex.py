"""Entries of BibTeX: read, written, and told in a line of plain text.

The reader takes what RankStudio and plug-ins give: entries with values
in braces, in quotation marks, or as numbers, and lines of comments
between them. It has no ``@string`` and no ``#``, so that each entry can
be copied alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.support.escaping import bibtex_escaped, clean_text
from rankstudio.engine.support.resources import table

_START = re.compile(r"\s*@\s*(?P<kind>[A-Za-z]+)\s*\{\s*(?P<key>[^\s,{}]*)\s*,")
_FIELD_NAME = re.compile(r"\s*(?P<name>[A-Za-z][A-Za-z0-9_-]*)\s*=\s*")
_NUMBER = re.compile(r"[0-9]+")
_AFTER_VALUE = re.compile(r"\s*(?P<sign>[,}])")
_END = re.compile(r"\s*\}")
_BLANK_OR_COMMENTS = re.compile(r"(\s*%[^\n]*(\n|$))*\s*")
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._+/-]{0,99}")
_NOT_IN_KEYS = re.compile(r"[^a-z0-9]+")

# Accents of LaTeX, such as \"u or \c{c}, as Unicode's combining characters.
_COMBINING = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
}
_LETTERS = {
    "ss": "ß",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "aa": "å",
    "AA": "Å",
    "i": "ı",
    "textbraceleft": "{",
    "textbraceright": "}",
}
# What escaping.py writes for other characters; the longest first, as a
# part of it may be the LaTeX of another character.
_WRITTEN = {latex: sign for sign, latex in table("export", "latex.toml").items()}
_WRITTEN |= {"~": " ", "{": "", "}": "", "$": ""}
_LATEX = re.compile(
    "|".join(re.escape(latex) for latex in sorted(_WRITTEN, key=len, reverse=True)[:-4])
    + r"""
    |\\(?P<accent>[`'^~=."]|[urHvdck](?=[\s{]))\s*(?:\{\\?(?P<braced>[A-Za-z])\}|\\?(?P<letter>[A-Za-z]))
    |\\(?P<name>[A-Za-z]+)(?:\{\}|\s+|(?![A-Za-z]))
    |\\(?P<sign>[^A-Za-z])
    |[~{}$]
    """.replace("\n    ", "").replace("\n", ""),
)


@dataclass(frozen=True)
class BibEntry:
    """An entry of BibTeX.

    Attributes
    ----------
    kind : str
        "article", "misc", …; lower-case.
    key : str
        Key, by which texts cite the entry.
    fields : tuple of (str, str)
        Names and values in LaTeX, without outer braces.
    """

    kind: str
    key: str
    fields: tuple[tuple[str, str], ...]

    def value(self, name: str) -> str:
        """Return the value of a field in LaTeX; "" if the entry does not have the field."""
        return dict(self.fields).get(name, "")

    def plain(self, name: str) -> str:
        """Return the value of a field as plain text; "" if the entry does not have the field."""
        return plain_text(self.value(name))

    @property
    def text(self) -> str:
        """The entry as BibTeX, with a line for each field."""
        lines = [f"  {name} = {{{value}}},\n" for name, value in self.fields]
        return f"@{self.kind}{{{self.key},\n{''.join(lines)}}}\n"

    @property
    def line(self) -> str:
        """The entry as one line of plain text, such as for a list of references.

        Authors and year come first, then title, journal or book with
        volume, number and pages, note and address. Fields that are
        absent are left out.
        """
        # plain() gives a field without LaTeX, "" for an absent one;
        # value() as it is. Without a journal or book, a school or
        # publisher takes its place.
        year = self.plain("year")
        container = next(
            filter(None, map(self.plain, ("journal", "booktitle", *_PUBLISHERS))), ""
        )
        number = f"({self.plain('number')})" if self.value("number") else ""
        volume = f" {self.plain('volume')}{number}" if self.value("volume") else ""
        pages = f", {self.plain('pages')}" if self.value("pages") else ""
        doi = clean_text(self.value("doi"))
        address = f"https://doi.org/{doi}" if doi else clean_text(self.value("url"))
        parts = (
            f"{_authors_text(self.plain('author'))}{f' ({year})' if year else ''}",
            self.plain("title"),
            f"{container}{volume}{pages}",
            self.plain("note"),
            address,
        )
        return ". ".join(part.rstrip(".") for part in parts if part) + "."


_PUBLISHERS = ("school", "institution", "publisher", "howpublished")


def parse_bibtex(text: str) -> tuple[BibEntry, ...]:
    r"""Read entries of BibTeX.

    Parameters
    ----------
    text : str
        Entries, with blanks and lines of comments (``%``) between them.

    Returns
    -------
    tuple of BibEntry
        The entries in their order, with kinds and names of fields in
        lower case, and each value on one line.

    Raises
    ------
    ParameterError
        If the text is not BibTeX, names a field or a key twice, or has
        a value in which braces do not match.

    Examples
    --------
    >>> entry, = parse_bibtex('@article{peng2005feature, author = {Peng, H.}, year = 2005}')
    >>> entry.key, entry.value("year")
    ('peng2005feature', '2005')
    """
    bib_entries: dict[str, BibEntry] = {}
    position = _after(_BLANK_OR_COMMENTS, text, 0)  # behind blanks and comments
    while position < len(text):
        bib_entry, position = _parsed_entry(text, position)
        if bib_entry.key in bib_entries:
            raise _refusal(bib_entry.key, "every key once")
        bib_entries[bib_entry.key] = bib_entry
        position = _after(_BLANK_OR_COMMENTS, text, position)
    return tuple(bib_entries.values())


def bibtex_text(bib_entries: Iterable[BibEntry]) -> str:
    """Return entries as the text of a .bib file."""
    return "\n".join(bib_entry.text for bib_entry in bib_entries)


def made_entry(kind: str, key: str, **texts: str) -> BibEntry:
    """Return an entry of plain texts, which are escaped for LaTeX.

    Parameters
    ----------
    kind : str
        Kind of the entry, such as "article".
    key : str
        Words for the key; characters that keys cannot have are left out.
    **texts : str
        Values of the fields as plain text; empty ones are left out.
    """
    fields = tuple(
        (name, bibtex_escaped(text)) for name, text in texts.items() if text.strip()
    )
    return BibEntry(kind, key_of(key), fields)


def key_of(words: str) -> str:
    """Return words as a key of lower-case letters and digits: "greedy-rankrls-2010"."""
    ascii_words = unicodedata.normalize("NFKD", words.lower())
    key = _NOT_IN_KEYS.sub("-", ascii_words.encode("ascii", "ignore").decode())
    return key[:80].strip("-") or "untitled"


def plain_text(value: str) -> str:
    r"""Return a value in LaTeX as plain text: accents such as ``\"u`` as letters, without braces.

    Examples
    --------
    >>> plain_text(r'{LETOR} \& M{\"u}ller, pages 1--2')
    'LETOR & Müller, pages 1–2'
    """
    # A single pass, so that no sign is read as LaTeX twice.
    text = _LATEX.sub(_plain_sign, value)
    return clean_text(" ".join(text.split()))


def _plain_sign(match: re.Match[str]) -> str:
    """Return the plain text of a command or sign of LaTeX, for a match of its pattern.

    The groups of the match say what was found: a letter with an accent,
    a command with a name, an escaped sign, or one of the signs that
    LaTeX writes otherwise.
    """
    if match["accent"]:
        # The letter and a combining accent become one character.
        letter = (match["braced"] or match["letter"]) + _COMBINING[match["accent"]]
        return unicodedata.normalize("NFC", letter)
    # A command that is no letter is written by its name.
    if match["name"]:
        return _LETTERS.get(match["name"], match["name"])
    if match["sign"]:
        return match["sign"]
    # The remaining signs, such as "--" and "~".
    return _WRITTEN[match[0]]


def _authors_text(authors: str) -> str:
    """Return the authors of an entry as a text.

    That is "Geng, X.; Liu, T. and Li, H."; if the last author is
    "others", the text ends with "et al."
    """
    *first_authors, last = authors.split(" and ")
    if not first_authors:
        return last
    end = " et al." if last.strip() == "others" else f" and {last}"
    return f"{'; '.join(first_authors)}{end}"


def _parsed_entry(text: str, position: int) -> tuple[BibEntry, int]:
    """Return the entry of BibTeX at a position, and the position after it.

    Raise ParameterError if there is no valid entry.
    """
    # An entry begins with its kind and key: "@article{peng2005feature,".
    start = _START.match(text, position)
    if start is None or not _KEY.fullmatch(start["key"]):
        raise _refusal(text[position : position + 40], "@kind{key, field = {value}, …}")
    fields: dict[str, str] = {}
    position = start.end()
    for name, value, end in _fields(text, position):
        if name in fields:
            raise _refusal(name, f"every field of {start['key']} once")
        fields[name] = value
        position = end
    # Behind the brace that ends the entry.
    position = _after(_END, text, position)
    return BibEntry(
        start["kind"].lower(), start["key"], tuple(fields.items())
    ), position


def _fields(text: str, position: int) -> Iterator[tuple[str, str, int]]:
    """Yield (name, value, position after it and its comma) for each field of an entry.

    The first field begins at ``position``. Raise ParameterError for an
    invalid field. After the last field the generator ends.
    """
    # Errors quote the next 40 characters of the text.
    while _END.match(text, position) is None:
        name = _FIELD_NAME.match(text, position)
        if name is None:
            raise _refusal(text[position : position + 40], "field = {value}")
        value, position = _value(text, name.end())
        after = _AFTER_VALUE.match(text, position)
        if after is None:
            raise _refusal(text[position : position + 40], "a comma or } after a value")
        # The brace that ends the entry is left for the caller.
        position = after.end() if after["sign"] == "," else position
        yield name["name"].lower(), " ".join(value.split()), position


def _value(text: str, position: int) -> tuple[str, int]:
    """Return the value of a field at a position, and the position after it.

    The value is a number, or a text without its outer braces or
    quotation marks. Raise ParameterError for anything else.
    """
    # Errors quote the next 40 characters of the text.
    number = _NUMBER.match(text, position)
    if number is not None:
        return number[0], number.end()
    first = text[position : position + 1]
    if first not in ("{", '"'):
        raise _refusal(
            text[position : position + 40],
            "{value}, a text in quotation marks, or a number",
        )
    # A value ends at the sign outside of all inner braces. Backslashes
    # do not matter: BibTeX counts \{ as a brace.
    depth = 0
    closing = "}" if first == "{" else '"'
    for index in range(position + 1, len(text)):
        character = text[index]
        if character == closing and depth == 0:
            return text[position + 1 : index], index + 1
        depth += (character == "{") - (character == "}")
        if depth < 0:
            break
    raise _refusal(text[position : position + 40], "a value in which braces match")


def _after(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return the position after a pattern; raise ParameterError if it is not there."""
    match = pattern.match(text, position)
    if match is None:
        raise _refusal(text[position : position + 40], "} at the end of an entry")
    return match.end()


def _refusal(part: str, expected: str) -> ParameterError:
    """Return the error of a part of BibTeX."""
    return ParameterError("BibTeX", part, expected)
