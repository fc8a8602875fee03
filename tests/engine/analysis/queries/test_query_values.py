"""Values of models in each query of the validation parts: their means are those of the paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from experiment.small import dataset, ended, part

from rankstudio.engine.analysis.queries.query_values import can_measure, validation_values
from rankstudio.engine.analysis.tried_models import best_of_sizes, tried_models
from rankstudio.engine.data.dataset import FoldedDataset
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run

DATA = dataset(3)


@pytest.mark.parametrize(
    "plan",
    [
        Plan("small", parameters={"regularization": (0.25, 4.0)}),
        Plan("small", "lambdamart", {"n_rounds": 4, "min_data_in_leaf": 5}),
        Plan("small", "ranksvm", {"C": 1.0, "max_iter": 20}),
    ],
    ids=lambda plan: plan.method,
)
@pytest.mark.parametrize("name", ["MAP", "MeanNDCG"])
def test_the_means_over_queries_are_the_paths_own(plan: Plan, name: str) -> None:
    result = ended(run(plan, DATA))
    assert can_measure(result, DATA)
    for tried in tried_models(result, name):
        rows = validation_values(result, DATA, list(zip(*(one.steps for one in tried), strict=True)), name)
        means = np.array([fold.mean(axis=1) for fold in rows]).T
        assert means == pytest.approx(np.array([one.values for one in tried]))
        kept = best_of_sizes([tried], name)
        assert [one.size for one in kept] == sorted({one.size for one in tried})
        for one in kept:
            assert one.mean == max(other.mean for other in tried if other.size == one.size)


def test_without_documents_to_validate_with_there_is_nothing_to_measure() -> None:
    result = ended(run(Plan("small", parameters={"regularization": 1.0}), DATA))
    without = FoldedDataset("Small", None, tuple(replace(fold, vali=None) for fold in DATA.folds))
    assert not can_measure(result, without)
    assert not can_measure(result, FoldedDataset("Small", None, DATA.folds[:2]))
    assert not can_measure(replace(result, folds=()), DATA)
    none = part(1)
    bare = replace(none, X=none.X[:0], y=none.y[:0], query_ptr=none.query_ptr[:1], query_ids=())
    empty = FoldedDataset("Small", None, tuple(replace(fold, vali=bare) for fold in DATA.folds))
    assert not can_measure(result, empty)
    nested = replace(result, plan=result.plan.changed(protocol="3-fold, nested 2-fold"))
    assert not can_measure(nested, DATA)
