"""RankBoost against the figure of the paper on the explicit list of pairs."""

import numpy as np
import pytest
from hypothesis import given
from ordering import ranking_problem
from strategies import Problem, problems

from rankstudio.engine import RankBoost


def pairs_of(y: np.ndarray, qid: np.ndarray) -> list[tuple[int, int]]:
    rows = range(len(y))
    return [(a, b) for a in rows for b in rows if qid[a] == qid[b] and y[a] < y[b]]


@given(problems())
def test_every_round_is_the_best_there_is(problem: Problem) -> None:
    X, y, qid, _ = problem
    pairs = pairs_of(y, qid)
    method = RankBoost(n_rounds=6)
    D = dict.fromkeys(pairs, 1.0 / max(1, len(pairs)))
    H = np.zeros(len(y))
    before = 0
    for step in method.steps(X, y, qid=qid):
        r_of = {}
        for j in range(X.shape[1]):
            for theta in sorted(set(X[:, j]))[:-1]:
                h = X[:, j] > theta
                r_of[j, theta] = sum(w * (int(h[b]) - int(h[a])) for (a, b), w in D.items())
        best = max(map(abs, r_of.values()), default=0.0)
        if len(step.thresholds) == before:
            assert best < 1e-9
            break
        weak = step.thresholds[-1]
        r = r_of[weak.feature, weak.theta]
        assert abs(r) == pytest.approx(best, abs=1e-9)
        if best < 1 - 1e-8:
            assert weak.weight == pytest.approx(0.5 * np.log((1 + r) / (1 - r)), rel=1e-6, abs=1e-9)
        H += weak.weight * (X[:, weak.feature] > weak.theta)
        np.testing.assert_allclose(step.scores(X.T), H)
        losses = {(a, b): np.exp(H[a] - H[b]) for a, b in pairs}
        assert step.criterion == pytest.approx(np.mean(list(losses.values())), rel=1e-9)
        D = {pair: loss / sum(losses.values()) for pair, loss in losses.items()}
        before = len(step.thresholds)


def test_the_loss_falls_and_predict_is_the_last_step() -> None:
    X, y, qid = ranking_problem()
    shuffled = np.random.default_rng(1).permutation(120)
    method = RankBoost(n_rounds=40).fit(X[shuffled], y[shuffled], qid=qid[shuffled])
    steps = list(RankBoost(n_rounds=40).steps(X, y, qid=qid))
    assert (np.diff([s.criterion for s in steps]) < 0).all()
    assert method.loss_ == pytest.approx(steps[-1].criterion)
    np.testing.assert_allclose(method.predict(X), steps[-1].scores(X.T), atol=1e-9)
    assert method.n_steps(6) == 40
    for j in range(6):
        assert method.coef_[j] == pytest.approx(sum(t.weight for t in method.thresholds_ if t.feature == j))


def test_it_ends_where_every_pair_is_in_order_or_none_can_be() -> None:
    X, _, qid = ranking_problem()
    y = (X[:, 3] < 0.5).astype(float)
    steps = list(RankBoost().steps(X, y, qid=qid))
    assert len(steps) == 1
    assert steps[0].thresholds[0].weight < -5
    alike = list(RankBoost().steps(np.ones((4, 2)), np.arange(4.0), qid=np.ones(4)))
    assert [s.thresholds for s in alike] == [()]
    assert (RankBoost().fit(X, np.ones(120), qid=qid).predict(X) == 0).all()
