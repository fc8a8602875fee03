"""Entries of the command palette."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class PaletteEntry:
    """An entry of the command palette, found by its text.

    Attributes
    ----------
    kind : str
        Kind as shown to the user: "command", "setting", "page",
        "method", "feature", "run" or "query".
    text : str
    act : callable
        Called without arguments when the entry is chosen.
    note : str
        Note after the text, such as a shortcut or an id.
    """

    kind: str
    text: str
    act: Callable[[], object]
    note: str = ""
