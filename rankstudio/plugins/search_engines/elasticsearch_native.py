"""Models of trees for Elasticsearch's built-in Learning To Rank (since 8.12), in eland's form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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
from rankstudio.engine.export.formats.trial import tree_sum
from rankstudio.engine.export.score_function import ModelInput, ScoreFunction
from rankstudio.engine.export.trees import Node, ScoreTree
from rankstudio.engine.language import tr, translatable
from rankstudio.plugins.search_engines.elasticsearch import (
    field_query,
    not_negative,
    serve,
    with_shifted_thresholds,
)

# Languages of templates that are queries; templates in other languages
# compute a value from other features.
_QUERY_LANGUAGES = ("mustache", "")


def write(function: ScoreFunction) -> Files:
    """Return the file of a model for Elasticsearch, for ``PUT _ml/trained_models/NAME``.

    The result has the file under "", because it is the only one.

    The value of each feature is the score of a query: the one in its
    feature set or, without a set, one that reads the field of the
    feature's name.
    """
    # Each feature is extracted by a query.
    names = list(function.exported_columns)
    extractors = [
        {
            "query_extractor": {
                "feature_name": model_input.exported_name,
                "query": _feature_query(model_input),
            }
        }
        for model_input in function.inputs
    ]

    # The score is the sum of the trees. Thresholds are shifted like the
    # values of features.
    trees = [with_shifted_thresholds(tree, function) for tree in function.trees]
    ensemble = {
        "target_type": "regression",
        "feature_names": names,
        "trained_models": [{"tree": _tree_as_dict(tree, names)} for tree in trees],
        "aggregate_output": {"weighted_sum": {"weights": [1.0] * len(trees)}},
    }

    # The model ties both together.
    model = {
        "description": function.about,
        "model_type": "tree_ensemble",
        "input": {"field_names": names},
        "inference_config": {"learning_to_rank": {"feature_extractors": extractors}},
        "definition": {"trained_model": {"ensemble": ensemble}},
    }
    return {"": json_bytes(model)}


def _feature_query(model_input: ModelInput) -> dict[str, Any]:
    """Return the Elasticsearch query whose score is the value of a feature.

    OutputError is raised if the feature's definition in the feature set
    is no query.
    """
    if not model_input.definition:
        return field_query(model_input)
    defined = json.loads(model_input.definition)
    template = defined["template"]
    language = defined.get("template_language", _QUERY_LANGUAGES[0])
    if language not in _QUERY_LANGUAGES or not isinstance(template, dict):
        raise OutputError(
            tr(
                "Elasticsearch's own Learning To Rank takes queries, but the feature {feature} is a "
                "{language}. Export to the plug-in (elasticsearch), or ban the feature."
            ).format(
                feature=model_input.exported_name,
                language=defined.get("template_language", "text"),
            )
        )
    return dict(template)


def _tree_as_dict(tree: ScoreTree, names: list[str]) -> dict[str, Any]:
    """Return a tree in Elasticsearch's JSON: a list of nodes, splits before leaves.

    ``names`` are those of the inputs, by position.
    """
    n_splits = len(tree.splits)

    def place(node: int) -> int:
        """Return the position of a node in Elasticsearch's list of nodes, by its number in the tree.

        The position of a split is its number, the position of a leaf -1
        minus its number.
        """
        return node if node >= 0 else n_splits - 1 - node

    splits = [
        {
            "node_index": number,
            "decision_type": "lte",
            "split_feature": column,
            "threshold": threshold,
            "left_child": place(below),
            "right_child": place(above),
            # A query that does not match has no score, which here is a
            # missing value; the plug-in logs 0 then.
            "default_left": threshold >= 0.0,
        }
        for number, (column, threshold, below, above) in enumerate(tree.splits)
    ]
    leaves = [
        {"node_index": n_splits + number, "leaf_value": value}
        for number, value in enumerate(tree.leaves)
    ]
    return {
        "target_type": "regression",
        "feature_names": names,
        "tree_structure": [*splits, *leaves],
    }


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents by the model in a file, as Elasticsearch does.

    `files` has the model under the key "", its only file. The result
    has shape (m,), one score per document.

    Scores of queries are floats; thresholds and sums are doubles.
    """
    model = json.loads(files[""])
    ensemble = model["definition"]["trained_model"]["ensemble"]
    columns = function.exported_columns
    X = np.array(documents.X, dtype=np.float64)
    for extractor in model["inference_config"]["learning_to_rank"][
        "feature_extractors"
    ]:
        query = extractor["query_extractor"]

        # with its own feature set, the values already are those of its queries
        if not function.set_definitions:
            # It changes the column of X in place.
            serve(
                X[:, columns[query["feature_name"]]],
                query["feature_name"],
                query["query"],
            )
    columns_of_features = [columns[name] for name in ensemble["feature_names"]]

    # Node 0 is the root of a tree.
    trees = [
        _parsed_node(member["tree"]["tree_structure"], 0, columns_of_features)
        for member in ensemble["trained_models"]
    ]

    # Queries give floats, which are computed with as doubles.
    return tree_sum(X.astype(documents.dtype).astype(np.float64), trees, np.float64)


def _parsed_node(
    nodes: list[Mapping[str, Any]], number: int, columns_of_features: list[int]
) -> Node:
    """Return a node of a tree by its number, and the nodes below it, as nested tuples.

    A leaf is its value. A split is a column, a threshold, and the nodes
    for values up to it and above it. `columns_of_features` has the
    column of each feature of the model.
    """
    node = nodes[number]
    if "leaf_value" in node:
        return float(node["leaf_value"])
    below, above = (
        _parsed_node(nodes, node[side], columns_of_features)
        for side in ("left_child", "right_child")
    )
    return (
        columns_of_features[node["split_feature"]],
        float(node["threshold"]),
        below,
        above,
    )


FORMAT = ModelFormat(
    "elasticsearch-native",
    "Elasticsearch (built-in LTR)",
    ".json",
    translatable(
        "A model of trees for Elasticsearch's built-in Learning To Rank (8.12 or later). Each feature "
        "becomes a query: from your feature set if there is one, otherwise from the field of the same name."
    ),
    write,
    read,
    linear=False,
    single="Elasticsearch",
    fit=not_negative,
    fitted=translatable(
        "Features with negative values are shifted in their queries, because Elasticsearch "
        "does not accept them. No ranking changes."
    ),
    engine="elasticsearch",
    readers=Readers.SEARCH_ENGINE,
)
