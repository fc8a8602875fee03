"""What a permutation test repeats of a plan: one fold's training part, one value of each parameter."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.experiment.units.preferred import with_preferences
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.shards.training_data import TrainingData


@dataclass(frozen=True, eq=False)
class PermutedPlan:
    """A method with its parameters, and the documents that it learns from.

    Attributes
    ----------
    plan : Plan
        With one value of each parameter.
    fold : int
        Whose training part it is.
    method : LinearRanker
    data : TrainingData
    """

    plan: Plan
    fold: int
    method: LinearRanker
    data: TrainingData

    @classmethod
    def of(cls, plan: Plan, dataset: FoldedDataset, given: Container[str]) -> PermutedPlan:
        """Take the first fold of the plan, or of the dataset.

        Parameters
        ----------
        plan : Plan
        dataset : FoldedDataset
        given : container of str
            The parameters that somebody gave; of any other one that has a grid the method's own default is
            taken.

        Raises
        ------
        PlanError
            Where a parameter was given several values, there is no such fold, or the method does not learn
            from preferences.
        DataError
            For preferences that do not fit the data.
        """
        usual = plan.entry.load()().get_params()
        grids = {p.name: (usual[p.name],) for p in plan.entry.grids if p.name not in given}
        single = plan.changed(parameters={**plan.parameters, **grids})
        if len(single.combinations) > 1:
            several = ", ".join(axis.parameter.label for axis in single.axes if len(axis.values) > 1)
            raise PlanError(f"{several}: expected one value for a permutation test, got several.")
        fold = _fold(plan, dataset)
        parameters = single.combinations[0].parameters
        method = estimator(single, plan.entry, parameters, dataset.feature_ids)
        train = with_preferences(plan, fold, group_training(fold))
        return cls(single, fold.number, method, train)

    @property
    def divisor(self) -> float:
        """What its criterion is divided by: the documents, where it is a sum over them."""
        return float(self.data.y.size) if self.plan.entry.per_document else 1.0

    def selected(self) -> tuple[int, ...]:
        """Learn with nothing permuted, and return the columns in the order of selection."""
        *_, last = self.method.learn(self.data)
        return last.selected


def _fold(plan: Plan, dataset: FoldedDataset) -> Fold:
    number = plan.folds[0] if plan.folds else dataset.folds[0].number
    for fold in dataset.folds:
        if fold.number == number:
            return fold
    there = ", ".join(str(fold.number) for fold in dataset.folds)
    raise PlanError(f"--folds: expected one of the dataset's folds, {there}; got {number}.")
