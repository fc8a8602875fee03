"""Labels and tooltips that show texts of files as plain text.

Qt takes a text that looks like HTML for HTML, and loads its pictures. A
feature with the name ``<img src="/dev/zero">`` would otherwise be
loaded without end.
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
    """A label that shows its text as plain text, even if it looks like HTML.

    Parameters
    ----------
    text : str
    wraps : bool
        Whether a long text is continued in further lines.
    selectable : bool
        Whether the user can select the text with the mouse, to copy it.
    """

    def __init__(
        self, text: str = "", *, wraps: bool = False, selectable: bool = False
    ) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self.setWordWrap(wraps)
        if selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)


MOST_IN_TOOLTIP = 300
"""Most characters of a tooltip; the guide contains the full text."""


def shortened(text: str) -> str:
    """Return a text for a tooltip: a long text is cut after a sentence, and refers to the guide.

    The first sentence stays even if it is too long.
    """
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
    """Return a text for a tooltip or a question, so that Qt shows it as plain text.

    The text is escaped only if Qt would take it for HTML. Apply this
    function once, to the whole text.
    """
    if not Text.mightBeRichText(text):
        return text
    return f'<span style="white-space: pre-wrap">{html_text(text)}</span>'


def key_text(shortcuts: str) -> str:
    """Return the first of some shortcuts in the form of the user's system.

    The form is such as "⌘N" on macOS. Return "" without shortcuts.

    Parameters
    ----------
    shortcuts : str
        Shortcuts, separated by ";": "Ctrl++; Ctrl+=".
    """
    sequences = QKeySequence.listFromString(shortcuts)
    return (
        sequences[0].toString(QKeySequence.SequenceFormat.NativeText)
        if sequences
        else ""
    )
