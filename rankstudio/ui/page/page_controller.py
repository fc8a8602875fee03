"""Interface of a page to the frame around it: its layout, its commands, and what it asks of other pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSplitter, QWidget

from rankstudio.ui.page.controller import Controller, OtherPages
from rankstudio.ui.page.page import Page, Part, Splitter
from rankstudio.ui.page.palette_entry import PaletteEntry
from rankstudio.ui.widgets import Panel

PanelsOf = Callable[[str], Iterable[Part]]
"""From the name of a column or row to the panels that others put at its end."""


class PageController(Controller):
    """Controls the panels of a page, and lays them out.

    It is made with the theme, the models and a parent, before any page is laid out.

    Attributes
    ----------
    heads : Mapping of str to QWidget
        Lines at the top of pages, by the keys of the pages.
    places : Mapping of str to str
        Places of the guide by the object names of its panels.
    foot : QWidget or None
        Line at the bottom of the page.
    pageAsked : Signal(str)
        Another page is to be shown (its key).
    commandAsked : Signal(str)
        A command of the menus is to be carried out (its key).
    goOnAsked, runsAsked : Signal(object)
        A run is to go on where it was left (RunRecord), plans are to be run and compared (tuple of Plan).
    stateChanged : Signal()
        Other commands may be possible now, or be called otherwise.
    progressShown : Signal()
        How far the runs are was shown anew.
    warned : Signal(str)
        What the user should know, as a sentence.
    offered : Signal(str, str, object)
        A message with its level, and what buttons of it do by their labels.
    withdrawn : Signal(str)
        A message is not to be shown any more.
    hinted : Signal(str)
        What is under the mouse, for the status bar.
    choiceMoved : Signal()
        Models may be inspected in another panel now.
    """

    pageAsked = Signal(str)
    commandAsked = Signal(str)
    goOnAsked = Signal(object)
    runsAsked = Signal(object)
    stateChanged = Signal()
    progressShown = Signal()
    warned = Signal(str)
    offered = Signal(str, str, object)
    withdrawn = Signal(str)
    hinted = Signal(str)
    choiceMoved = Signal()
    heads: Mapping[str, QWidget] = {}
    places: ClassVar[Mapping[str, str]] = {}
    foot: QWidget | None = None

    def panels_of(self, column: str) -> Sequence[Part]:
        """Return the panels that it puts at the end of a column or row of another page."""
        return ()

    def lay_out(self, panels_of: PanelsOf) -> Splitter:
        """Return the content of the page; called once, when the controllers of all pages are made."""
        raise NotImplementedError

    def join(self, pages: OtherPages) -> None:
        """Connect with other pages, when the controllers of all are made and before any is laid out."""

    def surround(self, area: QWidget) -> None:
        """Take part in what happens in the area of all pages."""

    def serve(self, page: Page) -> None:
        """Take part in any page, once it is made."""

    def choosing(self) -> Sequence[tuple[Panel, Callable[[], bool]]]:
        """Return the panels in which models are inspected, each with what says whether they are just now."""
        return ()

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """Return the functions of menu commands here, by their keys."""
        return {}

    def openers(self) -> Mapping[str, Callable[[str], object]]:
        """Return the functions that open files that are no data, by their kinds; each takes a path."""
        return {}

    def command_names(self) -> Mapping[str, str]:
        """Return the present names of commands whose names change, with mnemonics, by their keys."""
        return {}

    def checked_commands(self) -> Mapping[str, bool]:
        """Return which commands that can be ticked are, by their keys."""
        return {}

    def palette_entries(self) -> Iterable[PaletteEntry]:
        """Return the entries of the page in the palette; called only with data."""
        return ()

    def asked_for(self, typed: str) -> Iterable[PaletteEntry]:
        """Return the entries that were typed, of those that are too many for the palette to list."""
        return ()

    def show_runs(self) -> None:
        """Show how far the runs are."""

    def close_down(self) -> None:
        """Store the changes that are not stored yet: the window is going to close."""

    def refresh(self) -> None:
        """Show the events of a run since the last time."""


def hide_where_empty(column: QSplitter) -> None:
    """Leave no gap where all panels of a column are hidden."""
    panels = (column.widget(position) for position in range(column.count()))
    column.setVisible(any(panel is not None and not panel.isHidden() for panel in panels))
