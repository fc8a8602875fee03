"""CSV text larger than the memory budget: read some documents at a time into mapped files."""

from __future__ import annotations

from pathlib import Path

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.large import checksums
from rankstudio.engine.data.large.letor_reader import ChecksummedFiles, LargePart
from rankstudio.engine.data.large.rows import add_documents, check_same, one_part
from rankstudio.engine.data.large.table_folder import TableText
from rankstudio.engine.data.large.table_writer import TableWriter
from rankstudio.engine.data.large.text_chunks import unpacked_stream
from rankstudio.engine.data.letor.file_access import regular_file_size
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.data.tabular.csv_text import CsvTable, CsvText
from rankstudio.engine.data.tabular.documents import TableColumns, read_documents
from rankstudio.engine.errors import DatasetError, shown_path
from rankstudio.engine.language import tr

CHUNK = 1 << 22  # characters at a time


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
        text = CsvText(path, unpacked_stream(packed))
        refuse = part.treatment.missing == "refuse"
        while (columns := _next_columns(path, text, part.told, progress)).n_rows:
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


def _next_columns(path: Path, text: CsvText, told: DataColumns, progress: ReadProgress) -> TableColumns:
    return CsvTable(path, text, told, most=CHUNK, check=progress.check).columns
