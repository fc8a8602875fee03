"""The streams of the process: what they cannot encode is escaped, and notes that nobody takes end no work."""

from __future__ import annotations

import codecs
import io
import os
import sys
from pathlib import Path
from typing import Any


class _ErrorFile(io.FileIO):
    """The file of the error stream, where what cannot be written is dropped."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:  # full, or nobody reads it any more
            return len(data)


def set_up() -> None:
    """Have what an output cannot encode escaped, and take what is printed where there is no output."""
    codecs.register_error("rankstudio", _escape)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who started the program
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - to the end
        elif isinstance(stream, io.TextIOWrapper):
            _reconfigure(stream)
    stream = sys.stderr
    if stream is sys.__stderr__ and isinstance(stream, io.TextIOWrapper):
        file = io.BufferedWriter(_ErrorFile(stream.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(file, stream.encoding, "rankstudio", line_buffering=True)


def _reconfigure(stream: io.TextIOWrapper) -> None:
    """Have a stream escape what it cannot encode; an interruption leaves it one that can be written to."""
    try:
        stream.reconfigure(errors="rankstudio")
    except KeyboardInterrupt:  # the old encoder was gone and the new one, made by Python code, not there
        stream.reconfigure(errors="rankstudio")
        raise


def silence() -> None:
    """Give what is left in the output's buffer, and cannot go where it should, a place to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _escape(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what stands for what an output cannot encode: hyphens for rules, else the code points."""
    if isinstance(error, UnicodeEncodeError) and error.object[error.start] == "─":
        return "-", error.start + 1
    return codecs.backslashreplace_errors(error)
