"""The Queries page: two models compared query by query, below the bar that chooses them."""

from __future__ import annotations

from PySide6.QtCore import QObject

from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.page import Splitter, column, row
from rankstudio.ui.page.page_controller import PanelsOf
from rankstudio.ui.queries.controller import QueriesController
from rankstudio.ui.style.theme import Theme


class QueriesPage(QueriesController):
    """Lays the panels of the queries out; they are hidden where there is nothing to compare."""

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(theme, models, parent)
        self.heads = {"queries": self.head}
        self.empty.pageAsked.connect(self.pageAsked)

    def lay_out(self, panels_of: PanelsOf) -> Splitter:  # noqa: D102 - inherited
        above = row("queries-above", (self.comparison, 2, 480), (self.list, 3, 840))
        below = row("queries-below", (self.ablation, 2, 480), (self.documents, 3, 840))
        content = column("queries", (above, 1, 380), (below, 1, 360))
        self.emptied.connect(content.setHidden)
        return content

    def refresh(self) -> None:  # noqa: D102 - inherited
        self.update()
