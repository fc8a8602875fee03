"""SVM-MAP: its loss against all rankings, its minimum against a general optimiser with all constraints."""

import csv
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordering import ranking
from scipy.optimize import minimize

from rankstudio.engine import SVMMAP, open_dataset
from rankstudio.engine.arithmetic.linear_scores import Queries
from rankstudio.engine.data.dataset import Fold
from rankstudio.engine.metrics.evaluator import Evaluator
from rankstudio.engine.steps import Iteration
from rankstudio.plugins.baselines.average_precision import AveragePrecisionLoss


def average_precision(ranked: np.ndarray) -> float:
    """Mean of the precisions at the relevant documents, from the best to the worst."""
    return float(
        np.mean(
            [
                ranked[:rank].mean()
                for rank in range(1, len(ranked) + 1)
                if ranked[rank - 1]
            ]
        )
    )


def joint_feature(X: np.ndarray, relevant: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Ψ of the ranking with each document at its place, straight from its definition."""
    total = np.zeros(X.shape[1])
    for i in np.flatnonzero(relevant):
        for j in np.flatnonzero(~relevant):
            total += (X[i] - X[j]) * (1.0 if place[i] < place[j] else -1.0)
    return total / (relevant.sum() * (~relevant).sum())


def constraints(X: np.ndarray, relevant: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Δ(y) and Ψ(y) - Ψ(y*) of every ranking y of one query, without repetitions."""
    found = {}
    perfect = joint_feature(X, relevant, np.where(relevant, 0, 1))
    for order in permutations(range(len(relevant))):
        slack = joint_feature(X, relevant, np.argsort(order)) - perfect
        row = np.append(1.0 - average_precision(relevant[list(order)]), slack)
        found[tuple(row.round(10))] = row
    rows = np.array(list(found.values()))
    return rows[:, 0], rows[:, 1:]


def one_query(relevant: np.ndarray) -> AveragePrecisionLoss:
    return AveragePrecisionLoss(relevant, Queries(np.array([0, relevant.size])))


@st.composite
def scored_queries(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Relevance and scores of one query: some equal, some in the right order, some all wrong."""
    relevant = np.array(draw(st.lists(st.booleans(), min_size=2, max_size=6)))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    scores = draw(st.sampled_from([0.0, 0.05, 0.5, 5.0])) * rng.normal(
        size=relevant.size
    )
    scores = np.where(rng.random(scores.size) < 0.3, np.round(scores), scores)
    return relevant, scores + draw(
        st.sampled_from([-1.0, 0.0, 0.0, 0.3, 2.0])
    ) * relevant


@given(scored_queries())
def test_the_most_violated_ranking_is_the_worst_of_all_rankings(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    relevant, scores = case
    tangent = one_query(relevant).tangent(scores)
    if relevant.all() or not relevant.any():
        assert (tangent.loss, tangent.offset) == (0.0, 0.0)
        assert (tangent.slopes == 0).all()
        return
    # With a feature for each document, Ψ(y) - Ψ(y*) is the slope of the loss in the scores.
    losses, slopes = constraints(np.eye(relevant.size), relevant)
    assert tangent.loss == pytest.approx((losses + slopes @ scores).max(), abs=1e-12)
    which = np.abs(slopes - tangent.slopes).max(axis=1) + np.abs(
        losses - tangent.offset
    )
    assert which.min() < 1e-11


def by_the_paper(relevant: np.ndarray, scores: np.ndarray) -> tuple[float, np.ndarray]:
    """Loss and slopes by Algorithm 2 as printed: each other document's best place by trying them all."""
    good, bad = np.flatnonzero(relevant), np.flatnonzero(~relevant)
    good, bad = good[np.argsort(-scores[good])], bad[np.argsort(-scores[bad])]
    R, N = good.size, bad.size
    i = np.arange(1, R + 1)
    slopes, above = np.zeros(scores.size), np.zeros(R)
    for j, row in enumerate(bad, start=1):
        change = (j / (j + i) - (j - 1) / (j + i - 1)) / R - 2.0 * (
            scores[good] - scores[row]
        ) / (R * N)
        # δ_j: having passed all from the i-th on
        passed = np.append(np.cumsum(change[::-1])[::-1], 0.0)
        place = int(np.argmax(passed))
        above[place:] += 1
        slopes[row] = 2.0 * (R - place) / (R * N)
    slopes[good] = -2.0 * above / (R * N)
    return 1.0 - float((i / (i + above)).mean()) + float(slopes @ scores), slopes


@pytest.mark.parametrize("size", [20, 90, 1500])
@pytest.mark.parametrize("spread", [1e-3, 0.1, 1.0, 30.0])
def test_long_queries_are_ranked_as_by_the_printed_algorithm(
    size: int, spread: float
) -> None:
    for seed, share in enumerate((0.02, 0.3, 0.9)):
        rng = np.random.default_rng(seed)
        relevant = rng.random(size) < share
        relevant[:2] = True, False
        loss = one_query(relevant)
        for again in range(3):  # the later calls start from another order
            scores = spread * (rng.normal(size=size) + 0.5 * again * relevant)
            expected, slopes = by_the_paper(relevant, scores)
            tangent = loss.tangent(scores)
            # A mean of at most `size` terms, and slopes of at most 2 altogether.
            assert tangent.loss == pytest.approx(
                expected, abs=1e-14 * size * (1 + spread)
            )
            np.testing.assert_allclose(tangent.slopes, slopes, atol=1e-12)


def many_queries(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Relevance, first rows and scores of queries of all kinds."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 15, 20)
    ptr = np.concatenate(([0], np.cumsum(sizes)))
    return rng.random(ptr[-1]) < 0.3, ptr, rng.normal(size=ptr[-1])


def test_the_loss_is_the_mean_over_the_queries_that_can_be_ranked_wrong() -> None:
    for seed in range(10):
        relevant, ptr, scores = many_queries(seed)
        loss = AveragePrecisionLoss(relevant, Queries(ptr))
        tangent = loss.tangent(scores)
        parts = [
            by_the_paper(relevant[a:b], scores[a:b])[0]
            for a, b in pairwise(ptr)
            if relevant[a:b].any() and not relevant[a:b].all()
        ]
        assert loss.n_queries == len(parts)
        assert tangent.loss == pytest.approx(np.mean(parts), abs=1e-12)


def test_planes_touch_the_loss_and_are_nowhere_above_it() -> None:
    for seed in range(10):
        relevant, ptr, scores = many_queries(seed)
        loss = AveragePrecisionLoss(relevant, Queries(ptr))
        at = loss.tangent(scores)
        assert at.loss == pytest.approx(at.offset + at.slopes @ scores, abs=1e-14)
        rng = np.random.default_rng(seed)
        for size in (1e-3, 0.1, 1.0, 10.0):
            other = scores + size * rng.normal(size=scores.size)
            assert loss.tangent(other).loss >= at.offset + at.slopes @ other - 1e-12
        # Between kinks the loss is linear: its difference quotient is its slope, but for rounding.
        direction = rng.normal(size=scores.size)
        ahead, behind = (
            loss.tangent(scores + 1e-6 * direction),
            loss.tangent(scores - 1e-6 * direction),
        )
        assert (ahead.loss - behind.loss) / 2e-6 == pytest.approx(
            at.slopes @ direction, abs=1e-8
        )


def small_problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Queries of 1 to 5 documents, labels 0 to 2, features some of which are equal or level."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, rng.integers(1, 5))
    m, n = int(sizes.sum()), int(rng.integers(1, 4))
    X = rng.random((m, n)).round(int(rng.integers(1, 4)))
    if seed % 4 == 0:
        X[:, 0] = 0.3
    return (
        X,
        rng.integers(0, 3, m).astype(float),
        np.repeat(rng.permutation(sizes.size), sizes),
    )


def n_slack(
    X: np.ndarray, y: np.ndarray, qid: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Every constraint of the queries that have some."""
    rows = [np.flatnonzero(qid == q) for q in np.unique(qid)]
    return [
        constraints(X[r], y[r] >= 1)
        for r in rows
        if (y[r] >= 1).any() and (y[r] < 1).any()
    ]


def objective(
    queries: list[tuple[np.ndarray, np.ndarray]], C: float, w: np.ndarray
) -> float:
    """½ w'w + C times the mean slack."""
    slack = [float((losses + planes @ w).max()) for losses, planes in queries]
    return 0.5 * float(w @ w) + C * (float(np.mean(slack)) if slack else 0.0)


def least_objective(
    queries: list[tuple[np.ndarray, np.ndarray]], C: float, n: int
) -> float:
    """Minimum of the paper's Optimization Problem 1, by a general optimiser, a slack for every query."""
    if not queries:
        return 0.0
    Q = len(queries)
    losses = np.concatenate([q[0] for q in queries])
    planes = np.vstack([q[1] for q in queries])
    owner = np.repeat(np.eye(Q), [len(q[0]) for q in queries], axis=0)
    # In w/√C, and divided by C: numbers of one size, whatever C is.
    jacobian = np.hstack((-np.sqrt(C) * planes, owner))
    weights = np.concatenate((np.zeros(n), np.full(Q, 1.0 / Q)))
    at = np.concatenate((np.zeros(n), np.ones(Q)))
    for _ in range(2):  # it forgets what it has learned of the curvature, and may go on
        at = minimize(
            lambda v: (
                0.5 * v[:n] @ v[:n] + weights @ v,
                np.concatenate((v[:n], np.zeros(Q))) + weights,
            ),
            at,
            jac=True,
            method="SLSQP",
            constraints=[
                {
                    "type": "ineq",
                    "fun": lambda v: jacobian @ v - losses,
                    "jac": lambda _: jacobian,
                }
            ],
            options={"ftol": 1e-15, "maxiter": 1000},
        ).x
    return objective(queries, C, np.sqrt(C) * at[:n])


@given(st.integers(0, 10_000), st.sampled_from([0.01, 0.3, 1.0, 10.0, 300.0]))
def test_the_minimum_is_that_of_all_constraints(seed: int, C: float) -> None:
    X, y, qid = small_problem(seed)
    queries = n_slack(X, y, qid)
    least = least_objective(queries, C, X.shape[1])
    steps = list(SVMMAP(C=C, tol=1e-9).steps(X, y, qid=qid))
    for step in steps:
        assert isinstance(step, Iteration)
        assert step.criterion == pytest.approx(
            objective(queries, C, step.coef), rel=1e-9, abs=1e-12
        )
        # The gap bounds how far above the minimum the step is, from the first one on.
        assert step.criterion - step.gap <= least * (1 + 1e-9) + 1e-12
    assert steps[-1].converged
    assert steps[-1].criterion <= least * (1 + 1e-6) + 1e-9
    assert least <= steps[-1].criterion * (1 + 1e-6) + 1e-9


def test_a_large_c_reaches_a_small_gap_too() -> None:
    X, y, qid = ranking(400, 5, 20)
    for C in (1e4, 1e6, 1e8):
        fitted = SVMMAP(C=C, tol=1e-7).fit(X, y, qid=qid)  # or it would warn
        assert fitted.gap_ <= 1e-7 * fitted.objective_


def test_queries_without_relevant_or_without_other_documents_do_not_count() -> None:
    X, y, qid = ranking(300, 4, 15)
    expected = SVMMAP().fit(X, y, qid=qid)
    more = np.vstack((X, np.random.default_rng(2).random((8, 4))))
    labels = np.concatenate((y, np.ones(4), np.zeros(4)))
    fitted = SVMMAP().fit(
        more, labels, qid=np.concatenate((qid, np.repeat([98, 99], 4)))
    )
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
    assert fitted.objective_ == pytest.approx(expected.objective_, rel=1e-12)


@pytest.mark.parametrize(
    "y", [np.zeros(4), np.full(4, 2.0), np.array([2.0, 1.0, 0.0, 0.5])]
)
def test_data_without_a_constraint_give_a_model_of_zeros(y: np.ndarray) -> None:
    fitted = SVMMAP().fit(np.eye(4), y, qid=np.array([1, 1, 2, 2]))
    assert (fitted.coef_ == 0).all()
    assert (fitted.objective_, fitted.gap_, fitted.n_iter_) == (0.0, 0.0, 1)


def test_features_that_rank_nothing_give_a_model_of_zeros() -> None:
    fitted = SVMMAP().fit(
        np.ones((4, 2)), np.array([1, 0, 1, 0]), qid=np.array([1, 1, 2, 2])
    )
    assert (fitted.coef_ == 0).all()
    # C times 1 - AP of the relevant one last
    assert (fitted.objective_, fitted.gap_) == (10.0 * 0.5, 0.0)


MEASURES = ("MAP", "NDCG@10", "P@10")


def published(path: Path) -> dict[str, float]:
    """Read the test averages over the folds from one of LETOR 3.0's tables."""
    tested, _, _ = path.read_text().partition("Performance on validation")
    averages, header = {}, []
    for row in csv.reader(tested.splitlines()):
        if row[0] == "Folds":
            header = row
        elif row[0] == "average":
            averages |= {
                name: float(x)
                for name, x in zip(header[1:], row[1:], strict=True)
                if name
            }
    return averages


def chosen_by_validation(fold: Fold, grid: np.ndarray) -> dict[str, float]:
    """Test measures of the model with the best validation MAP."""
    assert fold.vali is not None
    assert fold.test is not None
    train, vali, test = fold.train, fold.vali, fold.test
    ranker = Evaluator(vali.y, vali.query_ptr, "letor3", ("MAP",))
    models = [SVMMAP(C=C).fit(train.X, train.y, qid=train.qid) for C in grid]
    best = models[
        int(
            np.argmax(
                [ranker.evaluate(model.predict(vali.X))["MAP"] for model in models]
            )
        )
    ]
    return Evaluator(test.y, test.query_ptr, "letor3", MEASURES).evaluate(
        best.predict(test.X)
    )


@pytest.mark.realdata
@pytest.mark.thorough
def test_ohsumed_is_ranked_as_well_as_letor_publishes(letor_dir: Path) -> None:
    data = open_dataset(letor_dir / "OHSUMED" / "QueryLevelNorm")
    theirs = published(letor_dir / "published" / "OHSUMED.SVMMAP.csv")
    folds = [
        chosen_by_validation(fold, 10.0 ** np.arange(-2, 5)) for fold in data.folds
    ]
    for name in MEASURES:
        ours = np.mean([fold[name] for fold in folds])
        assert ours == pytest.approx(theirs[name], abs=0.01), name
