"""Rules of choice against cases computed by hand, and the standard error against its definition."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from experiment.small import dataset
from hypothesis import given
from hypothesis import strategies as st
from wording import naming

from rankstudio.engine import evaluate
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.events import RunFinished
from rankstudio.engine.experiment.results.model_selection import select_model
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import Chosen, FoldResult, PathResult
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping

PLAN = Plan("small", parameters={"regularization": (0.5, 1.0, 2.0)})
ONE_SE = PLAN.changed(rule="one-se")
nan = float("nan")


def path(setting: int, values: list[float], sizes: list[int] | None = None) -> PathResult:
    """A path whose steps have these sizes, 1, 2, … if nothing is said, and this MAP and disagreement."""
    steps = tuple(
        Step(k, tuple(range(size)), np.zeros(9), 0.0, np.empty(0))
        for k, size in enumerate(sizes or range(1, len(values) + 1), start=1)
    )
    unit = Unit(1, setting, PLAN.combinations[setting])
    measured = {"MAP": np.array(values), "Disagreement": np.array(values)}
    return PathResult(unit, HeldSteps(steps), FrozenMapping(measured), 1.0)


def place(chosen: Chosen) -> tuple[int, int]:
    return chosen.unit.position, chosen.step.number


@pytest.mark.parametrize(
    ("error", "step"),
    [(0.0, 4), (0.0625, 3), (0.125, 3), (0.1875, 3), (0.25, 1), (9.0, 1)],
)
def test_within_one_standard_error_of_the_best_the_smallest_is_chosen(error: float, step: int) -> None:
    # The best is step 4 with 0.75; step 1 is 0.25 below it, step 2 0.375, step 3 0.0625. All exact.
    tried = path(0, [0.5, 0.375, 0.6875, 0.75, 0.625])
    assert place(select_model(ONE_SE, [tried], lambda _: error)) == (0, step)


def test_the_standard_error_is_that_of_the_best_step_and_only_its_path_is_searched() -> None:
    paths = [path(0, [0.7, 0.2, 0.2]), path(1, [0.1, 0.7, 0.8])]
    asked: list[Step] = []

    def error(step: Step) -> float:
        asked.append(step)
        return 0.2

    assert place(select_model(ONE_SE, paths, error)) == (1, 2)  # not the one feature of the other setting
    assert asked == [paths[1].steps[2]]


@pytest.mark.parametrize(
    ("values", "sizes", "step"),
    [
        ([0.5, 0.6, 0.6, 0.9], [2, 2, 2, 3], 2),  # equal sizes: the better one, then the earlier
        ([0.9, 0.6, 0.7], [3, 1, 2], 2),  # paths may shrink
        ([nan, 0.6, 0.9], [1, 2, 3], 2),
        ([nan, nan], [2, 1], 1),  # nothing is known: as "best"
    ],
)
def test_the_smallest_is_the_one_with_the_fewest_features(values, sizes, step: int) -> None:
    assert select_model(ONE_SE, [path(0, values, sizes)], lambda _: 0.4).step.number == step


def test_of_errors_the_standard_error_is_added() -> None:
    plan = ONE_SE.changed(select_by="Disagreement")
    tried = path(0, [0.5, 0.375, 0.25, 0.375])
    assert select_model(plan, [tried], lambda _: 0.125).step.number == 2
    assert select_model(plan, [tried], lambda _: 0.0625).step.number == 3


def test_of_iterations_the_last_is_chosen_by_any_rule() -> None:
    tried = replace(path(0, [0.5, 0.5, 0.4], [1, 2, 3]), step_kind=StepKind.ITERATIONS)
    assert select_model(ONE_SE, [tried], lambda _: 9.0).step.number == 3


def test_without_a_standard_error_and_by_the_criterion_the_best_is_chosen() -> None:
    assert select_model(ONE_SE, [path(0, [0.4, 0.5])]).step.number == 2

    def never(_: Step) -> float:
        raise AssertionError

    assert select_model(ONE_SE.changed(select_by="criterion"), [path(0, [0.4, 0.5])], never).step.number == 1
    assert select_model(PLAN, [path(0, [0.4, 0.5])], never).step.number == 2


@pytest.mark.parametrize(("most", "expected"), [(1, (1, 1)), (2, (0, 2)), (3, (1, 3)), (99, (1, 3))])
def test_at_most_so_many_features(most: int, expected: tuple[int, int]) -> None:
    paths = [path(0, [0.1, 0.6, 0.5]), path(1, [0.3, 0.6, 0.9])]
    assert place(select_model(PLAN.changed(rule=f"at most {most}"), paths)) == expected


def test_a_setting_whose_models_are_all_too_large_is_passed_over() -> None:
    plan = PLAN.changed(rule="at most 2")
    paths = [path(0, [0.9], [3]), path(1, [nan, 0.1, 0.8], [1, 2, 3])]
    assert place(select_model(plan, paths)) == (1, 2)
    with pytest.raises(PlanError, match=naming("rule 2 3")):
        select_model(plan, paths[:1])


values = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, nan]), min_size=4, max_size=4)


@given(tried=st.lists(values, min_size=1, max_size=3), most=st.integers(1, 4), error=st.integers(0, 3))
def test_rules_by_looking_at_everything(tried, most, error) -> None:
    paths = [path(i, v) for i, v in enumerate(tried)]
    every = [
        (-math.inf if math.isnan(v) else v, i, k) for i, vs in enumerate(tried) for k, v in enumerate(vs, 1)
    ]
    small = min((-gain, i, k) for gain, i, k in every if k <= most)
    assert place(select_model(PLAN.changed(rule=f"at most {most}"), paths)) == small[1:]
    worst, setting, step = min((-gain, i, k) for gain, i, k in every)
    assert place(select_model(PLAN, paths)) == (setting, step)
    near = [k for gain, i, k in every if i == setting and gain >= -worst - error / 4]
    expected = step if worst == math.inf else min(near)
    assert place(select_model(ONE_SE, paths, lambda _: error / 4)) == (setting, expected)


def finished(plan: Plan) -> tuple[FoldResult, ...]:
    *_, last = run(plan, dataset())
    assert isinstance(last, RunFinished)
    return last.result.folds


@pytest.mark.parametrize("select_by", ["MAP", "Disagreement"])
def test_the_standard_error_is_over_the_queries_of_the_validation_part(select_by: str) -> None:
    plan = PLAN.changed(select_by=select_by, rule="one-se")
    for fold, result in zip(dataset().folds, finished(plan), strict=True):
        (path,) = (path for path in result.paths if path.unit == result.chosen.unit)
        errors, gains = path.standard_errors[select_by], path.validation[select_by]
        (best,) = np.flatnonzero(~np.isnan(errors))
        assert gains[best] == (gains.max() if measure(select_by).higher_is_better else gains.min())
        step, vali = path.steps[best], fold.vali
        assert vali is not None
        per_query = []
        for q in range(vali.n_queries):
            rows = slice(vali.query_ptr[q], vali.query_ptr[q + 1])
            scores = vali.X[rows] @ step.coef
            per_query.append(evaluate(vali.y[rows], scores, np.zeros(scores.size), measures=(select_by,)))
        found = [value for d in per_query if not math.isnan(value := d[select_by])]
        mean = sum(found) / len(found)
        variance = sum((value - mean) ** 2 for value in found) / (len(found) - 1)
        error = errors[best]
        assert error == pytest.approx(math.sqrt(variance / len(found)), rel=1e-12)
        assert error > 0


def test_a_run_follows_its_rule() -> None:
    best, simple, small = (finished(PLAN.changed(rule=rule)) for rule in ("best", "one-se", "at most 2"))
    for b, s, a in zip(best, simple, small, strict=True):
        error = np.nanmax(s.paths[b.chosen.unit.position].standard_errors["MAP"])
        assert s.chosen.unit.position == b.chosen.unit.position
        own = s.paths[s.chosen.unit.position].validation["MAP"]
        k = len(s.selected)
        assert own[k - 1] >= own.max() - error
        assert (own[: k - 1] < own.max() - error).all()
        assert len(a.selected) <= 2
        assert a.validation["MAP"] == max(p.validation["MAP"][:2].max() for p in a.paths)
    assert [len(s.selected) for s in simple] != [len(b.selected) for b in best]


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (ONE_SE.changed(select_by="criterion"), "rule"),
        (Plan("small", "rankrls", rule="at most 5"), "5 RankRLS 6"),
    ],
)
def test_a_rule_that_no_model_can_meet_is_refused_before_the_work(plan: Plan, sentence: str) -> None:
    with pytest.raises(PlanError) as caught:
        next(run(plan, dataset()))
    assert naming(sentence).search(str(caught.value))
    assert next(run(Plan("small", "rankrls", rule="at most 6"), dataset()))


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("rankboost", {"n_rounds": 12}),
        ("adarank", {}),
        ("lambdamart", {"n_rounds": 12, "num_leaves": 3, "min_data_in_leaf": 2}),
    ],
)
def test_boosting_takes_features_one_by_one_and_follows_a_rule_of_size(method: str, parameters: dict) -> None:
    for fold in finished(Plan("small", method, parameters, rule="at most 2")):
        path = fold.paths[0]
        measured = zip(path.validation["MAP"], path.steps, strict=True)
        assert len(fold.selected) <= 2
        assert fold.validation["MAP"] == max(value for value, step in measured if len(step.selected) <= 2)


def test_criteria_of_several_costs_choose_nothing() -> None:
    several = {"regularization": [1.0], "cost": ["unit", "inverse"]}
    plan = Plan("small", "rankrls", several, select_by="criterion")
    with pytest.raises(PlanError) as caught:
        next(run(plan, dataset()))
    assert naming("'criterion' \"pair weight\" compared validation measure").search(str(caught.value))
    assert next(run(plan.changed(select_by="MAP"), dataset()))
    # The criterion is the ranker's, whatever the features were selected by.
    ranked = Plan("small", parameters=several, ranker="rankrls", select_by="criterion")
    assert next(run(ranked, dataset()))
    with pytest.raises(PlanError, match=naming("RankRLS weight")):
        next(run(ranked.changed(ranker_parameters={"weighting": ["size", "none"]}), dataset()))
