"""Texts of others in HTML: nothing in them is markup, and every character may be in a page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape


def html_text(text: str) -> str:
    """Return a text for HTML: markup in it is text, and characters that no page may have are replaced."""
    return escape("".join(c if _is_allowed(c) else "\ufffd" for c in text))


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a text as HTML; a single line end within one is a line end."""
    for part in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        if part.strip():
            yield html_text(part.strip("\n")).replace("\n", "<br>\n")


def _is_allowed(character: str) -> bool:
    """Tell whether HTML may have a character: no control characters, surrogates or noncharacters."""
    code = ord(character)
    control = (code < 0x20 and character not in "\n\t") or 0x7F <= code < 0xA0
    return not (control or 0xD800 <= code < 0xE000 or 0xFDD0 <= code < 0xFDF0 or code & 0xFFFE == 0xFFFE)
