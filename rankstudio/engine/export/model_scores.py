"""A model's scores of the documents of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset, default_names
from rankstudio.engine.data.formats.data_file import load_data
from rankstudio.engine.data.formats.data_format import format_of_name
from rankstudio.engine.data.table import Missing
from rankstudio.engine.errors import DatasetError, shown_path
from rankstudio.engine.export.models import NORMALIZE, Model, load_model
from rankstudio.engine.support.file_pages import release
from rankstudio.engine.support.shard import shards_of


def read_for(model: Model, path: Path, columns: Mapping[str, Any] | None = None) -> RankingDataset:
    """Read a data file as the data were read that a model was learned from: filled and scaled as those.

    Parameters
    ----------
    model : Model
    path : Path
    columns : Mapping, optional
        What the columns of a table are; as the model's plan has them where it is not said.

    Raises
    ------
    DataError
        Where it cannot be read, or a feature of the model stands in another column.
    """
    scaled = cast(Literal["query_minmax"], model.normalize) if model.normalize != NORMALIZE[0] else False
    told = columns or model.plan.get("columns", {})
    data = load_data(path, columns=told, missing=cast(Missing, model.missing), normalize=scaled)
    if format_of_name(path.name).is_table:
        check_columns(model, data, path)
    return data


def score_file(
    model_path: Path, data_path: Path, columns: Mapping[str, Any] | None = None
) -> tuple[Floats, RankingDataset, tuple[str, ...]]:
    """Score the documents of a data file by the model of another file.

    Returns
    -------
    tuple
        The scores, in the order of the rows, the data, and what is to be known of both, as sentences.

    Raises
    ------
    DataError
        Where a file cannot be read, or the model cannot score the data.
    """
    model = load_model(model_path)
    data = read_for(model, data_path, columns)
    return model_scores(model, data), data, other_names(model, data)


def check_columns(model: Model, data: RankingDataset, path: Path) -> None:
    """Raise `DatasetError` where a column of a table is not where it was when the model was learned."""
    names = data.feature_names
    by_name = dict(zip(names, data.feature_ids.tolist(), strict=True))
    for feature in model.features:
        found = by_name.get(feature.name, feature.id)
        if found != feature.id and names.count(feature.name) == 1:
            raise DatasetError(
                f"{shown_path(path)}: found {feature.name} as feature {found}, expected it as feature "
                f"{feature.id}, as in the training data of the model."
            )


def other_names(model: Model, data: RankingDataset) -> tuple[str, ...]:
    """Return, as a sentence, the first feature that a model and data call by different names; else nothing.

    Features go by their ids: of a table with other columns, or in another order, these are others.
    """
    ids = data.feature_ids
    named = dict(zip(ids.tolist(), zip(data.feature_names, default_names(ids), strict=True), strict=True))
    for feature in model.features:
        name, default = named.get(feature.id, (feature.name, ""))
        if name != feature.name and default not in (name, feature.name):
            return (
                f"Feature {feature.id} is {feature.name!r} in the model and {name!r} in the data; both are "
                "treated as the same feature.",
            )
    return ()


def model_scores(model: Model, data: RankingDataset) -> Floats:
    """Score all documents of a dataset.

    Parameters
    ----------
    model : Model
    data : RankingDataset
        Filled and scaled as the model needs it. Of a file that leaves zeros out, features that no document
        has are 0.

    Returns
    -------
    ndarray of shape (m,)
        In the order of the rows.

    Raises
    ------
    DataError
        Where a feature is not there, or a score cannot be computed.
    """
    ids = data.feature_ids
    absent = sorted(model.needed - set(ids.tolist())) if data.sparse else []
    ids = np.concatenate([ids, np.array(absent, dtype=ids.dtype)])
    scores = []
    for shard in shards_of(data.query_ptr):
        X = data.X[shard.rows]
        wide = np.column_stack([X, np.zeros((X.shape[0], len(absent)))]) if absent else X
        scores.append(model.predict(wide, ids))
        release(X)
    return scores[0] if len(scores) == 1 else np.concatenate(scores)
