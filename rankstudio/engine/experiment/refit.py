"""One model for use: learned from all documents, with what the folds of a run have chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median_low
from typing import TypeVar

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.splitting.splits import whole
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.reports import portable_model
from rankstudio.engine.experiment.results.results import Chosen, FoldResult, RunResult
from rankstudio.engine.experiment.units.fold_context import FoldContext, group_training
from rankstudio.engine.experiment.units.given_fold import ALL
from rankstudio.engine.export.models import Model
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.steps import Step

Value = TypeVar("Value")


def refit(result: RunResult, dataset: FoldedDataset) -> Model:
    """Train one model on all documents of a dataset, each once, with the choices of a run's folds.

    For a grid it uses the median over the folds (the lower of the two middle values for an even number); for
    other parameters the most frequent value, ties going to the one listed first; and for the number of
    features (or rounds) the median, in the same way.

    Parameters
    ----------
    result : RunResult
        Result with at least one finished fold.
    dataset : FoldedDataset
        Data of the run.

    Returns
    -------
    Model
        It has no measures, because no unseen documents remain.

    Raises
    ------
    PlanError
        If no fold is finished, or the ranking was given.
    DatasetError
        If the test parts of the folds do not contain all documents.

    Notes
    -----
    The cost is that of one unit of the run.
    """
    plan, folds = result.plan, result.folds
    if plan.entry.given:
        raise PlanError(f"{plan.title} is not trained, so there is no model to train on all documents.")
    if not folds:
        raise PlanError("A model can be trained on all documents only after at least one fold is complete.")
    chosen = [fold.chosen.unit.values for fold in folds]
    values = tuple(
        median_low(column) if axis.is_grid else most_frequent(column, axis.values)
        for axis, column in zip(plan.axes, zip(*chosen, strict=True), strict=True)
    )
    unit = Unit(1, 0, plan.combination(values))
    fold = Fold(1, whole(dataset))
    learned = FoldContext(plan, fold, group_training(fold)).path(unit)
    step = _step(plan, learned.steps, median_low([_extent(plan, fold) for fold in folds]))
    features = result.feature_ids.tolist(), result.feature_names
    return portable_model(plan, features, result.data_name, Chosen(unit, step), {}, fold=ALL)


def most_frequent(values: Sequence[Value], listed: Sequence[Value]) -> Value:
    """Return the most frequent value of the folds; ties go to the one listed first."""
    counts = Counter(repr(value) for value in values)
    return max(listed, key=lambda value: counts[repr(value)])


def _extent(plan: Plan, fold: FoldResult) -> int:
    """Return how far along the path a fold's model is."""
    step = fold.chosen.step
    return len(step.selected) if plan.step_kind is StepKind.FEATURES else step.number


def _step(plan: Plan, steps: Sequence[Step], extent: int) -> Step:
    """Return the step that is so far along a path, or the last one before; the last of an optimiser."""
    if plan.step_kind is StepKind.ITERATIONS:
        return steps[-1]
    if plan.step_kind is StepKind.ROUNDS:
        return next((step for step in reversed(steps) if step.number <= extent), steps[0])
    within = [step for step in steps if step.n_selected <= extent]
    return max(within, key=lambda s: s.n_selected) if within else min(steps, key=lambda s: s.n_selected)
