"""The Report page: question, notes and sections beside the preview."""

from __future__ import annotations

from rankstudio.ui.page.page import Splitter, column, row
from rankstudio.ui.page.page_controller import PanelsOf
from rankstudio.ui.report.controller import ReportController


class ReportPage(ReportController):
    """Lays the panels of the report out."""

    def lay_out(self, panels_of: PanelsOf) -> Splitter:  # noqa: D102 - inherited
        outline = column("report-outline", (self.words, 2, 290), (self.outline, 3, 450))
        return row("report", (outline, 0, 320), (self.preview, 1, 940))
