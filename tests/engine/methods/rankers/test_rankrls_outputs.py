"""Several outputs and further queries of RankRLS, against fitting each output and everything at once."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from strategies import Problem, problems

from rankstudio.engine import RankRLS
from rankstudio.engine.errors import DatasetError, ParameterError


def close(found: np.ndarray, expected: np.ndarray, scale: float = 0.0) -> None:
    """Equal to 1e-8 of the greatest value, or of the greatest label."""
    scale = max(1e-300, scale, float(np.abs(expected).max(initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * scale)


def with_outputs(problem: Problem) -> np.ndarray:
    rng = np.random.default_rng(problem.y.size)
    return np.column_stack(
        (problem.y, rng.integers(0, 3, problem.y.size), rng.random(problem.y.size))
    )


@given(problems(fewest_queries=2))
def test_outputs_are_learned_as_each_alone(problem: Problem) -> None:
    X, _, qid, regularization = problem
    Y = with_outputs(problem)
    method = RankRLS(regularization=regularization)
    several, left_out = method.fit(X, Y, qid=qid), method.leave_query_out(X, Y, qid=qid)
    coefs, criteria = several.coef_, several.criterion_
    assert coefs.shape == (3, X.shape[1])
    for v in range(3):
        one = RankRLS(regularization=regularization).fit(X, Y[:, v], qid=qid)
        scale = float(np.abs(Y[:, v]).max())
        close(coefs[v], one.coef_, scale)
        assert criteria[v] == pytest.approx(one.criterion_, rel=1e-8, abs=1e-8)
        close(left_out[:, v], one.leave_query_out(X, Y[:, v], qid=qid), scale)
        close(several.predict(X)[:, v], one.predict(X), scale)


@given(problems(fewest_queries=2), st.data())
def test_further_queries_are_learned_as_all_at_once(
    problem: Problem, data: st.DataObject
) -> None:
    X, y, qid, regularization = problem
    queries = np.unique(qid)
    first = np.isin(qid, queries[: data.draw(st.integers(1, queries.size - 1))])
    begins_with_fit = data.draw(st.booleans())
    for labels in (y, with_outputs(problem)):
        everything = RankRLS(regularization=regularization).fit(X, labels, qid=qid)
        grown = RankRLS(regularization=regularization)
        begin = grown.fit if begins_with_fit else grown.partial_fit
        begin(X[first], labels[first], qid=qid[first])
        grown.partial_fit(X[~first], labels[~first], qid=qid[~first])
        close(grown.coef_, everything.coef_, float(np.abs(labels).max()))
        assert np.isnan(grown.criterion_).all()


def test_queries_that_stand_apart_and_are_large_come_out_alike() -> None:
    rng = np.random.default_rng(0)
    X, Y, qid = rng.random((90, 4)), rng.random((90, 2)), rng.integers(0, 5, 90)
    found = RankRLS().leave_query_out(X, Y, qid=qid)
    close(found[:, 1], RankRLS().leave_query_out(X, Y[:, 1], qid=qid))


def test_sparse_documents_have_several_outputs_too() -> None:
    rng = np.random.default_rng(1)
    X, Y, qid = rng.random((60, 5)), rng.random((60, 3)), rng.integers(0, 9, 60)
    X[X < 0.5] = 0.0
    by_gradients, sparse = RankRLS(tol=1e-13), scipy.sparse.csr_array(X)
    by_gradients.fit(sparse, Y, qid=qid)
    direct = RankRLS().fit(X, Y, qid=qid)
    close(by_gradients.coef_, direct.coef_)
    close(by_gradients.predict(sparse), direct.predict(X))
    with pytest.raises(ParameterError, match="solver: expected direct"):
        by_gradients.partial_fit(X, Y, qid=qid + 100)


def test_what_does_not_go_together_is_refused() -> None:
    rng = np.random.default_rng(2)
    X, Y, qid = rng.random((20, 3)), rng.random((20, 2)), np.repeat([1, 2, 3, 4], 5)
    grown = RankRLS().fit(X, Y, qid=qid)
    with pytest.raises(DatasetError, match=r"expected new queries, found 2, 4"):
        grown.partial_fit(X[5:], Y[5:], qid=[2] * 5 + [7] * 5 + [4] * 5)
    with pytest.raises(
        DatasetError, match="expected as many outputs as before, 2, got 1"
    ):
        grown.partial_fit(X, Y[:, 0], qid=qid + 10)
    with pytest.raises(
        ValueError, match="X has 2 features, but RankRLS is expecting 3"
    ):
        grown.partial_fit(X[:, :2], Y, qid=qid + 10)
    Y[3, 1] = np.nan
    with pytest.raises(DatasetError, match="y: expected finite numbers, row 3"):
        RankRLS().fit(X, Y, qid=qid)
