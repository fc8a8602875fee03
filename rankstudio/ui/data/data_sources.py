"""The dialog on where to get datasets, made from a file of the program."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.support.resources import table
from rankstudio.ui.language import tr
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets.layout import fill, named

_SIZE = (680, 560)


class DataSources(QDialog):
    """A dialog that lists datasets with their contents, terms of use and addresses.

    Nothing is downloaded.

    The dialog is accepted if the user wants to open a folder.

    Parameters
    ----------
    theme : Theme
    parent : QWidget
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "data-sources", tr("Where to get data"))
        self.setWindowTitle(tr("Where to get data"))
        self._theme = theme
        page = named(QWidget(), role="page")
        column = fill(QVBoxLayout(page), margins=(16, 16, 16, 16), spacing=10)

        # The file has an entry for each dataset, a table of texts.
        for source in table("features", "sources.toml")["source"]:
            column.addWidget(_card(source))
        column.addStretch(1)
        scroll = named(QScrollArea(), "data-sources-list", tr("datasets"))
        scroll.setWidget(page)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        close_button = QPushButton(tr("Close"))
        open_button = named(
            QPushButton(tr("Open a folder…")), "data-sources-open", role="primary"
        )
        close_button.clicked.connect(self.reject)
        open_button.clicked.connect(self.accept)
        open_button.setDefault(True)
        buttons = fill(
            QHBoxLayout(),
            1,  # empty space at the left
            close_button,
            open_button,
            margins=(16, 10, 16, 14),
            spacing=8,
        )
        fill(QVBoxLayout(self), (scroll, 1), buttons, margins=(0, 0, 0, 0), spacing=0)
        self.resize(*_SIZE)


def _card(source: dict[str, str]) -> QFrame:
    """Return the card of one dataset: its contents, terms of use, citation and address.

    ``source`` is an entry of the program's file on where to get data:
    texts by their names. The text "open" says how to open the dataset.
    """
    card = named(QFrame(), accessible_name=source["name"], role="panel")
    column = fill(QVBoxLayout(card), margins=(14, 12, 14, 12), spacing=4)
    column.addWidget(named(PlainLabel(source["name"]), role="title"))
    for text, role in (
        (source["holds"], ""),
        (source["terms"], ""),
        (source["open"], "muted"),
    ):
        column.addWidget(_text(tr(text), role))
    column.addWidget(_text(tr("Cite: {cite}").format(cite=source["cite"]), "muted"))
    address = _text(source["address"])
    copy_button = named(
        QPushButton(tr("Copy address")),
        accessible_name=tr("Copy the address of {name}").format(name=source["name"]),
        role="quiet",
    )
    copy_button.clicked.connect(partial(_copy, source["address"]))
    column.addLayout(fill(QHBoxLayout(), (address, 1), copy_button, spacing=8))
    return card


def _text(text: str, role: str = "") -> PlainLabel:
    """Return a label with a text that wraps and can be selected.

    ``role`` is a variant of the style sheet, such as "muted".
    """
    return named(PlainLabel(text, wraps=True, selectable=True), role=role)


def _copy(address: str) -> None:
    """Put an address on the clipboard."""
    QGuiApplication.clipboard().setText(address)
