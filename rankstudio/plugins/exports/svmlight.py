"""SVM-light's and SVM-rank's files of models, with a linear kernel and one support vector per weight."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
)
from rankstudio.engine.export.formats.trial import weighted_sum
from rankstudio.engine.export.score_function import (
    ScoreFunction,
    ValueRanges,
    centred,
    shifted,
)
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
_HEADER_LINES = 11  # the last line of the header has the threshold
# With 8 decimals, scores up to 2^24 show almost all digits of a double.
_GREATEST_SCORE_EXPONENT = 24
_GREATEST_SCALE_EXPONENT = 500

_Fit = Callable[[ScoreFunction, ValueRanges], Sequence[ScoreFunction]]


def write(function: ScoreFunction, version: str) -> Files:
    """Return the file of a linear model for a version of SVM-light or SVM-rank.

    Each program reads only its own version. A support vector has values
    in single precision, and a factor in double precision. Each feature
    has its own vector with the value 1, so that its weight keeps all
    digits. The only file has the key "", the ending of its name after
    the stem.
    """
    # The header has the highest id, at least one document, and the
    # number of vectors plus 1.
    n = len(function.inputs)
    pairs = list(zip(function.inputs, function.weights, strict=True))
    head = _HEADER.format(
        version=version,
        highest=max((feature.id for feature in function.inputs), default=1),
        documents=max(n, 1),
        vectors=n + 1,
        # Shifted inputs add a constant to the score. The programs
        # subtract its negative, the threshold. Adding 0 turns -0.0 into
        # 0.0.
        threshold=-math.fsum(weight * feature.shift for feature, weight in pairs) + 0.0,
    )
    vectors = [f"{weight!r} {feature.id}:1 #" for feature, weight in pairs]
    if vectors:  # the text about the model is the comment of the first vector
        vectors[0] += f" {comment_text(clean_text(function.about), 'hash')}"
    return {"": (head + "".join(f"{vector}\n" for vector in vectors)).encode()}


def read(
    files: Files, function: ScoreFunction, documents: Documents, prints: str
) -> Floats:
    """Score documents with the model in a file as svm_classify does.

    The scores have the shape (m,) for m documents. Values have single
    precision, sums double precision, and scores few digits: they are
    printed by the format ``prints``. With documents in double
    precision, nothing is rounded. The only file, with the key "", has
    the model.
    """
    # The threshold ends the header.
    lines = files[""].decode().splitlines()
    threshold = float(lines[_HEADER_LINES - 1].partition("#")[0])
    columns = {feature.id: column for column, feature in enumerate(function.inputs)}

    # Weights are sums over the support vectors, each a line with a
    # factor, pairs of feature and value, and a comment after "#".
    weights = [0.0] * len(columns)
    for line in lines[_HEADER_LINES:]:
        alpha, *pairs = line.partition("#")[0].split()
        for pair in pairs:
            number, value = pair.split(":")
            weights[columns[int(number)]] += float(alpha) * float(
                documents.dtype(float(value))
            )

    # Values are rounded as by the program.
    X = documents.X.astype(documents.dtype).astype(np.float64)
    scores = weighted_sum(X, enumerate(weights), np.float64) - threshold

    # In double precision, nothing is rounded. Else, scores have the
    # digits that are printed.
    if documents.dtype is np.float64:
        return scores
    return np.array(
        [float(prints % score) for score in scores.tolist()], dtype=np.float64
    )


def _centred(function: ScoreFunction, ranges: ValueRanges) -> tuple[ScoreFunction, ...]:
    """Return a score function as it is, and one with scores around 0.

    ``ranges`` are those of the values of the inputs in the data. Around
    0, the 8 digits that the program prints distinguish more scores.
    """
    return function, centred(function, ranges)


def _scaled(function: ScoreFunction, ranges: ValueRanges) -> tuple[ScoreFunction, ...]:
    """Return a score function as it is, and one that is shifted and scaled.

    Both functions give the same ranking.

    With the scale, the 8 decimals that the program prints show most
    digits of the scores. ``ranges`` are those of the values of the
    inputs in the data.
    """
    # Each input is shifted so that its values lie around 0.
    centred_function = centred(function, ranges)

    # The greatest absolute score for values in these ranges: each
    # shifted input is farthest from 0 at one end of its range.
    greatest_score = math.fsum(
        abs(weight) * max(high + feature.shift, -(low + feature.shift))
        for weight, low, high, feature in zip(
            function.weights,
            ranges.low,
            ranges.high,
            centred_function.inputs,
            strict=True,
        )
    )

    # A power of two, so that scaling does not round. Its limits avoid
    # factors near the ends of the range of doubles.
    scale_exponent = 0
    if 0 < greatest_score < math.inf:
        _, score_exponent = math.frexp(greatest_score)
        scale_exponent = _GREATEST_SCORE_EXPONENT - score_exponent
    scale = 2.0 ** max(
        -_GREATEST_SCALE_EXPONENT, min(scale_exponent, _GREATEST_SCALE_EXPONENT)
    )
    return function, shifted(
        function, [feature.shift for feature in centred_function.inputs], scale
    )


def _format(
    key: str, label: str, summary: str, version: str, prints: str, fit: _Fit
) -> ModelFormat:
    """Return the format of the model files of one of the two programs.

    Parameters
    ----------
    key, label, summary : str
        Key on the command line, name for users, and a sentence on the contents.
    version : str
        Version of the program, in the first line of a file.
    prints : str
        How the program prints a score, as a format of "%".
    fit : callable
        Returns the forms of a function with the same ranking, the
        preferred one first, for some ranges of its values.
    """
    return ModelFormat(
        key,
        label,
        ".dat",
        summary,
        partial(write, version=version),
        partial(read, prints=prints),
        trees=False,  # weighted sums only
        single=label,  # the program that rounds
        prints=8,  # decimals
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
    translatable(
        "A model file for svm_classify: a linear kernel and one support vector per weight."
    ),
    version="V6.02",
    prints="%.8g",
    fit=_centred,
)
RANK = _format(
    "svmrank",
    "SVM-rank",
    translatable(
        "A model file for svm_rank_classify: a linear kernel and one support vector per weight."
    ),
    version="V6.20",
    prints="%.8f",
    fit=_scaled,
)
