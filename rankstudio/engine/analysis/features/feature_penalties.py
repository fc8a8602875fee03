"""Importance and similarity of features, as FSMRank or GAS weighs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Ints
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.language import tr
from rankstudio.engine.methods.capabilities import FeaturePenalties
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import finish


def feature_penalties(
    plan: Plan,
    parameters: Mapping[str, Any],
    data: TrainingData,
    ids: Ints,
    columns: Sequence[int],
    selected: Sequence[int],
) -> FeaturePenalties:
    """Return the importance and similarities by which a method weighs some features.

    The similarities are those to other features, such as selected ones.

    Parameters
    ----------
    plan : Plan
        Plan with a method that weighs features by importance and similarity.
    parameters : Mapping
        One value for each parameter of the method, by name.
    data : TrainingData
        Training part.
    ids : ndarray of shape (n,)
        1-based ids of the n features.
    columns, selected : sequence of int
        Columns of the features, and columns of the features that they
        are compared with.

    Notes
    -----
    For m documents, n features and |q| documents of a query:
    correlations take O(mn²) once for the training data, Kendall's τ O(m
    log |q|) for a pair.
    """
    method = estimator(plan, plan.entry, parameters, ids)
    column_array = np.asarray(columns, dtype=np.int64)
    other_array = np.asarray(selected, dtype=np.int64)
    work = method.weighed_features(data, column_array, other_array)
    # The method has no such weights with these parameters.
    if work is None:
        raise PlanError(
            tr("{method} does not weigh features.").format(method=plan.entry.label)
        )
    return finish(work)  # without the progress that it yields
