"""The files that a window reads: nothing is saved over one of them, from whichever dialog."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from PySide6.QtWidgets import QWidget


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
