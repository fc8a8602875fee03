"""What models of a run are worth in each query of the validation parts: what paired intervals are made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import Fold, FoldedDataset, RankingDataset
from rankstudio.engine.experiment.results.results import RunResult
from rankstudio.engine.experiment.units.scored_part import ScoredPart
from rankstudio.engine.steps import Step


def can_measure(run: RunResult, data: FoldedDataset) -> bool:
    """Tell whether the documents are at hand with which a run's models were validated.

    They are not where a run is known from a study alone, where the data have no validation part, and where
    inner folds validated: these are not the models of the paths.
    """
    folds = {fold.number: fold for fold in data.folds}
    parts = [folds[one.fold].vali if one.fold in folds else None for one in run.folds]
    return bool(parts) and not run.plan.inner and all(part is not None and part.n_documents for part in parts)


def validation_values(
    run: RunResult, data: FoldedDataset, models: Sequence[Sequence[Step]], name: str
) -> list[Floats]:
    """Measure models of a run in each query of the validation parts.

    Parameters
    ----------
    run : RunResult
        Its folds say which parts, its plan by which convention.
    data : FoldedDataset
        For which `can_measure` holds.
    models : sequence of sequence of Step
        For each fold of the run, K steps.
    name : str
        Of the measure.

    Returns
    -------
    list of ndarray of shape (K, Q)
        One a fold; a row of NaN for a model that a study did not keep whole.

    Notes
    -----
    O(K m (n + log d)) for m documents, n features and d documents a query.
    """
    folds = {fold.number: fold for fold in data.folds}
    parts = [_validation(folds[one.fold]) for one in run.folds]
    convention = run.plan.convention
    return [_measured(part, steps, convention, name) for part, steps in zip(parts, models, strict=True)]


def _validation(fold: Fold) -> RankingDataset:
    assert fold.vali is not None  # `can_measure` was asked
    return fold.vali


def _measured(part: RankingDataset, steps: Sequence[Step], convention: str, name: str) -> Floats:
    scored = ScoredPart(part)
    from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba, which no window waits for

    evaluator = Evaluator(part.y, part.query_ptr, convention, (name,), grading=part.grading)
    found = np.full((len(steps), part.n_queries), np.nan)
    linear = [number for number, step in enumerate(steps) if step.linear]
    if linear:
        scores = scored.linear_scores(np.array([steps[number].coef for number in linear]))
        found[linear] = evaluator.per_query_many(scores)[name]
    for number, step in enumerate(steps):
        if not step.linear and step.covers(part.X):
            found[number] = evaluator.per_query(scored.scores(step))[name]
    return found
