"""A learned linear model as a file that another program, or this one, can score with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.errors import DataError, OutputError
from rankstudio.engine.export.tables import csv_text
from rankstudio.engine.files import write_text
from rankstudio.engine.scoring import linear_scores

FORMAT = "rankstudio-model"
VERSION = 1


@dataclass(frozen=True)
class Weight:
    """One feature of a model.

    Attributes
    ----------
    id : int
        1-based, as in the data files.
    name : str
    weight : float
    """

    id: int
    name: str
    weight: float


@dataclass(frozen=True)
class LinearModel:
    """A model of weighted features: the score of a document is the sum of weight times value.

    Attributes
    ----------
    features : tuple of Weight
        In order of selection.
    method : str
        Key in the catalog.
    parameters : Mapping
        It was learned with.
    origin : Mapping
        Where it comes from: data, fold, measures and their convention, versions; plain values.
    """

    features: tuple[Weight, ...]
    method: str
    parameters: Mapping[str, Any]
    origin: Mapping[str, Any]

    def predict(
        self, X: NDArray[np.float64], feature_ids: NDArray[np.int64] | None = None
    ) -> NDArray[np.float64]:
        """Score documents.

        Parameters
        ----------
        X : ndarray of shape (m, n)
        feature_ids : ndarray of shape (n,), optional
            1-based ids of the columns; 1 … n where not given.

        Returns
        -------
        ndarray of shape (m,)
        """
        ids = range(1, X.shape[1] + 1) if feature_ids is None else feature_ids.tolist()
        by_id = {f.id: f.weight for f in self.features}
        missing = sorted(set(by_id) - set(ids))
        if missing:
            raise DataError(f"The model needs feature {missing[0]}, which the data do not have.")
        coef = np.array([[by_id.get(i, 0.0) for i in ids]])
        scores: NDArray[np.float64] = linear_scores(np.ascontiguousarray(X.T), coef)[0]
        return scores


def save_model(path: str | Path, model: LinearModel) -> None:
    """Write a model, as JSON (``.json``) or as a table of features and weights (``.csv``).

    Raises
    ------
    OutputError
        For another ending, or where the file cannot be written.
    """
    match Path(path).suffix.lower():
        case ".json":
            write_text(path, model_json(model))
        case ".csv":
            rows = [(rank, f.id, f.name, f.weight) for rank, f in enumerate(model.features, start=1)]
            write_text(path, csv_text(("rank", "id", "feature", "weight"), rows))
        case other:
            raise OutputError(
                f"{path}: a model is written as .json or .csv, not as {other or 'a file without ending'}."
            )


def model_json(model: LinearModel) -> str:
    """Return a model as JSON."""
    values = {
        "format": FORMAT,
        "version": VERSION,
        "method": model.method,
        "parameters": dict(model.parameters),
        "origin": dict(model.origin),
        "features": [{"id": f.id, "name": f.name, "weight": f.weight} for f in model.features],
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def load_model(path: str | Path) -> LinearModel:
    """Read a model that :func:`save_model` wrote as JSON.

    Raises
    ------
    DataError
        Where the file cannot be read or is no such model.
    """
    try:
        values = json.loads(Path(path).read_text(encoding="utf-8"))
        if values["format"] != FORMAT or values["version"] > VERSION:
            raise DataError(
                f"{path}: expected {FORMAT} of version {VERSION} or before, "
                f"found {values['format']} of version {values['version']}."
            )
        features = tuple(Weight(int(f["id"]), str(f["name"]), float(f["weight"])) for f in values["features"])
        return LinearModel(features, values["method"], values["parameters"], values["origin"])
    except OSError as error:
        raise DataError(f"{path}: the model cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: this is not a model written by RankStudio.") from error
