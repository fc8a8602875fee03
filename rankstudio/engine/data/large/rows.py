"""Documents of some rows of a table, on their way to the arrays of all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.large.table_writer import TableWriter
from rankstudio.engine.data.letor.parsed_table import Table
from rankstudio.engine.errors import DatasetError, shown_path
from rankstudio.engine.language import tr


def one_part(path: Path, table: Table) -> Table:
    """Return documents that no column divides into parts.

    Raises
    ------
    DatasetError
        Where one does.
    """
    if table.parts.size:
        raise DatasetError(
            tr(
                "{path}: the column {column} names the part of each document, and the file is larger than "
                "the memory budget allows; please write each part to a file of its own, allow more memory, "
                "or ignore that column."
            ).format(path=shown_path(path), column=f'"{table.told_by[2]}"')
        )
    return table


def add_documents(writer: TableWriter, table: Table, line: Callable[[int], int], share: float) -> None:
    """Write documents in the order of the file.

    Parameters
    ----------
    writer : TableWriter
    table : Table
    line : callable
        From a row of these to where it is in the file.
    share : float
        Which share of all documents have come in with these, about.
    """
    query_of = np.repeat(np.arange(len(table.query_ids)), np.diff(table.query_ptr))
    X, y, comments = table.X, table.y, table.comments
    assert isinstance(comments, TextComments)
    if table.file_rows.size:
        back = np.argsort(table.file_rows)
        X, y, query_of = X[back], y[back], query_of[back]
        texts = [comments[i].encode("utf-8", errors="backslashreplace") for i in back.tolist()]
        content = np.frombuffer(b"".join(texts), dtype=np.uint8)
        comments = TextComments(content, np.cumsum([0, *map(len, texts)], dtype=np.int64))
    starts = np.flatnonzero(np.diff(query_of, prepend=-1))
    ids = [table.query_ids[query] for query in query_of[starts].tolist()]
    lengths = np.diff(starts, append=len(y)).tolist()
    runs = zip(ids, lengths, strict=True)
    writer.add(X, y, comments, table.missing, runs, lambda run: line(int(starts[run])), share)


def check_same(path: Path, row: int, first: Table, table: Table) -> None:
    """Refuse rows whose columns are not those of the first ones: numbers there and text here, say.

    Raises
    ------
    DatasetError
    """
    if (first.feature_names, first.told_by) != (table.feature_names, table.told_by):
        raise DatasetError(
            tr(
                "{path}: found other features from row {row} on than before, expected the same columns with "
                "numbers in all rows and files of a part."
            ).format(path=shown_path(path), row=row + 1)
        )
