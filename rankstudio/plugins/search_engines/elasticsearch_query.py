"""Weighted sums as queries over fields for Elasticsearch and OpenSearch, which need no plug-in there."""

from __future__ import annotations

import json
import math

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import OutputError
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
    json_bytes,
)
from rankstudio.engine.export.formats.trial import weighted_sum
from rankstudio.engine.export.score_function import ScoreFunction, ValueRanges, shifted
from rankstudio.engine.language import tr, translatable
from rankstudio.engine.support.escaping import clean_text

_SCRIPT = (
    "double sum = 0.0; "
    "for (int i = 0; i < params.fields.length; i++) { "
    "def field = doc[params.fields[i]]; "
    "sum += params.weights[i] * ((field.size() == 0 ? 0.0 : field.value) + params.shifts[i]); "
    "} return Math.max(0.0, sum);"
)
"""The script contains no names of features: these are parameters, so that no name can be taken for code."""

# Of the 23 bits of a float's fraction, a rank_feature field drops 15;
# with the implicit first bit, 9 remain.
_N_DROPPED_BITS = 15


def write_script(function: ScoreFunction) -> Files:
    """Return the body of an Elasticsearch search whose scores a script computes.

    The keys of the result are endings of file names. The only file has the key "".
    """
    parameters = {
        "fields": [model_input.identifier for model_input in function.inputs],
        "weights": list(function.weights),
        "shifts": [model_input.shift for model_input in function.inputs],
        "about": clean_text(function.about),
    }
    script = {"source": _SCRIPT, "params": parameters}
    return {
        "": json_bytes(
            {"query": {"script_score": {"query": {"match_all": {}}, "script": script}}}
        )
    }


def read_script(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents as the script in a search does.

    `files` has the search with the script under the key "", its only
    file. The result has shape (m,), one score per document.

    Scores are computed in doubles, raised to at least 0, and stored as floats.
    """
    parameters = json.loads(files[""])["query"]["script_score"]["script"]["params"]
    columns = function.columns
    X = np.array(documents.X, dtype=np.float64)
    columns_of_fields = [columns[name] for name in parameters["fields"]]
    X[:, columns_of_fields] += parameters["shifts"]
    terms = zip(columns_of_fields, parameters["weights"], strict=True)
    scores = np.maximum(weighted_sum(X, terms, np.float64), 0.0)
    return np.asarray(scores.astype(documents.dtype), dtype=np.float64)


def _without_negative_terms(
    function: ScoreFunction, ranges: ValueRanges
) -> tuple[ScoreFunction, ...]:
    """Return a score function with shifts by which no term of its sum is negative.

    Elasticsearch allows no negative scores. A shift is added to an
    input; it is a power of two, so that sums keep their digits.
    """
    shifts = []
    for weight, low, high in zip(
        function.weights, ranges.low, ranges.high, strict=True
    ):
        # The value farthest on the side where the term is negative, and
        # the sign of the shift against it.
        excess, sign = (-low, 1.0) if weight >= 0 else (high, -1.0)
        _, exponent = math.frexp(excess)
        shifts.append(sign * 2.0**exponent if excess > 0 else 0.0)
    return (shifted(function, shifts),)


def write_rank_features(function: ScoreFunction) -> Files:
    """Return the body of an Elasticsearch search that adds ``rank_feature`` queries.

    The keys of the result are endings of file names. The only file has the key "".

    Elasticsearch evaluates such queries fast, as it skips documents
    that cannot be among the first.

    Raises
    ------
    OutputError
        If a weight is negative, as a boost must not be negative.
    """
    for model_input, weight in zip(function.inputs, function.weights, strict=True):
        if weight < 0:
            raise OutputError(
                tr(
                    "rank_feature queries add positive weights only, and {feature} has {weight:.6g}. "
                    "Export to elasticsearch-script, or train a model with positive weights."
                ).format(feature=model_input.name, weight=weight)
            )
    clauses = [
        {
            "rank_feature": {
                "field": clause_input.identifier,
                "linear": {},
                "boost": weight,
            }
        }
        for clause_input, weight in zip(function.inputs, function.weights, strict=True)
        if weight
    ]
    return {"": json_bytes({"query": {"bool": {"should": clauses}}})}


def read_rank_features(
    files: Files, function: ScoreFunction, documents: Documents
) -> Floats:
    """Score documents with the ``rank_feature`` clauses of a search.

    The values have the precision of rank_feature fields.

    `files` has the search under the key "", its only file. The result
    has shape (m,), one score per document.

    Raises
    ------
    OutputError
        If a value is negative, which a rank_feature field does not accept.
    """
    columns = function.columns
    total = np.zeros(documents.X.shape[0])
    for clause in json.loads(files[""])["query"]["bool"]["should"]:
        query = clause["rank_feature"]
        values = documents.X[:, columns[query["field"]]]
        if values.size and values.min() < 0:
            raise OutputError(
                tr(
                    "A rank_feature field takes positive values only, and {feature} goes down to {low:.6g}. "
                    "Export to elasticsearch-script."
                ).format(feature=query["field"], low=values.min())
            )

        # Documents in double precision are for the exact score, without
        # the rounding of Elasticsearch.
        total += query["boost"] * (
            _stored_values(values) if documents.dtype == np.float32 else values
        )
    return np.asarray(total.astype(documents.dtype), dtype=np.float64)


def _stored_values(values: Floats) -> Floats:
    """Return values as a rank_feature field stores them: floats cut to 9 significant bits."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    cut = (bits >> np.uint32(_N_DROPPED_BITS)) << np.uint32(_N_DROPPED_BITS)
    return np.asarray(cut.view(np.float32), dtype=np.float64)


SCRIPT = ModelFormat(
    "elasticsearch-script",
    "Elasticsearch script_score",
    ".json",
    translatable(
        "A search of Elasticsearch or OpenSearch without a plug-in: a script adds weight times value of a "
        "field for each feature."
    ),
    write_script,
    read_script,
    trees=False,
    single="Elasticsearch",
    fit=_without_negative_terms,
    fitted=translatable(
        "A constant is added to values so that no score is negative, because Elasticsearch does not accept "
        "that. No ranking changes."
    ),
    readers=Readers.SEARCH_ENGINE,
)
RANK_FEATURE = ModelFormat(
    "elasticsearch-rank-feature",
    "Elasticsearch rank_feature",
    ".json",
    translatable(
        "A search of Elasticsearch or OpenSearch without a plug-in: a rank_feature query for each feature. "
        "Such fields keep 9 bits of a value; weights and values must not be negative."
    ),
    write_rank_features,
    read_rank_features,
    trees=False,
    has_origin_file=True,
    single="Elasticsearch",
    readers=Readers.SEARCH_ENGINE,
)
