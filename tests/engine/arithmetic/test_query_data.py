"""Grouping, centring and Gram statistics of dense and sparse data; what is shared; magnitudes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from oracles import centred_by_loops
from strategies import Problem, problems

from rankstudio.engine.arithmetic import magnitude
from rankstudio.engine.arithmetic.magnitude import (
    GREATEST,
    LEAST_DIFFERENCE,
    check_rows,
)
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.arithmetic.shared import SharedResults, once
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData, group_sparse
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.methods.shards.training_data import TrainingData, training_data
from rankstudio.engine.support import blocks


@given(problems())
def test_centring_is_subtracting_each_querys_mean(problem: Problem) -> None:
    data = group(problem.X, problem.y, problem.qid)
    # Values are in [0, 1] and queries have at most 7 rows: a dozen roundings of at most eps / 2 each.
    np.testing.assert_allclose(
        data.centred[0], centred_by_loops(problem.X, problem.qid), atol=1e-14, rtol=0
    )


@given(problems())
def test_a_feature_constant_in_every_query_is_exactly_uninformative(
    problem: Problem,
) -> None:
    data = group(problem.X, problem.y, problem.qid)
    constant = [
        all(np.ptp(problem.X[problem.qid == q, j]) == 0 for q in problem.qid)
        for j in range(problem.X.shape[1])
    ]
    assert data.statistics.informative.tolist() == [not c for c in constant]


@given(problems())
def test_statistics_are_the_gram_matrices_of_the_queries(problem: Problem) -> None:
    data = group(problem.X, problem.y, problem.qid)
    Xc = centred_by_loops(np.column_stack((problem.X, problem.y)), problem.qid)
    for q, query in enumerate(dict.fromkeys(problem.qid.tolist())):
        rows = Xc[problem.qid == query]
        np.testing.assert_allclose(data.statistics.gram[q], rows.T @ rows, atol=1e-12)
    np.testing.assert_allclose(data.statistics.total, Xc.T @ Xc, atol=1e-11)


def test_scattered_queries_are_grouped_in_order_of_appearance_and_keep_their_order() -> (
    None
):
    X = np.arange(6.0)[:, None]
    data = group(X, X[:, 0], ["b", "a", "b", "c", "a", "b"])
    assert data.X[:, 0].tolist() == [0, 2, 5, 1, 4, 3]
    assert data.ptr.tolist() == [0, 3, 5, 6]
    assert data.in_original_order(data.X[:, 0]).tolist() == list(range(6))


def test_without_query_ids_all_rows_are_one_query() -> None:
    assert group(np.ones((4, 1)), np.ones(4)).ptr.tolist() == [0, 4]


FORMATS = ("csr", "csc", "coo", "lil", "bsr")


def with_zeros(problem: Problem) -> np.ndarray:
    """The problem's features, most of those below a half made 0."""
    X = problem.X.copy()
    X[(X < 0.5) & (np.random.default_rng(X.shape[0]).random(X.shape) < 0.9)] = 0.0
    return X


@given(problems(), st.sampled_from(FORMATS))
def test_centred_columns_are_those_of_dense_data(problem: Problem, kind: str) -> None:
    X = with_zeros(problem)
    data = group_sparse(
        scipy.sparse.csr_array(X).asformat(kind), problem.y, problem.qid
    )
    dense = group(X, problem.y, problem.qid)
    for j in range(X.shape[1]):
        # A dozen roundings of numbers of at most 1.
        np.testing.assert_allclose(
            data.centred_column(j), dense.centred[0][:, j], rtol=0, atol=1e-14
        )
    np.testing.assert_array_equal(data.centred_labels, dense.centred[1])
    np.testing.assert_array_equal(data.ptr, dense.ptr)
    np.testing.assert_allclose(
        data.squares, np.sum(centred_by_loops(X, problem.qid) ** 2, axis=0), atol=1e-12
    )


