"""Names and other texts of unknown origin in generated files: the one place that escapes them.

A feature name comes from a data file, a version from a study, and
either may be from another author. Each function below takes any text
and returns one that its target reads as text. Each is a single pass
over the characters with a list of allowed ones. No output is changed
again, so that no replacement can undo another.

============================================ =====================================================
Target                                       Function
============================================ =====================================================
comments in C, Python, SQL, TeX, RankLib     :func:`comment_text`
Python values                                ``repr``, which Python reads back
HTML: ``templates.py``, notebooks' tables    :func:`html_text`, :func:`paragraphs`
XML by ElementTree (PMML), figures, Excel    :func:`clean_text`; the library escapes markup
Markdown, notebooks' texts                   :func:`markdown_escaped`
LaTeX                                        :func:`latex_escaped`
BibTeX                                       :func:`bibtex_escaped`
shell commands                               :func:`shell_command`
JSON, TOML, CSV                              the libraries' own; formulas: :func:`guarded`
identifiers in SQL, C, PMML, Solr, Vespa, …  ``identifier`` of ``export/score_function.py``
============================================ =====================================================
"""

from __future__ import annotations

import csv
import re
import shlex
import string
from collections.abc import Iterator, Sequence
from html import escape
from typing import Literal
from unicodedata import category

from rankstudio.engine.support.resources import table

Comment = Literal["c", "python", "sql", "tex", "bibtex", "hash"]

_COMMENT_SIGNS: dict[Comment, frozenset[str]] = {
    # Without / no comment ends or begins, without \ and ? (trigraph
    # ??/) no line end disappears.
    "c": frozenset("!\"#$%&'()*+,-.:;<=>@[]^_`{|}~"),
    # Without : and = there is no "coding: utf-7", which would change
    # how the rest of the file is read.
    "python": frozenset("!\"#$%&'()*+,-./;<>?@[]^_`{|}~"),
    # Clients split at ;, fill in ?, :name, @name and $1, and obey
    # \commands, within comments, too.
    "sql": frozenset("!#%&()+,-.<=>[]^_{|}~"),
    "tex": frozenset(string.punctuation) - {"\\"},
    # BibTeX reads @ as the beginning of an entry, within comments, too.
    "bibtex": frozenset(string.punctuation) - {"\\", "@", "{", "}"},
    "hash": frozenset(string.punctuation) - {"\\", "{", "}"},
}
"""ASCII signs that are allowed in a comment, besides letters, digits and blanks."""

_MARKDOWN_SIGNS = frozenset(" \"%'(),-./:;=?@^{}+")
_LATEX_SIGNS = frozenset(" !'()+,-./:;=?@")
_LATEX = {**{sign: f"\\{sign}" for sign in "&%$#_{}"}, **table("export", "latex.toml")}
_MINUS = re.compile(r"(?<!\w)-(?=[\d.])")  # not the hyphen of a word
_SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_POWER = re.compile(
    r"(?P<base>\d*)(?:(?P<raised>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|(?<=\d)\^(?P<plain>[-−]?\d+))"
)

# A spreadsheet reads a cell that begins with one of these as a formula.
# In some countries it also splits cells at semicolons.
_CELL_START = r"(?:^|(?<=[;,\t\r\n]))"
_FORMULA_START = r"(?='*[=+\-@\t\r\n＝＋－＠])"
_GUARDED = re.compile(f"{_CELL_START}'{_FORMULA_START}")
_UNGUARDED = re.compile(f"{_CELL_START}{_FORMULA_START}")

# first letters of categories: letters, marks, numbers, signs, blanks
_DOCUMENT_CATEGORIES = frozenset("LMNPSZ")
# invisible, and harmless: they reorder nothing
_JOINERS = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
_UNUSABLE = "\ufffd"


def one_line(text: str) -> str:
    """Return a text as one line, with blanks for all invisible characters."""
    return "".join(
        c if _is_visible(c) else " " for c in " ".join(text.splitlines())
    ).strip()


def comment_text(text: str, kind: Comment) -> str:
    """Return a text for a comment of a kind of file, as one line.

    Characters with a meaning in such comments become blanks.
    """
    allowed = _COMMENT_SIGNS[kind]
    return "".join(
        c if c.isalnum() or c in allowed or ord(c) > 0x7F else " "
        for c in one_line(text)
    )


def clean_text(text: str) -> str:
    """Return a text without characters that are invalid in documents, or that reorder text."""
    # a window cleans thousands of such texts as it is made
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c in "\n\t" or _is_allowed_in_documents(c) else _UNUSABLE for c in text
    )


