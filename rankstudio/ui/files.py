"""Writing a file so that nobody ever finds half of it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from rankstudio.engine.errors import OutputError


def write_atomically(path: str | Path, contents: bytes) -> None:
    """Write a whole file or nothing: beside its place first, then into it.

    Parameters
    ----------
    path : str or Path
        Replaced if it exists.
    contents : bytes

    Raises
    ------
    OutputError
        If the folder is missing or not writable, or the disk is full. What was at ``path`` is untouched.
    """
    target = Path(path)
    spare: str | None = None
    try:
        handle, spare = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
        # mkstemp lets only the owner in; a figure is as open as the user's other files.
        Path(spare).chmod(0o666 & ~_umask())
        Path(spare).replace(target)
    except OSError as error:
        if spare is not None:
            Path(spare).unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise OutputError(f"{target} could not be written: {reason}.") from error


def _umask() -> int:
    """Return the process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
