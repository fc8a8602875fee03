"""What feeds panels: what it tells the user, and which of its tables and plots can leave the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from rankstudio.ui.plots.base import Plot
from rankstudio.ui.widgets.table import TableView


@dataclass(frozen=True, eq=False)
class ShownTable:
    """A table that can be exported.

    Attributes
    ----------
    key : str
    label : str
        What it is called.
    about : str
        A sentence on what is in it.
    table : TableView
    """

    key: str
    label: str
    about: str
    table: TableView


@dataclass(frozen=True, eq=False)
class ShownPlot:
    """A plot that can be exported.

    Attributes
    ----------
    key : str
    label : str
        What it is called.
    plot : Plot
    compares : bool
        Whether it shows several runs rather than the one that is looked at.
    """

    key: str
    label: str
    plot: Plot
    compares: bool = False


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
        """Show what there is by now, where somebody sees it: its page is shown."""

    def leave(self) -> None:
        """Do no more for what nobody sees: its page is left."""

    def tables(self) -> Sequence[ShownTable]:
        """Return the tables that can be exported just now."""
        return ()

    def plots(self) -> Sequence[ShownPlot]:
        """Return the plots that can be exported just now."""
        return ()
