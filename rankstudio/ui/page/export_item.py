"""Something that can be exported, and how it is written in each of its formats."""

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
        What is written, in a sentence; "" where the item says it.
    write : callable(Path), optional
        Writes the files; raises RankStudioError where it cannot. None where ``begin`` does.
    paths : callable(Path) -> sequence of Path
        All files that are written.
    check : callable(Path, callable(str)), optional
        Begins to find out, on a worker, whether what was written is right, and returns the job; a sentence
        arrives later.
    unavailable : str
        Why the item cannot be written in this format, as a sentence; "" where it can.
    begin : callable(Path, callable(str), callable(str)), optional
        Begins to write on a worker what takes longer, and returns the job; the first is called once the files
        are there, with what is to be said besides, the second with why they are not.
    """

    help: str = ""
    write: Callable[[Path], object] = lambda _: None
    paths: Callable[[Path], Sequence[Path]] = lambda path: (path,)
    check: Callable[[Path, Callable[[str], object]], Job] | None = None
    unavailable: str = ""
    begin: Callable[[Path, Callable[[str], object], Callable[[str], object]], Job] | None = None


@dataclass(frozen=True)
class ExportItem:
    """One thing that can be exported.

    Attributes
    ----------
    key : str
        For the program.
    label : str
        For people: "Chosen model".
    help : str
        What is written, in a sentence.
    formats : tuple of (label, suffix)
        Such as ``("CSV", ".csv")``, the usual one first; empty for what is only copied.
    stem : str
        Suggested file name without its suffix.
    write : callable(Path), optional
        Writes the file, in the format that the suffix says; raises RankStudioError where it cannot.
    text : callable() -> str, optional
        What "Copy" puts on the clipboard.
    unavailable : str
        Why it cannot be exported now, as a sentence; "" where it can.
    writers : tuple of FormatWriter
        One for each format, which then write in place of ``write``; empty where the suffix tells.
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
        """Whether it is something that is written."""
        return self.write is not None or bool(self.writers)

    def writer(self, index: int) -> FormatWriter:
        """Return the writer of a format, by its index among the writers."""
        if 0 <= index < len(self.writers):
            return self.writers[index]
        return FormatWriter() if self.write is None else FormatWriter(write=self.write)
