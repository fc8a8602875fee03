"""A model of another program, before its features are matched with those of data."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from rankstudio.engine.errors import DataError
from rankstudio.engine.export.trees import ScoreTree
from rankstudio.engine.language import tr

Numbering = Literal["column", "id", "set"]
"""Meaning of the number of a feature.

It is a column from 0, an id of the data, or a position in a feature set.
"""

_MOST_NODES = 5_000_000  # of a tree, with its leaves
# The greatest double that is rounded to a finite float.
_LAST_FLOAT = math.nextafter(2.0**128 - 2.0**103, 0.0)

Split = tuple[int, float, Hashable, Hashable]
"""Feature, threshold, and the keys of two children.

The first child is for values up to the threshold, the second for values above.
"""


@dataclass(frozen=True)
class ParsedModel:
    """The model in a file of another program: a weighted sum, or a sum of trees.

    Attributes
    ----------
    program : str
        Program of the file: "XGBoost".
    weights : Mapping of int to float
        Weights by the number of the feature; empty for trees.
    trees : tuple of ScoreTree
        Trees whose values are summed; empty for weights.
    names : tuple of str
        Names of the features in the order of their numbers, "" for a
        feature without a name; empty if no feature has a name.
    numbering : {"column", "id", "set"}
        Meaning of the numbers of features, for a model without names.
    n_features : int
        Number of features that the model was learned from; 0 if the
        file does not say.
    lightgbm : str
        Text of the model in LightGBM's own format, which takes the
        place of the trees; "" for other programs.
    """

    program: str
    weights: Mapping[int, float] = field(default_factory=dict)
    trees: tuple[ScoreTree, ...] = ()
    names: tuple[str, ...] = ()
    numbering: Numbering = "column"
    n_features: int = 0
    lightgbm: str = ""


class UnreadableModelError(DataError):
    """The error that a model in a file of another program cannot be read.

    The message does not name the file; the code that opened the file
    adds its name.
    """


def unreadable(program: str, expected: str) -> UnreadableModelError:
    """Return the error of a program's file that does not have the expected content."""
    text = tr("the {program} model cannot be read: expected {expected}.")
    return UnreadableModelError(text.format(program=program, expected=expected))


def flat_tree(
    program: str, root: Hashable, node_of: Callable[[Any], Split | float]
) -> ScoreTree:
    """Return the tree below a root node, as flat lists of splits and leaves.

    A key identifies a node of the tree. A split is a tuple of feature,
    threshold, and the keys of the low and the high child.

    Parameters
    ----------
    program : str
        Name of the program, for messages.
    root : hashable
        Key of the first node.
    node_of : callable
        Returns the node of a key: a split, or the value of a leaf.

    Raises
    ------
    UnreadableModelError
        If a number is not finite, or a node is reached twice.
    """
    # Each split is a list of feature, threshold and the indices of its
    # two children, which are entered later.
    splits: list[list[Any]] = []
    leaves: list[float] = []

    # Nodes to visit: the key of a node, the index of its parent in
    # `splits` (-1 for the root), and the position in the parent's list
    # where the index of the node is entered, 2 for the low and 3 for
    # the high child.
    pending: list[tuple[Hashable, int, int]] = [(root, -1, 0)]
    visited: set[Hashable] = set()
    while pending:
        key, parent, position = pending.pop()
        if key in visited:
            raise unreadable(program, tr("each node of a tree once"))
        visited.add(key)
        node = node_of(key)
        has_too_many_nodes = len(splits) + len(leaves) > _MOST_NODES
        if isinstance(node, float):
            number = node
            index = -1 - len(leaves)  # leaves have negative indices
            leaves.append(node)
        else:
            feature, number, low_key, high_key = node
            index = len(splits)
            splits.append([feature, number, 0, 0])
            # The last one is taken first: the low side.
            pending += [(high_key, index, 3), (low_key, index, 2)]
        if not math.isfinite(number) or has_too_many_nodes:
            raise unreadable(program, tr("finite numbers and trees with an end"))
        if parent >= 0:
            splits[parent][position] = index
    return ScoreTree(
        tuple((c, t, low, high) for c, t, low, high in splits), tuple(leaves)
    )


