"""Estimates of the memory that the contents of files take, from their sizes and their beginnings."""

from __future__ import annotations

import re
from pathlib import Path

from rankstudio.engine.data.data_format import ContentsNeed, DataFormat
from rankstudio.engine.data.file_access import (
    HEAD,
    read_beginning,
    regular_file_size,
    without_ending,
)
from rankstudio.engine.support.sparse_rows import worth_it

# approximate size of a text, as a multiple of its compressed file
_COMPRESSION_FACTOR = 6
_PER_DOCUMENT = 60  # bytes of a document besides its features
# the text of a feature is a name and a value of several digits
_TABLE_BYTES_PER_JSON_BYTE = 0.5
_ID = re.compile(rb"[ \t](\d{1,10}):")


def no_need(_: DataFormat, _path: Path) -> ContentsNeed:
    """Return the need of 0 bytes of memory, for formats whose files are always read into memory.

    The need decides whether a file is read into memory or from disk.
    The parameters, which all such functions have, are not used.
    """
    return ContentsNeed(0.0, 0.0)


def json_need(_: DataFormat, path: Path) -> ContentsNeed:
    """Return the need of records or logs in JSON."""
    text = _text_size(path)
    return ContentsNeed(_TABLE_BYTES_PER_JSON_BYTE * text, text)


def csv_need(_: DataFormat, path: Path) -> ContentsNeed:
    """Estimate the memory that a CSV table needs, from its beginning and its size.

    The beginning shows the length of lines and the number of columns.
    The first parameter, the format, is not used.
    """
    from rankstudio.engine.data.formats.csv_text import csv_width  # noqa: PLC0415 - first needed here

    head = read_beginning(path, HEAD)
    text_bytes = _text_size(path)  # decompressed
    n_lines = text_bytes * max(head.count(b"\n"), 1) / max(len(head), 1)
    return ContentsNeed(n_lines * (8 * csv_width(head) + _PER_DOCUMENT), text_bytes)


def text_need(_: DataFormat, path: Path) -> ContentsNeed:
    """Estimate the memory that LETOR or SVMlight text needs.

    The beginning of the file shows the length of lines, the greatest
    feature id, and whether most values are 0, so that they are not
    stored. The first parameter, the format, is not used.
    """
    head = read_beginning(path, HEAD)
    text_bytes = _text_size(path)  # decompressed
    # At least 1, also for a line that is longer than the beginning.
    n_head_lines = max(head.count(b"\n"), 1)
    ids = _ID.findall(head)
    width = max(map(int, set(ids)), default=1)
    n_lines = text_bytes * n_head_lines / max(len(head), 1)
    stores_no_zeros = worth_it(int(n_lines), width, n_lines * len(ids) / n_head_lines)
    # Without zeros, a document has a value and its column for each of its entries.
    n_numbers = 2 * len(ids) // n_head_lines if stores_no_zeros else width
    return ContentsNeed(
        n_lines * (8 * n_numbers + _PER_DOCUMENT), text_bytes, stores_no_zeros
    )


def _text_size(path: Path) -> float:
    """Return the approximate size of the text of a file."""
    size = float(regular_file_size(path))
    return (
        size if without_ending(path.name) == path.name else _COMPRESSION_FACTOR * size
    )
