"""On-demand search over shards: for searches other than forward, large groups and back-fitting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import QueryData, weights_with
from rankstudio.engine.arrays import Bools, Floats, Ints
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls._column_search_kernel import (
    BLOCK,
)
from rankstudio.engine.methods.selection.greedy_rankrls.column_search import (
    Comparison,
    GramProducts,
    OnDemandSearch,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.subset_problem import (
    SubsetProblem,
    check_room,
    check_sizes,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.subset_search import (
    best_path,
)
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (
    WHAT,
    Totals,
    forward_path,
    gram_statistics,
    statistics_of,
    totals,
)
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import (
    FloatingSearch,
    GroupSearch,
    floating,
    forward,
    greedy_steps,
)
from rankstudio.engine.methods.selection.greedy_rankrls.summed_rows import summing_rows
from rankstudio.engine.methods.selection.greedy_rankrls.swap_search import swap_path
from rankstudio.engine.methods.shards.scratch import Scratch
from rankstudio.engine.methods.shards.training_data import (
    ShardSession,
    Sums,
    TrainingData,
)
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Waiting, WorkProgress, finish


@dataclass(frozen=True, eq=False)
class Begin:
    """Message that starts a search without features, and requests the criterion of the empty model.

    ``total`` (n + 1, n + 1) are the products of features and labels,
    summed over all shards, labels last. The criterion is the
    leave-query-out error. A shard is a part of the data with whole
    queries.
    """

    total: Floats


@dataclass(frozen=True, eq=False)
class Compare:
    """Message that changes the selection of groups, and requests its criterion, also with each candidate.

    The criterion is the leave-query-out error.

    Attributes
    ----------
    selected : tuple of int
    candidates : ndarray of shape (c,)
        Candidate groups.
    removals : bool
        Whether the criterion without each selected group is also requested.
    """

    selected: tuple[int, ...]
    candidates: Ints
    removals: bool = False


Message = Totals | Begin | Compare


@dataclass(frozen=True)
class OnDemandWork:
    """Work of each shard for one λ.

    A shard is a part of the data with whole queries.

    Attributes
    ----------
    regularization : float
        λ > 0.
    groups : tuple of tuple of int
        Columns of each group.
    capacity : int
        Maximum number of selected columns.
    back : bool
        Whether candidates are evaluated by back-fitting.
    cost : PairCost
    by_blocks : bool
        Whether a few queries are centred at a time; a single shard
        caches its centred data.
    """

    replayed: ClassVar[bool] = True

    regularization: float
    groups: tuple[tuple[int, ...], ...]
    capacity: int
    back: bool
    cost: PairCost
    by_blocks: bool

    def begin(self, data: QueryData, scratch: Scratch) -> OnDemandState:  # noqa: D102 - of the protocol
        return OnDemandState(self, data, scratch)


class OnDemandState:
    """State of one shard in the path for one λ: an on-demand search among its queries."""

    def __init__(self, work: OnDemandWork, data: QueryData, scratch: Scratch) -> None:
        """Compute the Gram matrices of a shard's queries, or read them from the cache.

        ``work`` has the settings of the path, and ``scratch`` allocates
        arrays. ``data`` has the documents of the shard. A shard is a
        part of the data with whole queries.
        """
        self._work = work
        self._scratch = scratch
        self._statistics = statistics_of(
            data,
            work.cost,
            layout="blocks",
            by_blocks=work.by_blocks,
            scratch=scratch,
        )

    def step(self, data: QueryData, message: Message) -> tuple[Floats, ...]:
        """Return the answer to a message, as arrays to be summed over shards.

        ``Totals`` asks for the products of features and labels over the
        shard's queries. ``Begin`` starts a search without features, and
        ``Compare`` moves it to a selection: the answer is its
        criterion. ``Compare`` also asks for the criteria with each
        candidate added, and perhaps for those without each selected
        feature. ``data`` has the documents of the shard. The criterion
        is the leave-query-out error. A shard is a part of the data with
        whole queries.
        """
        match message:
            case Totals():
                return (self._statistics.total,)
            case Begin(total):
                self._search = self._group_search(
                    GramProducts(self._statistics.gram, total, data.ptr.size - 1)
                )
                return (np.array([self._search.criterion()]),)
            case Compare(selected, candidates, removals):
                search = self._search
                search.move_to(selected)
                costs = search.costs(candidates) if candidates.size else np.empty(0)
                without = search.removals() if removals else np.empty(0)
                return np.array([search.criterion()]), costs, without

    def _group_search(self, products: GramProducts) -> FloatingSearch:
        """Return a search among the groups of this path, with room for its largest selection.

        ``products`` are those of features and labels in each query of
        the shard. A shard is a part of the data with whole queries.
        """
        work = self._work
        search_class = _BackFitting if work.back else _OnScratch
        search = search_class(products, work.regularization)
        search.reserve(work.capacity, self._scratch)
        # Trivial groups have one feature each.
        groups = ColumnGroups.of(products.informative.size, work.groups)
        return search if groups.trivial else GroupSearch(search, groups)


class _OnScratch(OnDemandSearch):
    """On-demand search whose arrays are in scratch space, so that they need not fit into memory."""

    def reserve(self, capacity: int, scratch: Scratch) -> None:
        """Allocate the arrays for ``capacity`` selected features in ``scratch``, in memory or in a file.

        The new arrays replace the state of the search, which has no
        features yet, and the equations of the weights.
        """
        blocks = self._state[-1].shape[0]
        square = blocks * capacity * capacity * BLOCK
        flat = blocks * capacity * BLOCK
        # inverse, inner, along, label_products, residual_products and
        # error. The last one has an entry more, for the empty model.
        sizes = [square, square, flat, flat, flat, flat + blocks * BLOCK]
        parts = np.split(scratch.empty(sum(sizes)), np.cumsum(sizes)[:-1])
        inverse, inner = (
            part.reshape(blocks, capacity, capacity, BLOCK) for part in parts[:2]
        )
        along, label_products, residual_products, error = (
            part.reshape(blocks, -1, BLOCK) for part in parts[2:]
        )
        error[:, :1] = self._state[-1]  # that of the empty model
        self._state = inverse, inner, along, label_products, residual_products, error
        self._left_side = np.zeros((capacity, capacity))
        self._right_side = np.zeros(capacity)


class _BackFitting(_OnScratch):
    """On-demand search with back-fitting, by Gram matrices, with arrays in scratch space.

    See :class:`BackFittingSearch`.
    """

    def _comparison(self) -> Comparison:
        """Return the function from candidates (c,) to the change of the criterion by each, by back-fitting.

        The weights of the selected features stay as they are; only the
        candidate gets a weight. The criterion is the leave-query-out
        error.
        """
        products = self._products
        regularization = self._regularization
        assert isinstance(products, GramProducts)
        gram = products.gram
        total = products.total
        selected = list(self.selected)
        t = len(selected)
        labels = total.shape[0] - 1
        inverse = self._state[0]
        along = self._state[2]
        # The weights w_q, learned without each query q: w_q is the
        # transposed ``inverse`` of a triangular factor, times
        # ``along``.
        models = np.zeros((gram.shape[0], t, BLOCK))
        for c in range(t):
            models[:, : c + 1] += inverse[:, c, : c + 1] * along[:, c, None]

        def changes(candidates: Ints) -> Floats:
            """Return the change of the leave-query-out error by each candidate column, shape (c,).

            Uses the variables of the enclosing method: ``gram`` and
            ``total`` are the products of features and labels in each
            query and over all queries, ``labels`` is the labels' column
            in these, and ``models`` (blocks, t, BLOCK) has the weights
            w_q of the ``selected`` features without each query. Queries
            are in blocks of ``BLOCK``.
            """
            out = np.empty(candidates.size)
            for index, j in enumerate(candidates.tolist()):
                # Of each query: x_j'x_j, and x_j'r with the residuals r
                # of its model w_q.
                square = gram[:, j, j]
                product = gram[:, j, labels] - (gram[:, j, selected] * models).sum(
                    axis=1
                )
                # The weight is learned from all other queries, with the same residuals.
                all_products = total[j, labels] - (
                    total[j, selected][:, None] * models
                ).sum(axis=1)
                other_square = np.maximum(total[j, j] - square, 0.0)
                weight = (all_products - product) / (other_square + regularization)
                # |r - weight x_j|² - |r|², summed over the queries.
                out[index] = (weight * (weight * square - 2.0 * product)).sum()
            return out

        return changes


def on_demand_path(
    data: TrainingData,
    regularization: float,
    groups: ColumnGroups,
    rules: Constraints,
    cost: PairCost,
    algorithm: str,
    search: str,
    fitting: str,
) -> Iterator[Step | WorkProgress]:
    """Search a path by Gram matrices of the queries, and yield its steps and progress events.

    Steps select groups by their positions. An ungrouped feature is a
    group by itself. Criteria are computed by the workers of the shards,
    parts of the data, and added up here.

    Parameters
    ----------
    data : TrainingData
    regularization : float
        λ > 0.
    groups : ColumnGroups
        Groups of features.
    rules : Constraints
        Pinned and allowed groups, their greatest number, costs and penalty.
    cost : PairCost
        Loss of a pair of documents.
    algorithm : str
        Algorithm of the greedy path with which other searches start.
    search : {"forward", "floating", "swap", "best"}
    fitting : {"pre", "back"}
        Whether candidates are compared by models trained with them, or
        with the other weights unchanged.

    Raises
    ------
    ParameterError
        If there are too many sets to find the best ones.

    Notes
    -----
    With Q queries and n features, Gram matrices take O(mn²) once for
    all λ and O(Qn²) memory of the workers, or of their disks. A step
    with t features selected takes O(Qnt²), a floating one once or twice
    that for each set, and swaps t times that for each exchange. The
    best sets need Gram matrices of all queries in the memory of this
    process.
    """
    capacity = groups.greatest(rules.k)
    work = OnDemandWork(
        regularization=regularization,
        groups=groups.groups,
        capacity=capacity,
        back=fitting == "back",
        cost=cost,
        by_blocks=data.several,  # several shards are large data
    )
    # Too many sets for the best ones are refused first, before the
    # greedy path takes its time.
    if search == "best":
        with data.session(work) as session:
            total = yield from totals(session, data, with_gram=True, cost=cost)
        check_sizes(_varying_groups(groups, total), rules)
    # Other searches improve on the greedy path, which ignores the
    # penalty of the size while it grows.
    greedy: list[Step] = []
    if search != "forward":
        unpenalised_rules = replace(rules, size_penalty=0.0)
        path = forward_path(
            data, regularization, groups, unpenalised_rules, cost, algorithm
        )
        greedy = yield from greedy_steps(path, rules)
    # The shards begin a new search, without selected features.
    with data.session(work) as session:
        total = yield from totals(session, data, with_gram=True, cost=cost)
        (criterion,) = yield from session.sum(Begin(total), WHAT)
        of_groups = OnDemandGroups(
            session=session,
            total=total,
            criterion=float(criterion[0]),
            regularization=regularization,
            groups=groups,
        )
        match search:
            case "forward":
                yield from forward(of_groups, rules)
            case "floating":
                yield from floating(greedy, of_groups, rules)
            case "swap":
                yield from swap_path(greedy, of_groups, rules)
            case "best":
                grams = yield from _all_gram_matrices(data, cost)
                problem = SubsetProblem.of_matrices(
                    total=total,
                    grams=grams,
                    n_queries=data.ptr.size - 1,
                    regularization=regularization,
                    groups=groups,
                    rules=rules,
                )
                yield from best_path(greedy, of_groups, rules, problem)


def _varying_groups(groups: ColumnGroups, total: Floats) -> Bools:
    """Return for each group whether one of its features varies within some query, (g,).

    A group of ``groups`` are features that are selected together. ``total`` (n
    + 1, n + 1) are the products of the centred features and labels, labels
    last.
    """
    varying = groups.of_column[np.diagonal(total)[:-1] > 0]
    return np.isin(np.arange(len(groups.groups)), varying)


def _all_gram_matrices(data: TrainingData, cost: PairCost) -> Waiting[Floats]:
    """Return the Gram matrices of all queries, (blocks, n + 1, n + 1, BLOCK).

    The matrices belong to the rows whose squared errors are the loss with this
    ``cost`` of pairs. ``data`` are the training documents. The generator yields
    progress events, and then returns the result. Queries are in blocks of
    ``BLOCK``.
    """
    if not data.several:
        return gram_statistics(data.shard(0), cost).gram
    check_room(data.ptr.size - 1, data.X.shape[1])
    return gram_statistics((yield from summing_rows(data, cost))).gram


class OnDemandGroups:
    """Search among groups, as a :class:`FloatingSearch`, whose leave-query-out errors are sums over shards.

    A shard is a part of the data with whole queries.

    Parameters
    ----------
    session : ShardSession
        Session that has started, without selection.
    total : ndarray of shape (n + 1, n + 1)
        [X^ y^]'[X^ y^].
    criterion : float
        Criterion of the empty selection.
    regularization : float
        λ > 0.
    groups : ColumnGroups
    """

    def __init__(
        self,
        session: ShardSession,
        total: Floats,
        criterion: float,
        regularization: float,
        groups: ColumnGroups,
    ) -> None:
        """Start without groups: ``criterion`` is that of the model without features.

        ``session`` sends messages to all shards and adds up their
        answers. ``total`` (n + 1, n + 1) are the products of features
        and labels over all queries. ``regularization`` is λ. A shard is
        a part of the data with whole queries.
        """
        self._session = session
        self._total = total
        self._regularization = regularization
        self._groups = groups
        self.informative = _varying_groups(groups, total)
        self.selected: tuple[int, ...] = ()
        # The criterion of the selection; None while it is not computed yet.
        self._criterion: float | None = criterion

    def costs(self, candidates: Ints) -> Floats:
        """Return the criterion with each candidate added, shape (c,)."""
        _, costs, *_ = self._send(Compare(self.selected, candidates))
        return costs

    def removals(self) -> Floats:
        """Return the criterion without each of the selected groups, shape (t,)."""
        _, _, removal_costs = self._send(
            Compare(self.selected, _NO_COLUMNS, removals=True)
        )
        return removal_costs

    def criterion(self) -> float:
        """Return the criterion of the current selection."""
        if self._criterion is None:
            self._send(Compare(self.selected, _NO_COLUMNS))
        assert self._criterion is not None  # asked just now
        return self._criterion

    def select(self, feature: int) -> Iterator[WorkProgress]:
        """Add a group, by its position, to the selection, with a progress event per shard."""
        self.move_to((*self.selected, feature))
        sums = yield from self._session.sum(Compare(self.selected, _NO_COLUMNS), WHAT)
        self._criterion = float(sums[0][0])

    def move_to(self, selected: tuple[int, ...]) -> None:
        """Change to another selection."""
        if selected != self.selected:
            self.selected = selected
            self._criterion = None

    def weights(self) -> Floats:
        """Return the weights of the features, trained on all queries, shape (n,)."""
        return weights_with(
            self._total, self._groups.columns(self.selected), self._regularization
        )

    def _send(self, message: Compare) -> Sums:
        """Send a message to the shards, and return the sums of their answers; also store the criterion."""
        sums = finish(self._session.sum(message, WHAT))
        self._criterion = float(sums[0][0])
        return sums


_NO_COLUMNS = np.empty(0, dtype=np.int64)
