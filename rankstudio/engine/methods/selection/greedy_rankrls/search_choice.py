"""Which way greedy RankRLS takes: all exact ones give one path, the shape of the data chooses one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Ints
from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.methods.memory_need import DataShape, MemoryNeed, whole_need
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.algorithm1_search import Algorithm1Search
from rankstudio.engine.methods.selection.greedy_rankrls.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.floating_selection import (
    FloatingSearch,
    floating,
    greedy_steps,
)
from rankstudio.engine.methods.selection.greedy_rankrls.forward_selection import forward
from rankstudio.engine.methods.selection.greedy_rankrls.group_search import GroupSearch
from rankstudio.engine.steps import Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.work import WorkProgress

# Bytes that are taken without asking the system what is free, which takes longer than a short path.
_LARGE = 1e8
_FEW = 4  # times the features: fewer candidates in a path than that are found faster each for itself
_MOST_STATISTICS = 8  # times the documents' numbers: Gram matrices may take that much, of the disk if need be


@dataclass(frozen=True)
class Shape:
    """The shape of a problem, from which follows what each way costs.

    Attributes
    ----------
    m, n, Q : int
        Documents, features and queries.
    k : int
        Features to select at most.

    Notes
    -----
    The choice is by the shape alone, so that a path takes the same way wherever it is computed.
    """

    m: int
    n: int
    Q: int
    k: int

    @classmethod
    def of(cls, shape: tuple[int, ...], ptr: Ints, k: int) -> Self:
        """Return that of documents with their features, and where queries begin."""
        return cls(shape[0], shape[1], ptr.size - 1, k)

    def few_candidates(self, most: int) -> bool:
        """Tell whether a path whose steps compare so many at most is found faster candidate by candidate."""
        return most < self.n and most * self.k < _FEW * self.n

    def by_gram_matrices(self, algorithm: str) -> bool:
        """Tell whether a search on demand has Gram matrices: they are asked for, or not too large."""
        small = self.Q * (self.n + 1) <= _MOST_STATISTICS * self.m
        return algorithm == "statistics" or (algorithm == "auto" and small)

    def memory(self) -> dict[str, float]:
        """Return how many bytes what looks at all documents at once takes besides X and the centred X."""
        m, n, Q, k = self.m, self.n, self.Q, self.k
        return {
            "algorithm1": 8.0 * 5 * m * n,
            "columns": 36.0 * m * n + 8 * m * k + 8 * Q * (2 * n + 6 * k**2),
        }

    def need(self, algorithm: str, data: DataShape) -> MemoryNeed:
        """Return what is needed for one of those algorithms."""
        whole, needed = whole_need(data), self.memory()[algorithm]
        fits = "algorithm=auto" if data.sharded or whole.least + needed > data.free else ""
        return replace(whole, least=whole.least + needed, algorithm=algorithm, fits=fits)

    def check(self, algorithm: str) -> None:
        """Raise OutOfMemoryError where there is too little memory for one of those algorithms."""
        needed = self.memory()[algorithm]
        if needed > _LARGE and needed > (free := memory.available()):
            raise OutOfMemoryError(
                f"Greedy RankRLS (algorithm {algorithm}): {self.m:,} documents of {self.Q:,} queries with "
                f"{self.n:,} features need {memory.size(needed)} of memory, and {memory.size(free)} are "
                "free. Use the algorithm auto, or fewer documents."
            )


def whole_path(
    data: QueryData | SparseQueryData,
    regularization: float,
    groups: ColumnGroups,
    rules: Constraints,
    algorithm: str,
    search: str,
    back: bool,
) -> Iterator[Step | WorkProgress]:
    """Yield the steps of a path, in which groups stand for features, on all documents at once.

    Parameters
    ----------
    data : QueryData or SparseQueryData
        Rows whose squared errors are the loss.
    regularization : float
        λ > 0.
    groups : ColumnGroups
    rules : Constraints
        Of groups.
    algorithm : str
        "algorithm1" for forward search without groups, else anything.
    search : {"forward", "floating"}
    back : bool
        As of :func:`whole_search`.
    """
    found = whole_search(data, regularization, groups.greatest(rules.k), algorithm, back)
    if not isinstance(found, Algorithm1Search) and not groups.trivial:
        found = GroupSearch(found, groups)
    if search == "forward" or isinstance(found, Algorithm1Search):
        yield from forward(found, rules)
        return
    greedy = yield from greedy_steps(forward(found, replace(rules, size_penalty=0.0)), rules)
    yield from floating(greedy, found, rules)


@dataclass
class KeptColumns:
    """The features of some dense data in columns, which searches for other λ need, too."""

    columns: SparseQueryData | None = None


def whole_search(
    data: QueryData | SparseQueryData, regularization: float, k: int, algorithm: str, back: bool = False
) -> Algorithm1Search | FloatingSearch:
    """Return a search that looks at all documents at once: on columns, unless Algorithm 1 is asked for.

    Parameters
    ----------
    data : QueryData or SparseQueryData
        Training data.
    regularization : float
        λ > 0.
    k : int
        How many features will be selected at most.
    algorithm : str
    back : bool
        Whether a candidate is judged by its own weight, with all others as they are.

    Raises
    ------
    ParameterError
        For an algorithm that is not for such data.
    OutOfMemoryError
        Where there is too little memory for it.
    """
    if isinstance(data, SparseQueryData) and algorithm not in ("auto", "columns"):
        raise ParameterError("algorithm", algorithm, "auto or columns where X is sparse")
    shape = Shape.of(data.X.shape, data.ptr, k)
    if not isinstance(data, SparseQueryData):
        if algorithm == "algorithm1":
            shape.check(algorithm)
            return Algorithm1Search(data, regularization)
        kept = data.shared.of(KeptColumns)
        if kept.columns is None:
            shape.check("columns")
            # Columns are centred where they are used, which leaves mirrored rows as they are.
            kept.columns = SparseQueryData.of(data.mirrored if isinstance(data, PairRows) else data)
        data = kept.columns
    if back:
        from rankstudio.engine.methods.selection.greedy_rankrls.back_fitting_search import BackFittingSearch  # noqa: PLC0415

        return BackFittingSearch(data, regularization)
    from rankstudio.engine.methods.selection.greedy_rankrls.column_search import OnDemandSearch  # noqa: PLC0415
    from rankstudio.engine.methods.selection.greedy_rankrls.products import ColumnProducts  # noqa: PLC0415

    return OnDemandSearch(ColumnProducts(data), regularization)


def on_demand_search(data: QueryData, regularization: float, k: int) -> FloatingSearch:
    """Return a search among training data that are in memory, by Gram matrices unless these are large."""
    if not Shape.of(data.X.shape, data.ptr, k).by_gram_matrices("auto"):
        search = whole_search(data, regularization, k, "columns")
        assert not isinstance(search, Algorithm1Search)  # it was not asked for
        return search
    from rankstudio.engine.methods.selection.greedy_rankrls.column_search import OnDemandSearch  # noqa: PLC0415
    from rankstudio.engine.methods.selection.greedy_rankrls.forward_work import gram_statistics  # noqa: PLC0415
    from rankstudio.engine.methods.selection.greedy_rankrls.products import GramProducts  # noqa: PLC0415

    known = gram_statistics(data)
    return OnDemandSearch(GramProducts(known.gram, known.total, data.ptr.size - 1), regularization)
