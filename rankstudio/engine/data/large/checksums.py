"""Checksums of large files, remembered for as long as a file has the same size and times.

To read gigabytes again only to learn that they are the same would make every start slow. A checksum is
remembered by the file's place, number, size, time of its contents and time of its last change of any kind,
which a program that sets times back changes too. It is not remembered where the file was changed just before
it was read: within the resolution of a clock it could be changed again unnoticed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from pathlib import Path

from rankstudio.engine.data.letor import cache as parsed_files
from rankstudio.engine.errors import OutputError
from rankstudio.engine.support.files import write_bytes

_YOUNG = 2_000_000_000  # nanoseconds
_MOST = 1000  # files remembered

State = tuple[int, ...]


def state_of(path: Path) -> State:
    """Return what changes where a file does, as far as one sees from outside; () where it is too new.

    Raises
    ------
    OSError
        Where there is no such file.
    """
    status = path.stat()
    latest = max(status.st_mtime_ns, status.st_ctime_ns)
    if time.time_ns() - latest < _YOUNG:
        return ()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def recall(path: Path) -> str:
    """Return the checksum of a file as it is now; "" where it is not known."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        content = json.loads(_memory_of(path).read_text(encoding="utf-8"))
        state = state_of(path)
        if state and content["path"] == _name(path) and tuple(content["state"]) == state:
            os.utime(_memory_of(path))
            return str(content["checksum"])
    return ""


def remember(path: Path, state: State, checksum: str) -> None:
    """Remember the checksum of a file that was in a state before it was read, if it still is."""
    with suppress(OSError, OutputError):
        if not state or state_of(path) != state:
            return
        place = _memory_of(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        content = {"path": _name(path), "state": state, "checksum": checksum}
        write_bytes(place, json.dumps(content).encode())
        known = sorted(place.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for file in known[:-_MOST]:
            file.unlink(missing_ok=True)


def _name(path: Path) -> str:
    return ascii(str(path.absolute()))


def _memory_of(path: Path) -> Path:
    name = hashlib.sha256(_name(path).encode()).hexdigest()
    return parsed_files.folder().parent / "checksums" / f"{name}.json"
