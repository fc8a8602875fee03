"""Models that were learned without each query, and their losses on the pairs of that query."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats


def losses_inside(data: QueryData, cost: PairCost, models: Floats) -> Floats:
    """Return the loss of model q, of (Q, n), on the pairs inside query q, for each query: O(Qn²)."""
    gram = PairRows.of(data, cost).statistics.gram
    models = np.column_stack((models, np.full(len(models), -1.0)))
    along = np.matmul(gram, models[:, :, None])[:, :, 0]
    losses: Floats = np.maximum(np.einsum("qi,qi->q", models, along), 0.0)
    return losses
