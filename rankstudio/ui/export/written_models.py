"""Models in the formats of other programs: what is written of them, and how the file ranks."""

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
    """Return the function that is written for a model, and why it lacks the definitions of a feature set."""
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
    """Write a model in a format of another program; parameters as of `compare_rankings`.

    Raises
    ------
    RankStudioError
        Where it cannot be written.
    """
    from rankstudio.engine.export.proof import fitted_function  # noqa: PLC0415 - brings kernels

    function, _ = exported_function(model, form, feature_set)
    form.save(path, form.files(fitted_function(model, function, form, parts)))


def save_and_compare(
    model: Model,
    form: ModelFormat,
    path: Path,
    parts: Sequence[RankingDataset],
    feature_set: FeatureSet | None = None,
) -> str:
    """Write a model in a format of another program, and say how it ranks, read back."""
    save_model_form(model, form, path, parts, feature_set)
    return compare_rankings(model, form, path, parts, feature_set)


def compare_rankings(
    model: Model,
    form: ModelFormat,
    path: Path,
    parts: Sequence[RankingDataset],
    feature_set: FeatureSet | None = None,
) -> str:
    """Read back what was written, rank documents with it, and say on how many queries it ranks alike.

    Parameters
    ----------
    model : Model
    form : ModelFormat
    path : Path
        The file that was written.
    parts : sequence of RankingDataset
        The documents; where the model's values are scaled, they are read anew, as they were before.
    feature_set : FeatureSet, optional
        As it was written with.
    """
    from rankstudio.engine.experiment.model_data import trial_parts  # noqa: PLC0415 - on the worker only
    from rankstudio.engine.export.proof import ranking_proof, unproved  # noqa: PLC0415 - on the worker only

    function, reason = exported_function(model, form, feature_set)
    try:
        files = form.scored_files(path)
        trial_documents = trial_parts(model)[0] if function.scaled else parts
        return " ".join(
            filter(None, (ranking_proof(model, function, form, files, trial_documents).sentence, reason))
        )
    except (RankStudioError, OSError) as error:
        return unproved(str(error)).sentence
