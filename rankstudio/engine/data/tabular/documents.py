"""From the columns of a table to documents grouped by query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.comments import TextComments
from rankstudio.engine.data.letor.format_errors import MOST_FEATURES
from rankstudio.engine.data.letor.parsed_table import Scattered, Table
from rankstudio.engine.data.letor.query_groups import group_by_size
from rankstudio.engine.data.tabular.parts import PART_EXPECTED, part_code, says_parts
from rankstudio.engine.data.tabular.recognition import RecognisedColumns, recognise_columns, short
from rankstudio.engine.errors import DataError, DatasetError
from rankstudio.engine.support import memory

MISSING = ("", "NULL", "null", "Null", "NaN", "nan", "NAN", "NA", "N/A", "n/a", "None", "<NA>", "#N/A")
"""What says in text that there is no value."""


class RowError(Protocol):
    """Makes the error of a row, of what was found there and what was expected."""

    def __call__(self, row: int, found: str, expected: str, missing: bool = False, /) -> DataError:
        """Return the error; of a missing value that is to be refused where that is it."""
        ...


@dataclass(frozen=True)
class TableColumns:
    """The columns of a table, wherever it is.

    Attributes
    ----------
    where : str
        The table, for sentences.
    names : tuple of str
    n_rows : int
    column : callable
        Returns the values at a position: numbers, or objects where a value is none.
    texts : callable
        Returns the values at a position as they are written.
    error : RowError
    line : callable
        Returns where a row is, counted from 1.
    unit : str
        What is so counted: "line" or "row".
    text_numbers : bool
        Whether a text may be a number, as in a file of text.
    has_header : bool
        Whether the names are its own.
    """

    where: str
    names: tuple[str, ...]
    n_rows: int
    column: Callable[[int], NDArray[Any]]
    texts: Callable[[int], NDArray[Any]]
    error: RowError
    line: Callable[[int], int]
    unit: str = "row"
    text_numbers: bool = False
    has_header: bool = True


def read_documents(
    table: TableColumns,
    told: DataColumns,
    *,
    sizes: Ints | None = None,
    refuse: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Table:
    """Read the documents of a table.

    Parameters
    ----------
    table : TableColumns
    told : DataColumns
        Which of the columns are what, as far as it is said.
    sizes : int64 array of shape (Q,), optional
        How many documents each query has, where no column tells the query.
    refuse : bool
        Whether a missing value is an error.
    check : callable, optional
        Called between columns; it may raise.

    Returns
    -------
    Table
        Grouped by query, NaN where a value is missing.

    Raises
    ------
    DatasetError, FormatError
        Where columns are unknown, or a value is none that its column can have.

    Notes
    -----
    O(mn + m log m) for m rows and n features.
    """
    found = recognise_columns(
        table.where,
        table.names,
        told,
        with_sizes=sizes is not None,
        has_header=table.has_header,
        says_parts=lambda position: says_parts(table.texts(position)),
    )
    if table.n_rows == 0:
        raise DatasetError(f"{table.where}: found no rows, expected at least one document.")
    if len(found.features) > MOST_FEATURES:
        raise DatasetError(f"{table.where}: found {len(found.features)} features, expected {MOST_FEATURES}.")
    _check_memory(table, len(found.features))
    y = _numbers(table, found.label, "a relevance label, which is a finite number")
    if np.isnan(y).any():
        row = int(np.isnan(y).argmax())
        raise table.error(row, _found(table, found.label, "nothing"), "a relevance label, which is a number")
    if found.qid is None and sizes is not None:
        query_ptr, ids = group_by_size(table.where, sizes, table.n_rows)
        order, scattered = np.zeros(0, dtype=np.int64), None
    else:
        query_ptr, ids, order, scattered = _queries(table, found.qid or 0)
    parts = _parts(table, found.part)
    X, kept, left_out = _features(table, found, check)
    missing = np.isnan(X).sum(axis=0).astype(np.int64)
    if refuse and missing.any():
        row, column = (int(place[0]) for place in np.nonzero(np.isnan(X)))
        expected = "a number for every feature, because missing values are to be refused"
        raise table.error(row, _found(table, kept[column], "nothing"), expected, True)
    if scattered is not None:
        X, y, parts = X[order], y[order], parts[order] if parts.size else parts
    return Table(
        X=X,
        y=y,
        query_ptr=query_ptr,
        query_ids=ids,
        comments=_comments(table, found, order),
        missing=missing,
        dense=True,
        scattered=scattered,
        file_rows=order,
        feature_names=tuple(table.names[i] for i in kept) if table.has_header else (),
        told_by=tuple("" if i is None else table.names[i] for i in (found.qid, found.label, found.part)),
        left_out=tuple(table.names[i] or "without a name" for i in (*found.ignored, *left_out)),
        parts=parts,
    )


def _parts(table: TableColumns, position: int | None) -> Ints:
    """Return in which part each document is, where a column says so."""
    if position is None:
        return np.zeros(0, dtype=np.int64)
    values = table.texts(position).tolist()
    codes = [part_code(value) for value in values]
    if None in codes:
        row = codes.index(None)
        raise table.error(row, _found(table, position, _quoted(values[row])), PART_EXPECTED)
    return np.array(codes, dtype=np.int64)


def _numbers(table: TableColumns, position: int, expected: str) -> Floats:
    """Return a column as numbers, NaN where there is none."""
    values = table.column(position)
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64)
        if values.dtype.kind == "f" and np.isinf(numbers).any():
            row = int(np.isinf(numbers).argmax())
            raise table.error(row, _found(table, position, str(numbers[row])), expected)
        return numbers
    numbers = np.empty(len(values))
    for row, value in enumerate(values.tolist()):
        number = _number(value, table.text_numbers) if values.dtype.kind in "OUST" else None
        if number is None:
            raise table.error(row, _found(table, position, _quoted(value)), expected)
        numbers[row] = number
    return numbers


def _number(value: Any, text_numbers: bool) -> float | None:
    """Return a value as a finite number, or NaN for a missing one; None for what is neither."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return np.nan
    if isinstance(value, str):
        text = value.strip()
        if text in MISSING:
            return np.nan
        if not text_numbers or "_" in text or not text.isascii():
            return None
        if text.lower() in ("true", "false"):
            return float(text.lower() == "true")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if np.isinf(number) else number


