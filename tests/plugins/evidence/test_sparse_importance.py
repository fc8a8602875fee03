"""Importance on sparse rows: what is told on the way names the same features as the result."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.sparse_rows import SparseRows
from rankstudio.plugins.evidence.model_importance import step_importance
from rankstudio.plugins.evidence.partial_result import PartialResult


def test_partial_results_name_the_columns_of_the_data() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((40, 6)) * (rng.random((40, 6)) < 0.5)
    dense = RankingDataset.from_arrays(
        X, rng.integers(0, 3, 40), np.repeat(np.arange(8), 5)
    )
    coef = np.array([0.0, 0.0, 1.0, 0.0, 2.0, 0.0])
    step = Step(1, (4, 2), coef, 0.0, np.empty(0))
    told = []
    for data in (dense, dense.changed(X=SparseRows.of_array(np.array(dense.X)))):
        work = step_importance(step, data, measure("MAP"), "standard", 2)
        told.append(
            [progress.found for progress in work if isinstance(progress, PartialResult)]
        )
    for one, other in zip(*told, strict=True):
        assert one.groups == other.groups == ((2,), (4,))
        np.testing.assert_array_equal(one.loss, other.loss)
