"""Validation of LightGBM's text of a model, which LightGBM itself does not validate.

A text is also tried in another process before it is used in this one.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import DataError
from rankstudio.engine.language import tr
from rankstudio.engine.support.lightgbm_library import lightgbm_library

_INTEGER = re.compile(r"-?[0-9]{1,9}")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
# Values that the header must have, and keys that may have any value.
_HEADER = {"num_class": "1", "num_tree_per_iteration": "1"}
_KNOWN_HEADER_KEYS = {
    "version",
    "label_index",
    "max_feature_idx",
    "objective",
    "feature_names",
    "feature_infos",
    "tree_sizes",
}
_REQUIRED_VALUES = {"num_cat": "0", "is_linear": "0"}  # of a tree
_ALLOWED_DECISIONS = {0, 2, 4, 6, 8, 10}
"""Decisions that compare numbers, not categories.

There is one for each default side and kind of missing value.
"""

_SCRIPT = Path(__file__).with_name("trial_script.py")
_MAX_PROCESSOR_SECONDS = 10  # processor time for reading a text and one prediction
# real time for the same, on a computer that is busy with other work
_MAX_SECONDS = 60.0
_MAX_BYTES = 2 * 10**9  # address space, besides that for the text
# address space for the parsed objects of a character of the text
_BYTES_PER_CHARACTER = 32
# LightGBM's constants for the kind of a prediction.
_PREDICT_SCORES = 1
_PREDICT_CONTRIBUTIONS = 3


Node = tuple[int, float, Any, Any] | float
"""A split, or the value of a leaf.

