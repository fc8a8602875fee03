"""Lines of words apart by blanks, as TREC's files have them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rankstudio.engine.data.letor import file_access as files
from rankstudio.engine.data.letor.compression import decompress
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.errors import FormatError

_MOST_SHOWN = 40


@dataclass(frozen=True)
class TextLines:
    """The lines of a text file, which may be compressed.

    Attributes
    ----------
    path : Path
    lines : tuple of str
        Without empty ones at the end.
    checksum : str
        SHA-256 of the file's bytes.
    size : int
        How many these are.
    """

    path: Path
    lines: tuple[str, ...]
    checksum: str
    size: int

    def words(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the words of each line that is not empty, with the line's number, from 1."""
        for number, line in enumerate(self.lines, start=1):
            if words := line.split():
                yield number, words

    def error(self, line: int, found: str, expected: str) -> FormatError:
        """Return the error of a line, counted from 1."""
        return FormatError(self.path, line, 0, quoted(found), expected)


def read_lines(path: Path) -> TextLines:
    """Read a text file.

    Raises
    ------
    FileAccessError
        Where it cannot be read.
    """
    progress = ReadProgress()
    packed = files.read_file(path, progress)
    checksum = hashlib.sha256(packed[: len(packed) - files.PADDING].data).hexdigest()
    content = decompress(path, packed, progress)
    text = content[: -files.PADDING].tobytes().decode("utf-8-sig", errors="replace").rstrip()
    lines = text.splitlines() if "\r" in text else text.split("\n")
    return TextLines(path, tuple(lines) if text else (), checksum, len(packed) - files.PADDING)


def number(word: str) -> float | None:
    """Return the number that a word is, or None; Python's own digits apart by ``_`` are no number here."""
    try:
        value = float(word)
    except ValueError:
        return None
    return None if math.isnan(value) or "_" in word else value


def quoted(text: str) -> str:
    """Return a piece of a file as a sentence shows it."""
    if not text.strip():
        return "nothing"
    return repr(text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + "…")