def is_numeral(text: str) -> bool:
    """Tell whether a text in a table is a number, or says that there is none."""
    return _number(text, True) is not None


def _features(
    table: TableColumns, found: RecognisedColumns, check: Callable[[], None]
) -> tuple[Floats, list[int], list[int]]:
    """Return the values of the features, their positions, and those that were left out."""
    X = np.empty((table.n_rows, len(found.features)))
    kept: list[int] = []
    left_out: list[int] = []
    for position in found.features:
        check()
        name = table.names[position]
        expected = f'a number, or to ignore "{short(name)}" where it is no feature'
        try:
            X[:, len(kept)] = _numbers(table, position, expected)
        except DataError:
            if position not in found.unsure:
                raise
            left_out.append(position)
            continue
        kept.append(position)
    if not kept:
        raise DatasetError(f"{table.where}: found no column of numbers beside query and label.")
    return (X if not left_out else np.ascontiguousarray(X[:, : len(kept)])), kept, left_out


def _queries(table: TableColumns, position: int) -> tuple[Ints, tuple[str, ...], Ints, Scattered | None]:
    """Return the first row of each query, the ids by first appearance, and the order of the rows."""
    from pandas import factorize  # noqa: PLC0415 - it takes long to import

    codes, unique = factorize(table.texts(position), use_na_sentinel=True)
    texts = [_id_text(value) for value in list(unique)]
    bad = (codes < 0) | np.isin(codes, [i for i, text in enumerate(texts) if not text])
    if bad.any():
        raise table.error(int(bad.argmax()), _found(table, position, "nothing"), "the id of a query")
    numbers: dict[str, int] = {}
    same = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
    query_of, ids = same[codes], tuple(numbers)
    query_ptr = np.concatenate([[0], np.cumsum(np.bincount(query_of))]).astype(np.int64)
    order, scattered = _grouping(table, query_of, ids)
    return query_ptr, ids, order, scattered


def _id_text(value: Any) -> str:
    """Return the id of a query as text: 7 of 7.0, which is how pandas has an integer beside a missing one."""
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="backslashreplace").strip()
    return str(value).strip()


def _grouping(table: TableColumns, query_of: Ints, ids: Sequence[str]) -> tuple[Ints, Scattered | None]:
    """Return the rows query by query, and what to tell where documents of one do not stand together."""
    starts = np.flatnonzero(np.diff(query_of, prepend=-1))
    if len(starts) == len(ids):
        return np.zeros(0, dtype=np.int64), None
    seen: set[int] = set()
    back: dict[int, int] = {}
    for start, query in zip(starts.tolist(), query_of[starts].tolist(), strict=True):
        if query in seen:
            back.setdefault(query, start)
        seen.add(query)
    query, row = min(back.items(), key=lambda item: item[1])
    scattered = Scattered(len(back), ids[query], table.line(row), table.unit)
    return np.argsort(query_of, kind="stable"), scattered


def _comments(table: TableColumns, found: RecognisedColumns, order: Ints) -> TextComments:
    """Return what is kept of each document: its comment, or its id as LETOR writes it."""
    if found.comment is None:
        return TextComments(np.zeros(0, dtype=np.uint8), np.zeros(table.n_rows + 1, dtype=np.int64))
    values = table.texts(found.comment)
    rows = values[order] if order.size else values
    texts = [_comment(value, found.comment_is_id) for value in rows.tolist()]
    content = [text.encode("utf-8", errors="backslashreplace") for text in texts]
    offsets = np.cumsum([0, *map(len, content)], dtype=np.int64)
    return TextComments(np.frombuffer(b"".join(content), dtype=np.uint8).copy(), offsets)


def _comment(value: Any, is_id: bool) -> str:
    missing = value is None or value != value  # noqa: PLR0124 - only NaN differs from itself
    text = "" if missing else _id_text(value) if is_id else str(value)
    return f"docid = {text}" if is_id and text else " ".join(text.splitlines())


def _check_memory(table: TableColumns, n: int) -> None:
    needed, free = 8 * n * table.n_rows, memory.available()
    if needed > free:
        raise DatasetError(
            f"{table.where}: {table.n_rows} documents with {n} features need {needed / 1e9:.1f} GB of "
            f"memory, and {memory.size(free)} are free."
        )


def _found(table: TableColumns, position: int, what: str) -> str:
    return f'{what} in column "{short(table.names[position])}"'


def _quoted(value: Any) -> str:
    return f'"{short(str(value))}"'
