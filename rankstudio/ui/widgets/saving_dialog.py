"""Base of the dialogs that write files: they stay open, and show the outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QFileDialog, QWidget

from rankstudio.engine.errors import RankStudioError
from rankstudio.ui.language import tr
from rankstudio.ui.process.files_read import refuse_read
from rankstudio.ui.style.plain_text import PlainLabel
from rankstudio.ui.widgets.layout import set_role


class SavingDialog(QDialog):
    """A dialog that writes files, and suggests their folder again; it replaces a file if that is asked twice.

    Parameters
    ----------
    name : str
        For the program and its tests.
    title : str
    folder : Path
        Where to suggest to write.
    parent : QWidget, optional

    Attributes
    ----------
    saved : Signal(object)
        The Path, after a file was written.
    message : PlainLabel
        What came of it.
    """

    saved = Signal(object)

    def __init__(self, name: str, title: str, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self._folder = folder
        self._confirmed: Path | None = None
        self.message = PlainLabel(wraps=True, selectable=True)

    def say(self, sentence: str, role: str = "ok") -> None:
        """Show the outcome of an action."""
        self.message.setText(sentence)
        set_role(self.message, role)

    def ask_path(self, title: str, stem: str, label: str, suffix: str) -> Path | None:
        """Ask where to write a file of a format; None if cancelled, or without consent to replace a file."""
        suggested = str(self._folder / f"{stem}{suffix}")
        name, _ = QFileDialog.getSaveFileName(self, title, suggested, f"{label} (*{suffix})")
        if not name:
            return None
        path = Path(name)
        if path.suffix.lower() == suffix:  # the file dialog has asked whether to replace it
            return path
        path = path.with_name(path.name + suffix)
        return path if self.may_replace(path) else None

    def may_replace(self, path: Path, besides: Sequence[Path] = ()) -> bool:
        """Return whether a file, with others beside it, may be written; tell where that would replace one."""
        existing = [file for file in besides or (path,) if file.exists()]
        if not existing or path == self._confirmed:
            return True
        self._confirmed = path
        warning = tr("{name} already exists. Save again to replace it.")
        self.say(warning.format(name=existing[0].name), "warning")
        return False

    def write(self, path: Path, write: Callable[[], object], besides: Sequence[Path] = ()) -> bool:
        """Write a file, unless it is one that is open here; say where that is not possible, and return it."""
        try:
            refuse_read(self, besides or [path])
            write()
        except RankStudioError as error:
            self.say(str(error), "error")
            return False
        except OSError as error:
            reason = error.strerror or error
            message = tr("{path}: the file could not be written: {strerror}.")
            self.say(message.format(path=path, strerror=reason), "error")
            return False
        return True

    def tell_written(self, path: Path, besides: str = "") -> str:
        """Tell everybody that a file is there, and return the sentence."""
        self._confirmed, self._folder = None, path.parent
        written = tr("Written to {path}.").format(path=path)
        self.say(f"{written} {besides}".strip())
        self.saved.emit(path)
        return written
