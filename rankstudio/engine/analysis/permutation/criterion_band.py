"""The permutation test of a path: what it repeats, what a plot shows of it, and how to run it again."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.analysis.permutation.label_permutation import PermutationTest, permutation_steps
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.as_code import (
    UNKNOWN,
    column_words,
    field_words,
    group_words,
    parameter_words,
    plan_code,
    program,
)
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan, estimator, path_plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.experiment.units.preferred import with_preferences
from rankstudio.engine.methods.base import LinearRanker
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.escaping import shell_command


@dataclass(frozen=True, eq=False)
class PermutedPlan:
    """A method with its parameters, and the training documents.

    Attributes
    ----------
    plan : Plan
        Plan with one value per parameter.
    fold : int
        Number of the fold of the training part.
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
            Parameters that were given explicitly; the others use the method's default instead of the grid.

        Raises
        ------
        PlanError
            If a parameter has several values, the fold does not exist, or the method does not support
            preferences.
        DataError
            If the preferences do not fit the data.
        """
        usual = plan.entry.load()()  # an adapter has attributes that are no parameters of what it wraps
        grids = {
            p.name: (getattr(usual, p.name, p.values(p.default)[0]),)
            for p in plan.entry.grids
            if p.name not in given
        }
        single = plan.changed(parameters={**plan.parameters, **grids})
        if len(single.combinations) > 1:
            several = ", ".join(axis.parameter.label for axis in single.axes if len(axis.values) > 1)
            raise PlanError(f"{several}: expected one value for a permutation test, got several.")
        fold = training_fold(plan, dataset)
        parameters = single.combinations[0].parameters
        method = estimator(single, plan.entry, parameters, dataset.feature_ids)
        train = with_preferences(plan, fold, group_training(fold))
        return cls(single, fold.number, method, train)

    @property
    def divisor(self) -> float:
        """Divisor of the criterion: the number of documents if it is a sum over them."""
        return float(self.data.y.size) if self.plan.entry.criterion.per_document else 1.0

    def selected(self) -> tuple[int, ...]:
        """Train without permutation, and return the columns in the order of selection."""
        *_, last = self.method.learn(self.data)
        return last.selected


def training_fold(plan: Plan, dataset: FoldedDataset) -> Fold:
    """Return the fold that a plan names, or the first.

    Raises
    ------
    PlanError
        If there is none of its number.
    """
    number = plan.folds[0] if plan.folds else dataset.folds[0].number
    for fold in dataset.folds:
        if fold.number == number:
            return fold
    there = ", ".join(str(fold.number) for fold in dataset.folds)
    raise PlanError(f"--folds: expected one of the dataset's folds, {there}; got {number}.")


LEVEL = 0.95
"""The share of permuted criteria that the band has."""

_BLOCK = 32  # permutations of a step: a tenth of a second for a greedy path
_BLOCK_OF_PREFERENCES = 4  # the same, as each learns anew


@dataclass(frozen=True, eq=False)
class CriterionBand:
    """Current result of a permutation test. Arrays of shape (k,), one value per step of the path.

    Attributes
    ----------
    observed : ndarray
        Criterion with the original labels or preferences, divided as in `PathResult`.
    mean, low, high : ndarray
        Mean of the permuted criteria, and limits that contain 95 % of them.
    p_values : ndarray
    n_permutations : int
        Number of permutations so far.
    """

    observed: Floats
    mean: Floats
    low: Floats
    high: Floats
    p_values: Floats
    n_permutations: int

    @classmethod
    def of(cls, test: PermutationTest, divisor: float) -> CriterionBand:
        """Summarise a test."""
        low, high = test.band(LEVEL)
        observed, mean = test.observed / divisor, test.permuted.mean(axis=0) / divisor
        return cls(observed, mean, low / divisor, high / divisor, test.p_values, test.permuted.shape[0])

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, one mapping per step."""
        columns = {
            "criterion": self.observed,
            "permuted_mean": self.mean,
            "permuted_low": self.low,
            "permuted_high": self.high,
            "p": self.p_values,
        }
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        steps = [dict(zip(columns, row, strict=True)) for row in rows]
        return {"permutations": self.n_permutations, "steps": steps}

    def as_good(self, position: int) -> int:
        """Return the number of permuted criteria that are at most the observed one."""
        return round(float(self.p_values[position]) * (self.n_permutations + 1)) - 1


def single_plan(plan: Plan, parameters: Mapping[str, Any], fold: int) -> Plan:
    """Return the plan of one path: one value per parameter, one fold, no selection criterion."""
    grids = {p.name: (parameters[p.name],) for p in plan.entry.grids}
    return path_plan(plan).changed(parameters={**parameters, **grids}, folds=(fold,))


def band_steps(
    plan: Plan, dataset: FoldedDataset, n_permutations: int = 999
) -> Iterator[CriterionBand | None]:
    """Yield the results of the permutation test of a path with a growing number of permutations.

    Parameters
    ----------
    plan : Plan
        Plan from `single_plan`; its seed is that of the permutations.
    dataset : FoldedDataset
        Data divided as in the plan.
    n_permutations : int, default 999

    Yields
    ------
    CriterionBand or None
        None between two steps of a path.

    Raises
    ------
    PlanError, ParameterError
        If the plan cannot be trained this way.
    """
    what = PermutedPlan.of(plan, dataset, plan.entry.defaults)
    block = _BLOCK_OF_PREFERENCES if preferences_of(plan) else _BLOCK
    for test in permutation_steps(what.method, what.data, n_permutations, plan.seed, block):
        yield CriterionBand.of(test, what.divisor) if test is not None else None


def permutation_as_command(plan: Plan, n_permutations: int) -> str:
    """Return the terminal command of a permutation test.

    Parameters
    ----------
    plan : Plan
        Plan of one path, as returned by
        :func:`rankstudio.engine.analysis.permutation.criterion_band.single_plan`.
    n_permutations : int

    Returns
    -------
    str
        One line for a POSIX shell, without default values.
    """
    words = ["rankstudio", "permute", "--sample" if plan.data == SAMPLE else plan.data]
    grids = [p.name for p in plan.entry.grids]  # which have one value here
    words += ["--method", plan.method, *parameter_words(plan.entry.parameters, plan.parameters, grids)]
    words += ["--permutations", str(n_permutations)]
    words += field_words(plan, ("folds", "missing", "normalize", "protocol", "seed"))
    words += [*column_words(plan), *group_words(plan)]
    return shell_command(words)


def permutation_as_python(plan: Plan, n_permutations: int, computed_with: Mapping[str, str] = UNKNOWN) -> str:
    """Return a short program that runs a permutation test with the library and prints the result as JSON.

    Parameters
    ----------
    plan, n_permutations
        As in :func:`permutation_as_command`.
    computed_with : Mapping of str to str
        Versions that give the same bits, if known.
    """
    imports = [
        "import json",
        "",
        "from rankstudio.engine import Plan",
        "from rankstudio.engine.analysis.permutation.criterion_band import band_steps",
        "from rankstudio.engine.experiment.runner import open_data",
    ]
    lines = [
        plan_code(plan),
        f"*_, band = band_steps(plan, open_data(plan), n_permutations={n_permutations})",
        "print(json.dumps(band.as_dict(), indent=1))",
    ]
    return program(imports, lines, computed_with)
