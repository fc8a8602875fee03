"""The result of a permutation test of a path as a plot shows it, and the code that runs the test again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.as_code import (
    UNKNOWN,
    column_words,
    field_words,
    group_words,
    parameter_words,
    plan_code,
    program,
)
from rankstudio.engine.experiment.plan.plan import SAMPLE, Plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.experiment.units.single_path import SinglePath
from rankstudio.engine.support.escaping import shell_command
from rankstudio.plugins.permutation.label_permutation import (
    PermutationTest,
    permutation_steps,
)

LEVEL = 0.95
"""The share of permuted criteria that the band contains."""

_PERMUTATIONS_PER_STEP = 32  # take about 0.1 seconds for a greedy path
_PREFERENCE_PERMUTATIONS_PER_STEP = 4  # fewer, as each trains anew


@dataclass(frozen=True, eq=False)
class CriterionBand:
    """Result of a permutation test so far. All arrays have the shape (k,), one value per step of the path.

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
        """Return the summary of a test: observed criteria, and mean and limits of the permuted criteria.

        Criteria are divided by ``divisor``: m if they are sums over m documents.
        """
        # Between these limits, (k,) each, is the share `LEVEL` of the
        # permuted criteria.
        low, high = test.band(LEVEL)
        observed = test.observed / divisor
        mean = test.permuted.mean(axis=0) / divisor
        return cls(
            observed=observed,
            mean=mean,
            low=low / divisor,
            high=high / divisor,
            p_values=test.p_values,
            n_permutations=test.permuted.shape[0],
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the number of permutations, and a list with a dict of values for each step."""
        columns = {
            "criterion": self.observed,
            "permuted_mean": self.mean,
            "permuted_low": self.low,
            "permuted_high": self.high,
            "p": self.p_values,
        }
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        steps = [dict(zip(columns, row, strict=True)) for row in rows]
        return {"permutations": self.n_permutations, "steps": steps}

    def as_good(self, position: int) -> int:
        """Return the number of permuted criteria that are at most the observed one, recomputed from p."""
        return round(float(self.p_values[position]) * (self.n_permutations + 1)) - 1


def band_steps(
    plan: Plan, dataset: FoldedDataset, n_permutations: int = 999
) -> Iterator[CriterionBand | None]:
    """Yield the results of the permutation test of a path with a growing number of permutations.

    Parameters
    ----------
    plan : Plan
        Plan with one value of each parameter; the permutations use its seed.
    dataset : FoldedDataset
        Data divided as in the plan.
    n_permutations : int, default 999
        Number of permutations of the whole test.

    Yields
    ------
    CriterionBand or None
        The result so far; None between two steps of a path.

    Raises
    ------
    PlanError, ParameterError
        If the plan cannot be trained with permuted labels or preferences.
    """
    # All parameters count as explicit, so that those of the plan stay.
    path = SinglePath.of(plan, dataset, plan.entry.defaults)
    block = (
        _PREFERENCE_PERMUTATIONS_PER_STEP
        if preferences_of(plan)
        else _PERMUTATIONS_PER_STEP
    )
    for test in permutation_steps(
        path.method, path.data, n_permutations, plan.seed, block
    ):
        yield None if test is None else CriterionBand.of(test, path.divisor)


def permutation_as_command(plan: Plan, n_permutations: int) -> str:
    """Return the terminal command of a permutation test.

    Parameters
    ----------
    plan : Plan
        Plan with one value of each parameter, for one fold.
    n_permutations : int
        Number of permutations.

    Returns
    -------
    str
        One line for a POSIX shell, without default values.
    """
    words = ["rankstudio", "permute", "--sample" if plan.data == SAMPLE else plan.data]

    # Parameters that are grids of values; each has one value in this plan.
    grids = [p.name for p in plan.entry.grids]
    words += [
        "--method",
        plan.method,
        *parameter_words(plan.entry.parameters, plan.parameters, grids),
    ]
    words += ["--permutations", str(n_permutations)]
    words += field_words(plan, ("folds", "missing", "normalize", "protocol", "seed"))
    words += [*column_words(plan), *group_words(plan)]
    return shell_command(words)


def permutation_as_python(
    plan: Plan, n_permutations: int, computed_with: Mapping[str, str] = UNKNOWN
) -> str:
    """Return a short program that runs a permutation test with the library and prints the result as JSON.

    Parameters
    ----------
    plan : Plan
        Plan with one value of each parameter, for one fold.
    n_permutations : int
        Number of permutations.
    computed_with : Mapping of str to str
        Versions of software with which the test gives the same bits, if known.
    """
    imports = [
        "import json",
        "",
        "from rankstudio.engine import Plan",
        "from rankstudio.plugins.permutation.criterion_band import band_steps",
        "from rankstudio.engine.experiment.runner import open_data",
    ]
    lines = [
        plan_code(plan),
        f"*_, band = band_steps(plan, open_data(plan), n_permutations={n_permutations})",
        "print(json.dumps(band.as_dict(), indent=1))",
    ]
    return program(imports, lines, computed_with)
