"""The documents of frames of pandas and polars."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.read_progress import ReadProgress
from rankstudio.engine.data.table import Table
from rankstudio.engine.data.table_builder import PartFiles, TableInMemory
from rankstudio.engine.data.tabular.documents import ColumnsReader, TableColumns
from rankstudio.engine.data.tabular.parts import PART_WORDS, part_code
from rankstudio.engine.data.tabular.recognition import clean_name, listed, short
from rankstudio.engine.errors import DataError, DatasetError, ParameterError

_WHERE = "The frame"


def table_of_frame(frame: Any, told: DataColumns, *, refuse: bool) -> Table:
    """Return the documents of a frame; see :meth:`RankingDataset.from_frame`."""
    part = PartFiles((Path(_WHERE),), told=told, refuse=refuse)
    builder = TableInMemory(part.paths[0])
    reader = ColumnsReader(part, builder, ReadProgress())
    reader.add(part.paths[0], frame_columns(frame))
    return builder.finish(reader.facts("row"))


def frames_of_folds(frame: Any, part: str, fold: str) -> list[tuple[str, dict[str, Any]]]:
    """Return what each fold is called, and its rows by part; see :meth:`FoldedDataset.from_frame`.

    Raises
    ------
    DatasetError
        Where a column is not there, names no part, or a fold has no training part.
    """
    columns = frame_columns(frame)
    positions = {what: _position(columns, what) for what in (part, fold) if what}
    parts = [str(value).strip().lower() for value in columns.column(positions[part]).tolist()]
    unknown = sorted(text for text in set(parts) if part_code(text) is None)
    if unknown:
        expected = "train, vali or test"
        raise DatasetError(
            f'{_WHERE}: found "{short(unknown[0])}" in column "{short(part)}", expected {expected}.'
        )
    numbers = columns.column(positions[fold]).tolist() if fold else [1] * columns.n_rows
    of_row = np.array([f"{number}" for number in numbers])
    ids = sorted(dict.fromkeys(of_row.tolist()), key=lambda text: (len(text), text))
    kind_of_row = np.array(tuple(PART_WORDS))[[part_code(text) or 0 for text in parts]]
    made = []
    for one in ids:
        rows = {kind: np.flatnonzero((of_row == one) & (kind_of_row == kind)) for kind in PART_WORDS}
        if not rows["train"].size:
            raise DatasetError(f"{_WHERE}: found no training part of fold {short(one)}, expected one.")
        made.append((short(one), {kind: _rows(frame, some) for kind, some in rows.items() if some.size}))
    return made


def _position(columns: TableColumns, name: str) -> int:
    """Return the position of a column by its name."""
    if clean_name(name) not in columns.names:
        raise DatasetError(
            f'{_WHERE}: found no column "{short(name)}", expected one of {listed(columns.names)}.'
        )
    return columns.names.index(clean_name(name))


def _rows(frame: Any, rows: Ints) -> Any:
    """Return some rows of either kind of frame."""
    return frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows]


def frame_columns(frame: Any, where: str = _WHERE) -> TableColumns:
    """Return the columns of a frame.

    Raises
    ------
    ParameterError
        For what is no frame of pandas or polars.
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "__getitem__") or not hasattr(frame, "shape"):
        raise ParameterError("frame", type(frame).__name__, "a frame of pandas or polars")
    names = tuple(map(clean_name, frame.columns))

    def series(position: int) -> Any:
        return frame.iloc[:, position] if hasattr(frame, "iloc") else frame[:, position]

    def values(position: int) -> NDArray[Any]:
        return _values(series(position))

    def error(row: int, found: str, expected: str, _missing: bool = False) -> DataError:
        return DatasetError(f"{where}, row {row + 1}: found {found}, expected {expected}.")

    return TableColumns(where, names, int(frame.shape[0]), values, error, lambda row: row + 1)


def _values(series: Any) -> NDArray[Any]:
    """Return the values of a column of either kind of frame."""
    return np.asarray(series.to_numpy())
