"""One fold prepared: the best single feature, what criteria are divided by, models that are not linear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from experiment.small import dataset, part

from rankstudio.engine import evaluate
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.experiment.plan.combinations import Unit
from rankstudio.engine.experiment.plan.plan import CRITERION, Plan, estimator
from rankstudio.engine.experiment.results.events import BaselineFound
from rankstudio.engine.experiment.runner import run
from rankstudio.engine.experiment.units.fold_context import (
    FoldContext,
    make_fold_context,
)
from rankstudio.engine.support.work import WorkProgress

BOOST = Plan("small", "rankboost", {"n_rounds": 8})


def best_by_hand(fold: Fold, name: str, convention: str) -> tuple[float, int, int]:
    """Every feature in both directions: the value, minus the column and the direction of the best."""
    train = fold.train
    tried = []
    for column in range(train.n_features):
        for sign in (1, -1):
            scores = sign * train.X[:, column]
            found = evaluate(
                train.y, scores, train.qid, measures=(name,), convention=convention
            )
            tried.append((found[name], -column, sign))
    return max(tried)


@pytest.mark.parametrize(
    ("plan", "name"),
    [
        (Plan("small"), "MAP"),
        (Plan("small", select_by="NDCG@3", convention="trec_eval"), "NDCG@3"),
        (Plan("small", select_by=CRITERION, measures=("P@3", "MAP")), "P@3"),
    ],
)
def test_the_baseline_is_the_best_of_all_single_features(plan: Plan, name: str) -> None:
    for fold in dataset(2).folds:
        _, column, sign = best_by_hand(fold, name, plan.convention)
        baseline = make_fold_context(plan, fold).baseline
        assert (baseline.feature, baseline.name) == (
            1 - column,
            f"feature {1 - column}",
        )
        assert baseline.descending == (sign > 0)
        for part_, measured in (
            (fold.vali, baseline.validation),
            (fold.test, baseline.test),
        ):
            assert part_ is not None
            scores = sign * part_.X[:, -column]
            expected = evaluate(
                part_.y,
                scores,
                part_.qid,
                measures=plan.evaluated,
                convention=plan.convention,
            )
            assert dict(measured) == pytest.approx(dict(expected))


def test_a_feature_may_be_the_best_from_its_least_value_up() -> None:
    fold = dataset(1).folds[0]
    turned = [
        None if p is None else replace(p, X=-p.X)
        for p in (fold.train, fold.vali, fold.test)
    ]
    plain = make_fold_context(Plan("small"), fold).baseline
    other = make_fold_context(Plan("small"), Fold(1, *turned)).baseline
    assert (plain.feature, plain.descending) == (3, True)
    assert (other.feature, other.descending) == (3, False)
    assert dict(other.test) == pytest.approx(dict(plain.test))


def test_a_feature_that_tells_no_documents_apart_is_no_baseline() -> None:
    """Where the file has the relevant documents first, a constant feature only seems to rank well."""
    train = part(1)
    by_label = np.lexsort((-train.y, train.query_index))
    fold = Fold(
        1, replace(train, X=train.X[by_label], y=train.y[by_label]), part(2), part(3)
    )
    assert make_fold_context(Plan("small"), fold).baseline.feature == 3


def test_a_run_tells_each_folds_baseline_and_keeps_it() -> None:
    events = list(run(Plan("small", "rankrls"), dataset(2)))
    found = {
        event.fold: event.baseline
        for event in events
        if isinstance(event, BaselineFound)
    }
    folds = events[-1].result.folds
    assert {fold.fold: fold.baseline for fold in folds} == found
    assert events[-1].result.baseline["MAP"] == pytest.approx(
        np.mean([fold.baseline.test["MAP"] for fold in folds])
    )


def worked(prepared: FoldContext, unit: Unit) -> list:
    return [told for told in prepared.work(unit) if not isinstance(told, WorkProgress)]


@pytest.mark.parametrize(
    "plan",
    [
        BOOST,
        Plan("small", "gas", ranker="rankboost", ranker_parameters={"n_rounds": 4}),
    ],
)
def test_models_that_are_not_linear_measure_the_same_at_once_as_step_by_step(
    plan: Plan,
) -> None:
    fold = dataset(1).folds[0]
    unit = Unit(1, 0, plan.combinations[0])
    step_by_step = make_fold_context(plan, fold)
    collected = step_by_step.collect(unit, worked(step_by_step, unit))
    at_once = make_fold_context(plan, fold).path(unit)
    assert not at_once.steps[-1].linear
    assert len(at_once.steps) == len(collected.steps) > 3
    np.testing.assert_array_equal(at_once.criterion, collected.criterion)
    for name in plan.evaluated:
        np.testing.assert_array_equal(
            at_once.validation[name], collected.validation[name]
        )
    assert fold.vali is not None
    columns = np.ascontiguousarray(fold.vali.X.T)
    for k, step in enumerate(at_once.steps):
        expected = evaluate(
            fold.vali.y, step.scores(columns), fold.vali.qid, measures=("MAP",)
        )["MAP"]
        assert at_once.validation["MAP"][k] == pytest.approx(expected)


def test_criteria_are_divided_by_documents_where_they_are_sums_over_them() -> None:
    fold = dataset(1).folds[0]
    m = fold.train.n_documents
    for plan, divisor in (
        (Plan("small"), m),
        (Plan("small", "ranksvm"), 1),
        (Plan("small", "gas", ranker="ranksvm"), 1),
        (Plan("small", "fsmrank", ranker="rankrls"), m),
    ):
        assert make_fold_context(plan, fold).divisor == divisor


@pytest.mark.parametrize(
    ("cost", "ties", "passed"),
    [("unit", "yes", None), ("magnitude", "no", False), ("magnitude", "yes", True)],
)
def test_an_estimator_gets_no_parameter_that_does_not_count(
    cost: str, ties: str, passed: bool | None
) -> None:
    plan = Plan(
        "sample", "rankrls", {"regularization": [2.0], "cost": cost, "ties": ties}
    )
    made = estimator(plan, plan.entry, plan.combinations[0].parameters, np.arange(1, 4))
    assert (made.cost, made.ties) == (cost, passed)
