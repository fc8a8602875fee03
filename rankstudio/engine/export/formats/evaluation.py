"""Weighted sums and trees evaluated for many documents, in the precision of another program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats

Node = tuple[int, float, Any, Any] | float
"""A split with column, threshold, and what follows up to it and above it; or what a leaf adds."""


def weighted_sum(X: Floats, weights: Iterable[tuple[int, float]], dtype: Any) -> Floats:
    """Return sums of weight times column, one term after the other."""
    total = np.zeros(X.shape[0], dtype=dtype)
    values = X.astype(dtype)
    for column, weight in weights:
        total = total + dtype(weight) * values[:, column]
    return total


def tree_sum(X: Floats, trees: Iterable[Node], dtype: Any) -> Floats:
    """Return what the trees add up to, one tree after the other."""
    total = np.zeros(X.shape[0], dtype=dtype)
    values = X.astype(dtype)
    rows = np.arange(X.shape[0])
    for tree in trees:
        added = np.zeros_like(total)
        _evaluate(tree, values, rows, added)
        total = total + added
    return total


def _evaluate(node: Node, X: Floats, rows: Any, added: Floats) -> None:
    """Put what a node gives to the documents in some rows where they stand."""
    if not isinstance(node, tuple):
        added[rows] = node
        return
    column, threshold, below, above = node
    low = X[rows, column] <= X.dtype.type(threshold)
    for child, inside in ((below, low), (above, ~low)):
        if inside.any():
            _evaluate(child, X, rows[inside], added)


def nested(splits: Sequence[tuple[int, float, int, int]], leaves: Sequence[float], node: int) -> Node:
    """Return a tree of numbered nodes as nodes in each other."""
    if node < 0:
        return leaves[-1 - node]
    column, threshold, below, above = splits[node]
    return column, threshold, nested(splits, leaves, below), nested(splits, leaves, above)
