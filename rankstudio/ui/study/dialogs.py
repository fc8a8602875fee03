"""The dialogs of opening data: the choice of files or a folder, and the columns of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QEvent,
    QIdentityProxyModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Slot,
)
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
from rankstudio.engine.data.tabular.recognition import (
    QUERY_NAMES,
    original_names,
    plain_name,
    short,
)
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
    r".*\.(txt|letor|dat|svm|svmlight|libsvm|csv|tsv|parquet|pq|feather|arrow|gz|bz2|xz|zst)",
    re.IGNORECASE,
)
_TABLE_NAME = re.compile(
    r".*\.(csv|tsv|parquet|pq|feather|arrow)(\.(gz|bz2|xz|zst))?", re.IGNORECASE
)
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
    """Return whether a folder probably is a dataset, by the names of the files in it."""
    try:
        return bool(kind_of(folder)) or any(map(_looks_like_data, folder.iterdir()))
    except OSError:
        return False


def _format_of_plugin(path: Path) -> DataFormat | None:
    """Return the data format of a plug-in that has the suffix of a file, which may be compressed.

    The file is at ``path``. Return None if no plug-in has such a format.
    """
    name = without_ending(path.name).lower()
    for entry in data_formats():
        if entry.package and name.endswith(tuple(filter(None, entry.endings))):
            return entry
    return None


def _looks_like_data(path: Path) -> bool:
    """Return whether the name of a file has the suffix of a data format."""
    return bool(_DATA_NAME.fullmatch(path.name)) or _format_of_plugin(path) is not None


def _file_filter(entry: DataFormat) -> str:
    """Return the filter of a plug-in's format for a file dialog: "Runs (*.run *.run.gz *.run.xz)".

    The dialog then lists files with the endings of the format, also
    compressed ones.
    """
    # A format without a suffix of its own may have "" among its
    # endings, which would let through all files.
    endings = [
        # An uncompressed file has "" as its second ending.
        ending + compressed
        for ending in entry.endings
        if ending
        for compressed in ("", *ENDINGS)
    ]
    return f"{entry.label} ({' '.join(f'*{ending}' for ending in endings)})"


def kind_of(path: Path) -> str:
    """Return the kind of a path, by the names of files alone.

    A folder is a "dataset" if it has folders of folds, and a "fold" if
    it has the files of one. Files are of the kinds "study", "plan",
    "table", or "file" for other data. The kind is "" for what cannot be
    opened, or not be read.
    """
    try:
        if path.is_dir():
            children = [*path.iterdir()]
            if any(_FOLD_NAME.fullmatch(child.name) for child in children):
                return "dataset"
            return "fold" if any(map(is_part_file, children)) else ""
    except OSError:
        return ""
    plugin_format = _format_of_plugin(path)
    if _TABLE_NAME.fullmatch(path.name) or (
        plugin_format is not None and plugin_format.is_table
    ):
        return "table"
    kinds_by_suffix = {".rankstudio": "study", ".toml": "plan"}
    suffix = path.suffix.lower()
    if suffix in kinds_by_suffix:
        return kinds_by_suffix[suffix]
    return "file" if _looks_like_data(path) or is_part_file(path) else ""


class _IconModel(QIdentityProxyModel):
    """The model of a file dialog, with icons for the kinds of files.

    The model finds the kind of each path, such as dataset or study, only once.
    """

    def __init__(self, icons: Mapping[str, QIcon], parent: QObject) -> None:
        super().__init__(parent)
        self._icons = icons
        self._kind = cache(kind_of)

    def data(
        self,
        index: QModelIndex | QPersistentModelIndex,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """Return RankStudio's own icon for a path that can be opened, and all other data as Qt has them.

        Qt calls it for each property (role) of each cell; the name,
        with the icon, is in column 0.
        """
        if role == Qt.ItemDataRole.DecorationRole and index.column() == 0:
            path = super().data(index, int(QFileSystemModel.Roles.FilePathRole))
            kind_icon = self._icons.get(self._kind(Path(path))) if path else None
            if kind_icon is not None:
                return kind_icon
        return super().data(index, role)


class OpenDialog(QFileDialog):
    """A dialog to choose a data file, the files of a fold, a folder with folds, a plan or a study.

    Qt's dialogs choose either files or folders. This dialog accepts a
    folder that is a dataset or a fold when the folder is chosen or
    double-clicked, and enters any other folder.

    Parameters
    ----------
    theme : Theme
    parent : QWidget, optional
    folder : str
        Folder that is shown first.
    """

    def __init__(self, theme: Theme, parent: QWidget | None, folder: str) -> None:
        super().__init__(parent, tr("Open a data file or a folder of folds"), folder)
        self.setObjectName("open-dialog")

        # The desktop's own dialog does not show our icons, and chooses
        # either files or folders.
        self.setOption(QFileDialog.Option.DontUseNativeDialog)
        self.setFileMode(QFileDialog.FileMode.ExistingFiles)
        plugin_formats = [
            # Formats of RankStudio itself belong to no package, and are
            # listed below.
            entry
            for entry in data_formats()
            if entry.package and entry.endings
        ]
        self.setNameFilters(
            [
                tr("All files (*)"),
                tr(
                    "Text of LETOR or SVMlight (*.txt *.letor *.dat *.svm *.libsvm *.gz *.bz2 *.xz *.zst)"
                ),
                tr(
                    "Tables (*.csv *.tsv *.parquet *.pq *.feather *.arrow *.jsonl *.json)"
                ),
                tr("Plans (*.toml)"),
                *model_filters(),
                tr("Feature logs of search engines (*.json *.ndjson *.jsonl)"),
                tr("Studies (*.rankstudio)"),
                *map(_file_filter, plugin_formats),
            ]
        )

        # Set if a folder is chosen; otherwise files are.
        self._chosen_folder: str | None = None
        icons = {kind: icon(theme, name, "accent") for kind, name in _ICONS.items()}
        self.setProxyModel(_IconModel(icons, self))

        # The lists of files; `eventFilter` gets their double clicks and keys.
        self._views = [
            v
            for v in self.findChildren(QAbstractItemView)
            if v.objectName() in _VIEW_NAMES
        ]
        for view in self._views:
            view.installEventFilter(self)
            view.viewport().installEventFilter(self)
        self.resize(820, 520)
        self._style_buttons()

    def accept(self) -> None:
        """Choose the selected folder if it has data in it, else the selected files.

        Qt would open the folder in the dialog instead.
        """
        # A folder without data is opened in the dialog.
        selected = self.selectedFiles()
        if (
            len(selected) == 1
            and Path(selected[0]).is_dir()
            and holds_data(Path(selected[0]))
        ):
            self._open_folder(selected[0])
            return
        super().accept()

    def paths(self) -> list[str]:
        """Return the chosen paths."""
        return [self._chosen_folder] if self._chosen_folder else self.selectedFiles()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Choose a folder with folds, or of one fold, by a double click or Enter on it.

        Return True for such an event, which Qt then does not handle: Qt
        would open the folder in the dialog. Other events are left to
        Qt.
        """
        # A list gets its keys itself, and its viewport gets the clicks.
        view = next((v for v in self._views if watched in (v, v.viewport())), None)
        index = _activated_index(view, event) if view is not None else QModelIndex()
        if index.isValid():
            path = index.siblingAtColumn(0).data(
                int(QFileSystemModel.Roles.FilePathRole)
            )
            if path and kind_of(Path(path)) in ("dataset", "fold"):
                self._open_folder(path)
                return True
        return super().eventFilter(watched, event)

    def _open_folder(self, path: str) -> None:
        """Choose a folder, and close the dialog."""
        self._chosen_folder = path
        self.done(QDialog.DialogCode.Accepted)

    def _style_buttons(self) -> None:
        """Give Qt's own buttons the look of the window's buttons."""
        for tool in self.findChildren(QToolButton):
            tool.setStyleSheet(_TOOL_STYLE)


