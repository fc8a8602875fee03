"""Models for the Learning to Rank plug-in of Elasticsearch and OpenSearch, with their feature sets."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.exported_names import FEATURE_SET, SHIFTED
from rankstudio.engine.export.formats import ranklib_text
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
    json_bytes,
)
from rankstudio.engine.export.formats.trial import weighted_sum
from rankstudio.engine.export.score_function import (
    ModelInput,
    ScoreFunction,
    ValueRanges,
    shifted,
)
from rankstudio.engine.export.trees import ScoreTree
from rankstudio.engine.language import tr, translatable

_LINEAR = "model/linear"
_RANKLIB = "model/ranklib"


def write(function: ScoreFunction) -> Files:
    """Return the files of a model for Elasticsearch's plug-in Learning To Rank.

    Known feature definitions are exported unchanged. Trees are in
    RankLib's format, which identifies features by position in the
    feature set, from 1.

    The keys of the result are endings of file names. The file with the
    key "" is the model, for ``POST
    _ltr/_featureset/NAME/_createmodel``, and the other file is its
    feature set.
    """
    features = _set_features(function)
    names = list(function.exported_columns)  # by column
    if function.linear:
        # A linear model has weights by name.
        kind = _LINEAR

        # The definition is a text in the JSON of the model.
        definition = json.dumps(dict(zip(names, function.weights, strict=True)))
    else:
        # Trees are in the format of RankLib, with the numbers of the
        # features in the set. Thresholds are shifted like the values of
        # features.
        shifted_trees = replace(
            function,
            trees=tuple(
                with_shifted_thresholds(tree, function) for tree in function.trees
            ),
        )
        number_of = {
            feature["name"]: number for number, feature in enumerate(features, start=1)
        }
        kind = _RANKLIB
        definition = ranklib_text.model_text(
            shifted_trees, [number_of[name] for name in names]
        )
    model = {"name": function.name, "model": {"type": kind, "definition": definition}}
    return {
        "": json_bytes({"model": model}),
        FEATURE_SET: json_bytes(
            {"featureset": {"name": function.name, "features": features}}
        ),
    }


def _set_features(function: ScoreFunction) -> list[dict[str, Any]]:
    """Return the features of a model's feature set, as JSON objects.

    If a feature set was imported with the data, its features are
    returned. Otherwise each input of the model gets a template that
    reads its field.
    """
    if function.set_definitions:
        return [json.loads(definition) for definition in function.set_definitions]
    return [
        {
            "name": model_input.identifier,
            "params": [],
            "template": field_query(model_input),
        }
        for model_input in function.inputs
    ]


def with_shifted_thresholds(tree: ScoreTree, function: ScoreFunction) -> ScoreTree:
    """Return a tree whose thresholds are shifted like the values of their features.

    ``function`` has the shift of each input.
    """
    splits = tuple(
        (column, threshold + function.inputs[column].shift, below, above)
        for column, threshold, below, above in tree.splits
    )
    return replace(tree, splits=splits)


def field_query(model_input: ModelInput) -> dict[str, Any]:
    """Return an Elasticsearch query whose score is the value of a field.

    The field is that of the feature's name. Users replace the query by
    that of their feature.

    Since Elasticsearch 7, scores must not be negative, so a feature
    with negative values has a shift. A value that is still negative
    after the shift counts as 0.
    """
    match_all: dict[str, Any] = {"match_all": {}}
    if not model_input.shift:
        field = {"field": model_input.identifier, "missing": 0}
        return {"function_score": {"query": match_all, "field_value_factor": field}}
    parameters = {"field": model_input.identifier, "shift": model_input.shift}
    return {
        "script_score": {
            "query": match_all,
            "script": {"source": SHIFTED, "params": parameters},
        }
    }


def not_negative(
    function: ScoreFunction, ranges: ValueRanges
) -> tuple[ScoreFunction, ...]:
    """Return a score function in which each feature with negative values has a shift.

    The shift is the power of two above the absolute value of the lowest
    value, which is in ``ranges.low``. A function with its own feature
    set stays as it is, with the set's templates.
    """
    if function.set_definitions:
        return (function,)
    shifts = []
    for low in ranges.low:
        # -low is less than 2 ** exponent.
        _, exponent = math.frexp(-low)
        shifts.append(2.0**exponent if low < 0 else 0.0)
    return (shifted(function, shifts),)


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents like the plug-in of Elasticsearch, in single precision.

    `files` has the model under the key "", and its feature set. The
    result has shape (m,), one score per document.
    """
    # The features of the set have numbers from 1; unused ones have no
    # column. `columns` has the column of X by the name of a feature.
    model = json.loads(files[""])["model"]["model"]
    columns = function.exported_columns
    features = json.loads(files[FEATURE_SET])["featureset"]["features"]
    column_of_number = {
        number: columns[f["name"]]
        for number, f in enumerate(features, start=1)
        if f["name"] in columns
    }

    # Serve the values that the queries of the feature set return.
    X = np.array(documents.X, dtype=np.float64)

    # with its own feature set, the values already are those of its queries
    if not function.set_definitions:
        for feature in features:
            # It changes the column of X in place.
            serve(X[:, columns[feature["name"]]], feature["name"], feature["template"])
    documents = Documents(X, documents.query_ptr, documents.dtype)
    if model["type"] == _RANKLIB:
        return ranklib_text.scores(model["definition"], column_of_number, documents)

    # Weights are added up in the order of the feature set.
    weights = {
        columns[name]: float(weight)
        for name, weight in json.loads(model["definition"]).items()
    }
    return weighted_sum(
        X, [(c, weights[c]) for c in column_of_number.values()], documents.dtype
    )


def serve(values: Floats, name: str, query: dict[str, Any]) -> None:
    """Change the values of a field to the scores that a query of this field gives, in place.

    `query` is that of :func:`field_query`, which reads the field and may add a shift.

    `values` has shape (m,), and `name` is that of the feature.

    Raises
    ------
    OutputError
        If a score would be negative, which is an error in Elasticsearch.
    """
    script = query.get("script_score")
    if script is not None:
        np.maximum(values + script["script"]["params"]["shift"], 0.0, out=values)
    elif values.size and values.min() < 0:
        raise OutputError(
            tr(
                "Elasticsearch does not accept negative values, and {feature} ranges from "
                "{low:.6g} to {high:.6g}. Export the model with data that show this range, so "
                "that the values can be shifted."
            ).format(feature=name, low=values.min(), high=values.max())
        )


FORMAT = ModelFormat(
    "elasticsearch",
    "Elasticsearch LTR",
    ".json",
    translatable(
        "A model for the Learning to Rank plug-in of Elasticsearch and OpenSearch (model/linear, for trees "
        "model/ranklib), and its feature set: the templates of your own set, otherwise templates that read "
        "fields with the features' names."
    ),
    write,
    read,
    single="Elasticsearch",
    beside=FEATURE_SET,
    has_origin_file=True,
    fit=not_negative,
    fitted=translatable(
        "Features with negative values are shifted in their templates, because Elasticsearch "
        "does not accept them. No ranking changes."
    ),
    engine="elasticsearch",
    readers=Readers.SEARCH_ENGINE,
)
