"""File dialogs, which refuse to save over the files that their window reads."""

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
        """Return the files and folders that the window reads."""
        ...


def refuse_read(widget: QWidget, paths: Sequence[str | Path]) -> None:
    """Refuse to write over a file that the window of a widget reads.

    Parameters
    ----------
    widget : QWidget
        A widget in the window, or in a dialog of the window.
    paths : sequence of str or Path
        The files to be written.

    Raises
    ------
    OutputError
        If the window reads one of the files; the text names that file.
    """
    from rankstudio.engine.data.fold_files import refuse_inputs  # noqa: PLC0415 - brings readers of data

    # The window, which can list the files that it reads (`ReadsFiles`),
    # is the widget itself or one of its parents. `refuse_inputs` raises
    # the error.
    above: QWidget | None = widget
    while above is not None:
        if isinstance(above, ReadsFiles):
            refuse_inputs(map(Path, paths), above.files_read())
        above = above.parentWidget()


def ask_beside(widget: QWidget, title: str, kinds: str, neighbour: Path | None) -> str:
    """Ask for a file to read; return its path, "" if cancelled.

    The dialog, with ``title``, opens over ``widget`` in the folder of
    ``neighbour``, a file, or (for None) in the home folder. ``kinds``
    is the filter of the dialog, such as "Tables (*.csv);;All files
    (*)".
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
        The widget over which the dialog opens.
    title, suggested : str
        Title of the dialog, and the file name that it suggests.
    formats : sequence of (str, str)
        Name and suffix of each format, such as ("CSV", ".csv"). A file
        name without a suffix is given the suffix of the chosen format.
    save : callable
        Called with the path of the file, to which it writes.
    failed : Signal(str)
        Emitted with a sentence if the file cannot be written.
    """
    filters = ";;".join(f"{label} (*{ending})" for label, ending in formats)
    name, chosen = QFileDialog.getSaveFileName(widget, title, suggested, filters)
    if not name:
        return

    # The dialog returns the chosen filter, such as "CSV (*.csv)": its
    # suffix is added to a name without one.
    chosen_suffix = chosen.partition("*")[2].rstrip(")")
    path = name if Path(name).suffix else name + chosen_suffix
    try:
        # Called for its error: a file that is open in the window is not
        # replaced.
        refuse_read(widget, [path])
        save(path)
    except OutputError as error:
        failed.emit(str(error))


def file_stem(name: str) -> str:
    """Return the stem of file names for data with a name: lower case, "-" for what is no letter or digit."""
    return (
        "".join(c if c.isalnum() else "-" for c in name).strip("-").lower()
        or "rankstudio"
    )
