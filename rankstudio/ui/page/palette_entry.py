"""Something that the palette finds, on whichever page it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class PaletteEntry:
    """Something that can be found.

    Attributes
    ----------
    kind : str
        What it is, as it is shown: "command", "setting", "page", "method", "feature", "run", "query".
    text : str
    act : callable
        Called without arguments when it is chosen.
    note : str
        Shown behind the text: a key, an id.
    """

    kind: str
    text: str
    act: Callable[[], object]
    note: str = ""
