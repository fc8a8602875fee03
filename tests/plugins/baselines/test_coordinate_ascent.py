"""Coordinate ascent: the grid tried by hand, values that ``evaluate`` agrees with, seeds, odd shapes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from ordering import ranking_problem
from strategies import Problem, problems

from rankstudio.engine import CoordinateAscent, evaluate
from rankstudio.engine.arithmetic.optimisers.coordinate_ascent import STEPS
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.methods.shards.ascent_search import ascent_search
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.support.work import finish


def test_a_line_search_takes_the_best_of_the_grid() -> None:
    for seed in range(5):
        X, y, qid = ranking_problem(seed)
        with ascent_search(training_data(group(X, y, qid)), "MAP", "letor4") as opened:
            ascent = finish(opened)
            scale = np.sqrt(
                np.mean([X[qid == q].var(axis=0) for q in range(10)], axis=0)
            )
            np.testing.assert_allclose(ascent.scale, scale)
            coef = ascent.normalise(np.random.default_rng(seed).normal(size=6))
            value = evaluate(y, X @ coef, qid, measures=["MAP"])["MAP"]
            tried = []
            for change in [*STEPS, -coef[2] * scale[2]]:
                other = coef.copy()
                other[2] += change / scale[2]
                tried.append(evaluate(y, X @ other, qid, measures=["MAP"])["MAP"])
            found, best = finish(ascent.searching(coef, value, 2))
            assert best == pytest.approx(max(value, *tried), abs=1e-12)
            assert np.abs(found * scale).sum() == pytest.approx(1.0)
            np.testing.assert_allclose(
                np.delete(found, 2) * coef[0], np.delete(coef, 2) * found[0]
            )


@given(problems())
def test_steps_never_get_worse_and_tell_the_value_of_predict(problem: Problem) -> None:
    X, y, qid, _ = problem
    y = np.clip(np.round(y), 0, 2)
    for measure, sign in (("NDCG@2", 1), ("Disagreement", -1)):
        method = CoordinateAscent(measure=measure, n_restarts=2, max_iter=3)
        steps = list(method.steps(X, y, qid=qid))
        assert 1 <= len(steps) <= method.n_steps(X.shape[1])
        criteria = [s.criterion for s in steps]
        assert all(b <= a for a, b in pairwise(criteria))
        method.fit(X, y, qid=qid)
        value = evaluate(y, method.predict(X), qid, measures=[measure])[measure]
        if not np.isnan(value):
            assert method.value_ == value
            assert criteria[-1] == -sign * value
        constant = [
            j
            for j in range(X.shape[1])
            if all(np.ptp(X[qid == q, j]) == 0 for q in qid)
        ]
        assert (method.coef_[constant] == 0).all()


def test_it_finds_the_direction_that_ranks_perfectly() -> None:
    rng = np.random.default_rng(0)
    X, qid = rng.random((300, 4)) * [1, 1000, 1, 0.001], np.repeat(np.arange(20), 15)
    y = np.clip(np.round(3 * X[:, 0] - 0.002 * X[:, 1]), 0, 3)
    found = CoordinateAscent(tolerance=1e-6).fit(X, y, qid=qid)
    assert found.value_ > 0.99
    single = max(evaluate(y, d * x, qid)["NDCG@10"] for x in X.T for d in (1, -1))
    assert found.value_ > single + 0.02


def test_the_seed_makes_the_model() -> None:
    X, y, qid = ranking_problem()
    coefs = [
        CoordinateAscent(seed=s, tolerance=1e-6).fit(X, y, qid=qid).coef_
        for s in (3, 3, 4)
    ]
    assert (coefs[0] == coefs[1]).all()
    assert (coefs[0] != coefs[2]).any()
    more = CoordinateAscent(seed=3, tolerance=1e-6, n_restarts=6).fit(X, y, qid=qid)
    assert (
        more.value_
        >= CoordinateAscent(seed=3, tolerance=1e-6, n_restarts=1)
        .fit(X, y, qid=qid)
        .value_
    )
