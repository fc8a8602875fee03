"""RankBoost against the figure of the paper on the explicit list of pairs."""

import numpy as np
import pytest
from hypothesis import given
from ordering import ranking_problem
from strategies import Problem, problems

from rankstudio.engine import RankBoost
from rankstudio.engine.errors import ParameterError


def pairs_of(y: np.ndarray, qid: np.ndarray) -> list[tuple[int, int]]:
    rows = range(len(y))
    return [(a, b) for a in rows for b in rows if qid[a] == qid[b] and y[a] < y[b]]


def thresholds_of(values: np.ndarray, n_thresholds: int | None) -> list[float]:
    """Return what is tried: all values but the largest, or what divides the range evenly."""
    low, high = min(values), max(values)
    if low == high:
        return []
    if n_thresholds is None:
        return sorted(set(values))[:-1]
    shares = [k / n_thresholds for k in range(1, n_thresholds)]
    return [(1 - share) * low + share * high for share in shares]


@pytest.mark.parametrize("n_thresholds", [None, 2, 5])
@given(problem=problems())
def test_every_round_is_the_best_there_is(
    n_thresholds: int | None, problem: Problem
) -> None:
    X, y, qid, _ = problem
    pairs = pairs_of(y, qid)
    method = RankBoost(n_rounds=6, n_thresholds=n_thresholds)
    D = dict.fromkeys(pairs, 1.0 / max(1, len(pairs)))
    H = np.zeros(len(y))
    before = 0
    for step in method.steps(X, y, qid=qid):
        r_of = {}
        for j in range(X.shape[1]):
            for theta in thresholds_of(X[:, j], n_thresholds):
                h = X[:, j] > theta
                r_of[j, theta] = sum(
                    w * (int(h[b]) - int(h[a])) for (a, b), w in D.items()
                )
        best = max(map(abs, r_of.values()), default=0.0)
        if len(step.thresholds) == before:
            assert best < 1e-9
            break
        weak = step.thresholds[-1]
        r = r_of[weak.feature, weak.theta]
        assert abs(r) == pytest.approx(best, abs=1e-9)
        if best < 1 - 1e-8:
            assert weak.weight == pytest.approx(
                0.5 * np.log((1 + r) / (1 - r)), rel=1e-6, abs=1e-9
            )
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
        assert method.coef_[j] == pytest.approx(
            sum(t.weight for t in method.thresholds_ if t.feature == j)
        )


def test_it_ends_where_every_pair_is_in_order_or_none_can_be() -> None:
    X, _, qid = ranking_problem()
    y = (X[:, 3] < 0.5).astype(float)
    steps = list(RankBoost().steps(X, y, qid=qid))
    assert len(steps) == 1
    assert steps[0].thresholds[0].weight < -5
    alike = list(RankBoost().steps(np.ones((4, 2)), np.arange(4.0), qid=np.ones(4)))
    assert [s.thresholds for s in alike] == [()]
    assert (RankBoost().fit(X, np.ones(120), qid=qid).predict(X) == 0).all()


def test_ten_thresholds_are_those_of_ranklib() -> None:
    """RankLib starts from the largest value and goes down by a tenth of the range."""
    X, y, qid = ranking_problem()
    step = (X.max(axis=0) - X.min(axis=0)) / 10
    tried = X.max(axis=0) - step * np.arange(10)[:, None]
    method = RankBoost(n_rounds=30, n_thresholds=10).fit(X, y, qid=qid)
    for weak in method.thresholds_:
        assert np.abs(tried[:, weak.feature] - weak.theta).min() < 1e-12
    assert len({(weak.feature, weak.theta) for weak in method.thresholds_}) <= 6 * 9


@pytest.mark.parametrize("n_thresholds", [1, 65_537, 2.5])
def test_a_wrong_number_of_thresholds_is_refused(n_thresholds: float) -> None:
    X, y, qid = ranking_problem()
    with pytest.raises(ParameterError, match="n_thresholds"):
        RankBoost(n_thresholds=n_thresholds).fit(X, y, qid=qid)  # type: ignore[arg-type]
