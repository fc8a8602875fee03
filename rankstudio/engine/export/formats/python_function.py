"""A Python module with the model as a function, which needs nothing but Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import Documents, Files, ModelFormat
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.language import translatable

_SUM = '''

def score({argument}):
    """Return the score of a document of which ``values`` has each feature's value by its id."""
    total = 0.0
    for feature, weight in WEIGHTS.items():
        total += weight * values[feature]
    return total
'''
_TREES = '''

def score({argument}):
    """Return the score of a document of which ``values`` has each feature's value by its id."""
    total = 0.0
    for splits, leaves in TREES:
        node = 0 if splits else -1
        while node >= 0:
            feature, threshold, below, above = splits[node]
            node = below if values[feature] <= threshold else above
        total += leaves[-1 - node]
    return total
'''
_SCALED = '''

def scores(documents):
    """Return the scores of all documents of a query: each feature is scaled to [0, 1] within it first."""
    scaled = [{} for _ in documents]
    for feature in FEATURES:
        column = [values[feature] for values in documents]
        low, span = min(column), max(column) - min(column)
        for row, value in zip(scaled, column):
            row[feature] = (value - low) / (span or 1.0)
    return [score(values) for values in scaled]
'''


def write(function: ScoreFunction) -> Files:
    """Return the module."""
    ids = [given.id for given in function.inputs]
    about = function.about.replace("\\", "/").replace('"', "'")
    lines = [f'"""A ranking model: {about}."""', "", "FEATURES = {"]
    lines += [f"    {given.id}: {given.name!r}," for given in function.inputs]
    lines += ["}", '"""The features\' names by their ids."""', ""]
    if function.linear:
        pairs = zip(ids, function.weights, strict=True)
        lines += ["WEIGHTS = {", *(f"    {i}: {weight!r}," for i, weight in pairs), "}"]
        lines += ['"""The score per unit of each feature, by its id, in the order of the sum."""']
    else:
        lines += ["TREES = ["]
        for tree in function.trees:
            splits = [(ids[column], *rest) for column, *rest in tree.splits]
            lines += ["    (", f"        {splits!r},", f"        {list(tree.leaves)!r},", "    ),"]
        lines += ["]"]
        lines += [
            '"""Splits (feature, threshold, where to go up to it, and above it), and what leaves add.',
            "",
            'From 0 up it is the number of a split, -1 is the first leaf, -2 the second."""',
        ]
    code = (_SUM if function.linear else _TREES).format(argument="values")
    return {"": ("\n".join(lines) + "\n" + code + (_SCALED if function.scaled else "")).encode()}


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents by running the module."""
    names: dict[str, Any] = {}
    exec(compile(files[""], "<model>", "exec"), names)
    ids = [given.id for given in function.inputs]
    rows = [dict(zip(ids, row, strict=True)) for row in documents.X.tolist()]
    if not function.scaled:
        one: Callable[[Any], float] = names["score"]
        return np.array([one(row) for row in rows], dtype=np.float64)
    ends = documents.query_ptr.tolist()
    whole: Callable[[Any], list[float]] = names["scores"]
    found = [whole(rows[a:b]) for a, b in itertools.pairwise(ends)]
    return np.array([score for query in found for score in query], dtype=np.float64)


FORMAT = ModelFormat(
    "python",
    "Python",
    ".py",
    translatable(
        "A module with a function score(values) that needs nothing but Python; it scales within a query too."
    ),
    write,
    read,
    scales=True,
)
