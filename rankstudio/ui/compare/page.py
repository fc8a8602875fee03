"""The Compare page: the table of runs above their curves and the views of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar

from PySide6.QtCore import QObject

from rankstudio.ui.compare.controller import CompareController
from rankstudio.ui.compare.run_changes import RunChanges
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.model.run_queue import look_at
from rankstudio.ui.page.controller import OtherPages
from rankstudio.ui.page.page import Splitter, column, row
from rankstudio.ui.page.page_controller import PanelsOf
from rankstudio.ui.page.palette_entry import PaletteEntry
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel


class ComparePage(CompareController):
    """The Compare page: lays out the panels of the comparison, and has changes of runs stored.

    Attributes
    ----------
    changes : RunChanges
        Stores what the user changes of runs.
    """

    places: ClassVar[Mapping[str, str]] = {"runs-panel": "compare-methods.md#runs"}

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(theme, models, parent)
        self._models = models
        self.views.viewChosen.connect(self.choiceMoved)
        self.panel.several.clicked.connect(lambda: self.commandAsked.emit("comparison"))

    def join(self, pages: OtherPages) -> None:  # noqa: D102 - inherited
        self.changes = RunChanges(self._models, self.panel, pages.window)
        self.changes.offered.connect(self.offered)
        self.changes.withdrawn.connect(self.withdrawn)
        self.removalAsked.connect(self.changes.ask_removals)

    def lay_out(self, panels_of: PanelsOf) -> Splitter:  # noqa: D102 - inherited
        views = row("curves-views", (self.curves, 1, 640), (self.views, 1, 640))
        return column(
            "compare", (self.panel, 1, 320), (views, 1, 320), *panels_of("compare")
        )

    def choosing(self) -> Sequence[tuple[Panel, Callable[[], bool]]]:  # noqa: D102 - inherited
        return (self.curves, lambda: True), (
            self.views,
            lambda: self.views.key() == "pareto",
        )

    def commands(self) -> Mapping[str, Callable[[], object]]:  # noqa: D102 - inherited
        return {"export_table": self.table.open}

    def palette_entries(self) -> Iterator[PaletteEntry]:
        """Yield two entries of the command palette for each run: to show it, and to remove it."""
        session = self._session
        runs = self._runs
        for run in runs.records:
            title = tr("run {key} {title}").format(key=run.key, title=run.title)
            # An entry has a kind, a title, an action, and the data as a detail.
            yield PaletteEntry(
                tr("run"), title, partial(look_at, session, runs, run), run.dataset.name
            )
            delete = tr("Remove run {key} {title}").format(key=run.key, title=run.title)
            remove = partial(self.removalAsked.emit, (run,))
            yield PaletteEntry(tr("command"), delete, remove, run.dataset.name)

    def close_down(self) -> None:  # noqa: D102 - inherited
        self.changes.keep_choice()

    def refresh(self) -> None:  # noqa: D102 - inherited
        self.update()
