"""Columns that hold a list of numbers for each document: they become one column per position in the lists.

PyTerrier's frames, datasets of Hugging Face and records of JSON have
features in this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.data.table import MOST_FEATURES
from rankstudio.engine.data.tabular.recognition import short
from rankstudio.engine.data.tabular.table_columns import TableColumns
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr, trn


def vector_names(name: str, length: int, *, is_only: bool) -> tuple[str, ...]:
    """Return the names of the columns that a column of lists becomes.

    If only one column of a table has lists, the names are "feature 1"
    and so on; otherwise the column's name is numbered.

    Examples
    --------
    >>> vector_names("scores", 2, is_only=True), vector_names("scores", 2, is_only=False)
    (('feature 1', 'feature 2'), ('scores 1', 'scores 2'))
    """
    stem = "feature" if is_only else name
    return tuple(f"{stem} {number}" for number in range(1, length + 1))


def check_length(location: str, name: str, length: int) -> None:
    """Raise DatasetError if lists in a column are longer than the maximum number of features.

    ``length`` is the length of the lists in the column ``name`` of the
    table ``location``.
    """
    if length > MOST_FEATURES:
        text = tr(
            '{where}: found lists of {n} values in column "{name}", expected at most {most}.'
        )
        raise DatasetError(
            text.format(where=location, n=length, name=name, most=MOST_FEATURES)
        )


def length_expected(length: int) -> str:
    """Return the text on the expected length of a list, for messages."""
    text = trn(
        "{n} value, as in the rows before", "{n} values, as in the rows before", length
    )
    return text.format(n=length)


def length_found(length: int, name: str) -> str:
    """Return the text on a list of another length, for messages."""
    return trn(
        '{n} value in column "{name}"', '{n} values in column "{name}"', length
    ).format(n=length, name=short(name))


def with_vectors(table: TableColumns) -> TableColumns:
    """Return a table in which each column of lists becomes several columns.

    A new column has the values at one position in the lists; other
    columns stay.

    Raises
    ------
    DataError
        If the lists of a column differ in length.

    Notes
    -----
    O(mk) for lists of k values; each column of lists is read once.
    """
    # Find the columns of lists, and the length of the lists in each, by position.
    columns: dict[int, NDArray[Any]] = {}
    lengths: dict[int, int] = {}
    for position in range(len(table.names)):
        values = table.column(position)
        length = _list_length(values)
        if length is not None:
            check_length(table.where, table.names[position], length)
            columns[position] = values
            lengths[position] = length
    if not lengths:
        return table
    matrices = {
        i: _matrix(table, i, values, lengths[i]) for i, values in columns.items()
    }
    # Name the new columns, and note the sources of their values.
    names: list[str] = []
    # (original column, index in its lists, or None for a column of single values)
    sources: list[tuple[int, int | None]] = []
    for position, name in enumerate(table.names):
        if position not in lengths:
            names.append(name)
            sources.append((position, None))
            continue
        names += vector_names(name, lengths[position], is_only=len(lengths) == 1)
        sources += [(position, index) for index in range(lengths[position])]

    def column(position: int) -> NDArray[Any]:
        """Return the values of a new column."""
        source, index = sources[position]
        return table.column(source) if index is None else matrices[source][:, index]

    return replace(table, names=tuple(names), column=column)


def _is_list(value: Any) -> TypeGuard[Sequence[Any]]:
    """Return whether a value is a list, a tuple or an array that has a dimension."""
    return isinstance(value, list | tuple) or (
        isinstance(value, np.ndarray) and value.ndim > 0
    )


def _list_length(values: NDArray[Any]) -> int | None:
    """Return the length of the first list in a column; None for a column of single values.

    A column is an array of lists, or already of shape (rows, length).
    """
    if values.ndim > 1:
        return int(values.shape[1])
    if values.dtype.kind != "O":
        return None
    first = next((value for value in values.tolist() if value is not None), None)
    return len(first) if _is_list(first) else None


def _matrix(
    table: TableColumns, position: int, values: NDArray[Any], length: int
) -> NDArray[Any]:
    """Return the lists of a column as the rows of an array of shape (rows, length).

    Rows without a list have missing values. ``position`` is the
    position of the column, for messages. Raise the error of the first
    row whose list has another length, or whose value is no list.
    """
    if values.ndim == 2:
        return values
    # A missing list is a row of missing values.
    rows: list[Sequence[Any]] = []
    missing_row = [None] * length
    for row, value in enumerate(values.tolist()):
        if value is None or (isinstance(value, float) and np.isnan(value)):
            rows.append(missing_row)
        elif not _is_list(value):
            name = short(table.names[position])
            text = tr('{what} in column "{name}"').format(
                what=f'"{short(str(value))}"', name=name
            )
            raise table.error(row, text, length_expected(length))
        elif len(value) != length:
            raise table.error(
                row,
                length_found(len(value), table.names[position]),
                length_expected(length),
            )
        else:
            rows.append(value)
    return _array(rows, length)


def _array(rows: Sequence[Sequence[Any]], length: int) -> NDArray[Any]:
    """Return rows, all of one length, as an array of shape (rows, length).

    The array has numbers, or objects if any value is no number: the
    reader of documents reports such values later.
    """
    # "biuf" are booleans, whole numbers and floats.
    are_arrays = all(
        isinstance(row, np.ndarray) and row.dtype.kind in "biuf" for row in rows
    )
    try:
        if are_arrays or {type(value) for row in rows for value in row} <= {int, float}:
            return np.array(rows, dtype=np.float64).reshape(len(rows), length)
    except (OverflowError, ValueError):
        pass
    # Enter the values one by one: NumPy would take apart nested lists.
    objects = np.empty((len(rows), length), dtype=object)
    for row, values in enumerate(rows):
        for column, value in enumerate(values):
            objects[row, column] = value
    return objects
