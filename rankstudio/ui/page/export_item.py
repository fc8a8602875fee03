"""Entries of the dialog *Export*, and how each is written in its formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankstudio.ui.background.worker import Job


@dataclass(frozen=True)
class FormatWriter:
    """How an item is written in one of its formats.

    Attributes
    ----------
    help : str
        Description of what is written, as a sentence; "" if the item's
        own description suffices.
    write : callable(Path)
        Writes the files; raises RankStudioError if that fails. The
        function does nothing if ``begin`` writes the files.
    paths : callable(Path) -> sequence of Path
        Returns all files that are written for a path.
    check : callable(Path, callable(str)), optional
        Submits a job that checks the written files, and returns it; the
        given function is called with a sentence on the outcome.
    unavailable : str
        Why the item cannot be written in this format, as a sentence; "" if it can.
    begin : callable(Path, callable(str), callable(str)), optional
        Submits a job that writes the files, if writing takes long, and
        returns it. The first function is called when the files are
        written, with a remark on them; the second one if that fails,
        with the reason.
    """

    help: str = ""
    write: Callable[[Path], object] = lambda _: None
    paths: Callable[[Path], Sequence[Path]] = lambda path: (path,)
    check: Callable[[Path, Callable[[str], object]], Job] | None = None
    unavailable: str = ""
    begin: (
        Callable[[Path, Callable[[str], object], Callable[[str], object]], Job] | None
    ) = None


@dataclass(frozen=True)
class ExportItem:
    """One entry of the dialog *Export*: something that can be written to a file or copied as text.

    Attributes
    ----------
    key : str
        Name within the program.
    label : str
        Name that the user sees, such as "Chosen model".
    help : str
        Description of what is written, as a sentence.
    formats : tuple of (label, suffix)
        Formats such as ``("CSV", ".csv")``, the usual one first; empty
        for an item that is only copied.
    stem : str
        Suggested file name without its suffix.
    write : callable(Path), optional
        Writes the file, in the format of the path's suffix; raises
        RankStudioError if that fails.
    text : callable() -> str, optional
        Returns the text that "Copy" puts on the clipboard.
    unavailable : str
        Why the item cannot be exported now, as a sentence; "" if it can.
    writers : tuple of FormatWriter
        A writer for each format, used instead of ``write``; empty if
        ``write`` writes all formats.
    """

    key: str
    label: str
    help: str
    formats: tuple[tuple[str, str], ...] = ()
    stem: str = "rankstudio"
    write: Callable[[Path], object] | None = None
    text: Callable[[], str] | None = None
    unavailable: str = ""
    writers: tuple[FormatWriter, ...] = ()

    @property
    def writes(self) -> bool:
        """Whether the item can be written to a file, rather than only copied."""
        return self.write is not None or bool(self.writers)

    def writer(self, index: int) -> FormatWriter:
        """Return the writer of a format, by its index among the writers."""
        if 0 <= index < len(self.writers):
            return self.writers[index]
        return FormatWriter() if self.write is None else FormatWriter(write=self.write)
