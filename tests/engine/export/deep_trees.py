"""Trees of LightGBM that are as deep as they have leaves, as text."""

from __future__ import annotations


def deep(leaves: int) -> str:
    """A tree that is as deep as it has leaves, which the checks let pass."""
    splits = leaves - 1
    rows = {
        "num_leaves": str(leaves),
        "num_cat": "0",
        "split_feature": " ".join(["0"] * splits),
        "threshold": " ".join(["0.5"] * splits),
        "decision_type": " ".join(["2"] * splits),
        "left_child": " ".join(str(~i) for i in range(splits)),
        "right_child": " ".join([*(str(i) for i in range(1, splits)), str(-leaves)]),
        "leaf_value": " ".join(["0.25"] * leaves),
    }
    block = "\n".join(f"{key}={value}" for key, value in rows.items())
    return f"tree\nnum_class=1\nnum_tree_per_iteration=1\n\nTree=0\n{block}\n\n\nend of trees\n"
