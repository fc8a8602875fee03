"""RankLib's text of a model, which search engines read, too.

It is a line of weights, or an ensemble of trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import Documents
from rankstudio.engine.export.formats.trial import tree_sum, weighted_sum
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.export.trees import Node
from rankstudio.engine.support.escaping import comment_text

_LINEAR_HEADER = "## Coordinate Ascent"
_TREES_HEADER = "## LambdaMART"


def model_text(function: ScoreFunction, numbers: Sequence[int]) -> str:
    """Return a model as the text of a file in RankLib's format.

    `function` is the model. `numbers` has, for each input of the model,
    the number of its feature in RankLib's files.
    """
    # Comments: the origin of the model, and the names of its features by id.
    about = [
        f"## {comment_text(function.about, 'hash')}",
        *(
            f"## {model_input.id} = {comment_text(model_input.name, 'hash')}"
            for model_input in function.inputs
        ),
    ]
    if function.linear:
        terms = " ".join(
            f"{number}:{weight!r}"
            for number, weight in zip(numbers, function.weights, strict=True)
        )
        return "\n".join([_LINEAR_HEADER, *about, "", terms]) + "\n"
    lines = [
        _TREES_HEADER,
        *about,
        f"## No. of trees = {len(function.trees)}",
        "",
        "<ensemble>",
    ]
    for number, tree in enumerate(function.trees, start=1):
        lines.append(f'\t<tree id="{number}" weight="1.0">')
        # "" is the side of the root, which has no parent.
        lines += _node_lines(tree.nested(), numbers, "", "\t\t")
        lines.append("\t</tree>")
    return "\n".join([*lines, "</ensemble>"]) + "\n"


def _node_lines(
    node: Node, numbers: Sequence[int], side: str, indent: str
) -> list[str]:
    """Return the lines of RankLib's XML for a node and for the nodes below it.

    A node is a number, for a leaf, or a tuple of the position of an
    input, a threshold, and the nodes for values up to the threshold and
    above it. `side` is "left" or "right" of the parent, "" for the
    root. `indent` is the white space before each line; `numbers` has
    RankLib's number of each input.
    """
    head = f'{indent}<split pos="{side}">' if side else f"{indent}<split>"
    if not isinstance(node, tuple):
        return [head, f"{indent}\t<output> {node!r} </output>", f"{indent}</split>"]
    column, threshold, below, above = node
    return [
        head,
        f"{indent}\t<feature> {numbers[column]} </feature>",
        f"{indent}\t<threshold> {threshold!r} </threshold>",
        *_node_lines(below, numbers, "left", indent + "\t"),
        *_node_lines(above, numbers, "right", indent + "\t"),
        f"{indent}</split>",
    ]


def scores(text: str, columns: dict[int, int], documents: Documents) -> Floats:
    """Score documents with a model in RankLib's text.

    `columns` has the column in the documents of each of RankLib's
    feature numbers. The result has shape (m,), one score per document.
    """
    # Lines that begin with ## are comments.
    body = "\n".join(line for line in text.splitlines() if not line.startswith("##"))
    if text.startswith(_LINEAR_HEADER):
        pairs = [pair.split(":") for pair in body.split()]
        weights = [(columns[int(number)], float(weight)) for number, weight in pairs]
        # RankLib reads values in the type `documents.dtype`; its
        # weights and sums are doubles.
        X = documents.X.astype(documents.dtype).astype(np.float64)
        return weighted_sum(X, weights, np.float64)
    # The first child of a <tree> is its root.
    trees = [_parsed_node(tree[0], columns) for tree in ElementTree.fromstring(body)]
    return tree_sum(documents.X, trees, documents.dtype)


def _parsed_node(split: ElementTree.Element, columns: dict[int, int]) -> Node:
    """Return a node of RankLib's XML, and those below it, as nested tuples.

    A node with an <output> is a leaf, and becomes a number. `columns`
    has the column of each of RankLib's feature numbers. Another node
    becomes a tuple of column, threshold, and the nodes for values up to
    the threshold and above it.
    """
    output = split.findtext("output")
    if output is not None:
        return float(output)
    below, above = split.findall("split")
    feature = split.findtext("feature", "")
    threshold = split.findtext("threshold", "")
    return (
        columns[int(feature)],
        float(threshold),
        _parsed_node(below, columns),
        _parsed_node(above, columns),
    )
