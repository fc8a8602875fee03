"""The best single feature of a fold as a model.

No compiled code is imported here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstudio.engine.experiment.results.results import Baseline
from rankstudio.engine.steps import Step


def baseline_step(baseline: Baseline, feature_ids: Sequence[int]) -> Step:
    """Return the best single feature of a fold as a model: its weight is 1 or -1.

    All other weights are 0. `feature_ids`, of length n, has the 1-based
    id of the feature in each column.
    """
    coef = np.zeros(len(feature_ids))
    column = list(feature_ids).index(baseline.feature)
    coef[column] = 1.0 if baseline.descending else -1.0
    return Step(
        number=1,
        selected=(column,),
        coef=coef,
        criterion=float("nan"),
        candidates=np.empty(0),
    )
