"""The Report page: what is written, which sections there are in which order, and how it will look."""

from __future__ import annotations

from rankstudio.engine.language import translatable
from rankstudio.engine.plugins.window_parts import WindowPage

PAGE = WindowPage(
    key="report",
    label=translatable("Report"),
    summary=translatable("The study as a single file to share"),
    icon="report",
    controller="rankstudio.ui.report.page:ReportPage",
    guide="tables-figures-reports.md#a-report",
)