A split has a column, a threshold, the node for values up to the
threshold, and the node for values above.
"""


@dataclass(frozen=True)
class ScoreTree:
    """A decision tree that adds a number to the score of a document.

    Attributes
    ----------
    splits : tuple of (int, float, int, int)
        Position of an input, threshold, child for values up to the
        threshold, and child for values above. A child from 0 up is the
        number of a split;
        -1 is the first leaf, -2 the second.
    leaves : tuple of float
        Values that the leaves add to a score.
    """

    splits: tuple[tuple[int, float, int, int], ...]
    leaves: tuple[float, ...]

    @property
    def root(self) -> int:
        """Number of the root: that of the first split, or of the only leaf."""
        return 0 if self.splits else -1

    def nested(self, node: int | None = None) -> Node:
        """Return a node, by default the root, with the nodes below it as nested tuples."""
        node = self.root if node is None else node
        if node < 0:
            return self.leaves[-1 - node]
        column, threshold, below, above = self.splits[node]
        return column, threshold, self.nested(below), self.nested(above)

    def text(
        self, column_of: Mapping[int, int] | None = None, counts: Sequence[int] = ()
    ) -> str:
        """Return the tree in LightGBM's text.

        Parameters
        ----------
        column_of : Mapping of int to int, optional
            New number of each column; by default the numbers stay the same.
        counts : sequence of int, optional
            Number of documents of each leaf, by which LightGBM weights
            contributions.
        """
        # One sequence for each of the four values of a split.
        columns, thresholds, left, right = (
            zip(*self.splits, strict=True) if self.splits else ((), (), (), ())
        )
        rows: dict[str, Sequence[object]] = {
            "split_feature": [
                column if column_of is None else column_of[column] for column in columns
            ],
            "threshold": list(map(repr, thresholds)),
            # 2: values up to the threshold go left; no value counts as missing
            "decision_type": [2] * len(columns),
            "left_child": left,
            "right_child": right,
            "leaf_value": list(map(repr, self.leaves)),
        }
        # The counts of documents, if there are any. A split has the
        # documents of both children. Children have higher numbers than
        # their parent, so they are counted first.
        if len(counts):
            split_counts = [0] * len(columns)
            for node in reversed(range(len(columns))):
                children = (left[node], right[node])
                split_counts[node] = sum(
                    # a child below 0 is a leaf: -1 is the first one
                    counts[-1 - child] if child < 0 else split_counts[child]
                    for child in children
                )
            rows |= {"leaf_count": counts, "internal_count": split_counts}
        return tree_text(rows)


@dataclass(frozen=True)
class Trees:
    """Validated trees of a model, in the text format of LightGBM.

    Attributes
    ----------
    columns : tuple of int
        Columns used by the trees, ascending. The text renumbers them
        from 0, and has an additional unused column at the end, which
        LightGBM requires.
    text : str
        Text for ``lightgbm.Booster(model_str=...)``, which contains
        only validated parts.
    """

    columns: tuple[int, ...]
    text: str


def checked_trees(text: str, n_columns: int) -> Trees:
    """Validate the text of a LightGBM model, and return its trees in a new text.

    The columns of the new text are only those that the trees use.

    Parameters
    ----------
    text : str
        Text written by LightGBM: one class, without categories, linear
        leaves or averages.
    n_columns : int
        Number of columns in training.

    Raises
    ------
    DataError
        If the text is invalid: with children that are not nodes, lists
        of wrong lengths, or invalid numbers.
    """
    trees = parsed_trees(text, n_columns)
    # Columns that occur in the trees are numbered anew.
    columns = tuple(sorted({feature for tree in trees for feature in tree.features}))
    numbers = {column: number for number, column in enumerate(columns)}
    tree_texts = [
        f"Tree={number}\n{tree.text(numbers)}\n\n" for number, tree in enumerate(trees)
    ]
    # LightGBM requires one more column than the trees use.
    names = [f"Column_{number}" for number in range(len(columns) + 1)]
    return Trees(columns, model_text(tree_texts, names, info="none"))


def model_text(trees: Sequence[str], names: Sequence[str], info: str) -> str:
    """Return the text of a LightGBM model that consists of trees.

    Parameters
    ----------
    trees : sequence of str
        Trees, each from its "Tree=0" to the blank lines below it.
    names : sequence of str
        Names of the columns.
    info : str
        Information on the values of each column: "none", or their range.
    """
    lines = (
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={len(names) - 1}",
        "objective=lambdarank",
        f"feature_names={' '.join(names)}",
        f"feature_infos={' '.join(info for _ in names)}",
        f"tree_sizes={' '.join(str(len(tree)) for tree in trees)}",
    )
    end = "end of trees\n\nfeature_importances:\n\nparameters:\n\nend of parameters\n"
    return "\n".join(lines) + "\n\n" + "".join(trees) + end


def tree_text(rows: Mapping[str, Sequence[object]]) -> str:
    """Return the lines of a tree in LightGBM's text.

    `rows` has the values of the tree's splits and leaves, by key of a
    line, such as "threshold".
    """
    lines = [f"{key}={' '.join(map(str, row))}" for key, row in rows.items()]
    n_leaves = len(rows["leaf_value"])
    return "\n".join(
        [f"num_leaves={n_leaves}", "num_cat=0", *lines, "is_linear=0", "shrinkage=1"]
    )


def parsed_trees(text: str, n_columns: int) -> tuple[TextTree, ...]:
    """Validate the text of a LightGBM model, and return its trees, in order.

    `n_columns` is the number of columns in training.

    Raises
    ------
    DataError
        If the text is invalid or has parts that are not supported.
    """
    head, *blocks = _header_and_trees(text)
    # Some keys may have any value, others must have a certain one.
    for key, value in head.items():
        if key not in _KNOWN_HEADER_KEYS and _HEADER.get(key) != value:
            raise _invalid_trees_error(
                "its header",
                f"{key}={value}",
                "a single ranking model whose trees are summed",
            )
    return tuple(
        TextTree.of(number, values, n_columns) for number, values in enumerate(blocks)
    )


@dataclass(frozen=True)
class TextTree:
    """A tree in LightGBM's text: each attribute has one value per split, or per leaf.

    A child is the number of a split, or -1 for the first leaf, -2 for
    the second. Values up to the threshold go left. A decision has bit 2
    if missing values go left, and 4 or 8 if 0 or NaN counts as missing.
    Only the computation of contributions needs ``counts``, the number
    of documents of each leaf.
    """

    features: tuple[int, ...]
    thresholds: tuple[str, ...]
    decisions: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    leaves: tuple[str, ...]
    counts: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, number: int, values: Mapping[str, str], n_columns: int) -> TextTree:
        """Validate a tree of LightGBM's text, and return it.

        DataError is raised if the tree is invalid. `number` is the
        position of the tree in the text, `values` has its lines by key,
        and `n_columns` is the number of columns in training.
        """
        # Splits by categories and linear models in the leaves are not supported.
        location = f"tree {number}"
        for key, required in _REQUIRED_VALUES.items():
            if values.get(key, "0") != required:
                raise _invalid_trees_error(
                    location, f"{key}={values[key]}", f"{key}={required}"
                )

        # A binary tree has one leaf more than it has splits.
        leaves = _numbers(location, values, "leaf_value")
        n_leaves = len(leaves)
        n_splits = n_leaves - 1
        if n_splits < 0 or values.get("num_leaves") != str(n_leaves):
            leaf_count = f"{n_leaves} values of leaves"
            raise _invalid_trees_error(
                location, leaf_count, f"num_leaves={values.get('num_leaves', '')}"
            )
        features = _integers(
            location, values, "split_feature", n_splits, range(n_columns)
        )
        decisions = _integers(
            location, values, "decision_type", n_splits, _ALLOWED_DECISIONS
        )
        thresholds = _numbers(location, values, "threshold", n_splits)

        # Children are split numbers from 0 up, or leaves as -1, -2, …
        nodes = range(-n_leaves, n_splits)
        left = _integers(location, values, "left_child", n_splits, nodes)
        right = _integers(location, values, "right_child", n_splits, nodes)

        # Each node but the root is a child exactly once, and a split
        # has a higher number than its parent, so that there are no
        # cycles. A tree without splits is a single leaf, which is no
        # child.
        all_children = [*range(-n_leaves if n_splits else 0, 0), *range(1, n_splits)]
        has_each_child_once = sorted(left + right) == all_children
        has_early_child = any(
            0 <= child <= node
            for side in (left, right)
            for node, child in enumerate(side)
        )
        if not has_each_child_once or has_early_child:
            raise _invalid_trees_error(
                location,
                "children that do not form a tree",
                "each split and leaf exactly once",
            )

        # Counts of documents are optional.
        counts = {
            key: _integers(location, values, key, length, range(10**9))
            for key, length in (("leaf_count", n_leaves), ("internal_count", n_splits))
            if n_splits and key in values
        }
        return cls(
            features=features,
            thresholds=thresholds,
            decisions=decisions,
            left=left,
            right=right,
            leaves=leaves,
            counts=counts,
        )

    def text(self, column_of: Mapping[int, int]) -> str:
        """Return the tree in LightGBM's text.

        `column_of` has the new number of each column that the tree uses.
        """
        return tree_text(
            {
                "split_feature": [column_of[feature] for feature in self.features],
                "threshold": self.thresholds,
                "decision_type": self.decisions,
                "left_child": self.left,
                "right_child": self.right,
                "leaf_value": self.leaves,
                **self.counts,
            }
        )


def _header_and_trees(text: str) -> list[dict[str, str]]:
    """Return the header and the trees of LightGBM's text, each as values by key."""
    body, end, _ = text.partition("\nend of trees\n")
    head, *trees = re.split(r"\nTree=[0-9]+\n", body)
    if not end or not trees or not head.startswith("tree\n"):
        raise _invalid_trees_error(
            "their text", "no trees or no end marker", "the text of a LightGBM model"
        )
    blocks = []
    for block in (head.removeprefix("tree\n"), *trees):
        # Key and value of each line, without the "=" between them.
        pairs = [line.partition("=")[::2] for line in block.split("\n") if line]
        blocks.append(dict(pairs))
        if len(blocks[-1]) != len(pairs):
            raise _invalid_trees_error("it", "a key that occurs twice", "each key once")
    return blocks


