"""The table of a selection's features with all that says how sure each is."""

from __future__ import annotations

from rankstudio.ui.language import tr
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Panel


class EvidencePanel(Panel):
    """A row a feature: those of the selection, then those that are selected most often besides."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Evidence"), padding=0)
        self.setObjectName("evidence-panel")
