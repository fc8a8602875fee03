"""Which way is taken for which data and parameters; that all of them agree is tested beside them."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from wording import naming

from rankstudio.engine import GreedyRankRLS
from rankstudio.engine.arithmetic.query_data import QueryData, group
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData, group_sparse
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.memory_need import DataShape, Reading
from rankstudio.engine.methods.selection.greedy_rankrls import search_choice
from rankstudio.engine.methods.selection.greedy_rankrls.column_search import (
    ColumnProducts,
    GramProducts,
    OnDemandSearch,
)
from rankstudio.engine.methods.selection.greedy_rankrls.search_choice import (
    kept_statistics,
    whole_search,
)
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import on_demand_search


def data(documents: int, features: int, queries: int) -> QueryData:
    rng = np.random.default_rng(0)
    qid = np.arange(documents) * queries // documents
    return group(rng.random((documents, features)), rng.random(documents), qid)


@pytest.mark.parametrize(
    ("shape", "k", "best"),
    [
        ((9_630, 46, 471), 10, "rows"),
        ((9_630, 46, 471), 46, "statistics"),
        ((60_000, 136, 60), 136, "statistics"),
        ((60_000, 136, 3_000), 10, "rows"),
        ((40_000, 46, 1_000), 10, "statistics"),
        ((2_000, 1_000, 100), 3, "rows"),
        ((1_000, 3_000, 10), 90, "rows"),
    ],
    ids=str,
)
def test_the_choice_is_what_was_measured_to_be_best(
    shape: tuple[int, int, int], k: int, best: str
) -> None:
    assert kept_statistics("auto", shape, k) == best


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("parameters", "one", "more"),
    [
        ({}, "rows", "rows"),
        ({"algorithm": "statistics"}, "statistics", "statistics"),
        ({"algorithm": "algorithm1"}, "algorithm1", "algorithm1"),
        ({"algorithm": "columns"}, "columns", "columns"),
        ({"search": "floating"}, "statistics", "statistics"),
        ({"search": "swap"}, "statistics", "statistics"),
        ({"search": "best"}, "statistics", "statistics"),
        ({"groups": [(0, 1)]}, "statistics", "statistics"),
        ({"fitting": "back"}, "columns", "statistics"),
        ({"n_candidates": 3}, "statistics", "statistics"),
        ({"n_candidates": 3, "algorithm": "rows"}, "rows", "rows"),
    ],
    ids=str,
)
def test_ways_by_parameters(
    parameters: dict[str, Any], one: str, more: str, several: bool
) -> None:
    shape = DataShape(9_630, 46, 471, 3_000 if several else 9_630)
    need = GreedyRankRLS(10, **parameters).memory_need(shape)
    assert need.algorithm == (more if several else one)
    shards = several and need.algorithm not in ("algorithm1", "columns")
    assert need.reading is (Reading.SHARED if shards else Reading.WHOLE)


@pytest.mark.parametrize(
    "parameters",
    [{"search": "floating"}, {"search": "swap"}, {"n_candidates": 5}],
    ids=str,
)
def test_columns_where_gram_matrices_are_much_larger_than_the_documents(
    parameters: dict[str, Any],
) -> None:
    assert (
        GreedyRankRLS(5, **parameters).memory_need(DataShape(40, 300, 20, 40)).algorithm
        == "columns"
    )


def test_best_search_has_the_matrices_of_all_shards_in_memory() -> None:
    for documents, matrices in ((9_630, 0.0), (3_000, 8.0 * 471 * 47**2)):
        shape = DataShape(9_630, 46, 471, documents)
        swap, best = (
            GreedyRankRLS(7, search=search).memory_need(shape)
            for search in ("swap", "best")
        )
        assert best.least - swap.least == pytest.approx(matrices)


def test_what_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_choice, "_UNCHECKED_BYTES", 0.0)
    monkeypatch.setattr(search_choice.memory, "available", lambda: 1e6)
    with pytest.raises(OutOfMemoryError) as refused:
        list(GreedyRankRLS(10, algorithm="algorithm1").work(data(600, 100, 20)))
    assert naming("algorithm1 600 20 100 2.4 MB 1.0 MB auto").search(str(refused.value))
    with pytest.raises(OutOfMemoryError, match=r"columns.*fewer documents"):
        list(GreedyRankRLS(10, algorithm="columns").work(data(600, 100, 20)))


def products_of(search: object) -> GramProducts | ColumnProducts:
    assert isinstance(search, OnDemandSearch)
    products = search._products
    assert isinstance(products, GramProducts | ColumnProducts)
    return products


def test_sparse_features_are_looked_up_in_their_columns() -> None:
    sparse: SparseQueryData = group_sparse(
        scipy.sparse.random_array((60, 9), density=0.3, rng=0), np.arange(60.0)
    )
    assert isinstance(products_of(whole_search(sparse, 1.0, 3)), ColumnProducts)


def test_swaps_are_compared_by_statistics_unless_they_cost_too_much() -> None:
    cheap, dear = (
        on_demand_search(given, 1.0, 3)
        for given in (data(6000, 10, 20), data(40, 300, 20))
    )
    assert isinstance(products_of(cheap), GramProducts)
    assert isinstance(products_of(dear), ColumnProducts)


def test_settings_of_lambda_share_the_columns_of_dense_data() -> None:
    given = data(60, 6, 6)
    first, second = (products_of(whole_search(given, value, 3)) for value in (1.0, 2.0))
    assert isinstance(first, ColumnProducts)
    assert isinstance(second, ColumnProducts)
    assert first._data is second._data
