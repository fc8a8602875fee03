"""Models of LightGBM, XGBoost and CatBoost, from the texts that they save."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankstudio.engine.errors import DataError
from rankstudio.engine.export.foreign.parsed_model import (
    ParsedModel,
    Split,
    UnreadableModelError,
    finite,
    flat_tree,
    greatest_below,
    greatest_up_to,
    tree_of_lists,
    unreadable,
    whole,
)
from rankstudio.engine.export.trees import ScoreTree, checked_trees
from rankstudio.engine.language import tr

_XGBOOST = "XGBoost"
_CATBOOST = "CatBoost"
_NUMBERED_NAME = re.compile(r"f[0-9]{1,7}")  # name that XGBoost makes for a feature
_MAX_DEPTH = 16  # greatest depth of a symmetric tree, as in CatBoost


def lightgbm_model(text: str) -> ParsedModel:
    """Return the model in a text in LightGBM's format, after checking its trees.

    LightGBM itself reads the text later, and could crash on an invalid
    text. An error is raised if the text is invalid.
    """
    # Lines "key=value" before the first tree; [::2] leaves out the "=".
    header = dict(
        line.partition("=")[::2] for line in text.partition("\nTree=")[0].splitlines()
    )
    names = tuple(header.get("feature_names", "").split())
    # Number of features: the greatest index, from 0, and 1.
    n = whole("LightGBM", header.get("max_feature_idx", len(names) - 1)) + 1
    try:
        # Called for its errors only.
        checked_trees(text, n)
    except DataError as error:
        raise UnreadableModelError(str(error)) from error
    # Names that cannot be those of all features are ignored.
    return ParsedModel(
        "LightGBM", names=names if len(names) == n else (), n_features=n, lightgbm=text
    )


def xgboost_model(values: Mapping[str, Any]) -> ParsedModel:
    """Return the model in parsed JSON that XGBoost's ``Booster.save_model`` wrote.

    `values` is the JSON as a dict. The kind of the model, its booster,
    is gbtree, dart or gblinear. In a tree, a value less than the
    condition of a split goes left; both are compared as 32-bit floats.
    UnreadableModelError is raised for other contents.
    """
    try:
        # Models with several scores for a document are refused.
        learner = values["learner"]
        parameters = learner["learner_model_param"]
        booster = learner["gradient_booster"]
        if any(
            whole(_XGBOOST, parameters.get(key, 0)) > 1
            for key in ("num_class", "num_target")
        ):
            raise unreadable(_XGBOOST, tr("one score for each document"))
        # A linear booster has weights and no trees.
        names = tuple(map(str, learner.get("feature_names") or ()))
        n = whole(_XGBOOST, parameters["num_feature"])
        if booster["name"] == "gblinear":
            weights = [
                finite(_XGBOOST, weight) for weight in booster["model"]["weights"]
            ]
            return ParsedModel(
                _XGBOOST, dict(enumerate(weights[:n])), names=names, n_features=n
            )
        # The booster dart is a gbtree with a factor for each tree.
        tree_weights = None
        if booster["name"] == "dart":
            tree_weights = booster["weight_drop"]
            booster = booster["gbtree"]
        trees = booster["model"]["trees"]
        factors = [1.0] * len(trees)
        if tree_weights is not None:
            factors = [finite(_XGBOOST, weight) for weight in tree_weights]
        score_trees = tuple(
            _xgboost_tree(tree, factor)
            for tree, factor in zip(trees, factors, strict=True)
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise unreadable(_XGBOOST, tr("the JSON of Booster.save_model")) from error
    return ParsedModel(_XGBOOST, trees=score_trees, names=names, n_features=n)


def _xgboost_tree(tree: Mapping[str, Any], factor: float) -> ScoreTree:
    """Return a tree of a model of XGBoost, with its leaves multiplied by a factor.

    `tree` has several lists with an item for each node. The condition
    of a split is its threshold, that of a leaf its value.
    """
    left = tree["left_children"]
    right = tree["right_children"]
    features = tree["split_indices"]
    conditions = tree["split_conditions"]
    # A split by categories has another type than 0.
    has_categories = any(tree.get("split_type", ()))
    if has_categories or not len(left) == len(right) == len(features) == len(
        conditions
    ):
        raise unreadable(_XGBOOST, tr("splits of numbers, no categories"))

    def split(node: int) -> tuple[int, float]:
        """Return the feature and the threshold of the split of a node, by the node's number.

        XGBoost goes left for values below the condition, RankStudio for
        values up to a threshold. `features` and `conditions` are lists
        of the enclosing function, with an item per node of the tree.
        """
        return whole(_XGBOOST, features[node]), greatest_below(
            finite(_XGBOOST, conditions[node])
        )

    return tree_of_lists(
        _XGBOOST, left, right, split, lambda n: factor * finite(_XGBOOST, conditions[n])
    )


def xgboost_dump(trees: list[Any]) -> ParsedModel:
    """Return the model in parsed JSON from XGBoost's ``Booster.get_dump``.

    `trees` has the dict of each tree. The dump has the name of the
    feature of each split, but no list of features.
    """
    # Number of each feature by its name, in order of occurrence.
    numbers: dict[str, int] = {}

    def node_of(key: Any) -> Split | float:
        """Return the split of the node with a key, or the value if the node is a leaf.

        `nodes` and `numbers` are variables of the enclosing function:
        the nodes of the tree by key, to which the children of this node
        are added with their Python ids as keys, and the number of each
        feature.
        """
        node = nodes[key]
        if "leaf" in node:
            return finite(_XGBOOST, node["leaf"])
        low_child = _child_with_id(node, node["yes"])
        high_child = _child_with_id(node, node["no"])
        for child in (low_child, high_child):
            nodes[id(child)] = child
        # XGBoost goes low for values below the threshold, RankStudio
        # for values up to it.
        number = numbers.setdefault(str(node["split"]), len(numbers))
        threshold = greatest_below(finite(_XGBOOST, node["split_condition"]))
        return number, threshold, id(low_child), id(high_child)

    score_trees = []
    try:
        for tree in trees:
            nodes: dict[int, Any] = {id(tree): tree}
            score_trees.append(flat_tree(_XGBOOST, id(tree), node_of))
    except (KeyError, TypeError, AttributeError, StopIteration) as error:
        raise unreadable(_XGBOOST, tr("the JSON of Booster.get_dump")) from error
    # Names such as f0 and f1, which XGBoost makes of the numbers of
    # columns: the columns are used instead.
    if all(map(_NUMBERED_NAME.fullmatch, numbers)):
        columns = {number: int(name[1:]) for name, number in numbers.items()}
        return ParsedModel(
            _XGBOOST, trees=tuple(_with_columns(tree, columns) for tree in score_trees)
        )
    return ParsedModel(_XGBOOST, trees=tuple(score_trees), names=tuple(numbers))


def _with_columns(tree: ScoreTree, columns: Mapping[int, int]) -> ScoreTree:
    """Return a tree whose splits have columns instead of the features' numbers."""
    return replace(
        tree,
        splits=tuple((columns[c], t, low, high) for c, t, low, high in tree.splits),
    )


