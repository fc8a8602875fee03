"""The Evidence page: how sure the selection is, below a tray with the set of features that the user edits.

The Features page has a tray, too. Features can be dragged to a tray
from the tables of any page.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from rankstudio.plugins.evidence.window.controller import EvidenceController
from rankstudio.plugins.evidence.window.set_tray import SetTrayController
from rankstudio.ui.export.items import code_items
from rankstudio.ui.language import tr
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import OtherPages
from rankstudio.ui.page.export_item import ExportItem
from rankstudio.ui.page.page import Page
from rankstudio.ui.style.theme import Theme


class EvidencePage(EvidenceController):
    """The Evidence page: connects its panels with the trays of the edited set, and both with other pages.

    Attributes
    ----------
    tray : SetTrayController
        The set that the user edits.
    """

    def __init__(
        self, theme: Theme, models: Models, parent: QObject | None = None
    ) -> None:
        super().__init__(theme, models, parent)
        self.tray = SetTrayController(theme, models, self, self)
        self.tray.pointedAt.connect(self.hinted)

        # Each of two pages has a tray with the set of features at its top.
        self.heads = dict(zip(("features", "evidence"), self.tray.trays, strict=True))
        self.panel.table.row_actions = lambda row: [
            *self.actions(row.feature),
            *self.tray.actions(row.feature),
        ]

    def join(self, pages: OtherPages) -> None:  # noqa: D102 - inherited
        # Other pages may be missing: each is a plugin.
        select = pages.find("select")
        compare = pages.find("compare")
        queries = pages.find("queries")
        features = pages.find("features")
        if features is not None:
            # The menus of its rows offer to add a feature to the set.
            for path in (features.features, features.path):
                path.offered = self.tray.actions

        # When two runs are to be compared, the shown run stays, also if
        # another one is being computed.
        if select is not None:
            self.comparisonShown.connect(select.stop_following)
        if compare is not None:
            self.comparisonShown.connect(lambda: self.pageAsked.emit("compare"))
            self.comparisonShown.connect(compare.panel.reveal)
        if queries is not None:
            self.queriesAsked.connect(lambda: self.pageAsked.emit("queries"))
            self.queriesAsked.connect(queries.list_training)
            self.panel.table.lists_queries = True

    def export_items(self) -> Iterator[ExportItem]:
        """Yield a command, a program and a notebook as items of the dialog *Export*.

        Each of them gathers the evidence for the shown selection.
        """
        if self.evidence.model is not None:
            labels = {
                ".sh": tr("Evidence as a command"),
                ".py": tr("Evidence as Python"),
                ".ipynb": tr("Evidence as a notebook"),
            }
            # The reason is shown only if there is no code, as for a set
            # made by hand.
            reason = tr(
                "No evidence that a method gives: show the Evidence page of a run that selects features."
            )
            yield from code_items(
                "evidence-code", labels, self.evidence.as_code(), "evidence", reason
            )

    def join_workspace(self, area: QWidget) -> None:  # noqa: D102 - inherited
        self.tray.join_workspace(area)

    def serve(self, page: Page) -> None:  # noqa: D102 - inherited
        self.tray.serve(page)