def tree_of_lists(
    program: str,
    left: Sequence[int],
    right: Sequence[int],
    split: Callable[[int], tuple[int, float]],
    leaf: Callable[[int], float],
) -> ScoreTree:
    """Return the tree that lists of numbered nodes describe.

    The root has the number 0.

    Parameters
    ----------
    program : str
        Name of the program, for messages.
    left, right : sequence of int
        Numbers of the children of each node; -1 for a leaf.
    split : callable
        Takes the number of a node; returns the feature and the
        threshold of its split.
    leaf : callable
        Takes the number of a leaf; returns its value.

    Raises
    ------
    UnreadableModelError
        If a child does not exist, or is a child of two nodes.
    """

    def node_of(node: Any) -> Split | float:
        """Return the split of the node with a number, or the value if the node is a leaf.

        A split is a tuple of feature, threshold, and the numbers of
        both children. The children of a leaf are
        -1. The lists of nodes are arguments of the
        enclosing function.
        """
        if type(node) is not int or not 0 <= node < len(left):
            raise unreadable(program, tr("each node of a tree once"))
        return (
            leaf(node) if left[node] == -1 else (*split(node), left[node], right[node])
        )

    return flat_tree(program, 0, node_of)


def greatest_up_to(threshold: float) -> float:
    """Return the greatest double that is at most a threshold when rounded to a float.

    A program that compares floats rounds a double to the nearest float;
    if two floats are equally near, to the float whose last bit is 0.
    """
    # The threshold as a float. A double rounds to at most this float if
    # it is at most the middle between the float and the next one.
    low = nearest_float(threshold)
    # The threshold is beyond the range of floats.
    if not math.isfinite(float(low)):
        return float(np.finfo(np.float64).max) if low > 0 else float(threshold)
    # The next float would be infinite.
    if low == np.finfo(np.float32).max:
        return _LAST_FLOAT
    high = np.nextafter(low, np.float32(np.inf))
    # The middle is exact, because a double has more bits than a float.
    # It is rounded down to `low` if the last bit of `low` is 0.
    middle = (float(low) + float(high)) / 2
    is_rounded_down = int(low.view(np.uint32)) % 2 == 0
    return middle if is_rounded_down else math.nextafter(middle, -math.inf)


def greatest_below(threshold: float) -> float:
    """Return the greatest double that, rounded to a float, is less than a threshold."""
    return greatest_up_to(
        float(np.nextafter(nearest_float(threshold), np.float32(-np.inf)))
    )


def nearest_float(value: float) -> np.float32:
    """Return the nearest float, which is infinite beyond the greatest one."""
    with np.errstate(over="ignore"):
        return np.float32(value)


def finite(program: str, value: object) -> float:
    """Return a value in the file of a model, a number or its text, as a finite number.

    UnreadableModelError is raised for anything else. `program` is the
    name of the program that wrote the file, for the message.
    """
    # A value that is no number becomes NaN.
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise unreadable(program, tr("finite numbers"))
    return number


def whole(program: str, value: object, least: int = 0) -> int:
    """Return a value in the file of a model, a number or its text, as a whole number.

    `least` is the smallest allowed number. UnreadableModelError is
    raised for anything else. `program` is the name of the program that
    wrote the file, for the message.
    """
    # A value that is no whole number becomes a number that is too
    # small, because `least` is 0 or more.
    try:
        number = -1 if isinstance(value, bool | float) else int(str(value))
    except ValueError:
        number = least - 1
    if not least <= number < 2**31:
        raise unreadable(program, tr("whole numbers of features and nodes"))
    return number
