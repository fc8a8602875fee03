"""Models in ONNX: ensembles of trees and linear regressors, as converters of other libraries write them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.export.foreign.parsed_model import (
    ParsedModel,
    Split,
    finite,
    flat_tree,
    greatest_below,
    greatest_up_to,
    unreadable,
)
from rankstudio.engine.export.trees import ScoreTree
from rankstudio.engine.language import tr

_ONNX = "ONNX"
_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")
_AFTER = ("Identity", "Cast", "Reshape", "Flatten", "Squeeze", "ZipMap")
"""What may stand in a graph besides: it changes no ranking."""


def onnx_model(path: Path) -> ParsedModel:
    """Return the model in a graph with one operator that scores; nothing of it is run.

    Raises
    ------
    MissingExtraError
        Where onnx is not installed.
    UnreadableModelError
        For any other graph.
    """
    try:
        import onnx  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError(path.name, "onnx", "onnx") from error
    try:
        model = onnx.load(path, load_external_data=False)
        graph = model.graph
        nodes = [node for node in graph.node if node.op_type not in _AFTER]
        if len(nodes) != 1:
            raise unreadable(_ONNX, tr("one ensemble of trees, or one linear regressor"))
        (node,) = nodes
        given = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        arrays = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
        dimensions = list(graph.input[0].type.tensor_type.shape.dim) if graph.input else []
        n = int(dimensions[1].dim_value) if len(dimensions) == 2 else 0
        names: list[str] = next(
            (p.value.split("\n") for p in model.metadata_props if p.key == "feature_names"), []
        )
        weights: dict[int, float] = {}
        trees: tuple[ScoreTree, ...] = ()
        match node.op_type:
            case "TreeEnsembleRegressor":
                trees = _regressor(given)
            case "TreeEnsemble":
                tensors = {k: v for k, v in given.items() if isinstance(v, onnx.TensorProto)}
                numbers = {k: onnx.numpy_helper.to_array(v) for k, v in tensors.items()}
                trees = _ensemble({**given, **numbers})
            case "LinearRegressor":
                weights = {i: finite(_ONNX, value) for i, value in enumerate(given["coefficients"])}
            case "MatMul":
                found = next(arrays[name] for name in node.input if name in arrays)
                weights = {i: finite(_ONNX, value) for i, value in enumerate(found.ravel().tolist())}
            case _:
                raise unreadable(_ONNX, tr("one ensemble of trees, or one linear regressor"))
    except (OSError, KeyError, TypeError, ValueError, IndexError, AttributeError, StopIteration) as error:
        raise unreadable(_ONNX, tr("one ensemble of trees, or one linear regressor")) from error
    except Exception as error:  # google.protobuf's error of a damaged file has no public name
        if type(error).__name__ != "DecodeError":
            raise
        raise unreadable(_ONNX, tr("a whole file")) from error
    return ParsedModel(_ONNX, weights, trees, tuple(names), n_features=n)


def _regressor(given: dict[str, Any]) -> tuple[ScoreTree, ...]:
    """Return the trees of a ``TreeEnsembleRegressor``, whose values and thresholds are floats."""
    if given.get("n_targets", 1) != 1 or given.get("aggregate_function", b"SUM") not in (b"SUM", b"AVERAGE"):
        raise unreadable(_ONNX, tr("one score for each document"))
    leaves: defaultdict[tuple[int, int], float] = defaultdict(float)
    targets = zip(given["target_treeids"], given["target_nodeids"], given["target_weights"], strict=True)
    for tree, node, weight in targets:
        leaves[tree, node] += finite(_ONNX, weight)
    keys = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    rows = list(zip(*(given[f"nodes_{key}"] for key in keys), strict=True))
    nodes = {(row[0], row[1]): row for row in rows}

    def look(key: Any) -> Split | float:
        tree, _, feature, value, mode, true, false = nodes[key]
        kind = mode.decode()
        if kind == "LEAF":
            return leaves[key]
        if kind not in _MODES:
            raise unreadable(_ONNX, tr("splits of numbers, no categories"))
        up_to = kind in ("BRANCH_LEQ", "BRANCH_GT")
        threshold = (greatest_up_to if up_to else greatest_below)(finite(_ONNX, value))
        below, above = (true, false) if kind in ("BRANCH_LEQ", "BRANCH_LT") else (false, true)
        return int(feature), threshold, (tree, below), (tree, above)

    roots = dict.fromkeys(tree for tree, *_ in rows)
    firsts = {tree: next(row[1] for row in rows if row[0] == tree) for tree in roots}
    return tuple(flat_tree(_ONNX, (tree, firsts[tree]), look) for tree in roots)


def _ensemble(given: dict[str, Any]) -> tuple[ScoreTree, ...]:
    """Return the trees of a ``TreeEnsemble`` in doubles, as RankStudio writes it."""
    if given.get("n_targets", 1) != 1 or any(mode for mode in given["nodes_modes"]):
        raise unreadable(_ONNX, tr("one score for each document"))
    if given["nodes_splits"].dtype.itemsize != 8:
        raise unreadable(_ONNX, tr("an ensemble of trees in doubles"))

    def look(key: Any) -> Split | float:
        node, is_leaf, _ = key
        if is_leaf:
            return finite(_ONNX, given["leaf_weights"][node])
        below, above = (
            # of a tree of one leaf both sides are that leaf
            (int(given[f"nodes_{side}nodeids"][node]), bool(given[f"nodes_{side}leafs"][node]), side)
            for side in ("true", "false")
        )
        return int(given["nodes_featureids"][node]), finite(_ONNX, given["nodes_splits"][node]), below, above

    return tuple(flat_tree(_ONNX, (int(root), False, ""), look) for root in given["tree_roots"])
