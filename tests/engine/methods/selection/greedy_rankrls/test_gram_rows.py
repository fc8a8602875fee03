"""Rows of the Gram matrices of queries: those of whole matrices, whether kept or not, by any threads."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from strategies import Problem, problems

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.methods.selection.greedy_rankrls import search_choice
from rankstudio.engine.methods.selection.greedy_rankrls._statistics_kernel import BLOCK
from rankstudio.engine.methods.selection.greedy_rankrls.gram_rows import (
    ComputedGramRows,
    Each,
    GramRow,
    WholeGramRows,
)
from rankstudio.engine.methods.selection.greedy_rankrls.statistics_search import LeaveQueryOutSearch
from rankstudio.engine.steps import Step


def in_one_go(blocks: int) -> Each:
    return lambda work: work(0, blocks)


def of_queries(row: GramRow, n: int) -> np.ndarray:
    return row.gram[:, row.place, :n]


def random_data() -> QueryData:
    """75 queries of 1 to 12 documents, which fill two blocks and a part of a third."""
    rng = np.random.default_rng(7)
    sizes = rng.integers(1, 13, 75)
    X = rng.random((sizes.sum(), 9))
    X[:, 4] = 1.0
    data = group(X, np.round(3 * X[:, 2] + rng.random(sizes.sum())), np.repeat(np.arange(75), sizes))
    return QueryData(data.X, data.y, data.ptr)


@given(problems())
def test_computed_rows_are_those_of_whole_matrices(problem: Problem) -> None:
    data = group(problem.X, problem.y, problem.qid)
    n = data.X.shape[1]
    whole, computed = WholeGramRows(data.statistics), ComputedGramRows(data, 1e6)
    within = {"rtol": 1e-12, "atol": 1e-13 * float(np.abs(data.statistics.gram).max())}
    for name in ("squares", "rights", "labels", "total"):
        np.testing.assert_allclose(getattr(computed, name), getattr(whole, name), **within)
    assert (computed.informative == whole.informative).all()
    each = in_one_go(computed.labels.shape[0])
    for feature in range(n):
        first, second = whole.row(feature, each), computed.row(feature, each)
        np.testing.assert_allclose(of_queries(second, n), of_queries(first, n), **within)
        np.testing.assert_allclose(second.total, first.total, **within)


def test_queries_that_fill_the_last_block_up_count_nothing() -> None:
    data = random_data()
    rows = ComputedGramRows(data, 0.0)
    empty = -(-75 // BLOCK) * BLOCK - 75
    assert empty > 0
    for array in (rows.squares, rows.rights, rows.labels, of_queries(rows.row(2, in_one_go(3)), 9)):
        assert (array[-1, ..., -empty:] == 0).all()


def paths(data: QueryData) -> Iterator[Step]:
    for regularization in (1.0, 64.0, 0.125, 1.0):
        method = GreedyRankRLS(n_features_to_select=5, regularization=regularization, algorithm="rows")
        yield from method.work(data)


@pytest.mark.parametrize("kept", [0, 2, 9])
def test_paths_have_the_same_bits_however_many_rows_are_kept(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    bytes_of_row = 8 * 3 * BLOCK * 9
    monkeypatch.setattr(search_choice, "_ROOM", kept * bytes_of_row + 1.0)
    data = random_data()
    for shared, (regularization, number) in zip(
        paths(data), ((value, step) for value in (1.0, 64.0, 0.125, 1.0) for step in range(5)), strict=True
    ):
        method = GreedyRankRLS(n_features_to_select=5, regularization=regularization, algorithm="rows")
        alone = list(method.work(random_data()))[number]
        assert shared.selected == alone.selected
        assert shared.criterion == alone.criterion
        assert (shared.coef == alone.coef).all()
        np.testing.assert_array_equal(shared.candidates, alone.candidates)
    computed = data.shared.of(search_choice.KeptForSearches).rows
    assert computed is not None
    rows = computed._kept
    assert len(rows) <= kept
    assert sum(row.gram.nbytes for row in rows.values()) <= kept * bytes_of_row


def test_a_row_is_computed_once_for_all_lambda() -> None:
    data, asked = random_data(), []
    rows = ComputedGramRows(data, 1e6)

    def each(work):  # type: ignore[no-untyped-def]
        asked.append(work)
        work(0, 3)

    for _ in range(3):
        for feature in (2, 5):
            rows.row(feature, each)
    assert len(asked) == 2


def test_rows_do_not_depend_on_threads() -> None:
    data = random_data()
    alone = LeaveQueryOutSearch(ComputedGramRows(data, 0.0), 0.5, 4)
    with ThreadPoolExecutor(3) as executor:
        together = LeaveQueryOutSearch(ComputedGramRows(data, 0.0), 0.5, 4, executor, 3)
        for feature in (2, 7, 0, 5):
            for search in (alone, together):
                search.select(feature)
            left = np.setdiff1d(np.arange(9), alone.selected)
            assert (alone.costs(left) == together.costs(left)).all()
            assert (alone.weights() == together.weights()).all()