def html_text(text: str) -> str:
    """Return a text for HTML elements and attributes, with markup escaped."""
    return escape(clean_text(text))


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text as HTML; single line ends are kept."""
    for part in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        if part.strip():
            yield "<br>\n".join(
                html_text(line) for line in part.strip("\n").split("\n")
            )


def markdown_escaped(text: str) -> str:
    """Return a text for a line or a cell of Markdown: one line, with markup escaped."""
    return "".join(
        f"\\{c}" if c in string.punctuation and c not in _MARKDOWN_SIGNS else c
        for c in one_line(text)
    )


def latex_escaped(text: str) -> str:
    """Return a text for LaTeX as one line, with signs of markup escaped.

    Powers such as 2^0 and 2⁻¹⁰ are written in math mode.
    """
    text = one_line(text)
    parts: list[str] = []
    end = 0
    for power in _POWER.finditer(text):
        # "^10", or raised digits, which become plain ones.
        exponent = power["plain"] or power["raised"].translate(_SUPERSCRIPTS)
        parts += [
            _latex_text(text[end : power.start()]),
            f"${power['base']}^{{{exponent.replace('−', '-')}}}$",
        ]
        end = power.end()
    return "".join([*parts, _latex_text(text[end:])])


def bibtex_escaped(text: str) -> str:
    r"""Return a text for a value of BibTeX: LaTeX as one line, in which all braces match.

    BibTeX counts a brace after a backslash, so that ``\{`` is written
    as ``\textbraceleft{}``.
    """
    escaped = latex_escaped(text)
    return escaped.replace("\\{", r"\textbraceleft{}").replace(
        "\\}", r"\textbraceright{}"
    )


def shell_command(words: Sequence[str]) -> str:
    r"""Return a command as one line for a POSIX shell.

    Invisible characters are written as ``$'\033'``, because terminals
    would execute them when printed or pasted.
    """
    return " ".join(
        shlex.quote(w) if all(map(_is_visible, w)) else _escaped_word(w) for w in words
    )


def guarded(cell: object) -> object:
    """Return a cell of a CSV file that no spreadsheet executes.

    A text that a spreadsheet would read as a formula, such as
    ``=cmd|…``, gets an apostrophe in front. Other cells are returned
    unchanged.
    """
    if not isinstance(cell, str) or _is_number(cell):
        return cell
    return _UNGUARDED.sub("'", cell)


def unguarded(text: str) -> str:
    """Return a text without the apostrophe that protects a cell from spreadsheets."""
    return _GUARDED.sub("", text)


def csv_cells(line: str) -> list[str]:
    """Return the cells of a single line; an unclosed quotation mark ends with the line."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:  # a cell of more than 131,072 characters
        return []


def _latex_text(text: str) -> str:
    """Return a text without powers in LaTeX."""
    characters = (
        _LATEX.get(c, c if c.isalnum() or c in _LATEX_SIGNS or ord(c) > 0x7F else " ")
        for c in _MINUS.sub("−", text)
    )
    return "".join(characters)


def _escaped_word(word: str) -> str:
    r"""Return a word for a shell in quotes with escapes: ``$'na\303\257ve'``.

    Every byte of the result is printable, whatever is in the word.
    """
    # Other bytes are written as three octal digits.
    safe = string.ascii_letters + string.digits + "/._-+=:, "
    encoded = word.encode("utf-8", "surrogateescape")
    return (
        "$'"
        + "".join(chr(b) if chr(b) in safe else f"\\{b:03o}" for b in encoded)
        + "'"
    )


def _is_visible(character: str) -> bool:
    """Return whether a character is drawn, or is a blank within a line."""
    return character.isprintable() or category(character) == "Zs"


def _is_allowed_in_documents(character: str) -> bool:
    """Return whether a character may be in HTML and XML, and does not reorder others.

    Controls, and signs that change the direction of text, are not allowed.
    """
    # The category of Unicode, such as "Lu": "Co" are private
    # characters, "Cn" unassigned ones. The joiners are invisible, and
    # reorder nothing.
    code = ord(character)
    kind = category(character)
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code < 0xFDF0:  # noncharacters
        return False
    return (
        kind[0] in _DOCUMENT_CATEGORIES or kind in ("Co", "Cn") or character in _JOINERS
    )


def _is_number(text: str) -> bool:
    """Return whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
