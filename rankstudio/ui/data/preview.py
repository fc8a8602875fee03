"""The rows of a dataset as a table that reads them where they are: nothing is copied."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from rankstudio.engine.data.dataset import RankingDataset

_Index = QModelIndex | QPersistentModelIndex
_FIRST = ("relevance", "query")
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class PreviewModel(QAbstractTableModel):
    """Documents as rows: relevance, query, one column a feature, comment.

    Parameters
    ----------
    dataset : RankingDataset
    parent : QWidget, optional
    """

    def __init__(self, dataset: RankingDataset, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data = dataset

    def rowCount(self, parent: _Index | None = None) -> int:
        """Return the number of documents."""
        return 0 if parent is not None and parent.isValid() else self._data.n_documents

    def columnCount(self, parent: _Index | None = None) -> int:
        """Return the number of features and three more."""
        return 0 if parent is not None and parent.isValid() else self._data.n_features + 3

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, or how it stands."""
        row, column = index.row(), index.column() - len(_FIRST)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column < self._data.n_features and column != -1 else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and column >= 0:
            return (
                self._comment(row)
                if column == self._data.n_features
                else repr(float(self._data.X[row, column]))
            )
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if column == -2:
            return f"{self._data.y[row]:g}"
        if column == -1:
            return self._data.query_ids[int(self._data.query_index[row])]
        return f"{self._data.X[row, column]:.4g}" if column < self._data.n_features else self._comment(row)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Return a column's feature id, with its name as tooltip, or a row's number from 1."""
        if orientation == Qt.Orientation.Vertical:
            return f"{section + 1:,}" if role == Qt.ItemDataRole.DisplayRole else None
        column = section - len(_FIRST)
        is_feature = 0 <= column < self._data.n_features
        if role == Qt.ItemDataRole.ToolTipRole and is_feature:
            return f"{self._data.feature_ids[column]} {self._data.feature_names[column]}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if is_feature or section == 0 else _LEFT
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if column < 0:
            return _FIRST[section]
        return str(self._data.feature_ids[column]) if is_feature else "comment"

    def _comment(self, row: int) -> str:
        return self._data.comments[row] if row < len(self._data.comments) else ""


def preview_table(dataset: RankingDataset) -> QTableView:
    """Return a table over the rows of a dataset."""
    table = QTableView()
    table.setObjectName("preview-table")
    table.setAccessibleName("Documents")
    table.setModel(PreviewModel(dataset, table))
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
    table.setColumnWidth(dataset.n_features + len(_FIRST), 420)
    return table
