"""Permutation importance of the models of runs and of model files."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from rankstudio.engine.analysis.evidence.permutation_importance import (
    MeasuredDocuments,
    PermutationImportance,
    Score,
    importance_steps,
)
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.export.models import Model
from rankstudio.engine.metrics.names import Measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress

N_REPEATS = 10
"""How often each feature is permuted, unless it is said."""

Importance = Generator[WorkProgress, None, PermutationImportance]


def step_importance(
    step: Step,
    part: RankingDataset,
    measure: Measure,
    convention: str,
    n_repeats: int = N_REPEATS,
    seed: int = 0,
) -> Importance:
    """Permute each feature that a model of a run uses, and measure what it loses.

    Parameters
    ----------
    step : Step
        The model, which was learned from features.
    part : RankingDataset
        Best one that it was not learned from.
    measure, convention, n_repeats, seed
        As of :func:`rankstudio.engine.analysis.evidence.permutation_importance.permutation_importance`.

    Yields
    ------
    WorkProgress
    """
    if not step.learned:
        raise ParameterError("model", type(step).__name__, "a model that was learned from features")

    def score(X: Floats) -> Floats:
        return step.scores(np.ascontiguousarray(X.T))

    used = tuple(sorted(step.selected))
    return _importance(score, part, used, measure, convention, n_repeats, seed)


def model_importance(
    model: Model,
    data: RankingDataset,
    measure: Measure,
    convention: str,
    n_repeats: int = N_REPEATS,
    seed: int = 0,
) -> Importance:
    """Permute each feature that a model of a file uses, and measure what it loses.

    Parameters
    ----------
    model : Model
    data : RankingDataset
        As :func:`rankstudio.engine.export.model_files.read_for` reads it for the model.
    measure, convention, n_repeats, seed
        As of :func:`step_importance`.

    Yields
    ------
    WorkProgress
    """
    ids = data.feature_ids
    # A sparse file leaves out features that are 0 in all documents.
    absent = np.array(sorted(model.needed - set(ids.tolist())) if data.sparse else [], dtype=ids.dtype)
    every = np.concatenate([ids, absent])

    def score(X: Floats) -> Floats:
        return model.predict(np.column_stack([X, np.zeros((X.shape[0], absent.size))]), every)

    used = tuple(np.flatnonzero(np.isin(ids, sorted(model.needed))).tolist())
    return _importance(score, data, used, measure, convention, n_repeats, seed)


def _importance(
    score: Score,
    part: RankingDataset,
    used: tuple[int, ...],
    measure: Measure,
    convention: str,
    n_repeats: int,
    seed: int,
) -> Importance:
    documents = MeasuredDocuments(part.X, part.y, slice(None), part.query_ptr, part.grading)
    groups = [(column,) for column in used]
    return importance_steps(score, documents, measure, n_repeats, seed, groups, convention)
