"""The Evidence page: how sure the selection is, below the tray of the set that is edited.

The Features page has a tray, too, and features are dragged there from any page.
"""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from rankstudio.ui.evidence.controller import EvidenceController
from rankstudio.ui.evidence.set_tray import SetTrayController
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import OtherPages
from rankstudio.ui.page.page import Page
from rankstudio.ui.style.theme import Theme


class EvidencePage(EvidenceController):
    """Connects the evidence with the tray, and both with other pages.

    Attributes
    ----------
    tray : SetTrayController
    """

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(theme, models, parent)
        self.tray = SetTrayController(theme, models, self, self)
        self.tray.pointedAt.connect(self.hinted)
        self.heads = dict(zip(("features", "evidence"), self.tray.trays, strict=True))
        self.panel.table.row_actions = lambda row: [
            *self.actions(row.feature),
            *self.tray.actions(row.feature),
        ]

    def join(self, pages: OtherPages) -> None:  # noqa: D102 - inherited
        select = pages.find("select")
        compare = pages.find("compare")
        queries = pages.find("queries")
        features = pages.find("features")
        if features is not None:
            for path in (features.features, features.path):
                path.offered = self.tray.actions
        if select is not None:
            self.comparisonShown.connect(select.stop_following)
        if compare is not None:
            self.comparisonShown.connect(lambda: self.pageAsked.emit("compare"))
            self.comparisonShown.connect(compare.panel.reveal)
        if queries is not None:
            self.queriesAsked.connect(lambda: self.pageAsked.emit("queries"))
            self.queriesAsked.connect(queries.list_training)
            self.panel.table.lists_queries = True

    def surround(self, area: QWidget) -> None:  # noqa: D102 - inherited
        self.tray.surround(area)

    def serve(self, page: Page) -> None:  # noqa: D102 - inherited
        self.tray.serve(page)
