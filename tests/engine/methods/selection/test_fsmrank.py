"""FSMRank against scipy's bounded optimiser on explicit pairs, FSMSVM against RankSVM."""

import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pair_oracles import differences
from scipy.optimize import OptimizeResult, check_grad, minimize
from scipy.special import expit
from strategies import Problem, problems

from rankstudio.engine import (
    FSMSVM,
    FSMRank,
    FSMRankTop,
    RankSVM,
    evaluate,
    open_dataset,
)
from rankstudio.engine.arithmetic.optimisers.nesterov import FSMObjective, accelerated
from rankstudio.engine.arithmetic.optimisers.pair_problem import LocalPairs
from rankstudio.engine.arithmetic.pair_losses import LinearPairs, LossName
from rankstudio.engine.arithmetic.pairs import Pairs
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.fsmrank import (
    FSMStep,
    IndefiniteSimilarityWarning,
    importance,
    nearest_positive_semidefinite,
    similarity,
)
from rankstudio.engine.metrics.conventions import convention
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import WorkProgress, finish


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """|Pearson's correlation|, 0 where one of the two has one value."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    return abs(float(a @ b)) / np.sqrt(float(a @ a) * float(b @ b))


def squared_hinge(d: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum of the losses of differences of scores, and its derivatives."""
    u = np.maximum(0.0, 1.0 - d)
    return u @ u, -2.0 * u


def logistic(d: np.ndarray) -> tuple[float, np.ndarray]:
    return float(np.logaddexp(0.0, -d).sum()), -expit(-d)


def least_squares(d: np.ndarray) -> tuple[float, np.ndarray]:
    return float(((1.0 - d) ** 2).sum()), -2.0 * (1.0 - d)


Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]
PairSum = Callable[[np.ndarray], tuple[float, np.ndarray]]
LOSSES: dict[LossName, PairSum] = {
    "squared_hinge": squared_hinge,
    "logistic": logistic,
    "least_squares": least_squares,
}


def explicit(
    problem: Problem, lambda1: float, lambda2: float, loss: PairSum = squared_hinge
) -> tuple[Objective, np.ndarray, bool]:
    """Eq. (2), written from the paper, with its gradient; importances; and whether it is convex."""
    X, y, qid, _ = problem
    n = X.shape[1]
    X2 = np.hstack((X, -X))
    A = np.array(
        [[correlation(X2[:, i], X2[:, j]) for j in range(2 * n)] for i in range(2 * n)]
    )
    A[np.diag_indices(2 * n)] = 1.0
    A[np.arange(n), np.arange(n) + n] = A[np.arange(n) + n, np.arange(n)] = 1.0
    s = np.array([correlation(X2[:, i], y) for i in range(2 * n)])
    D = differences(X2, y, qid)
    costs = np.divide(lambda2, s, out=np.zeros(2 * n), where=s > 0)

    def value(w: np.ndarray) -> tuple[float, np.ndarray]:
        p = max(1, len(D))
        pairs, slopes = loss(D @ w)
        return (
            0.5 * lambda1 * w @ A @ w + costs @ w + pairs / p,
            lambda1 * A @ w + costs + slopes @ D / p,
        )

    return value, s, bool(np.linalg.eigvalsh(A)[0] > -1e-9)


