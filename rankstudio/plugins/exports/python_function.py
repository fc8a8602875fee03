"""A Python module with the model as a function, which needs nothing but Python."""

from __future__ import annotations

import sys
from pathlib import Path

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats import trial
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
)
from rankstudio.engine.export.formats.trial import SECONDS, Trial
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.language import translatable
from rankstudio.engine.support.escaping import comment_text

_SCRIPT = Path(trial.__file__).parent.with_name("trial_script.py")
# Address space that the process may use: for Python itself, and for
# each value of a document.
_PYTHON_BYTES = 2 * 10**9
_BYTES_PER_VALUE = 200

# The code after the numbers of the model: a weighted sum or trees, then
# sums of features, then scaling.
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
_NEW_FEATURES = '''

def new_features(values):
    """Return the new features, which are sums of features, by their numbers."""
    found = {}
    for number, weights in SUMS.items():
        found[number] = 0.0
        for feature, weight in weights.items():
            found[number] += weight * values[feature]
    return found
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
    """Return a model as the text of a Python module.

    The module begins with the numbers of the model as dicts and lists.
    The functions that use these numbers follow. The only file has the
    key "", the ending of its name after the stem.
    """
    ids = [feature.id for feature in function.inputs]

    # "=" is dropped: "k 5, lambda 2"
    about = " ".join(comment_text(function.about, "python").split())
    lines = [f"# A ranking model: {about}", "", "FEATURES = {"]
    lines += [f"    {feature.id}: {feature.name!r}," for feature in function.inputs]
    lines += ["}", '"""The features\' names by their ids."""', ""]
    if function.linear:
        pairs = zip(ids, function.weights, strict=True)
        lines += ["WEIGHTS = {", *(f"    {i}: {weight!r}," for i, weight in pairs), "}"]
        lines += [
            '"""The score per unit of each feature, by its id, in the order of the sum."""'
        ]
    else:
        lines += _tree_lines(function, ids)

    # The functions that compute a score from the numbers. Trees that
    # split on sums of features compute these sums first; a model with
    # scaled inputs also has a function for all documents of a query.
    code = (_SUM if function.linear else _TREES).format(argument="values")
    if function.sums:
        code = _NEW_FEATURES + code.replace(
            "    total = 0.0", "    values = new_features(values)\n    total = 0.0"
        )
    code += _SCALED if function.scaled else ""
    return {"": ("\n".join(lines) + "\n" + code).encode()}


def _tree_lines(function: ScoreFunction, ids: list[int]) -> list[str]:
    """Return the lines of Python with the trees of a model.

    Before the trees are the lines with the new features on which the
    trees split.

    ``ids`` are those of the model's inputs, by position. New features
    are sums of features.
    """
    # Trees split on new features, numbered from 1, or else on features,
    # identified by their ids.
    numbers = list(range(1, len(function.sums) + 1)) or ids
    lines: list[str] = []
    if function.sums:
        sums = (
            repr({ids[column]: weight for column, weight in terms})
            for terms in function.sums
        )
        lines += [
            "SUMS = {",
            *(f"    {n}: {terms}," for n, terms in enumerate(sums, start=1)),
            "}",
        ]
        lines += [
            '"""The weights of the features of each new feature, in the order of the sum."""',
            "",
        ]
    lines += ["TREES = ["]
    for tree in function.trees:
        # A split is (column, threshold, where to go up to it, and above
        # it). The lines have the number of the feature instead of its
        # column.
        splits = [(numbers[column], *rest) for column, *rest in tree.splits]
        lines += [
            "    (",
            f"        {splits!r},",
            f"        {list(tree.leaves)!r},",
            "    ),",
        ]
    lines += ["]"]
    return [
        *lines,
        '"""Splits (feature, threshold, where to go up to it, and above it), and what leaves add.',
        "",
        'From 0 up it is the number of a split, -1 is the first leaf, -2 the second."""',
    ]


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents by running the module that ``write`` made in a separate process.

    The scores have the shape (m,) for m documents. The process has a
    limit of memory and time. Nothing is imported into this process, as
    names in a model could contain code.
    """
    ids = " ".join(str(feature.id) for feature in function.inputs)
    ends = " ".join(map(str, documents.query_ptr.tolist()))  # of queries
    needed = _PYTHON_BYTES + _BYTES_PER_VALUE * documents.X.size  # limit of memory
    written = {"model.py": files[""], "ids": ids.encode(), "ends": ends.encode()}
    with Trial(written) as attempt:
        names = (attempt.path(name) for name in written)

        # The script `trial_script.py` expects these arguments in this
        # order: what to run, seconds, bytes, the files, and whether
        # inputs are scaled. Python gets no settings of the user (-I),
        # and no other packages (-S).
        arguments = [
            "module",
            str(int(SECONDS)),
            str(needed),
            *names,
            str(int(function.scaled)),
        ]
        return attempt.scores(
            [sys.executable, "-I", "-S", str(_SCRIPT), *arguments], documents.X
        )


FORMAT = ModelFormat(
    "python",
    "Python",
    ".py",
    translatable(
        "A module with a function score(values) that needs only Python; it also scales within a query."
    ),
    write,
    read,
    scales=True,
    sums=True,
    readers=Readers.CODE,
)