def _child_with_id(node: Mapping[str, Any], number: object) -> Mapping[str, Any]:
    """Return the child of a node with a number."""
    for child in node["children"]:
        if child["nodeid"] == number:
            return child  # type: ignore[no-any-return]
    raise unreadable(_XGBOOST, tr("the JSON of Booster.get_dump"))


def catboost_model(values: Mapping[str, Any]) -> ParsedModel:
    """Return the model in parsed JSON that CatBoost wrote, with symmetric or other trees.

    `values` is the JSON as a dict. In a symmetric tree, a value above
    the border of a split sets a bit of the leaf's number: the first
    split sets the lowest bit. Values and borders are compared as 32-bit
    floats.
    """
    try:
        # Trees use the index among numeric features; columns count all features.
        feature_infos = values["features_info"]["float_features"]
        columns = {
            index: whole(_CATBOOST, f["flat_feature_index"])
            for index, f in enumerate(feature_infos)
        }
        feature_names = [
            str(f.get("feature_id", f.get("feature_name", ""))) for f in feature_infos
        ]
        labels = {columns[index]: name for index, name in enumerate(feature_names)}
        # CatBoost multiplies by a scale, and adds a bias, which is left
        # out: it does not change the order of documents. The scale may
        # be in a list.
        scale, *_ = values.get("scale_and_bias") or [1.0]
        scale = finite(_CATBOOST, scale[0] if isinstance(scale, list) else scale)
        if "oblivious_trees" in values:
            trees = tuple(
                _symmetric_tree(tree, columns, scale)
                for tree in values["oblivious_trees"]
            )
        else:
            trees = tuple(
                _asymmetric_tree(tree, columns, scale) for tree in values["trees"]
            )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise unreadable(_CATBOOST, tr("the JSON of save_model")) from error

    # Names by column; columns of other kinds have none.
    n = 1 + max(labels, default=-1)
    names = tuple(labels.get(column, "") for column in range(n))
    return ParsedModel(
        _CATBOOST, trees=trees, names=names if any(names) else (), n_features=n
    )