def _integers(
    location: str,
    values: Mapping[str, str],
    key: str,
    length: int,
    allowed: range | set[int],
) -> tuple[int, ...]:
    """Return the whole numbers in a line of LightGBM's text, by the key of the line.

    `values` has the lines of a tree by key. DataError is raised unless
    there are `length` numbers, all of them in `allowed`; `location`
    names the tree in its message.
    """
    words = values.get(key, "").split()
    numbers = tuple(int(word) for word in words if _INTEGER.fullmatch(word))
    has_length = len(words) == length and len(numbers) == length
    if not has_length or not all(n in allowed for n in numbers):
        raise _invalid_trees_error(
            location, f"{key}={values.get(key, '')}", f"{length} whole numbers in range"
        )
    return numbers


def _numbers(
    location: str, values: Mapping[str, str], key: str, length: int | None = None
) -> tuple[str, ...]:
    """Return the finite numbers in a line of LightGBM's text, as texts, by the line's key.

    `values` has the lines of a tree by key. DataError is raised for
    other texts, or unless there are `length` numbers, if it is not
    None; `location` names the tree in its message.
    """
    words = tuple(values.get(key, "").split())
    are_numbers = all(
        _NUMBER.fullmatch(word) and math.isfinite(float(word)) for word in words
    )
    if not are_numbers or (length is not None and len(words) != length):
        raise _invalid_trees_error(
            location, f"{key}={values.get(key, '')}", f"{length or 'finite'} numbers"
        )
    return words


