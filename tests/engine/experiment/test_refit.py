"""A model learned from everything: which of the folds' values it takes, and which documents it sees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankstudio.engine.data.splitting.splits import k_fold, single_split, whole
from rankstudio.engine.data.synthetic import make_ranking
from rankstudio.engine.errors import PlanError
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.refit import most_frequent, refit
from rankstudio.engine.experiment.runner import collect, run_plan
from rankstudio.engine.methods.rankers.ranksvm import RankSVM
from rankstudio.engine.methods.selection.greedy_rankrls.estimator import GreedyRankRLS


def dataset(folds: int = 3):
    """Folds whose test parts are everything, or one fold of three parts."""
    data = make_ranking(n_queries=24, seed=4)
    made = k_fold(data, folds) if folds > 1 else single_split(data, (60, 20, 20))
    return replace(made, divided_by="")


def finished(plan: Plan, folds: int = 3):
    return run_plan(plan, dataset(folds))


def test_a_model_of_all_documents_is_the_one_that_the_estimator_learns_from_them() -> None:
    plan = Plan("small", parameters={"regularization": (0.5, 2.0, 8.0)})
    result = finished(plan)
    model = refit(result, dataset(3))
    data = whole(dataset(3))
    value = sorted(fold.chosen.unit.values[0] for fold in result.folds)[1]
    size = sorted(len(fold.selected) for fold in result.folds)[1]
    direct = GreedyRankRLS(n_features_to_select=size, regularization=value)
    direct.fit(data.X, data.y, qid=data.qid)
    assert model.parameters["regularization"] == value
    assert [f.id - 1 for f in model.features] == direct.selection_order_.tolist()
    expected = [direct.coef_[f.id - 1] for f in model.features]
    np.testing.assert_allclose([f.weight for f in model.features], expected, rtol=1e-9)
    assert model.origin["fold"] == "all" and "test" not in model.origin


FEW = {"regularization": (0.5, 2.0)}


@pytest.mark.parametrize(
    "plan",
    [
        Plan("small", "rankboost", {"n_rounds": 6}),
        Plan("small", "lambdamart", {"n_rounds": 4, "min_data_in_leaf": 5}),
        Plan("small", "rfe"),
        Plan("small", "l1-path", ranker="ranksvm", ranker_parameters={"C": (0.1, 1.0)}),
        Plan("small", parameters=FEW, protocol="leave-query-out", select_by="criterion"),
        Plan("small", parameters=FEW, protocol="5-fold, nested 2-fold"),
    ],
    ids=lambda plan: f"{plan.title}, {plan.protocol}",
)
def test_any_run_has_a_model_of_all_documents(plan: Plan) -> None:
    model = refit(finished(plan, 1), dataset(1))
    assert np.ptp(model.predict(whole(dataset(1)).X)) > 0


def test_of_an_optimiser_the_last_iteration_is_the_model() -> None:
    model = refit(finished(Plan("small", "ranksvm", {"C": 0.1})), dataset(3))
    data = whole(dataset(3))
    direct = RankSVM(C=0.1).fit(data.X, data.y, qid=data.qid)
    np.testing.assert_allclose([f.weight for f in model.features], direct.coef_, rtol=1e-9)


def test_a_run_without_a_finished_fold_has_none() -> None:
    with pytest.raises(PlanError, match="fold"):
        refit(collect(Plan("small"), dataset(), [], 0.0), dataset())


def test_ties_of_the_most_frequent_value_go_to_the_one_listed_first() -> None:
    assert most_frequent(["b", "a", "a", "b", "c"], ["c", "b", "a"]) == "b"
    assert most_frequent([(1,), (), ()], [(1,), ()]) == ()
