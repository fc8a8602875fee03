"""Statistics of the data in a window of their own: features, documents per query, the rows themselves."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QTabWidget, QVBoxLayout, QWidget

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.summary import DatasetSummary
from rankstudio.ui.data.preview import preview_table
from rankstudio.ui.plots.histogram import HistogramPlot
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import Column, TableView
from rankstudio.ui.widgets.layout import fill, named


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


class DataDetails(QDialog):
    """Feature statistics, documents per query, and the rows.

    Parameters
    ----------
    theme : Theme
    what : str
        Which documents are described: "MQ2008, training documents of fold 4".
    summary : DatasetSummary
    dataset : RankingDataset, optional
        For the rows; without it there is no such tab.
    parent : QWidget, optional
    """

    def __init__(
        self,
        theme: Theme,
        what: str,
        summary: DatasetSummary,
        dataset: RankingDataset | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        named(self, "data-details", role="bar")
        self.setWindowTitle(f"Statistics · {what}")
        self.table = TableView(theme, _COLUMNS, "statistics-table", lambda row: row.feature_id)
        self.table.setAccessibleName("Statistics of the features")
        self.table.set_rows(summary.features)
        self.sizes = _sizes_plot(theme, summary)
        tabs = named(QTabWidget(), "data-details-tabs")
        tabs.addTab(self.table, "Features")
        tabs.addTab(self.sizes, "Documents per query")
        if dataset is not None:
            tabs.addTab(preview_table(dataset), "Documents")
        fill(QVBoxLayout(self), _headline(what, summary), (tabs, 1), margins=(12, 12, 12, 12), spacing=8)
        self.resize(860, 620)


def _headline(what: str, summary: DatasetSummary) -> QLabel:
    sizes = summary.query_sizes
    label = PlainLabel(
        f"{what}: {summary.n_documents:,} documents of {summary.n_queries:,} queries, "
        f"{sizes.min():,} to {sizes.max():,} documents a query, median {np.median(sizes):g}; "
        f"{summary.without_relevant:,} queries have no relevant document."
    )
    label.setProperty("role", "muted")
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def _sizes_plot(theme: Theme, summary: DatasetSummary) -> HistogramPlot:
    plot = HistogramPlot(theme, "queries", "documents in the query")
    plot.setObjectName("query-sizes-plot")
    plot.set_numbers(summary.query_sizes)
    return plot
