"""Rules of choice against cases computed by hand, and the standard error against its definition."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from experiment.small import dataset, part
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel
from wording import naming

from rankstudio.engine import evaluate
from rankstudio.engine.data.dataset import Fold, FoldedDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan
from rankstudio.engine.experiment.results.model_selection import p_values, select_model
from rankstudio.engine.experiment.results.path_steps import HeldSteps
from rankstudio.engine.experiment.results.results import (
    Chosen,
    FoldResult,
    PathResult,
    fold_notes,
    undecided_notes,
    untested_notes,
)
from rankstudio.engine.experiment.runner import run, run_plan
from rankstudio.engine.methods.catalog.method import StepKind
from rankstudio.engine.metrics.names import measure
from rankstudio.engine.steps import Step
from rankstudio.engine.support.frozen_mapping import FrozenMapping
from rankstudio.engine.support.work import Note

PLAN = Plan("small", parameters={"regularization": (0.5, 1.0, 2.0)})
ONE_SE = PLAN.changed(rule="one-se")
nan = float("nan")


def path(
    setting: int, values: list[float], sizes: list[int] | None = None
) -> PathResult:
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
def test_within_one_standard_error_of_the_best_the_smallest_is_chosen(
    error: float, step: int
) -> None:
    # The best is step 4 with 0.75; step 1 is 0.25 below it, step 2 0.375, step 3 0.0625. All exact.
    tried = path(0, [0.5, 0.375, 0.6875, 0.75, 0.625])
    assert place(select_model(ONE_SE, [tried], lambda _: error)) == (0, step)


def test_the_standard_error_is_that_of_the_best_step_and_only_its_path_is_searched() -> (
    None
):
    paths = [path(0, [0.7, 0.2, 0.2]), path(1, [0.1, 0.7, 0.8])]
    asked: list[Step] = []

    def error(step: Step) -> float:
        asked.append(step)
        return 0.2

    # not the one feature of the other setting
    assert place(select_model(ONE_SE, paths, error)) == (1, 2)
    assert asked == [paths[1].steps[2]]


@pytest.mark.parametrize(
    ("values", "sizes", "step"),
    [
        # equal sizes: the better one, then the earlier
        ([0.5, 0.6, 0.6, 0.9], [2, 2, 2, 3], 2),
        ([0.9, 0.6, 0.7], [3, 1, 2], 2),  # paths may shrink
        ([nan, 0.6, 0.9], [1, 2, 3], 2),
        ([nan, nan], [2, 1], 1),  # nothing is known: as "best"
    ],
)
def test_the_smallest_is_the_one_with_the_fewest_features(
    values, sizes, step: int
) -> None:
    assert (
        select_model(ONE_SE, [path(0, values, sizes)], lambda _: 0.4).step.number
        == step
    )


def test_of_errors_the_standard_error_is_added() -> None:
    plan = ONE_SE.changed(select_by="Disagreement")
    tried = path(0, [0.5, 0.375, 0.25, 0.375])
    assert select_model(plan, [tried], lambda _: 0.125).step.number == 2
    assert select_model(plan, [tried], lambda _: 0.0625).step.number == 3
    assert select_model(plan.changed(rule="best"), [tried]).step.number == 3


def test_of_iterations_the_last_is_chosen_by_any_rule_however_good_an_earlier_one_is() -> (
    None
):
    tried = replace(path(0, [0.9, 0.5, 0.1], [1, 2, 3]), step_kind=StepKind.ITERATIONS)
    assert select_model(ONE_SE, [tried], lambda _: 9.0).step.number == 3
    other = replace(path(1, [0.2, 0.3]), step_kind=StepKind.ITERATIONS)
    assert place(select_model(PLAN, [tried, other])) == (1, 2)
    assert (
        select_model(
            PLAN, [replace(tried, step_kind=StepKind.ROUNDS), other]
        ).step.number
        == 1
    )


def test_without_a_standard_error_and_by_the_criterion_the_best_is_chosen() -> None:
    assert select_model(ONE_SE, [path(0, [0.4, 0.5])]).step.number == 2

    def never(_: Step) -> float:
        raise AssertionError

    assert (
        select_model(
            ONE_SE.changed(select_by="criterion"), [path(0, [0.4, 0.5])], never
        ).step.number
        == 1
    )
    assert select_model(PLAN, [path(0, [0.4, 0.5])], never).step.number == 2


@pytest.mark.parametrize(
    ("most", "expected"), [(1, (1, 1)), (2, (0, 2)), (3, (1, 3)), (99, (1, 3))]
)
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


@given(
    tried=st.lists(values, min_size=1, max_size=3),
    most=st.integers(1, 4),
    error=st.integers(0, 3),
)
def test_rules_by_looking_at_everything(tried, most, error) -> None:
    paths = [path(i, v) for i, v in enumerate(tried)]
    every = [
        (-math.inf if math.isnan(v) else v, i, k)
        for i, vs in enumerate(tried)
        for k, v in enumerate(vs, 1)
    ]
    small = min((-gain, i, k) for gain, i, k in every if k <= most)
    assert place(select_model(PLAN.changed(rule=f"at most {most}"), paths)) == small[1:]
    worst, setting, step = min((-gain, i, k) for gain, i, k in every)
    assert place(select_model(PLAN, paths)) == (setting, step)
    near = [k for gain, i, k in every if i == setting and gain >= -worst - error / 4]
    expected = step if worst == math.inf else min(near)
    assert place(select_model(ONE_SE, paths, lambda _: error / 4)) == (
        setting,
        expected,
    )


def finished(plan: Plan, folds: int = 2) -> tuple[FoldResult, ...]:
    return run_plan(plan, dataset(folds)).folds


def in_queries(fold: Fold, coef: np.ndarray, name: str) -> list[float]:
    """A measure of a model in each query of the validation part, by plain code."""
    vali = fold.vali
    assert vali is not None
    found = []
    for first, end in pairwise(vali.query_ptr):
        scores = vali.X[first:end] @ coef
        found.append(
            evaluate(
                vali.y[first:end], scores, np.zeros(end - first), measures=(name,)
            )[name]
        )
    return found


@pytest.mark.parametrize("select_by", ["MAP", "Disagreement"])
def test_the_standard_error_is_over_the_queries_of_the_validation_part(
    select_by: str,
) -> None:
    plan = PLAN.changed(select_by=select_by, rule="one-se")
    for fold, result in zip(dataset().folds, finished(plan), strict=True):
        (path,) = (path for path in result.paths if path.unit == result.chosen.unit)
        errors, gains = path.standard_errors[select_by], path.validation[select_by]
        (best,) = np.flatnonzero(~np.isnan(errors))
        assert gains[best] == (
            gains.max() if measure(select_by).higher_is_better else gains.min()
        )
        per_query = in_queries(fold, path.steps[best].coef, select_by)
        found = [value for value in per_query if not math.isnan(value)]
        mean = sum(found) / len(found)
        variance = sum((value - mean) ** 2 for value in found) / (len(found) - 1)
        error = errors[best]
        assert error == pytest.approx(math.sqrt(variance / len(found)), rel=1e-12)
        assert error > 0


@pytest.mark.parametrize("select_by", ["MAP", "Disagreement", "P@2"])
def test_the_smallest_is_not_significantly_worse_query_by_query(select_by: str) -> None:
    plan = PLAN.changed(select_by=select_by, rule="smallest")
    sizes = []
    for fold, result in zip(dataset(6).folds, finished(plan, 6), strict=True):
        path = result.paths[result.chosen.unit.position]
        sign = 1.0 if measure(select_by).higher_is_better else -1.0
        values = sign * np.array(
            [in_queries(fold, step.coef, select_by) for step in path.steps]
        )
        means = np.nanmean(values, axis=1).round(12)
        best = int(means.argmax())
        for k in range(best + 1):
            difference = values[k] - values[best]
            p = (
                ttest_rel(values[k], values[best], nan_policy="omit").pvalue
                if difference.any()
                else 1.0
            )
            assert path.p_values[select_by][k] == pytest.approx(p)
            if p >= 0.05 or means[k] == means[best]:
                break
        assert result.chosen.step.number == k + 1
        sizes.append((k, best))
    assert any(k < best for k, best in sizes), "the rule has something to do"


def test_every_path_has_the_p_values_whatever_the_rule_and_a_criterion_has_none() -> (
    None
):
    for rule in ("best", "at most 2", "smallest"):
        for fold, same in zip(
            finished(PLAN.changed(rule=rule)), finished(PLAN), strict=True
        ):
            for path, other in zip(fold.paths, same.paths, strict=True):
                np.testing.assert_array_equal(
                    path.p_values["MAP"], other.p_values["MAP"]
                )
    assert not finished(PLAN.changed(select_by="criterion"))[0].paths[0].p_values


@given(
    queries=st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=6, max_size=6),
        min_size=4,
    ),
    sizes=st.permutations([1, 2, 3, 4]),
)
def test_the_smallest_is_never_larger_than_the_best_and_it_where_all_others_are_worse(
    queries, sizes
) -> None:
    rows = np.array(queries[:4])
    tried = path(0, rows.mean(axis=1).tolist(), sizes)
    found = replace(tried, p_values=p_values(PLAN, tried, [rows]))
    best = select_model(PLAN, [found]).step
    chosen = select_model(PLAN.changed(rule="smallest"), [found]).step
    assert chosen.n_selected <= best.n_selected
    worse = found.p_values["MAP"] < 0.05
    assert not worse[chosen.number - 1]
    smaller = found.sizes < best.n_selected
    if worse[smaller].all():
        assert chosen.n_selected == best.n_selected
    all_worse = replace(tried, p_values=FrozenMapping({"MAP": np.zeros(4)}))
    as_good = tried.sizes[tried.validation["MAP"] == tried.validation["MAP"].max()]
    assert (
        select_model(PLAN.changed(rule="smallest"), [all_worse]).step.n_selected
        == as_good.min()
    )


def test_without_p_values_the_smallest_is_the_best() -> None:
    assert (
        select_model(
            PLAN.changed(rule="smallest"), [path(0, [0.5, 0.4, 0.6])]
        ).step.number
        == 3
    )


def test_one_query_is_no_evidence_for_a_smaller_model() -> None:
    rows = np.array([[0.4], [0.5], [0.6]])
    tried = path(0, [0.4, 0.5, 0.6])
    found = replace(tried, p_values=p_values(PLAN, tried, [rows]))
    assert select_model(PLAN.changed(rule="smallest"), [found]).step.number == 3


@pytest.mark.parametrize("n", [5, 6])
def test_few_queries_are_no_evidence_for_a_smaller_model(n: int) -> None:
    """AUC of five folds of one ranking: 0.85 against 0.98, and the paired t does not tell them apart."""
    rows = np.array(
        [[0.6, 0.98, 0.99, 0.7, 1.0, 1.0][:n], [0.97, 0.98, 0.99, 0.98, 1.0, 1.0][:n]]
    )
    tried = path(0, rows.mean(axis=1).tolist())
    found = replace(tried, p_values=p_values(PLAN, tried, [rows]))
    assert select_model(PLAN.changed(rule="smallest"), [found]).step.number == (
        2 if n < 6 else 1
    )
    (note,) = untested_notes(
        PLAN.changed(rule="smallest"), [SimpleNamespace(paths=[tried])]
    )
    assert naming("smallest 6").search(note.what)
    assert not untested_notes(PLAN, [SimpleNamespace(paths=[tried])])


def test_a_measure_that_is_the_same_everywhere_is_told() -> None:
    """All documents of the data are relevant: a wrong label column, and MAP is 1 for any ranking."""
    equal, other = path(0, [1.0, 1.0]), path(1, [1.0, 0.9])

    def notes(*folds: list[PathResult], plan: Plan = PLAN) -> tuple[Note, ...]:
        chosen = SimpleNamespace(step=equal.steps[0])
        return undecided_notes(
            plan, [SimpleNamespace(paths=p, chosen=chosen, constant=()) for p in folds]
        )

    (note,) = notes([equal], [equal])
    assert naming("MAP labels").search(note.what)
    assert not notes([equal], [equal, other])
    assert not notes([path(0, [1.0])])  # there was nothing to choose
    assert not notes([equal], plan=PLAN.changed(select_by=CRITERION))


@pytest.mark.parametrize("method", ["greedy-rankrls", "rankrls", "gas"])
def test_queries_of_one_document_are_told(method: str) -> None:
    """Catches silence where the column of document ids is taken for that of queries."""
    whole = part(0)
    m = whole.y.size
    alone = replace(
        whole, query_ptr=np.arange(m + 1), query_ids=tuple(map(str, range(m)))
    )
    result = run_plan(
        Plan("alone", method=method, select_by=CRITERION),
        FoldedDataset("alone", None, (Fold(1, alone),)),
    )
    (note,) = fold_notes(result.plan, result.folds)
    assert naming("feature query ids").search(note.what)


def test_a_run_follows_its_rule() -> None:
    best, simple, small = (
        finished(PLAN.changed(rule=rule)) for rule in ("best", "one-se", "at most 2")
    )
    for b, s, a in zip(best, simple, small, strict=True):
        error = np.nanmax(s.paths[b.chosen.unit.position].standard_errors["MAP"])
        assert s.chosen.unit.position == b.chosen.unit.position
        own = s.paths[s.chosen.unit.position].validation["MAP"]
        k = len(s.selected)
        assert own[k - 1] >= own.max() - error
        assert (own[: k - 1] < own.max() - error).all()
        assert len(a.selected) <= 2
        assert a.validation["MAP"] == max(
            p.validation["MAP"][:2].max() for p in a.paths
        )
    assert [len(s.selected) for s in simple] != [len(b.selected) for b in best]


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (ONE_SE.changed(select_by="criterion"), "rule one-se"),
        (PLAN.changed(rule="smallest", select_by="criterion"), "rule smallest"),
        (Plan("small", "rankrls", rule="at most 5"), "5 RankRLS 6"),
    ],
)
def test_a_rule_that_no_model_can_meet_is_refused_before_the_work(
    plan: Plan, sentence: str
) -> None:
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
def test_boosting_takes_features_one_by_one_and_follows_a_rule_of_size(
    method: str, parameters: dict
) -> None:
    for fold in finished(Plan("small", method, parameters, rule="at most 2")):
        path = fold.paths[0]
        measured = zip(path.validation["MAP"], path.steps, strict=True)
        assert len(fold.selected) <= 2
        assert fold.validation["MAP"] == max(
            value for value, step in measured if len(step.selected) <= 2
        )


def test_criteria_of_several_costs_choose_nothing() -> None:
    several = {"regularization": [1.0], "cost": ["unit", "inverse"]}
    plan = Plan("small", "rankrls", several, select_by="criterion")
    with pytest.raises(PlanError) as caught:
        next(run(plan, dataset()))
    assert naming('criterion "pair weight" validation measure').search(
        str(caught.value)
    )
    assert next(run(plan.changed(select_by="MAP"), dataset()))
    # The criterion is the ranker's, whatever the features were selected by.
    ranked = Plan("small", parameters=several, ranker="rankrls", select_by="criterion")
    assert next(run(ranked, dataset()))
    with pytest.raises(PlanError, match=naming("RankRLS weight")):
        next(
            run(
                ranked.changed(ranker_parameters={"weighting": ["size", "none"]}),
                dataset(),
            )
        )
