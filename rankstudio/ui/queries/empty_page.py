"""What stands in place of the Queries page where there is nothing to compare: a sentence, and a way on."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout

from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.widgets.layout import fill, named

_WAYS = {"select": tr("Choose and run a method"), "data": tr("Open the data")}
"""What the button says, by the page to which it leads."""


class EmptyPage(QFrame):
    """Says what is missing, perhaps with a button to the page where it is to be had; hidden where nothing is.

    Attributes
    ----------
    pageAsked : Signal(str)
        Key of the page to which the user wants to go.
    """

    pageAsked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        named(self, "query-empty-page", role="panel")
        self._page = ""
        self.sentence = named(PlainLabel(), "query-missing", role="caption")
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.sentence.setWordWrap(True)
        self.button = named(QPushButton(), "query-missing-button", role="primary")
        self.button.clicked.connect(lambda: self.pageAsked.emit(self._page))
        column = fill(QVBoxLayout(self), 2, self.sentence, margins=(16, 16, 16, 16), spacing=12)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        self.hide()

    def show_missing(self, why: str, page: str) -> None:
        """Say why there is nothing ("": nothing is missing), and offer a page where one helps."""
        self._page = page
        self.sentence.setText(why)
        self.button.setText(_WAYS.get(page, ""))
        self.button.setVisible(bool(page))
        self.setVisible(bool(why))
