"""LightGBM's text of a model: trees as they are, with the dataset's names of the features."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import Documents, Files, ModelFormat
from rankstudio.engine.export.score_function import ScoreFunction, ScoreTree
from rankstudio.engine.export.tree_prediction import tree_scores
from rankstudio.engine.export.tree_text import Trees, checked_trees
from rankstudio.engine.language import translatable

_DEFAULT_LEFT = 2  # bit 1 of LightGBM's decision type: a missing value goes left


def write(function: ScoreFunction) -> Files:
    """Return the text, for ``lightgbm.Booster(model_file=…)``; its columns are the inputs, in their order.

    LightGBM needs more than one feature: where there is one, the text has a second that no tree asks for.
    """
    names = [given.identifier for given in function.inputs]
    names += ["unused", "unused_too"][: max(0, 2 - len(names))]
    trees = [f"Tree={n}\n{_tree(tree)}\n\n\n" for n, tree in enumerate(function.trees)]
    lines = (
        "tree",
        "version=v4",
        "num_class=1",
        "num_tree_per_iteration=1",
        "label_index=0",
        f"max_feature_idx={len(names) - 1}",
        "objective=lambdarank",
        f"feature_names={' '.join(names)}",
        f"feature_infos={' '.join('[-inf:inf]' for _ in names)}",
        f"tree_sizes={' '.join(str(len(tree)) for tree in trees)}",
    )
    end = "end of trees\n\nfeature_importances:\n\nparameters:\n\nend of parameters\n"
    return {"": ("\n".join(lines) + "\n\n" + "".join(trees) + end).encode()}


def _tree(tree: ScoreTree) -> str:
    rows: dict[str, list[object]] = {
        "split_feature": [split[0] for split in tree.splits],
        "split_gain": [0 for _ in tree.splits],
        "threshold": [repr(split[1]) for split in tree.splits],
        "decision_type": [_DEFAULT_LEFT for _ in tree.splits],
        "left_child": [split[2] for split in tree.splits],
        "right_child": [split[3] for split in tree.splits],
        "leaf_value": [repr(leaf) for leaf in tree.leaves],
    }
    lines = [f"{key}={' '.join(map(str, row))}" for key, row in rows.items()]
    return "\n".join([f"num_leaves={len(tree.leaves)}", "num_cat=0", *lines, "is_linear=0", "shrinkage=1"])


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents with LightGBM itself."""
    trees: Trees = checked_trees(files[""].decode(), len(function.inputs))
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
)