@given(problems())
def test_informative_is_what_varies_inside_some_query(problem: Problem) -> None:
    X = with_zeros(problem)
    varies = [
        any(np.ptp(X[problem.qid == q, j]) > 0 for q in np.unique(problem.qid))
        for j in range(X.shape[1])
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
def test_differences_inside_queries_are_the_dense_ones_up_to_a_factor_of_2(
    problem: Problem,
) -> None:
    X, ptr = with_zeros(problem), group(problem.X, problem.y, problem.qid).ptr
    data = group_sparse(scipy.sparse.csr_array(X), problem.y, problem.qid)
    dense = np.array([np.ptp(X[a:b], axis=0) for a, b in pairwise(ptr)]).max(axis=0)
    assert (dense / 2 <= data.differences).all()
    assert (data.differences <= dense).all()


def test_scattered_queries_are_put_together_and_double_entries_added() -> None:
    rows, columns, values = [0, 2, 2, 1], [0, 0, 0, 0], [1.0, 2.0, 4.0, 3.0]
    X = scipy.sparse.coo_array((values, (rows, columns)), shape=(3, 1))
    data = group_sparse(X, [1, 2, 3], ["b", "a", "b"])
    assert data.X[:, 0].tolist() == [1.0, 6.0, 3.0]
    assert data.y.tolist() == [1, 3, 2]


def test_the_users_matrix_stays_as_it_was() -> None:
    X = scipy.sparse.csc_array(
        (np.array([1.0, 2.0, 5.0]), np.array([1, 0, 0]), np.array([0, 2, 3])),
        shape=(2, 2),
    )
    before = X.copy()
    data = group_sparse(X, [0, 1])
    assert data.squares.tolist() == [0.5, 12.5]
    assert (X.indices == before.indices).all()
    assert (X.data == before.data).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("X", "y", "qid", "message"),
    [
        (
            np.zeros((0, 2)),
            [],
            [],
            r"X: expected a matrix with rows and columns, got shape \(0, 2\)",
        ),
        (np.zeros(3), np.zeros(3), None, "X: expected a matrix"),
        (np.eye(2), [1.0], None, "y: expected one label per row of X"),
        (np.eye(2), [1.0, np.inf], None, "y: expected finite numbers, row 1"),
        (np.eye(2), [1.0, 2.0], [1], "qid: expected one query id per row"),
        (
            np.diag([1.0, np.inf]),
            [1.0, 2.0],
            None,
            "X: expected finite numbers, row 1 has NaN or infinity",
        ),
        (
            np.diag([1.0, np.nan]),
            [1.0, 2.0],
            None,
            "X: expected finite numbers, row 1 has NaN or infinity",
        ),
    ],
)
def test_data_that_do_not_fit_are_refused(
    X: np.ndarray, y: list[float], qid: list[int] | None, message: str, sparse: bool
) -> None:
    with pytest.raises(DatasetError, match=message):
        if sparse and X.ndim == 2:
            group_sparse(scipy.sparse.csr_array(X), y, qid)
        else:
            group(X, y, qid)


@dataclass
class Found:
    number: int = 0


def documents() -> QueryData:
    return QueryData(
        np.arange(24.0).reshape(6, 4) ** 2, np.arange(6.0), np.array([0, 2, 4, 6])
    )


def test_there_is_one_object_of_a_class_for_all_that_learn_from_the_documents() -> None:
    data = documents()
    data.shared.of(Found).number = 3
    assert training_data(data).shared.of(Found).number == 3
    one = TrainingData(data.X, data.y, data.ptr)
    assert one.shard(0).shared is one.shared


def test_copies_with_other_labels_share_nothing() -> None:
    data = documents()
    assert data.statistics.n_queries == 3
    data.shared.of(Found).number = 3
    other = replace(data, y=data.y[::-1])
    assert other.shared.of(Found).number == 0
    assert not other.has_statistics


def test_shards_keep_what_is_shared_of_each_between_works() -> None:
    data = documents()
    cut = TrainingData(data.X, data.y, data.ptr, documents=2)
    cut.shard(1).shared.of(Found).number = 3
    assert [cut.shard(index).shared.of(Found).number for index in range(3)] == [0, 3, 0]


