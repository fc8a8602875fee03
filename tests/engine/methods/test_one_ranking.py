"""One global ranking: the errors of left-out documents and pairs against retraining."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from abilities import estimator_class
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import Problem, problems, tolerance

from rankstudio.engine import GreedyRankRLS, RankRLS
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.holdout import (
    MOST_LEFT_OUT,
    HeldOutPredictor,
    KernelDecomposition,
)
from rankstudio.engine.methods.selection.greedy_rankrls.one_ranking_search import (
    LeaveOneOutSearch,
    LeavePairOutSearch,
)
from rankstudio.engine.support.work import finish

KernelRankRLS = estimator_class("kernel-rankrls")

pytestmark = pytest.mark.filterwarnings(
    "ignore::rankstudio.engine.errors.MissingQueryWarning"
)

Error = Callable[[np.ndarray, np.ndarray, float], float]


def trained(X: np.ndarray, y: np.ndarray, regularization: float) -> np.ndarray:
    """Least squares on centred rows with λ||w||² as rows of their own: no normal equations."""
    A = np.vstack((X - X.mean(axis=0), np.sqrt(regularization) * np.eye(X.shape[1])))
    b = np.concatenate((y - y.mean(), np.zeros(X.shape[1])))
    return np.linalg.lstsq(A, b, rcond=None)[0]


def leave_pair_out(X: np.ndarray, y: np.ndarray, regularization: float) -> float:
    """Train without each pair, and compare the difference of its scores with that of its labels."""
    m, total = y.size, 0.0
    for i, j in combinations(range(m), 2):
        kept = np.setdiff1d(np.arange(m), [i, j])
        w = trained(X[kept], y[kept], regularization)
        total += float(y[i] - y[j] - (X[i] - X[j]) @ w) ** 2
    return total / m


def leave_one_out(X: np.ndarray, y: np.ndarray, regularization: float) -> float:
    """Train with a bias without each document, and predict its label."""
    total = 0.0
    for i in range(y.size):
        kept = np.delete(np.arange(y.size), i)
        w = trained(X[kept], y[kept], regularization)
        total += float(y[i] - y[kept].mean() - (X[i] - X[kept].mean(axis=0)) @ w) ** 2
    return total


BOTH = pytest.mark.parametrize(
    ("pairs", "error", "least"),
    [("query", leave_pair_out, 3), ("pointwise", leave_one_out, 2)],
)


def close(found: float, expected: float, problem: Problem) -> None:
    """Equal up to the bound of both computations, m times as large for the systems of m documents."""
    relative, absolute = tolerance(problem)
    m = problem.y.size
    assert abs(found - expected) <= m * (relative * expected + absolute)


@BOTH
@given(problem=problems())
def test_rankrls_leaves_documents_of_one_ranking_out(
    pairs: str, error: Error, least: int, problem: Problem
) -> None:
    X, y, _, regularization = problem
    assume(y.size >= least)
    found = RankRLS(regularization, pairs=pairs).fit(X, y).criterion_
    close(found, error(X, y, regularization), problem)


@given(problem=problems())
def test_pairs_over_all_queries_are_those_of_one_ranking(problem: Problem) -> None:
    X, y, _, regularization = problem
    assume(y.size >= 3)
    one, every = (
        RankRLS(regularization, pairs=pairs).fit(X, y).criterion_
        for pairs in ("query", "all")
    )
    np.testing.assert_allclose(one, every, rtol=1e-12)


@given(problem=problems())
def test_a_linear_kernel_has_the_error_of_its_features(problem: Problem) -> None:
    X, y, _, regularization = problem
    assume(y.size >= 3)
    found = KernelRankRLS("linear", regularization=regularization).fit(X, y).criterion_
    # Eigenvalues of XX' are known to the rounding of the greatest, twice as many digits as the singular ones.
    close(found, leave_pair_out(X, y, regularization), problem)


@BOTH
@given(problem=problems(most_features=4), k=st.integers(1, 4), grouped=st.booleans())
def test_greedy_steps_are_those_of_retraining(
    pairs: str, error: Error, least: int, grouped: bool, problem: Problem, k: int
) -> None:
    X, y, qid, regularization = problem
    assume(y.size >= least)
    if grouped and pairs == "query":
        qid = np.zeros(y.size)
    k = min(k, X.shape[1])
    method = GreedyRankRLS(k, regularization, pairs=pairs)
    selected: list[int] = []
    given_qid = {"qid": qid} if grouped else {}  # greedy RLS does not look at queries
    for step in method.steps(X, y, **given_qid):
        columns = [*selected, step.selected[-1]]
        close(step.criterion, error(X[:, columns], y, regularization), problem)
        candidates = np.flatnonzero(~np.isnan(step.candidates))
        for j in candidates:
            close(
                step.candidates[j],
                error(X[:, [*selected, j]], y, regularization),
                problem,
            )
        relative, absolute = tolerance(problem)
        bound = y.size * (relative * step.criterion + absolute)
        assert step.criterion <= step.candidates[candidates].min() + bound
        np.testing.assert_allclose(
            step.coef[columns],
            trained(X[:, columns], y, regularization),
            atol=1e-6 * max(1.0, float(np.abs(y).max()) / np.sqrt(regularization)),
        )
        selected = columns


@BOTH
def test_all_features_give_what_rankrls_has(
    pairs: str, error: Error, least: int
) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.random((25, 6)), rng.random(25)
    path = GreedyRankRLS(regularization=0.5, pairs=pairs).fit(X, y)
    whole = RankRLS(0.5, pairs=pairs).fit(X, y)
    np.testing.assert_allclose(path.criterion_path_[-1], whole.criterion_, rtol=1e-10)
    np.testing.assert_allclose(path.coef_, whole.coef_, rtol=1e-8, atol=1e-12)


@BOTH
@pytest.mark.parametrize("search", ["floating", "swap"])
def test_other_searches_are_no_worse(
    pairs: str, error: Error, least: int, search: str
) -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(20, 6))
    # taken first, then made redundant by 0 and 1
    X[:, 5] = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=20)
    y = X[:, 0] + X[:, 1] + 0.05 * rng.normal(size=20)
    forward = GreedyRankRLS(4, 0.1, pairs=pairs).fit(X, y)
    other = GreedyRankRLS(4, 0.1, pairs=pairs, search=search).fit(X, y)
    assert (other.criterion_path_ <= forward.criterion_path_ * (1 + 1e-9)).all()
    assert (other.criterion_path_ < forward.criterion_path_ * (1 - 1e-3)).any()
    for selected, criterion in ((other.selection_order_, other.criterion_path_[-1]),):
        np.testing.assert_allclose(
            criterion, error(X[:, np.sort(selected)], y, 0.1), rtol=1e-8
        )


@BOTH
def test_groups_pins_and_bans_are_kept(pairs: str, error: Error, least: int) -> None:
    rng = np.random.default_rng(9)
    X, y = rng.random((15, 5)), rng.random(15)
    fitted = GreedyRankRLS(
        2, 0.5, pairs=pairs, groups=[(1, 3)], pinned=[4], banned=[0]
    ).fit(X, y)
    order = fitted.selection_order_.tolist()
    assert order[0] == 4
    assert 0 not in order
    assert (1 in order) == (3 in order)
    np.testing.assert_allclose(
        fitted.criterion_path_[-1], error(X[:, np.sort(order)], y, 0.5), rtol=1e-9
    )


@given(problem=problems(most_features=3), places=st.data())
def test_removals_are_exact(problem: Problem, places: st.DataObject) -> None:
    X, y, _, regularization = problem
    assume(y.size >= 3)
    data = group(X, y, np.zeros(y.size))
    order = places.draw(st.permutations(range(X.shape[1])))
    for kind, error in (
        (LeaveOneOutSearch, leave_one_out),
        (LeavePairOutSearch, leave_pair_out),
    ):
        search = kind(data, regularization)
        search.move_to(tuple(order))
        for place, found in enumerate(search.removals()):
            rest = order[:place] + order[place + 1 :]
            close(found, error(X[:, rest], y, regularization), problem)
        assert search.selected == tuple(order)


def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    predictor = HeldOutPredictor(
        KernelDecomposition.of(rng.random((60, 4))), rng.random(60), 0.3
    )
    whole = finish(predictor.pair_error())
    monkeypatch.setattr("rankstudio.engine.methods.holdout._MAX_NUMBERS", 60 * 7)
    np.testing.assert_allclose(finish(predictor.pair_error()), whole, rtol=1e-13)


def test_what_has_no_left_out_error_is_not_a_number() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.random((12, 3)), rng.integers(0, 3, 12)
    for method in (
        RankRLS(cost="unit"),
        RankRLS(ties=False),
        RankRLS(weighting="pairs"),
        KernelRankRLS(n_basis=5),
        KernelRankRLS(weighting="none"),
    ):
        assert method.why_no_error(12)
        assert np.isnan(method.fit(X, y).criterion_)
    assert RankRLS().why_no_error(MOST_LEFT_OUT + 1)
    assert not RankRLS().why_no_error(MOST_LEFT_OUT)
    assert not RankRLS(pairs="pointwise").why_no_error(MOST_LEFT_OUT + 1)
    assert not KernelRankRLS(n_basis=12).why_no_error(12)
    assert np.isnan(RankRLS().fit(X[:2], y[:2]).criterion_)
    assert not RankRLS(weighting="none").why_no_error(12)


def test_greedy_refuses_what_it_cannot_leave_out() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.random((12, 3)), rng.integers(0, 3, 12)
    for name, value in (
        ("cost", "unit"),
        ("weighting", "pairs"),
        ("search", "best"),
        ("fitting", "back"),
        ("algorithm", "statistics"),
    ):
        for pairs in ("query", "pointwise"):
            with pytest.raises(ParameterError) as refused:
                GreedyRankRLS(pairs=pairs, **{name: value}).fit(X, y)
            assert refused.value.name in (name, "ties")
    with pytest.raises(DatasetError):
        GreedyRankRLS().fit(X[:2], y[:2])
    with pytest.raises(DatasetError):
        GreedyRankRLS(pairs="pointwise").fit(X[:1], y[:1])
