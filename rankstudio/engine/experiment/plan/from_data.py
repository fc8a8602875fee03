"""Settings that a plan takes from its data."""

from __future__ import annotations

from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.data.feature_costs import FeatureCosts
from rankstudio.engine.experiment.plan.plan import Plan


def with_data_format(plan: Plan, dataset: FoldedDataset) -> Plan:
    """Return a plan that records the format in which the data were read.

    The format is recorded among the columns of the plan. The plan is
    returned unchanged if no plug-in read the data.
    """
    data_format = dataset.origin.columns.format
    if not data_format or data_format == plan.columns.get("format"):
        return plan
    return plan.changed(columns={**plan.columns, "format": data_format})


def with_usual_convention(plan: Plan, dataset: FoldedDataset) -> Plan:
    """Return a plan with the usual convention of the data, if it names none."""
    return plan.resolved(dataset.convention)


def with_known_costs(plan: Plan, dataset: FoldedDataset) -> Plan:
    """Return a plan with the costs of features that are stored beside the data of the plan.

    A plan that already has costs is returned unchanged, as is any plan
    if the data have no costs.
    """
    costs = dataset.extension(FeatureCosts)
    if costs is None or plan.extension(FeatureCosts) is not None:
        return plan
    return plan.changed(costs=costs)
