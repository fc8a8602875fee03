"""A measure and a convention for finished runs.

No compiled code is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.protocol import parse_protocol
from rankstudio.engine.experiment.results.results import FoldResult, RunResult
from rankstudio.engine.support.frozen_mapping import FrozenMapping


@dataclass(frozen=True)
class Measurement:
    """Settings by which finished runs are measured again.

    Attributes
    ----------
    convention : str
        Key of the convention of the measures.
    measure : str
        A further measure besides those of the plan.
    chooses : bool
        Whether the measure also selects the model of each fold.
    sealed : bool
        Whether the test part is left out, as if the data had none.
    """

    convention: str
    measure: str
    chooses: bool = False
    sealed: bool = False

    def plan(self, plan: Plan) -> Plan:
        """Return the plan of a run with these settings of measures and convention.

        The result is the identical object if nothing changes.
        """
        names = (
            plan.measures
            if self.measure in plan.evaluated
            else (*plan.measures, self.measure)
        )
        criterion = plan.left_out_by(self.measure) if plan.leaves_out else self.measure
        # Without `chooses`, the measure does not select the model; it
        # is only computed in addition.
        chosen_by = criterion if self.chooses else plan.select_by
        if (names, chosen_by, self.convention) == (
            plan.measures,
            plan.select_by,
            plan.convention,
        ):
            return plan
        return _remeasured_plan(plan, self.convention, names, chosen_by)


@lru_cache(maxsize=256)
def _remeasured_plan(
    plan: Plan, convention: str, names: tuple[str, ...], chosen_by: str
) -> Plan:
    """Return a plan with another convention, other measures, and another selection.

    `names` are those of the measures, and `chosen_by` is the measure
    that selects the model. Equal arguments give the same object, so
    that the plan can be a key of caches.
    """
    return plan.changed(convention=convention, measures=names, select_by=chosen_by)


def sealed_data(dataset: FoldedDataset) -> FoldedDataset:
    """Return data without test parts."""
    return replace(
        dataset, folds=tuple(replace(fold, test=None) for fold in dataset.folds)
    )


def is_divided(plan: Plan, dataset: FoldedDataset) -> bool:
    """Return whether a dataset has the folds of a plan."""
    return dataset.divided_by == parse_protocol(plan.protocol).divided_by(plan.seed)


def sealed_plan_data(plan: Plan, dataset: FoldedDataset) -> FoldedDataset:
    """Return data with the folds of a plan, without test parts."""
    return sealed_data(parse_protocol(plan.protocol).divide(dataset, plan.seed))


def sealed_run(result: RunResult) -> RunResult:
    """Return a run without measures on test parts."""
    return replace(result, folds=tuple(map(without_test, result.folds)))


def without_test(result: FoldResult) -> FoldResult:
    """Return a fold without measures on the test part."""
    baseline = replace(result.baseline, test=FrozenMapping({}))
    per_query = FrozenMapping({}) if result.test else result.per_query
    return replace(
        result, test=FrozenMapping({}), baseline=baseline, per_query=per_query
    )
