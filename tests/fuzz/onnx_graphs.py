"""Graphs of ONNX drawn at random: of all operators that are read, and with something that is not."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
LOSSY = (TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL, TensorProto.FLOAT16)
DTYPES = {FLOAT: np.float32, DOUBLE: np.float64}
ML = "ai.onnx.ml"
VALUES = (0.0, 0.1, -0.1, 0.5, 1.0, 1 / 3, -2.5, 7.0, 16777217.0, 1e-20, 3e5)
"""Thresholds; documents have these, and the numbers next to them."""


def documents(rng: random.Random, n_features: int) -> np.ndarray:
    """Return 24 documents whose values are at and around the thresholds, in both precisions."""
    rows = []
    for _ in range(24):
        row = []
        for _ in range(n_features):
            value = rng.choice(VALUES)
            # within 1e-35 of it LightGBM, which scores trees here, sees 0
            if value == 0.0:
                row.append(rng.choice((0.0, 1e-34, -1e-34)))
                continue
            near = (
                value,
                np.nextafter(value, np.inf),
                np.nextafter(value, -np.inf),
                float(np.float32(value)),
                float(np.nextafter(np.float32(value), np.float32(np.inf))),
                float(np.nextafter(np.float32(value), np.float32(-np.inf))),
                rng.uniform(-3, 3),
            )
            row.append(rng.choice(near))
        rows.append(row)
    return np.array(rows, dtype=np.float64)


class Drawn:
    """A graph in the making.

    Attributes
    ----------
    operators : list of str
        What was drawn, for the count.
    is_odd : bool
        Whether something in it may be refused.
    """

    def __init__(self, rng: random.Random, *, is_odd: bool) -> None:
        self.rng = rng
        self.is_odd = is_odd
        self.k = rng.randint(1, 4)
        self.input_type = rng.choice((FLOAT, DOUBLE))
        self.dtype = self.input_type
        self.is_rounded = self.input_type == FLOAT
        self.at = "X"
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.operators: list[str] = []
        self.column = True
        self.opset = rng.choice((9, 11, 12, 13, 17, 21))
        self.ml = rng.choice((1, 3, 5))
        before = rng.randint(0, 2)
        for _ in range(before):
            rng.choice((self.identity, self.cast, self.reshape_rows, self.flatten))()
        # the one replaced the other
        trees = self.ensemble if self.ml == 5 else self.regressor
        rng.choice((self.matrix, self.linear, trees, trees))()
        for _ in range(rng.randint(0, 3)):
            rng.choice(
                (
                    self.identity,
                    self.cast,
                    self.reshape_scores,
                    self.squeeze,
                    self.flatten_scores,
                )
            )()

    def add(
        self,
        kind: str,
        inputs: tuple[str, ...] = (),
        domain: str = "",
        **attributes: Any,
    ) -> None:
        out = f"v{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(
                kind, [self.at, *inputs], [out], domain=domain, **attributes
            )
        )
        self.operators.append(kind)
        self.at = out

    def constant(self, values: np.ndarray) -> str:
        name = f"c{len(self.constants)}_{len(self.nodes)}"
        tensor = numpy_helper.from_array(values, name)
        if self.rng.random() < 0.3:
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            self.constants.append(tensor)
        return name

    def odd(self, chance: float = 0.15) -> bool:
        return self.is_odd and self.rng.random() < chance

    def identity(self) -> None:
        self.add("Identity")

    def cast(self) -> None:
        to = self.rng.choice((FLOAT, DOUBLE))
        if self.odd():
            self.add("Cast", to=self.rng.choice(LOSSY))
            to = self.rng.choice((FLOAT, DOUBLE))
        self.add("Cast", to=to)
        self.dtype = to
        self.is_rounded |= to == FLOAT

    def reshape_rows(self) -> None:
        shape = self.rng.choice(((-1, self.k), (0, self.k), (0, -1)))
        if self.odd():
            shape = self.rng.choice(((self.k, -1), (-1, 1), (-1, 24), (24, -1)))
        self.add("Reshape", (self.constant(np.array(shape, dtype=np.int64)),))

    def flatten(self) -> None:
        axis = self.rng.choice((0, 2, -1, 1)) if self.odd() else 1
        self.add("Flatten", axis=axis)

    def reshape_scores(self) -> None:
        choices: list[tuple[int, ...]] = [(-1,), (-1, 1), (0, 1)]
        if self.column:
            choices.append((0, -1))
        shape = self.rng.choice(choices)
        if self.odd():
            shape = self.rng.choice(((2, -1), (1, -1), (12, 2)))
        self.add("Reshape", (self.constant(np.array(shape, dtype=np.int64)),))
        self.column = len(shape) == 2

    def squeeze(self) -> None:
        axes = self.rng.choice(((), (1,), (-1,))) if self.column else ()
        if self.odd():
            axes = (0,)
        if self.opset < 13:
            self.add("Squeeze", **({"axes": list(axes)} if axes else {}))
        else:
            self.add(
                "Squeeze",
                (self.constant(np.array(axes, dtype=np.int64)),) if axes else (),
            )
        self.column = False

    def flatten_scores(self) -> None:
        self.add("Flatten", axis=0 if self.odd() else 1)
        self.column = True

    def weight(self) -> float:
        return self.rng.randint(-64, 64) / 8

    def matrix(self) -> None:
        shape = self.rng.choice(((self.k, 1), (self.k,)))
        if self.odd():
            shape = (self.k, 2)
        values = [self.weight() for _ in range(int(np.prod(shape)))]
        weights = np.array(values, dtype=DTYPES[self.dtype]).reshape(shape)
        domain = self.rng.choice(("com.microsoft", "my.own")) if self.odd(0.1) else ""
        self.add("MatMul", (self.constant(weights),), domain)
        self.column = len(shape) == 2

    def linear(self) -> None:
        if self.dtype != FLOAT:  # as there is no other in ONNX Runtime
            self.add("Cast", to=FLOAT)
            self.dtype = FLOAT
            self.is_rounded = True
        given: dict[str, Any] = {"coefficients": [self.weight() for _ in range(self.k)]}
        if self.rng.random() < 0.5:
            given["intercepts"] = [self.weight()]
        if self.rng.random() < 0.5:
            given |= {"targets": 1, "post_transform": "NONE"}
        if self.odd():
            given["post_transform"] = self.rng.choice(
                ("LOGISTIC", "SOFTMAX", "PROBIT", "SOFTMAX_ZERO")
            )
        self.add("LinearRegressor", (), ML, **given)
        self.column = True

    def threshold(self) -> float:
        value = self.rng.choice(VALUES)
        return float(np.float32(value)) if self.is_rounded else value

    def nodes_of_a_tree(
        self, depth: int
    ) -> list[tuple[int, float, int, int, int] | float]:
        """Return splits (feature, threshold, mode, true, false) and leaves, the root first."""
        nodes: list[Any] = [None]

        def grow(at: int, level: int) -> None:
            if level == depth or (level and self.rng.random() < 0.3):
                nodes[at] = self.weight()
                return
            true, false = len(nodes), len(nodes) + 1
            nodes.extend((None, None))
            mode = self.rng.randrange(4)
            nodes[at] = (
                self.rng.randrange(self.k),
                self.threshold(),
                mode,
                true,
                false,
            )
            grow(true, level + 1)
            grow(false, level + 1)

        grow(0, 0)
        return nodes

    def regressor(self) -> None:
        modes = (
            "BRANCH_LEQ",
            "BRANCH_LT",
            "BRANCH_GTE",
            "BRANCH_GT",
            "BRANCH_EQ",
            "BRANCH_NEQ",
        )
        columns: dict[str, list[Any]] = {
            f"nodes_{k}": []
            for k in (
                "treeids",
                "nodeids",
                "featureids",
                "modes",
                "values",
                "truenodeids",
                "falsenodeids",
            )
        }
        leaves: dict[str, list[Any]] = {
            f"target_{k}": [] for k in ("treeids", "nodeids", "ids", "weights")
        }
        first_tree = self.rng.choice((0, 0, 3))
        for tree in range(first_tree, first_tree + self.rng.randint(1, 4)):
            for number, node in enumerate(self.nodes_of_a_tree(self.rng.randint(0, 4))):
                is_leaf = isinstance(node, float)
                feature, value, mode, true, false = (
                    (0, 0.0, 0, 0, 0) if is_leaf else node
                )
                if not is_leaf and self.odd(0.05):
                    mode = self.rng.choice((4, 5))
                row = (
                    tree,
                    number,
                    feature,
                    "LEAF" if is_leaf else modes[mode],
                    value,
                    true,
                    false,
                )
                for column, entry in zip(columns.values(), row, strict=True):
                    column.append(entry)
                if is_leaf:
                    for column, entry in zip(
                        leaves.values(), (tree, number, 0, node), strict=True
                    ):
                        column.append(entry)
        given: dict[str, Any] = {"n_targets": 1, **columns, **leaves}
        if self.dtype == DOUBLE and self.ml >= 3 and self.rng.random() < 0.7:
            for name in ("nodes_values", "target_weights"):
                given[f"{name}_as_tensor"] = numpy_helper.from_array(
                    np.array(given.pop(name)), name
                )
        self.extras(
            given,
            ("SUM", "AVERAGE"),
            ("MIN", "MAX"),
            ("LOGISTIC", "SOFTMAX", "PROBIT"),
            "NONE",
        )
        if self.rng.random() < 0.3 and "nodes_values" in given:
            given["base_values"] = [self.weight()]
        self.add("TreeEnsembleRegressor", (), ML, **given)
        self.dtype = FLOAT
        self.column = True

    def extras(
        self, given: dict[str, Any], sums: Any, others: Any, transforms: Any, none: Any
    ) -> None:
        if self.rng.random() < 0.6:
            given["aggregate_function"] = self.rng.choice(sums)
        if self.odd():
            given["aggregate_function"] = self.rng.choice(others)
        if self.rng.random() < 0.5:
            given["post_transform"] = none
        if self.odd():
            given["post_transform"] = self.rng.choice(transforms)
        if self.rng.random() < 0.3:
            length = len(given["nodes_featureids"])
            given["nodes_missing_value_tracks_true"] = [
                self.rng.randrange(2) for _ in range(length)
            ]

    def ensemble(self) -> None:
        roots: list[int] = []
        splits: list[list[Any]] = []
        leaves: list[float] = []
        for _ in range(self.rng.randint(1, 4)):
            nodes = self.nodes_of_a_tree(self.rng.randint(1, 4))
            places: list[tuple[int, int]] = []
            n_splits, n_leaves = len(splits), len(leaves)
            for node in nodes:
                places.append(
                    (n_leaves, 1) if isinstance(node, float) else (n_splits, 0)
                )
                n_leaves += isinstance(node, float)
                n_splits += not isinstance(node, float)
            roots.append(len(splits))
            for node in nodes:
                if isinstance(node, float):
                    leaves.append(node)
                else:
                    feature, value, mode, true, false = node
                    if self.odd(0.05):
                        mode = self.rng.choice((4, 5))
                    splits.append([feature, value, mode, *places[true], *places[false]])
        feature, value, mode, true, true_leaf, false, false_leaf = map(
            list, zip(*splits, strict=True)
        )
        dtype = DTYPES[self.dtype]
        given: dict[str, Any] = {
            "n_targets": 1,
            "tree_roots": roots,
            "nodes_featureids": feature,
            "nodes_splits": numpy_helper.from_array(
                np.array(value, dtype=dtype), "splits"
            ),
            "nodes_modes": numpy_helper.from_array(
                np.array(mode, dtype=np.uint8), "modes"
            ),
            "nodes_truenodeids": true,
            "nodes_trueleafs": true_leaf,
            "nodes_falsenodeids": false,
            "nodes_falseleafs": false_leaf,
            "leaf_targetids": [0] * len(leaves),
            "leaf_weights": numpy_helper.from_array(
                np.array(leaves, dtype=dtype), "leaves"
            ),
        }
        self.extras(given, (0, 1), (2, 3), (1, 2, 3, 4), 0)
        self.add("TreeEnsemble", (), ML, **given)
        self.column = True

    def model(self) -> onnx.ModelProto:
        """Return the graph."""
        rows = self.rng.choice((None, "N"))
        given = helper.make_tensor_value_info("X", self.input_type, [rows, self.k])
        made = helper.make_tensor_value_info(self.at, self.dtype, None)
        graph = helper.make_graph(self.nodes, "g", [given], [made], self.constants)
        imports = [
            helper.make_opsetid("", self.opset),
            helper.make_opsetid(ML, self.ml),
        ]
        imports += [
            helper.make_opsetid(d, 1) for d in {n.domain for n in self.nodes} - {"", ML}
        ]
        return helper.make_model(graph, opset_imports=imports, ir_version=8)
