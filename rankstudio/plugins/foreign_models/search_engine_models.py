"""Reads models of RankLib, of Solr, and of the plug-in of Elasticsearch and OpenSearch."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.data.feature_sets import features_in_json
from rankstudio.engine.export.foreign.parsed_model import (
    ParsedModel,
    Split,
    finite,
    flat_tree,
    greatest_up_to,
    nearest_float,
    unreadable,
    whole,
)

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element
from rankstudio.engine.export.foreign.tree_libraries import xgboost_dump
from rankstudio.engine.export.trees import ScoreTree
from rankstudio.engine.language import tr

_RANKLIB = "RankLib"
_SOLR = "Solr"
_ELASTIC = "Elasticsearch"
_LINEAR_KINDS = ("Coordinate Ascent", "Linear Regression")
_TREE_KINDS = ("LambdaMART", "MART", "Random Forests")
_PAIR = re.compile(r"([0-9]{1,9}):(\S+)")
_SLACK = np.float32(1e-6)  # Solr adds it to every threshold


def ranklib_model(text: str) -> ParsedModel:
    """Return the model in a file of RankLib: weights of features by their ids, or trees.

    In the trees, a value up to the threshold goes left; RankLib
    compares both as floats. A file that cannot be read raises
    UnreadableModelError.
    """
    # The first line names the method; lines that begin with "##" are comments.
    kind = text.partition("\n")[0].strip("# \r")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("##"))
    if kind in _LINEAR_KINDS:
        # A linear model is a list of pairs ID:WEIGHT.
        matches = [_PAIR.fullmatch(word) for word in body.split()]
        if not matches or None in matches:
            raise unreadable(_RANKLIB, tr("pairs of id and weight"))
        pairs = [
            (int(pair[1]), finite(_RANKLIB, pair[2]))
            for pair in matches
            if pair is not None
        ]

        # The id 0 stands for the constant of a regression, which changes no ranking.
        return ParsedModel(
            _RANKLIB, {i: weight for i, weight in pairs if i}, numbering="id"
        )

    # All other models are ensembles of trees in XML.
    if kind not in _TREE_KINDS and not body.lstrip().startswith("<ensemble"):
        expected = ", ".join((*_LINEAR_KINDS, *_TREE_KINDS))
        raise unreadable(_RANKLIB, tr("a model of {kinds}").format(kinds=expected))

    # Declarations of entities, which an XML parser would expand, are refused.
    if "<!" in body or "<?" in body:
        raise unreadable(_RANKLIB, tr("an ensemble of trees"))
    from xml.etree import ElementTree  # noqa: PLC0415 - its parser hides an interruption while it is imported

    try:
        # The file may have several ensembles, so that a root element is
        # put around them.
        ensembles = ElementTree.fromstring(f"<all>{body}</all>")
        trees = [tree for ensemble in ensembles for tree in ensemble]
        score_trees = tuple(_ranklib_tree(tree) for tree in trees)
    except (ElementTree.ParseError, ValueError, IndexError) as error:
        raise unreadable(_RANKLIB, tr("an ensemble of trees")) from error
    return ParsedModel(_RANKLIB, trees=score_trees, numbering="id")


def _ranklib_tree(tree: Element) -> ScoreTree:
    """Return a tree of RankLib, with its leaves multiplied by the weight of the tree."""
    factor = finite(_RANKLIB, tree.get("weight", "1"))

    # RankLib does not number the nodes: the identity of a node's XML
    # element is its key.
    nodes = {id(node): node for node in tree.iter("split")}

    def node_of(key: Any) -> Split | float:
        """Return a node by its key: the value of a leaf, or a split.

        A split is the id of a feature, a threshold, and the keys of the
        nodes for values up to it and above it. Uses `nodes`, and the
        weight of the tree, `factor`, of the enclosing function.
        """
        node = nodes[key]
        output = node.findtext("output")
        if output is not None:
            return factor * finite(_RANKLIB, output)

        # Ids of features are whole numbers from 1.
        below, above = node.findall("split")
        feature = whole(_RANKLIB, (node.findtext("feature") or "").strip(), 1)

        # RankLib compares floats, RankStudio doubles: the threshold
        # becomes the greatest double that is rounded to a float up to
        # it.
        threshold = finite(_RANKLIB, node.findtext("threshold"))
        return feature, greatest_up_to(threshold), id(below), id(above)

    # Numbers all nodes from the root on, whose key is the second argument.
    return flat_tree(_RANKLIB, id(tree[0]), node_of)


def solr_model(values: Mapping[str, Any]) -> ParsedModel:
    """Return a LinearModel or MultipleAdditiveTreesModel of Solr, from the values of its JSON.

    A normalizer changes a feature's values before the model uses them;
    weights and thresholds are changed so that they apply to the values
    as they are. Other contents raise UnreadableModelError.
    """
    try:
        # Features have numbers from 0 in their order, and a normalizer each.
        names = tuple(str(feature["name"]) for feature in values["features"])
        numbers = {name: number for number, name in enumerate(names)}
        norms = [_solr_norm(feature.get("norm")) for feature in values["features"]]
        parameters = values["params"]
        if str(values["class"]).endswith(".LinearModel"):
            # A normalizer subtracts an offset, which changes no
            # ranking, and divides by a width.
            raw_weights = {
                numbers[name]: finite(_SOLR, weight)
                for name, weight in parameters["weights"].items()
            }
            widths = [width for _, width in norms]
            weights = {
                number: weight / widths[number]
                for number, weight in raw_weights.items()
            }
            return ParsedModel(_SOLR, weights, names=names)
        trees = tuple(_solr_tree(tree, numbers, norms) for tree in parameters["trees"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        expected = tr("a LinearModel or MultipleAdditiveTreesModel")
        raise unreadable(_SOLR, expected) from error
    return ParsedModel(_SOLR, trees=trees, names=names)


def _solr_norm(norm: Mapping[str, Any] | None) -> tuple[float, float]:
    """Return the number that Solr subtracts from a value, and the number by which it then divides.

    ``norm`` is the normalizer of a feature in Solr's JSON; an unknown
    one raises ValueError.
    """
    # Without a normalizer, values are used as they are.
    if norm is None or str(norm["class"]).endswith("IdentityNormalizer"):
        return 0.0, 1.0
    parameters = norm.get("params", {})
    kind = str(norm["class"]).rpartition(".")[2]

    # Defaults are those of Solr.
    if kind == "StandardNormalizer":
        offset = finite(_SOLR, parameters.get("avg", 0))
        width = finite(_SOLR, parameters.get("std", 1))
    elif kind == "MinMaxNormalizer":
        offset = finite(_SOLR, parameters["min"])
        width = finite(_SOLR, parameters["max"]) - offset
    else:
        raise ValueError(kind)

    # A width of 0 or less would turn the order of values around, or divide by 0.
    if width <= 0:
        raise ValueError(width)
    return offset, width


def _solr_tree(
    tree: Mapping[str, Any],
    numbers: Mapping[str, int],
    norms: list[tuple[float, float]],
) -> ScoreTree:
    """Return a tree of Solr, with thresholds for values that are not normalized.

    ``numbers`` has the numbers of features by name, and ``norms`` what
    is subtracted from each feature and by what it is divided.
    """
    factor = finite(_SOLR, tree["weight"])

    # Solr does not number the nodes: the identity of a node's object is its key.
    nodes: dict[int, Any] = {id(tree["root"]): tree["root"]}

    def node_of(key: Any) -> Split | float:
        """Return a node by its key: the value of a leaf, or a split.

        A split is the number of a feature, a threshold, and the keys of
        the nodes for values up to it and above it. The children of a
        split are added to `nodes`, so that they are there when they are
        asked for.
        """
        node = nodes[key]

        # Every leaf is multiplied by the weight of the tree.
        if node.get("value") is not None:
            return factor * finite(_SOLR, node["value"])
        for child in (node["left"], node["right"]):
            nodes[id(child)] = child

        # Solr compares in single precision, with a small slack.
        number = numbers[node["feature"]]
        raised = float(nearest_float(finite(_SOLR, node["threshold"])) + _SLACK)

        # The threshold is for a normalized value; here it becomes one
        # for the value itself, or the greatest double that Solr rounds
        # to at most the threshold.
        offset, width = norms[number]
        is_normalized = (offset, width) != (0.0, 1.0)
        threshold = raised * width + offset if is_normalized else greatest_up_to(raised)
        return number, threshold, id(node["left"]), id(node["right"])

    # Numbers all nodes from the root on, whose key is the second argument.
    return flat_tree(_SOLR, id(tree["root"]), node_of)


def elasticsearch_model(values: Mapping[str, Any]) -> ParsedModel:
    """Return a model of the plug-in, from the body that creates it or the answer of ``GET _ltr/_model/NAME``.

    The numbers in a definition of RankLib are the positions of features
    in the feature set, from 1. Other contents raise
    UnreadableModelError.
    """
    try:
        # The answer of GET has the model under "_source"; the body has
        # it under "model".
        source = values.get("_source", values.get("model", values))
        set_features, *_ = features_in_json(source.get("feature_set", {}))
        names = tuple(str(feature["name"]) for feature in set_features)
        model = source.get("definition", source.get("model", source))

        # A definition that is a text is not the model yet: then
        # `source` has type and definition itself.
        if isinstance(model, str):
            model = source
        kind = model["type"]
        definition = model["definition"]
        if model.get("feature_normalizers"):
            raise unreadable(_ELASTIC, tr("a model without normalizers"))
        if kind == "model/ranklib":
            # RankLib numbers features from 1, a `ParsedModel` with a feature set from
            # 0.
            parsed = ranklib_model(definition)
            weights = {number - 1: weight for number, weight in parsed.weights.items()}
            trees = tuple(_from_column_0(tree) for tree in parsed.trees)
            return ParsedModel(_ELASTIC, weights, trees, names, numbering="set")

        # The definition of a model may be JSON text within the JSON.
        contents = json.loads(definition) if isinstance(definition, str) else definition
        if kind == "model/linear":
            weight_of = {
                str(name): finite(_ELASTIC, weight) for name, weight in contents.items()
            }
            return ParsedModel(
                _ELASTIC, dict(enumerate(weight_of.values())), names=tuple(weight_of)
            )
        if kind == "model/xgboost+json":
            splits = contents["splits"] if isinstance(contents, dict) else contents
            return replace(xgboost_dump(splits), program=_ELASTIC)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise unreadable(_ELASTIC, tr("a type and a definition")) from error
    expected = "model/linear, model/ranklib, model/xgboost+json"
    raise unreadable(_ELASTIC, tr("one of {kinds} as its type").format(kinds=expected))


def _from_column_0(tree: ScoreTree) -> ScoreTree:
    """Return a tree whose features are numbered from 0 instead of 1."""
    splits = tuple(
        (number - 1, threshold, below, above)
        for number, threshold, below, above in tree.splits
    )
    return replace(tree, splits=splits)