def least(value: Objective, s: np.ndarray) -> OptimizeResult:
    """Return scipy's minimum of an objective over weights from 0 up, 0 for features without importance."""
    bounds = [(0.0, None if s_i > 0 else 0.0) for s_i in s]
    options = {"ftol": 1e-15, "gtol": 1e-11, "maxiter": 10_000, "maxfun": 100_000}
    w = np.zeros(s.size)
    # a line search that fails ends it early: it goes on from there with no memory
    for _ in range(20):
        found = minimize(
            value, w, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        if np.array_equal(found.x, w):
            break
        w = found.x
    return found


def slow(problem: Problem, lambda1: float, lambda2: float) -> tuple[float, bool]:
    """The least value of eq. (2), and whether it is convex."""
    value, s, convex = explicit(problem, lambda1, lambda2)
    return float(least(value, s).fun), convex


LAMBDAS = st.sampled_from([0.0, 1e-3, 0.1, 2.0])


def ranking(
    seed: int = 0, m: int = 400, n: int = 6
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X, qid = rng.random((m, n)), np.repeat(np.arange(m // 10), 10)
    X[:, 1] = 0.9 * X[:, 0] + 0.1 * X[:, 1]
    return (
        X,
        np.clip(
            np.round(2 * X[:, 0] - 2 * X[:, 3] + 0.5 * rng.normal(size=m) + 1), 0, 2
        ),
        qid,
    )


def objective(lambda1: float = 0.3, loss: LossName = "squared_hinge") -> FSMObjective:
    X, y, qid = ranking()
    data = group(X, y, qid)
    problem = LocalPairs(LinearPairs(data.centred[0], Pairs(data.y, data.ptr)))
    return FSMObjective(
        problem,
        similarity(data, "pearson"),
        importance(data, "pearson"),
        lambda1,
        0.01,
        loss,
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_that_of_the_smooth_part(seed: int, loss: LossName) -> None:
    at, w = objective(loss=loss), np.random.default_rng(seed).random(12)

    def value(w: np.ndarray) -> float:
        return finish(at.at(w, at.scores(w)))[0]

    def gradient(w: np.ndarray) -> np.ndarray:
        return at.gradient(w, finish(at.at(w, at.scores(w)))[1].slopes)

    assert check_grad(value, gradient, w) < 1e-5 * np.linalg.norm(gradient(w))


@given(problems(), LAMBDAS, LAMBDAS)
def test_the_objective_reaches_the_minimum_on_explicit_pairs(
    problem: Problem, lambda1: float, lambda2: float
) -> None:
    X, y, qid, _ = problem
    least, convex = slow(problem, lambda1, lambda2)
    convex |= lambda1 == 0
    method = FSMRank(
        lambda1=lambda1, lambda2=lambda2, tol=1e-14, max_iter=20_000 if convex else 50
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IndefiniteSimilarityWarning)
        fitted = method.fit(X, y, qid=qid)
    if convex:
        assert fitted.objective_ == pytest.approx(least, rel=1e-6, abs=1e-6)
    assert np.isfinite(fitted.coef_).all()
    constant = np.ptp(X, axis=0) == 0
    assert (fitted.coef_[constant] == 0).all()


@settings(max_examples=15)
@given(problems(most_features=4), LAMBDAS, LAMBDAS, st.sampled_from([*LOSSES]))
def test_every_loss_comes_as_close_to_the_minimum_as_theorem_2_says(
    problem: Problem, lambda1: float, lambda2: float, loss: LossName
) -> None:
    X, y, qid, _ = problem
    value, s, convex = explicit(problem, lambda1, lambda2, LOSSES[loss])
    assume(convex or lambda1 == 0)
    reference = least(value, s)
    method = FSMRank(
        lambda1=lambda1, lambda2=lambda2, loss=loss, tol=1e-14, max_iter=1000
    )
    steps = list(method.steps(X, y, qid=qid))
    last = steps[-1]
    w = np.concatenate((np.maximum(last.coef, 0.0), np.maximum(-last.coef, 0.0)))
    largest = 1.0 + 2.0 * float(np.abs(X @ last.coef).max())
    rounding = 16 * np.finfo(float).eps * largest**2
    # The objective is that of the listed pairs. A feature and its negative may both have weight before the
    # minimum, whose costs the weights of the model lack.
    assert value(w)[0] <= last.criterion + 1e4 * rounding
    # Theorem 2 holds for any point in place of the minimum, with the last L of the line search, which only
    # grows; each step adds a rounding of φ.
    above = 2.0 * last.lipschitz * float(reference.x @ reference.x)
    above /= (last.number + 1) ** 2
    assert last.criterion <= reference.fun + above + len(steps) * rounding
    # By convexity, scipy's point is at most this much above that of FSMRank.
    slopes = value(reference.x)[1]
    assert (
        reference.fun
        <= last.criterion + max(0.0, float(slopes @ (reference.x - w))) + 1e4 * rounding
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("method", [FSMRank, FSMRankTop])
def test_every_loss_reaches_the_minimum_of_scipy(loss: LossName, method: Any) -> None:
    X, y, qid = ranking(m=120)
    value, s, convex = explicit(Problem(X, y, qid, 1.0), 0.2, 0.01, LOSSES[loss])
    assert convex
    reference = least(value, s)
    fitted = method(lambda1=0.2, lambda2=0.01, loss=loss, tol=1e-14, max_iter=5000).fit(
        X, y, qid=qid
    )
    coef = reference.x[:6] - reference.x[6:]
    # A is positive definite, so that ψ curves by at least λ1 times its least eigenvalue along the
    # differences of the two weights of a feature.
    least_eigenvalue = float(np.linalg.eigvalsh(np.abs(np.corrcoef(X.T)))[0])
    gap = 1e-10
    distance = np.sqrt(2.0 * gap / (0.2 * least_eigenvalue))
    np.testing.assert_allclose(fitted.coef_, coef, rtol=0, atol=2.0 * distance)
    criterion = fitted.objective_ if method is FSMRank else fitted.criterion_path_[-1]
    assert criterion == pytest.approx(reference.fun, rel=0, abs=gap)
    assert distance < 1e-3 * np.abs(coef).max()


def test_losses_differ_and_the_default_is_the_squared_hinge() -> None:
    X, y, qid = ranking()
    fitted = {loss: FSMRank(loss=loss).fit(X, y, qid=qid).coef_ for loss in LOSSES}
    np.testing.assert_array_equal(
        FSMRank().fit(X, y, qid=qid).coef_, fitted["squared_hinge"]
    )
    assert not np.allclose(fitted["logistic"], fitted["squared_hinge"], atol=1e-3)
    assert not np.allclose(fitted["least_squares"], fitted["squared_hinge"], atol=1e-3)
    with pytest.raises(ParameterError, match="loss"):
        FSMRank(loss="hinge").fit(X, y, qid=qid)  # type: ignore[arg-type]


def test_fsmsvm_takes_the_order_of_the_loss_and_refits_the_squared_hinge() -> None:
    X, y, qid = ranking()
    for loss in LOSSES:
        order = FSMRank(loss=loss).fit(X, y, qid=qid).selection_order_[:3]
        fitted = FSMSVM(3, loss=loss).fit(X, y, qid=qid)
        np.testing.assert_array_equal(fitted.selection_order_, order)
        ranker = RankSVM(tol=1e-6).fit(X[:, order], y, qid=qid)
        # Both are within sqrt(2 gap) of the minimum, as the objective is 1-strongly convex.
        off = 2.0 * np.sqrt(2.0 * 1e-6 * ranker.objective_)
        assert np.linalg.norm(fitted.coef_[order] - ranker.coef_) <= off


@pytest.mark.parametrize("loss", LOSSES)
def test_documents_without_pairs_get_no_weight(loss: LossName) -> None:
    X, _, qid = ranking()
    for y, queries in ((np.ones(400), qid), (np.arange(400.0), np.arange(400))):
        fitted = FSMRank(loss=loss, importance="none").fit(X, y, qid=queries)
        np.testing.assert_array_equal(fitted.coef_, np.zeros(6))
        assert fitted.objective_ == 0.0


@pytest.mark.parametrize("loss", LOSSES)
def test_the_first_lipschitz_constant_is_a_bound_for_features_from_0_to_1(
    loss: LossName,
) -> None:
    at = objective(lambda1=0.7, loss=loss)
    rng = np.random.default_rng(3)
    for _ in range(20):
        w, z = rng.random((2, 12)) * rng.choice([0.01, 1.0, 10.0], size=(2, 1))
        slopes = [
            at.gradient(v, finish(at.at(v, at.scores(v)))[1].slopes) for v in (w, z)
        ]
        change = float(np.linalg.norm(slopes[0] - slopes[1]))
        assert change <= at.bound * float(np.linalg.norm(w - z))
    bend = {"squared_hinge": 2.0, "logistic": 0.25, "least_squares": 2.0}[loss]
    assert at.bound == (2.0 * bend + 2.0 * 0.7) * 6


def test_a_redundant_feature_loses_its_weight_as_lambda1_grows() -> None:
    X, y, qid = ranking()
    free = FSMRank(lambda1=0.0, lambda2=1e-4, tol=1e-9, max_iter=5000).fit(
        X, y, qid=qid
    )
    held = FSMRank(lambda1=1.0, lambda2=1e-4, tol=1e-9, max_iter=5000).fit(
        X, y, qid=qid
    )
    assert held.selection_order_.size < free.selection_order_.size
    assert {0, 1} <= set(free.selection_order_.tolist())
    assert not {0, 1} <= set(held.selection_order_.tolist())
    assert held.coef_[3] < 0


def test_steps_tell_objective_lipschitz_and_features_in_use() -> None:
    X, y, qid = ranking()
    steps = list(FSMRank(tol=1e-8).steps(X, y, qid=qid))
    assert all(isinstance(step, FSMStep) for step in steps)
    assert all(a.lipschitz <= b.lipschitz for a, b in pairwise(steps))
    assert all(len(step.selected) == np.count_nonzero(step.coef) for step in steps)
    assert steps[-1].criterion < steps[0].criterion
    assert len(steps) <= FSMRank().n_steps(6)


def gentle() -> FSMObjective:
    """An objective whose φ curves by at most 2 max ||x_i - x_j||² < 4e-5."""
    X, y, qid = ranking()
    data = group(1e-3 * X, y, qid)
    problem = LocalPairs(LinearPairs(data.centred[0], Pairs(data.y, data.ptr)))
    return FSMObjective(problem, np.eye(6), np.ones(12), 0.0, 1e-5)


def test_the_line_search_starts_at_a_thousandth_of_the_bound() -> None:
    """That is more than φ curves by, so the first L holds."""
    at = gentle()
    first = next(accelerated(at, 1e-8, 1))
    assert first.w.any()
    assert first.lipschitz == at.bound / 1024 == 4.0 * 6 / 1024


def test_iterations_are_those_of_algorithm_1() -> None:
    at = gentle()
    w, z, alpha = np.zeros(12), np.zeros(12), 1.0
    for now in accelerated(at, 0.0, 6):
        g = at.gradient(z, finish(at.at(z, at.scores(z)))[1].slopes)
        new = np.maximum(z - (g + at.costs) / (at.bound / 1024), 0.0)
        alpha, last = (1 + np.sqrt(1 + 4 * alpha**2)) / 2, alpha
        w, z = new, new + (last - 1) / alpha * (new - w)
        # A gradient is a sum over 400 documents; six of them are rounded one after the other.
        np.testing.assert_allclose(
            now.w, w, rtol=0, atol=6 * 400 * np.finfo(float).eps * w.max()
        )
    assert alpha > 4  # all six were compared


@pytest.mark.parametrize("loss", LOSSES)
def test_the_subgradient_method_heads_for_the_same_minimum_more_slowly(
    loss: LossName,
) -> None:
    X, y, qid = ranking()

    def reached(max_iter: int, **solver: Any) -> float:
        method = FSMRank(loss=loss, tol=1e-12, max_iter=max_iter, **solver)
        return method.fit(X, y, qid=qid).objective_

    least, nesterov = reached(5000), reached(60)
    few, many = (reached(t, solver="subgradient") for t in (60, 5000))
    assert least <= nesterov < few
    assert many < few
    assert many == pytest.approx(least, rel=1e-2)


def test_the_subgradient_method_takes_steps_of_the_inverse_root() -> None:
    X, y, qid = ranking()
    data = group(X, y, qid)
    s, A = importance(data, "pearson"), similarity(data, "pearson")
    D, doubled = differences(X, y, qid), np.tile(A, (2, 2))

    def value(w: np.ndarray) -> tuple[float, np.ndarray]:
        u = np.maximum(0.0, 1.0 - D @ (w[:6] - w[6:]))
        inward = -2.0 * (u @ D) / len(D)
        objective = 0.05 * w @ doubled @ w + 1e-4 * (w / s).sum() + u @ u / len(D)
        return objective, 0.1 * doubled @ w + 1e-4 / s + np.concatenate(
            (inward, -inward)
        )

    w, best = np.zeros(12), value(np.zeros(12))[0]
    steps = list(FSMRank(solver="subgradient", max_iter=20).steps(X, y, qid=qid))
    for t, step in enumerate(steps, start=1):
        w = np.maximum(w - value(w)[1] / np.sqrt(t), 0.0)
        best = min(best, value(w)[0])
        assert step.criterion == pytest.approx(best, rel=1e-12)
    assert len(steps) == 20


def test_the_subgradient_method_ends_where_it_cannot_move() -> None:
    X, y, qid = ranking()
    steps = list(FSMRank(solver="subgradient", lambda2=1e3).steps(X, y, qid=qid))
    assert len(steps) == 1
    assert (steps[0].coef == 0.0).all()


def test_importance_by_correlation_and_by_measures() -> None:
    X, y, qid = ranking()
    X[:, 5] = 0.25
    data = group(X, y, qid)
    for sign, half in ((1.0, slice(0, 6)), (-1.0, slice(6, 12))):
        for j in range(5):
            assert importance(data, "pearson")[half][j] == pytest.approx(
                correlation(X[:, j], y)
            )
            names, rules = ["MAP", "NDCG@10"], convention("letor4").objective
            measured = evaluate(
                y, sign * X[:, j], qid, measures=names, convention=rules
            )
            assert importance(data, "map")[half][j] == pytest.approx(measured["MAP"])
            assert importance(data, "ndcg")[half][j] == pytest.approx(
                measured["NDCG@10"]
            )
        for kind in ("pearson", "map", "ndcg", "none"):
            assert importance(data, kind)[half][5] == 0.0
        assert (importance(data, "none")[half][:5] == 1.0).all()


def test_similarities() -> None:
    X, y, qid = ranking()
    data = group(X, y, qid)
    pearson = similarity(data, "pearson")
    expected = np.abs(np.corrcoef(X.T))
    np.testing.assert_allclose(pearson, expected, atol=1e-12)
    kendall = similarity(data, "kendall")
    assert kendall[0, 1] > 0.7 > kendall[0, 2]
    assert (similarity(data, "none") == np.eye(6)).all()


def indefinite() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Five directions of a plane: their absolute correlations have a negative eigenvalue."""
    angles = np.arange(5) * 2 * np.pi / 5
    plane = np.random.default_rng(0).normal(size=(200, 2))
    X = plane @ np.vstack((np.cos(angles), np.sin(angles)))
    return X, np.round(X[:, 0]), np.repeat(np.arange(20), 10)


def test_an_indefinite_similarity_is_warned_of_or_projected() -> None:
    X, y, qid = indefinite()
    matrix = similarity(group(X, y, qid), "pearson")
    assert np.linalg.eigvalsh(matrix)[0] < -0.01
    with pytest.warns(
        IndefiniteSimilarityWarning,
        match="least eigenvalue -.* .make convex. \\(project\\)",
    ):
        FSMRank().fit(X, y, qid=qid)
    FSMRank(project=True).fit(X, y, qid=qid)  # warnings are errors
    FSMRank(lambda1=0.0).fit(X, y, qid=qid)
    nearest = nearest_positive_semidefinite(matrix)
    assert np.linalg.eigvalsh(nearest)[0] > -1e-12
    # The projection onto a cone: what is left points away from it, at a right angle.
    assert np.linalg.eigvalsh(nearest - matrix)[0] > -1e-12
    assert float(np.sum(nearest * (nearest - matrix))) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.realdata
@pytest.mark.filterwarnings(
    "ignore::rankstudio.engine.methods.selection.fsmrank.IndefiniteSimilarityWarning"
)
def test_the_default_comes_to_the_minimum_where_the_papers_rule_stops_before(
    letor_dir: Path,
) -> None:
    train = open_dataset(letor_dir / "MQ2008").folds[0].train

    def fitted(**parameters: float) -> FSMRank:
        method = FSMRank(lambda1=0.5, lambda2=0.0, **parameters)
        return method.fit(train.X, train.y, qid=train.qid)

    least, default, paper = fitted(tol=1e-13, max_iter=5000), fitted(), fitted(tol=1e-4)
    assert paper.objective_ > 1.001 * least.objective_
    assert default.objective_ < (1.0 + 1e-6) * least.objective_
    assert paper.selection_order_[:5].tolist() == [22, 38, 18, 39, 23]
    assert (
        default.selection_order_[:5].tolist()
        == least.selection_order_[:5].tolist()
        == [22, 18, 28, 39, 34]
    )


def test_labels_all_equal_give_a_model_of_zeros() -> None:
    X, _, qid = ranking()
    fitted = FSMRank(importance="none").fit(X, np.ones(len(qid)), qid=qid)
    assert (fitted.coef_ == 0).all()
    assert fitted.objective_ == 0.0
    assert fitted.coef_path_.shape == (0, 6)
    for method in (FSMSVM(), FSMRankTop(importance="none")):
        method.fit(X, np.ones(len(qid)), qid=qid)
        assert not method.support_.any()
        assert (method.predict(X) == 0).all()


def test_fsmsvm_refits_ranksvm_on_the_features_in_fsmranks_order() -> None:
    X, y, qid = ranking()
    order = FSMRank(lambda2=1e-5).fit(X, y, qid=qid).selection_order_.tolist()
    steps = list(FSMSVM(lambda2=1e-5, C=0.1).steps(X, y, qid=qid))
    assert [step.selected for step in steps] == [
        tuple(order[:k]) for k in range(1, len(order) + 1)
    ]
    for step in steps:
        chosen = list(step.selected)
        alone = RankSVM(C=0.1).fit(X[:, chosen], y, qid=qid)
        np.testing.assert_allclose(step.coef[chosen], alone.coef_, rtol=1e-3, atol=1e-3)
        assert step.criterion == pytest.approx(alone.objective_, rel=2e-6)
        assert np.count_nonzero(step.coef) <= len(chosen)
    fitted = FSMSVM(n_features_to_select=2, lambda2=1e-5, C=0.1).fit(X, y, qid=qid)
    assert fitted.selection_order_.tolist() == order[:2]
    assert fitted.get_support(indices=True).tolist() == sorted(order[:2])
    assert (fitted.transform(X) == X[:, sorted(order[:2])]).all()


def test_rounding_near_the_minimum_does_not_shorten_the_steps() -> None:
    rng = np.random.default_rng(0)
    X, qid = rng.random((12, 6)), np.repeat(np.arange(4), 3)
    *_, last = FSMRank(lambda1=0.0, lambda2=1e-3, tol=1e-15, max_iter=3000).steps(
        X, X @ rng.random(6), qid=qid
    )
    assert isinstance(last, FSMStep)
    assert last.lipschitz < 1e3


@pytest.mark.parametrize(
    "parameters", [{}, {"lambda2": 1e-5, "similarity": "none"}, {"importance": "map"}]
)
def test_the_first_k_score_with_the_weights_of_the_whole_model(
    parameters: dict[str, object],
) -> None:
    X, y, qid = ranking()
    whole = FSMRank(**parameters).fit(X, y, qid=qid)
    w, order = whole.coef_, np.argsort(-np.abs(whole.coef_), kind="stable")
    steps = list(FSMRankTop(**parameters).steps(X, y, qid=qid))
    assert len(steps) == np.count_nonzero(w)
    assert whole.selection_order_.tolist() == order[: len(steps)].tolist()
    assert (whole.coef_path_[-1] == w).all()
    documents = np.ascontiguousarray(X.T)
    for k, step in enumerate(steps, start=1):
        top = order[:k]
        assert step.selected == tuple(top.tolist())
        np.testing.assert_allclose(
            step.scores(documents), X[:, top] @ w[top], rtol=1e-12, atol=1e-14
        )
        np.testing.assert_array_equal(step.coef, whole.coef_path_[k - 1])
    fitted = FSMRankTop(n_features_to_select=2, **parameters).fit(X, y, qid=qid)
    np.testing.assert_allclose(
        fitted.predict(X), X[:, order[:2]] @ w[order[:2]], rtol=1e-12, atol=1e-14
    )
    assert fitted.n_iter_ == whole.n_iter_


def test_features_without_weight_follow_and_change_only_what_is_retrained() -> None:
    X, y, qid = ranking()
    parameters = {"lambda2": 0.05}
    weighted = list(FSMRankTop(**parameters).steps(X, y, qid=qid))
    assert 0 < len(weighted) < X.shape[1]
    steps = list(FSMRankTop(all_features=True, **parameters).steps(X, y, qid=qid))
    selected = weighted[-1].selected
    order = (*selected, *(j for j in range(X.shape[1]) if j not in selected))
    assert [step.selected for step in steps] == [
        order[:k] for k in range(1, X.shape[1] + 1)
    ]
    for k, step in enumerate(steps):
        expected = weighted[min(k, len(weighted) - 1)]
        np.testing.assert_array_equal(step.coef, expected.coef)
        assert step.criterion == pytest.approx(expected.criterion, rel=1e-12)
    assert (
        list(
            FSMRankTop(all_features=True, n_features_to_select=2).steps(X, y, qid=qid)
        )[-1].number
        == 2
    )

    *_, last = FSMSVM(all_features=True, C=0.1, **parameters).steps(X, y, qid=qid)
    whole = RankSVM(C=0.1).fit(X, y, qid=qid)
    assert last.selected == order
    np.testing.assert_allclose(last.coef, whole.coef_, rtol=1e-3, atol=1e-3)
    assert last.criterion == pytest.approx(whole.objective_, rel=2e-6)


def test_the_criterion_of_a_cut_model_is_its_objective() -> None:
    X, y, qid = ranking()
    parameters = {"lambda1": 0.3, "lambda2": 1e-3}
    whole = FSMRank(**parameters).fit(X, y, qid=qid)
    steps = list(FSMRankTop(**parameters).steps(X, y, qid=qid))
    assert steps[-1].criterion == pytest.approx(whole.objective_, rel=1e-9)
    assert all(step.criterion >= whole.objective_ * (1 - 1e-9) for step in steps)
    data = group(X, y, qid)
    A, s = np.abs(np.corrcoef(X.T)), importance(data, "pearson")[: X.shape[1]]
    for step in steps:
        w = np.abs(step.coef)
        loss = np.mean(np.maximum(0.0, 1.0 - differences(X, y, qid) @ step.coef) ** 2)
        assert step.criterion == pytest.approx(
            0.15 * w @ A @ w + 1e-3 * np.sum(w / s) + loss, rel=1e-9
        )


def test_all_that_begins_with_fsmrank_learns_it_once() -> None:
    data = group(*ranking())
    cut = [step for step in FSMRankTop().work(data) if isinstance(step, Step)]
    told = list(FSMSVM().work(data))
    assert not any(
        isinstance(one, WorkProgress) and one.what == "FSMRank" for one in told
    )
    assert told[-1].selected == cut[-1].selected
