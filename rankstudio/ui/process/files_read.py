"""The files that a window reads: nothing is saved over one of them, from whichever dialog."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QFileDialog, QWidget

from rankstudio.engine.errors import OutputError


@runtime_checkable
class ReadsFiles(Protocol):
    """A window that has data and a study open."""

    def files_read(self) -> Sequence[Path]:
        """Return the files and folders that it reads."""
        ...


def refuse_read(widget: QWidget, paths: Sequence[str | Path]) -> None:
    """Refuse to write over a file that the window of a widget reads.

    Parameters
    ----------
    widget : QWidget
        In the window, or in a dialog of it.
    paths : sequence of str or Path
        That are to be written.

    Raises
    ------
    OutputError
        The text names the file.
    """
    from rankstudio.engine.data.fold_files import refuse_inputs  # noqa: PLC0415 - brings readers of data

    above: QWidget | None = widget
    while above is not None:
        if isinstance(above, ReadsFiles):
            refuse_inputs(map(Path, paths), above.files_read())
        above = above.parentWidget()


def ask_beside(widget: QWidget, title: str, kinds: str, neighbour: Path | None) -> str:
    """Ask for a file to read, at first in the folder of another one or at home; "" if cancelled.

    ``kinds`` are those that the dialog offers: "Tables (*.csv);;All files (*)".
    """
    folder = neighbour.parent if neighbour is not None else Path.home()
    name, _ = QFileDialog.getOpenFileName(widget, title, str(folder), kinds)
    return name


def save_as(
    widget: QWidget,
    title: str,
    suggested: str,
    formats: Sequence[tuple[str, str]],
    save: Callable[[str], None],
    failed: SignalInstance,
) -> None:
    """Ask where to save something, and in which format, and save it.

    Parameters
    ----------
    widget : QWidget
        Over which the dialog opens.
    title, suggested : str
        Of the dialog, and the name of a file in it.
    formats : sequence of (str, str)
        What each is called, and its ending: ("CSV", ".csv"). A name without an ending takes the chosen one's.
    save : callable
        Writes to a path.
    failed : Signal(str)
        Emitted with a sentence where that is not possible.
    """
    filters = ";;".join(f"{label} (*{ending})" for label, ending in formats)
    name, chosen = QFileDialog.getSaveFileName(widget, title, suggested, filters)
    if not name:
        return
    path = name if Path(name).suffix else name + chosen.partition("*")[2].rstrip(")")
    try:
        refuse_read(widget, [path])
        save(path)
    except OutputError as error:
        failed.emit(str(error))


def file_stem(name: str) -> str:
    """Return how files are called that are written of data with a name."""
    return "".join(c if c.isalnum() else "-" for c in name).strip("-").lower() or "rankstudio"
