"""One path of a plan: a value of each parameter, and the training part of one fold."""

from __future__ import annotations

import pytest
from experiment.small import dataset

from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.units.single_path import (
    SinglePath,
    single_plan,
    training_fold,
)


def test_a_grid_that_was_not_given_has_the_default_of_the_method() -> None:
    plan = Plan("here", "rankrls", {"regularization": (0.25, 1.0, 4.0)}, folds=(2,))
    path = SinglePath.of(plan, dataset(), ())
    assert path.fold == 2 and path.plan.parameters["regularization"] == (
        path.method.regularization,
    )
    assert path.data.y.tolist() == dataset().folds[1].train.y.tolist()
    with pytest.raises(PlanError, match="λ: expected one value"):
        SinglePath.of(plan, dataset(), {"regularization"})


def test_a_criterion_that_is_a_sum_over_documents_has_their_number_as_divisor() -> None:
    path = SinglePath.of(
        Plan("here", "greedy-rankrls", {"n_features_to_select": 2}), dataset(), ()
    )
    assert path.divisor == path.data.y.size
    train = dataset().folds[0].train
    order = path.method.fit(train.X, train.y, qid=train.qid).selection_order_
    assert path.selected() == tuple(order)


def test_a_fold_that_is_not_there_is_refused() -> None:
    with pytest.raises(PlanError, match="--folds: expected one of the dataset's folds"):
        training_fold(Plan("here", folds=(9,)), dataset())
    assert training_fold(Plan("here"), dataset()).number == 1


def test_the_plan_of_a_path_has_one_combination_and_one_fold() -> None:
    plan = Plan(
        "here",
        parameters={"regularization": (1.0, 4.0)},
        rule="one-se",
        select_by="MAP",
    )
    single = single_plan(plan, plan.combinations[1].parameters, 2)
    assert single.folds == (2,) and len(single.combinations) == 1
    assert single == single_plan(
        plan.changed(rule="best"), plan.combinations[1].parameters, 2
    )
