"""Datasets of frames of pandas and polars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Ints
from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.data.letor.missing_values import Missing, Normalize, check_options
from rankstudio.engine.data.letor.reader import make_dataset
from rankstudio.engine.data.tabular.documents import TableColumns, read_documents
from rankstudio.engine.data.tabular.parts import PART_WORDS, part_code
from rankstudio.engine.data.tabular.recognition import clean_name, listed, short
from rankstudio.engine.errors import DataError, DatasetError, ParameterError

_WHERE = "The frame"


def dataset_of_frame(
    frame: Any,
    *,
    qid: str = "",
    label: str = "",
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    missing: Missing = "query_min",
    normalize: Normalize = False,
) -> RankingDataset:
    """Make a dataset of a frame; see :meth:`RankingDataset.from_frame`."""
    check_options(missing, normalize)
    told = DataColumns.of(
        {"qid": qid, "label": label, "features": tuple(features or ()), "ignore": tuple(ignore)}
    )
    table = read_documents(frame_columns(frame), told, refuse=missing == "refuse")
    return make_dataset(table, None, missing=missing, n_features=None, normalize=normalize)


def folds_of_frame(
    frame: Any,
    *,
    part: str,
    fold: str = "",
    name: str = "Data",
    ignore: Sequence[str] = (),
    **options: Any,
) -> FoldedDataset:
    """Make a dataset of folds of a frame; see :meth:`FoldedDataset.from_frame`."""
    columns = frame_columns(frame)
    positions = {what: _position(columns, what) for what in (part, fold) if what}
    parts = [str(value).strip().lower() for value in columns.texts(positions[part]).tolist()]
    unknown = sorted(text for text in set(parts) if part_code(text) is None)
    if unknown:
        expected = "train, vali or test"
        raise DatasetError(
            f'{_WHERE}: found "{short(unknown[0])}" in column "{short(part)}", expected {expected}.'
        )
    numbers = columns.texts(positions[fold]).tolist() if fold else [1] * columns.n_rows
    of_row = np.array([f"{number}" for number in numbers])
    ids = sorted(dict.fromkeys(of_row.tolist()), key=lambda text: (len(text), text))
    kind_of_row = np.array(tuple(PART_WORDS))[[part_code(text) or 0 for text in parts]]
    made = []
    for number, one in enumerate(ids, start=1):
        rows = {kind: np.flatnonzero((of_row == one) & (kind_of_row == kind)) for kind in PART_WORDS}
        if not rows["train"].size:
            raise DatasetError(f"{_WHERE}: found no training part of fold {short(one)}, expected one.")
        given = {
            kind: dataset_of_frame(_rows(frame, found), ignore=(*ignore, *positions), **options)
            for kind, found in rows.items()
            if found.size
        }
        if len({data.feature_names for data in given.values()}) > 1:
            raise DatasetError(f"{_WHERE}: the parts of fold {short(one)} do not have the same features.")
        made.append(Fold(number, **given))
    return FoldedDataset(name, None, tuple(made))


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

    return TableColumns(where, names, int(frame.shape[0]), values, values, error, lambda row: row + 1)


def _values(series: Any) -> NDArray[Any]:
    """Return the values of a column of either kind of frame."""
    return np.asarray(series.to_numpy())
