"""Text of files shown as text: Qt reads what looks like HTML as such, and loads the pictures that it names.

A feature called ``<img src="/dev/zero">`` would otherwise be a picture without an end.
"""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtGui import Qt as Text

from rankstudio.engine.support.escaping import html_text
from rankstudio.ui.language import tr
from rankstudio.ui.style.terms import TermLabel

_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z“])")


class PlainLabel(TermLabel):
    """A label that shows its text as it is, whatever it looks like.

    Parameters
    ----------
    text : str
    wraps : bool
        Whether it goes on in another line where it is too long.
    selectable : bool
        Whether the mouse can mark it, to be copied.
    """

    def __init__(self, text: str = "", *, wraps: bool = False, selectable: bool = False) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self.setWordWrap(wraps)
        if selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)


MOST_IN_TOOLTIP = 300
"""Characters; who wants to know more reads the guide."""


def shortened(text: str) -> str:
    """Return the first sentences of a text, as many as a tooltip takes, and where the rest is."""
    if len(text) <= MOST_IN_TOOLTIP:
        return text
    rest = " " + tr("More on the page Methods of the guide.")
    sentences = _SENTENCE_END.split(text)
    beginning = sentences[0]
    for sentence in sentences[1:]:
        if len(beginning) + 1 + len(sentence) + len(rest) > MOST_IN_TOOLTIP:
            break
        beginning += f" {sentence}"
    return beginning + rest


def plain(text: str) -> str:
    """Return a text for a tooltip or a question, which Qt shows as it is.

    The same text, unless Qt would take it for rich text; then it is escaped. It is applied once, to the whole
    of what is shown.
    """
    if not Text.mightBeRichText(text):
        return text
    return f'<span style="white-space: pre-wrap">{html_text(text)}</span>'


def key_text(shortcuts: str) -> str:
    """Return the first of some shortcuts as a person reads it; "" for none.

    Parameters
    ----------
    shortcuts : str
        As the program writes them, separated by ";": "Ctrl++; Ctrl+=".
    """
    first = QKeySequence.listFromString(shortcuts)[:1]
    return first[0].toString(QKeySequence.SequenceFormat.NativeText) if first else ""
