"""A learned model as a file, by which programs can score documents."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from rankstudio.engine.arithmetic.kernel_functions import NAMES, Kernel
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import (
    DataError,
    OutputError,
    ParameterError,
    StoreError,
    shown,
    shown_path,
)
from rankstudio.engine.export.plugin_formats import checked_plugin, plugin_scores
from rankstudio.engine.export.tables import csv_text
from rankstudio.engine.export.trees import checked_trees, tree_scores
from rankstudio.engine.steps import Step
from rankstudio.engine.support.files import read_text, write_text
from rankstudio.engine.support.sparse_rows import SparseRows

FORMAT = "rankstudio-model"
VERSION = 3

NORMALIZE = ("none", "query_minmax")
MISSING = ("query_min", "zero", "refuse")

_FIELDS = (
    "format",
    "version",
    "digest",
    "method",
    "parameters",
    "plan",
    "origin",
    "features",
    "model",
)
_KERNEL_FIELDS = ("function", "gamma", "degree", "coef0")
# far above any degree in use: a degree of a file must not cost hours
_MAX_DEGREE = 1000
_NO_MODEL = "this is not a model written by RankStudio"
_MAX_INTEGER = 2**63 - 1  # an id is an int64
_EXPECTED: Mapping[type, str] = {
    str: "a text",
    int: "a whole number from 1 up",
    float: "a finite number",
    list: "a list",
    dict: "an object",
}


@dataclass(frozen=True)
class Weight:
    """One feature of a model, with its weight.

    Attributes
    ----------
    id : int
        1-based id, as in the data files.
    name : str
        Name of the feature.
    weight : float
        Weight of the feature's value in the score; for a nonlinear
        model its importance.
    """

    id: int
    name: str
    weight: float


@dataclass(frozen=True)
class Model:
    """A trained model that scores documents, with its origin.

    The score of a document is the sum of weight times value, unless the
    model is nonlinear.

    Attributes
    ----------
    features : tuple of Weight
        Features in order of selection. For a nonlinear model the weight
        is the importance of a feature.
    method : str
        Key of the method in the catalog.
    parameters : Mapping
        Parameters of the method in training, by name.
    origin : Mapping
        Origin: data, fold, preparation of the values ("normalize",
        "missing"), measures and their convention, versions; as plain
        values.
    beyond : Mapping
        Definition of a nonlinear model, empty for a linear one. "kind"
        is "thresholds", with a list of thresholds, each of which adds
        its weight if the feature is above a value; "trees" with
        LightGBM's text, for columns of some ids; "kernel" with its
        basis vectors and their weights, for columns of some ids;
        "plugin" with the content of a file in the format of a plug-in;
        or "sums" of the columns of some ids with the "model" of these
        sums, whose ids are 1, 2, ….
    source : str
        Source for messages; "" for a model of this process.
    plan : Mapping
        Plan of the run as plain values; empty if unknown.
    """

    features: tuple[Weight, ...]
    method: str
    parameters: Mapping[str, Any]
    origin: Mapping[str, Any]
    beyond: Mapping[str, Any] = field(default_factory=dict)
    source: str = field(default="", compare=False)
    plan: Mapping[str, Any] = field(default_factory=dict)

    @property
    def normalize(self) -> str:
        """Scaling of the values before scoring: "none", or "query_minmax" within each query."""
        return str(self.origin.get("normalize", NORMALIZE[0]))

    @property
    def missing(self) -> str:
        """Treatment of missing values before scoring: "query_min", "zero" or "refuse"."""
        return str(self.origin.get("missing", MISSING[0]))

    @property
    def needed(self) -> frozenset[int]:
        """Ids of the features that the model may use, by its weights or otherwise.

        `beyond` has what a nonlinear model has besides its weights.
        """
        threshold_ids = (
            threshold["id"] for threshold in self.beyond.get("thresholds", ())
        )
        return frozenset(
            (
                *(feature.id for feature in self.features),
                *self.beyond.get("columns", ()),
                *threshold_ids,
            )
        )

    def predict(self, X: Floats, feature_ids: Ints | None = None) -> Floats:
        """Return the scores of documents by the model.

        Parameters
        ----------
        X : ndarray of shape (m, n)
            Values of n features of m documents.
        feature_ids : ndarray of shape (n,), optional
            1-based ids of the features in the columns; 1 … n by default.

        Returns
        -------
        ndarray of shape (m,)
            Score of each document.

        Raises
        ------
        DataError
            If a feature is missing, a score is out of the
            floating-point range, or LightGBM crashes on the trees in a
            separate process.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(X, feature_ids)
        if not np.isfinite(scores).all() and np.isfinite(X).all():
            raise DataError(
                "The weights of the model are too large: a score exceeds the floating-point range."
            )
        return scores

    def _scores(self, X: Floats, feature_ids: Ints | None) -> Floats:
        """Return the scores of documents, shape (m,), which may be infinite or NaN.

        X has shape (m, n), and `feature_ids` the 1-based ids of its
        columns, 1 … n by default.
        """
        # Find the column of each feature of the model.
        ids = range(1, X.shape[1] + 1) if feature_ids is None else feature_ids.tolist()
        column_of = {int(i): column for column, i in enumerate(ids)}
        missing_ids = sorted({feature.id for feature in self.features} - set(column_of))
        if missing_ids:
            raise _absent_feature_error(missing_ids[0], self.source)
        # Nonlinear models use few of many features: only their columns
        # are made dense.
        if isinstance(X, SparseRows) and "kind" in self.beyond:
            ids = sorted(self.needed)
            X = X[:, [column_of[i] for i in ids]]
            column_of = {i: column for column, i in enumerate(ids)}

        # Each kind of model scores in its own way; a linear model has no kind.
        match self.beyond.get("kind", "linear"):
            case "linear":
                # Shape (1, n): `linear_scores` takes several models.
                by_id = {feature.id: feature.weight for feature in self.features}
                coef = np.array([[by_id.get(i, 0.0) for i in ids]])
                columns = (
                    X.T if isinstance(X, SparseRows) else np.ascontiguousarray(X.T)
                )
                return np.asarray(linear_scores(columns, coef)[0])
            case "thresholds":
                scores = np.zeros(X.shape[0])
                for threshold in self.beyond["thresholds"]:
                    is_above = X[:, column_of[threshold["id"]]] > threshold["above"]
                    scores += threshold["adds"] * is_above
                return scores
            case "kernel":
                return kernel_scores(self.beyond, column_of, X)
            case "plugin":
                return plugin_scores(self.beyond, column_of, X, self.source)
            case "sums":
                # Each sum is a linear model of the features.
                columns = np.ascontiguousarray(
                    X[:, [column_of[i] for i in self.beyond["columns"]]].T
                )
                sums = linear_scores(
                    columns, np.array(self.beyond["sums"], dtype=np.float64)
                )
                # The features of the inner model are the sums, with the ids 1, 2, ….
                model = Model(
                    features=(),
                    method="",
                    parameters={},
                    origin={},
                    beyond=self.beyond["model"],
                    source=self.source,
                )
                return model._scores(np.ascontiguousarray(sums.T), feature_ids=None)
            # The only other kind is "trees".
            case _:
                return _lightgbm_scores(
                    self.beyond["lightgbm"],
                    self.beyond["columns"],
                    column_of,
                    X,
                    self.source,
                )


