"""A chip: a short sentence on an unusual state, with links to actions that end the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy

from rankstudio.ui.widgets.layout import fill, named
from rankstudio.ui.widgets.panel import ElidedLabel


class Chip(QFrame):
    """A text with links on a tinted background.

    A chip is a short message in the window, hidden while the text is empty.

    Parameters
    ----------
    name : str
        Object name, for the program and its tests.
    accessible_name : str
        Name for a screen reader while there is no text.
    """

    def __init__(self, name: str, accessible_name: str) -> None:
        super().__init__()
        named(self, name, accessible_name, role="chip")
        self._default_name = (
            accessible_name  # the name for screen readers without a text
        )
        self._text = named(ElidedLabel(), f"{name}-text")
        self._links: list[QPushButton] = []
        self._actions: dict[str, Callable[[], object]] = {}
        self._row = fill(QHBoxLayout(self), self._text, margins=(8, 0, 3, 0), spacing=1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.hide()

    def say(self, text: str, actions: Mapping[str, Callable[[], object]]) -> None:
        """Show a text, and a link for each action; an empty text hides the chip.

        ``actions`` maps the label of each link to the function that a
        click on it calls. Links of earlier texts are used again, and
        those that are too many are hidden.
        """
        self._actions = dict(actions)
        while len(self._links) < len(self._actions):
            self._links.append(self._link(len(self._links)))
        self._text.setText(f"{text} ·" if actions else text)
        for number, button in enumerate(self._links):
            # "" for a link that is too many.
            label = list(self._actions)[number] if number < len(self._actions) else ""
            button.setText(label.replace("&", "&&"))
            button.setAccessibleName(label)
            button.setVisible(bool(label))
        self.setAccessibleName(text or self._default_name)
        self.setVisible(bool(text))

    def text(self) -> str:
        """Return the full text; "" while the chip is hidden."""
        return "" if self.isHidden() else self._text.text().removesuffix(" ·")

    def links(self) -> list[QPushButton]:
        """Return the links that are shown."""
        return self._links[: len(self._actions)]

    def _act(self, number: int) -> None:
        """Carry out the present action of a link, by its number."""
        list(self._actions.values())[number]()

    def _link(self, number: int) -> QPushButton:
        """Add a link to the chip, and return it.

        A click on it calls the action at position ``number``, from 0,
        of the actions that the chip then shows.
        """
        button = named(
            QPushButton(), f"{self.objectName()}-link-{number}", role="chip-link"
        )
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(partial(self._act, number))
        self._row.addWidget(button)
        return button
