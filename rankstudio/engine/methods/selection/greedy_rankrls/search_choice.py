"""Which search does the work of greedy RankRLS: all exact ones give one path, and the cheapest is taken."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.selection.greedy_rankrls.algorithm1_search import Algorithm1Search
from rankstudio.engine.methods.selection.greedy_rankrls.forward_selection import Search
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.querywise.sparse_query_data import SparseQueryData
from rankstudio.engine.support.threads import pool

# In this module numba is imported where it is needed: reading the catalog must not wait for it.
if TYPE_CHECKING:
    from rankstudio.engine.methods.selection.greedy_rankrls.column_search import OnDemandSearch
    from rankstudio.engine.methods.selection.greedy_rankrls.products import Products


_MOST_BYTES = 4e9  # of per-query statistics, before Algorithm 1 is taken instead
# Multiplications in a path, below which handing each step to threads costs more than it gains: measured with
# 471 queries, 46 features, k = 46 (5e7, 20 % lost with two threads) and twice as many queries (30 % gained).
_WORTH_THREADS = 8e7
_FEW = 4  # times the features: fewer candidates in a path than that are found faster each for itself
_SHARE = 0.25  # of what is done once for every λ; halfway, in ratios, between a single λ and a grid of 16


class Searches:
    """The searches over some training data: m documents, n features, Q queries.

    Parameters
    ----------
    data : QueryData or SparseQueryData
        Training data.
    regularization : float
        λ > 0.
    k : int
        How many features will be selected at most.
    algorithm : str
        "auto", "statistics", "algorithm1" or "columns".
    stack : ExitStack
        Ends the threads of the searches.

    Raises
    ------
    ParameterError
        For an algorithm that is not for such data.
    """

    def __init__(
        self,
        data: QueryData | SparseQueryData,
        regularization: float,
        k: int,
        algorithm: str,
        stack: ExitStack,
    ) -> None:
        if isinstance(data, SparseQueryData) and algorithm not in ("auto", "columns"):
            raise ParameterError("algorithm", algorithm, "auto or columns where X is sparse")
        self._data = data
        self._regularization = regularization
        self._algorithm = algorithm
        self._stack = stack
        self._sizes = (*data.X.shape, data.ptr.size - 1, k)

    def forward(self, n_candidates: int | None = None) -> Search:
        """Return a search for a path whose steps compare so many candidates; all without the number."""
        data, algorithm, (m, n, Q, k) = self._data, self._algorithm, self._sizes
        most = n if n_candidates is None else min(n_candidates, n)
        if algorithm == "auto":
            algorithm = _cheapest(m, n, Q, k) if most == n else _cheapest_for_few(m, n, Q, k, most)
        if isinstance(data, SparseQueryData) or algorithm == "columns":
            return self._by_columns(most)
        if algorithm == "algorithm1":
            return Algorithm1Search(data, self._regularization)
        if most < n and most * k < _FEW * n:
            return self._by_statistics(data, most)
        from rankstudio.engine.methods.selection.greedy_rankrls.statistics_search import LeaveQueryOutSearch  # noqa: PLC0415

        executor, workers = self._stack.enter_context(pool(Q * n * k * k > _WORTH_THREADS))
        return LeaveQueryOutSearch(data.statistics, self._regularization, k, executor, workers)

    def floating(self) -> OnDemandSearch:
        """Return a search that can also take features out again."""
        data, n = self._data, self._sizes[1]
        algorithm = _cheapest(*self._sizes) if self._algorithm == "auto" else self._algorithm
        if isinstance(data, SparseQueryData) or algorithm != "statistics":
            return self._by_columns(n)
        return self._by_statistics(data, n)

    def back_fitting(self) -> OnDemandSearch:
        """Return a search that judges a candidate by its own weight, with all others as they are."""
        from rankstudio.engine.methods.selection.greedy_rankrls.back_fitting_search import BackFittingSearch  # noqa: PLC0415

        m, n, _, k = self._sizes
        executor, workers = self._stack.enter_context(pool(m * n * k * k > _WORTH_THREADS))
        return BackFittingSearch(self._sparse, self._regularization, executor, workers)

    @property
    def _sparse(self) -> SparseQueryData:
        data = self._data
        if isinstance(data, SparseQueryData):
            return data
        if "sparse columns" not in data.remembered:
            data.remembered["sparse columns"] = SparseQueryData.of(data)
        sparse: SparseQueryData = data.remembered["sparse columns"]
        return sparse

    def _by_columns(self, most: int) -> OnDemandSearch:
        from rankstudio.engine.methods.selection.greedy_rankrls.products import ColumnProducts  # noqa: PLC0415

        return self._on_demand(ColumnProducts(self._sparse), most)

    def _by_statistics(self, data: QueryData, most: int) -> OnDemandSearch:
        from rankstudio.engine.methods.selection.greedy_rankrls.products import StatisticsProducts  # noqa: PLC0415

        return self._on_demand(StatisticsProducts(data.statistics), most)

    def _on_demand(self, products: Products, most: int) -> OnDemandSearch:
        """Return a search whose steps compare so many candidates at most."""
        from rankstudio.engine.methods.selection.greedy_rankrls.column_search import OnDemandSearch  # noqa: PLC0415

        *_, Q, k = self._sizes
        executor, workers = self._stack.enter_context(pool(most * Q * k**3 / 2 > _WORTH_THREADS))
        return OnDemandSearch(products, self._regularization, executor, workers)


def _cheapest(m: int, n: int, Q: int, k: int) -> str:
    """Tell which algorithm multiplies less; per-query statistics also have to fit in memory."""
    if _too_large(n, Q, k) or m * n**2 + 2 * Q * n * k**2 > 12 * k * m * n:
        return "algorithm1"
    return "statistics"


def _cheapest_for_few(m: int, n: int, Q: int, k: int, most: int) -> str:
    """Tell which algorithm is quicker where a step compares few candidates, in nanoseconds as measured.

    On two cores, with m from 5,000 to 42,000, n from 46 to 1,500 and k from 20 to 46. A selected feature
    costs as much as five candidates.
    """
    statistics = _SHARE * n**2 * (0.3 * m + 8 * Q) + min(Q * n * k**2, 0.25 * most * Q * k**3)
    columns = _SHARE * 10 * m * n + (most + 5) * m * k**2 + 0.25 * most * Q * k**3
    return "columns" if _too_large(n, Q, k) or columns < statistics else "statistics"


def _too_large(n: int, Q: int, k: int) -> bool:
    """Tell whether the statistics of the queries, and what a path takes besides, are too large for memory."""
    return 8.0 * Q * ((n + 1) ** 2 + 2 * n * k) > _MOST_BYTES
