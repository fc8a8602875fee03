"""Lines of words apart by blanks, as TREC's files have them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rankstudio.engine.arrays import Bytes
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.source_file import LoadedFile, whole_text
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
        return line_error(self.path, line, found, expected)


@dataclass(frozen=True, eq=False)
class TextFile:
    """A text file, which may be compressed, as it was read.

    Attributes
    ----------
    path : Path
    content : uint8 array
        The bytes of its text.
    checksum : str
        SHA-256 of the file's bytes.
    size : int
        How many these are.
    """

    path: Path
    content: Bytes
    checksum: str
    size: int

    def in_lines(self) -> TextLines:
        """Return its lines."""
        text = self.content.tobytes().decode("utf-8-sig", errors="replace").rstrip()
        lines = text.splitlines() if "\r" in text else text.split("\n")
        return TextLines(self.path, tuple(lines) if text else (), self.checksum, self.size)


def read_text(path: Path) -> TextFile:
    """Read a text file.

    Raises
    ------
    FileAccessError
        Where it cannot be read.
    """
    file = LoadedFile.read(path, ReadProgress())
    checksum = hashlib.sha256(file.packed.data).hexdigest()
    return TextFile(path, whole_text(file), checksum, file.size)


def read_lines(path: Path) -> TextLines:
    """Read the lines of a text file.

    Raises
    ------
    FileAccessError
        Where it cannot be read.
    """
    return read_text(path).in_lines()


def line_error(path: Path, line: int, found: str, expected: str) -> FormatError:
    """Return the error of a line of a file, counted from 1."""
    return FormatError(path, line, 0, quoted(found), expected)


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
