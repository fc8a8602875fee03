"""One path of a plan.

It has a method with one value of each parameter, and the training part
of one fold.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan, estimator, path_plan
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.experiment.units.preferred import with_preferences
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.shards.training_data import TrainingData


@dataclass(frozen=True, eq=False)
class SinglePath:
    """A method with one value of each parameter, and the training documents of one fold.

    It can train one path, a sequence of models.

    Attributes
    ----------
    plan : Plan
        Plan with one value per parameter.
    fold : int
        Number of the fold of the training part.
    method : LinearRanker
        Untrained estimator.
    data : TrainingData
        Training documents.
    """

    plan: Plan
    fold: int
    method: LinearRanker
    data: TrainingData

    @classmethod
    def of(
        cls, plan: Plan, dataset: FoldedDataset, explicit_parameters: Container[str]
    ) -> SinglePath:
        """Return a plan's method and training data, on the first fold of the plan.

        If the plan names no folds, the fold is the first one of the dataset.

        Parameters
        ----------
        plan : Plan
            Plan whose grids of several values are replaced by single values.
        dataset : FoldedDataset
            Data of the plan.
        explicit_parameters : container of str
            Parameters that were given explicitly; the others use the
            method's default instead of the grid.

        Raises
        ------
        PlanError
            If a parameter has several values, the fold does not exist,
            or the method does not support preferences.
        DataError
            If the preferences do not fit the data.
        """
        default_method = plan.entry.load()()
        # An adapter of another library's method has no attribute for a
        # parameter: the first value is used.
        grids = {
            p.name: (getattr(default_method, p.name, p.values(p.default)[0]),)
            for p in plan.entry.grids
            if p.name not in explicit_parameters
        }
        single_plan = plan.changed(parameters={**plan.parameters, **grids})
        if len(single_plan.combinations) > 1:
            labels_text = ", ".join(
                axis.parameter.label
                for axis in single_plan.axes
                if len(axis.values) > 1
            )
            raise PlanError(f"{labels_text}: expected one value, got several.")
        fold = training_fold(plan, dataset)
        parameters = single_plan.combinations[0].parameters
        method = estimator(single_plan, plan.entry, parameters, dataset.feature_ids)
        train = with_preferences(plan, fold, group_training(fold))
        return cls(single_plan, fold.number, method, train)

    @property
    def divisor(self) -> float:
        """Divisor of the criterion: the number of documents, if it is a sum over documents."""
        return (
            float(self.data.y.size) if self.plan.entry.criterion.per_document else 1.0
        )

    def selected(self) -> tuple[int, ...]:
        """Train without permutation, and return the columns in the order of selection."""
        *_, last = self.method.learn(self.data)
        return last.selected


def training_fold(plan: Plan, dataset: FoldedDataset) -> Fold:
    """Return the first fold that a plan names; the first of the dataset if it names none.

    Raises
    ------
    PlanError
        If the dataset has no fold with this number.
    """
    number = plan.folds[0] if plan.folds else dataset.folds[0].number
    for fold in dataset.folds:
        if fold.number == number:
            return fold
    numbers_text = ", ".join(str(fold.number) for fold in dataset.folds)
    raise PlanError(
        f"--folds: expected one of the dataset's folds, {numbers_text}; got {number}."
    )


def single_plan(plan: Plan, parameters: Mapping[str, Any], fold: int) -> Plan:
    """Return the plan of one path: one value per parameter, one fold, no selection measure."""
    grids = {p.name: (parameters[p.name],) for p in plan.entry.grids}
    return path_plan(plan).changed(parameters={**parameters, **grids}, folds=(fold,))
