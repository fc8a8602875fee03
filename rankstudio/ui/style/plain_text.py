"""Text of files shown as text: Qt reads what looks like HTML as such, and loads the pictures that it names.

A feature called ``<img src="/dev/zero">`` would otherwise be a picture without an end.
"""

from __future__ import annotations

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as Text
from PySide6.QtWidgets import QLabel


class PlainLabel(QLabel):
    """A label that shows its text as it is, whatever it looks like.

    Parameters
    ----------
    text : str
    """

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)


def plain(text: str) -> str:
    """Return a text for a tooltip or a question, which Qt shows as it is.

    The same text, unless Qt would take it for rich text; then it is escaped. It is applied once, to the whole
    of what is shown.
    """
    if not Text.mightBeRichText(text):
        return text
    return f'<span style="white-space: pre-wrap">{escape(text)}</span>'
