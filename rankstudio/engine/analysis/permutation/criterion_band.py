"""The criterion of a path beside those of permuted labels or preferences, as a plot shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.analysis.permutation.label_permutation import PermutationTest, permutation_steps
from rankstudio.engine.analysis.permutation.plan_permutation import PermutedPlan
from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan, path_plan

LEVEL = 0.95
"""The share of permuted criteria that the band has."""

_BLOCK = 32  # permutations of a step: a tenth of a second for a greedy path
_BLOCK_OF_PREFERENCES = 4  # the same, as each learns anew


@dataclass(frozen=True, eq=False)
class CriterionBand:
    """What a permutation test says so far. Arrays of shape (k,), one value a step of the path.

    Attributes
    ----------
    observed : ndarray
        The criterion with the labels or preferences as they are, divided as in `PathResult`.
    mean, low, high : ndarray
        Of the permuted criteria; 95 % of them are from low to high.
    p_values : ndarray
    n_permutations : int
        So many so far.
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
        """Return it as plain values, a mapping a step."""
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
        """Return how many of the permuted criteria at a step are at most the observed one."""
        return round(float(self.p_values[position]) * (self.n_permutations + 1)) - 1


def single_plan(plan: Plan, parameters: Mapping[str, Any], fold: int) -> Plan:
    """Return the plan of one path: one value of each parameter, one fold, nothing of how to choose."""
    grids = {p.name: (parameters[p.name],) for p in plan.entry.grids}
    return path_plan(plan).changed(parameters={**parameters, **grids}, folds=(fold,))


def band_steps(plan: Plan, dataset: FoldedDataset, n_permutations: int = 999) -> Iterator[CriterionBand]:
    """Yield what the permutation test of a path says, with more permutations a step.

    Parameters
    ----------
    plan : Plan
        As `single_plan` returns it; its seed is that of the permutations.
    dataset : FoldedDataset
        Divided as the plan says.
    n_permutations : int, default 999

    Yields
    ------
    CriterionBand

    Raises
    ------
    PlanError, ParameterError
        Where it cannot be learned so.
    """
    what = PermutedPlan.of(plan, dataset, plan.entry.defaults)
    block = _BLOCK_OF_PREFERENCES if plan.preferences else _BLOCK
    for test in permutation_steps(what.method, what.data, n_permutations, plan.seed, block):
        yield CriterionBand.of(test, what.divisor)