def _parsed_split(
    split: Mapping[str, Any], columns: Mapping[int, int]
) -> tuple[int, float]:
    """Return the column and the threshold of a split in a tree of CatBoost.

    `split` is the dict of the split in CatBoost's JSON. `columns` has
    the column of each numeric feature, by its index there.
    """
    if split.get("split_type", "FloatFeature") != "FloatFeature":
        raise unreadable(_CATBOOST, tr("splits of numbers, no categories"))
    return columns[split["float_feature_index"]], greatest_up_to(
        finite(_CATBOOST, split["border"])
    )


def _symmetric_tree(
    tree: Mapping[str, Any], columns: Mapping[int, int], scale: float
) -> ScoreTree:
    """Return a tree of CatBoost in which all nodes of a level have the same split.

    `tree` is the dict of the tree in CatBoost's JSON. Its leaves are
    multiplied by `scale`; `columns` has the column of each numeric
    feature.
    """
    splits = [_parsed_split(split, columns) for split in tree["splits"] or ()]
    leaves = [scale * finite(_CATBOOST, value) for value in tree["leaf_values"]]
    if len(splits) > _MAX_DEPTH or len(leaves) != 2 ** len(splits):
        raise unreadable(_CATBOOST, tr("one value for each leaf"))

    def node_of(key: Any) -> Split | float:
        """Return the split of the node with a key, or the value if the node is a leaf.

        The key is a pair: the level of the node, and the bits of the
        levels above. Levels count down from that of the last split, the
        root's, to 0; the bits of all levels are the number of a leaf.
        `splits` and `leaves` of the tree are variables of the enclosing
        function.
        """
        level, leaf = key
        if level < 0:
            return float(leaves[leaf])
        return (*splits[level], (level - 1, leaf), (level - 1, leaf + 2**level))

    return flat_tree(_CATBOOST, (len(splits) - 1, 0), node_of)


def _asymmetric_tree(
    tree: Mapping[str, Any], columns: Mapping[int, int], scale: float
) -> ScoreTree:
    """Return a tree of CatBoost whose nodes have splits of their own.

    `tree` is the dict of the tree in CatBoost's JSON. Its leaves are
    multiplied by `scale`; `columns` has the column of each numeric
    feature.
    """
    nodes: dict[int, Any] = {id(tree): tree}

    def node_of(key: Any) -> Split | float:
        """Return the split of the node with a key, or the value if the node is a leaf.

        `nodes`, `columns` and `scale` are variables of the enclosing
        function. `nodes` has the nodes of the tree by key; the children
        of this node are added to it with their Python ids as keys.
        """
        node = nodes[key]
        if "split" not in node:
            return scale * finite(_CATBOOST, node["value"])
        for child in (node["left"], node["right"]):
            nodes[id(child)] = child
        return (
            *_parsed_split(node["split"], columns),
            id(node["left"]),
            id(node["right"]),
        )

    return flat_tree(_CATBOOST, id(tree), node_of)
