"""Statistics of the data: every feature, documents per query, the rows themselves."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableView, QTabWidget

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.summary import DatasetSummary
from rankstudio.ui.data.preview import preview_table
from rankstudio.ui.plots.histogram import HistogramPlot
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, Panel, TableView
from rankstudio.ui.widgets.layout import fill, named

NOTHING = "Open a dataset to see what is in it."


def _number(value: float) -> str:
    return f"{value:.6g}".replace("-", "−")


_COLUMNS = (
    Column("feature_id", "id", "right", width=50, tone="muted"),
    Column("name", "feature", stretch=True, tone=lambda row: "muted" if row.constant else "text"),
    Column("minimum", "min", "right", _number, width=96),
    Column("maximum", "max", "right", _number, width=96),
    Column("mean", "mean", "right", _number, width=96),
    Column("zeros", "zeros", "right", ".1%", tooltip="Share of documents in which it is 0", width=78),
    Column("missing", "missing", "right", ",", tooltip="Values that were missing in the files", width=82),
    Column(
        "constant",
        "",
        value=lambda row: "constant" if row.constant else "",
        tooltip="One value within every query: it cannot change any ranking",
        tone="warning",
        width=86,
    ),
)


class StatisticsPanel(Panel):
    """Feature statistics, documents per query, and the rows.

    Parameters
    ----------
    theme : Theme
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Statistics", padding=0)
        self.setObjectName("statistics-panel")
        self.table = TableView(theme, _COLUMNS, "statistics-table", lambda row: row.feature_id)
        self.table.setAccessibleName("Statistics of the features")
        self.table.placeholder = NOTHING
        self.sizes = HistogramPlot(theme, "queries", "documents in the query")
        named(self.sizes, "query-sizes-plot")
        self._headline = named(PlainLabel(), role="muted")
        self._headline.setWordWrap(True)
        self._headline.setContentsMargins(12, 8, 12, 4)
        self._headline.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._headline.hide()
        self._rows: QTableView | None = None
        self._tabs = named(QTabWidget(), "statistics-tabs")
        self._tabs.addTab(self.table, "Features")
        self._tabs.addTab(self.sizes, "Documents per query")
        fill(self.body, self._headline, (self._tabs, 1), spacing=0)

    def show_summary(self, what: str, summary: DatasetSummary, part: RankingDataset | None) -> None:
        """Show what is known of some documents.

        Parameters
        ----------
        what : str
            Which documents are described: "MQ2008, training documents of fold 4".
        summary : DatasetSummary
        part : RankingDataset or None
            The documents themselves, for the rows; without them there is no such tab.
        """
        self.set_caption(what)
        self._headline.setText(_headline(summary))
        self._headline.show()
        self.table.set_rows(summary.features)
        self.sizes.set_numbers(summary.query_sizes)
        shown = self._tabs.currentIndex()
        self._show_rows(part)
        self._tabs.setCurrentIndex(min(shown, self._tabs.count() - 1))

    def clear(self) -> None:
        """Show nothing: it is not computed yet, or nothing is open."""
        self.set_caption("")
        self._headline.hide()
        self.table.set_rows(())
        self.sizes.set_numbers(())
        self._show_rows(None)

    def _show_rows(self, part: RankingDataset | None) -> None:
        if self._rows is not None:
            self._tabs.removeTab(self._tabs.indexOf(self._rows))
            self._rows.deleteLater()
            self._rows = None
        if part is not None:
            self._rows = preview_table(part)
            self._tabs.addTab(self._rows, "Documents")


def _headline(summary: DatasetSummary) -> str:
    sizes = summary.query_sizes
    return (
        f"{summary.n_documents:,} documents of {summary.n_queries:,} queries, "
        f"{sizes.min():,} to {sizes.max():,} documents a query, median {np.median(sizes):g}; "
        f"{summary.without_relevant:,} queries have no relevant document."
    )
