"""Base of all views of the Compare page, and of the views that plug-ins add."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.ui.background.on_demand import Computation
from rankstudio.ui.language import tr
from rankstudio.ui.model.run_record import RunRecord
from rankstudio.ui.style.shared import Shared
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Dot, Notice, Segmented, TableView
from rankstudio.ui.widgets.layout import fill, named

LEAST_PLOT = 44
"""Least height in pixels of a plot in a view, so that no view needs more room than the table of runs."""

ALL = "all"
ONE = "one"
"""The runs of a view: all runs on the same folds, or only the shown run."""

RUN_DOT = Column("dot", "", kind="dot", value=lambda row: Dot(row.key - 1), width=30)
"""Column of a run's color and marker in plots that compare runs; the key of a row is the run's number."""


class View(QWidget):
    """Base of the views of the Results panel.

    A view is one way to show the results of runs, such as a table of
    folds. It has its own caption and tools in the panel's header.

    Parameters
    ----------
    theme : Theme

    Attributes
    ----------
    captioned : Signal()
        The caption has changed.
    tools : tuple of QWidget
        Widgets in the panel's header while the view is shown.
    body : QVBoxLayout
        Layout of the contents of the view.
    hint : Notice
        Note on what the view could show if the data had other parts,
        such as a validation part.
    """

    captioned = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._caption = ""
        # widgets of the view that the panel shows in its header
        self.tools: tuple[QWidget, ...] = ()
        # a message above the contents
        self.hint = named(Notice(theme), "view-hint")
        bar = fill(QVBoxLayout(), self.hint, margins=(8, 0, 8, 8))
        self.body = fill(QVBoxLayout(self), bar, margins=(0, 0, 0, 0), spacing=0)

    def add_choice(
        self,
        options: Sequence[tuple[str, str]],
        name: str,
        object_name: str,
        tooltip: str,
    ) -> Segmented:
        """Add a choice to the panel's header, and return it.

        ``options`` are pairs of value and label. ``name`` is the name
        for screen readers, and ``object_name`` that of the widget.
        """
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
        """Return a table that can be exported; it has no columns yet.

        Parameters
        ----------
        key, label, about : str
            Key and name of the export, and a sentence on its contents.
        placeholder : str
            Text of the table while it has no rows.
        identity : callable
            Returns the identity of a row, by which the row is
            recognized after its contents have changed.
        accessible_name : str
            Name of the table for a screen reader.
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
    """Base of a plug-in's view of the shown run, in the panel of results.

    The view is a part of its tab while it suits the run.
    """

    def is_offered(self, record: RunRecord | None) -> bool:
        """Return whether the view has contents for the shown run."""
        raise NotImplementedError

    def computation_of(
        self, record: RunRecord | None, measure: str
    ) -> Computation | None:
        """Show the contents for the shown run at once and return None, or return their computation.

        ``record`` is the shown run, None without one, and ``measure``
        is the name of the measure in use.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class ComparedRuns:
    """The ticked runs of the shown group of comparable runs, with the run of comparison.

    Attributes
    ----------
    runs : Mapping of int to RunResult
        The runs by number, as they are measured now; without sealed test parts.
    titles : Mapping of int to str
        The titles of the runs, by number.
    reference : int or None
        Number of the reference run; None if the group is not ranked.
    measure : str
        Name of the measure by which the runs are compared.
    """

    runs: Mapping[int, RunResult]
    titles: Mapping[int, str]
    reference: int | None
    measure: str


class ContributedComparison(View):
    """Base of a plug-in's view of the ticked runs, in the panel of results.

    The runs are those of the shown group of comparable runs. The view
    is a part of its tab while it suits these runs.

    Attributes
    ----------
    optionsChanged : Signal()
        The user has changed an option of the view.
    """

    optionsChanged = Signal()

    def options(self) -> Hashable:
        """Return the options on which the contents depend, beside the runs."""
        return ()

    def is_offered(self, compared: ComparedRuns) -> bool:
        """Return whether the view has contents for these runs."""
        return compared.reference is not None and len(compared.runs) > 1

    def compare(self, compared: ComparedRuns) -> Computation | None:
        """Show the comparison of runs at once and return None, or return its computation."""
        raise NotImplementedError


def run_name(record: RunRecord) -> str:
    """Return the name of a run in captions: number, title and dataset."""
    return tr("run {key} · {title} on {name}").format(
        key=record.key, title=record.title, name=record.dataset.name
    )
