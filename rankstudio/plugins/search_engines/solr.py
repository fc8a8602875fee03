"""Models for Solr's Learning To Rank, each with a file of its features."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
    json_bytes,
)
from rankstudio.engine.export.formats.trial import tree_sum, weighted_sum
from rankstudio.engine.export.score_function import (
    ModelInput,
    ScoreFunction,
    ValueRanges,
    centred,
)
from rankstudio.engine.export.trees import Node
from rankstudio.engine.language import translatable
from rankstudio.engine.support.escaping import clean_text

FEATURES = "-features.json"
_PACKAGE = "org.apache.solr.ltr"
_NORM_CLASS = "StandardNormalizer"
# Solr's feature store for features that do not name their store
_DEFAULT_STORE = "_DEFAULT_"
_THRESHOLD_SLACK = np.float32(1e-6)  # Solr adds it to every threshold


def write(function: ScoreFunction) -> Files:
    """Return the files of a model for Solr: the model, and its features.

    The keys of the result are endings of file names. The file with the
    key "" is the model, for ``PUT …/schema/model-store``. The features
    are for ``…/feature-store``.
    """
    # Weights of a linear model, or the trees of an ensemble.
    names = list(function.exported_columns)
    parameters: dict[str, Any]
    if function.linear:
        kind = "LinearModel"
        parameters = {"weights": dict(zip(names, function.weights, strict=True))}
    else:
        trees = [
            {"weight": "1", "root": _node_as_dict(tree.nested(), names)}
            for tree in function.trees
        ]
        kind = "MultipleAdditiveTreesModel"
        parameters = {"trees": trees}

    # The model names the store of its features: that of known
    # definitions, or a store of its own.
    features = [
        _store_feature(model_input, function.name) for model_input in function.inputs
    ]
    store = features[0].get("store", _DEFAULT_STORE) if features else function.name
    model = {
        "class": f"{_PACKAGE}.model.{kind}",
        "store": store,
        "name": function.name,
        "description": clean_text(function.about),  # Solr reads the other fields only
        "features": [_model_feature(model_input) for model_input in function.inputs],
        "params": parameters,
    }
    return {"": json_bytes(model), FEATURES: json_bytes(features)}


def _store_feature(model_input: ModelInput, store: str) -> dict[str, Any]:
    """Return an input of the model as a feature of Solr's feature store.

    A definition that was imported with the data is used unchanged.
    Without one, the feature reads the field of its name, and is in the
    store with the name ``store``.
    """
    if model_input.definition:
        return dict(json.loads(model_input.definition))
    name = model_input.identifier
    kind = f"{_PACKAGE}.feature.FieldValueFeature"
    return {"store": store, "name": name, "class": kind, "params": {"field": name}}


def _model_feature(model_input: ModelInput) -> dict[str, Any]:
    """Return an input of a Solr model as JSON.

    A feature with a shift has a normalizer, which computes (value -
    avg) / std of its value.
    """
    if not model_input.shift:
        return {"name": model_input.exported_name}
    parameters = {"avg": repr(-model_input.shift), "std": "1.0"}
    return {
        "name": model_input.exported_name,
        "norm": {"class": f"{_PACKAGE}.norm.{_NORM_CLASS}", "params": parameters},
    }


def _centred_variants(
    function: ScoreFunction, ranges: ValueRanges
) -> tuple[ScoreFunction, ...]:
    """Return the function and, for a weighted sum, one of centered values, which are more exact as floats."""
    return (function, centred(function, ranges)) if function.linear else (function,)


def _node_as_dict(node: Node, names: list[str]) -> dict[str, Any]:
    """Return a node of a tree, and the nodes below it, as a dict for Solr's JSON.

    Numbers are texts, which older versions of Solr need. ``names`` are
    those of the inputs, by position.
    """
    if not isinstance(node, tuple):
        return {"value": repr(node)}
    column, threshold, below, above = node
    sides = {"left": _node_as_dict(below, names), "right": _node_as_dict(above, names)}
    return {"feature": names[column], "threshold": _threshold_text(threshold), **sides}


def _threshold_text(value: float) -> str:
    """Return the text of a threshold to which Solr adds its slack.

    Solr raises every threshold by its slack, a millionth. The sum of
    the threshold and the slack is ``value`` as a float. Because of
    rounding, the neighbors of the difference are tried, too; if none
    fits, the difference is used.
    """
    target = np.float32(value)
    lowered = target - _THRESHOLD_SLACK
    candidates = (
        lowered,
        np.nextafter(lowered, np.float32(np.inf)),
        np.nextafter(lowered, np.float32(-np.inf)),
        target,
    )
    return str(
        next(
            (number for number in candidates if number + _THRESHOLD_SLACK == target),
            lowered,
        )
    )


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents by the model in a file, as Solr does.

    `files` has the model under the key ""; its features are not read.
    The result has shape (m,), one score per document.

    Solr computes in single precision, and raises every threshold by a millionth.
    """
    model = json.loads(files[""])
    columns = function.exported_columns
    if "weights" in model["params"]:
        weights = model["params"]["weights"]
        terms = [
            (columns[f["name"]], float(weights[f["name"]])) for f in model["features"]
        ]
        return weighted_sum(
            _normalized_values(model, columns, documents), terms, documents.dtype
        )
    trees = [_parsed_node(tree["root"], columns) for tree in model["params"]["trees"]]
    return tree_sum(documents.X, trees, np.float32)


def _normalized_values(
    model: dict[str, Any], columns: dict[str, int], documents: Documents
) -> Floats:
    """Return the values of k features of m documents as Solr's normalizers change them, shape (m, k).

    ``model`` is Solr's JSON, and ``columns`` has the column of each
    feature by name. Normalizers only subtract "avg", as "std" is 1 in
    exported models.
    """
    X = documents.X.astype(documents.dtype)
    for feature in model["features"]:
        if "norm" in feature:
            X[:, columns[feature["name"]]] -= documents.dtype(
                feature["norm"]["params"]["avg"]
            )
    return X


def _parsed_node(node: dict[str, Any], columns: dict[str, int]) -> Node:
    """Return a node of Solr's JSON, and the nodes below it, as nested tuples.

    Solr raises each threshold by a millionth. `columns` has the column
    of each feature by name.
    """
    if "value" in node:
        return float(node["value"])
    threshold = float(np.float32(node["threshold"]) + _THRESHOLD_SLACK)
    below, above = (_parsed_node(node[side], columns) for side in ("left", "right"))
    return columns[node["feature"]], threshold, below, above


FORMAT = ModelFormat(
    "solr",
    "Solr LTR",
    ".json",
    translatable(
        "A LinearModel or MultipleAdditiveTreesModel for Solr's model store, with a file of its features: "
        "those of your own feature store, otherwise the values of fields with the features' names."
    ),
    write,
    read,
    single="Solr",
    beside=FEATURES,
    fit=_centred_variants,
    fitted=translatable(
        "The average is subtracted from every value, which makes the sum more accurate in "
        "Solr's single precision. No ranking changes."
    ),
    engine="solr",
    readers=Readers.SEARCH_ENGINE,
)
