"""What the task worker computes of a prepared fold, whoever prepared it."""

from __future__ import annotations

import pytest
from experiment.small import dataset

from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.ui.background.tasks import FoldCache, PathWanted


@pytest.mark.parametrize("names", [("MAP", "leave-query-out MAP"), ("leave-query-out MAP", "MAP")])
def test_a_path_is_measured_as_its_plan_says_whatever_plan_the_fold_was_prepared_for(
    names: tuple[str, str],
) -> None:
    data, cache = dataset(1), FoldCache()
    for name in names:
        plan = Plan("small", "rankrls", {"regularization": (0.5, 2.0)}, name)
        found = cache.path(PathWanted(plan, data.folds[0], (2.0,))).path
        expected = run_plan(plan, data).folds[0].paths[1]
        assert {key: values.tolist() for key, values in found.validation.items()} == {
            key: values.tolist() for key, values in expected.validation.items()
        }
