"""Which search does the work of greedy RankRLS: all exact ones give one path, the shape chooses one."""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, whole_need
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.algorithm1_search import Algorithm1Search
from rankstudio.engine.methods.selection.greedy_rankrls.forward_selection import Search
from rankstudio.engine.support import memory
from rankstudio.engine.support.threads import pool, worthwhile

# In this module numba is imported where it is needed: reading the catalog must not wait for it.
if TYPE_CHECKING:
    from rankstudio.engine.methods.selection.greedy_rankrls.column_search import OnDemandSearch
    from rankstudio.engine.methods.selection.greedy_rankrls.gram_rows import ComputedGramRows, GramRows
    from rankstudio.engine.methods.selection.greedy_rankrls.products import Products


_MOST_BYTES = 4e9  # of what is kept of selected features in each query, before Algorithm 1 is taken instead
# Bytes that are taken without asking the system what is free, which takes longer than a short path.
_LARGE = 1e8
# Nanoseconds of a multiplication. Each step of a path gives its threads a call: with 471 queries, 46 features
# and k = 46 that lost 20 % of the time with two threads, with twice as many queries it gained 30 %.
_MULTIPLICATION = 0.13
_ROOM = 1e9  # bytes of rows of Gram matrices that are kept for other λ
_BLOCK = 32  # queries side by side in the searches' arrays, which are filled up to a multiple
_FEW = 4  # times the features: fewer candidates in a path than that are found faster each for itself
# Times the documents' numbers that Gram matrices may take, and times k the features there may be: with more,
# the rows of k features, which later λ share, are computed sooner than whole matrices.
_MOST_STATISTICS, _MOST_FEATURES = 4, 3


