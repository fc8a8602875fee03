"""A fold on which nothing is learned: its one model is the scores that the documents were given."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import numpy as np

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.data.given_scores import find_scores
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.given_files import check_found
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.units.fold_context import FoldContext
from rankstudio.engine.experiment.units.given_model import ModelFold, models_of_plan
from rankstudio.engine.language import tr
from rankstudio.engine.methods.catalog.given import GIVEN_MODEL, GIVEN_SCORES
from rankstudio.engine.methods.given_scores import given_scores
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Step, WorkProgress
from rankstudio.engine.support.frozen_mapping import FrozenMapping


class GivenFold(FoldContext):
    """A fold with scores, or the order of the file, in place of a method.

    Parameters
    ----------
    plan, fold, train
        As of a `FoldContext`.
    scores : dict of str to ndarray of shape (m,)
        One score a document of each part that has some.
    """

    def __init__(self, plan: Plan, fold: Fold, train: TrainingData, scores: dict[str, Floats]) -> None:
        super().__init__(plan, fold, train)
        self._scores = scores

    def _learn_steps(self, unit: Unit) -> Generator[Step | WorkProgress, None, None]:
        """Yield the one model."""
        parts = [(self.fold.parts[name].X, values) for name, values in self._scores.items()]
        name = self.plan.scores.get("name", self.plan.entry.label)
        yield given_scores(name, parts, self.fold.train.n_features)


def given_folds(plan: Plan, dataset: FoldedDataset) -> Callable[[Fold, TrainingData], FoldContext]:
    """Return what makes the context of a fold, by its fold and training part, once all files are read.

    Raises
    ------
    DataError, PlanError
        See `scores_of_plan` and `models_of_plan`.
    """
    if plan.method == GIVEN_MODEL.key:
        steps, note = models_of_plan(plan, dataset)
        return lambda fold, train: ModelFold(plan, fold, train, steps[fold.number], note)
    scores = scores_of_plan(plan, dataset)
    return lambda fold, train: GivenFold(plan, fold, train, scores[fold.number])


def scores_of_plan(plan: Plan, dataset: FoldedDataset) -> dict[int, dict[str, Floats]]:
    """Return the scores by which a plan ranks the parts of each fold.

    Raises
    ------
    DataError
        Where they cannot be read, do not fit the documents, or are not those of the plan any more.
    PlanError
        Where the plan names a fold that has none.
    """
    if plan.method != GIVEN_SCORES.key:
        return {
            fold.number: {
                name: -np.arange(part.n_documents, dtype=np.float64) for name, part in fold.parts.items()
            }
            for fold in dataset.folds
        }
    if not plan.scores:
        raise PlanError(tr("scores: expected a name and a path of scores to rank by, got none."))
    found = find_scores(Path(plan.scores["path"]), dataset)
    asked = plan.folds or [fold.number for fold in dataset.folds]
    check_found(plan.scores, found.checksums, asked, found.parts)
    return {number: dict(parts) for number, parts in found.parts.items()}


def plan_of_scores(
    plan: Plan, name: str, place: Path, dataset: FoldedDataset
) -> tuple[Plan, tuple[int, ...]]:
    """Return the plan of a run of scores, with the checksums of their files, and the folds left out.

    Parameters
    ----------
    plan : Plan
        Of which data, protocol, measures and convention count.
    name : str
        What the scores are called.
    place : Path
        See `find_scores`.
    dataset : FoldedDataset
        Of the plan.

    Raises
    ------
    DataError
        Where they cannot be read or do not fit.
    """
    place = place.absolute()
    found = find_scores(place, dataset)
    files = FrozenMapping(dict(found.checksums))
    folds = tuple(n for n in found.parts if not plan.folds or n in plan.folds)
    made = plan.changed(
        method=GIVEN_SCORES.key,
        parameters={},
        ranker="",
        ranker_parameters={},
        scores={"name": name, "path": str(place), "files": files},
        folds=folds if found.left_out else plan.folds,
    )
    return made, found.left_out
