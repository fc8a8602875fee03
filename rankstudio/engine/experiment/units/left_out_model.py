"""Models whose criterion is the exact leave-query-out error of RankRLS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.plan.preference_source import preferences_of
from rankstudio.engine.methods.catalog.shared import LEAVE_QUERY_OUT
from rankstudio.engine.methods.shards.training_data import GivenData, training_data


def regularization_of(
    plan: Plan, parameters: Mapping[str, Any], data: GivenData
) -> float | None:
    """Return λ of a model that minimises the leave-query-out error of RankRLS; None if not.

    `parameters` has the values of the plan's method by name, and `data`
    is the training data. λ is the weight of the model's regularization.
    Only of such a model can the error of a changed set of features be
    computed exactly.
    """
    entry = plan.ranker_entry or plan.entry
    # The error is that of pairs of documents of the same query, whole queries left out.
    has_other_pairs = parameters.get("pairs", "query") != "query"
    # A plan that learns from preferences needs data that contain them.
    lacks_preferences = (
        bool(preferences_of(plan)) and not training_data(data).preferring
    )
    # `ptr` has the first row of each query, and the number of rows.
    has_one_query = data.ptr.size == 2
    # A method that learns nothing has scores or a model of another program.
    if entry.learns_nothing or has_other_pairs or lacks_preferences or has_one_query:
        return None
    # Kernel RankRLS has the same criterion, but of other features than
    # those of the data.
    is_linear = "kernel" not in parameters and entry.criterion == LEAVE_QUERY_OUT
    return (
        float(parameters["regularization"])
        if is_linear and "regularization" in parameters
        else None
    )
