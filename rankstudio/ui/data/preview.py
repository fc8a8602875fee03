"""The rows of a dataset as a table that reads them where they are: nothing is copied."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QShowEvent
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


class DocumentTable(QTableView):
    """A table over the rows of a dataset, which is made when somebody sees it."""

    def __init__(self) -> None:
        super().__init__()
        named(self, "preview-table", tr("Documents"))
        self._part: RankingDataset | None = None
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(29)
        rows.setStyleSheet("QHeaderView::section { border: none; }")
        columns = self.horizontalHeader()
        columns.setDefaultSectionSize(92)
        columns.setHighlightSections(False)
        columns.setFixedHeight(29)

    def show_part(self, part: RankingDataset) -> None:
        """Show other rows."""
        self._part = part
        if self.isVisible():
            self._fill()

    def showEvent(self, event: QShowEvent) -> None:
        """Show the rows that were given meanwhile."""
        self._fill()
        super().showEvent(event)

    def _fill(self) -> None:
        """Put the rows into the table, if these are others than it has."""
        part, before = self._part, self.model()
        if part is None or (isinstance(before, _Rows) and before.part is part):
            return
        self.setModel(_Rows(part, self))
        self.setColumnWidth(part.n_features + 2, 420)
        if before is not None:
            before.deleteLater()


class _Rows(ColumnModel):
    """The rows of a dataset."""

    def __init__(self, part: RankingDataset, parent: QObject) -> None:
        super().__init__(_columns(part), rows=range(part.n_documents), parent=parent)
        self.part = part
