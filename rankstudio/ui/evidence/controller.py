"""The Evidence page's controller: how sure the shown selection is, computed while the page is seen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from rankstudio.ui.evidence.evidence_panel import EvidencePanel
from rankstudio.ui.model.app_model import Models
from rankstudio.ui.page.controller import Controller
from rankstudio.ui.page.page import Splitter, column
from rankstudio.ui.style.theme import Theme


class EvidenceController(Controller):
    """Feeds the panels of the Evidence page.

    Parameters
    ----------
    theme : Theme
    models : Models
    """

    def __init__(self, theme: Theme, models: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.panel = EvidencePanel(theme)

    def lay_out(self) -> Splitter:
        """Return the panels, laid out."""
        return column("evidence", (self.panel,), (1,), (650,))

    @Slot()
    def update(self) -> None:
        """Show what is known of the selection that is looked at."""
