"""The dialogs of opening: which files or folder, and what the columns of a table are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QIdentityProxyModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Slot
from PySide6.QtGui import QAction, QIcon, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFileSystemModel,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.data_format import DataFormat
from rankstudio.engine.data.file_access import ENDINGS, without_ending
from rankstudio.engine.data.fold_files import is_part_file
from rankstudio.engine.data.formats.format_catalog import data_formats
from rankstudio.engine.data.table_preview import TablePreview, columns_of
from rankstudio.engine.data.tabular.recognition import QUERY_NAMES, original_names, plain_name, short
from rankstudio.ui.language import tr, trn
from rankstudio.ui.select.given_runs import model_filters
from rankstudio.ui.style.icons import icon
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.style.theme import Theme
from rankstudio.ui.widgets import TableView
from rankstudio.ui.widgets.columns import Column, tick_column
from rankstudio.ui.widgets.layout import fill, named

_TOOL_STYLE = "QToolButton { border: none; background: transparent; padding: 0; min-height: 22px; }"
_DATA_NAME = re.compile(
    r".*\.(txt|letor|dat|svm|svmlight|libsvm|csv|tsv|parquet|pq|feather|arrow|gz|bz2|xz|zst)", re.IGNORECASE
)
_TABLE_NAME = re.compile(r".*\.(csv|tsv|parquet|pq|feather|arrow)(\.(gz|bz2|xz|zst))?", re.IGNORECASE)
_FOLD_NAME = re.compile(r"fold[-_ ]?\d+", re.IGNORECASE)
_ICONS = {
    "dataset": "data",
    "fold": "sample",
    "study": "compare",
    "plan": "settings",
    "table": "features",
    "file": "report",
}
_VIEW_NAMES = ("listView", "treeView")
_ENTER_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def holds_data(folder: Path) -> bool:
    """Return whether a folder looks as if it could be opened as a dataset."""
    try:
        return bool(kind_of(folder)) or any(map(_looks_like_data, folder.iterdir()))
    except OSError:
        return False


def _format_of_plugin(path: Path) -> DataFormat | None:
    """Return the format of a plug-in whose ending the name of a file has, compressed or not."""
    name = without_ending(path.name).lower()
    of_plugins = (entry for entry in data_formats() if entry.package)
    return next((entry for entry in of_plugins if name.endswith(tuple(filter(None, entry.endings)))), None)


def _looks_like_data(path: Path) -> bool:
    """Return whether the name of a file is one of data."""
    return bool(_DATA_NAME.fullmatch(path.name)) or _format_of_plugin(path) is not None


def _file_filter(entry: DataFormat) -> str:
    """Return the filter of a format of a plug-in."""
    endings = [ending + packed for ending in entry.endings if ending for packed in ("", *ENDINGS)]
    return f"{entry.label} ({' '.join(f'*{ending}' for ending in endings)})"


def kind_of(path: Path) -> str:
    """Return the kind of a path: "dataset", "fold", "study", "plan", "table", "file", or "" for nothing."""
    try:
        if path.is_dir():
            inside = [*path.iterdir()]
            if any(_FOLD_NAME.fullmatch(child.name) for child in inside):
                return "dataset"
            return "fold" if any(map(is_part_file, inside)) else ""
    except OSError:
        return ""
    suffix = path.suffix.lower()
    by_suffix = {".rankstudio": "study", ".toml": "plan"}
    of_plugin = _format_of_plugin(path)
    if _TABLE_NAME.fullmatch(path.name) or (of_plugin is not None and of_plugin.is_table):
        return "table"
    return by_suffix.get(suffix, "file" if _looks_like_data(path) or is_part_file(path) else "")


class _IconModel(QIdentityProxyModel):
    """The files with icons of what they are; each is looked into once, when it is seen."""

    def __init__(self, icons: Mapping[str, QIcon], parent: QObject) -> None:
        super().__init__(parent)
        self._icons = icons
        self._kind = cache(kind_of)

    def data(
        self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """Return our icon for what can be opened, and all else as it is."""
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            path = super().data(index, int(QFileSystemModel.Roles.FilePathRole))
            kind_icon = self._icons.get(self._kind(Path(path))) if path else None
            if kind_icon is not None:
                return kind_icon
        return super().data(index, role)


class OpenDialog(QFileDialog):
    """Chooses a data file, the files of a fold, a folder with folds, a plan or a study.

    Qt's dialogs choose files or folders. This one opens a folder where it is a dataset or a fold, chosen or
    double-clicked, and goes into it where it is not.

    Parameters
    ----------
    theme : Theme
    parent : QWidget, optional
    folder : str
        Where to begin.
    """

    def __init__(self, theme: Theme, parent: QWidget | None, folder: str) -> None:
        super().__init__(parent, tr("Open a data file or a folder of folds"), folder)
        self.setObjectName("open-dialog")
        self.setOption(QFileDialog.Option.DontUseNativeDialog)
        self.setFileMode(QFileDialog.FileMode.ExistingFiles)
        of_plugins = [entry for entry in data_formats() if entry.package and entry.endings]
        self.setNameFilters(
            [
                tr("All files (*)"),
                tr("Text of LETOR or SVMlight (*.txt *.letor *.dat *.svm *.libsvm *.gz *.bz2 *.xz *.zst)"),
                tr("Tables (*.csv *.tsv *.parquet *.pq *.feather *.arrow *.jsonl *.json)"),
                tr("Plans (*.toml)"),
                *model_filters(),
                tr("Feature logs of search engines (*.json *.ndjson *.jsonl)"),
                tr("Studies (*.rankstudio)"),
                *map(_file_filter, of_plugins),
            ]
        )
        self._folder: str | None = None
        icons = {kind: icon(theme, name, "accent") for kind, name in _ICONS.items()}
        self.setProxyModel(_IconModel(icons, self))
        self._views = [v for v in self.findChildren(QAbstractItemView) if v.objectName() in _VIEW_NAMES]
        for view in self._views:
            view.installEventFilter(self)
            view.viewport().installEventFilter(self)
        self.resize(820, 520)
        self._take_on_the_theme()

    def accept(self) -> None:
        """Take the folder that is marked, or the files."""
        chosen = self.selectedFiles()
        if len(chosen) == 1 and Path(chosen[0]).is_dir() and holds_data(Path(chosen[0])):
            self._open_folder(chosen[0])
            return
        super().accept()

    def paths(self) -> list[str]:
        """Return the chosen paths."""
        return [self._folder] if self._folder else self.selectedFiles()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Open the dataset or the fold that is double-clicked, or that Enter is pressed on."""
        view = next((v for v in self._views if watched in (v, v.viewport())), None)
        index = _activated_index(view, event) if view is not None else QModelIndex()
        if index.isValid():
            path = index.siblingAtColumn(0).data(int(QFileSystemModel.Roles.FilePathRole))
            if path and kind_of(Path(path)) in ("dataset", "fold"):
                self._open_folder(path)
                return True
        return super().eventFilter(watched, event)

    def _open_folder(self, path: str) -> None:
        self._folder = path
        self.done(QDialog.DialogCode.Accepted)

    def _take_on_the_theme(self) -> None:
        """Give Qt's own buttons the look of ours."""
        for tool in self.findChildren(QToolButton):
            tool.setStyleSheet(_TOOL_STYLE)