def _absent_feature_error(feature: int, source: str) -> DataError:
    """Make the error for data without a feature of a model."""
    subject = f"{shown_path(source)}: the" if source else "The"
    return DataError(
        f"{subject} model needs feature {feature}, which the data do not have."
    )


def _lightgbm_scores(
    text: str, ids: Sequence[int], column_of: Mapping[int, int], X: Floats, source: str
) -> Floats:
    """Return the scores of documents by LightGBM's trees, shape (m,).

    `text` has the trees. They were learned from columns with the
    feature ids `ids`; `column_of` has the column of each id in X, shape
    (m, n). `source` is the path of the model, for messages.
    """
    trees = checked_trees(text, len(ids))
    # Not every column occurs in the trees.
    needed_ids = [ids[column] for column in trees.columns]
    missing_ids = [i for i in needed_ids if i not in column_of]
    if missing_ids:
        raise _absent_feature_error(missing_ids[0], source)
    return tree_scores(trees, X[:, [column_of[i] for i in needed_ids]], source)


def save_model(path: str | Path, model: Model) -> None:
    """Write a model to a file: JSON (``.json``) or a table of features and weights (``.csv``).

    Raises
    ------
    OutputError
        If the path has another ending, or if the file cannot be written.
    """
    match Path(path).suffix.lower():
        case ".json":
            write_text(path, model_json(model))
        case ".csv" if model.beyond:
            raise OutputError(
                f"{path}: expected a .json file, because only linear models can be written as .csv."
            )
        case ".csv":
            rows = [
                (rank, feature.id, feature.name, feature.weight)
                for rank, feature in enumerate(model.features, start=1)
            ]
            write_text(path, csv_text(("rank", "id", "feature", "weight"), rows))
        case other:
            raise OutputError(
                f"{path}: expected a .json or .csv file for a model, got {other or 'no ending'}."
            )


