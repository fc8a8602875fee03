"""Base of all views of the Compare page, and of the views of one run that plug-ins add."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.ui.background.on_demand import Computation
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Dot, Notice, Segmented, TableView
from rankstudio.ui.widgets.layout import fill, named

LEAST_PLOT = 44
"""Least height in pixels of a plot here: in the smallest window no view needs more room than the runs do."""

ALL = "all"
ONE = "one"
"""The runs of a view: all on the same folds, or only the shown one."""

RUN_DOT = Column("dot", "", kind="dot", value=lambda row: Dot(row.key - 1), width=30)
"""The colour and marker that a run, whose number is a row's key, has in plots that compare runs."""


class View(QWidget):
    """One of the contents that the Results panel shows, and what its caption says meanwhile.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    captioned : Signal()
        The caption is another one.
    tools : tuple of QWidget
        What stands in the panel's header while the view is shown.
    body : QVBoxLayout
    hint : Notice
        What could be shown if the data had other parts.
    """

    captioned = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._caption = ""
        self.tools: tuple[QWidget, ...] = ()
        self.hint = named(Notice(theme), "view-hint")
        bar = fill(QVBoxLayout(), self.hint, margins=(8, 0, 8, 8))
        self.body = fill(QVBoxLayout(self), bar, margins=(0, 0, 0, 0), spacing=0)

    def add_choice(
        self, options: Sequence[tuple[str, str]], name: str, object_name: str, tooltip: str
    ) -> Segmented:
        """Return a choice that stands in the panel's header; options are pairs of value and label."""
        choice = named(Segmented(options, name), object_name, tip=tooltip)
        self.tools = (*self.tools, choice)
        return choice

    def add_table(
        self,
        key: str,
        label: str,
        about: str,
        placeholder: str,
        identity: Callable[[Any], Hashable],
        accessible_name: str,
    ) -> TableView:
        """Return a table without columns that can be exported.

        Parameters
        ----------
        key, label, about : str
            Of the export: its key, what it is called, and a sentence on what is in it.
        placeholder : str
            What the table says while it has no rows.
        identity : callable
            Of a row: what makes it the same row when its contents are others.
        accessible_name : str
            What a screen reader calls the table.
        """
        shared = Shared(key, label, about)
        return TableView(
            self._theme,
            (),
            f"{key}-table",
            identity,
            accessible_name=accessible_name,
            placeholder=placeholder,
            shared=shared,
        )

    def caption(self) -> str:
        """Return the caption: the content of the view, and how to act on it."""
        return self._caption

    def set_caption(self, caption: str) -> None:
        """Change the caption."""
        if caption != self._caption:
            self._caption = caption
            self.captioned.emit()


class ContributedView(View):
    """A view of the shown run, which is a part of its tab while the run has something for it."""

    def is_offered(self, record: RunRecord | None) -> bool:
        """Return whether the shown run has something for it."""
        raise NotImplementedError

    def look_at(self, record: RunRecord | None, measure: str) -> Computation | None:
        """Show the shown run, or return what is to be computed for that."""
        raise NotImplementedError


def run_name(record: RunRecord) -> str:
    """Return how the views name a run."""
    return tr("run {key} · {title} on {name}").format(
        key=record.key, title=record.title, name=record.dataset.name
    )
