"""Conjugate gradients against the direct solution, dense and sparse."""

import warnings
from itertools import product

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from sklearn.exceptions import ConvergenceWarning
from strategies import Problem, problems

from rankstudio.engine import RankRLS
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.rankers.rankrls_gradient import ConjugateGradients
from rankstudio.engine.steps import Iteration


@given(problems())
def test_they_end_at_the_direct_solution(problem: Problem) -> None:
    X, y, qid, regularization = problem
    direct = RankRLS(regularization=regularization).fit(X, y, qid=qid).coef_
    # where products cancel there is rounding alone
    scale = max(1e-9, float(np.abs(direct).max()))
    for documents in (X, scipy.sparse.csr_array(X)):
        found = RankRLS(regularization=regularization, solver="cg")
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error", ConvergenceWarning)
            found.fit(documents, y, qid=qid)
        np.testing.assert_allclose(found.coef_, direct, rtol=0, atol=1e-8 * scale)


def sparse_problem(
    m: int = 400, n: int = 30
) -> tuple[scipy.sparse.csr_array, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = scipy.sparse.random_array((m, n), density=0.2, rng=rng, format="csr")
    return X, rng.integers(0, 3, m).astype(float), rng.integers(0, m // 10, m)


def test_the_only_step_is_the_minimum() -> None:
    X, y, qid = sparse_problem()
    (step,) = RankRLS(regularization=0.5).steps(X, y, qid=qid)
    assert isinstance(step, Iteration)
    assert (step.number, step.converged) == (1, True)
    fitted = RankRLS(regularization=0.5).fit(X, y, qid=qid)
    assert (fitted.coef_ == step.coef).all()
    assert fitted.criterion_ == step.criterion
    assert 2 < fitted.n_iter_ <= 2 * X.shape[1]


def test_each_iteration_has_a_bound_that_holds() -> None:
    X, y, qid = sparse_problem()
    gradients = ConjugateGradients.of("auto", 1e-10, 1000)
    data = RankRLS()._group(X, y, qid)
    steps = list(gradients.iterations(data, data.centred_labels, 0.5))
    best = steps[-1].criterion
    for number, step in enumerate(steps, start=1):
        assert step.number == number
        assert step.converged == (number == len(steps))
        assert 0.0 <= step.criterion - best <= step.gap * (1 + 1e-9) + 1e-9 * best
    assert [step.criterion for step in steps] == sorted(
        (s.criterion for s in steps), reverse=True
    )


@pytest.mark.parametrize(
    ("width", "scale", "regularization"),
    [*product([30], [1e-3, 1.0, 1e3], [2.0**-10, 1.0, 2.0**10]), (1_100_000, 1.0, 1.0)],
)
def test_weights_are_those_of_dense_data_up_to_rounding(
    width: int, scale: float, regularization: float
) -> None:
    X, y, qid = sparse_problem()
    rng = np.random.default_rng(1)
    # columns of different scales
    X = (X * scale ** rng.integers(0, 2, X.shape[1])).tocsr()
    columns = np.sort(rng.choice(width, X.shape[1], replace=False))
    wide = scipy.sparse.csr_array(
        (X.data, columns[X.indices], X.indptr), shape=(X.shape[0], width)
    )
    direct = RankRLS(regularization=regularization).fit(X.toarray(), y, qid=qid).coef_
    found = RankRLS(regularization=regularization).fit(wide, y, qid=qid)
    assert not np.delete(found.coef_, columns).any()
    # The error of a direct solution grows with the condition number.
    condition = 1.0 + (X.T @ X).diagonal().max() / regularization
    tolerance = 1e-12 + X.shape[1] * np.finfo(float).eps * condition
    np.testing.assert_allclose(
        found.coef_[columns], direct, rtol=0, atol=tolerance * np.abs(direct).max()
    )


def test_sparse_features_are_never_made_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    m = n = 100_000
    rows, columns = np.repeat(np.arange(m), 5), rng.integers(0, n, 5 * m)
    X = scipy.sparse.csr_array((rng.random(5 * m), (rows, columns)), shape=(m, n))
    monkeypatch.setattr(QueryData, "__init__", lambda *_: pytest.fail("dense"))
    fitted = RankRLS(regularization=1.0, tol=1e-6).fit(
        X, rng.integers(0, 3, m), qid=np.arange(m) // 20
    )
    assert fitted.coef_.shape == (n,)


def test_too_few_iterations_are_told() -> None:
    X, y, qid = sparse_problem()
    with pytest.warns(
        ConvergenceWarning, match="RankRLS stopped after 2 conjugate gradient steps"
    ):
        RankRLS(max_iter=2).fit(X, y, qid=qid)


def test_labels_that_are_equal_inside_queries_give_zero_weights() -> None:
    X, _, qid = sparse_problem()
    fitted = RankRLS().fit(X, qid.astype(float), qid=qid)
    assert (fitted.coef_ == 0.0).all()
    assert fitted.criterion_ == 0.0


def test_what_makes_no_sense_is_refused() -> None:
    X, y, qid = sparse_problem()
    with pytest.raises(
        ParameterError,
        match="solver: expected auto or cg where X is sparse, got 'direct'",
    ):
        RankRLS(solver="direct").fit(X, y, qid=qid)
    with pytest.raises(
        ParameterError, match="solver: expected one of auto, direct, cg"
    ):
        RankRLS(solver="newton").fit(X, y, qid=qid)
    with pytest.raises(ParameterError, match="tol"):
        RankRLS(tol=0.0).fit(X, y, qid=qid)
    with pytest.raises(ParameterError, match="max_iter"):
        RankRLS(max_iter=0).fit(X, y, qid=qid)
    with pytest.raises(
        ParameterError, match="held-out predictions need dense features"
    ):
        RankRLS().leave_query_out(X, y, qid=qid)