def _activated_index(view: QAbstractItemView, event: QEvent) -> QModelIndex:
    """Return the index that is double-clicked or entered by key; an invalid index for any other event."""
    if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonDblClick:
        return view.indexAt(event.position().toPoint())
    if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _ENTER_KEYS:
        return view.currentIndex()
    return QModelIndex()


_DIALOG_SIZE = (760, 560)
_NAME_WIDTH = 200  # pixels of columns
_LONG_NAME_WIDTH = 340
_ROLE_WIDTH = 96
_VALUE_WIDTH = 110
_MAX_MEASURED_NAMES = 1000  # columns whose names decide how wide a field is
_MAX_JUDGES = 1000  # columns that are offered as labels of other judges; a menu has no room for more
_MAX_SHORT_NAME_LENGTH = 24  # characters that the column of names has room for


@dataclass(frozen=True)
class _Row:
    """A column of a file, and what it is taken for."""

    number: int
    name: str
    role: str
    is_feature: bool


class ColumnsDialog(QDialog):
    """Shows the columns of a table with their first values, and asks what they are.

    Parameters
    ----------
    theme : Theme
    preview : TablePreview
    specified : DataColumns
        What is known of the columns.
    problem : str
        Why it asks, as a sentence; "" where the user opened it.
    parent : QWidget, optional
    cell : str
        A text among numbers, which may stand for a missing value; "" for none.
    """

    def __init__(
        self,
        theme: Theme,
        preview: TablePreview,
        specified: DataColumns,
        problem: str = "",
        parent: QWidget | None = None,
        *,
        cell: str = "",
    ) -> None:
        super().__init__(parent)
        named(self, "columns-dialog", tr("Columns"))
        self.setWindowTitle(tr("Columns of {name}").format(name=preview.path.name))
        self._preview = preview
        self._features: set[int] = set()
        self._problem = named(PlainLabel(problem, wraps=True), "columns-problem", role="warning")
        self._problem.setVisible(bool(problem))
        self._qid = named(QComboBox(), "columns-qid", tr("column of the query"))
        self._no_queries = named(
            QCheckBox(tr("&No queries: one ranking")),
            "columns-no-queries",
            tr("No queries: one ranking"),
            tr("Read all documents as one ranking. Folds are then made of documents."),
        )
        self._label = named(QComboBox(), "columns-label", tr("column of the relevance label"))
        self._judges: set[int] = set()  # columns of labels beside the one in use
        self._others = named(
            QToolButton(),
            "columns-judges",
            tr("Labels of other judges"),
            tr("Labels that other judges gave the same documents. The Data page switches between them."),
        )
        self._part = named(QComboBox(), "columns-part", tr("column of the part: train, vali or test"))
        self._document = named(QComboBox(), "columns-document", tr("column of the document ids"))
        self._missing_texts = specified.missing_texts
        self._cell = cell
        self._is_missing = named(
            QCheckBox(tr('&Read "{text}" as missing').format(text=short(cell, 24).replace("&", "&&"))),
            "columns-missing",
            tr("Read this text as missing"),
            tr("Cells with this text have no value. The feature then stays in the data."),
        )
        self._is_missing.setVisible(bool(cell))
        name = tr("columns and their first values")
        self._table = TableView(
            theme, self._table_columns(), "columns-table", lambda row: row.number, accessible_name=name
        )
        self._count = named(PlainLabel(), "columns-count", role="muted")
        self._fill_boxes()
        self._guess(specified)
        self._lay_out()
        for box in (self._qid, self._label, self._part, self._document):
            box.currentIndexChanged.connect(self._refresh)
        self._is_missing.toggled.connect(self._take_missing)
        self._no_queries.toggled.connect(self._refresh)
        self._table.toggled.connect(self._toggle)
        self._table.failed.connect(self._count.setText)
        self._refresh()
        self.resize(*_DIALOG_SIZE)

    def columns(self) -> DataColumns:
        """Return the columns as the user describes them."""
        names = self._preview.names
        chosen = self._told()
        roles = {*self._roles(), *self._judges}
        used = {*roles, *self._features, self._comment()}
        left_out = [name for i, name in enumerate(names) if name and i not in used]
        features = sorted(self._features - roles)
        originals = original_names(names)
        without = set(left_out)
        repeats_left_out = any(originals[i] in without for i in features)
        return columns_of(
            self._preview,
            chosen.qid,
            chosen.label,
            left_out,
            chosen.part,
            no_queries=chosen.no_queries,
            labels=chosen.labels,
            document=chosen.document,
            missing_texts=chosen.missing_texts,
            features=[names[i] for i in features] if repeats_left_out else (),
        )

    def _roles(self) -> tuple[int, int, int]:
        """Return the columns of query, label and part; -1 for none."""
        qid, label, part = (box.currentData() for box in (self._qid, self._label, self._part))
        return -1 if self._no_queries.isChecked() else qid, label, part

    def _name(self, number: int) -> str:
        return self._preview.names[number] or tr("column {number}").format(number=number + 1)

    def _fill_boxes(self) -> None:
        """Fill the choices of columns for query, label, part and document, and the menu of judges."""
        self._qid.addItem(
            tr("as in {file}").format(file=self._preview.sizes) if self._preview.sizes else tr("choose …"), -1
        )
        self._label.addItem(tr("choose …"), -1)
        self._part.addItem(tr("none"), -1)
        self._document.addItem(tr("none"), -1)
        boxes = (self._qid, self._label, self._part, self._document)
        n_columns = len(self._preview.names)
        if n_columns > _MAX_MEASURED_NAMES:
            for box in boxes:
                box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        menu = QMenu(self._others)
        n_judges = 0
        for i in range(n_columns):
            name = self._name(i)
            for box in boxes:
                box.addItem(name, i)
            if n_judges < _MAX_JUDGES and not self._preview.is_text(i):
                action = menu.addAction(name.replace("&", "&&"))
                action.setCheckable(True)
                action.setData(i)
                n_judges += 1
        menu.triggered.connect(self._judge)
        self._others.setMenu(menu)
        self._others.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def _table_columns(self) -> list[Column]:
        """Return the table's columns on a column of the file: its name, its role, its first values."""
        has_long_names = any(len(name) > _MAX_SHORT_NAME_LENGTH for name in self._preview.names)
        return [
            tick_column(lambda row: row.is_feature, tr("Tick the features (Space)")),
            Column(
                "name", tr("column"), stretch=True, least=_LONG_NAME_WIDTH if has_long_names else _NAME_WIDTH
            ),
            Column("role", tr("is"), width=_ROLE_WIDTH),
            *(_document_column(number, values) for number, values in enumerate(self._preview.rows, 1)),
        ]

    def _guess(self, specified: DataColumns) -> None:
        """Set everything as it is given or recognised; a column of text is no feature."""
        preview = self._preview
        self._no_queries.setChecked(specified.no_queries)
        one_ranking = DataColumns(no_queries=True)  # tells all but the query
        layout = (
            preview.recognised(specified)
            or preview.recognised(DataColumns())
            or preview.recognised(one_ranking)
        )
        names = list(preview.names)
        query = specified.qid or next((name for name in names if plain_name(name) in QUERY_NAMES), "")
        qid = layout.qid if layout else _index_or_none(names, query)
        label = layout.label if layout else _index_or_none(names, specified.label)
        part = layout.part if layout else _index_or_none(names, specified.part)
        document = (
            layout.comment if layout and layout.comment_is_id else _index_or_none(names, specified.document)
        )
        chosen = {self._qid: qid, self._label: label, self._part: part, self._document: document}
        for box, position in chosen.items():
            box.setCurrentIndex(box.findData(-1 if position is None else position))
        self._judges = set(layout.judges if layout else ()) - {label}
        if specified.features:
            self._features = {i for i, name in enumerate(names) if name in specified.features}
        else:
            candidates = layout.features if layout else range(len(names))
            ignored = set(specified.ignore)
            self._features = {i for i in candidates if self._can_be_feature(i) and names[i] not in ignored}

    def _lay_out(self) -> None:
        form = QFormLayout()
        query = PlainLabel(tr("&Query"))
        query.setBuddy(self._qid)
        form.addRow(query, fill(QHBoxLayout(), (self._qid, 1), self._no_queries, spacing=8))
        form.addRow(tr("&Relevance label"), self._label)
        form.addRow(tr("Other &judges"), self._others)
        form.addRow(tr("&Part"), self._part)
        form.addRow(tr("&Document id"), self._document)
        all_button = named(QPushButton(tr("&All numbers")), "columns-all", role="quiet")
        none = named(QPushButton(tr("&None")), "columns-none", role="quiet")
        all_button.clicked.connect(self._mark_all)
        none.clicked.connect(self._mark_none)
        row = fill(QHBoxLayout(), self._count, 1, all_button, none, spacing=8)
        self._buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Open | QDialogButtonBox.StandardButton.Cancel
        )
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        about = PlainLabel(
            tr(
                "{name} was read as {format}. Choose the query and label columns; only features are ticked."
            ).format(name=self._preview.path.name, format=tr(self._preview.format.label)),
            wraps=True,
        )
        frame = named(QFrame(), role="panel")
        fill(QVBoxLayout(frame), self._table, margins=(1, 1, 1, 1))
        column = fill(QVBoxLayout(self), self._problem, about, form, margins=(16, 14, 16, 14), spacing=10)
        fill(column, self._is_missing, (frame, 1), row, self._buttons)

    def _comment(self) -> int | None:
        layout = self._preview.recognised(self._told())
        if layout is None or (layout.comment_is_id and self._document.currentData() < 0):
            return None
        return layout.comment

    def _told(self) -> DataColumns:
        names = self._preview.names
        qid, label, part = self._roles()
        document = self._document.currentData()
        missing_texts = self._missing_texts
        if self._cell and self._is_missing.isChecked():
            missing_texts = (*missing_texts, self._cell)
        labels = sorted({label, *self._judges} - {-1, qid, part}) if self._judges else []
        return DataColumns(
            names[qid] if qid >= 0 else "",
            names[label] if label >= 0 and label != qid else "",
            part=names[part] if part >= 0 and part not in (qid, label) else "",
            no_queries=self._no_queries.isChecked(),
            document=names[document] if document >= 0 and document not in (qid, label, part) else "",
            missing_texts=missing_texts,
            labels=tuple(names[i] for i in labels) if len(labels) > 1 else (),
        )

    @Slot()
    def _refresh(self) -> None:
        """Show the present role of every column."""
        (qid, label, part), comment = self._roles(), self._comment()
        is_one_ranking = self._no_queries.isChecked()
        self._judges -= {qid, label, part}
        for action in self._others.menu().actions():
            action.setChecked(action.data() in self._judges)
            action.setEnabled(action.data() not in (qid, label, part))
        judges = [self._label.itemText(self._label.findData(i)) for i in sorted(self._judges)]
        self._others.setText(", ".join(judges) or tr("none"))
        self._qid.setDisabled(is_one_ranking)
        features = self._features.difference((qid, label, part, *self._judges))
        said_id = tr("document id") if comment == self._document.currentData() else tr("comment")
        roles = {comment: said_id} | dict.fromkeys(features, tr("feature"))
        roles |= dict.fromkeys(self._judges, tr("other label"))
        roles |= {part: tr("part"), qid: tr("query"), label: tr("label")}
        rows = range(len(self._preview.names))
        self._table.set_rows(
            [_Row(i, self._name(i), roles.get(i, tr("left out")), i in features) for i in rows]
        )
        n = len(features)
        self._count.setText(trn("{n} feature", "{n} features", n).format(n=n))
        is_valid = (
            (qid >= 0 or is_one_ranking or bool(self._preview.sizes))
            and label >= 0
            and qid != label
            and n > 0
        )
        is_valid = is_valid and (part < 0 or part not in (qid, label))
        self._buttons.button(QDialogButtonBox.StandardButton.Open).setEnabled(is_valid)

    @Slot(QAction)
    def _judge(self, action: QAction) -> None:
        """Take a column as the label of another judge, or no longer."""
        (self._judges.add if action.isChecked() else self._judges.discard)(action.data())
        self._refresh()

    @Slot(object)
    def _toggle(self, row: _Row) -> None:
        """Take a column as a feature, or no longer; one that has another role or no name stays what it is."""
        if row.number not in (*self._roles(), *self._judges) and self._preview.names[row.number]:
            self._features ^= {row.number}
            self._refresh()

    @Slot(bool)
    def _take_missing(self, is_missing: bool) -> None:
        """Tick the columns that are numbers once a text is read as missing, or no longer."""
        columns = {i for i in range(len(self._preview.names)) if self._can_be_feature(i)}
        if is_missing:
            self._features |= {i for i in columns if self._preview.is_text(i, self._missing_texts)}
        else:
            self._features &= columns
        self._refresh()

    @Slot()
    def _mark_all(self) -> None:
        """Tick every column whose first values are numbers."""
        comment = self._comment()
        columns = range(len(self._preview.names))
        self._features = {i for i in columns if i != comment and self._can_be_feature(i)}
        self._refresh()

    def _can_be_feature(self, number: int) -> bool:
        """Return whether a column has a name, and numbers as far as they are shown."""
        missing_texts = self._missing_texts
        if self._cell and self._is_missing.isChecked():
            missing_texts = (*missing_texts, self._cell)
        return bool(self._preview.names[number]) and not self._preview.is_text(number, missing_texts)

    @Slot()
    def _mark_none(self) -> None:
        self._features = set()
        self._refresh()


def _document_column(number: int, values: Sequence[str]) -> Column:
    """Return the column with the values of one of the first documents."""
    title = tr("document {number}").format(number=number)
    return Column(f"document {number}", title, value=lambda row: values[row.number], width=_VALUE_WIDTH)


def _index_or_none(names: list[str], name: str) -> int | None:
    return names.index(name) if name in names else None
