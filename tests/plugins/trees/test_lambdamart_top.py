"""LambdaMART's first k features: the order of its gains, and each model learned by hand."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
from ordering import ranking_problem

from rankstudio.engine import LambdaMART, LambdaMARTTop
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.two_stage import Narrowed
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress

QUICK = {"n_rounds": 5, "min_data_in_leaf": 2, "num_leaves": 5}


def test_every_size_is_lambdamart_of_the_first_features() -> None:
    X, y, qid = ranking_problem(2)
    gains = LambdaMART(**QUICK).fit(X, y, qid=qid).coef_
    order = [j for j in np.argsort(-gains, kind="stable").tolist() if gains[j] > 0]
    steps = list(LambdaMARTTop(**QUICK).steps(X, y, qid=qid))
    assert [step.selected for step in steps] == [
        tuple(order[:k]) for k in range(1, len(order) + 1)
    ]
    documents = np.ascontiguousarray(X.T)
    for step in steps:
        assert isinstance(step, Narrowed)
        top = sorted(step.selected)
        alone = LambdaMART(**QUICK).fit(X[:, top], y, qid=qid)
        np.testing.assert_array_equal(step.scores(documents), alone.predict(X[:, top]))
        np.testing.assert_array_equal(step.coef[top], alone.coef_)
        left = [j for j in range(X.shape[1]) if j not in step.selected[:-1]]
        np.testing.assert_array_equal(step.candidates[left], gains[left])


def test_without_a_split_there_is_no_feature() -> None:
    X, _, qid = ranking_problem(2)
    fitted = LambdaMARTTop(**QUICK).fit(X, np.zeros(len(qid)), qid=qid)
    assert not fitted.support_.any()
    assert (fitted.predict(X) == 0).all()


def test_it_says_what_it_does_before_the_first_model() -> None:
    told = list(LambdaMARTTop(**QUICK).work(group(*ranking_problem(2))))
    assert isinstance(told[0], WorkProgress)
    assert told[0].what == "growing trees with all features"
    assert isinstance(told[-1], Step)


def test_costs_are_the_penalties_of_lightgbm() -> None:
    X, y, qid = ranking_problem(2)
    plain = LambdaMART(**QUICK).fit(X, y, qid=qid)
    costs = np.random.default_rng(0).uniform(0.1, 3.0, X.shape[1])
    fitted = LambdaMART(**QUICK, costs=costs).fit(X, y, qid=qid)
    parameters = {
        **LambdaMART(**QUICK)._parameters(),
        "cegb_penalty_feature_coupled": costs.tolist(),
    }
    data = lightgbm.Dataset(
        X, label=y, group=np.unique(qid, return_counts=True)[1], params=parameters
    )
    other = lightgbm.train(parameters, data, num_boost_round=5)
    np.testing.assert_array_equal(fitted.predict(X), other.predict(X, raw_score=True))
    assert (fitted.coef_ != plain.coef_).any()
    free = LambdaMART(**QUICK, costs=np.full(X.shape[1], 1e-100)).fit(X, y, qid=qid)
    np.testing.assert_array_equal(free.coef_, plain.coef_)


def test_a_dear_feature_is_not_among_the_first() -> None:
    X, y, qid = ranking_problem(2)
    (best,) = LambdaMARTTop(1, **QUICK).fit(X, y, qid=qid).selection_order_
    costs = np.ones(X.shape[1])
    costs[best] = 1e9
    dear = LambdaMARTTop(**QUICK, costs=costs, cost_weight=0.01).fit(X, y, qid=qid)
    assert best not in dear.selection_order_ and dear.selection_order_.size
    weighted = LambdaMARTTop(**QUICK, costs=costs / 100).fit(X, y, qid=qid)
    np.testing.assert_array_equal(weighted.selection_order_, dear.selection_order_)
    top = sorted(dear.selection_order_.tolist())
    alone = LambdaMART(**QUICK).fit(X[:, top], y, qid=qid)
    np.testing.assert_array_equal(dear.predict(X), alone.predict(X[:, top]))
    with pytest.raises(ParameterError):
        LambdaMARTTop(**QUICK, costs=[1.0]).fit(X, y, qid=qid)
