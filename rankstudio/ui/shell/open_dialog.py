"""The dialog behind "Open…": takes a file or a folder, whichever the data are in."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtWidgets import QDialog, QFileDialog, QToolButton, QWidget

_TOOL = "QToolButton { border: none; background: transparent; padding: 0; min-height: 22px; }"
_DATA_NAME = re.compile(r"fold|train|vali|dev|test|.*\.(txt|letor|dat|svm|svmlight|gz)$", re.IGNORECASE)


def holds_data(folder: Path) -> bool:
    """Tell whether a folder looks as if it could be opened as a dataset."""
    try:
        return any(_DATA_NAME.match(child.name) for child in folder.iterdir())
    except OSError:
        return False


class OpenDialog(QFileDialog):
    """Chooses a LETOR file, a folder with folds, a plan or a study.

    Qt's dialogs choose files or folders. This one opens a chosen folder where it looks like data, and goes
    into it where it does not.
    """

    def __init__(self, parent: QWidget | None, folder: str) -> None:
        super().__init__(parent, "Open a LETOR file or a folder of folds", folder)
        self.setObjectName("open-dialog")
        self.setOption(QFileDialog.Option.DontUseNativeDialog)
        self.setFileMode(QFileDialog.FileMode.ExistingFile)
        self.setNameFilters(
            [
                "All files (*)",
                "LETOR text (*.txt *.letor *.dat *.svm *.gz)",
                "Plans (*.toml)",
                "Studies (*.rankstudio)",
            ]
        )
        self._folder: str | None = None
        self._take_on_the_theme()

    def accept(self) -> None:
        """Take the folder that is marked, or the file."""
        chosen = self.selectedFiles()
        if len(chosen) == 1 and Path(chosen[0]).is_dir() and holds_data(Path(chosen[0])):
            self._folder = chosen[0]
            self.done(QDialog.DialogCode.Accepted)
            return
        super().accept()

    def path(self) -> str:
        """Return what was chosen, "" for nothing."""
        return self._folder or next(iter(self.selectedFiles()), "")

    def _take_on_the_theme(self) -> None:
        """Give Qt's own buttons the look of ours."""
        for tool in self.findChildren(QToolButton):
            tool.setStyleSheet(_TOOL)
