"""LightGBM's text of a model: trees as they are, with the dataset's names of the features."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import Documents, Files, ModelFormat, Readers
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.export.trees import ScoreTree, checked_trees, model_text, tree_scores, tree_text
from rankstudio.engine.language import translatable
from rankstudio.engine.support.escaping import clean_text, comment_text

_END = "end of trees\n\n"
_DEFAULT_LEFT = 2  # bit 1 of LightGBM's decision type: a missing value goes left


def write(function: ScoreFunction) -> Files:
    """Return the text for ``lightgbm.Booster(model_file=…)``; its columns are the inputs, in order.

    LightGBM needs more than one feature; for a single one the text has a second, unused feature.
    """
    names = list(function.columns)
    names += ["unused", "unused_too"][: max(0, 2 - len(names))]
    trees = [f"Tree={n}\n{_tree(tree)}\n\n\n" for n, tree in enumerate(function.trees)]
    text = model_text(trees, names, "[-inf:inf]")
    about = (
        f"{_END}# {comment_text(clean_text(function.about), 'hash')}\n\n"  # LightGBM goes on at "parameters:"
    )
    return {"": text.replace(_END, about, 1).encode()}


def _tree(tree: ScoreTree) -> str:
    return tree_text(
        {
            "split_feature": [split[0] for split in tree.splits],
            "split_gain": [0 for _ in tree.splits],
            "threshold": [repr(split[1]) for split in tree.splits],
            "decision_type": [_DEFAULT_LEFT for _ in tree.splits],
            "left_child": [split[2] for split in tree.splits],
            "right_child": [split[3] for split in tree.splits],
            "leaf_value": [repr(leaf) for leaf in tree.leaves],
        }
    )


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents with LightGBM itself."""
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