def _activated_index(view: QAbstractItemView, event: QEvent) -> QModelIndex:
    """Return the index of the cell that the user activates by an event; an index is how Qt names a cell.

    The cell of ``view`` is the double-clicked one or, for Enter, the
    current one. For other events, the index is invalid.
    """
    if (
        isinstance(event, QMouseEvent)
        and event.type() == QEvent.Type.MouseButtonDblClick
    ):
        return view.indexAt(event.position().toPoint())
    if (
        isinstance(event, QKeyEvent)
        and event.type() == QEvent.Type.KeyPress
        and event.key() in _ENTER_KEYS
    ):
        return view.currentIndex()
    return QModelIndex()


_DIALOG_SIZE = (760, 560)
_NAME_WIDTH = 200  # widths of the table's columns in pixels
_LONG_NAME_WIDTH = 340
_ROLE_WIDTH = 96
_VALUE_WIDTH = 110
# with more columns, their names are not measured for the width of a choice
_MAX_MEASURED_NAMES = 1000
_MAX_JUDGES = 1000  # columns in the menu of other judges, which has no room for more
_MAX_SHORT_NAME_LENGTH = 24  # characters; longer names need a wider column


@dataclass(frozen=True)
class _Row:
    """A column of a file as a row of the dialog's table: its number, its name and its role."""

    number: int
    name: str
    role: str
    is_feature: bool


