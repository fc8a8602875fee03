"""AdaRank against the figure of the paper, written out with dictionaries and ``evaluate``."""

import numpy as np
import pytest
from hypothesis import given
from ordering import ranking_problem
from strategies import Problem, problems

from rankstudio.engine import AdaRank, evaluate
from rankstudio.engine.arithmetic.scoring import linear_scores
from rankstudio.engine.errors import ParameterError


def slow_adarank(
    X: np.ndarray,
    y: np.ndarray,
    qid: np.ndarray,
    measure: str,
    rounds: int,
    signs: tuple[int, ...],
    repeats: bool = True,
) -> list[np.ndarray]:
    def measured(scores: np.ndarray) -> dict[int, float]:
        result = evaluate(y, scores, qid, measures=[measure])
        return dict(
            zip(
                result.query_ids.tolist(),
                result.per_query[measure].tolist(),
                strict=True,
            )
        )

    rankers = {(s, k): measured(s * X[:, k]) for s in signs for k in range(X.shape[1])}
    P = dict.fromkeys(qid.tolist(), 1.0 / len(set(qid.tolist())))
    w, models = np.zeros(X.shape[1]), []
    for _ in range(rounds):
        if not rankers:
            break
        sign, k = max(rankers, key=lambda r: sum(P[q] * rankers[r][q] for q in P))
        up = sum(P[q] * (1 + rankers[sign, k][q]) for q in P)
        down = sum(P[q] * (1 - rankers[sign, k][q]) for q in P)
        w = w.copy()
        w[k] += sign * 0.5 * np.log(up / max(down, 1e-10))
        models.append(w)
        if not repeats:
            rankers = {r: E for r, E in rankers.items() if r[1] != k}
        reached = measured(linear_scores(np.ascontiguousarray(X.T), w[None, :])[0])
        if all(e > 1 - 1e-10 for e in reached.values()):
            break
        total = sum(np.exp(-e) for e in reached.values())
        P = {q: np.exp(-e) / total for q, e in reached.items()}
    return models


@pytest.mark.parametrize("measure", ["NDCG@10", "MAP"])
@pytest.mark.parametrize(
    ("direction", "signs"), [("both", (1, -1)), ("descending", (1,))]
)
@pytest.mark.parametrize("repeats", [True, False])
def test_rounds_are_those_of_the_figure(
    measure: str, direction: str, signs: tuple[int, ...], repeats: bool
) -> None:
    for seed in range(4):
        X, y, qid = ranking_problem(seed)
        steps = list(
            AdaRank(measure, n_rounds=8, direction=direction, repeats=repeats).steps(
                X, y, qid=qid
            )
        )
        expected = slow_adarank(X, y, qid, measure, 8, signs, repeats)
        assert repeats or len({step.selected for step in steps}) == len(steps)
        assert len(steps) == len(expected)
        for step, coef in zip(steps, expected, strict=True):
            np.testing.assert_allclose(step.coef, coef, rtol=1e-9, atol=1e-12)
            assert step.criterion == pytest.approx(
                -evaluate(y, X @ coef, qid, measures=[measure])[measure]
            )


@given(problems())
def test_any_shape_gives_finite_weights(problem: Problem) -> None:
    X, y, qid, _ = problem
    y = np.clip(np.round(y), 0, 2)
    found = AdaRank("NDCG@2", n_rounds=5).fit(X, y, qid=qid)
    assert np.isfinite(found.coef_).all()
    assert found.value_ == pytest.approx(
        evaluate(y, found.predict(X), qid, measures=["NDCG@2"])["NDCG@2"]
    )


def test_it_ends_with_a_perfect_ranking() -> None:
    X, _, qid = ranking_problem()
    y = np.tile(np.arange(12.0), 10)
    X[:, 2] = -y
    steps = list(AdaRank("NDCG").steps(X, y, qid=qid))
    assert len(steps) == 1
    assert steps[0].coef[2] < -5
    assert steps[0].selected == (2,)


def test_a_measure_of_errors_is_refused() -> None:
    X, y, qid = ranking_problem()
    with pytest.raises(
        ParameterError, match="measure: expected a measure for which higher is better"
    ):
        AdaRank("Disagreement").fit(X, y, qid=qid)
