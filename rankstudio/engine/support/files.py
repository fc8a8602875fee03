"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import atexit
import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rankstudio.engine.errors import OutputError
from rankstudio.engine.language import tr

_TEMPORARY_PREFIX = ".rankstudio-"
_TEMPORARY_SUFFIX = ".part"
# an older temporary file was left by a process that died
_ABANDONED_SECONDS = 24 * 60 * 60


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file completely or not at all: under a temporary name first, then renamed.

    Raises
    ------
    OutputError
        If the file cannot be written; an existing file is then unchanged.
    """
    write_pieces(path, (content,))


def write_pieces(path: str | Path, pieces: Iterable[bytes]) -> None:
    """Write a file from consecutive pieces, completely or not at all.

    An existing file is replaced in the end. Raise OutputError if the
    file cannot be written.
    """
    path = Path(path)
    try:
        with _temporary_file(path, pieces) as temporary_path:
            temporary_path.replace(path)
    except OSError as error:
        raise OutputError(
            tr("{path} could not be written: {strerror}.").format(
                path=path, strerror=error.strerror or error
            )
        ) from error


def create_file(path: Path, content: bytes) -> None:
    """Create a new file, completely and flushed to disk, or not at all.

    Raises
    ------
    FileExistsError
        If the file exists.
    OSError
        If the file cannot be written; none is then left.
    """
    with _temporary_file(path, (content,)) as temporary_path:
        _sync(temporary_path)
        try:
            os.link(temporary_path, path)  # unlike a move, it never replaces a file
        except FileExistsError:
            raise
        except OSError:  # a disk without links
            with path.open("xb") as file:
                file.write(content)
            _sync(path)


def write_text(path: str | Path, text: str) -> None:
    """Write a text in UTF-8 with LF line ends, completely or not at all.

    Raise OutputError if the file cannot be written.
    """
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        # Such as the name of a file that is not UTF-8: the message
        # quotes the text around it.
        part = ascii(text[max(error.start - 20, 0) : error.end + 20])
        raise OutputError(
            tr(
                "{path} could not be written: names must be UTF-8, found {part}."
            ).format(path=path, part=part)
        ) from error
    write_bytes(path, content)


def make_folder(path: str | Path) -> Path:
    """Create a folder and its parents if missing, and return its path.

    Raises
    ------
    OutputError
        If the folder cannot be created.
    """
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        text = tr("{path}: the folder could not be created: {strerror}.")
        raise OutputError(
            text.format(path=path, strerror=error.strerror or error)
        ) from error
    return path


def read_text(
    path: Path,
    max_bytes: int = 256 << 20,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> str:
    """Read the text of a regular file of at most ``max_bytes`` bytes.

    Devices and pipes are refused, because they may have no end.
    ``encoding`` and ``errors`` are those of Python's ``open``.

    Raises
    ------
    OSError
        If the file cannot be read, is not a regular file or is larger.
    ValueError
        If the text is not in this encoding.
    """
    # A folder passes here: reading it below raises its own OSError.
    status = path.stat()
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        raise OSError(errno.EINVAL, "found a device or a pipe, expected a file")
    if status.st_size > max_bytes:
        raise OSError(
            errno.EFBIG, f"it has {status.st_size} bytes, expected at most {max_bytes}"
        )
    return path.read_text(encoding=encoding, errors=errors)


def is_there(path: Path) -> bool:
    """Return whether a file or folder exists; False if the system cannot check."""
    try:
        return path.exists()
    except OSError:  # a name that is too long, a folder that may not be read
        return False


def remove_abandoned(folder: Path, pattern: str) -> None:
    """Remove files and folders in a folder that have not changed for a day.

    ``pattern`` is a glob pattern for the names of temporary files; only
    those are removed. A process that was killed leaves such files
    behind.
    """
    for path in folder.glob(pattern):
        with suppress(OSError):  # another user's, or gone by now
            if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


def temporary_folder() -> Path:
    """Create a private folder that is removed when this process ends, and return its path.

    Raises
    ------
    OSError
        If the system has no folder for temporary files that can be written.
    """
    path = Path(tempfile.mkdtemp(prefix="rankstudio-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@contextmanager
def _temporary_file(path: Path, pieces: Iterable[bytes]) -> Iterator[Path]:
    """Provide a temporary file with some content in the folder of ``path``, and yield its path.

    ``pieces`` are the content. At the end of the with statement the
    file is removed, unless it was renamed.
    """
    # Files that a process left behind when it was ended.
    remove_abandoned(path.parent, f"{_TEMPORARY_PREFIX}*{_TEMPORARY_SUFFIX}")
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=_TEMPORARY_PREFIX, suffix=_TEMPORARY_SUFFIX
    )
    temporary_path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
        # mkstemp makes files that only their owner may read; results
        # are as public as their folder.
        temporary_path.chmod(0o666 & ~_umask())
        yield temporary_path
    finally:
        temporary_path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Flush a file to the disk."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _umask() -> int:
    """Return the process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
