"""A learned model as a file that another program, or this one, can score with."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DataError, OutputError
from rankstudio.engine.export.tables import csv_text
from rankstudio.engine.export.tree_text import checked_trees
from rankstudio.engine.querywise.scoring import linear_scores
from rankstudio.engine.support.files import write_text

FORMAT = "rankstudio-model"
VERSION = 2
"""1 knew linear models only; what it wrote is read as before."""


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
class Model:
    """A model: the score of a document is the sum of weight times value, unless it is of another kind.

    Attributes
    ----------
    features : tuple of Weight
        In order of selection. Of a model that is not linear the weight tells how much a feature is used.
    method : str
        Key in the catalog.
    parameters : Mapping
        It was learned with.
    origin : Mapping
        Where it comes from: data, fold, measures and their convention, versions; plain values.
    beyond : Mapping
        Empty for a linear model. Else "kind": "thresholds" with a list of them, of which each adds its
        weight where the feature is above a value; or "trees" with LightGBM's own text, for columns of some
        ids.
    """

    features: tuple[Weight, ...]
    method: str
    parameters: Mapping[str, Any]
    origin: Mapping[str, Any]
    beyond: Mapping[str, Any] = field(default_factory=dict)

    def predict(self, X: Floats, feature_ids: Ints | None = None) -> Floats:
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
        place = {int(i): column for column, i in enumerate(ids)}
        missing = sorted({f.id for f in self.features} - set(place))
        if missing:
            raise DataError(f"The model needs feature {missing[0]}, which the data do not have.")
        match self.beyond.get("kind", "linear"):
            case "linear":
                by_id = {f.id: f.weight for f in self.features}
                coef = np.array([[by_id.get(i, 0.0) for i in ids]])
                return np.asarray(linear_scores(np.ascontiguousarray(X.T), coef)[0])
            case "thresholds":
                scores = np.zeros(X.shape[0])
                for weak in self.beyond["thresholds"]:
                    scores += weak["adds"] * (X[:, place[weak["id"]]] > weak["above"])
                return scores
            case _:
                return _trees(self.beyond["lightgbm"], self.beyond["columns"], place, X)


def _trees(text: str, ids: Sequence[int], place: Mapping[int, int], X: Floats) -> Floats:
    """Score documents with LightGBM's trees, which were learned from columns with these ids."""
    trees = checked_trees(text, len(ids))
    asked = [ids[column] for column in trees.columns]
    missing = [i for i in asked if i not in place]
    if missing:
        raise DataError(f"The model needs feature {missing[0]}, which the data do not have.")
    import lightgbm  # noqa: PLC0415 - an extra, and only for such models

    given = np.column_stack([*(X[:, place[i]] for i in asked), np.zeros(X.shape[0])])
    return np.asarray(lightgbm.Booster(model_str=trees.text).predict(given, raw_score=True))


def save_model(path: str | Path, model: Model) -> None:
    """Write a model, as JSON (``.json``) or as a table of features and weights (``.csv``).

    Raises
    ------
    OutputError
        For another ending, or where the file cannot be written.
    """
    match Path(path).suffix.lower():
        case ".json":
            write_text(path, model_json(model))
        case ".csv" if model.beyond:
            raise OutputError(f"{path}: a model that is not linear is written as .json, not as .csv.")
        case ".csv":
            rows = [(rank, f.id, f.name, f.weight) for rank, f in enumerate(model.features, start=1)]
            write_text(path, csv_text(("rank", "id", "feature", "weight"), rows))
        case other:
            raise OutputError(
                f"{path}: a model is written as .json or .csv, not as {other or 'a file without ending'}."
            )


def model_json(model: Model) -> str:
    """Return a model as JSON."""
    values = {
        "format": FORMAT,
        "version": VERSION,
        "method": model.method,
        "parameters": dict(model.parameters),
        "origin": dict(model.origin),
        "features": [{"id": f.id, "name": f.name, "weight": f.weight} for f in model.features],
        **({"model": dict(model.beyond)} if model.beyond else {}),
    }
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def load_model(path: str | Path) -> Model:
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
        features = tuple(
            Weight(_id(f["id"]), str(f["name"]), _number(f["weight"])) for f in values["features"]
        )
        beyond = dict(values.get("model", {}))
        _check(beyond, {f.id for f in features})
        return Model(
            features, str(values["method"]), dict(values["parameters"]), dict(values["origin"]), beyond
        )
    except OSError as error:
        raise DataError(f"{path}: the model cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise DataError(f"{path}: this is not a model written by RankStudio.") from error


def _check(beyond: Mapping[str, Any], ids: Set[int]) -> None:
    """Raise one of the errors of :func:`load_model` for what is no model of any kind that there is."""
    match beyond.get("kind", "linear"):
        case "linear":
            pass
        case "thresholds":
            for weak in beyond["thresholds"]:
                _number(weak["adds"]), _number(weak["above"])
                if _id(weak["id"]) not in ids:
                    raise ValueError(f"feature {weak['id']} is none of the model")
        case "trees" if isinstance(beyond["lightgbm"], str):
            for column in beyond["columns"]:
                _id(column)
        case other:
            raise ValueError(f"there is no kind {other!r}")


def _id(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{value!r} is no feature's number")
    return value


def _number(value: Any) -> float:
    number = float(value)
    if isinstance(value, str | bool) or not math.isfinite(number):
        raise ValueError(f"{value!r} is no finite number")
    return number
