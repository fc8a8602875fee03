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
"""Function from the name of a column or row to the panels that other controllers add at its end."""


class PageController(Controller):
    """Controls the panels of a page, and lays them out.

    Subclasses are called with the theme, the models and a parent,
    before any page is laid out.

    Attributes
    ----------
    heads : Mapping of str to QWidget
        Lines at the top of pages, by the keys of the pages.
    places : Mapping of str to str
        Places in the user's guide that F1 opens, by the object names of
        the controller's panels.
    foot : QWidget or None
        Line at the bottom of the page.
    pageAsked : Signal(str)
        Another page is to be shown (its key).
    commandAsked : Signal(str)
        A command of the menus is to be carried out (its key).
    goOnAsked : Signal(object)
        An interrupted run is to go on (RunRecord).
    runsAsked : Signal(object)
        Plans are to be run and compared (tuple of Plan).
    stateChanged : Signal()
        Other commands may be possible now, or commands may have other names.
    progressShown : Signal()
        The displayed progress of the runs was updated.
    warned : Signal(str)
        A warning to the user (a sentence).
    offered : Signal(str, str, object)
        A message to the user, its level, and the functions of its
        buttons by their labels.
    withdrawn : Signal(str)
        A message is no longer to be shown.
    hinted : Signal(str)
        Description of what is under the mouse, for the status bar.
    choiceMoved : Signal()
        Models may now be inspected in another panel.
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
        """Return the panels that the controller adds at the end of a column or row of another page."""
        return ()

    def lay_out(self, panels_of: PanelsOf) -> Splitter:
        """Return the content of the page; called once, after the controllers of all pages are made."""
        raise NotImplementedError

    def join(self, pages: OtherPages) -> None:
        """Connect with other pages; called after all controllers are made and before any page is laid out."""

    def join_workspace(self, area: QWidget) -> None:
        """Connect with the area that contains all pages."""

    def serve(self, page: Page) -> None:
        """Connect with a page, of this or another controller; called once the page is made."""

    def choosing(self) -> Sequence[tuple[Panel, Callable[[], bool]]]:
        """Return panels in which models are inspected, each with a function whether this is so now."""
        return ()

    def commands(self) -> Mapping[str, Callable[[], object]]:
        """Return the functions of the controller's menu commands, by the keys of the commands."""
        return {}

    def openers(self) -> Mapping[str, Callable[[str], object]]:
        """Return functions that open other files than data, by the kind of file; each takes a path."""
        return {}

    def command_names(self) -> Mapping[str, str]:
        """Return the present names, with mnemonics, of commands whose names change, by their keys."""
        return {}

    def checked_commands(self) -> Mapping[str, bool]:
        """Return whether each checkable command is checked, by the keys of the commands."""
        return {}

    def palette_entries(self) -> Iterable[PaletteEntry]:
        """Return the entries of the page in the command palette; called only while data are open."""
        return ()

    def matches_of_text(self, typed: str) -> Iterable[PaletteEntry]:
        """Return the entries that match a typed text, of entries too numerous for :meth:`palette_entries`."""
        return ()

    def show_runs(self) -> None:
        """Show the progress of the runs."""

    def close_down(self) -> None:
        """Store unsaved changes; called before the window closes."""

    def refresh(self) -> None:
        """Show the events of a run since the last call."""


def hide_where_empty(column: QSplitter) -> None:
    """Hide a column if all its panels are hidden, so that it leaves no gap; otherwise show it."""
    panels = (column.widget(position) for position in range(column.count()))
    column.setVisible(
        any(panel is not None and not panel.isHidden() for panel in panels)
    )
