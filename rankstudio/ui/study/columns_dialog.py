"""The dialog that says what the columns of a table are: query, label, features."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.table_preview import TablePreview, columns_of
from rankstudio.ui.language import tr, trn
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.widgets.layout import fill, named

_SIZE = (760, 560)
_ROW = 27
_WIDEST, _VALUE = 260, 130  # of columns, in pixels


class ColumnsDialog(QDialog):
    """Shows the columns of a table with their first values, and asks what they are.

    Parameters
    ----------
    preview : TablePreview
    told : DataColumns
        What is known of the columns.
    problem : str
        Why it asks, as a sentence; "" where somebody wants to look.
    parent : QWidget, optional
    """

    def __init__(
        self, preview: TablePreview, told: DataColumns, problem: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        named(self, "columns-dialog", tr("Columns"))
        self.setWindowTitle(tr("Columns of {name}").format(name=preview.path.name))
        self._preview = preview
        self._features: set[int] = set()
        self._items: list[tuple[QTableWidgetItem, QTableWidgetItem]] = []
        self._problem = named(PlainLabel(problem), "columns-problem", role="warning")
        self._problem.setWordWrap(True)
        self._problem.setVisible(bool(problem))
        self._qid = named(QComboBox(), "columns-qid", tr("column of the query"))
        self._label = named(QComboBox(), "columns-label", tr("column of the relevance label"))
        self._part = named(QComboBox(), "columns-part", tr("column of the part: train, vali or test"))
        self._table = named(QTableWidget(), "columns-table", tr("columns and their first values"))
        self._count = named(PlainLabel(), "columns-count", role="muted")
        self._fill_boxes()
        self._fill_table()
        self._guess(told)
        self._lay_out()
        for box in (self._qid, self._label, self._part):
            box.currentIndexChanged.connect(self._refresh)
        self._table.itemChanged.connect(self._toggle)
        self._refresh()
        self.resize(*_SIZE)

    def columns(self) -> DataColumns:
        """Return what the user says of the columns."""
        names, told = self._preview.names, self._told()
        roles = set(self._roles())
        comment = self._comment()
        left_out = [
            name
            for i, name in enumerate(names)
            if i not in roles and i not in self._features and (i != comment or names.count(name) > 1)
        ]
        return columns_of(self._preview, told.qid, told.label, left_out, told.part)

    def _roles(self) -> tuple[int, int, int]:
        """Return the columns of query, label and part; -1 for none."""
        qid, label, part = (box.currentData() for box in (self._qid, self._label, self._part))
        return qid, label, part

    def _fill_boxes(self) -> None:
        self._qid.addItem(
            tr("as in {file}").format(file=self._preview.sizes) if self._preview.sizes else tr("choose …"), -1
        )
        self._label.addItem(tr("choose …"), -1)
        self._part.addItem(tr("none"), -1)
        for i, name in enumerate(self._preview.names):
            for box in (self._qid, self._label, self._part):
                box.addItem(name or tr("column {number}").format(number=i + 1), i)

    def _fill_table(self) -> None:
        """Show a row for each column of the file: its name, what it is, its first values."""
        names, rows = self._preview.names, self._preview.rows
        table = self._table
        table.setRowCount(len(names))
        table.setColumnCount(2 + len(rows))
        titles = [tr("column"), tr("is")]
        titles += [tr("document {number}").format(number=i + 1) for i in range(len(rows))]
        table.setHorizontalHeaderLabels(titles)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(_ROW)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        for i, name in enumerate(names):
            shown = QTableWidgetItem(name or tr("column {number}").format(number=i + 1))
            self._items.append((shown, QTableWidgetItem()))
            for j, item in enumerate(self._items[i]):
                table.setItem(i, j, item)
            for j, row in enumerate(rows):
                table.setItem(i, 2 + j, QTableWidgetItem(row[i]))
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)

    def _guess(self, told: DataColumns) -> None:
        """Set everything as it is told or recognised; a column of text is no feature."""
        preview = self._preview
        found = preview.recognised(told) or preview.recognised(DataColumns())
        names = list(preview.names)
        qid = found.qid if found else _index(names, told.qid)
        label = found.label if found else _index(names, told.label)
        part = found.part if found else _index(names, told.part)
        for box, position in ((self._qid, qid), (self._label, label), (self._part, part)):
            box.setCurrentIndex(box.findData(-1 if position is None else position))
        if told.features:
            self._features = {i for i, name in enumerate(names) if name in told.features}
        else:
            among = found.features if found else range(len(names))
            left = set(told.ignore)
            self._features = {i for i in among if not preview.is_text(i) and names[i] not in left}

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow(tr("&Query"), self._qid)
        form.addRow(tr("&Relevance label"), self._label)
        form.addRow(tr("&Part"), self._part)
        every = named(QPushButton(tr("&All numbers")), "columns-all", role="quiet")
        none = named(QPushButton(tr("&None")), "columns-none", role="quiet")
        every.clicked.connect(self._mark_all)
        none.clicked.connect(self._mark_none)
        row = fill(QHBoxLayout(), self._count, 1, every, none, spacing=8)
        self._buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel
        )
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        about = PlainLabel(
            tr(
                "{name} was read as {format}. Choose the query and label columns; only features are ticked."
            ).format(name=self._preview.path.name, format=self._preview.format.label)
        )
        about.setWordWrap(True)
        column = fill(QVBoxLayout(self), self._problem, about, form, margins=(16, 14, 16, 14), spacing=10)
        fill(column, (self._table, 1), row, self._buttons)

    def _comment(self) -> int | None:
        found = self._preview.recognised(self._told())
        return found.comment if found else None

    def _told(self) -> DataColumns:
        names = self._preview.names
        qid, label, part = self._roles()
        return DataColumns(
            names[qid] if qid >= 0 else "",
            names[label] if label >= 0 and label != qid else "",
            part=names[part] if part >= 0 and part not in (qid, label) else "",
        )

    @Slot()
    def _refresh(self) -> None:
        """Say of every column what it is by now."""
        (qid, label, part), comment = self._roles(), self._comment()
        blocked = self._table.blockSignals(True)
        n = 0
        for i in range(self._table.rowCount()):
            free = i not in (qid, label, part)
            is_feature = i in self._features and free
            n += is_feature
            name, role = self._items[i]
            flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
            name.setFlags(flags | Qt.ItemFlag.ItemIsUserCheckable if free else flags)
            name.setCheckState(Qt.CheckState.Checked if is_feature else Qt.CheckState.Unchecked)
            roles = {part: tr("part"), qid: tr("query"), label: tr("label")}
            other = tr("comment") if i == comment else tr("left out")
            role.setText(roles.get(i, tr("feature") if is_feature else other))
        self._table.blockSignals(blocked)
        self._table.resizeColumnsToContents()
        for j in range(self._table.columnCount()):
            self._table.setColumnWidth(j, min(self._table.columnWidth(j) + 12, _WIDEST if j == 0 else _VALUE))
        self._count.setText(trn("{n} feature", "{n} features", n).format(n=n))
        fine = (qid >= 0 or bool(self._preview.sizes)) and label >= 0 and qid != label and n > 0
        fine = fine and (part < 0 or part not in (qid, label))
        self._buttons.button(QDialogButtonBox.StandardButton.Open).setEnabled(fine)

    @Slot(QTableWidgetItem)
    def _toggle(self, item: QTableWidgetItem) -> None:
        if item.column() == 0:
            checked = item.checkState() == Qt.CheckState.Checked
            (self._features.add if checked else self._features.discard)(item.row())
            self._refresh()

    @Slot()
    def _mark_all(self) -> None:
        """Tick every column whose first values are numbers."""
        comment = self._comment()
        self._features = {
            i for i in range(len(self._preview.names)) if i != comment and not self._preview.is_text(i)
        }
        self._refresh()

    @Slot()
    def _mark_none(self) -> None:
        self._features = set()
        self._refresh()


def _index(names: list[str], name: str) -> int | None:
    return names.index(name) if name in names else None