class ColumnsDialog(QDialog):
    """A dialog with the columns of a table and their first values, in which the user chooses their roles.

    Parameters
    ----------
    theme : Theme
    preview : TablePreview
        The columns and the first rows of the table.
    specified : DataColumns
        The roles that are known.
    problem : str
        Reason why the program asks, as a sentence; "" if the user opened the dialog.
    parent : QWidget, optional
    cell : str
        A text in a column of numbers, which may stand for a missing value; "" for none.
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
        self._problem = named(
            PlainLabel(problem, wraps=True), "columns-problem", role="warning"
        )
        self._problem.setVisible(bool(problem))
        self._qid = named(QComboBox(), "columns-qid", tr("column of the query"))
        self._no_queries = named(
            QCheckBox(tr("&No queries: one ranking")),
            "columns-no-queries",
            tr("No queries: one ranking"),
            tr("Read all documents as one ranking. Folds are then made of documents."),
        )
        self._label = named(
            QComboBox(), "columns-label", tr("column of the relevance label")
        )
        self._judges: set[int] = set()  # label columns of other judges
        self._judges_button = named(
            QToolButton(),
            "columns-judges",
            tr("Labels of other judges"),
            tr(
                "Labels that other judges gave the same documents. The Data page switches between them."
            ),
        )
        self._part = named(
            QComboBox(), "columns-part", tr("column of the part: train, vali or test")
        )
        self._document = named(
            QComboBox(), "columns-document", tr("column of the document ids")
        )
        self._missing_texts = specified.missing_texts
        self._cell = cell
        self._is_missing = named(
            QCheckBox(
                tr('&Read "{text}" as missing').format(
                    text=short(cell, 24).replace("&", "&&")
                )
            ),
            "columns-missing",
            tr("Read this text as missing"),
            tr(
                "Cells with this text have no value. The feature then stays in the data."
            ),
        )
        self._is_missing.setVisible(bool(cell))
        name = tr("columns and their first values")
        self._table = TableView(
            theme,
            self._table_columns(),
            "columns-table",
            lambda row: row.number,
            accessible_name=name,
        )
        self._count = named(PlainLabel(), "columns-count", role="muted")
        self._fill_boxes()
        self._preselect_roles(specified)
        self._lay_out()
        for box in (self._qid, self._label, self._part, self._document):
            box.currentIndexChanged.connect(self._refresh)
        self._is_missing.toggled.connect(self._on_missing_toggled)
        self._no_queries.toggled.connect(self._refresh)
        self._table.toggled.connect(self._toggle)
        self._table.failed.connect(self._count.setText)
        self._refresh()
        self.resize(*_DIALOG_SIZE)

    def columns(self) -> DataColumns:
        """Return the columns as the user has chosen them."""
        # A column is its position in `names`, -1 for none. A column
        # without a name in the file has "" there, and cannot be left
        # out by name. `_judges` are columns of labels, too.
        names = self._preview.names
        chosen = self._chosen_roles()
        role_columns = {*self._roles(), *self._judges}
        used_columns = {*role_columns, *self._features, self._comment()}
        left_out = [
            name for i, name in enumerate(names) if name and i not in used_columns
        ]
        features = sorted(self._features - role_columns)

        # Two columns of a file may have one name. If one of them is a
        # feature and the other is left out, the features have to be
        # listed, as leaving out the name would leave out both. Here, a
        # repeated name has a number, which `original_names` removes.
        originals = original_names(names)
        left_out_names = set(left_out)
        name_is_ambiguous = any(originals[i] in left_out_names for i in features)
        return columns_of(
            self._preview,
            qid=chosen.qid,
            label=chosen.label,
            left_out=left_out,
            part=chosen.part,
            no_queries=chosen.no_queries,
            labels=chosen.labels,
            document=chosen.document,
            missing_texts=chosen.missing_texts,
            features=[names[i] for i in features] if name_is_ambiguous else (),
        )

    def _roles(self) -> tuple[int, int, int]:
        """Return the numbers of the columns of query, label and part.

        The number is -1 for a role without a column.
        """
        qid = -1 if self._no_queries.isChecked() else self._qid.currentData()
        return qid, self._label.currentData(), self._part.currentData()

    def _name(self, number: int) -> str:
        """Return the name of a column by its number; "column 3" if the file gives it none."""
        return self._preview.names[number] or tr("column {number}").format(
            number=number + 1
        )

    def _fill_boxes(self) -> None:
        """Fill the choices of columns for query, label, part and document, and the menu of judges.

        Each entry of a choice has the number of its column as its data,
        -1 for no column. A judge is a column with further labels of the
        same documents.
        """
        # Beside the table, there may be a file with the number of
        # documents of each query (`sizes`), which replaces a column of
        # queries.
        self._qid.addItem(
            tr("as in {file}").format(file=self._preview.sizes)
            if self._preview.sizes
            else tr("choose …"),
            -1,
        )
        self._label.addItem(tr("choose …"), -1)
        self._part.addItem(tr("none"), -1)
        self._document.addItem(tr("none"), -1)
        boxes = (self._qid, self._label, self._part, self._document)

        # Qt measures all names for the width of a box, which takes long for many.
        n_columns = len(self._preview.names)
        if n_columns > _MAX_MEASURED_NAMES:
            for box in boxes:
                box.setSizeAdjustPolicy(
                    QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
                )
        menu = QMenu(self._judges_button)
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
        menu.triggered.connect(self._on_judge_toggled)
        self._judges_button.setMenu(menu)
        self._judges_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)

    def _table_columns(self) -> list[Column]:
        """Return the columns of the dialog's table, of which each row is a column of the file.

        The columns are a tick for features, the name, the role, and for
        each of the first documents a column with its values.
        """
        has_long_names = any(
            len(name) > _MAX_SHORT_NAME_LENGTH for name in self._preview.names
        )
        return [
            tick_column(lambda row: row.is_feature, tr("Tick the features (Space)")),
            Column(
                "name",
                tr("column"),
                stretch=True,
                least=_LONG_NAME_WIDTH if has_long_names else _NAME_WIDTH,
            ),
            Column("role", tr("is"), width=_ROLE_WIDTH),
            *(
                # A row of the preview has the values of one document.
                _document_column(number, values)
                for number, values in enumerate(self._preview.rows, 1)
            ),
        ]

    def _preselect_roles(self, specified: DataColumns) -> None:
        """Select the role of each column as it is specified, or as the column's name suggests.

        The roles are query, label, part (such as training or test),
        document, further judge and feature. A column of text is not a
        feature.
        """
        preview = self._preview
        self._no_queries.setChecked(specified.no_queries)

        # `recognised` returns the numbers of the columns by their
        # roles. This is the first of three attempts that succeeds: by
        # the specification, by the usual names, and without queries,
        # which recognizes the other roles if the column of the query is
        # unknown. If all fail, `layout` is None.
        one_ranking = DataColumns(no_queries=True)
        layout = (
            preview.recognised(specified)
            or preview.recognised(DataColumns())
            or preview.recognised(one_ranking)
        )
        names = list(preview.names)
        query = specified.qid or next(
            (name for name in names if plain_name(name) in QUERY_NAMES), ""
        )

        # Without a layout, only the specified or usual names count.
        qid = layout.qid if layout else _index_or_none(names, query)
        label = layout.label if layout else _index_or_none(names, specified.label)
        part = layout.part if layout else _index_or_none(names, specified.part)

        # A recognized column of comments may have the ids of documents.
        document = (
            layout.comment
            if layout and layout.comment_is_id
            else _index_or_none(names, specified.document)
        )
        chosen = {
            self._qid: qid,
            self._label: label,
            self._part: part,
            self._document: document,
        }
        for box, position in chosen.items():
            box.setCurrentIndex(box.findData(-1 if position is None else position))

        # `judges` are all columns of labels. The chosen label is that
        # of one judge, and not among the others. Without a
        # specification, all columns of numbers that have no other role
        # are features.
        self._judges = set(layout.judges if layout else ()) - {label}
        if specified.features:
            self._features = {
                i for i, name in enumerate(names) if name in specified.features
            }
        else:
            candidates = layout.features if layout else range(len(names))
            ignored = set(specified.ignore)
            self._features = {
                i
                for i in candidates
                if self._can_be_feature(i) and names[i] not in ignored
            }

    def _lay_out(self) -> None:
        """Lay out the problem, the choices of columns, the table of all columns, and the buttons."""
        form = QFormLayout()
        query_label = PlainLabel(tr("&Query"))
        query_label.setBuddy(self._qid)
        form.addRow(
            query_label,
            fill(QHBoxLayout(), (self._qid, 1), self._no_queries, spacing=8),
        )
        form.addRow(tr("&Relevance label"), self._label)
        form.addRow(tr("Other &judges"), self._judges_button)
        form.addRow(tr("&Part"), self._part)
        form.addRow(tr("&Document id"), self._document)
        all_button = named(QPushButton(tr("&All numbers")), "columns-all", role="quiet")
        none_button = named(QPushButton(tr("&None")), "columns-none", role="quiet")
        all_button.clicked.connect(self._mark_all)
        none_button.clicked.connect(self._mark_none)
        feature_row = fill(
            QHBoxLayout(), self._count, 1, all_button, none_button, spacing=8
        )
        self._buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Open
            | QDialogButtonBox.StandardButton.Cancel
        )
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        about = PlainLabel(
            tr(
                "{name} was read as {format}. Choose the query and label columns; only features are ticked."
            ).format(
                name=self._preview.path.name, format=tr(self._preview.format.label)
            ),
            wraps=True,
        )
        frame = named(QFrame(), role="panel")
        fill(QVBoxLayout(frame), self._table, margins=(1, 1, 1, 1))
        column = fill(
            QVBoxLayout(self),
            self._problem,
            about,
            form,
            margins=(16, 14, 16, 14),
            spacing=10,
        )

        # `_is_missing` is a check box: read the text in question as missing.
        fill(column, self._is_missing, (frame, 1), feature_row, self._buttons)

    def _comment(self) -> int | None:
        """Return the number of the column of comments; None without one.

        Comments are texts that are shown beside documents. A column
        with ids of documents counts only if the user has chosen it for
        the documents.
        """
        layout = self._preview.recognised(self._chosen_roles())
        if layout is None or (
            layout.comment_is_id and self._document.currentData() < 0
        ):
            return None
        return layout.comment

    def _chosen_roles(self) -> DataColumns:
        """Return the roles that the user has chosen, each with the name of its column.

        A column that is chosen for several roles has the first of
        query, label, part and document.
        """
        # Numbers of columns; -1 for none.
        names = self._preview.names
        qid, label, part = self._roles()
        document = self._document.currentData()

        # The text of the cell because of which the dialog is shown, if
        # it is to be read as a missing value.
        missing_texts = self._missing_texts
        if self._cell and self._is_missing.isChecked():
            missing_texts = (*missing_texts, self._cell)

        # With other judges, all label columns are listed: that of the
        # box, and those of the menu, without columns that have another
        # role now. A list of a single label would say nothing more than
        # `label`.
        labels = (
            sorted({label, *self._judges} - {-1, qid, part}) if self._judges else []
        )
        return DataColumns(
            names[qid] if qid >= 0 else "",
            names[label] if label >= 0 and label != qid else "",
            part=names[part] if part >= 0 and part not in (qid, label) else "",
            no_queries=self._no_queries.isChecked(),
            document=names[document]
            if document >= 0 and document not in (qid, label, part)
            else "",
            missing_texts=missing_texts,
            labels=tuple(names[i] for i in labels) if len(labels) > 1 else (),
        )

    @Slot()
    def _refresh(self) -> None:
        """Show the present role of every column, and enable *Open* if the roles are complete.

        A column that has got another role is removed from the judges.
        """
        # Numbers of columns; without such a column -1, for the comment None.
        qid, label, part = self._roles()
        comment = self._comment()
        is_one_ranking = self._no_queries.isChecked()

        # A column that has another role now is no judge and no feature any more.
        self._judges -= {qid, label, part}
        for action in self._judges_button.menu().actions():
            action.setChecked(action.data() in self._judges)
            action.setEnabled(action.data() not in (qid, label, part))
        judges = [
            self._label.itemText(self._label.findData(i)) for i in sorted(self._judges)
        ]
        self._judges_button.setText(", ".join(judges) or tr("none"))
        self._qid.setDisabled(is_one_ranking)
        features = self._features.difference((qid, label, part, *self._judges))
        comment_role = (
            tr("document id")
            if comment == self._document.currentData()
            else tr("comment")
        )

        # Texts of roles by the numbers of columns; of several roles of
        # a column, the last one is shown.
        roles = {comment: comment_role} | dict.fromkeys(features, tr("feature"))
        roles |= dict.fromkeys(self._judges, tr("other label"))
        roles |= {part: tr("part"), qid: tr("query"), label: tr("label")}
        rows = range(len(self._preview.names))
        self._table.set_rows(
            [
                _Row(i, self._name(i), roles.get(i, tr("left out")), i in features)
                for i in rows
            ]
        )
        n = len(features)
        self._count.setText(trn("{n} feature", "{n} features", n).format(n=n))

        # Complete are a query, a label and a feature; no two roles may
        # have one column.
        has_queries = qid >= 0 or is_one_ranking or bool(self._preview.sizes)
        has_label = label >= 0 and label != qid
        part_is_valid = part < 0 or part not in (qid, label)
        is_valid = has_queries and has_label and part_is_valid and n > 0
        self._buttons.button(QDialogButtonBox.StandardButton.Open).setEnabled(is_valid)

    @Slot(QAction)
    def _on_judge_toggled(self, action: QAction) -> None:
        """Add a column to the labels of other judges, or remove it."""
        if action.isChecked():
            self._judges.add(action.data())
        else:
            self._judges.discard(action.data())
        self._refresh()

    @Slot(object)
    def _toggle(self, row: _Row) -> None:
        """Make the column of a row a feature, or leave it out if it is one.

        A column with another role or without a name is not changed.
        """
        if (
            row.number not in (*self._roles(), *self._judges)
            and self._preview.names[row.number]
        ):
            # `^=` adds the number, or removes it if it is there.
            self._features ^= {row.number}
            self._refresh()

    @Slot(bool)
    def _on_missing_toggled(self, is_missing: bool) -> None:
        """Tick or untick the columns that have only numbers if the text is read as missing.

        The text is a word in columns of numbers, which made the program
        show the dialog.
        """
        possible_features = {
            i for i in range(len(self._preview.names)) if self._can_be_feature(i)
        }

        # `_missing_texts` are the missing values without the text: the
        # new features are texts with these alone.
        if is_missing:
            self._features |= {
                i
                for i in possible_features
                if self._preview.is_text(i, self._missing_texts)
            }
        else:
            self._features &= possible_features
        self._refresh()

    @Slot()
    def _mark_all(self) -> None:
        """Tick every column that can be a feature, except the one of comments."""
        comment = self._comment()
        columns = range(len(self._preview.names))
        self._features = {
            i for i in columns if i != comment and self._can_be_feature(i)
        }
        self._refresh()

    def _can_be_feature(self, number: int) -> bool:
        """Return whether a column has a name, and first values that are numbers or missing."""
        # The user may have chosen to read the text, because of which
        # the dialog is shown, as a missing value, too.
        missing_texts = self._missing_texts
        if self._cell and self._is_missing.isChecked():
            missing_texts = (*missing_texts, self._cell)
        return bool(self._preview.names[number]) and not self._preview.is_text(
            number, missing_texts
        )

    @Slot()
    def _mark_none(self) -> None:
        """Untick all features."""
        self._features = set()
        self._refresh()


def _document_column(number: int, values: Sequence[str]) -> Column:
    """Return the table's column with the values of one of the first documents.

    ``number`` counts documents from 1; ``values`` has the document's
    value in each column of the file, which is a row of the table.
    """
    title = tr("document {number}").format(number=number)
    return Column(
        f"document {number}",
        title,
        value=lambda row: values[row.number],
        width=_VALUE_WIDTH,
    )


def _index_or_none(names: list[str], name: str) -> int | None:
    """Return the position of a name; None if it is not among the names."""
    return names.index(name) if name in names else None
