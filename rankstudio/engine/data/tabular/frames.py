"""Datasets of frames of pandas and polars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.letor.missing_values import Missing, Normalize, check_options
from rankstudio.engine.data.letor.reader import make_dataset
from rankstudio.engine.data.tabular.documents import TableColumns, read_documents
from rankstudio.engine.data.tabular.recognition import clean_name
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
