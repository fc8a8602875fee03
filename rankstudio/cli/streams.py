"""The streams of the process, and the file name ``-`` for the standard input or the standard output."""

from __future__ import annotations

import argparse
import codecs
import io
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankstudio.cli.terminal import Block, tell
from rankstudio.engine.errors import OutputError, ParameterError, PlanError


class _ErrorFile(io.FileIO):
    """The file of the error stream, which drops bytes that cannot be written."""

    def write(self, data: Any, /) -> int:
        """Write bytes, and return how many; those that cannot be written count as written."""
        try:
            return super().write(data)
        except OSError:
            # The disk is full, or the program that reads the stream has ended.
            return len(data)


def set_up() -> None:
    """Set up the standard output and the error stream of this process for all texts.

    Characters that an output cannot encode are escaped. Text is
    discarded if there is no output, or if the error stream cannot be
    written.
    """
    codecs.register_error("rankstudio", _escape)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # the program was started without this stream
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - stays open
        elif isinstance(stream, io.TextIOWrapper):
            _reconfigure(stream)

    # Errors of the error stream have nowhere to go, so its file drops
    # what it cannot write.
    stream = sys.stderr

    # A stream that a caller has put there stays.
    if stream is sys.__stderr__ and isinstance(stream, io.TextIOWrapper):
        file = io.BufferedWriter(_ErrorFile(stream.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(
            file, stream.encoding, "rankstudio", line_buffering=True
        )


def _reconfigure(stream: io.TextIOWrapper) -> None:
    """Make a stream escape characters that it cannot encode.

    "rankstudio" is this module's own way to escape, registered with
    Python by that name. If Ctrl+C interrupts this, the stream stays
    usable, and the interruption is passed on.
    """
    try:
        stream.reconfigure(errors="rankstudio")
    except KeyboardInterrupt:
        # The interruption may have come between the two steps in which
        # the stream's encoder is replaced, and have left it without
        # one. So it is done again.
        stream.reconfigure(errors="rankstudio")
        raise


def silence() -> None:
    """Send the buffered rest of the standard output to the null device, because its target is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_ASCII_REPLACEMENTS = {"─": "-", "–": "-", "−": "-", "█": "#", "░": "."}


def _escape(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace a character that an output cannot encode.

    A line or a bar becomes ASCII, any other character its code point.
    Python calls this for each such character. Return the replacement,
    and the position from where to go on.
    """
    if (
        isinstance(error, UnicodeEncodeError)
        and error.object[error.start] in _ASCII_REPLACEMENTS
    ):
        return _ASCII_REPLACEMENTS[error.object[error.start]], error.start + 1
    return codecs.backslashreplace_errors(error)


STANDARD = Path("-")
"""File name of the standard input for a file to read, and of the standard output for a file to write."""

_INPUT_FILE_STEM = "standard-input"
_INPUT_NAME = "standard input"

_INPUT_FILES: list[str] = []
"""Paths of the temporary files with the contents of the standard input."""


def is_standard(path: Path | None) -> bool:
    """Return whether a path stands for a standard stream.

    The path ``-`` stands for a standard stream; a file called ``-`` has
    to be typed as ``./-``. None is no stream.
    """
    return path is not None and str(path) == str(STANDARD)


def input_file(path: Path, ending: str = "") -> Path:
    """Return a file to read.

    The result is ``path`` itself, or for "-" the path of a temporary
    file with the standard input.

    Parameters
    ----------
    path : Path
    ending : str
        Ending of the name of the temporary file, from which readers know the format.

    Raises
    ------
    OutputError
        If the temporary file cannot be written.
    """
    if not is_standard(path):
        return path
    from rankstudio.engine.support.files import temporary_folder, write_bytes

    # A program that was started without a standard input reads nothing.
    content = sys.stdin.buffer.read() if sys.stdin is not None else b""
    try:
        folder = temporary_folder()
    except OSError as error:
        raise OutputError(
            f"Standard input could not be stored: {error.strerror or error}."
        ) from error
    stored = folder / f"{_INPUT_FILE_STEM}{ending}"
    write_bytes(stored, content)

    # Messages then call the file "standard input".
    _INPUT_FILES.append(str(stored))
    return stored


def with_input_named(text: str) -> str:
    """Return a message with "standard input" in place of the name of its temporary file."""
    for path in _INPUT_FILES:
        text = text.replace(path, _INPUT_NAME)
    return text


def shown_input(path: Path) -> str:
    """Return the name of an input in a sentence."""
    return _INPUT_NAME if is_standard(path) else str(path)


def write_output(path: Path, content: str | bytes) -> None:
    """Write a file, and print its path; for "-", write to the standard output.

    The folder of the file is made if it does not exist.

    Raises
    ------
    OutputError
        If the file cannot be written, or if the content is binary and
        would go to a terminal.
    """
    if is_standard(path):
        _write_to_stdout(content)
        return
    from rankstudio.engine.support.files import make_folder, write_bytes, write_text

    make_folder(path.parent)
    if isinstance(content, str):
        write_text(path, content)
    else:
        write_bytes(path, content)
    tell(f"Written: {path}", file=sys.stderr)


def print_file(path: Path) -> None:
    """Copy a file to the standard output, a piece at a time.

    Raises
    ------
    OutputError
        If the file is binary and would go to a terminal.
    """
    # A terminal, or a caller that captures text, cannot take the bytes as they are.
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None or sys.stdout.isatty():
        _write_to_stdout(path.read_bytes())
        return
    sys.stdout.flush()
    with path.open("rb") as file:
        shutil.copyfileobj(file, stream)
    stream.flush()


def form_of_output(
    format_key: str | None,
    out: Path | None,
    endings: Mapping[str, str],
    option: str,
    usual: str,
) -> str:
    """Return the key of the format to write: `format_key`, or the format of the file's ending, or `usual`.

    Parameters
    ----------
    format_key : str or None
        Key that the option names.
    out : Path or None
        File to write; `usual` is returned for None and for the standard output.
    endings : Mapping of str to str
        Ending of the files of each format, by key.
    option : str
        Option of the format, for the error: "--to".
    usual : str
        Key of the default format.

    Raises
    ------
    PlanError
        If no format has the ending of the file.
    """
    if format_key is not None or out is None or is_standard(out):
        return format_key or usual
    form = next(
        (key for key, ending in endings.items() if out.suffix.lower() == ending), None
    )
    if form is None:
        expected = ", ".join(endings.values())
        raise PlanError(
            f"--out: expected a file ending in one of {expected}, or {option}, got {out}."
        )
    return form


def refuse_output_with_json(args: argparse.Namespace) -> None:
    """Refuse ``--out -`` with ``--json``, which would mix a file with JSON on the standard output.

    Raises
    ------
    ParameterError
        If both options are typed.
    """
    if is_standard(args.out) and args.json:
        raise ParameterError(
            "--out", "- with --json", "a file, because --json prints to standard output"
        )


def _write_to_stdout(content: str | bytes) -> None:
    """Write text or bytes to the standard output.

    Raises
    ------
    OutputError
        If the output is binary and would go to a terminal.
    """
    if isinstance(content, bytes) and sys.stdout.isatty() and not _is_text(content):
        raise OutputError(
            "Binary output is not written to a terminal. Redirect it with > FILE or | PROGRAM."
        )

    # Only a terminal needs escapes: a file or program gets the exact bytes.
    if sys.stdout.isatty():
        text = content if isinstance(content, str) else content.decode("utf-8")
        tell(Block(text.replace("\r\n", "\n")), end="")
        return

    # A name of a file may have bytes that are no valid text.
    data = (
        content.encode("utf-8", "backslashreplace")
        if isinstance(content, str)
        else content
    )
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:  # a caller captures the output as text
        sys.stdout.write(data.decode("utf-8", "backslashreplace"))
        return
    sys.stdout.flush()
    stream.write(data)
    stream.flush()


def _is_text(content: bytes) -> bool:
    """Return whether bytes are text in UTF-8."""
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
