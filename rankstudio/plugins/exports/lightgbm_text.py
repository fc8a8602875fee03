"""LightGBM's text of a model, with the names of the features from the dataset."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
)
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.export.trees import (
    ScoreTree,
    checked_trees,
    model_text,
    tree_scores,
    tree_text,
)
from rankstudio.engine.language import translatable
from rankstudio.engine.support.escaping import clean_text, comment_text

_END_OF_TREES = "end of trees\n\n"
_DEFAULT_LEFT = (
    2  # bit 1 of LightGBM's decision type: a missing value goes to the left child
)


def write(function: ScoreFunction) -> Files:
    """Return a model as the text of a file for ``lightgbm.Booster(model_file=…)``.

    The columns that the booster takes are the inputs of the model, in order.

    LightGBM needs at least two features, so unused features are added
    to fewer inputs. The only file has the key "", the ending of its
    name after the stem.
    """
    names = list(function.columns)
    n_lacking = max(0, 2 - len(names))
    names += ["unused", "unused_too"][:n_lacking]

    # "[-inf:inf]" is the range of each feature's values, which is not known.
    trees = [f"Tree={n}\n{_tree(tree)}\n\n\n" for n, tree in enumerate(function.trees)]
    text = model_text(trees, names, "[-inf:inf]")
    comment = comment_text(clean_text(function.about), "hash")

    # LightGBM reads nothing between the end of the trees and the line "parameters:".
    return {
        "": text.replace(_END_OF_TREES, f"{_END_OF_TREES}# {comment}\n\n", 1).encode()
    }


def _tree(tree: ScoreTree) -> str:
    """Return the text of a tree in LightGBM's format, without its first line.

    A split of a tree is a column, a threshold, and the children below
    and above it. The gains of the splits are unknown and written as 0.
    """
    return tree_text(
        {
            "split_feature": [column for column, _, _, _ in tree.splits],
            "split_gain": [0 for _ in tree.splits],
            "threshold": [repr(threshold) for _, threshold, _, _ in tree.splits],
            "decision_type": [_DEFAULT_LEFT for _ in tree.splits],
            "left_child": [below for _, _, below, _ in tree.splits],
            "right_child": [above for _, _, _, above in tree.splits],
            "leaf_value": [repr(leaf) for leaf in tree.leaves],
        }
    )


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents with LightGBM itself, by the model in a file.

    The scores have the shape (m,) for m documents. They verify the file.
    """
    trees = checked_trees(files[""].decode(), len(function.inputs))
    return tree_scores(trees, documents.X[:, list(trees.columns)])


FORMAT = ModelFormat(
    "lightgbm",
    "LightGBM",
    ".txt",
    translatable(
        "A text for lightgbm.Booster(model_file=…); its columns are the model's features, by ascending id."
    ),
    write,
    read,
    linear=False,
    readers=Readers.PROGRAM,
)
