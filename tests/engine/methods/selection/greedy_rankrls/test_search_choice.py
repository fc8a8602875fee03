"""Which search is taken for which data and parameters; that all of them agree is tested beside them."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.selection.greedy_rankrls.algorithm1_search import Algorithm1Search
from rankstudio.engine.methods.selection.greedy_rankrls.column_search import OnDemandSearch
from rankstudio.engine.methods.selection.greedy_rankrls.products import ColumnProducts, StatisticsProducts
from rankstudio.engine.methods.selection.greedy_rankrls.search_choice import Searches, Shape
from rankstudio.engine.methods.selection.greedy_rankrls.statistics_search import LeaveQueryOutSearch
from rankstudio.engine.querywise.query_data import QueryData, group
from rankstudio.engine.querywise.sparse_query_data import SparseQueryData, group_sparse


def data(documents: int, features: int, queries: int) -> QueryData:
    rng = np.random.default_rng(0)
    qid = np.arange(documents) * queries // documents
    return group(rng.random((documents, features)), rng.random(documents), qid)


def chosen(
    given: QueryData | SparseQueryData, k: int, algorithm: str = "auto", n_candidates: int | None = None
) -> tuple[type, type | None]:
    """The kind of search, and where its products come from if it looks them up."""
    with ExitStack() as stack:
        search = Searches(given, 1.0, k, algorithm, stack).forward(n_candidates)
    return type(search), type(search._products) if isinstance(search, OnDemandSearch) else None


CHOICE = "rankstudio.engine.methods.selection.greedy_rankrls.search_choice"


def test_statistics_where_queries_are_long_and_others_where_they_are_short() -> None:
    assert chosen(data(600, 10, 20), 10) == (LeaveQueryOutSearch, None)
    assert chosen(data(40, 300, 20), 3) == (OnDemandSearch, ColumnProducts)
    assert chosen(data(200, 400, 100), 90) == (Algorithm1Search, None)


@pytest.mark.parametrize(
    ("shape", "best"),
    [
        (Shape(100_000, 136, 5_000, 10, 8), ("statistics",)),
        (Shape(100_000, 136, 1_000, 3, 8), ("statistics",)),
        (Shape(300_000, 136, 2_500, 10), ("statistics",)),
        (Shape(300_000, 136, 15_000, 10), ("statistics", "columns")),
        (Shape(2_000, 1_000, 100, 3), ("columns",)),
        (Shape(2_000, 1_000, 100, 90, 8), ("statistics",)),
    ],
    ids=str,
)
def test_few_features_of_many_documents_are_not_left_to_algorithm_1(
    shape: Shape, best: tuple[str, ...]
) -> None:
    costs = shape.all_candidates()
    assert min(costs, key=costs.__getitem__) in best


def test_values_of_lambda_to_come_make_statistics_worth_while() -> None:
    given = data(4000, 400, 100)
    assert chosen(given, 3) == (OnDemandSearch, ColumnProducts)
    assert chosen(replace(given, n_settings=8), 3) == (LeaveQueryOutSearch, None)


def test_others_where_the_statistics_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{CHOICE}._MOST_BYTES", 1e5)
    assert chosen(data(200, 400, 10), 90) == (Algorithm1Search, None)
    assert chosen(data(600, 20, 60), 3) == (OnDemandSearch, ColumnProducts)
    assert chosen(data(600, 20, 60), 10, n_candidates=2) == (OnDemandSearch, ColumnProducts)


def test_what_fits_in_memory_is_taken_and_what_does_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    given = replace(data(600, 100, 20), n_settings=8)
    assert chosen(given, 10) == (LeaveQueryOutSearch, None)
    monkeypatch.setattr(f"{CHOICE}.memory.available", lambda: 3e6)
    assert chosen(replace(given), 10) == (OnDemandSearch, ColumnProducts)
    with pytest.raises(OutOfMemoryError) as refused:
        chosen(replace(given), 10, "statistics")
    assert str(refused.value) == (
        "Greedy RankRLS by statistics: 600 documents of 20 queries with 100 features need 3.6 MB of memory, "
        "and 3.0 MB are free; by algorithm1 (2.4 MB) or columns (2.3 MB) it fits."
    )
    monkeypatch.setattr(f"{CHOICE}.memory.available", lambda: 1e3)
    with pytest.raises(OutOfMemoryError, match="a part of the documents may fit"):
        chosen(replace(given), 10)


def test_statistics_that_are_there_need_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    given = data(600, 10, 20)
    assert given.statistics.n_queries == 20
    monkeypatch.setattr(f"{CHOICE}.memory.available", lambda: 1e3)
    assert chosen(given, 3) == chosen(given, 3, "statistics") == (LeaveQueryOutSearch, None)


def test_few_candidates_are_looked_up() -> None:
    shared = replace(data(600, 20, 20), n_settings=8)
    assert chosen(shared, 5, n_candidates=2) == (OnDemandSearch, StatisticsProducts)
    assert chosen(shared, 20, n_candidates=18) == (LeaveQueryOutSearch, None)
    assert chosen(shared, 5, n_candidates=20) == chosen(shared, 5)
    assert chosen(data(400, 600, 40), 5, n_candidates=10) == (OnDemandSearch, ColumnProducts)


def test_what_the_user_asks_for() -> None:
    small = data(60, 6, 6)
    assert chosen(small, 3, "statistics") == (LeaveQueryOutSearch, None)
    assert chosen(small, 3, "algorithm1", n_candidates=2) == (Algorithm1Search, None)
    assert chosen(small, 3, "columns") == (OnDemandSearch, ColumnProducts)


def test_sparse_features_are_looked_up_in_their_columns() -> None:
    sparse = group_sparse(scipy.sparse.random_array((60, 9), density=0.3, rng=0), np.arange(60.0))
    assert chosen(sparse, 3) == chosen(sparse, 3, "columns") == (OnDemandSearch, ColumnProducts)


def test_floating_search_takes_statistics_unless_they_cost_too_much() -> None:
    with ExitStack() as stack:
        cheap, dear = (
            Searches(given, 1.0, 3, "auto", stack).floating()
            for given in (data(600, 10, 20), data(40, 300, 20))
        )
    assert isinstance(cheap._products, StatisticsProducts)
    assert isinstance(dear._products, ColumnProducts)


def test_settings_of_lambda_share_the_columns_of_dense_data() -> None:
    given = data(60, 6, 6)
    with ExitStack() as stack:
        first, second = (Searches(given, value, 3, "columns", stack).floating() for value in (1.0, 2.0))
    assert first._products._data is second._products._data
