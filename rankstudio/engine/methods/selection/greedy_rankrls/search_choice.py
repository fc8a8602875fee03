"""Memory requirements of greedy paths, and the statistics that they keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arithmetic.sparse_query_data import SparseQueryData
from rankstudio.engine.arrays import Ints
from rankstudio.engine.errors import OutOfMemoryError, ParameterError
from rankstudio.engine.methods.memory_need import (
    NUMBER,
    DataShape,
    MemoryNeed,
    shard_need,
    whole_need,
)
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.algorithm1_search import (
    Algorithm1Search,
)
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import (
    FloatingSearch,
    GroupSearch,
    floating,
    forward,
    greedy_steps,
)
from rankstudio.engine.methods.selection.greedy_rankrls.swap_search import swap_path
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.steps import Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.work import WorkProgress

# Steps: with fewer, the matrices are written more often; with more,
# each step reads more.
_MAX_DELAY = 16
# Bytes of Gram matrices and a copy. A constant, not the free memory:
# algorithms differ in the last bits.
_MAX_COPIED_BYTES = 4e9
# The same for several shards, whose matrices are in a file if memory is too small.
_MAX_MAPPED_BYTES = 32e9
# Bytes of rows of Gram matrices that data of one shard keep for other λ.
KEPT_ROWS = 1e9
# Pairs (a, b): Gram matrices are used if they have at most a times as
# many numbers as the documents, and n is at most b k. Otherwise
# computing the rows of k features is faster, as measured with few and
# many documents.
_GRAM_CONDITIONS = (2, 16), (4, 3)


def kept_statistics(algorithm: str, shape: tuple[int, int, int], k: int) -> str:
    """Return which algorithm a forward path uses, "statistics" or "rows".

    The answer is the requested ``algorithm``, unless that is "auto".
    For "auto", the answer depends only on the ``shape`` of the data: m
    documents, n features and Q queries. "statistics" stores a Gram
    matrix for each query. "rows" only computes the matrices' rows of
    the k selected features.
    """
    m, n, Q = shape
    if algorithm != "auto":
        return algorithm
    # Whole matrices, if for one of the pairs (factor, features) they
    # have at most `factor` numbers per document, and n is at most
    # `features` times k.
    is_whole = any(
        Q * (n + 1) <= factor * m and n <= features * k
        for factor, features in _GRAM_CONDITIONS
    )
    return "statistics" if is_whole else "rows"


def delay(n: int, k: int, with_gram: bool) -> int:
    """Return after how many steps shards apply the steps' changes to their matrices; 0 for no matrices.

    With 0, the numbers of a candidate follow from linear systems. A
    path has k steps among n features. For each query, a path with
    systems reads k²n / 2 - k³ / 3 + 2k³ / 3 numbers in total. A path
    with delayed steps reads twice the first two terms, k²n - 2k³ / 3,
    which is less if k is at least n / 2, and even less with matrices.
    ``with_gram`` says whether each query has a Gram matrix. A shard is
    a part of the data with whole queries.
    """
    if 2 * k < n:
        return 0
    return min(_MAX_DELAY, k) if with_gram else k


def path_need(shape: DataShape, k: int, algorithm: str) -> MemoryNeed:
    """Return the memory requirements of a greedy path of k features, by an algorithm for any size of data.

    For each query, 2n + 1 numbers are stored for all λ, and (n + 1)²
    more with the algorithm "statistics". Each λ needs 4n + 1 numbers
    and the state of the selected features. ``shape`` has the numbers of
    documents, features and queries.
    """
    m = shape.m
    n = shape.n
    Q = shape.Q
    statistics_kind = kept_statistics(algorithm, (m, n, Q), k)
    is_whole = statistics_kind == "statistics"
    # Bytes of what all λ share, and of the state for one λ.
    lasting = NUMBER * Q * (2 * n + 1 + ((n + 1) ** 2 if is_whole else 0))
    states = NUMBER * Q * (4 * n + 1 + _n_kept_numbers(n, k, is_whole))
    # Bytes that are made once and shared by all λ: matrices, or the
    # rows of selected features, as far as they are cached; other λ may
    # select others.
    made_bytes = (
        NUMBER * Q * (n + 1) ** 2
        if is_whole
        else min(KEPT_ROWS, NUMBER * Q * n * min(n, 2 * k))
    )
    # The name of the algorithm is shown with its need.
    return replace(
        _memory_need(shape, states, lasting, made_bytes), algorithm=statistics_kind
    )


def _memory_need(
    shape: DataShape, states: float, lasting: float, result_bytes: float
) -> MemoryNeed:
    """Return the memory requirements of shards, or of one shard, which stays in memory.

    ``states`` and ``lasting`` are the bytes of the states for one λ,
    and of what all λ share. One shard keeps its centred documents and
    ``result_bytes`` bytes of results. ``shape`` has the numbers of
    documents, features and queries. A shard is a part of the data with
    whole queries.
    """
    if shape.sharded:
        return shard_need(shape, 0.5, states, lasting)
    return replace(whole_need(shape).plus(result_bytes), states=states, lasting=lasting)


def on_demand_need(shape: DataShape, k: int, best: bool = False) -> MemoryNeed:
    """Return the memory of a search that compares sets of up to k features by Gram matrices.

    For each query, (n + 1)² numbers are stored for all λ, and 2k² + 4k
    + 1 for one λ. Search for the ``best`` sets has the (n + 1)² numbers
    of all queries in memory, also those of other shards. ``shape`` has
    the numbers of documents, features and queries. A shard is a part of
    the data with whole queries.
    """
    lasting = NUMBER * shape.Q * (shape.n + 1) ** 2  # bytes
    states = NUMBER * shape.Q * (2 * k**2 + 4 * k + 1)
    need = replace(
        _memory_need(shape, states, lasting, lasting), algorithm="statistics"
    )
    return need.plus(lasting) if best and shape.sharded else need


def _n_kept_numbers(n: int, k: int, with_gram: bool) -> float:
    """Return how many numbers are stored in each query for the k selected of n features.

    ``with_gram`` says whether each query also has a Gram matrix, which
    is not counted.
    """
    steps = delay(n, k, with_gram)
    if steps == 0:
        return k * (k + 1) / 2 + k * n
    n_left = n - steps if k > steps else 0
    return 2 * n * steps + steps + n_left * (n_left - 1) + (0 if with_gram else n)


# Up to this size, memory is allocated without asking how much is free,
# which takes longer than a short path.
_UNCHECKED_BYTES = 1e8
# If a path compares fewer candidates in total than this multiple of the
# features, it is faster on demand.
_MIN_SEARCHES_PER_FEATURE = 4
# Gram matrices may have up to this multiple of the documents' numbers,
# on disk if necessary.
_MOST_STATISTICS = 8


@dataclass(frozen=True)
class Shape:
    """Shape of a problem, which determines the cost of each algorithm.

    Attributes
    ----------
    m, n, Q : int
        Number of documents, features and queries.
    k : int
        Maximum number of features to select.

    Notes
    -----
    The choice depends only on the shape, so that a path uses the same
    algorithm wherever it is computed.
    """

    m: int
    n: int
    Q: int
    k: int

    @classmethod
    def of(cls, shape: tuple[int, ...], ptr: Ints, k: int) -> Self:
        """Return the shape of a problem: documents ``shape`` (m, n), starts of queries, k features to select."""
        return cls(shape[0], shape[1], ptr.size - 1, k)

    def few_candidates(self, max_candidates: int) -> bool:
        """Return whether a path with at most ``max_candidates`` per step is faster by an on-demand search."""
        return (
            max_candidates < self.n
            and max_candidates * self.k < _MIN_SEARCHES_PER_FEATURE * self.n
        )

    def by_gram_matrices(self, algorithm: str) -> bool:
        """Return whether a search on demand uses Gram matrices: if requested, or if they are small enough."""
        are_small = self.Q * (self.n + 1) <= _MOST_STATISTICS * self.m
        return algorithm == "statistics" or (algorithm == "auto" and are_small)

    def memory(self) -> dict[str, float]:
        """Return the bytes of each algorithm that needs all documents, in addition to X and the centred X.

        The numbers of bytes depend on m documents, n features, Q
        queries and k selected features.
        """
        m = self.m
        n = self.n
        Q = self.Q
        k = self.k
        # Bytes: five matrices (m, n); or the sparse columns, the
        # columns of the selected features, and a state for each query.
        return {
            "algorithm1": 8.0 * 5 * m * n,
            "columns": 36.0 * m * n + 8 * m * k + 8 * Q * (2 * n + 6 * k**2),
        }

    def need(self, algorithm: str, data: DataShape) -> MemoryNeed:
        """Return the memory requirements of an algorithm that needs all documents: "algorithm1" or "columns".

        If the requirements exceed the free memory, or the data are in
        several shards, the attribute ``fits`` is the setting with which
        the method would fit, as text. A shard is a part of the data
        with whole queries.
        """
        base_need = whole_need(data)
        needed = self.memory()[algorithm]
        fits = (
            "algorithm=auto"
            if data.sharded or base_need.least + needed > data.free
            else ""
        )
        return replace(
            base_need, least=base_need.least + needed, algorithm=algorithm, fits=fits
        )

    def check(self, algorithm: str) -> None:
        """Raise an OutOfMemoryError if there is not enough memory for "algorithm1" or "columns"."""
        needed = self.memory()[algorithm]
        # A small need is not compared: to ask for the free memory takes time.
        if needed > _UNCHECKED_BYTES and needed > (free := memory.available()):
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
    """Search a path on all documents at once, and yield its steps and progress events.

    Steps select groups by their positions. An ungrouped feature is a group by itself.

    Parameters
    ----------
    data : QueryData or SparseQueryData
        Rows whose squared errors are the loss.
    regularization : float
        λ > 0.
    groups : ColumnGroups
        Groups of features; each step adds a group.
    rules : Constraints
        Pinned and allowed groups, their greatest number, costs and penalty.
    algorithm : str
        "algorithm1", for forward search without groups; any other one
        means the search on columns.
    search : {"forward", "floating", "swap"}
    back : bool
        Whether candidates are evaluated by back-fitting: the weights of
        all other features are unchanged.

    Raises
    ------
    ParameterError
        For an algorithm that does not support such data.
    OutOfMemoryError
        If there is not enough memory.
    """
    k = groups.greatest(rules.k)  # features of the largest possible selection
    if data.sparse:
        if algorithm not in ("auto", "columns"):
            raise ParameterError(
                "algorithm", algorithm, "auto or columns where X is sparse"
            )
    elif algorithm == "algorithm1":
        Shape.of(data.X.shape, data.ptr, k).check(algorithm)
        yield from forward(Algorithm1Search(data, regularization), rules)
        return
    yield from search_path(
        whole_search(data, regularization, k, back), groups, rules, search
    )


def search_path(
    feature_search: FloatingSearch,
    groups: ColumnGroups,
    rules: Constraints,
    search: str,
) -> Iterator[Step | WorkProgress]:
    """Search a path, and yield its steps and progress events.

    ``feature_search`` computes criteria of sets of features. Steps and
    ``rules`` refer to groups by their positions. ``search`` is
    "forward", "floating" or "swap"; the last two improve on the forward
    path. The criterion of a set is the error of left-out queries, or of
    left-out documents for one ranking.
    """
    # Trivial groups have one feature each.
    if not groups.trivial:
        feature_search = GroupSearch(feature_search, groups)
    if search == "forward":
        yield from forward(feature_search, rules)
        return
    # Without the penalty of the size, the path has a set of every size
    # to improve. The other searches apply the penalty at the end.
    greedy = yield from greedy_steps(
        forward(feature_search, replace(rules, size_penalty=0.0)), rules
    )
    yield from (floating if search == "floating" else swap_path)(
        greedy, feature_search, rules
    )


@dataclass
class KeptColumns:
    """Cache of dense features in column form, shared by the searches for all λ."""

    columns: SparseQueryData | None = None


def whole_search(
    data: QueryData | SparseQueryData, regularization: float, k: int, back: bool = False
) -> FloatingSearch:
    """Return a search on the columns of all documents at once, for at most k features.

    With ``back``, a candidate is evaluated by back-fitting: the weights
    of all other features are unchanged. Dense data are converted to
    sparse columns, which are cached. Raises an OutOfMemoryError if they
    do not fit. ``regularization`` is λ.
    """
    if not data.sparse:
        cache = data.shared.of(KeptColumns)
        if cache.columns is None:
            # Called for its error only: too little memory.
            Shape.of(data.X.shape, data.ptr, k).check("columns")
            # The search centres the columns of each query. Rows of
            # other losses are mirrored, that is, also there with the
            # opposite sign: their mean is 0, so centring does not
            # change them.
            cache.columns = SparseQueryData.of(
                data.mirrored if isinstance(data, PairRows) else data
            )
        data = cache.columns
    from rankstudio.engine.methods.selection.greedy_rankrls import column_search  # noqa: PLC0415 - numba

    if back:
        return column_search.BackFittingSearch(data, regularization)
    return column_search.OnDemandSearch(
        column_search.ColumnProducts(data), regularization
    )


def sums_fit(data: TrainingData) -> bool:
    """Return whether the Gram matrices of all queries, and a copy, are small enough for paths from sums."""
    return _gram_bytes(data) <= (
        _MAX_MAPPED_BYTES if data.several else _MAX_COPIED_BYTES
    )


def each_left_out(data: TrainingData) -> bool:
    """Return whether paths without each query, which copy all other queries' matrices, fit into memory."""
    return _gram_bytes(data) <= _MAX_COPIED_BYTES


def _gram_bytes(data: TrainingData) -> float:
    """Return the bytes of the Gram matrices of all queries, and of a copy."""
    return 16.0 * int(data.ptr.size - 1) * int(data.X.shape[1] + 1) ** 2
