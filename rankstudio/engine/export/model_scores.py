"""A model's scores of the documents of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.letor.missing_values import Missing
from rankstudio.engine.data.letor.reader import load_letor
from rankstudio.engine.export.models import NORMALIZE, Model


def read_for(model: Model, path: Path) -> RankingDataset:
    """Read a LETOR file as the data were read that a model was learned from: filled and scaled as those.

    Raises
    ------
    DataError
        Where it cannot be read.
    """
    scaled = cast(Literal["query_minmax"], model.normalize) if model.normalize != NORMALIZE[0] else False
    return load_letor(path, missing=cast(Missing, model.missing), normalize=scaled)


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
    X, ids = data.X, data.feature_ids
    absent = sorted(model.needed - set(ids.tolist())) if data.sparse else []
    if absent:
        X = np.column_stack([X, np.zeros((X.shape[0], len(absent)))])
        ids = np.concatenate([ids, np.array(absent, dtype=ids.dtype)])
    return model.predict(X, ids)