def test_columns_of_columns_are_those_of_the_data_with_all_features() -> None:
    data = documents()
    _ = data.statistics
    narrow = data.narrowed([3, 1, 0]).narrowed([2, 1])
    assert narrow.shared.origin is data.shared
    assert narrow.shared.columns == (0, 1)
    np.testing.assert_allclose(
        narrow.statistics.total, data.statistics.total[np.ix_([0, 1, 4], [0, 1, 4])]
    )
    assert SharedResults(data.shared, (2,)).columns == (2,)


def test_what_is_found_once_is_not_looked_for_again() -> None:
    def work():  # type: ignore[no-untyped-def]
        yield "a sign of life"
        return 5

    found: dict[str, int] = {}
    assert list(once(found, "key", work())) == ["a sign of life"]
    assert list(once(found, "key", work())) == []
    assert found == {"key": 5}


ONE_QUERY = np.array([0, 2])


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([0.0, 2e30], "values from -1e+30 to 1e+30, found values from 0 to 2e+30"),
        (
            [-1.7e308, 1.7e308],
            "values from -1e+30 to 1e+30, found values from -1.7e+308 to 1.7e+308",
        ),
        (
            [0.0, 1e-31],
            "differences of at least 1e-30 inside some query, or none at all, found",
        ),
    ],
)
def test_the_first_feature_beyond_is_named_with_what_was_expected_and_found(
    column: list[float], expected: str
) -> None:
    X = np.column_stack(([0.0, 1.0], column, [0.0, 9e99]))
    with pytest.raises(DatasetError) as refusal:
        check_rows(X, ONE_QUERY, lambda j: f"feature {j + 1}")
    assert str(refusal.value).startswith(f"Values of feature 2: expected {expected}")
    assert str(refusal.value).endswith("Scale the feature.")


def test_what_counts_is_the_difference_inside_the_query_where_it_is_greatest() -> None:
    ptr = np.array([0, 2, 4])
    check_rows(np.array([[0.0], [1e-40], [0.0], [1.0]]), ptr)
    with pytest.raises(DatasetError, match="column 0"):
        check_rows(np.array([[0.0], [1e-40], [1.0], [1.0]]), ptr)


def test_small_steps_to_a_large_range_inside_a_query_pass() -> None:
    """The check looks at neighbors first, and they differ by less than the range."""
    climbing = np.linspace(0.0, 1.5 * LEAST_DIFFERENCE, 4)[:, None]
    check_rows(climbing, np.array([0, 4]))
    check_rows(climbing[[2, 0, 3, 1]], np.array([0, 4]))
    with pytest.raises(DatasetError, match="column 0"):
        check_rows(climbing[:2], ONE_QUERY)


def test_bounds_and_constant_features_pass() -> None:
    check_rows(
        np.array([[GREATEST, 1e-200, 0.0], [-GREATEST, 1e-200, LEAST_DIFFERENCE]]),
        ONE_QUERY,
    )


def test_rows_are_read_in_blocks_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy keeps the interpreter while it reduces groups of rows: of 300,000 documents for half a second."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 9, 60)
    X, ptr = rng.random((sizes.sum(), 3)), np.append(0, np.cumsum(sizes))
    told: list[tuple[np.ndarray, ...]] = []
    monkeypatch.setattr(
        magnitude, "check_magnitudes", lambda *given: told.append(given[:3])
    )
    check_rows(X, ptr)
    monkeypatch.setattr(blocks, "VALUES", 30)
    assert len(list(blocks.group_blocks(ptr, 3))) > 10
    check_rows(X, ptr)
    # less than a row, as of very many features
    monkeypatch.setattr(blocks, "VALUES", 1)
    check_rows(X, ptr)
    for whole, *cut in zip(*told, strict=True):
        for each in cut:
            np.testing.assert_array_equal(whole, each)
