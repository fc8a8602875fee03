"""Read one data file of any format, as one dataset."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankstudio.engine.data.columns import DataColumns
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.formats.part_reader import PartReader
from rankstudio.engine.data.known_datasets import identify
from rankstudio.engine.data.letor import file_access
from rankstudio.engine.data.letor.missing_values import Missing, Normalize, check_options
from rankstudio.engine.data.letor.progress import ReadProgress
from rankstudio.engine.errors import ZeroIdError


def load_data(
    path: str | os.PathLike[str],
    *,
    columns: DataColumns | Mapping[str, Any] | None = None,
    missing: Missing = "query_min",
    normalize: Normalize = False,
    cache: bool = True,
) -> RankingDataset:
    """Read one file of any format that data come in; see `open_dataset` for folds.

    Parameters
    ----------
    path : str or path-like
    columns : DataColumns or Mapping, optional
        What the columns of a table are, where their names do not tell.
    missing, normalize, cache
        As for `load_letor`.

    Raises
    ------
    FileAccessError, FormatError, MissingValueError, DatasetError, ParameterError, MissingExtraError
        As `open_dataset` raises them.
    """
    check_options(missing, normalize)
    told = DataColumns.of(columns or {})
    path = Path(path)
    progress = ReadProgress(None, None, file_access.regular_file_size(path))
    reader = PartReader(path, ((path,),), progress, missing, normalize, cache, several_folds=False)
    try:
        (found,) = reader.read(told).values()
    except ZeroIdError:
        if told.ids_from is not None:
            raise
        told = replace(told, ids_from=0)
        (found,) = reader.read(told).values()
    data = reader.dataset(found, found.table.X.shape[1])
    return identify(path, data).name_features(data)
