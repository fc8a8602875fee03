"""Controllers that feed panels, and their messages to the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.export_item import ExportItem


class Controller(QObject):
    """Fills panels with contents, and turns what the user does in the panels into changes of the models.

    The controller belongs to the page that contains its first panel.

    Attributes
    ----------
    panels : tuple of QWidget
        The panels that the controller feeds.
    failed : Signal(str)
        Something went wrong (a sentence).
    said : Signal(str)
        Something has been done (a sentence).
    """

    failed = Signal(str)
    said = Signal(str)
    panels: tuple[QWidget, ...] = ()

    @Slot()
    def update(self) -> None:
        """Show the present state; called when the controller's page becomes visible."""

    def export_items(self) -> Iterable[ExportItem]:
        """Return the controller's entries of the dialog *Export*, without its tables and plots."""
        return ()

    def leave(self) -> None:
        """Stop work for hidden panels; called when the controller's page is left."""


class OtherPages(Protocol):
    """The pages of the window, which a controller finds by their keys.

    Attributes
    ----------
    window : QWidget
        The window over which dialogs open; it also shows the messages
        of its controllers.
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
        The window over which dialogs open.
    """

    warned = Signal(str)
    """A warning to the user (a sentence)."""
    pageAsked = Signal(str)
    """Another page is to be shown (its key)."""
    stateChanged = Signal()
    """Other commands may be possible now."""

    def __init__(self, models: Models, window: QWidget) -> None:
        super().__init__(window)
        self._models = models
        self._window = window

    @property
    def busy(self) -> bool:
        """Whether the controller does work that the command *Stop* ends."""
        return False

    @Slot()
    def stop(self) -> None:
        """Stop the controller's work; its results so far stay."""

    def openers(self) -> Mapping[str, Callable[[str], object]]:
        """Return functions that open other files than data, by the kind of file; each takes a path."""
        return {}

    def join(self, pages: OtherPages) -> None:
        """Connect with the pages; called after all controllers are made and before any page is laid out."""
