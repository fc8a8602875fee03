"""``-`` as the name of a file: the standard input, or the standard output."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from rankstudio.engine.errors import OutputError, ParameterError

STANDARD = Path("-")
"""What names the standard input where a file is read, and the standard output where one is written."""

_NAME = "standard-input"


def is_standard(path: Path | None) -> bool:
    """Tell whether a path is that of a standard stream; a file of that name is ``./-``."""
    return path is not None and str(path) == str(STANDARD)


def input_file(path: Path, ending: str = "") -> Path:
    """Return a file to read: the one named, or a temporary one with what the standard input has.

    Parameters
    ----------
    path : Path
    ending : str
        Of the name of such a file, where names tell the format.

    Raises
    ------
    OutputError
        Where there is no place for it.
    """
    if not is_standard(path):
        return path
    from rankstudio.engine.support.files import temporary_folder, write_bytes

    content = sys.stdin.buffer.read() if sys.stdin is not None else b""
    try:
        folder = temporary_folder()
    except OSError as error:
        raise OutputError(f"Standard input could not be stored: {error.strerror or error}.") from error
    write_bytes(folder / f"{_NAME}{ending}", content)
    return folder / f"{_NAME}{ending}"


def shown_input(path: Path) -> str:
    """Return how a sentence calls what is read."""
    return "standard input" if is_standard(path) else str(path)


def write_output(path: Path, content: str | bytes) -> None:
    """Write a file and say so on the error stream, or write to the standard output.

    Raises
    ------
    OutputError
        Where it cannot be written, or is no text and would go to a terminal.
    """
    if is_standard(path):
        _print(content)
        return
    from rankstudio.engine.support.files import write_bytes, write_text

    write_text(path, content) if isinstance(content, str) else write_bytes(path, content)
    print(f"Written: {path}", file=sys.stderr)


def print_file(path: Path) -> None:
    """Write what a file holds to the standard output, a piece at a time.

    Raises
    ------
    OutputError
        Where it is no text and would go to a terminal.
    """
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None or sys.stdout.isatty():
        _print(path.read_bytes())
        return
    sys.stdout.flush()
    with path.open("rb") as file:
        shutil.copyfileobj(file, stream)
    stream.flush()


def refuse_output_with_json(args: argparse.Namespace) -> None:
    """Refuse to print a file and JSON about it into one another.

    Raises
    ------
    ParameterError
    """
    if is_standard(args.out) and args.json:
        raise ParameterError("--out", "- with --json", "a file, because --json prints to standard output")


def _print(content: str | bytes) -> None:
    if isinstance(content, bytes) and sys.stdout.isatty() and not _is_text(content):
        raise OutputError("Binary output is not written to a terminal. Redirect it with > FILE or | PROGRAM.")
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:  # somebody reads what is printed as text
        sys.stdout.write(data.decode("utf-8", "backslashreplace"))
        return
    sys.stdout.flush()
    stream.write(data)
    stream.flush()


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
