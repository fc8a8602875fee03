"""A model for the Learning to Rank plug-in of Elasticsearch and OpenSearch, and its feature set beside it."""

from __future__ import annotations

import json
from typing import Any

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats import ranklib
from rankstudio.engine.export.formats.evaluation import weighted_sum
from rankstudio.engine.export.formats.model_format import Documents, Files, ModelFormat
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.language import translatable

FEATURES = "-featureset.json"
_LINEAR, _RANKLIB = "model/linear", "model/ranklib"


def write(function: ScoreFunction) -> Files:
    """Return the model, for ``POST _ltr/_featureset/NAME/_createmodel``, and the feature set.

    Trees are RankLib's, which knows a feature by its place in the feature set, from 1.
    """
    names = [given.identifier for given in function.inputs]
    if function.linear:
        kind, definition = _LINEAR, json.dumps(dict(zip(names, function.weights, strict=True)))
    else:
        kind, definition = _RANKLIB, ranklib.model_text(function, range(1, len(names) + 1))
    model = {"name": function.name, "model": {"type": kind, "definition": definition}}
    features = [{"name": name, "params": [], "template": _template(name)} for name in names]
    return {
        "": _json({"model": model}),
        FEATURES: _json({"featureset": {"name": function.name, "features": features}}),
    }


def _template(name: str) -> dict[str, Any]:
    """Return a query whose score is the value of a field: to be replaced by the one that the feature is."""
    field = {"field": name, "missing": 0}
    return {"function_score": {"query": {"match_all": {}}, "field_value_factor": field}}


def _json(values: Any) -> bytes:
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents as the plug-in does, in floats."""
    model = json.loads(files[""])["model"]["model"]
    columns = {given.identifier: column for column, given in enumerate(function.inputs)}
    order = [columns[f["name"]] for f in json.loads(files[FEATURES])["featureset"]["features"]]
    if model["type"] == _RANKLIB:
        return ranklib.scores(model["definition"], dict(enumerate(order, start=1)), documents)
    weights = {columns[name]: float(weight) for name, weight in json.loads(model["definition"]).items()}
    return weighted_sum(documents.X, [(c, weights[c]) for c in order], documents.dtype)


FORMAT = ModelFormat(
    "elasticsearch",
    "Elasticsearch LTR",
    ".json",
    translatable(
        "A model for the Learning to Rank plug-in of Elasticsearch and OpenSearch (model/linear, for trees "
        "model/ranklib), and beside it the feature set, whose templates read a field of each feature's name."
    ),
    write,
    read,
    single="Elasticsearch",
    beside=FEATURES,
)
