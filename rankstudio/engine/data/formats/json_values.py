"""Values of JSON in a text, read one after the other: on lines, across lines, or elements of one list."""

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
_UTF_16 = "\ufffd\ufffd"  # byte order mark of UTF-16, as it is decoded here
_EXCERPT_LENGTH = 40  # characters before an error
# an incomplete text has its error within this distance from its end
_CUT_CHARACTERS = 16
_MEMORY_FACTOR = 16  # memory of values, as a multiple of that of their text


class _RepeatedNameError(Exception):
    """A name that an object has twice, so that it is not clear which value counts."""


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the names and values of a JSON object as a dict.

    ``pairs`` are (name, value), in the order of the text. Raise
    _RepeatedNameError for a name that occurs twice, which Python's json
    would silently accept.
    """
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _RepeatedNameError(
            next(
                name for name, n in Counter(name for name, _ in pairs).items() if n > 1
            )
        )
    return values


_DECODER = json.JSONDecoder(object_pairs_hook=_object_without_duplicates)


class JsonValues:
    """The JSON values in a file, each with the line on which it begins.

    A list is read element by element, so that a file may be one long
    list, or have a value on each line.

    Parameters
    ----------
    path : Path
        Path of the file, for messages.
    stream : binary file
        Contents of the file.
    expected : str
        Description of the values that the file should have, for messages.
    """

    def __init__(self, path: Path, stream: IO[bytes], expected: str) -> None:
        """Prepare to read the bytes of a JSON text from ``stream``.

        ``path`` and ``expected``, the contents that the file should
        have, are for messages.
        """
        self._path = path
        self._expected = expected
        self._text = io.TextIOWrapper(stream, "utf-8-sig", errors="replace")
        self._rest = ""  # the text that was read and not yet dropped
        self._position = 0  # in the rest
        self._line = 1  # that of the position
        self._is_at_end = False
        self._may_have_surrogates = False
        """Whether there may be half of a surrogate pair, which is not text."""

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        """Yield (line, value) for each value of the text.

        The text is a sequence of values, as one per line. An array
        yields its elements one by one instead, so that a large array
        need not fit into memory.

        Raises
        ------
        FormatError
            At the first line that is not JSON, or if a value does not
            fit into memory.
        """
        while character := self._next_character():
            # A value outside of an array; reading it moves the position.
            if character != "[":
                yield self._line, self._value()
                continue
            # The values of an array are yielded one by one.
            self._advance(self._position + 1)
            while character := self._next_character():
                if character == "]":
                    break
                yield self._line, self._value()
                if self._next_character() not in (",", "]"):
                    raise self._error(self._position)
                # A comma must be followed by another value.
                if self._rest[self._position] == ",":
                    self._advance(self._position + 1)
                    if self._next_character() in ("", "]"):
                        raise self._error(self._position)
            # The text ends before the array is closed.
            if not character:
                raise self._error(self._position)
            self._advance(self._position + 1)

    def _next_character(self) -> str:
        """Move to the next character that is not blank, and return it; "" at the end."""
        while True:
            blanks = _BLANKS.match(self._rest, self._position)
            assert blanks is not None  # it may be empty
            self._advance(blanks.end())
            if self._position < len(self._rest):
                return self._rest[self._position]
            if self._is_at_end:
                return ""
            self._read_more()

    def _value(self) -> Any:
        """Decode the JSON value that begins at the position, and move behind it.

        More text is read as long as the value may be cut off. Raise
        FormatError if the JSON is invalid.
        """
        while True:
            try:
                value, end = _DECODER.raw_decode(self._rest, self._position)
                if self._may_have_surrogates:
                    # Called for its ValueError only: half of a
                    # surrogate pair is no text.
                    json.dumps(value, ensure_ascii=False).encode()
            except json.JSONDecodeError as error:
                # A value that is cut off is decoded again with more
                # text. Then the error is within a few characters of the
                # end of the text.
                is_near_end = not self._rest[error.pos + _CUT_CHARACTERS :].strip()
                may_be_incomplete = error.msg.startswith("Unterminated") or is_near_end
                if self._is_at_end or not may_be_incomplete:
                    raise self._error(error.pos) from None
                self._read_more()
            except _RepeatedNameError as error:
                raise line_error(
                    self._path,
                    self._line,
                    f'"{error}"',
                    tr("each name once in an object"),
                ) from None
            except (ValueError, RecursionError):
                raise self._error(self._position) from None
            else:
                self._advance(end)
                return value

    def _read_more(self) -> None:
        """Append the next characters to the undecoded rest, and drop what was decoded.

        At least as many are read as are still undecoded: the text
        doubles, so that a long value is tried only a few times. Raise
        FormatError if the text does not fit into memory.
        """
        n_undecoded = len(self._rest) - self._position
        # The values take a multiple of the memory of their text.
        if _MEMORY_FACTOR * n_undecoded > memory.available():
            raise line_error(
                self._path,
                self._line,
                memory.size(n_undecoded),
                "values of JSON that fit into memory",
            )
        text = self._text.read(max(CHUNK, n_undecoded))
        self._rest = self._rest[self._position :] + text
        self._position = 0
        self._is_at_end = not text
        # The escapes \ud800 to \udfff are halves of pairs.
        self._may_have_surrogates = "\\ud" in self._rest.lower()

    def _advance(self, to: int) -> None:
        """Move to a later position, and count the lines."""
        self._line += self._rest.count("\n", self._position, to)
        self._position = to

    def _error(self, position: int) -> FormatError:
        """Return the error for invalid JSON at a position of the undecoded text.

        The message has the line of the position, and an excerpt of the text.
        """
        # UTF-16 is recognised by its mark at the beginning of the file.
        if self._rest.startswith(_UTF_16) and self._line == 1:
            return utf_16_error(self._path)
        before = self._rest[self._position : position].rstrip()
        line = self._line + before.count("\n")
        if before:  # the beginning of the value is valid
            excerpt = before.rpartition("\n")[2].strip()
            excerpt = (
                f"…{excerpt[-_EXCERPT_LENGTH:]}"
                if len(excerpt) > _EXCERPT_LENGTH
                else excerpt
            )
            return FormatError(
                self._path, line, 0, repr(excerpt), tr("valid JSON after it")
            )
        # Nothing of the value is valid: quote its line.
        end = self._rest.find("\n", self._position)
        excerpt = self._rest[self._position : end if end >= 0 else len(self._rest)]
        return line_error(self._path, line, excerpt, self._expected)
