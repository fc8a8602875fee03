"""A model as a graph of ONNX with double-precision numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import MissingExtraError
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
)
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.language import translatable

OPSET = 17
ML_OPSET = 5
IR_VERSION = 10
"""Version of the file; above, of ai.onnx.ml (the first with doubles in trees) and of standard operators."""

# Numbers of the operator TreeEnsemble: the mode of a split, and the
# attributes of the whole operator.
_LESS_OR_EQUAL = 0
_SUM = 1
_NO_TRANSFORM = 0


def write(function: ScoreFunction) -> Files:
    """Return a model as an ONNX file, a graph that computes ``score`` (m, 1) from ``X`` (m, k).

    The columns of ``X``, for m documents, are the k inputs of the
    model. The only file has the key "", the ending of its name after
    the stem.

    Raises
    ------
    MissingExtraError
        If onnx is not installed.
    """
    try:
        from onnx import TensorProto, helper, numpy_helper  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("Writing ONNX", "onnx", "onnx") from error

    # A model without inputs gets one that has no effect, as a matrix has columns.
    k = max(1, len(function.inputs))
    constants = []
    if function.linear:
        # A linear model is one matrix product.
        weights = np.zeros((k, 1))
        weights[: len(function.weights), 0] = function.weights
        constants.append(numpy_helper.from_array(weights, "weights"))
        node = helper.make_node("MatMul", ["X", "weights"], ["score"])
    else:
        # Trees are one operator whose attributes hold all splits and
        # leaves. Arrays have to become tensors of ONNX.
        values = {
            name: numpy_helper.from_array(value, name)
            if isinstance(value, np.ndarray)
            else value
            for name, value in _tree_attributes(function).items()
        }
        node = helper.make_node(
            "TreeEnsemble", ["X"], ["score"], domain="ai.onnx.ml", **values
        )

    # The graph with its input, its only operator and its output, for
    # any number of documents (None).
    graph_input = helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, k])
    graph_output = helper.make_tensor_value_info("score", TensorProto.DOUBLE, [None, 1])
    model = helper.make_model(
        helper.make_graph(
            [node],
            function.name,
            [graph_input],
            [graph_output],
            constants,
            doc_string=function.about,
        ),
        opset_imports=[
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("ai.onnx.ml", ML_OPSET),
        ],
        ir_version=IR_VERSION,
        producer_name="RankStudio",
    )

    # The ids and names of the features, one on each line, so that a
    # reader can name the columns.
    features = {"feature_ids": "id", "feature_names": "name"}
    properties = {
        key: "\n".join(str(getattr(feature, name)) for feature in function.inputs)
        for key, name in features.items()
    }
    helper.set_model_props(model, properties)
    content: bytes = model.SerializeToString()
    return {"": content}


def _tree_attributes(function: ScoreFunction) -> dict[str, Any]:
    """Return the attributes of the operator TreeEnsemble.

    The attributes are the splits of all trees in lists, and the leaves.

    The operator needs a split in every tree, so a tree of one leaf
    becomes a split with this leaf on both sides.
    """
    # The split of a tree of one leaf: -1, the first leaf, is on both
    # sides. A child is the number of a split, or -1, -2 and so on for a
    # leaf.
    one_leaf = ((0, 0.0, -1, -1),)
    roots: list[int] = []
    splits: list[tuple[int, float, int, bool, int, bool]] = []
    leaves: list[float] = []
    for tree in function.trees:
        # The tree's splits and leaves follow those of all trees before.
        first_split = len(splits)
        first_leaf = len(leaves)
        roots.append(first_split)
        for column, threshold, *children in tree.splits or one_leaf:
            # Each child becomes its position among all splits or all
            # leaves, and whether it is a leaf.
            below_child, above_child = [
                (first_leaf - 1 - child, True)
                if child < 0
                else (first_split + child, False)
                for child in children
            ]
            splits.append((column, threshold, *below_child, *above_child))
        leaves += tree.leaves

    # The operator has one list for each property of the splits. In its
    # terms, "true" is the child for values up to the threshold.
    columns, thresholds, below, below_leaf, above, above_leaf = zip(
        *splits, strict=True
    )
    return {
        "n_targets": 1,
        "aggregate_function": _SUM,
        "post_transform": _NO_TRANSFORM,
        "tree_roots": roots,
        "nodes_featureids": list(columns),
        "nodes_splits": np.array(thresholds),
        "nodes_modes": np.full(len(splits), _LESS_OR_EQUAL, dtype=np.uint8),
        "nodes_truenodeids": list(below),
        "nodes_trueleafs": [int(leaf) for leaf in below_leaf],
        "nodes_falsenodeids": list(above),
        "nodes_falseleafs": [int(leaf) for leaf in above_leaf],
        "leaf_targetids": [0 for _ in leaves],
        "leaf_weights": np.array(leaves),
    }


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents by ONNX Runtime, with the graph that ``write`` made.

    ONNX Runtime uses one thread. The scores have the shape (m,) for m
    documents.

    Raises
    ------
    MissingExtraError
        If onnxruntime is not installed.
    """
    try:
        import onnxruntime  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("Reading ONNX back", "onnxruntime", "onnx") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        files[""], options, providers=["CPUExecutionProvider"]
    )

    # The graph of a model without inputs has one that has no effect.
    X = documents.X if function.inputs else np.zeros((documents.X.shape[0], 1))

    # None: all outputs
    (scores,) = session.run(None, {"X": np.ascontiguousarray(X)})
    return np.asarray(scores)[:, 0]


FORMAT = ModelFormat(
    "onnx",
    "ONNX",
    ".onnx",
    translatable(
        "A graph in doubles: MatMul (opset 17), or TreeEnsemble (ai.onnx.ml 5)."
    ),
    write,
    read,
    extra="onnx",
    readers=Readers.RUNTIME,
)
