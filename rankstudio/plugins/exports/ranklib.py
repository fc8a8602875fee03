"""RankLib's files of models: weights as from Coordinate Ascent, trees as from LambdaMART."""

from __future__ import annotations

from rankstudio.engine.arrays import Floats
from rankstudio.engine.export.formats.model_format import (
    Documents,
    Files,
    ModelFormat,
    Readers,
)
from rankstudio.engine.export.formats.ranklib_text import model_text, scores
from rankstudio.engine.export.score_function import ScoreFunction
from rankstudio.engine.language import translatable


def write(function: ScoreFunction) -> Files:
    """Return the file; RankLib identifies features by their ids."""
    return {
        "": model_text(function, [feature.id for feature in function.inputs]).encode()
    }


def read(files: Files, function: ScoreFunction, documents: Documents) -> Floats:
    """Score documents by the model in a file, as RankLib does.

    The scores have the shape (m,) for m documents. Values, thresholds
    and sums of trees have single precision.
    """
    numbers = {feature.id: column for column, feature in enumerate(function.inputs)}
    return scores(files[""].decode(), numbers, documents)


FORMAT = ModelFormat(
    "ranklib",
    "RankLib",
    ".txt",
    translatable(
        "A model file for RankLib's -load: weights as from Coordinate Ascent, trees as from LambdaMART."
    ),
    write,
    read,
    single="RankLib",
    readers=Readers.PROGRAM,
)
