"""The Queries page: two models compared query by query, below the bar that chooses them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QObject

from rankstudio.plugins.queries.window.controller import QueriesController
from rankstudio.ui.language import tr, trn
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.page import Splitter, column, row
from rankstudio.ui.page.page_controller import PanelsOf
from rankstudio.ui.page.palette_entry import PaletteEntry
from rankstudio.ui.style.theme import Theme

_MAX_FOUND_QUERIES = 5000  # with more queries, the palette lists none


class QueriesPage(QueriesController):
    """The Queries page: lays out its panels, which are hidden if there is nothing to compare."""

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(theme, models, parent)
        self.heads = {"queries": self.head}
        self.empty.pageAsked.connect(self.pageAsked)

    def lay_out(self, panels_of: PanelsOf) -> Splitter:  # noqa: D102 - inherited
        above = row("queries-above", (self.comparison, 2, 480), (self.list, 3, 840))
        below = row("queries-below", (self.ablation, 2, 480), (self.documents, 3, 840))
        content = column("queries", (above, 1, 380), (below, 1, 360))
        self.emptied.connect(content.setHidden)
        return content

    def palette_entries(self) -> Iterator[PaletteEntry]:
        """Yield the compared queries for the command palette, unless there are too many to search."""
        if len(self.queries) > _MAX_FOUND_QUERIES:
            return
        for query in self.queries:
            hint = trn(
                "{n_documents} document", "{n_documents} documents", query.n_documents
            )
            yield PaletteEntry(
                tr("query"),
                tr("query {query_id}").format(query_id=query.query_id),
                partial(self._show_found, query.fold, query.position),
                hint.format(n_documents=query.n_documents),
            )

    def _show_found(self, fold: int, position: int) -> None:
        """Show this page with a query."""
        self.pageAsked.emit("queries")
        self.show_query(fold, position)

    def refresh(self) -> None:  # noqa: D102 - inherited
        self.update()
