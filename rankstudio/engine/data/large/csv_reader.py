"""CSV text larger than the memory budget: read some whole lines at a time into mapped files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rankstudio.engine.data.large import checksums
from rankstudio.engine.data.large.letor_reader import ChecksummedFiles, LargePart
from rankstudio.engine.data.large.rows import add_documents, check_same, one_part
from rankstudio.engine.data.large.table_folder import TableText
from rankstudio.engine.data.large.table_writer import TableWriter
from rankstudio.engine.data.large.text_chunks import PackedFile, text_chunks
from rankstudio.engine.data.letor.file_access import PADDING, regular_file_size
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.data.tabular.csv_text import CsvTable, read_head
from rankstudio.engine.data.tabular.documents import read_documents
from rankstudio.engine.errors import DatasetError, shown_path
from rankstudio.engine.language import tr

CHUNK = 1 << 22  # bytes of text at a time; as text, each of its cells is an object
_MOST = 1 << 28  # bytes in which a quotation mark has to be closed


def csv_width(head: bytes) -> int:
    """Return how many cells a line has, about, by the beginning of a text."""
    line = next((line for line in head.split(b"\n") if line.strip()), b"")
    return 1 + max(line.count(delimiter) for delimiter in (b",", b"\t", b";", b"|"))


def read_csv_pieces(part: LargePart, progress: ReadProgress, files: ChecksummedFiles) -> Table:
    """Read a CSV file; see `letor_reader.read_large`.

    Raises
    ------
    DataError
        Where it cannot be read, or its columns are not the same from beginning to end.
    """
    (path,) = part.paths
    with TableWriter(path, part.treatment, "line") as writer:
        first: Table | None = None
        state = checksums.state_of(path)
        packed = files.open(path, progress)
        for text, offset in _texts(path, packed):
            progress.check()
            columns = CsvTable(path, text, part.told, offset=offset, check=progress.check).columns
            if not columns.n_rows:
                continue
            refuse = part.treatment.missing == "refuse"
            table = one_part(path, read_documents(columns, part.told, refuse=refuse))
            first = first or table
            check_same(path, writer.n_documents, first, table)
            add_documents(writer, table, columns.line, packed.done / max(packed.size, 1))
        files.add(packed, state)
        if first is None:
            raise DatasetError(
                tr("{path}: found no rows, expected at least one document.").format(path=shown_path(path))
            )
        known = first
        sources = ((regular_file_size(path), files.found[0]),)
        return writer.finish(
            max(known.X.shape[1], part.n_features),
            lambda: part.key(files.found),
            lambda ids, scattered: TableText(
                ids, True, scattered, sources, known.feature_names, known.left_out, known.told_by
            ),
        )


def _texts(path: Path, packed: PackedFile) -> Iterator[tuple[bytes, int]]:
    """Yield the header with some whole lines at a time, and how many lines of the file are not there."""
    header, rest, done = b"", b"", 0
    for chunk in text_chunks(packed, CHUNK):
        text = rest + chunk[: len(chunk) - PADDING].tobytes()
        end = _end_of_lines(text)
        rest = text[end:]
        if len(rest) > _MOST:
            raise DatasetError(
                f"{shown_path(path)}: found a quotation mark that is not closed within {_MOST >> 20} MB, and "
                "the file is larger than the memory budget allows; please mend it, or allow more memory."
            )
        if end:
            n_lines = text.count(b"\n", 0, end)
            yield header + text[:end], done - header.count(b"\n")
            header = header or _header(path, text[:end])
            done += n_lines
    if rest:
        yield header + rest, done - header.count(b"\n")


def _header(path: Path, text: bytes) -> bytes:
    """Return the lines before the first document."""
    end = 0
    for _ in range(read_head(path, text).n_lines):
        end = text.find(b"\n", end) + 1
    return text[:end]


def _end_of_lines(text: bytes) -> int:
    """Return behind which newline to cut: the last one outside of quotation marks, 0 for none."""
    if b'"' not in text:
        return text.rfind(b"\n") + 1
    content = np.frombuffer(text, dtype=np.uint8)
    ends = np.flatnonzero(content == ord("\n"))
    marks = np.searchsorted(np.flatnonzero(content == ord('"')), ends)
    outside = ends[marks % 2 == 0]
    return int(outside[-1]) + 1 if outside.size else 0