def model_json(model: Model) -> str:
    """Return a model as the JSON of RankStudio's files, with a checksum of its fields.

    For a linear model, the features with their weights say all. The
    file of a nonlinear model also has the field "model".
    """
    head = {"format": FORMAT, "version": VERSION}
    values = {
        "method": model.method,
        "parameters": dict(model.parameters),
        "plan": dict(model.plan),
        "origin": dict(model.origin),
        "features": [
            {"id": feature.id, "name": feature.name, "weight": feature.weight}
            for feature in model.features
        ],
        # `beyond` is the definition of a nonlinear model: its "kind",
        # such as "trees", and what this kind needs. It is empty for a
        # linear model.
        **({"model": dict(model.beyond)} if model.beyond else {}),
    }
    # The checksum does not depend on the order of the fields.
    fields = {**head, "digest": _fields_digest({**head, **values}), **values}
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _fields_digest(values: Mapping[str, Any]) -> str:
    """Return a checksum of the fields of a model's file other than "digest".

    The checksum is independent of the order of the fields in the file.
    """
    digested_values = {
        name: value for name, value in values.items() if name != "digest"
    }
    text = json.dumps(
        digested_values, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def load_model(path: str | Path) -> Model:
    """Read a model from a JSON file written by :func:`save_model`.

    Raises
    ------
    DataError
        If the file cannot be read or is not a valid model.
    """
    try:
        values = json.loads(
            read_text(Path(path)), object_pairs_hook=_object_without_duplicates
        )
        # Called for its error only: a ValueError for half a character
        # (a lone surrogate), which could not be written again.
        json.dumps(values, ensure_ascii=False).encode()
        return replace(_parsed_model(values), source=str(path))
    except OSError as error:
        raise DataError(
            f"{path}: the model cannot be read: {error.strerror}."
        ) from error
    except RecursionError as error:
        raise DataError(f"{path}: {_NO_MODEL}: it is nested too deeply.") from error
    except ValueError as error:  # also for a text that is not UTF-8 or not JSON
        raise DataError(f"{path}: {_NO_MODEL}: {error}.") from error
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def _object_without_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, pairs of name and value, as a dict.

    ValueError is raised if a field occurs twice.
    """
    values = dict(pairs)
    if len(values) != len(pairs):
        raise ValueError("a field occurs twice")
    return values


def _parsed_model(values: Any) -> Model:
    """Return the model that the parsed JSON of a model's file describes.

    ValueError is raised if the model is invalid, DataError if the file
    is of another version of the format.
    """
    # Refuse other formats, other versions, and changed contents.
    form = _checked_field(values, "format", str)
    version = _checked_field(values, "version", int)
    if (form, version) != (FORMAT, VERSION):
        raise DataError(
            f"expected {FORMAT} of version {VERSION}, found {shown(form)} of version {version}."
        )
    _check_unmodified(values)

    # Features with their weights, each once.
    features = tuple(
        Weight(
            _checked_field(feature, "id", int),
            _checked_field(feature, "name", str),
            _checked_field(feature, "weight", float),
        )
        for feature in _checked_field(values, "features", list)
    )
    ids = [feature.id for feature in features]
    if len(set(ids)) != len(ids):
        raise ValueError("a feature occurs twice")

    # The preprocessing must be known, because scores depend on it.
    parameters = _checked_field(values, "parameters", dict)
    origin = _checked_field(values, "origin", dict)
    # A file without one of these fields has the first choice.
    for name, choices in (("normalize", NORMALIZE), ("missing", MISSING)):
        if origin.get(name, choices[0]) not in choices:
            raise ValueError(
                f"found {shown(origin[name])} as {name}, expected one of {', '.join(choices)}"
            )

    # Only models of plans have a plan, and only models that are not
    # linear have a "model".
    plan = _checked_field(values, "plan", dict) if "plan" in values else {}
    beyond = (
        checked_beyond(_checked_field(values, "model", dict), set(ids))
        if "model" in values
        else {}
    )
    return Model(
        features=features,
        method=_checked_field(values, "method", str),
        parameters=parameters,
        origin=origin,
        beyond=beyond,
        plan=plan,
    )


def _check_unmodified(values: Mapping[str, Any]) -> None:
    """Raise a ValueError if a model's file has unknown fields or a wrong checksum.

    A file written by hand has no digest.
    """
    unknown = next((name for name in values if name not in _FIELDS), None)
    if unknown is not None:
        raise ValueError(
            f"found the field {shown(unknown)}, expected {', '.join(_FIELDS)}"
        )
    computed_digest = _fields_digest(values)
    digest = (
        _checked_field(values, "digest", str) if "digest" in values else computed_digest
    )
    if digest != computed_digest:
        raise ValueError(
            f"the file was modified: found {shown(digest)} as digest, expected {computed_digest}"
        )


def checked_beyond(values: Mapping[str, Any], ids: Set[int]) -> dict[str, Any]:
    """Validate and return the definition of a nonlinear model, the `beyond` of a :class:`Model`.

    Parameters
    ----------
    values : Mapping
        Definition as read from JSON, with its "kind".
    ids : set of int
        Ids of the existing features.

    Returns
    -------
    dict
        The definition, with its values in canonical form.

    Raises
    ------
    ValueError
        If the values do not define a valid model.
    """
    kind = _checked_field(values, "kind", str)

    # Each kind of model has its own fields.
    match kind:
        case "thresholds":
            thresholds = [
                {
                    "id": _checked_field(threshold, "id", int),
                    "above": _checked_field(threshold, "above", float),
                    "adds": _checked_field(threshold, "adds", float),
                }
                for threshold in _checked_field(values, "thresholds", list)
            ]
            if unknown := {threshold["id"] for threshold in thresholds} - ids:
                raise ValueError(
                    f"a threshold uses feature {min(unknown)}, which the model does not have"
                )
            return {"kind": kind, "thresholds": thresholds}
        case "trees":
            # Each id is checked like a field "column".
            columns = [
                _checked_field({"column": column}, "column", int)
                for column in _checked_field(values, "columns", list)
            ]
            text = _checked_field(values, "lightgbm", str)
            # Called for its errors only.
            checked_trees(text, len(columns))
            return {"kind": kind, "columns": columns, "lightgbm": text}
        case "kernel":
            return checked_kernel(values, ids)
        case "sums":
            return _checked_sums(values, ids)
        case "plugin":
            return checked_plugin(values, _checked_columns(values, ids))
    raise ValueError(
        f"found the kind {shown(kind)}, expected thresholds or trees or kernel or sums"
    )


def _checked_sums(values: Mapping[str, Any], ids: Set[int]) -> dict[str, Any]:
    """Validate and return the definition of a model of sums of features, its `beyond`.

    `ids` are the ids of the existing features. The inner model has the
    sums as features, with the ids 1, 2, …. ValueError is raised if the
    definition is invalid.
    """
    columns = _checked_columns(values, ids)
    sums = _checked_field(values, "sums", list)
    # Each sum has a weight for each column.
    rows = [_checked_numbers(row, "a sum", len(columns)) for row in sums]
    model = _checked_field(values, "model", dict)
    if model.get("kind") == "sums":
        raise ValueError(
            "found sums of sums, expected another kind of model of the sums"
        )
    sum_ids = set(range(1, len(rows) + 1))
    checked_model = checked_beyond(model, sum_ids)
    if unknown := set(checked_model.get("columns", ())) - sum_ids:
        raise ValueError(
            f"the model uses sum {min(unknown)}, expected 1 to {len(rows)}"
        )
    return {"kind": "sums", "columns": columns, "sums": rows, "model": checked_model}


def _checked_columns(values: Mapping[str, Any], ids: Set[int]) -> list[int]:
    """Return the ids of features that a model's definition lists as columns.

    `values` is the definition, and `ids` the ids of the existing
    features. ValueError is raised unless the columns are distinct ids
    in `ids`.
    """
    columns = values.get("columns")
    if not isinstance(columns, list) or any(type(i) is not int for i in columns):
        raise ValueError(
            f"found {shown(columns)} as columns, expected a list of ids of features"
        )
    if len(set(columns)) != len(columns) or not set(columns) <= ids:
        raise ValueError(
            f"found {shown(columns)} as columns, expected distinct features of the model"
        )
    return columns


_Kind = TypeVar("_Kind", str, int, float, list[Any], dict[str, Any])


def _checked_field(values: Any, name: str, kind: type[_Kind]) -> _Kind:
    """Return a field of a JSON object, `values`, in the type `kind`.

    ValueError is raised if the field is missing, of another type or out
    of range. A float must be finite, and an int at least 1.
    """
    if not isinstance(values, dict) or name not in values:
        raise ValueError(f"expected {name}, found none")
    value = values[name]
    is_valid = isinstance(
        value, int | float if kind is float else kind
    ) and not isinstance(value, bool)
    if kind is float and is_valid:
        is_valid = abs(value) <= sys.float_info.max
    if kind is int and is_valid:
        is_valid = 1 <= value <= _MAX_INTEGER
    if not is_valid:
        raise ValueError(f"found {shown(value)} as {name}, expected {_EXPECTED[kind]}")
    return kind(value)


def checked_kernel(values: Mapping[str, Any], ids: Set[int]) -> dict[str, Any]:
    """Validate and return the definition of a kernel model; ValueError if it is invalid.

    Parameters
    ----------
    values : Mapping
        "kernel" with its "function" and parameters; the ids of the
        "columns"; "vectors", a list of numbers for each basis vector;
        and their "weights".
    ids : set of int
        Ids of the existing features.
    """
    # A weight and a vector of values for each basis vector, a document.
    kernel = _parsed_kernel(values.get("kernel"))
    columns = _checked_columns(values, ids)
    weights = _checked_numbers(values.get("weights"), "weights", None)
    vectors = values.get("vectors")
    if not isinstance(vectors, list) or len(vectors) != len(weights):
        raise ValueError(f"expected {len(weights)} vectors, one per weight")
    rows = [_checked_numbers(row, "a vector", len(columns)) for row in vectors]
    # The fields of the kernel, with numbers as floats.
    kernel_fields = {name: getattr(kernel, name) for name in _KERNEL_FIELDS}
    return {
        "kind": "kernel",
        "kernel": kernel_fields,
        "columns": columns,
        "vectors": rows,
        "weights": weights,
    }


def kernel_scores(
    values: Mapping[str, Any], column_of: Mapping[int, int], X: Floats
) -> Floats:
    """Return the scores of documents by a kernel model.

    Parameters
    ----------
    values : Mapping
        Definition that :func:`checked_kernel` has validated.
    column_of : Mapping of int to int
        Column of each feature id.
    X : ndarray of shape (m, n)
        Values of n features of m documents.

    Returns
    -------
    ndarray of shape (m,)
        Score of each document.
    """
    # A weight for each basis vector, which has a value for each column.
    columns = values["columns"]
    weights = np.array(values["weights"], dtype=np.float64)
    vectors = np.array(values["vectors"], dtype=np.float64).reshape(
        weights.size, len(columns)
    )
    documents = np.ascontiguousarray(X[:, [column_of[i] for i in columns]])
    # A kernel scores with several models at once: this is the only one.
    scores: Floats = Kernel(**values["kernel"]).scores(
        documents, vectors, weights[None, :]
    )[0]
    return scores


def _parsed_kernel(fields: Any) -> Kernel:
    """Return the kernel of a model from the fields in the model's JSON.

    The fields are the name of the kernel's function, and the numbers
    gamma, degree and coef0. ValueError is raised if the fields are
    invalid.
    """
    has_fields = isinstance(fields, dict) and set(fields) == set(_KERNEL_FIELDS)
    if not has_fields or not _is_kernel_function(fields["function"]):
        raise ValueError(
            f"found {shown(fields)} as kernel, expected the fields {', '.join(_KERNEL_FIELDS)}, with one of "
            f"the functions {', '.join(NAMES)}, or a sum or product of them"
        )
    gamma, coef0 = _checked_numbers(
        [fields["gamma"], fields["coef0"]], "gamma and coef0", 2
    )
    degree = fields["degree"]
    if type(degree) is not int or not 1 <= degree <= _MAX_DEGREE or gamma <= 0:
        raise ValueError(
            f"found {shown(fields)} as kernel, expected a degree from 1 up and gamma above 0"
        )
    return Kernel(function=fields["function"], gamma=gamma, degree=degree, coef0=coef0)


def _is_kernel_function(function: Any) -> bool:
    """Return whether a value is the name of a kernel, or a sum of products of kernels."""
    if not isinstance(function, str):
        return False
    if function in NAMES:
        return True
    # Products of kernels as in "linear + gaussian * polynomial".
    try:
        return bool(Kernel(function).products)
    except ParameterError:
        return False


def _checked_numbers(numbers: Any, name: str, length: int | None) -> list[float]:
    """Return a list of finite numbers from JSON as floats.

    ValueError is raised for anything else, and for another length than
    `length`, if it is not None. `name` says in the message what the
    list is.
    """
    has_length = isinstance(numbers, list) and (
        length is None or len(numbers) == length
    )
    if has_length and all(
        type(value) in (int, float) and abs(value) <= sys.float_info.max
        for value in numbers
    ):
        return [float(value) for value in numbers]
    expected = "finite numbers" if length is None else f"{length} finite numbers"
    raise ValueError(f"found {shown(numbers)} as {name}, expected a list of {expected}")


@dataclass(frozen=True, eq=False)
class StoredStep(Step):
    """A nonlinear model from a stored run; ``coef`` is the importance of each feature.

    Attributes
    ----------
    beyond : Mapping
        Definition from
        :meth:`rankstudio.engine.steps.Step.beyond_weights`;
        empty if it was not stored, so that the model cannot score.
    ids : tuple of int of length n
        1-based id of the feature in each column.
    stored : str
        Name of the study or file that stores the model, for messages.
    """

    linear: ClassVar[bool] = False
    narrow: ClassVar[bool] = True

    beyond: Mapping[str, Any]
    ids: tuple[int, ...]
    stored: str = ""

    @property
    def source(self) -> str:
        """Source, for messages."""
        return self.stored

    @property
    def kind(self) -> str:
        """Kind of the model; see :attr:`rankstudio.engine.steps.Step.kind`."""
        kinds = self.beyond.get("model", {}).get("kind"), self.beyond.get("kind")
        return next(
            (kind for kind in kinds if kind in ("kernel", "sums", "plugin")), ""
        )

    @property
    def whole(self) -> bool:
        """Whether it can score."""
        return bool(self.beyond)

    def scores(self, columns: Floats, previous_scores: Floats | None = None) -> Floats:
        """Return the scores of documents by the stored model, shape (m,).

        `columns`, shape (n, m), has a row for each of the n features.
        `previous_scores` is not needed.

        Raises
        ------
        StoreError
            If the model was not stored.
        DataError
            If LightGBM crashes on its trees in a separate process.
        """
        # Only `beyond`, the definition of the model, has a part in the
        # scores; `source` is for messages.
        model = Model(
            features=(),
            method="",
            parameters={},
            origin={},
            beyond=self._definition(),
            source=self.source,
        )
        return np.ascontiguousarray(
            model.predict(columns.T, np.array(self.ids, dtype=np.int64))
        )

    def beyond_weights(self, ids: Sequence[int]) -> dict[str, Any]:
        """Return the stored definition of the nonlinear model; `ids` is not needed.

        See
        :meth:`rankstudio.engine.steps.Step.beyond_weights`.

        Raises
        ------
        StoreError
            If the model was not stored.
        """
        return dict(self._definition())

    def _definition(self) -> Mapping[str, Any]:
        """Return the definition of the model; StoreError if it was not stored."""
        # `whole` says whether the definition was stored.
        if not self.whole:
            raise StoreError(
                f"Step {self.number}: the study stores only the best model of a nonlinear path; this model "
                "has to be trained again."
            )
        return self.beyond