@dataclass
class KeptForSearches:
    """What searches for other λ need of the same data.

    Attributes
    ----------
    columns : SparseQueryData or None
        The features in columns.
    rows : ComputedGramRows or None
    """

    columns: SparseQueryData | None = None
    rows: ComputedGramRows | None = None


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

    def forward(self, n_candidates: int | None = None) -> Search:
        """Return a search for a path whose steps compare so many candidates; all without the number."""
        data, shape, n, k = self._data, self._shape, self._shape.n, self._shape.k
        most = n if n_candidates is None else min(n_candidates, n)
        few = shape.few_candidates(most)
        algorithm = self._affordable(few)
        if isinstance(data, SparseQueryData) or algorithm == "columns":
            return self._by_columns(most)
        if algorithm == "algorithm1":
            return Algorithm1Search(data, self._regularization)
        if algorithm == "statistics" and few:
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
        algorithm = self._affordable(few=True)
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
        algorithm = self._affordable(few=True)
        if isinstance(data, SparseQueryData) or algorithm != "statistics":
            return self._by_columns(n)
        return self._by_statistics(data, n)

    def back_fitting(self) -> OnDemandSearch:
        """Return a search that judges a candidate by its own weight, with all others as they are."""
        from rankstudio.engine.methods.selection.greedy_rankrls.back_fitting_search import BackFittingSearch  # noqa: PLC0415

        shape = self._shape
        executor, workers = self._threads(shape.m * shape.n * shape.k**2)
        return BackFittingSearch(self._sparse, self._regularization, executor, workers)

    def _affordable(self, few: bool) -> str:
        """Return the algorithm that the user asks for, or that of the shape; see :meth:`Shape.choice`.

        Raises
        ------
        OutOfMemoryError
            Where there is too little memory for it; the text tells which algorithm would fit.
        """
        data = self._data
        if isinstance(data, SparseQueryData):
            return "columns"
        chosen = self._shape.choice(self._algorithm, few)
        there = {"statistics": data.has_statistics, "columns": data.shared.of(KeptForSearches).columns}
        needed = 0.0 if there.get(chosen) else self._shape.memory()[chosen]  # they are of another λ
        if needed > _LARGE and needed > (free := memory.available()):
            raise OutOfMemoryError(self._shape.refusal(chosen, free))
        return chosen

    @property
    def _sparse(self) -> SparseQueryData:
        data = self._data
        if isinstance(data, SparseQueryData):
            return data
        kept = data.shared.of(KeptForSearches)
        if kept.columns is None:
            # Columns are centred where they are used, which leaves mirrored rows as they are.
            dense = data.mirrored if isinstance(data, PairRows) else data
            kept.columns = SparseQueryData.of(dense)
        return kept.columns

    def _gram_rows(self, data: QueryData, whole: bool) -> GramRows:
        """Return the rows of the Gram matrices, of whole ones or each where it is asked for."""
        from rankstudio.engine.methods.selection.greedy_rankrls.gram_rows import (  # noqa: PLC0415
            ComputedGramRows,
            WholeGramRows,
        )

        if whole:
            return WholeGramRows(data.statistics)
        kept = data.shared.of(KeptForSearches)
        if kept.rows is None:
            kept.rows = ComputedGramRows(data, _ROOM)
        return kept.rows

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

    Notes
    -----
    The choice is by the shape alone, so that a path takes the same way wherever it is computed. Rows are one
    pass over X^ and Q n numbers for each feature that some λ selects, whole Gram matrices Q n² numbers and
    O(mn²) for all λ: less where much of the n are selected. Algorithm 1 passes over matrices of shape (m, n)
    again and again, 20 to 200 times slower; it is taken where queries are so many and so short that what
    is kept of selected features in each of them takes more memory. `benchmarks/greedy.py` shows how far the
    choice is from the best.
    """

    m: int
    n: int
    Q: int
    k: int

    def few_candidates(self, most: int) -> bool:
        """Tell whether a path whose steps compare so many at most is found faster candidate by candidate."""
        return most < self.n and most * self.k < _FEW * self.n

    def choice(self, algorithm: str, few: bool = False) -> str:
        """Return the algorithm that is asked for; for "auto" the one of this shape.

        Parameters
        ----------
        algorithm : str
        few : bool
            Whether steps compare few candidates, or others than single ones.
        """
        if algorithm != "auto":
            return algorithm
        small = self.Q * (self.n + 1) <= _MOST_STATISTICS * self.m
        if few:
            return "statistics" if small else "columns"
        if 16.0 * self.Q * self.n * self.k > _MOST_BYTES:
            return "algorithm1"
        return "statistics" if small and self.n <= _MOST_FEATURES * self.k else "rows"

    def memory(self) -> dict[str, float]:
        """Return how many bytes the algorithms take besides X and the centred X."""
        m, n, Q, k = self.m, self.n, self.Q, self.k
        return {
            "statistics": 8.0 * Q * (2 * (n + 1) ** 2 + 2 * n * k),
            "rows": 8.0 * self._filled_up * n * (2 * k + 7) + min(_ROOM, 8.0 * Q * n * min(n, 2 * k)),
            "algorithm1": 8.0 * 5 * m * n,
            "columns": 36.0 * m * n + 8 * m * k + 8 * Q * (2 * n + 6 * k**2),
        }

    def need(self, algorithm: str, data: DataShape, few: bool = False) -> MemoryNeed:
        """Return what is needed for an algorithm, or for the one that "auto" takes; see :meth:`choice`."""
        whole, needed = whole_need(data), self.memory()
        taken = self.choice(algorithm, few)
        fitting = [name for name, size in needed.items() if size <= data.free - whole.least]
        fits = f"algorithm={fitting[0]}" if fitting and taken not in fitting else ""
        return replace(whole, least=whole.least + needed[taken], algorithm=taken, fits=fits)

    def refusal(self, algorithm: str, available: float) -> str:
        """Return the sentence that says why an algorithm cannot be taken, and which one could."""
        needed = self.memory()
        fits = [f"{name} ({memory.size(size)})" for name, size in needed.items() if size <= available]
        advice = f"Use the algorithm {' or '.join(fits)}" if fits else "Use fewer documents"
        return (
            f"Greedy RankRLS (algorithm {algorithm}): {self.m:,} documents of {self.Q:,} queries with "
            f"{self.n:,} features need {memory.size(needed[algorithm])} of memory, "
            f"and {memory.size(available)} are free. {advice}."
        )

    @property
    def _filled_up(self) -> int:
        """How many queries the blocks hold."""
        return -(-self.Q // _BLOCK) * _BLOCK
