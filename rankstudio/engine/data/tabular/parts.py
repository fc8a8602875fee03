"""The column of a table that says of each document in which part it is: train, vali or test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.comments import TakenComments
from rankstudio.engine.data.table import Table
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr

PART_NAMES = ("part", "split", "set", "subset", "partition", "fold")
"""What such a column is called; it is one where its values are the words below too."""

PART_WORDS = {
    "train": ("train", "training"),
    "vali": ("vali", "val", "valid", "validation", "dev"),
    "test": ("test", "testing"),
}
"""Words for each part."""

PART_EXPECTED = "train, vali or test (or training, valid, validation, dev …)"
_CODES = {word: code for code, words in enumerate(PART_WORDS.values()) for word in words}


def part_code(value: object) -> int | None:
    """Return which part a value names, from 0; None for none.

    Examples
    --------
    >>> part_code(" Valid"), part_code(1.0)
    (1, None)
    """
    return _CODES.get(value.strip().lower()) if isinstance(value, str) else None


def says_parts(values: NDArray[Any]) -> bool:
    """Tell whether every value of a column names a part. O(m)."""
    if values.dtype.kind not in "OUT" or not len(values):
        return False
    listed = values.tolist()
    if not all(isinstance(value, str) for value in listed):
        return False
    return all(part_code(value) is not None for value in set(listed))


def tables_by_part(table: Table, part: str) -> Mapping[str, Table]:
    """Return the documents of each part that a table names; all as those of one part where it names none.

    A query with documents in several parts is a query of each of them, which is said.

    Notes
    -----
    O(mn); documents that stand together are not copied.
    """
    if not table.parts.size:
        return {part: table}
    noted = replace(table, said=(*table.said, *_shared_queries(table)))
    return {tuple(PART_WORDS)[code]: _rows_of(noted, code) for code in np.unique(table.parts).tolist()}


def misplaced_part(path: Path, part: str, expected: str) -> DatasetError:
    """Return the error of a part that is not alone where it is, or alone where it should not be."""
    return DatasetError(
        tr("{path}: found documents of the {part} part, expected {expected}.").format(
            path=path, part=part, expected=expected
        )
    )


def _shared_queries(table: Table) -> tuple[str, ...]:
    """Say how many queries have documents in several parts, where some have. O(m)."""
    starts = table.query_ptr[:-1]
    least, greatest = (function.reduceat(table.parts, starts) for function in (np.minimum, np.maximum))
    n = int(np.sum(least != greatest))
    if not n:
        return ()
    what = "1 query has" if n == 1 else f"{n} queries have"
    return (f"{what} documents in more than one part, so test results may be optimistic.",)


def _rows_of(table: Table, code: int) -> Table:
    rows = np.flatnonzero(table.parts == code)
    together = rows[-1] - rows[0] + 1 == rows.size
    taken = slice(int(rows[0]), int(rows[-1]) + 1) if together else rows
    query_of = np.repeat(np.arange(len(table.query_ids)), np.diff(table.query_ptr))[taken]
    queries, counts = np.unique(query_of, return_counts=True)
    X = table.X[taken]
    return replace(
        table,
        X=X,
        y=table.y[taken],
        query_ptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        query_ids=tuple(table.query_ids[query] for query in queries.tolist()),
        comments=TakenComments(table.comments, rows),
        missing=np.isnan(X).sum(axis=0).astype(np.int64),
        file_rows=_order(table.file_rows[taken]) if table.file_rows.size else table.file_rows,
        parts=np.zeros(0, dtype=np.int64),
    )


def _order(places: Ints) -> Ints:
    """Return the position of each document among those of its part in the file."""
    found = np.empty(places.size, dtype=np.int64)
    found[np.argsort(places)] = np.arange(places.size)
    return found
