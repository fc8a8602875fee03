"""Which search does the work of greedy RankRLS: all exact ones give one path, and the cheapest is taken."""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, whole_need
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.algorithm1_search import Algorithm1Search
from rankstudio.engine.methods.selection.greedy_rankrls.forward_selection import Search
from rankstudio.engine.querywise.pair_cost.pair_rows import PairRows
from rankstudio.engine.querywise.query_data import QueryData
from rankstudio.engine.querywise.sparse_query_data import SparseQueryData
from rankstudio.engine.support import memory
from rankstudio.engine.support.threads import pool, worthwhile

# In this module numba is imported where it is needed: reading the catalog must not wait for it.
if TYPE_CHECKING:
    from rankstudio.engine.methods.selection.greedy_rankrls.column_search import OnDemandSearch
    from rankstudio.engine.methods.selection.greedy_rankrls.gram_rows import GramRows
    from rankstudio.engine.methods.selection.greedy_rankrls.products import Products


_MOST_BYTES = 4e9  # of per-query statistics, before another search is taken instead
# Nanoseconds of a multiplication. Each step of a path gives its threads a call: with 471 queries, 46 features
# and k = 46 that lost 20 % of the time with two threads, with twice as many queries it gained 30 %.
_MULTIPLICATION = 0.13
# Nanoseconds for each number of the Gram matrices, written twice: where they are so many, each page of memory
# is the system's to find, and to fill with zeros first.
_MOST_RECYCLED, _RECYCLED, _FRESH = 3.5e7, 2.0, 25.0
_ROOM = 1e9  # bytes of rows of Gram matrices that are kept for other λ
_BLOCK = 32  # queries side by side in the searches' arrays, which are filled up to a multiple
_FEW = 4  # times the features: fewer candidates in a path than that are found faster each for itself


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
        "auto", "statistics", "rows", "algorithm1" or "columns".
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
        self._shape = Shape(data.X.shape[0], data.X.shape[1], data.ptr.size - 1, k)
        if isinstance(data, QueryData):
            self._shape = replace(self._shape, n_settings=data.n_settings)

    def forward(self, n_candidates: int | None = None) -> Search:
        """Return a search for a path whose steps compare so many candidates; all without the number."""
        data, shape, n, k = self._data, self._shape, self._shape.n, self._shape.k
        most = n if n_candidates is None else min(n_candidates, n)
        few = {} if most == n else shape.few_candidates(most)
        algorithm = self._affordable(shape.all_candidates() | few)
        if isinstance(data, SparseQueryData) or algorithm == "columns":
            return self._by_columns(most)
        if algorithm == "algorithm1":
            return Algorithm1Search(data, self._regularization)
        if algorithm == "statistics" and most < n and most * k < _FEW * n:
            return self._by_statistics(data, most)
        from rankstudio.engine.methods.selection.greedy_rankrls.statistics_search import LeaveQueryOutSearch  # noqa: PLC0415

        rows = self._gram_rows(data, whole=algorithm == "statistics")
        products = shape.m * n * k if algorithm == "rows" else 0
        executor, workers = self._threads(shape.Q * n * k * k + products)
        return LeaveQueryOutSearch(rows, self._regularization, k, executor, workers)

    def joint(self, groups: ColumnGroups) -> Search:
        """Return a search for a path whose steps compare groups, each with all of its features."""
        from rankstudio.engine.methods.selection.greedy_rankrls.group_search import GroupSearch  # noqa: PLC0415

        data, shape = self._data, self._shape
        n_pairs = sum(len(group) * (len(group) - 1) // 2 for group in groups.groups)
        algorithm = self._affordable(shape.few_candidates(shape.n))
        # Their pairs take no more memory than the rest of the statistics.
        if isinstance(data, SparseQueryData) or algorithm != "statistics" or n_pairs > shape.n * shape.k:
            return GroupSearch(self.floating(), groups)
        from rankstudio.engine.methods.selection.greedy_rankrls.statistics_search import (  # noqa: PLC0415
            JointStatisticsSearch,
            LeaveQueryOutSearch,
        )

        rows = self._gram_rows(data, whole=True)
        work = shape.Q * shape.n * shape.k**2
        executor, workers = self._threads(work)
        search = LeaveQueryOutSearch(rows, self._regularization, shape.k, executor, workers)
        return JointStatisticsSearch(search, rows, self._regularization, groups)

    def floating(self) -> OnDemandSearch:
        """Return a search that can also take features out again."""
        data, n = self._data, self._shape.n
        algorithm = self._affordable(self._shape.few_candidates(n))
        if isinstance(data, SparseQueryData) or algorithm != "statistics":
            return self._by_columns(n)
        return self._by_statistics(data, n)

    def back_fitting(self) -> OnDemandSearch:
        """Return a search that judges a candidate by its own weight, with all others as they are."""
        from rankstudio.engine.methods.selection.greedy_rankrls.back_fitting_search import BackFittingSearch  # noqa: PLC0415

        shape = self._shape
        executor, workers = self._threads(shape.m * shape.n * shape.k**2)
        return BackFittingSearch(self._sparse, self._regularization, executor, workers)

    def _affordable(self, costs: dict[str, float]) -> str:
        """Return the algorithm that the user asks for, or the one that costs least of those that fit.

        Raises
        ------
        OutOfMemoryError
            Where there is too little memory for it; the text tells which algorithm would fit.
        """
        data, needed = self._data, self._shape.memory()
        if isinstance(data, SparseQueryData):
            return "columns"
        if "statistics" in vars(data):
            needed["statistics"] = 0.0  # they are there, for another λ
        if "sparse columns" in data.remembered:
            needed["columns"] = 0.0
        if not needed.get(self._algorithm, 1.0):
            return self._algorithm  # without asking the system, which takes longer than a short path
        free = memory.available()
        chosen = self._shape.taken(self._algorithm, costs, needed, free)
        if needed[chosen] > free:
            raise OutOfMemoryError(self._shape.refusal(chosen, free))
        return chosen

    @property
    def _sparse(self) -> SparseQueryData:
        data = self._data
        if isinstance(data, SparseQueryData):
            return data
        if "sparse columns" not in data.remembered:
            # Columns are centred where they are used, which leaves mirrored rows as they are.
            dense = data.mirrored if isinstance(data, PairRows) else data
            data.remembered["sparse columns"] = SparseQueryData.of(dense)
        sparse: SparseQueryData = data.remembered["sparse columns"]
        return sparse

    def _gram_rows(self, data: QueryData, whole: bool) -> GramRows:
        """Return the rows of the Gram matrices, of whole ones or each where it is asked for."""
        from rankstudio.engine.methods.selection.greedy_rankrls.gram_rows import (  # noqa: PLC0415
            ComputedGramRows,
            WholeGramRows,
        )

        if whole:
            return WholeGramRows(data.statistics)
        if "gram rows" not in data.remembered:
            data.remembered["gram rows"] = ComputedGramRows(data, _ROOM)
        rows: ComputedGramRows = data.remembered["gram rows"]
        return rows

    def _by_columns(self, most: int) -> OnDemandSearch:
        from rankstudio.engine.methods.selection.greedy_rankrls.products import ColumnProducts  # noqa: PLC0415

        return self._on_demand(ColumnProducts(self._sparse), most)

    def _by_statistics(self, data: QueryData, most: int) -> OnDemandSearch:
        from rankstudio.engine.methods.selection.greedy_rankrls.products import StatisticsProducts  # noqa: PLC0415

        return self._on_demand(StatisticsProducts(data.statistics), most)

    def _on_demand(self, products: Products, most: int) -> OnDemandSearch:
        """Return a search whose steps compare so many candidates at most."""
        from rankstudio.engine.methods.selection.greedy_rankrls.column_search import OnDemandSearch  # noqa: PLC0415

        shape = self._shape
        executor, workers = self._threads(most * shape.Q * shape.k**3 / 2)
        return OnDemandSearch(products, self._regularization, executor, workers)

    def _threads(self, multiplications: float) -> tuple[Executor | None, int]:
        """Return threads for a path of so many multiplications, and their number."""
        large = worthwhile(_MULTIPLICATION * multiplications, calls=self._shape.k)
        return self._stack.enter_context(pool(large))


@dataclass(frozen=True)
class Shape:
    """The shape of a problem, from which follows what each algorithm costs.

    Attributes
    ----------
    m, n, Q : int
        Documents, features and queries.
    k : int
        Features to select at most.
    n_settings : int
        How many values of λ share what is computed once.

    Notes
    -----
    Times are nanoseconds of one thread as measured, with m from 1,000 to 1,000,000, n from 46 to 3,000 and
    k from 1 to 136. `benchmarks/greedy.py` shows how far they hold. They are those of memory traffic:
    Algorithm 1 passes again and again over matrices of shape (m, n) for each feature, and per-query
    statistics are twice Q n² numbers to be written once, whatever λ and k are. What that takes depends on
    how the system finds fresh memory, and varies tenfold. Rows are one pass over X^ and Q n numbers for each
    feature that some λ selects: less, unless those are a good part of the n.
    """

    m: int
    n: int
    Q: int
    k: int
    n_settings: int = 1

    def all_candidates(self) -> dict[str, float]:
        """Return what the algorithms cost for each λ where every step compares all features."""
        m, n, Q, k = self.m, self.n, self.Q, self.k
        costs = {
            "statistics": self._statistics() + 1.05 * self._path(),  # read in scattered places
            "rows": self._rows() + self._path(),
            "algorithm1": 38.0 * m * n * k,
            "columns": self._columns() + m * n * (5.5 * k + 0.45 * k**2) + 0.2 * Q * n * k**3,
        }
        return self._without_large(costs)

    def few_candidates(self, most: int) -> dict[str, float]:
        """Return what they cost where a step compares so many at most; a selected one counts as five."""
        m, Q, k = self.m, self.Q, self.k
        costs = {
            "statistics": self._statistics() + min(self._path(), 0.25 * most * Q * k**3),
            "columns": self._columns() + (most + 5) * m * k**2 + 0.25 * most * Q * k**3,
        }
        return self._without_large(costs)

    def memory(self) -> dict[str, float]:
        """Return how many bytes the algorithms take besides X and the centred X."""
        m, n, Q, k = self.m, self.n, self.Q, self.k
        return {
            "statistics": 8.0 * Q * (2 * (n + 1) ** 2 + 2 * n * k),
            "rows": 8.0 * self._filled_up * n * (2 * k + 7) + min(_ROOM, 8.0 * Q * n * self._different),
            "algorithm1": 8.0 * 5 * m * n,
            "columns": 36.0 * m * n + 8 * m * k + 8 * Q * (2 * n + 6 * k**2),
        }

    def need(self, algorithm: str, data: DataShape, few: int | None = None) -> MemoryNeed:
        """Return what is needed for an algorithm, or for the one that "auto" takes.

        Parameters
        ----------
        algorithm : str
        data : DataShape
        few : int, optional
            How many candidates a step compares at most; all without it.
        """
        whole = whole_need(data)
        needed = self.memory()
        costs = self.all_candidates() if few is None else self.few_candidates(min(few, self.n))
        free = data.free - whole.least
        taken = self.taken(algorithm, costs, needed, free)
        least = min((needed[name] for name in costs), default=0.0) if algorithm == "auto" else needed[taken]
        fitting = [name for name, size in needed.items() if size <= free]
        fits = f"algorithm={fitting[0]}" if fitting and needed[taken] > free else ""
        least += whole.least
        return replace(whole, least=least, usual=whole.least + needed[taken], algorithm=taken, fits=fits)

    @staticmethod
    def taken(algorithm: str, costs: dict[str, float], needed: dict[str, float], free: float) -> str:
        """Return the algorithm that is asked for; for "auto" the one that costs least of those that fit."""
        if algorithm != "auto":
            return algorithm
        return min(costs, key=lambda name: (needed[name] > free, costs[name]))

    def refusal(self, algorithm: str, available: float) -> str:
        """Return the sentence that says why an algorithm cannot be taken, and which one could."""
        needed = self.memory()
        fits = [f"{name} ({memory.size(size)})" for name, size in needed.items() if size <= available]
        advice = f"by {' or '.join(fits)} it fits" if fits else "a part of the documents may fit"
        return (
            f"Greedy RankRLS by {algorithm}: {self.m:,} documents of {self.Q:,} queries with {self.n:,} "
            f"features need {memory.size(needed[algorithm])} of memory, and {memory.size(available)} are "
            f"free; {advice}."
        )

    def _statistics(self) -> float:
        """Return the share of one λ in computing the Gram matrices of the queries."""
        written = (self.Q + self._filled_up) / 2
        traffic = _FRESH if written * self.n**2 > _MOST_RECYCLED else _RECYCLED
        return (self.n**2 * (0.04 * self.m + traffic * written) + 10_000 * self.Q) / self.n_settings

    def _rows(self) -> float:
        """Return the share of one λ in computing the rows of the features that are selected."""
        times: float = self.k
        if 8 * self._filled_up * self.n * self._different <= _ROOM:
            times = self._different / self.n_settings
        return times * self.n * (0.3 * self.m + 3.5 * self._filled_up)

    def _path(self) -> float:
        """Return what a path takes where step t compares n - t features with t numbers in each query."""
        n, k = self.n, self.k
        return self._filled_up * (8 * n + 5 * k * (n - k / 2) + 0.6 * k**2 * (n - 2 * k / 3))

    @property
    def _different(self) -> int:
        """How many features all λ select together, about."""
        return min(self.n, self.k if self.n_settings == 1 else self.k + self.k // 2)

    @property
    def _filled_up(self) -> int:
        """How many queries the blocks hold."""
        return -(-self.Q // _BLOCK) * _BLOCK

    def _columns(self) -> float:
        """Return the share of one λ in putting the features in columns."""
        return 10.0 * self.m * self.n / self.n_settings

    def _without_large(self, costs: dict[str, float]) -> dict[str, float]:
        """Leave out whose arrays are too large, whatever the memory that is free."""
        path = 2 * self.n * self.k
        numbers = {"statistics": (self.n + 1) ** 2 + path, "rows": path}
        large = {name for name, number in numbers.items() if 8 * self.Q * number > _MOST_BYTES}
        return {name: cost for name, cost in costs.items() if name not in large}
