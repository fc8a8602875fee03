"""SQLite's log beside a database. SQLite itself passes over what is damaged in one, and all that comes after.

See "WAL-mode File Format" and "The WAL-Index File Format" in SQLite's documentation.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import BinaryIO

_HEADER = struct.Struct(">8I")
"""Magic number, version, size of a page, sequence, two salts, checksum in two parts."""
_FRAME = struct.Struct(">6I")
"""Page, size of the database where a commit ends, two salts, checksum in two parts."""
_READ_AT = 16
"""Where the index of a log, which SQLite makes when it reads one, says how many frames it has read."""


def is_whole(path: Path) -> bool:
    """Return whether SQLite, which has just read a database, found all that was committed in its log.

    Of the commit that was being written when the computer went down there may be frames behind those that
    SQLite took; of two commits there cannot be.
    """
    try:
        with Path(f"{path}-wal").open("rb") as log, Path(f"{path}-shm").open("rb") as index:
            start = log.read(_HEADER.size)
            if len(start) < _HEADER.size:
                return True  # nothing was committed yet
            values = _HEADER.unpack(start)
            if values[6:] != _checksum(start[:24], values[0] & 1 == 1):
                return not log.read(_FRAME.size)
            index.seek(_READ_AT)
            n_read = int.from_bytes(index.read(4), sys.byteorder)
            return _commits(log, n_read, values[2], values[4:6]) < 2
    except OSError:
        return True  # there is none


def _commits(log: BinaryIO, n_read: int, page: int, salts: tuple[int, ...]) -> int:
    """Return how many commits of a log's present round there are behind the frames that were read."""
    found = 0
    at = _HEADER.size + n_read * (_FRAME.size + page)
    while True:
        log.seek(at)
        start = log.read(_FRAME.size)
        if len(start) < _FRAME.size:
            return found
        values = _FRAME.unpack(start)
        found += values[1] > 0 and values[2:4] == salts
        at += _FRAME.size + page


def _checksum(content: bytes, big: bool) -> tuple[int, int]:
    one = other = 0
    for a, b in struct.iter_unpack(">2I" if big else "<2I", content):
        one = (one + a + other) & 0xFFFFFFFF
        other = (other + b + one) & 0xFFFFFFFF
    return one, other
