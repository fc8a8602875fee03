"""Values of JSON in a text, one after the other, in lines, across lines or in a list; never all at once."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from rankstudio.engine.data.source_file import line_error, utf_16_error
from rankstudio.engine.errors import FormatError
from rankstudio.engine.language import tr
from rankstudio.engine.support import memory

CHUNK = 1 << 20  # characters at a time
_BLANKS = re.compile(r"\s*")
_UTF_16 = "\ufffd\ufffd"  # its byte order marks, as they are decoded here
_EXCERPT_LENGTH = 40  # characters before an error
_CUT_CHARACTERS = 16  # characters from its end within which a text that is cut anywhere has its error
_MEMORY_FACTOR = 16  # times the memory of a text, which its values take


class _RepeatedNameError(Exception):
    """A name that an object has twice, so that it is not clear which value counts."""


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the names and values of an object; raise an error for a name that occurs twice."""
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _RepeatedNameError(
            next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        )
    return values


_DECODER = json.JSONDecoder(object_pairs_hook=_object_without_duplicates)


class JsonValues:
    """The values in a file, each with the line on which it begins.

    A list is read element by element, so that a file may be one long list, or have a value on each line.

    Parameters
    ----------
    path : Path
        Path of the file, for messages.
    stream : binary file
        Contents of the file.
    expected : str
        What a value should be, for messages.
    """

    def __init__(self, path: Path, stream: IO[bytes], expected: str) -> None:
        self._path = path
        self._expected = expected
        self._text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace")
        self._rest = ""
        self._at = 0
        self._line = 1
        self._ended = False
        self._halves = False
        """Whether there may be half of a pair of UTF-16, which is no text."""

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Yield each value with its line.

        Raises
        ------
        FormatError
            At the first line that is no JSON, or where a value does not fit into memory.
        """
        while mark := self._next():
            if mark != "[":
                yield self._line, self._value()
                continue
            self._advance(self._at + 1)
            while mark := self._next():
                if mark == "]":
                    break
                yield self._line, self._value()
                if self._next() not in (",", "]"):
                    raise self._error(self._at)
                if self._rest[self._at] == ",":
                    self._advance(self._at + 1)
                    if self._next() in ("", "]"):
                        raise self._error(self._at)
            if not mark:
                raise self._error(self._at)
            self._advance(self._at + 1)

    def _next(self) -> str:
        """Return the first character that is not blank, "" at the end, and go there."""
        while True:
            blanks = _BLANKS.match(self._rest, self._at)
            assert blanks is not None
            self._advance(blanks.end())
            if self._at < len(self._rest):
                return self._rest[self._at]
            if self._ended:
                return ""
            self._more()

    def _value(self) -> Any:
        """Return the value that begins here, and go behind it."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._rest, self._at)
                if self._halves:
                    json.dumps(value, ensure_ascii=False).encode()
            except json.JSONDecodeError as error:
                cut = (
                    error.msg.startswith("Unterminated")
                    or not self._rest[error.pos + _CUT_CHARACTERS :].strip()
                )
                if self._ended or not cut:
                    raise self._error(error.pos) from None
                self._more()
            except _RepeatedNameError as error:
                raise line_error(
                    self._path, self._line, f'"{error}"', tr("each name once in an object")
                ) from None
            except (ValueError, RecursionError):
                raise self._error(self._at) from None
            else:
                self._advance(end)
                return value

    def _more(self) -> None:
        """Read on: as much again as is waiting, so that a long value is tried a few times only."""
        waiting = len(self._rest) - self._at
        if _MEMORY_FACTOR * waiting > memory.available():
            raise line_error(
                self._path, self._line, memory.size(waiting), "values of JSON that fit into memory"
            )
        text = self._text.read(max(CHUNK, waiting))
        self._rest = self._rest[self._at :] + text
        self._at = 0
        self._ended = not text
        self._halves = "\\ud" in self._rest.lower()

    def _advance(self, to: int) -> None:
        self._line += self._rest.count("\n", self._at, to)
        self._at = to

    def _error(self, position: int) -> FormatError:
        """Return the error at a place: of the line on which the text before it ends."""
        if self._rest.startswith(_UTF_16) and self._line == 1:
            return utf_16_error(self._path)
        before = self._rest[self._at : position].rstrip()
        line = self._line + before.count("\n")
        if before:  # it begins as it should
            excerpt = before.rpartition("\n")[2].strip()
            excerpt = f"…{excerpt[-_EXCERPT_LENGTH:]}" if len(excerpt) > _EXCERPT_LENGTH else excerpt
            return FormatError(self._path, line, 0, repr(excerpt), tr("valid JSON after it"))
        end = self._rest.find("\n", self._at)
        excerpt = self._rest[self._at : end if end >= 0 else len(self._rest)]
        return line_error(self._path, line, excerpt, self._expected)
