"""The dialog behind "Open…": takes files or a folder, whichever the data are in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QIdentityProxyModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QIcon, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QDialog, QFileDialog, QFileSystemModel, QToolButton, QWidget

from rankstudio.engine.data.fold_files import is_part_file
from rankstudio.ui.language import tr
from rankstudio.ui.style.icons import icon
from rankstudio.ui.style.theme import Theme

_TOOL = "QToolButton { border: none; background: transparent; padding: 0; min-height: 22px; }"
_DATA_NAME = re.compile(
    r".*\.(txt|letor|dat|svm|svmlight|libsvm|csv|tsv|parquet|pq|feather|arrow|gz|bz2|xz|zst)", re.IGNORECASE
)
_TABLE_NAME = re.compile(r".*\.(csv|tsv|parquet|pq|feather|arrow)(\.(gz|bz2|xz|zst))?", re.IGNORECASE)
_FOLD = re.compile(r"fold[-_ ]?\d+", re.IGNORECASE)
_ICONS = {
    "dataset": "data",
    "fold": "sample",
    "study": "compare",
    "plan": "settings",
    "table": "features",
    "file": "report",
}
_VIEWS = ("listView", "treeView")
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def holds_data(folder: Path) -> bool:
    """Tell whether a folder looks as if it could be opened as a dataset."""
    try:
        return bool(kind_of(folder)) or any(_DATA_NAME.fullmatch(child.name) for child in folder.iterdir())
    except OSError:
        return False


def kind_of(path: Path) -> str:
    """Return what can be opened: "dataset", "fold", "study", "plan", "table", "file", or "" for nothing."""
    try:
        if path.is_dir():
            inside = [*path.iterdir()]
            if any(_FOLD.fullmatch(child.name) for child in inside):
                return "dataset"
            return "fold" if any(map(is_part_file, inside)) else ""
    except OSError:
        return ""
    suffix = path.suffix.lower()
    by_suffix = {".rankstudio": "study", ".toml": "plan"}
    if _TABLE_NAME.fullmatch(path.name):
        return "table"
    return by_suffix.get(suffix, "file" if _DATA_NAME.fullmatch(path.name) or is_part_file(path) else "")


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
            known = self._icons.get(self._kind(Path(path))) if path else None
            if known is not None:
                return known
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
        self.setNameFilters(
            [
                tr("All files (*)"),
                tr("Text of LETOR or SVMlight (*.txt *.letor *.dat *.svm *.libsvm *.gz *.bz2 *.xz *.zst)"),
                tr("Tables (*.csv *.tsv *.parquet *.pq *.feather *.arrow)"),
                tr("Plans (*.toml)"),
                tr("Models (*.json)"),
                tr("Studies (*.rankstudio)"),
            ]
        )
        self._folder: str | None = None
        icons = {kind: icon(theme, name, "accent") for kind, name in _ICONS.items()}
        self.setProxyModel(_IconModel(icons, self))
        self._views = [v for v in self.findChildren(QAbstractItemView) if v.objectName() in _VIEWS]
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
        """Return what was chosen."""
        return [self._folder] if self._folder else self.selectedFiles()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Open the dataset or the fold that is double-clicked, or that Enter is pressed on."""
        view = next((v for v in self._views if watched in (v, v.viewport())), None)
        index = _entered(view, event) if view is not None else QModelIndex()
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
            tool.setStyleSheet(_TOOL)


def _entered(view: QAbstractItemView, event: QEvent) -> QModelIndex:
    """Return what is double-clicked or entered by key; an invalid index for any other event."""
    if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonDblClick:
        return view.indexAt(event.position().toPoint())
    if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _ENTER:
        return view.currentIndex()
    return QModelIndex()
