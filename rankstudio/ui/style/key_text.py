"""Keys as they are called in the language of the window: "Strg+O" in German."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence


def key_text(shortcuts: str) -> str:
    """Return the first of some shortcuts as a person reads it; "" for none.

    Parameters
    ----------
    shortcuts : str
        As the program writes them, separated by ";": "Ctrl++; Ctrl+=".
    """
    first = QKeySequence.listFromString(shortcuts)[:1]
    return first[0].toString(QKeySequence.SequenceFormat.NativeText) if first else ""