def _invalid_trees_error(location: str, excerpt: str, expected: str) -> DataError:
    """Make the error for invalid trees: the location, what was there, and what was expected."""
    return DataError(
        f"The model's trees cannot be used: in {location} found {_printable_start(excerpt)}, "
        f"expected {_printable_start(expected)}."
    )


def _printable_start(text: str) -> str:
    """Return the beginning of a text for a message.

    Characters that cannot be printed are replaced.
    """
    start = text if len(text) <= 60 else f"{text[:60]}…"
    return "".join(c if c.isprintable() else "�" for c in start)


def tree_scores(trees: Trees, X: Floats, source: str = "") -> Floats:
    """Return the score of each document by some trees.

    Parameters
    ----------
    trees : Trees
        Validated trees.
    X : ndarray of shape (m, c)
        Values of m documents, in the c columns that the trees use.
    source : str
        Source of the trees, for messages: "model.json".

    Returns
    -------
    ndarray of shape (m,)
        Score of each document.

    Raises
    ------
    DataError
        If LightGBM rejects the trees, or crashes on them in a separate process.
    """
    booster, documents = _tried_booster(trees, X, _PREDICT_SCORES, source)
    return np.asarray(booster.predict(documents, raw_score=True))


def tree_contributions(
    trees: Trees, X: Floats, source: str = ""
) -> tuple[Floats, float]:
    """Return the contributions of c columns to the scores of m documents, shape (m, c).

    `X`, shape (m, c), has the values of the columns of the trees. The
    second value is a constant that is part of every score. `source`
    names the model for errors.
    """
    booster, documents = _tried_booster(trees, X, _PREDICT_CONTRIBUTIONS, source)
    contributions = np.asarray(
        booster.predict(documents, pred_contrib=True, num_threads=1)
    )
    # Shape (m, c + 2): the last column has the constant, and the one
    # before it belongs to the column of zeros that LightGBM needs.
    constant = float(contributions[0, -1]) if len(contributions) else 0.0
    return np.ascontiguousarray(contributions[:, : X.shape[1]]), constant


def _tried_booster(
    trees: Trees, X: Floats, kind: int, source: str
) -> tuple[Any, Floats]:
    """Return the booster of some trees, and X with a column of zeros added.

    A booster is LightGBM's model. The booster is tried in a separate
    process first, because it can crash on invalid trees; DataError is
    raised if the trial fails. `source` names the model for the message.
    `kind` is LightGBM's constant of the kind of prediction. X has shape
    (m, c) for the c columns of the trees.
    """
    # The text names what needs LightGBM, if it is missing.
    lightgbm = lightgbm_library(tr("A tree model"))
    documents = np.column_stack([X, np.zeros(X.shape[0])])
    # The last argument is the path of the library of LightGBM.
    if failure := _failure_in_trial(
        trees.text, documents.shape[1], kind, lightgbm.basic._LIB._name
    ):
        subject = f"{source}: the" if source else "The"
        raise DataError(
            f"{subject} model's trees cannot be used: LightGBM, in a separate process, {failure}; "
            "expected a score."
        )
    return lightgbm.Booster(model_str=trees.text), documents


@lru_cache(maxsize=64)
def _failure_in_trial(text: str, n_columns: int, kind: int, library: str) -> str:
    """Predict with a LightGBM model in a separate process; return the error as a text.

    The result is "" if the prediction did not fail. `text` has the
    model, `n_columns` is its number of columns, `kind` LightGBM's
    constant of the kind of prediction, and `library` the path of
    LightGBM's library.
    """
    # The process has limits of memory, which depends on the text, and of time.
    content = text.encode()
    max_bytes = _MAX_BYTES + _BYTES_PER_CHARACTER * len(content)
    arguments = map(str, (_MAX_PROCESSOR_SECONDS, max_bytes, library, n_columns, kind))
    command = [sys.executable, "-I", "-S", str(_SCRIPT), "trees", *arguments]
    try:
        process = subprocess.run(
            command,
            input=content,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            timeout=_MAX_SECONDS,
            check=False,
        )
    # Each way to fail has its own text.
    except subprocess.TimeoutExpired:
        return f"took more than {_MAX_SECONDS:g} seconds"
    except OSError as error:
        return f"could not be started ({error.strerror})"
    if process.returncode < 0:
        return f"was ended by signal {-process.returncode}"
    return f"failed with status {process.returncode}" if process.returncode else ""
