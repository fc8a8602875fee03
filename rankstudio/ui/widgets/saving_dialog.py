"""Base of the dialogs that write files; such a dialog stays open and shows the outcome."""

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
    """Base of a dialog that writes files.

    The dialog replaces an existing file only after the user saves twice.

    Parameters
    ----------
    name : str
        Object name, for the program and its tests.
    title : str
    folder : Path
        Suggested folder of the first file; later files are suggested in
        the folder of the last one.
    parent : QWidget, optional

    Attributes
    ----------
    saved : Signal(object)
        A file was written (Path).
    message : PlainLabel
        Outcome of the last action.
    """

    saved = Signal(object)

    def __init__(
        self, name: str, title: str, folder: Path, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self._folder = folder

        # An existing file of which the user knows that saving again replaces it.
        self._replaceable_path: Path | None = None
        self.message = PlainLabel(wraps=True, selectable=True)

    def say(self, sentence: str, role: str = "ok") -> None:
        """Show a sentence on the outcome of an action.

        ``role`` is the variant of the style sheet that colors the
        sentence: "ok", "muted", "warning" or "error".
        """
        self.message.setText(sentence)
        set_role(self.message, role)

    def ask_path(self, title: str, stem: str, label: str, suffix: str) -> Path | None:
        """Ask the user for the path of a file of a format, and return the path.

        ``stem`` is the suggested name without its suffix, ``label`` the
        name of the format, ``suffix`` its suffix, such as ".csv".
        Return None if the user cancels, or does not want to replace an
        existing file.
        """
        suggested = str(self._folder / f"{stem}{suffix}")
        name, _ = QFileDialog.getSaveFileName(
            self, title, suggested, f"{label} (*{suffix})"
        )
        if not name:
            return None
        path = Path(name)

        # The file dialog has asked whether to replace a file with the
        # typed name, but not one with the suffix that is added here.
        if path.suffix.lower() == suffix:
            return path
        path = path.with_name(path.name + suffix)

        # `may_replace` warns about an existing file.
        return path if self.may_replace(path) else None

    def may_replace(self, path: Path, files: Sequence[Path] = ()) -> bool:
        """Return whether ``path`` may be written: no file exists, or the user saves for the second time.

        The first time, show which file would be replaced, and remember
        ``path``. ``files`` are the files that are written, if these are
        not ``path`` itself, such as those of a folder.
        """
        existing = [file for file in files or (path,) if file.exists()]
        if not existing or path == self._replaceable_path:
            return True
        self._replaceable_path = path
        warning = tr("{name} already exists. Save again to replace it.")
        self.say(warning.format(name=existing[0].name), "warning")
        return False

    def write(
        self, path: Path, write: Callable[[], object], files: Sequence[Path] = ()
    ) -> bool:
        """Write a file with the function ``write``, and return whether it is written.

        The file is not written if the window reads it as data, or if
        writing fails; then an error is shown. ``files`` are the files
        that are written, if these are not ``path`` itself.
        """
        # The first call is there for its error only: open data, of
        # which parts are still read from disk as needed, must not be
        # replaced.
        try:
            refuse_read(self, files or [path])
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

    def tell_written(self, path: Path, remark: str = "") -> str:
        """Show that a file is written, emit `saved`, and return the sentence that says so.

        ``remark`` is another sentence, which is shown after the first
        but not returned. ``path`` is the file. The next file is
        suggested in the same folder, and replaces this file only if the
        user agrees anew.
        """
        self._replaceable_path = None
        self._folder = path.parent
        written = tr("Written to {path}.").format(path=path)
        self.say(f"{written} {remark}".strip())
        self.saved.emit(path)
        return written
