"""A chip: a short sentence on a state that is not the usual one, with the ways out of it as links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy

from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ElidedLabel


class Chip(QFrame):
    """A text and links on a tinted ground; hidden while there is nothing to say.

    Parameters
    ----------
    name : str
        For the program and its tests.
    accessible_name : str
        What a screen reader calls it while it says nothing.
    """

    def __init__(self, name: str, accessible_name: str) -> None:
        super().__init__()
        named(self, name, accessible_name, role="chip")
        self._said = accessible_name
        self._text = named(ElidedLabel(), f"{name}-text")
        self._links: list[QPushButton] = []
        self._actions: dict[str, Callable[[], object]] = {}
        self._row = fill(QHBoxLayout(self), self._text, margins=(8, 0, 3, 0), spacing=1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    def say(self, text: str, ways_out: Mapping[str, Callable[[], object]]) -> None:
        """Show a text, and what a click on each link does; an empty text hides the chip."""
        self._actions = dict(ways_out)
        while len(self._links) < len(self._actions):
            self._links.append(self._link(len(self._links)))
        self._text.setText(f"{text} ·" if ways_out else text)
        for number, button in enumerate(self._links):
            label = list(self._actions)[number] if number < len(self._actions) else ""
            button.setText(label.replace("&", "&&"))
            button.setAccessibleName(label)
            button.setVisible(bool(label))
        self.setAccessibleName(text or self._said)
        self.setVisible(bool(text))

    def text(self) -> str:
        """Return the text, uncut; "" while it is hidden."""
        return "" if self.isHidden() else self._text.text().removesuffix(" ·")

    def links(self) -> list[QPushButton]:
        """Return the ways out that are offered."""
        return self._links[: len(self._actions)]

    def _take(self, number: int) -> None:
        """Carry out the present action of a link."""
        list(self._actions.values())[number]()

    def _link(self, number: int) -> QPushButton:
        button = named(QPushButton(), f"{self.objectName()}-link-{number}", role="chip-link")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(partial(self._take, number))
        self._row.addWidget(button)
        return button
