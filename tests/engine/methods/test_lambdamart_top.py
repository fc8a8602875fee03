"""LambdaMART's first k features: the order of its gains, and each model learned by hand."""

from __future__ import annotations

import numpy as np
import pytest
from ordering import ranking_problem

from rankstudio.engine import LambdaMART, LambdaMARTTop
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.methods.two_stage import Narrowed
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress

pytest.importorskip("lightgbm")

QUICK = {"n_rounds": 5, "min_data_in_leaf": 2, "num_leaves": 5}


def test_every_size_is_lambdamart_of_the_first_features() -> None:
    X, y, qid = ranking_problem(2)
    gains = LambdaMART(**QUICK).fit(X, y, qid=qid).coef_
    order = [j for j in np.argsort(-gains, kind="stable").tolist() if gains[j] > 0]
    steps = list(LambdaMARTTop(**QUICK).steps(X, y, qid=qid))
    assert [step.selected for step in steps] == [tuple(order[:k]) for k in range(1, len(order) + 1)]
    documents = np.ascontiguousarray(X.T)
    for step in steps:
        assert isinstance(step, Narrowed)
        top = sorted(step.selected)
        alone = LambdaMART(**QUICK).fit(X[:, top], y, qid=qid)
        np.testing.assert_array_equal(step.scores(documents), alone.predict(X[:, top]))
        np.testing.assert_array_equal(step.coef[top], alone.coef_)
        left = [j for j in range(X.shape[1]) if j not in step.selected[:-1]]
        np.testing.assert_array_equal(step.candidates[left], gains[left])


def test_fitted_it_predicts_as_its_last_model() -> None:
    X, y, qid = ranking_problem(2)
    fitted = LambdaMARTTop(2, **QUICK).fit(X, y, qid=qid)
    top = sorted(fitted.selection_order_.tolist())
    alone = LambdaMART(**QUICK).fit(X[:, top], y, qid=qid)
    np.testing.assert_array_equal(fitted.predict(X), alone.predict(X[:, top]))
    assert fitted.coef_path_.shape == (2, X.shape[1])
    assert (fitted.gains_ == LambdaMART(**QUICK).fit(X, y, qid=qid).coef_).all()


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
