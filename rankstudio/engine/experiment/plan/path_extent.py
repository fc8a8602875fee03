"""How far the paths of a plan reach, known before anything runs."""

from __future__ import annotations

from rankstudio.engine.data.feature_groups import greatest_size
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.methods.catalog.method import StepKind


def has_map(plan: Plan) -> bool:
    """Tell whether the models of a plan have several parameters and sizes to be laid out by."""
    return bool(plan.axes) and plan.step_kind is StepKind.FEATURES and plan.entry.selects


def longest_path(plan: Plan, n_features: int) -> int:
    """Return how far a path reaches at most, along the steps of its method.

    Parameters
    ----------
    plan : Plan
    n_features : int
        Of the data.

    Returns
    -------
    int
        Features, iterations or rounds; 1 for a method that takes all features at once.
    """
    limits = [combination.parameters.get(plan.step_kind.limit) for combination in plan.combinations]
    if plan.step_kind is not StepKind.FEATURES:
        return max(limit or 1 for limit in limits)
    if not plan.entry.selects:
        return 1
    most = max(limit or n_features for limit in limits)
    return greatest_size(n_features, plan.groups if plan.entry.groups else {}, most)
