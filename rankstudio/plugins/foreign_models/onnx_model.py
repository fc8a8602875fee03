"""Reads models in ONNX: ensembles of trees and linear regressors, as converters of libraries write them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.export.foreign.parsed_model import (
    ParsedModel,
    Split,
    UnreadableModelError,
    finite,
    flat_tree,
    greatest_below,
    greatest_up_to,
    unreadable,
    whole,
)
from rankstudio.engine.export.trees import ScoreTree
from rankstudio.engine.language import tr
from rankstudio.plugins.foreign_models.onnx_parts import (
    ONNX,
    SCORING,
    array_of,
    attributes_of,
    checked_operator,
    of_file,
    refused,
    standard_name,
)

if TYPE_CHECKING:
    import onnx

_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")
"""Kinds of splits, at the positions that are their numbers in ``TreeEnsemble``."""
_INCLUSIVE_MODES = ("BRANCH_LEQ", "BRANCH_GT")
_TRUE_IS_BELOW = ("BRANCH_LEQ", "BRANCH_LT")
_AVERAGE = "AVERAGE"
_SUM = "SUM"
_NODE_KEYS = (
    "treeids",
    "nodeids",
    "featureids",
    "modes",
    "truenodeids",
    "falsenodeids",
)
_SIDES = ("true", "false")


@dataclass(frozen=True)
class _Stage:
    """The values between two operators of a graph: documents, or their scores after the operator that scores.

    Attributes
    ----------
    dtype : str
        "float32" or "float64".
    is_rounded : bool
        Whether the values of the documents were in single precision at some point.
    n_features : int
        Number of columns of the input; 0 if the graph does not specify it.
    model : ParsedModel or None
        The model that computed the scores; None before the operator that scores.
    is_column : bool
        Whether scores are a column, rather than a row.
    """

    dtype: str
    is_rounded: bool
    n_features: int
    model: ParsedModel | None = None
    is_column: bool = False


def onnx_model(path: Path) -> ParsedModel:
    """Return the model in an ONNX file: a graph of operators, one of which computes the score.

    The graph is read, and not run.

    Raises
    ------
    MissingExtraError
        If onnx is not installed.
    UnreadableModelError
        If the file contains any other graph, or is damaged.
    """
    try:
        import onnx  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError(path.name, "onnx", "onnx") from error
    try:
        return _parsed_graph(onnx.load(path, load_external_data=False), path.parent)
    # An error that already says what is wrong is passed on. All others
    # mean that the graph does not have the expected parts.
    except UnreadableModelError:
        raise
    except (
        OSError,
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
    ) as error:
        raise unreadable(
            ONNX, tr("one ensemble of trees, or one linear regressor")
        ) from error
    except (
        Exception
    ) as error:  # the error of google.protobuf for a damaged file has no public name
        if type(error).__name__ != "DecodeError":
            raise
        raise unreadable(ONNX, tr("a whole file")) from error


def _parsed_graph(model: onnx.ModelProto, folder: Path) -> ParsedModel:
    """Return the model of a graph, whose operators must form a chain from the input to the score.

    ``folder`` is that of the file, in which large constants may have
    files of their own. Any other graph raises UnreadableModelError.
    """
    graph = model.graph
    if model.functions or graph.sparse_initializer:
        raise unreadable(ONNX, tr("no functions of its own, and no sparse constants"))
    versions = {
        standard_name(domain.domain): domain.version for domain in model.opset_import
    }
    if len(versions) != len(model.opset_import):
        raise unreadable(ONNX, tr("one version of each domain"))

    # Constants are initializers or outputs of Constant nodes; all other
    # nodes are the chain of operators.
    constants = {tensor.name: tensor for tensor in graph.initializer}
    chain: list[tuple[onnx.NodeProto, dict[str, Any]]] = []
    for node in graph.node:
        kind = checked_operator(node, versions)
        if kind == "Constant":
            attributes_of(node, folder)  # called for its errors only
            constants[node.output[0]] = next(a.t for a in node.attribute)
        else:
            chain.append((node, attributes_of(node, folder)))

    # Initializers may be listed as inputs of the graph, too; those are
    # no inputs for documents.
    inputs = [value for value in graph.input if value.name not in constants]

    # Each value must be defined once, else the name of an input would be ambiguous.
    name_counts = Counter([tensor.name for tensor in graph.initializer])
    name_counts.update([value.name for value in inputs])
    name_counts.update([node.output[0] for node in graph.node])
    if sum(node.op_type in SCORING for node, _ in chain) != 1:
        raise unreadable(ONNX, tr("one ensemble of trees, or one linear regressor"))
    has_repeated_name = max(name_counts.values()) > 1
    if has_repeated_name or len(inputs) != 1 or len(graph.output) != 1:
        raise unreadable(ONNX, tr("one input and one output"))

    # Follow the chain: each operator takes the output of the one before
    # as its first input.
    stage = _input_stage(inputs[0])
    current = inputs[0].name
    for node, attributes in chain:
        if node.input[0] != current:
            raise refused(node, tr("another input"), tr("operators in a row"))

        # The remaining inputs are constants; an optional input that is
        # left out has an empty name.
        arrays = [array_of(constants[name], folder) for name in node.input[1:] if name]
        stage = _stage_after(stage, node, attributes, arrays)
        current = node.output[0]
    if graph.output[0].name != current or stage.model is None:
        raise unreadable(ONNX, tr("one input and one output"))

    # The ONNX export writes the names of the features to the metadata,
    # one on each line.
    name_texts = [p.value for p in model.metadata_props if p.key == "feature_names"]
    names = tuple(name_texts[0].split("\n")) if name_texts else ()
    return replace(stage.model, names=names)


def _input_stage(value: onnx.ValueInfoProto) -> _Stage:
    """Return the stage (the kind of values between two operators) of a graph's input.

    The input has documents in rows, in single or double precision; its
    columns may be of an unknown number, 0.
    """
    import onnx  # noqa: PLC0415 - an extra

    types = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.DOUBLE: "float64"}
    dtype = types.get(value.type.tensor_type.elem_type)
    dimensions = list(value.type.tensor_type.shape.dim)
    if dtype is None or len(dimensions) not in (0, 2):
        raise unreadable(ONNX, tr("rows of numbers in single or double precision"))
    n = int(dimensions[1].dim_value) if dimensions else 0
    if n < 0:
        raise unreadable(ONNX, tr("rows of numbers in single or double precision"))
    return _Stage(dtype, is_rounded=dtype == "float32", n_features=n)


def _stage_after(
    stage: _Stage,
    node: onnx.NodeProto,
    attributes: Mapping[str, Any],
    arrays: list[np.ndarray[Any, Any]],
) -> _Stage:
    """Return the stage after an operator: the kind of values that it passes on, and the model, if it scores.

    ``stage`` is the one before it, ``attributes`` are the operator's
    settings, and ``arrays`` its constant inputs. Anything unknown
    raises UnreadableModelError.
    """
    match node.op_type:
        # Operators that only convert values or their shape.
        case "Identity":
            return stage
        case "Cast":
            return _cast(stage, node, attributes)
        case "Reshape" | "Flatten" | "Squeeze":
            return _reshaped(stage, node, attributes, arrays)
        # Operators that compute the score. Two of them compute in single precision.
        case "MatMul":
            weights, n, is_column = _matrix_weights(stage, node, arrays)
            model = ParsedModel(ONNX, weights, n_features=n)
            dtype = stage.dtype
        case "LinearRegressor":
            model = _linear_model(stage, node, attributes)
            dtype = "float32"
            is_column = True
        case "TreeEnsembleRegressor":
            trees = _regressor_trees(stage, node, attributes)
            model = ParsedModel(ONNX, trees=trees)
            dtype = "float32"
            is_column = True
        # The only other known operator, TreeEnsemble.
        case _:
            trees = _ensemble_trees(stage, node, attributes)
            model = ParsedModel(ONNX, trees=trees)
            dtype = stage.dtype
            is_column = True

    # No split may be on a column that the input does not have.
    if stage.n_features and any(
        c >= stage.n_features for tree in model.trees for c, *_ in tree.splits
    ):
        raise refused(node, tr("more features than the input"), str(stage.n_features))
    model = replace(model, n_features=model.n_features or stage.n_features)
    return _Stage(dtype, stage.is_rounded, stage.n_features, model, is_column)


def _cast(stage: _Stage, node: onnx.NodeProto, attributes: Mapping[str, Any]) -> _Stage:
    """Return the stage (the kind of values) after an operator that changes precision to single or double.

    RankStudio computes sums in doubles in any case, but thresholds of
    trees are compared with values as they are rounded in the graph.
    ``is_rounded`` of a stage says that the values were in single
    precision at some point.
    """
    import onnx  # noqa: PLC0415 - an extra

    types = {onnx.TensorProto.FLOAT: "float32", onnx.TensorProto.DOUBLE: "float64"}
    dtype = types.get(attributes["to"])
    if dtype is None:
        # The file may have a number that is no type of onnx.
        types_of_onnx = onnx.TensorProto.DataType.values()
        kind = (
            onnx.TensorProto.DataType.Name(attributes["to"])
            if attributes["to"] in types_of_onnx
            else "?"
        )
        raise refused(node, tr("the type {type}").format(type=kind), "FLOAT, DOUBLE")
    return replace(
        stage,
        dtype=dtype,
        is_rounded=stage.is_rounded or dtype == "float32",
    )


def _reshaped(
    stage: _Stage,
    node: onnx.NodeProto,
    attributes: Mapping[str, Any],
    arrays: list[np.ndarray[Any, Any]],
) -> _Stage:
    """Return the stage (the kind of values) after an operator that changes the shape.

    The change may only turn a column of scores into a row, or a row into a column.
    """
    if arrays:  # the shape, or the axes to remove, is an input
        is_plain = arrays[0].dtype == np.int64 and arrays[0].ndim == 1
        shape = tuple(arrays[0].ravel().tolist())
    else:  # the shape, or the axes to remove, is an attribute
        is_plain = True
        axis = () if node.op_type == "Squeeze" else (attributes.get("axis", 1),)
        shape = tuple(attributes.get("axes", axis))

    # With "allowzero", a 0 in a shape would mean a size of 0.
    allowed = _allowed_shapes(stage, node.op_type)
    if shape not in allowed or not is_plain or attributes.get("allowzero", 0):
        text = tr("the shape {shape}").format(shape=of_file(str(list(shape))))
        raise refused(
            node,
            text,
            ", ".join(str(list(accepted)) for accepted in allowed) or tr("none here"),
        )
    return allowed[shape]


def _allowed_shapes(stage: _Stage, operator: str) -> dict[tuple[int, ...], _Stage]:
    """Return the stage after an operator, "Reshape", "Flatten" or "Squeeze", for each shape that it may have.

    For "Flatten" and "Squeeze", the key is the axis or axes instead. In
    a shape, 0 keeps a size, and -1 infers it from the others.
    """
    n = stage.n_features

    # Before the operator that scores, values are documents, whose shape
    # must not change.
    if stage.model is None:
        sizes = ((-1, n), (0, n), (0, -1)) if n else ((0, -1),)
        shapes = {"Reshape": sizes, "Flatten": ((1,),), "Squeeze": ()}
        return dict.fromkeys(shapes[operator], stage)

    # Afterwards they are scores: a column of shape (m, 1), or a row of shape (m,).
    column = replace(stage, is_column=True)
    row = replace(stage, is_column=False)
    match operator:
        case "Flatten":
            return {(1,): column}
        case "Squeeze":
            return {(): row, (1,): row, (-1,): row} if stage.is_column else {(): row}
        case _ if stage.is_column:
            return {(-1,): row, (0, 1): column, (-1, 1): column, (0, -1): column}
        case _:
            return {(-1,): row, (0, 1): column, (-1, 1): column, (0,): row}


def _matrix_weights(
    stage: _Stage, node: onnx.NodeProto, arrays: list[np.ndarray[Any, Any]]
) -> tuple[dict[int, float], int, bool]:
    """Return the weights of a matrix product, its number of features, and whether scores are a column.

    The weights are those of the n features, as a vector of shape (n,)
    or as a matrix of shape (n, 1), by which scores become a column.
    """
    (matrix,) = arrays

    # After an operator that scores, there is a model already.
    if (
        stage.model is not None
        or matrix.ndim not in (1, 2)
        or matrix.shape[1:] not in ((), (1,))
    ):
        raise refused(
            node,
            tr("several scores of a document"),
            tr("one score for each document"),
        )

    # `n_features` is 0 if the graph does not say the number.
    n = matrix.shape[0]
    if matrix.dtype != stage.dtype or n != (stage.n_features or n):
        text = f"{n} {matrix.dtype}"
        raise refused(node, text, f"{stage.n_features or n} {stage.dtype}")
    return _weights(matrix.ravel().tolist()), n, matrix.ndim == 2


def _linear_model(
    stage: _Stage, node: onnx.NodeProto, values: Mapping[str, Any]
) -> ParsedModel:
    """Return the weights of a linear regressor without its constant, which changes no ranking.

    ``values`` are the attributes of the operator.
    """
    # The input may have an unknown number of features, 0.
    # `_check_score` is called for its errors only.
    coefficients = values["coefficients"]
    n = stage.n_features or len(coefficients)
    _check_score(
        node, values, values.get("targets", 1), len(values.get("intercepts", ()))
    )
    if len(coefficients) != n:
        raise refused(node, str(len(coefficients)), str(n))

    # Called for its error only, if the constant is not finite.
    _weights(values.get("intercepts", ()))
    return ParsedModel(ONNX, _weights(coefficients), n_features=n)


def _weights(values: Sequence[float]) -> dict[int, float]:
    return {i: finite(ONNX, value) for i, value in enumerate(values)}


def _check_score(
    node: onnx.NodeProto, values: Mapping[str, Any], n_targets: int, n_constants: int
) -> None:
    """Raise UnreadableModelError if an operator computes several scores, or transforms the score.

    A target is a score of a document; ``n_constants`` are the numbers
    that are added to scores, one for each of them.
    """
    if n_targets != 1 or n_constants > 1:
        raise refused(
            node,
            tr("several scores of a document"),
            tr("one score for each document"),
        )

    # No transform is the text "NONE" in some operators, and the number 0 in others.
    if values.get("post_transform", 0) not in (0, b"NONE"):
        raise refused(
            node, tr("the attribute {name}").format(name="post_transform"), "NONE"
        )


def _floats(
    node: onnx.NodeProto, values: Mapping[str, Any], name: str, dtype: str
) -> list[float]:
    """Return the numbers of an attribute with a name; empty if the operator does not have it.

    The attribute is a list of floats, or a tensor in ``dtype``, the
    precision of the input.
    """
    tensor = values.get(f"{name}_as_tensor")
    if tensor is None:
        return [finite(ONNX, value) for value in values.get(name, ())]
    if name in values or tensor.dtype != dtype or tensor.ndim != 1:
        text = tr("the attribute {name}").format(name=f"{name}_as_tensor")
        raise refused(node, text, dtype)
    return [finite(ONNX, value) for value in tensor.tolist()]


def _checked_split(
    stage: _Stage, node: onnx.NodeProto, feature: int, mode: str, value: float
) -> tuple[int, float, bool]:
    """Return the feature of a split, its threshold, and whether its true branch is the one below.

    ONNX splits by a comparison with ``value``, such as "less than",
    which is ``mode``; a document for which it is true goes to the true
    branch. In RankStudio, values up to the threshold go to the branch
    below. No values are missing, so that attributes for missing values
    have no effect.
    """
    if mode not in _MODES:
        raise refused(
            node,
            tr("splits of the kind {mode}").format(mode=of_file(mode)),
            ", ".join(_MODES),
        )
    if stage.is_rounded:
        # Only a threshold that is a float itself is accepted, to be
        # compared with values that are floats.
        nearest = (
            float(np.float32(value))
            if abs(value) <= float(np.finfo(np.float32).max)
            else math.inf
        )
        if nearest != value:
            raise refused(
                node,
                tr("thresholds in double precision"),
                tr("thresholds in single precision"),
            )

        # The greatest double that is rounded to a float up to, or below, value.
        threshold = (greatest_up_to if mode in _INCLUSIVE_MODES else greatest_below)(
            value
        )
    else:
        # "Less than the value" is "at most the next smaller number".
        threshold = (
            value if mode in _INCLUSIVE_MODES else math.nextafter(value, -math.inf)
        )
    return whole(ONNX, feature), threshold, mode in _TRUE_IS_BELOW


def _regressor_trees(
    stage: _Stage, node: onnx.NodeProto, values: Mapping[str, Any]
) -> tuple[ScoreTree, ...]:
    """Return the trees of the operator ``TreeEnsembleRegressor``, whose leaves add up to the score.

    ``stage`` is that before the operator, and ``values`` are the
    operator's attributes. A node has the number of its tree and its own
    number in this tree. Raise UnreadableModelError for anything
    unknown.
    """
    constants = _floats(node, values, "base_values", stage.dtype)
    _check_score(node, values, values.get("n_targets", 1), len(constants))
    kind = values.get("aggregate_function", _SUM.encode()).decode()

    # The properties of all nodes of all trees are parallel lists; each
    # row here is one node.
    thresholds = _floats(node, values, "nodes_values", stage.dtype)
    values = {
        **values,
        "nodes_modes": [mode.decode() for mode in values["nodes_modes"]],
    }
    columns = [values[f"nodes_{key}"] for key in _NODE_KEYS]
    rows = list(zip(*columns, thresholds, strict=True))

    # by the numbers of the tree and of the node
    nodes = {(row[0], row[1]): row for row in rows}

    # The leaves have their values in lists of their own, by the numbers
    # of tree and node.
    weights = _floats(node, values, "target_weights", stage.dtype)
    keys = list(zip(values["target_treeids"], values["target_nodeids"], strict=True))
    leaves = dict(zip(keys, weights, strict=True))

    # The tree of each run of consecutive rows; a tree whose rows are
    # not consecutive occurs twice.
    tree_runs = [tree for tree, _ in groupby(tree for tree, *_ in rows)]
    leaf_keys = {(tree, number) for tree, number, _, mode, *_ in rows if mode == "LEAF"}

    # All values must belong to one score, and each node must occur once.
    if len(values["target_ids"]) != len(keys) or any(values["target_ids"]):
        raise refused(
            node,
            tr("several scores of a document"),
            tr("one score for each document"),
        )
    if (
        len(nodes) != len(rows)
        or len(leaves) != len(keys)
        or leaves.keys() != leaf_keys
    ):
        raise unreadable(ONNX, tr("each node of a tree once"))
    if len(set(tree_runs)) != len(tree_runs):
        raise unreadable(ONNX, tr("the nodes of a tree in a row"))

    def node_of(key: Any) -> Split | float:
        """Return a node by its key, the numbers of tree and node: a split, or the value of a leaf.

        A split is a feature, a threshold, and the keys of the nodes for
        values up to it and above it. ``nodes`` and ``leaves`` of the
        enclosing function have both by such keys.
        """
        tree, _, feature, mode, true, false, value = nodes[key]
        if mode == "LEAF":
            return leaves[key]
        column, threshold, true_is_below = _checked_split(
            stage, node, feature, mode, value
        )

        # `flat_tree` expects the child below the threshold first.
        below, above = (true, false) if true_is_below else (false, true)
        return column, threshold, (tree, below), (tree, above)

    roots: dict[int, int] = {}  # number of the first node of each tree
    for tree_number, node_number, *_ in rows:
        roots.setdefault(tree_number, node_number)
    trees = [
        flat_tree(ONNX, (tree_number, root), node_of)
        for tree_number, root in roots.items()
    ]

    # Every node must have been reached from a root.
    if sum(len(tree.splits) + len(tree.leaves) for tree in trees) != len(rows):
        raise unreadable(ONNX, tr("each node of a tree once"))
    return _summed_trees(node, trees, kind)


def _ensemble_trees(
    stage: _Stage, node: onnx.NodeProto, values: Mapping[str, Any]
) -> tuple[ScoreTree, ...]:
    """Return the trees of the operator ``TreeEnsemble``, whose leaves add up to the score.

    ``stage`` is that before the operator, and ``values`` are the
    operator's attributes: all splits in one array, and all leaves in
    another. Raise UnreadableModelError for anything unknown.
    """
    _check_score(node, values, values.get("n_targets", 1), 0)

    # The standard's numbers of the ways to aggregate trees that can be
    # read; others are refused below.
    kinds = {0: _AVERAGE, 1: _SUM}
    number = values.get("aggregate_function", 1)
    splits = values["nodes_splits"]
    weights = values["leaf_weights"]
    modes = values["nodes_modes"]

    # Thresholds and leaves have the type of the input, and each array
    # has one dimension.
    if any(part.dtype != stage.dtype or part.ndim != 1 for part in (splits, weights)):
        raise refused(node, f"{splits.dtype}, {weights.dtype}", stage.dtype)
    if modes.dtype != np.uint8 or modes.shape != splits.shape:
        raise unreadable(ONNX, tr("each node of a tree once"))

    # Each list of properties has one entry for each split.
    lists = {
        k: v
        for k, v in values.items()
        if k.startswith("nodes_") and isinstance(v, list)
    }
    if any(len(column) != len(splits) for column in lists.values()):
        raise unreadable(ONNX, tr("each node of a tree once"))

    # All leaves contribute to target 0, as a document has one score.
    if len(values["leaf_targetids"]) != len(weights) or any(values["leaf_targetids"]):
        raise refused(
            node,
            tr("several scores of a document"),
            tr("one score for each document"),
        )

    def child_key(node_index: int, side: str) -> tuple[int, bool, str]:
        """Return the key of the child of a split, for documents whose comparison is true or false.

        ``node_index`` is that of the split, and ``side`` is "true" or
        "false". The key has the index of the child, whether it is a
        leaf, and the side. The lists in ``values`` of the enclosing
        function have the children.
        """
        index = int(values[f"nodes_{side}nodeids"][node_index])
        is_leaf = bool(values[f"nodes_{side}leafs"][node_index])
        return index, is_leaf, side

    def node_of(key: Any) -> Split | float:
        """Return a node by its key: the value of a leaf, or a split.

        A split is a feature, a threshold, and the keys of the nodes for
        values up to it and above it. A key has the index, whether it is
        one of a leaf, and the side of its parent. With the side, the
        two children of a split have different keys even if both are the
        same leaf, as in a tree of one leaf. Uses the lists of the
        function around it: `weights` of leaves, and `modes`, `splits`
        (thresholds) and `values` of splits.
        """
        index, is_leaf, _ = key
        if is_leaf:
            return finite(ONNX, weights[whole(ONNX, index)])
        node_index = whole(ONNX, index)

        # A number that the standard does not define is kept as text for
        # the error message.
        mode = (
            _MODES[modes[node_index]]
            if modes[node_index] < len(_MODES)
            else f"{modes[node_index]}"
        )
        value = finite(ONNX, splits[node_index])
        column, threshold, true_is_below = _checked_split(
            stage, node, values["nodes_featureids"][node_index], mode, value
        )
        true, false = (child_key(node_index, side) for side in _SIDES)

        # `flat_tree` expects the child below the threshold first.
        return (
            (column, threshold, true, false)
            if true_is_below
            else (column, threshold, false, true)
        )

    # The first node of each tree is a split, also in a tree of one leaf.
    trees = [
        flat_tree(ONNX, (int(root), False, ""), node_of)
        for root in values["tree_roots"]
    ]
    return _summed_trees(node, trees, kinds.get(number, str(number)))


def _summed_trees(
    node: onnx.NodeProto, trees: list[ScoreTree], kind: str
) -> tuple[ScoreTree, ...]:
    """Return trees whose leaves add up to the score; ``kind`` is how the operator combines trees.

    For an average, the leaves are divided by the number of trees. Kinds
    other than that and the sum raise UnreadableModelError.
    """
    if kind not in (_SUM, _AVERAGE):
        text = tr("the attribute {name}").format(name="aggregate_function")
        raise refused(node, f"{text} {of_file(kind)}", f"{_SUM}, {_AVERAGE}")
    if kind == _SUM or not trees:
        return tuple(trees)
    return tuple(
        replace(tree, leaves=tuple(leaf / len(trees) for leaf in tree.leaves))
        for tree in trees
    )
