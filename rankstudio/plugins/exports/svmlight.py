"""SVM-light's and SVM-rank's files of models: a linear kernel, and a support vector for each weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import Documents, Files, ModelFormat, Readers
from rankstudio.engine.export.formats.trial import weighted_sum
from rankstudio.engine.export.score_function import ScoreFunction, ValueRanges, centred, shifted
from rankstudio.engine.language import translatable
from rankstudio.engine.support.escaping import clean_text, comment_text

_HEADER = """\
SVM-light Version {version}
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
{highest} # highest feature index 
{documents} # number of training documents 
{vectors} # number of support vectors plus 1 
{threshold!r} # threshold b, each following line is a SV (starting with alpha*y)
"""  # noqa: W291 - the programs read the blanks
_HEADER_LINES = 11  # those above; the last one has the threshold
_LARGEST = 24
_MOST = 500
"""Powers of two: of the greatest score, whose last bit is then the eighth decimal; and of a scale."""

_Fit = Callable[[ScoreFunction, ValueRanges], Sequence[ScoreFunction]]


def write(function: ScoreFunction, version: str) -> Files:
    """Return the file; each program reads only its own version.

    A support vector has single-precision values and a double-precision factor; each feature has its own
    vector with the value 1, so that its weight keeps all digits.
    """
    n = len(function.inputs)
    pairs = list(zip(function.inputs, function.weights, strict=True))
    head = _HEADER.format(
        version=version,
        highest=max((i.id for i in function.inputs), default=1),
        documents=max(n, 1),
        vectors=n + 1,
        threshold=-math.fsum(weight * feature.shift for feature, weight in pairs) + 0.0,
    )
    vectors = [f"{weight!r} {feature.id}:1 #" for feature, weight in pairs]
    vectors[:1] = [f"{first} {comment_text(clean_text(function.about), 'hash')}" for first in vectors[:1]]
    return {"": (head + "".join(f"{vector}\n" for vector in vectors)).encode()}


def read(files: Files, function: ScoreFunction, documents: Documents, prints: str) -> Floats:
    """Score documents like svm_classify: values in single precision, sums in double, few digits."""
    lines = files[""].decode().splitlines()
    threshold = float(lines[_HEADER_LINES - 1].partition("#")[0])
    columns = {feature.id: column for column, feature in enumerate(function.inputs)}
    weights = [0.0] * len(columns)
    for line in lines[_HEADER_LINES:]:
        alpha, *pairs = line.partition("#")[0].split()
        for pair in pairs:
            number, value = pair.split(":")
            weights[columns[int(number)]] += float(alpha) * float(documents.dtype(float(value)))
    X = documents.X.astype(documents.dtype).astype(np.float64)
    scores = weighted_sum(X, enumerate(weights), np.float64) - threshold
    if documents.dtype is np.float64:
        return scores
    return np.array([float(prints % score) for score in scores.tolist()], dtype=np.float64)


def _centred(function: ScoreFunction, ranges: ValueRanges) -> tuple[ScoreFunction, ...]:
    """Return the function as it is, and with scores around 0, of which 8 digits tell more apart."""
    return function, centred(function, ranges)


def _scaled(function: ScoreFunction, ranges: ValueRanges) -> tuple[ScoreFunction, ...]:
    """Return the function as it is, and scaled so that 8 decimals are all digits that doubles have."""
    middle = centred(function, ranges)
    reach = math.fsum(
        abs(weight) * max(high + feature.shift, -(low + feature.shift))
        for weight, low, high, feature in zip(
            function.weights, ranges.low, ranges.high, middle.inputs, strict=True
        )
    )
    exponent = _LARGEST - math.frexp(reach)[1] if 0 < reach < math.inf else 0
    scale = 2.0 ** max(-_MOST, min(exponent, _MOST))
    return function, shifted(function, [feature.shift for feature in middle.inputs], scale)


def _format(key: str, label: str, summary: str, version: str, prints: str, fit: _Fit) -> ModelFormat:
    """Return a format of SVM-light's model files for one of its programs."""
    return ModelFormat(
        key,
        label,
        ".dat",
        summary,
        partial(write, version=version),
        partial(read, prints=prints),
        trees=False,
        single=label,
        prints=8,
        fit=fit,
        fitted=translatable(
            "Scores are shifted and scaled so that the printed digits distinguish more "
            "documents. No ranking changes."
        ),
        readers=Readers.PROGRAM,
    )


LIGHT = _format(
    "svmlight",
    "SVM-light",
    translatable("A model file for svm_classify: a linear kernel and one support vector per weight."),
    "V6.02",
    "%.8g",
    _centred,
)
RANK = _format(
    "svmrank",
    "SVM-rank",
    translatable("A model file for svm_rank_classify: a linear kernel and one support vector per weight."),
    "V6.20",
    "%.8f",
    _scaled,
)
