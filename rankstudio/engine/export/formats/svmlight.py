"""SVM-light's and SVM-rank's files of models: a linear kernel, and one support vector with the weights."""

from __future__ import annotations

from functools import partial

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.evaluation import weighted_sum
from rankstudio.engine.export.formats.model_format import Documents, Files, ModelFormat
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.language import translatable

_HEADER = """\
SVM-light Version {version}
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
{highest} # highest feature index 
1 # number of training documents 
2 # number of support vectors plus 1 
0 # threshold b, each following line is a SV (starting with alpha*y)
"""  # noqa: W291 - the programs read the blanks
_HEADER_LINES = 11


def write(function: ScoreFunction, version: str) -> Files:
    """Return the file; each program reads its own version only."""
    head = _HEADER.format(version=version, highest=max((i.id for i in function.inputs), default=1))
    pairs = zip(function.inputs, function.weights, strict=True)
    terms = "".join(f"{given.id}:{weight!r} " for given, weight in pairs)
    return {"": f"{head}1 {terms}#\n".encode()}


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents as svm_classify does, which keeps weights and values as floats and adds up doubles."""
    lines = files[""].decode().splitlines()[_HEADER_LINES:]
    columns = {given.id: column for column, given in enumerate(function.inputs)}
    weights = [0.0] * len(columns)
    for line in lines:
        alpha, *pairs = line.partition("#")[0].split()
        for pair in pairs:
            number, value = pair.split(":")
            weights[columns[int(number)]] += float(alpha) * float(documents.dtype(float(value)))
    X = documents.X.astype(documents.dtype).astype(np.float64)
    return weighted_sum(X, enumerate(weights), np.float64)


def _format(key: str, label: str, summary: str, version: str) -> ModelFormat:
    return ModelFormat(
        key, label, ".dat", summary, partial(write, version=version), read, trees=False, single=label
    )


LIGHT = _format(
    "svmlight",
    "SVM-light",
    translatable("A model file for svm_classify: a linear kernel, and one support vector with the weights."),
    "V6.02",
)
RANK = _format(
    "svmrank",
    "SVM-rank",
    translatable(
        "A model file for svm_rank_classify: a linear kernel, and one support vector with the weights."
    ),
    "V6.20",
)
