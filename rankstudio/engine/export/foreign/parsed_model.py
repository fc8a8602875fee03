"""A model of another program as it was read, before its features are found in some data."""

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
"""Meaning of a feature's number: a column from 0, an id of the data, or a position in a feature set."""

_MOST_NODES = 5_000_000
_LAST_FLOAT = math.nextafter(2.0**128 - 2.0**103, 0.0)  # what is greater is rounded to an infinite float

Split = tuple[int, float, Hashable, Hashable]
"""Feature, threshold, and what follows for a value up to it and for one above it."""


@dataclass(frozen=True)
class ParsedModel:
    """A weighted sum, or trees that are added up.

    Attributes
    ----------
    program : str
        Whose it is: "XGBoost".
    weights : Mapping of int to float
        By the number of the feature; empty for trees.
    trees : tuple of ScoreTree
    names : tuple of str
        Of the features by their numbers, "" where one has none; () where none has.
    numbering : {"column", "id", "set"}
        What numbers are where there are no names.
    n_features : int
        How many features the model was learned from, as far as the file says; 0 where it does not.
    lightgbm : str
        LightGBM's own text, which then stands for the trees.
    """

    program: str
    weights: Mapping[int, float] = field(default_factory=dict)
    trees: tuple[ScoreTree, ...] = ()
    names: tuple[str, ...] = ()
    numbering: Numbering = "column"
    n_features: int = 0
    lightgbm: str = ""


class UnreadableModelError(DataError):
    """A file of another program that cannot be read; the sentence lacks the file's name."""


def unreadable(program: str, expected: str) -> UnreadableModelError:
    """Return the error of a file of a program, of which something is not as it should be."""
    text = tr("the {program} model cannot be read: expected {expected}.")
    return UnreadableModelError(text.format(program=program, expected=expected))


def flat_tree(program: str, root: Hashable, look: Callable[[Any], Split | float]) -> ScoreTree:
    """Return a tree, each of whose nodes is looked up once, from the root on.

    Parameters
    ----------
    program : str
        For sentences.
    root : hashable
        The key of the first node.
    look : callable
        Returns what a key stands for: a split, or what a leaf adds.

    Raises
    ------
    UnreadableModelError
        Where a number is not finite, or a node is reached twice.
    """
    splits: list[list[Any]] = []
    leaves: list[float] = []
    waiting: list[tuple[Hashable, int, int]] = [(root, -1, 0)]
    visited: set[Hashable] = set()
    while waiting:
        key, parent, side = waiting.pop()
        if key in visited:
            raise unreadable(program, tr("each node of a tree once"))
        visited.add(key)
        node = look(key)
        number = node if isinstance(node, float) else node[1]
        if not math.isfinite(number) or len(splits) + len(leaves) > _MOST_NODES:
            raise unreadable(program, tr("finite numbers and trees with an end"))
        if isinstance(node, float):
            index = -1 - len(leaves)
            leaves.append(node)
        else:
            index = len(splits)
            splits.append([node[0], node[1], 0, 0])
            waiting += [(node[3], index, 3), (node[2], index, 2)]
        if parent >= 0:
            splits[parent][side] = index
    return ScoreTree(tuple((c, t, low, high) for c, t, low, high in splits), tuple(leaves))


def tree_of_lists(
    program: str,
    left: Sequence[int],
    right: Sequence[int],
    split: Callable[[int], tuple[int, float]],
    leaf: Callable[[int], float],
) -> ScoreTree:
    """Return a tree whose nodes are numbered, with the numbers of their children; -1 is none.

    Raises
    ------
    UnreadableModelError
        Where a child is no node, or comes twice.
    """

    def look(node: Any) -> Split | float:
        if type(node) is not int or not 0 <= node < len(left):
            raise unreadable(program, tr("each node of a tree once"))
        return leaf(node) if left[node] == -1 else (*split(node), left[node], right[node])

    return flat_tree(program, 0, look)


def greatest_up_to(threshold: float) -> float:
    """Return the greatest double that, rounded to a float, is at most a threshold.

    A program that compares floats sees a double rounded to the nearest float, of two as near to the one whose
    last bit is 0.
    """
    low = nearest_float(threshold)
    if not math.isfinite(float(low)):
        return float(np.finfo(np.float64).max) if low > 0 else float(threshold)
    if low == np.finfo(np.float32).max:
        return _LAST_FLOAT
    high = np.nextafter(low, np.float32(np.inf))
    middle = (float(low) + float(high)) / 2  # exact: two neighbours and one more bit
    even = int(low.view(np.uint32)) % 2 == 0
    return middle if even else math.nextafter(middle, -math.inf)


def greatest_below(threshold: float) -> float:
    """Return the greatest double that, rounded to a float, is less than a threshold."""
    return greatest_up_to(float(np.nextafter(nearest_float(threshold), np.float32(-np.inf))))


def nearest_float(value: float) -> np.float32:
    """Return the nearest float, which is infinite beyond the greatest one."""
    with np.errstate(over="ignore"):
        return np.float32(value)


def finite(program: str, value: object) -> float:
    """Return a number of a file, which may be a text; UnreadableModelError for anything else."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise unreadable(program, tr("finite numbers"))
    return number


def whole(program: str, value: object, least: int = 0) -> int:
    """Return a whole number of a file, which may be a text; UnreadableModelError for anything else."""
    try:
        number = -1 if isinstance(value, bool | float) else int(str(value))
    except ValueError:
        number = least - 1
    if not least <= number < 2**31:
        raise unreadable(program, tr("whole numbers of features and nodes"))
    return number
