"""The bounds of FSMRank's theorems: that they hold, and a value computed from the proof by hand."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest

from rankstudio.engine import FSMRank
from rankstudio.engine.analysis.features.fsmrank_bounds import bounds_of, fsmrank_bounds
from rankstudio.engine.arithmetic.pair_losses import LossName
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.runner import open_data, run_plan
from rankstudio.engine.experiment.units.fold_context import group_training
from rankstudio.engine.methods.selection.fsmrank import importance

LAMBDA1 = 0.1


@pytest.fixture(scope="module")
def train() -> RankingDataset:
    return open_data(Plan("sample")).folds[0].train


@pytest.mark.parametrize("loss", ["logistic", "least_squares"])
def test_theorem_2_holds_for_other_losses_with_their_lipschitz_constant(
    train: RankingDataset, loss: LossName
) -> None:
    fold = open_data(Plan("sample")).folds[0]
    s = importance(group_training(fold).whole("test"), "none")
    method = FSMRank(
        lambda1=LAMBDA1, lambda2=1e-3, importance="none", similarity="none", loss=loss
    )
    steps = list(method.steps(train.X, train.y, qid=train.qid))
    least = min(step.criterion for step in steps)
    n = train.X.shape[1]
    bend = {"logistic": 0.25, "least_squares": 2.0}[loss]
    for step in steps:
        found = fsmrank_bounds(train, step, s, LAMBDA1, loss)
        norm = float(step.coef @ step.coef)
        expected = 2 * (2 * bend + 2 * LAMBDA1) * n * norm / (step.number + 1) ** 2
        assert found.above_minimum == pytest.approx(expected, rel=1e-12)
        weights = float(steps[-1].coef @ steps[-1].coef)
        assert step.criterion - least <= expected * weights / max(norm, 1e-300)
    # The proof of Theorem 3 is for squares.
    hinge = fsmrank_bounds(train, steps[-1], s, LAMBDA1)
    if loss == "logistic":
        assert found.unseen is None
        assert found.above_minimum < hinge.above_minimum
    else:
        assert found == hinge


@pytest.mark.filterwarnings(
    "ignore::rankstudio.engine.methods.selection.fsmrank.IndefiniteSimilarityWarning"
)
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "least_squares"])
def test_bounds_of_a_run_are_those_of_its_loss(loss: LossName) -> None:
    data = open_data(Plan("sample"))
    plan = Plan(
        "sample",
        "fsmrank",
        {"loss": loss, "lambda1": 0.1, "lambda2": 1e-3, "max_iter": 30},
        folds=(1,),
    )
    chosen = run_plan(plan, data).folds[0].chosen
    fold = data.folds[0]
    train = group_training(fold)
    found = bounds_of(plan, chosen.unit.parameters, chosen.step, train, fold.train)
    s = importance(train.whole("test"), "pearson")
    assert found == fsmrank_bounds(fold.train, chosen.step, s, 0.1, loss)
    assert found is not None
    assert (found.unseen is None) == (loss == "logistic")


@pytest.mark.filterwarnings(
    "ignore::rankstudio.engine.methods.selection.fsmrank.IndefiniteSimilarityWarning"
)
def test_they_hold_and_the_last_is_far_from_tight(train: RankingDataset) -> None:
    fold = open_data(Plan("sample")).folds[0]
    s = importance(group_training(fold).whole("test"), "pearson")
    method = FSMRank(lambda1=LAMBDA1, lambda2=1e-3)
    steps = list(method.steps(train.X, train.y, qid=train.qid))
    minimum = min(step.criterion for step in steps)
    last = fsmrank_bounds(train, steps[-1], s, LAMBDA1)
    norm = (
        last.above_minimum * (steps[-1].number + 1) ** 2
    )  # of the last model, which stands for the best one
    for step in steps:
        assert step.criterion - minimum <= norm / (step.number + 1) ** 2
    assert (last.objective, round(last.unseen, -2)) == (
        pytest.approx(0.68, abs=0.005),
        4500.0,
    )


def test_theorem_3_is_the_sum_of_its_terms() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(6, 2)), np.array([0.0, 1, 2, 0, 0, 1])
    data = RankingDataset.from_arrays(X, y, ["a"] * 3 + ["b"] * 3)  # 3 + 2 pairs
    model = replace(
        next(FSMRank().steps(X, y, qid=["a"] * 3 + ["b"] * 3)),
        coef=np.array([0.3, -0.2]),
    )
    s = np.array([0.5, 0.4, 0.25, 0.8])
    C = 0.3 / 0.5 + 0.2 / 0.8
    terms = (
        2 * C * sqrt(4 / 5)
        + C**2 * sqrt(2 * log(8) / 5)
        + LAMBDA1 / 2 * C**2 * sqrt(2 * log(8) / 5)
    )
    rest = ((1 + C) ** 2 + LAMBDA1 / 2 * C**2 - 1) * sqrt(log(1 / 0.05) / 10)
    found = fsmrank_bounds(data, model, s, LAMBDA1)
    assert found.unseen == pytest.approx(
        2 * (4 + 2 * LAMBDA1) * 2 * terms + rest, rel=1e-12
    )
    with pytest.raises(PlanError, match="scaled"):
        fsmrank_bounds(replace(data, X=3 * X), model, s, LAMBDA1)
    with pytest.raises(PlanError, match="importance"):
        fsmrank_bounds(data, model, 2 * s, LAMBDA1)
    with pytest.raises(PlanError, match="labels"):
        fsmrank_bounds(replace(data, y=np.ones(6)), model, s, LAMBDA1)
