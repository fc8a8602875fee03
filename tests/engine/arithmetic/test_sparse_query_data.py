"""Sparse training data: the same centred columns as dense ones, without the zeros."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from oracles import centred_by_loops
from strategies import Problem, problems

from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData, group_sparse
from rankstudio.engine.errors import DatasetError

FORMATS = ("csr", "csc", "coo", "lil", "bsr")


def with_zeros(problem: Problem) -> np.ndarray:
    """The problem's features, most of those below a half made 0."""
    X = problem.X.copy()
    X[(X < 0.5) & (np.random.default_rng(X.shape[0]).random(X.shape) < 0.9)] = 0.0
    return X


@given(problems(), st.sampled_from(FORMATS))
def test_centred_columns_are_those_of_dense_data(problem: Problem, kind: str) -> None:
    X = with_zeros(problem)
    data = group_sparse(scipy.sparse.csr_array(X).asformat(kind), problem.y, problem.qid)
    dense = group(X, problem.y, problem.qid)
    for j in range(X.shape[1]):
        # A dozen roundings of numbers of at most 1.
        np.testing.assert_allclose(data.centred_column(j), dense.centred[0][:, j], rtol=0, atol=1e-14)
    np.testing.assert_array_equal(data.centred_labels, dense.centred[1])
    np.testing.assert_array_equal(data.ptr, dense.ptr)
    np.testing.assert_allclose(
        data.squares, np.sum(centred_by_loops(X, problem.qid) ** 2, axis=0), atol=1e-12
    )


@given(problems())
def test_informative_is_what_varies_inside_some_query(problem: Problem) -> None:
    X = with_zeros(problem)
    varies = [
        any(np.ptp(X[problem.qid == q, j]) > 0 for q in np.unique(problem.qid)) for j in range(X.shape[1])
    ]
    data = group_sparse(scipy.sparse.csr_array(X), problem.y, problem.qid)
    assert data.informative.tolist() == varies
    assert (data.shifted.data != 0).all()
    assert (data.squares > 0).tolist() == varies
    from_dense = SparseQueryData.of(group(X, problem.y, problem.qid))
    assert (from_dense.shifted != data.shifted).nnz == 0


def test_a_large_constant_in_a_query_leaves_no_rounding_behind() -> None:
    X = np.array([[1e9, 1e9 + 1], [1e9, 1e9 + 2], [0.0, 0.0], [0.0, 5.0]])
    data = group_sparse(scipy.sparse.csr_array(X), np.arange(4.0), [0, 0, 1, 1])
    assert data.informative.tolist() == [False, True]
    assert data.squares.tolist() == [0.0, 13.0]
    assert data.centred_column(1).tolist() == [-0.5, 0.5, -2.5, 2.5]


@given(problems())
def test_differences_inside_queries_are_the_dense_ones_up_to_a_factor_of_2(problem: Problem) -> None:
    X, ptr = with_zeros(problem), group(problem.X, problem.y, problem.qid).ptr
    data = group_sparse(scipy.sparse.csr_array(X), problem.y, problem.qid)
    dense = np.array([np.ptp(X[a:b], axis=0) for a, b in pairwise(ptr)]).max(axis=0)
    assert (dense / 2 <= data.differences).all()
    assert (data.differences <= dense).all()


def test_scattered_queries_are_put_together_and_double_entries_added() -> None:
    rows, columns, values = [0, 2, 2, 1], [0, 0, 0, 0], [1.0, 2.0, 4.0, 3.0]
    X = scipy.sparse.coo_array((values, (rows, columns)), shape=(3, 1))
    data = group_sparse(X, [1, 2, 3], ["b", "a", "b"])
    assert data.X.toarray()[:, 0].tolist() == [1.0, 6.0, 3.0]
    assert data.y.tolist() == [1, 3, 2]


def test_the_users_matrix_stays_as_it_was() -> None:
    X = scipy.sparse.csc_array(
        (np.array([1.0, 2.0, 5.0]), np.array([1, 0, 0]), np.array([0, 2, 3])), shape=(2, 2)
    )
    before = X.copy()
    data = group_sparse(X, [0, 1])
    assert data.squares.tolist() == [0.5, 12.5]
    assert (X.indices == before.indices).all()
    assert (X.data == before.data).all()


@pytest.mark.parametrize(
    ("X", "y", "qid", "message"),
    [
        (np.zeros((0, 2)), [], [], r"X: expected a matrix with rows and columns, got shape \(0, 2\)"),
        (np.eye(2), [1.0], None, "y: expected one label per row of X"),
        (np.eye(2), [1.0, np.nan], None, "y: expected finite numbers, row 1"),
        (np.diag([1.0, np.inf]), [1.0, 2.0], None, "X: expected finite numbers, row 1 has NaN or infinity"),
        (np.eye(2), [1.0, 2.0], [1], "qid: expected one query id per row"),
    ],
)
def test_data_that_do_not_fit_are_refused(X: np.ndarray, y: list, qid: list | None, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        group_sparse(scipy.sparse.csr_array(X), y, qid)
