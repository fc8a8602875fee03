"""What holds for every ranker that minimises an objective up to a gap."""

import time
from itertools import pairwise

import numpy as np
import pytest
from abilities import estimator_class
from ordering import ranking
from sklearn.exceptions import ConvergenceWarning

from rankstudio.engine import RankSVM
from rankstudio.engine.methods.base import ConvergingRanker
from rankstudio.engine.steps import Iteration

SVMMAP = estimator_class("svm-map")

HINGE = {"loss": "hinge"}


@pytest.mark.parametrize(
    "method",
    [
        *(RankSVM(C=0.01, **one) for one in ({}, HINGE, {**HINGE, "solver": "bundle"})),
        *(SVMMAP(C=C) for C in (0.01, 10.0, 1e4)),
    ],
    ids=str,
)
def test_steps_fall_and_the_last_one_is_the_model(method: ConvergingRanker) -> None:
    X, y, qid = ranking(400, 5, 20)
    steps = list(method.steps(X, y, qid=qid))
    assert all(isinstance(step, Iteration) for step in steps)
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    criteria = [step.criterion for step in steps]
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(criteria))
    fitted = method.fit(X, y, qid=qid)
    assert (fitted.coef_ == steps[-1].coef).all()
    assert (fitted.objective_, fitted.gap_, fitted.n_iter_) == (
        criteria[-1],
        steps[-1].gap,
        len(steps),
    )
    assert fitted.gap_ <= method.tol * fitted.objective_
    assert len(steps) <= method.n_steps(5)


@pytest.mark.parametrize(
    "method", [RankSVM(C=0.1, tol=1e-10), SVMMAP(tol=1e-10)], ids=str
)
def test_the_order_of_queries_and_rows_and_an_offset_of_a_query_do_not_matter(
    method: ConvergingRanker,
) -> None:
    X, y, qid = ranking(300, 4, 15)
    rng = np.random.default_rng(1)
    shuffled = rng.permutation(len(y))
    offset = rng.normal(size=(qid.max() + 1, 4))[qid]
    expected, objective = method.fit(X, y, qid=qid).coef_, method.objective_
    method.fit((X + offset)[shuffled], y[shuffled], qid=99 - qid[shuffled])
    assert method.objective_ == pytest.approx(objective, rel=1e-9)
    # ½||w - w*||² is at most the gap.
    np.testing.assert_allclose(
        method.coef_, expected, atol=2 * np.sqrt(2e-10 * objective)
    )


@pytest.mark.parametrize(
    "method", [RankSVM(**HINGE, max_iter=1), SVMMAP(max_iter=1)], ids=str
)
def test_stopping_early_warns_with_the_gap(method: ConvergingRanker) -> None:
    X, y, qid = ranking(300, 4, 15)
    with pytest.warns(
        ConvergenceWarning,
        match="after 1 iterations with a duality gap .* max_iter, now 1",
    ):
        fitted = method.fit(X, y, qid=qid)
    assert fitted.n_iter_ == 1


@pytest.mark.parametrize(
    ("method", "documents", "distinct"),
    [
        (RankSVM(C=1e-3, tol=1e-4), 20_000, True),
        (RankSVM(C=1e-3, tol=1e-4, **HINGE), 20_000, True),
        (SVMMAP(C=1000.0), 40_000, False),
    ],
    ids=str,
)
def test_one_long_query_takes_seconds_at_most(
    method: ConvergingRanker, documents: int, distinct: bool
) -> None:
    X, y, _ = ranking(documents, 5, 1)
    if distinct:
        y = np.argsort(np.argsort(y + X.sum(axis=1))).astype(float)
    method.fit(X[:50], y[:50], qid=np.ones(50))  # compiles
    began = time.process_time()
    fitted = method.fit(X, y, qid=np.ones(documents))
    assert time.process_time() - began < 10.0
    assert fitted.gap_ <= method.tol * fitted.objective_
