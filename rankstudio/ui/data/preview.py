"""The rows of a dataset as a table that reads them where they are: nothing is copied."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.ui.language import tr
from rankstudio.ui.widgets import Column, ColumnModel
from rankstudio.ui.widgets.layout import named


def _columns(data: RankingDataset) -> list[Column]:
    """Return the columns over the numbers of the documents: relevance, query, features, comment."""

    def comment(row: int) -> str:
        return data.comments[row] if row < len(data.comments) else ""

    return [
        Column("relevance", tr("relevance"), "right", "g", value=lambda row: data.y[row]),
        Column("query", tr("query"), value=lambda row: data.query_ids[int(data.query_index[row])]),
        *(_feature(data, column) for column in range(data.n_features)),
        Column("comment", tr("comment"), value=comment, hint=comment),
    ]


def _feature(data: RankingDataset, column: int) -> Column:
    number = str(data.feature_ids[column])
    return Column(
        number,
        number,
        "right",
        ".4g",
        value=lambda row: data.X[row, column],
        tooltip=f"{number} {data.feature_names[column]}",
        hint=lambda row: repr(float(data.X[row, column])),
    )


def preview_table(dataset: RankingDataset) -> QTableView:
    """Return a table over the rows of a dataset."""
    table = named(QTableView(), "preview-table", tr("Documents"))
    table.setModel(ColumnModel(_columns(dataset), rows=range(dataset.n_documents), parent=table))
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.setShowGrid(False)
    table.setWordWrap(False)
    rows = table.verticalHeader()
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    rows.setDefaultSectionSize(29)
    rows.setStyleSheet("QHeaderView::section { border: none; }")
    columns = table.horizontalHeader()
    columns.setDefaultSectionSize(92)
    columns.setHighlightSections(False)
    columns.setFixedHeight(29)
    table.setColumnWidth(dataset.n_features + 2, 420)
    return table
