"""Models whose criterion is the exact leave-query-out error of RankRLS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.methods.catalog.shared import LEAVE_QUERY_OUT
from rankstudio.engine.methods.shards.training_data import GivenData, training_data


def regularization_of(plan: Plan, parameters: Mapping[str, Any], data: GivenData) -> float | None:
    """Return λ of a model whose criterion is the leave-query-out error of RankRLS; otherwise None."""
    entry = plan.ranker_entry or plan.entry
    labels_alone = bool(preferences_of(plan)) and not training_data(data).preferring
    if entry.given or parameters.get("pairs", "query") != "query" or labels_alone or data.ptr.size == 2:
        return None
    # Kernel RankRLS has the same criterion, but of other features than those of the data.
    linear = "kernel" not in parameters and entry.criterion == LEAVE_QUERY_OUT
    return float(parameters["regularization"]) if linear and "regularization" in parameters else None
