"""Which search is taken for which data and parameters; that all of them agree is tested beside them."""

from contextlib import ExitStack

import numpy as np
import pytest
import scipy.sparse
from wording import naming

from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData, group_sparse
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.selection.greedy_rankrls.algorithm1_search import Algorithm1Search
from rankstudio.engine.methods.selection.greedy_rankrls.column_search import OnDemandSearch
from rankstudio.engine.methods.selection.greedy_rankrls.gram_rows import ComputedGramRows, WholeGramRows
from rankstudio.engine.methods.selection.greedy_rankrls.products import ColumnProducts, StatisticsProducts
from rankstudio.engine.methods.selection.greedy_rankrls.search_choice import Searches, Shape
from rankstudio.engine.methods.selection.greedy_rankrls.statistics_search import LeaveQueryOutSearch


def data(documents: int, features: int, queries: int) -> QueryData:
    rng = np.random.default_rng(0)
    qid = np.arange(documents) * queries // documents
    return group(rng.random((documents, features)), rng.random(documents), qid)


def chosen(
    given: QueryData | SparseQueryData, k: int, algorithm: str = "auto", n_candidates: int | None = None
) -> type:
    """Where the search has its products from; the kind of search where it computes them itself."""
    with ExitStack() as stack:
        search = Searches(given, 1.0, k, algorithm, stack).forward(n_candidates)
    if isinstance(search, OnDemandSearch):
        return type(search._products)
    return type(search._rows) if isinstance(search, LeaveQueryOutSearch) else type(search)


CHOICE = "rankstudio.engine.methods.selection.greedy_rankrls.search_choice"


def test_statistics_where_most_features_are_selected_and_their_rows_where_few_are() -> None:
    assert chosen(data(6000, 40, 60), 40) == WholeGramRows
    assert chosen(data(600, 40, 20), 3) == ComputedGramRows
    assert chosen(data(200, 300, 20), 3) == ComputedGramRows


@pytest.mark.parametrize(
    ("shape", "best"),
    [
        (Shape(9_630, 46, 471, 10), "rows"),
        (Shape(9_630, 46, 471, 46), "statistics"),
        (Shape(60_000, 136, 60, 136), "statistics"),
        (Shape(60_000, 136, 3_000, 10), "rows"),
        (Shape(40_000, 46, 1_000, 46), "statistics"),
        (Shape(2_000, 1_000, 100, 3), "rows"),
        (Shape(1_000, 3_000, 10, 10), "rows"),
        (Shape(1_000, 3_000, 10, 90), "rows"),
        (Shape(10_000, 400, 5_000, 300), "algorithm1"),
    ],
    ids=str,
)
def test_the_choice_is_what_was_measured_to_be_best(shape: Shape, best: str) -> None:
    assert shape.choice("auto") == best


def test_others_where_what_is_kept_of_selected_features_is_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{CHOICE}._MOST_BYTES", 1e5)
    assert chosen(data(200, 400, 10), 90) == Algorithm1Search
    assert chosen(data(600, 20, 60), 3) == ComputedGramRows
    assert chosen(data(600, 20, 60), 10) == Algorithm1Search


def test_the_choice_does_not_depend_on_the_memory_and_what_does_not_fit_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{CHOICE}._LARGE", 0.0)
    given = data(600, 100, 20)
    monkeypatch.setattr(f"{CHOICE}.memory.available", lambda: 2.6e6)
    assert chosen(given, 10) == ComputedGramRows
    with pytest.raises(OutOfMemoryError) as refused:
        chosen(given, 10, "statistics")
    sizes = "3.6 MB 2.6 MB rows 1.0 MB algorithm1 2.4 MB columns 2.3 MB"
    assert naming(f"statistics 600 20 100 {sizes}").search(str(refused.value))
    monkeypatch.setattr(f"{CHOICE}.memory.available", lambda: 1e3)
    with pytest.raises(OutOfMemoryError, match="fewer documents"):
        chosen(given, 10)


def test_statistics_that_are_there_need_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{CHOICE}._LARGE", 0.0)
    given = data(600, 10, 20)
    assert given.statistics.n_queries == 20
    monkeypatch.setattr(f"{CHOICE}.memory.available", lambda: 1e3)
    assert chosen(given, 10) == chosen(given, 3, "statistics") == WholeGramRows


def test_few_candidates_are_looked_up() -> None:
    shared = data(6000, 20, 20)
    assert chosen(shared, 20, n_candidates=2) == StatisticsProducts
    assert chosen(shared, 20, n_candidates=18) == WholeGramRows
    assert chosen(shared, 5, n_candidates=20) == chosen(shared, 5)
    assert chosen(data(400, 600, 40), 5, n_candidates=10) == ColumnProducts


def test_what_the_user_asks_for() -> None:
    small = data(60, 6, 6)
    assert chosen(small, 3, "statistics") == WholeGramRows
    assert chosen(small, 3, "algorithm1", n_candidates=2) == Algorithm1Search
    assert chosen(small, 3, "columns") == ColumnProducts


def test_sparse_features_are_looked_up_in_their_columns() -> None:
    sparse = group_sparse(scipy.sparse.random_array((60, 9), density=0.3, rng=0), np.arange(60.0))
    assert chosen(sparse, 3) == chosen(sparse, 3, "columns") == ColumnProducts


def test_floating_search_takes_statistics_unless_they_cost_too_much() -> None:
    with ExitStack() as stack:
        cheap, dear = (
            Searches(given, 1.0, 3, "auto", stack).floating()
            for given in (data(6000, 10, 20), data(40, 300, 20))
        )
    assert isinstance(cheap._products, StatisticsProducts)
    assert isinstance(dear._products, ColumnProducts)


def test_settings_of_lambda_share_the_columns_of_dense_data() -> None:
    given = data(60, 6, 6)
    with ExitStack() as stack:
        first, second = (Searches(given, value, 3, "columns", stack).floating() for value in (1.0, 2.0))
    assert first._products._data is second._products._data
