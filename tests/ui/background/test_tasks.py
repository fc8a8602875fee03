"""What the task worker computes of a prepared fold, whoever prepared it."""

from __future__ import annotations

from functools import partial

import pytest
from experiment.small import dataset

from rankstudio.engine.errors import Cancelled
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import run_plan
from rankstudio.engine.experiment.units import fold_context
from rankstudio.ui.background import tasks
from rankstudio.ui.background.tasks import FoldCache, PathWanted


@pytest.mark.parametrize(
    "names", [("MAP", "leave-query-out MAP"), ("leave-query-out MAP", "MAP")]
)
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


def test_left_out_queries_of_shards_are_measured_with_turns_for_others_in_between(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "_MAX_WAIT_SECONDS", -1.0)
    monkeypatch.setattr(
        fold_context, "TrainingData", partial(fold_context.TrainingData, documents=30)
    )
    data, cache, name = dataset(1), FoldCache(), "leave-query-out MAP"
    plan = Plan(
        "small", "greedy-rankrls", {"regularization": 2.0, "n_features_to_select": 3}
    )
    wanted = PathWanted(plan, data.folds[0], (2.0,))
    path = cache.path(wanted).path
    told = list(cache.left_out(wanted, path, ["MAP"], plan.convention, 0))
    assert told.count(None) > len(path.steps)
    rows = [row[name] for rows in told if rows for row in rows]
    chosen = run_plan(plan.changed(select_by=name), data).folds[0].paths[0]
    assert rows == chosen.validation[name].tolist()


def test_a_path_that_nobody_waits_for_ends_and_can_be_had_again() -> None:
    data, cache = dataset(1), FoldCache()
    plan = Plan("small")
    wanted = PathWanted(plan, data.folds[0], (1.0,))
    asked: list[None] = []

    def after_three() -> bool:
        asked.append(None)
        return len(asked) > 3

    with pytest.raises(Cancelled):
        cache.path(wanted, after_three)
    assert len(asked) == 4
    fresh = FoldCache().path(wanted).path
    again = cache.path(wanted).path
    assert [step.selected for step in again.steps] == [
        step.selected for step in fresh.steps
    ]
    assert again.criterion.tolist() == fresh.criterion.tolist()


def test_a_fold_that_has_no_validation_part_yet_has_a_path_whose_best_model_the_criterion_says() -> (
    None
):
    fold = dataset(1).folds[0]
    bare = type(fold)(fold.number, fold.train, None, fold.test)
    plan = Plan("small", select_by="MAP")
    live = FoldCache().path(PathWanted(plan, bare, (1.0,)))
    assert live.best.number == int(live.path.criterion.argmin()) + 1
