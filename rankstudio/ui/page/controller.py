"""Controllers that feed panels, and their messages to the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.export_item import ExportItem


class Controller(QObject):
    """Feeds panels, and turns what the user does there into changes of the models.

    It belongs to the page on which the first of them stands.

    Attributes
    ----------
    panels : tuple of QWidget
        What it feeds.
    failed : Signal(str)
        What went wrong, as a sentence.
    said : Signal(str)
        What has been done, as a sentence.
    """

    failed = Signal(str)
    said = Signal(str)
    panels: tuple[QWidget, ...] = ()

    @Slot()
    def update(self) -> None:
        """Show the present state: its page has become visible."""

    def export_items(self) -> Iterable[ExportItem]:
        """Return its own entries of the dialog *Export*, besides its tables and plots."""
        return ()

    def leave(self) -> None:
        """Stop work for hidden panels: its page is left."""


class OtherPages(Protocol):
    """The pages of the window: by their keys, and none where a page is absent.

    Attributes
    ----------
    window : QWidget
        Over which dialogs open; it tells what its own controllers say.
    """

    window: QWidget

    def find(self, key: str) -> Any:
        """Return the controller of a page; None if the page is absent."""

    def show_page(self, key: str) -> None:
        """Show a page."""


class CommandController(Controller):
    """Carries out commands of the window's menus.

    Parameters
    ----------
    models : Models
    window : QWidget
        Over which dialogs open.
    """

    warned = Signal(str)
    """A sentence of which the user should know."""
    pageAsked = Signal(str)
    """The panels to see are on the page of this key."""
    stateChanged = Signal()
    """Other commands may be possible now."""

    def __init__(self, models: Models, window: QWidget) -> None:
        super().__init__(window)
        self._models = models
        self._window = window

    @property
    def busy(self) -> bool:
        """Whether it works on something that the command *Stop* ends."""
        return False

    @Slot()
    def stop(self) -> None:
        """Stop its work; its findings stay."""

    def openers(self) -> Mapping[str, Callable[[str], object]]:
        """Return the functions that open files that are no data, by their kinds."""
        return {}

    def join(self, pages: OtherPages) -> None:
        """Connect with the pages, when the controllers of all are made and before any is laid out."""
