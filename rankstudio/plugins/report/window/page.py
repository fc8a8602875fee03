"""The Report page: question, notes and sections beside the preview."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rankstudio.plugins.report.window.controller import ReportController
from rankstudio.ui.language import tr
from rankstudio.ui.page.export_item import ExportItem, FormatWriter
from rankstudio.ui.page.page import Splitter, column, row
from rankstudio.ui.page.page_controller import PanelsOf
from rankstudio.ui.process.files_read import file_stem


class ReportPage(ReportController):
    """The Report page: the controller with the layout of its panels, and its entry in the dialog *Export*."""

    def lay_out(self, panels_of: PanelsOf) -> Splitter:  # noqa: D102 - inherited
        outline = column("report-outline", (self.words, 2, 290), (self.outline, 3, 450))
        return row("report", (outline, 0, 320), (self.preview, 1, 940))

    def export_items(self) -> Iterator[ExportItem]:
        """Yield the report, as HTML and as PDF, for the dialog *Export*."""
        # An empty `unavailable` means that the report can be exported.
        description = tr(
            "Results, tests, features and figures of all finished runs: what the Report page shows."
        )

        # The formats, and the name of the file, which is that of the data.
        formats = (("HTML", ".html"), ("PDF", ".pdf"))
        data = self._session.dataset
        name = file_stem(data.name if data is not None else "rankstudio")
        yield ExportItem(
            key="report",
            label=tr("Report"),
            help=description,
            formats=formats,
            stem=f"{name}-report",
            unavailable=""
            if self.request().runs
            else tr("The study has no finished run yet."),
            writers=tuple(
                FormatWriter(begin=partial(self.export, suffix=suffix))
                for _, suffix in formats
            ),
        )
