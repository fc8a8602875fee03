"""Models in the formats of other programs: writing files, and verifying that the files rank alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.data.feature_sets import FeatureSet
from rankstudio.engine.errors import RankStudioError

if TYPE_CHECKING:
    from rankstudio.engine.export.formats.model_format import ModelFormat
    from rankstudio.engine.export.models import Model
    from rankstudio.engine.export.score_function import ScoreFunction


def exported_function(
    model: Model, form: ModelFormat, feature_set: FeatureSet | None
) -> tuple[ScoreFunction, str]:
    """Return the score function to write for a model, and a sentence on missing definitions.

    A feature set of a search engine defines how the engine computes
    features. The sentence is "" if the features of the model are all
    defined, or if the format needs no definitions.
    """
    from rankstudio.engine.export.score_function import (  # noqa: PLC0415 - brings kernels
        defined_where_possible,
        score_function,
    )

    return defined_where_possible(score_function(model), feature_set, form.engine)


def save_model_form(
    model: Model,
    form: ModelFormat,
    path: Path,
    parts: Sequence[RankingDataset],
    feature_set: FeatureSet | None = None,
) -> None:
    """Write a model in a format of another program.

    ``path`` is the file to write. ``parts`` are documents on which the
    forms that a model can be written in are compared, and
    ``feature_set`` defines the features for a search engine.

    Raises
    ------
    RankStudioError
        If the model cannot be written.
    """
    from rankstudio.engine.export.proof import fitted_function  # noqa: PLC0415 - brings kernels

    # There are several forms of the function, such as one with rounded
    # numbers. The documents show with which one the other program ranks
    # as the model does.
    function, _ = exported_function(model, form, feature_set)
    form.save(path, form.files(fitted_function(model, function, form, parts)))


def save_and_compare(
    model: Model,
    form: ModelFormat,
    path: Path,
    parts: Sequence[RankingDataset],
    feature_set: FeatureSet | None = None,
) -> str:
    """Write a model in a format of another program, and return a sentence on how the written file ranks.

    ``parts`` are the documents that the file at ``path`` ranks, and
    ``feature_set`` defines the features for a search engine.
    """
    save_model_form(model, form, path, parts, feature_set)
    return compare_rankings(model, form, path, parts, feature_set)


def compare_rankings(
    model: Model,
    form: ModelFormat,
    path: Path,
    parts: Sequence[RankingDataset],
    feature_set: FeatureSet | None = None,
) -> str:
    """Rank documents with a written file, and return a sentence on how many queries are ranked alike.

    Parameters
    ----------
    model : Model
        The model that was written.
    form : ModelFormat
        The format of the file.
    path : Path
        The written file.
    parts : sequence of RankingDataset
        The documents. If the model scales the values of features,
        unscaled documents are read instead.
    feature_set : FeatureSet, optional
        The feature set with which the file was written.
    """
    from rankstudio.engine.experiment.model_data import trial_parts  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.export.proof import ranking_proof, unproved  # noqa: PLC0415 - on the worker only

    # Whatever fails while the file is read back means that it is not verified.
    function, reason = exported_function(model, form, feature_set)
    try:
        files = form.scored_files(path)
        trial_documents = trial_parts(model)[0] if function.scaled else parts
        proof = ranking_proof(model, function, form, files, trial_documents)
        return " ".join(filter(None, (proof.sentence, reason)))
    except (RankStudioError, OSError) as error:
        return unproved(str(error)).sentence
