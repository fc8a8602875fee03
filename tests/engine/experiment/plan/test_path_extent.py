"""How far the paths of a plan reach."""

from __future__ import annotations

import pytest

from rankstudio.engine.experiment.plan.plan import Plan, has_map, longest_path


@pytest.mark.parametrize(
    ("method", "parameters", "longest", "mapped"),
    [
        ("greedy-rankrls", {"regularization": "1, 2"}, 46, True),
        ("greedy-rankrls", {"regularization": "1, 2", "n_features_to_select": 10}, 10, True),
        ("gas", {}, 46, True),
        ("rankrls", {"regularization": "1, 2"}, 1, False),
        ("adarank", {"n_rounds": 30}, 30, False),
    ],
)
def test_a_path_reaches_as_far_as_its_method_goes(
    method: str, parameters: dict[str, object], longest: int, mapped: bool
) -> None:
    plan = Plan("data", method, parameters)
    assert (longest_path(plan, 46), has_map(plan)) == (longest, mapped)


def test_a_group_is_one_step_of_several_features() -> None:
    plan = Plan("data", parameters={"n_features_to_select": 2}, groups={"fields": (1, 2, 3)})
    assert longest_path(plan, 46) == 4
