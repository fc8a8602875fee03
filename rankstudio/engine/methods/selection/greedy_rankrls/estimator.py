"""Greedy RankRLS: forward selection by exact leave-query-out error (Pahikkala et al. 2010)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import QueryData, several_queries
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.errors import DatasetError, ParameterError
from rankstudio.engine.methods.capabilities import (
    ExactExchange,
    LabelPaths,
    PathsFromSums,
    StepTest,
)
from rankstudio.engine.methods.catalog.selectors import GREEDY_RANKRLS
from rankstudio.engine.methods.left_out import LeftOutScorer
from rankstudio.engine.methods.memory_need import (
    NUMBER,
    DataShape,
    MemoryNeed,
    whole_need,
)
from rankstudio.engine.methods.pair_learners import (
    PairwiseLeastSquares,
    held_out_weighting,
    non_default_parameter,
    pair_rows,
    refuse_non_default_loss,
)
from rankstudio.engine.methods.permuted_labels import (
    LOSS,
    exchanged_rows,
    has_defaults_except,
)
from rankstudio.engine.methods.rankers.rankrls import RankRLS
from rankstudio.engine.methods.selection.base import GrowingSelector
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.one_ranking_search import (
    LeaveOneOutSearch,
    LeavePairOutSearch,
)
from rankstudio.engine.methods.selection.greedy_rankrls.search_choice import (
    Shape,
    on_demand_need,
    path_need,
    search_path,
    sums_fit,
    whole_path,
)
from rankstudio.engine.methods.shards.training_data import (
    GivenData,
    TrainingData,
    training_data,
)
from rankstudio.engine.steps import Step
from rankstudio.engine.support.work import Waiting, WorkProgress

# Bytes. A constant, not the free memory: another algorithm would change
# the last bits of the criteria.
_MOST_ROOM = 4e9

_RELABELLED = LOSS | {
    *("n_features_to_select", "regularization", "pinned", "banned", "algorithm"),
    *("n_candidates", "seed", "costs", "budget", "size_penalty"),
}
"""Parameters that paths of permuted labels support.

All others must have their defaults.
"""


@dataclass(eq=False, repr=False)
class GreedyRankRLS(GrowingSelector, PairwiseLeastSquares):
    """Greedy RankRLS selects features forward, one at a time, by the leave-query-out error of RankRLS.

    Each step adds the feature with which RankRLS, trained without each
    query in turn, predicts the left-out queries with the smallest
    squared error

        sum_q || y^_q - X^_q[:, S] w_q ||²     (Pahikkala et al. 2010, eq. (7)),

    where ^ is centring within each query and w_q are the weights
    trained on all other queries. The errors are exact, and no model is
    trained for them. Ties, up to the rounding of that sum, go to the
    first feature. Features that are constant within every query come
    last, which differs from Algorithm 1 if every other candidate raises
    the error.

    Documents of a single query are one global ranking, in which no
    query can be left out. Features are then selected by the
    leave-pair-out error: RankRLS, trained without two documents,
    predicts their difference, for all pairs. The leave-pair-out error
    takes O(knm²) time for k of n features and m documents, because no
    shorter way is known (section
    2), and needs dense X.

    X may be a SciPy sparse matrix. A sparse X is never converted to
    dense form, and gives the same path.

    Only "columns" and "algorithm1" need all documents at once, as do
    floating and swap search, groups and back-fitting if the Gram
    matrices of the queries are more than eight times as large as the
    documents. All others process shards, which may be larger than
    memory; of these, "best" search keeps Gram matrices of all queries
    in memory.

    Parameters
    ----------
    n_features_to_select : int, optional
        Maximum number of features, k; by default all that are not banned.
    regularization : float, default 1.0
        λ > 0, the weight of ||w||² relative to the sum over queries of
        the squared errors (eq. (3)).
    cost, ties, weighting
        Loss of a pair, as in
        :class:`rankstudio.engine.methods.rankers.rankrls.RankRLS`. The error is then
        the loss of the pairs of left-out queries, still exact. Values
        other than the defaults need dense X, and have nothing to do
        with ``costs`` of features.
    pinned : sequence of int, default ()
        0-based columns selected first, in this order, regardless of their error.
    banned : sequence of int, default ()
        0-based columns that are never selected.
    algorithm : {"auto", "statistics", "rows", "algorithm1", "columns"}, default "auto"
        All give the same path; "auto" chooses "statistics" or "rows" by
        the shape of the data, or "columns" if few candidates are
        compared. "statistics" uses one Gram matrix per query: O(mn²)
        once for all λ, then O(Qnk²) time and O(Qn(n + k)) memory for
        each λ. "rows" uses only the rows of those matrices that belong
        to selected features, O(mn) for each feature that some λ
        selects, and O(Qnk) memory: better unless k is a large part of
        n. "algorithm1" is the paper's, O(kmn) for each λ, and many
        times slower. "columns" stores nothing for unselected features:
        O(k² e + k³ Qn) for e nonzero entries of X, and O(e + k² Q + km)
        memory. Only "columns" supports sparse X.
    search : {"forward", "floating", "swap", "best"}, default "forward"
        "floating" also removes features that later ones have made
        redundant (Pudil et al. 1994), so that the sets of a path need
        not be nested. No step is worse than the step of "forward" with
        the same size. "floating" takes several times as long with few
        features, and a hundred times as long for a whole path of more
        than a hundred. Sets of more than k features are not considered.
        "swap" replaces features of each greedy set as long as the best
        swap reduces the error. "best" proves the set with the lowest
        error for each size by branch and bound, for k with at most 200
        million sets. The sets of "best" need not be nested, either. The
        error of "best" is at most that of "swap", which is at most that
        of "forward".
    fitting : {"pre", "back"}, default "pre"
        "pre": a candidate is evaluated with all weights retrained.
        "back": with the weights of the earlier features unchanged, O(k²
        e) for a path; after its selection, all weights are retrained.
        Proposed in section 5 of the paper for large sparse X.
    n_candidates : int, optional
        Number of candidates that each step compares, κ, drawn at random
        from the remaining features (section 5 of the paper); all by
        default. With "columns" and "back" a path then costs κ / n of
        that with all candidates.
    seed : int, default 0
        Seed of the candidates, 0 to 2^32 - 1. Equal seeds give equal paths.
    costs : array-like of shape (n,), optional
        Cost of each feature, greater than 0. Each step then adds the
        feature with the largest reduction of the error per cost; if no
        feature reduces it, the one with the smallest increase times
        cost.
    budget : float, optional
        Maximum total cost of the selected features, greater than 0. The
        path ends when no remaining feature fits into the budget.
    size_penalty : float, default 0.0
        μ from 0 up. With μ > 0 the objective is the error relative to
        that of the empty model, plus μ for each feature: the path ends
        when no candidate reduces it, or for other searches at the size
        of its minimum. Without costs it has no other effect, because
        the penalty of a step is the same for all candidates. The
        criterion of a step excludes the penalty: paths with different μ
        lie on one curve.
    groups : sequence of sequence of int, default ()
        0-based columns that are selected together. A step adds a whole
        group, by the error of all its columns together with the earlier
        ones; an ungrouped feature is a group by itself. k, κ and μ
        count groups, a group costs the sum of its features' costs, and
        pinning or banning one of its features applies to the whole
        group.
    pairs : {"query", "pointwise"}, default "query"
        "pointwise": greedy RLS (Pahikkala et al. 2010c), regression on
        the labels of documents with an unregularised bias, selected by
        the leave-one-out error; O(kmn), regardless of the queries.

    Attributes
    ----------
    coef_ : ndarray of shape (n,)
        Weights of the model with all selected features, 0 for the others.
    support_ : ndarray of shape (n,), bool
        Mask of the selected features.
    selection_order_ : ndarray of shape (k,)
        0-based columns in the order of selection.
    criterion_path_ : ndarray of shape (k,)
        Leave-query-out error after each step, summed over documents;
        for a single query the leave-pair-out error, and with
        ``pairs="pointwise"`` the leave-one-out error. If no feature is
        worth its penalty, the only step is the empty model.
    coef_path_ : ndarray of shape (k, n)
        Model after each step.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((60, 5)), np.repeat(np.arange(10), 6)
    >>> y = np.round(2 * X[:, 3] + 0.1 * rng.random(60))
    >>> GreedyRankRLS(n_features_to_select=1).fit(X, y, qid=qid).selection_order_
    array([3])
    """

    entry = GREEDY_RANKRLS

    accepts_sparse: ClassVar[bool] = True

    regularization: float = 1.0
    _: KW_ONLY
    pinned: Sequence[int] = ()
    banned: Sequence[int] = ()
    algorithm: Literal["auto", "statistics", "rows", "algorithm1", "columns"] = "auto"
    search: Literal["forward", "floating", "swap", "best"] = "forward"
    fitting: Literal["pre", "back"] = "pre"
    n_candidates: int | None = None
    seed: int = 0
    costs: ArrayLike | None = None
    budget: float | None = None
    size_penalty: float = 0.0
    groups: Sequence[Sequence[int]] = ()
    pairs: Literal["query", "pointwise"] = "query"

    def n_steps(self, n_features: int) -> int:
        """Return the greatest number of steps on data with ``n_features`` features: one per group to select.

        A feature outside of groups is a group by itself, and banned
        groups are never selected.
        """
        groups = ColumnGroups.of(n_features, self.groups)
        free = len(groups.groups) - len(groups.containing(self.banned))
        return (
            free
            if self.n_features_to_select is None
            else min(self.n_features_to_select, free)
        )

    def memory_need(self, shape: DataShape) -> MemoryNeed:
        """Return the memory that a path needs on data of a shape: m documents, n features and Q queries."""
        # One ranking needs three copies of all documents. To leave out
        # pairs, it also needs two matrices (m, m): the hat matrix H and
        # a copy.
        if self.pairs == "pointwise" or shape.Q == 1:
            matrices = 0.0 if self.pairs == "pointwise" else 2 * NUMBER * shape.m**2
            return whole_need(shape, 3.0).plus(matrices)
        # With several queries, the memory depends on the algorithm, and
        # on the number of features of the largest possible selection,
        # k.
        groups = ColumnGroups.of(shape.n, self.groups)
        k = groups.greatest(self.n_steps(shape.n))
        search_shape = Shape(shape.m, shape.n, shape.Q, k)
        way = self._algorithm_for(search_shape, groups, shape.sharded)
        if way == "forward":
            # Groups of several features, `joint`, need all Gram
            # matrices, "statistics".
            return path_need(shape, k, "statistics" if groups.joint else self.algorithm)
        best = self.search == "best"
        return (
            on_demand_need(shape, k, best)
            if way == "on demand"
            else search_shape.need(way, shape)
        )

    def check_sparse(self, *, one_ranking: bool, preferring: bool) -> None:
        """Raise a DatasetError or ParameterError for settings that do not support a sparse X.

        ``one_ranking`` is whether the data are one ranking, without
        queries, and ``preferring`` whether they have preferences
        between documents instead of labels.
        """
        if one_ranking or self.checked("pairs") == "pointwise":
            raise DatasetError(
                "Greedy RankRLS without queries: expected a dense X, got a sparse one."
            )
        if self.search == "best":
            raise ParameterError(
                "search", self.search, "forward, floating or swap where X is sparse"
            )
        if self.algorithm not in ("auto", "columns"):
            raise ParameterError(
                "algorithm", self.algorithm, "auto or columns where X is sparse"
            )
        # Called for its error only, if the loss of pairs is not the
        # default one. Preferences have losses of their own.
        if not preferring:
            refuse_non_default_loss(self.pair_cost())

    def work(self, data: GivenData) -> Iterator[Step | WorkProgress]:
        """Select features, and yield one step per feature, with every candidate's criterion.

        A forward search yields each step as soon as a feature is
        selected; by shards, after progress events. Other searches may
        still change earlier sets, so they yield progress events first,
        and all steps at the end. ``data`` are the training documents.
        The criterion is the leave-query-out error, or for one ranking
        the error of left-out documents or pairs. A shard is a part of
        the data with whole queries.
        """
        regularization = self.checked("regularization")
        groups = ColumnGroups.of(data.X.shape[1], self.groups)
        # Which groups may be selected, and which and how many have to be.
        rules = self.rules(groups)
        cost = self.pair_cost()  # the loss of pairs of documents
        data = training_data(data)
        if data.sparse:
            self.check_sparse(one_ranking=data.one_ranking, preferring=data.preferring)
        # One ranking has left-out documents or pairs in place of left-out queries.
        if self.checked("pairs") == "pointwise" or data.one_ranking:
            steps = self._one_ranking(data, regularization, groups, rules, cost)
        else:
            several_queries(data.ptr, type(self).__name__)  # called for its error only
            steps = self._path(data, regularization, groups, rules, cost)
        # The steps so far select groups; those of the method select features.
        yield from (
            groups.by_column(event) if isinstance(event, Step) else event
            for event in steps
        )

    def _path(
        self,
        data: TrainingData,
        regularization: float,
        groups: ColumnGroups,
        rules: Constraints,
        cost: PairCost,
    ) -> Iterator[Step | WorkProgress]:
        """Return an iterator over the steps of a path that selects groups, by their positions.

        An ungrouped feature is a group by itself. The algorithm depends
        on the search, and on the numbers of features and of shards.
        ``rules`` say which groups may or have to be selected. ``cost``
        is the loss of a pair of documents, and ``regularization`` is λ.
        ``data`` are the training documents. A shard is a part of the
        data with whole queries.
        """
        shape = Shape.of(data.X.shape, data.ptr, groups.greatest(rules.k))
        way = (
            "columns"
            if data.sparse
            else self._algorithm_for(shape, groups, data.several)
        )
        if way == "forward":
            from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (  # noqa: PLC0415 - numba
                forward_path,
            )

            return forward_path(
                data, regularization, groups, rules, cost, self.algorithm
            )
        if way == "on demand":
            from rankstudio.engine.methods.selection.greedy_rankrls.on_demand_path import (  # noqa: PLC0415
                on_demand_path,
            )

            return on_demand_path(
                data,
                regularization,
                groups,
                rules,
                cost,
                self.algorithm,
                self.search,
                self.fitting,
            )
        # The other algorithms need all documents in memory, as rows
        # whose squared errors are the loss.
        rows = pair_rows(data.whole("Greedy RankRLS"), cost)
        # In back-fitting, a candidate is compared with the weights of
        # all other features unchanged.
        back = self.fitting == "back"
        return whole_path(
            rows, regularization, groups, rules, self.algorithm, self.search, back
        )

    def _one_ranking(
        self,
        data: TrainingData,
        regularization: float,
        groups: ColumnGroups,
        rules: Constraints,
        cost: PairCost,
    ) -> Iterator[Step | WorkProgress]:
        """Return an iterator over the steps of a path by errors of left-out documents, or pairs of them.

        The data are one ranking, or documents without pairs. Steps
        select groups, by their positions. All documents are in memory.
        ``rules`` say which groups may or have to be selected. ``cost``
        is the loss of a pair of documents, and ``regularization`` is λ.
        """
        pointwise = self.pairs == "pointwise"
        self._check_one_ranking(data, cost)
        rows = data.whole("Greedy RankRLS")  # raises an error if they do not fit
        search = (LeaveOneOutSearch if pointwise else LeavePairOutSearch)(
            rows, regularization
        )
        return search_path(search, groups, rules, self.search)

    def _check_one_ranking(self, data: TrainingData, cost: PairCost) -> None:
        """Raise a ParameterError for settings for which documents or pairs cannot be left out exactly.

        ``cost`` is the loss of a pair. ``data`` are the training documents.
        """
        # "pointwise" is a loss of documents, not of pairs, so that
        # costs of pairs do not apply.
        pointwise = self.pairs == "pointwise"
        if data.preferring:
            raise ParameterError(
                "pairs", self.pairs, "query with preferences, which are pairs"
            )
        if pointwise and not cost.default:
            name = non_default_parameter(cost)
            raise ParameterError(name, getattr(cost, name), "the default without pairs")
        # The search only computes the error of left-out pairs for the
        # default weighting, "size".
        if not pointwise and held_out_weighting(cost) != "size":
            raise ParameterError("weighting", cost.weighting, "size for one ranking")
        # How sets are searched and models fitted.
        condition = "without pairs" if pointwise else "for one ranking"
        for name, choices in (
            ("fitting", ("pre",)),
            ("search", ("forward", "floating", "swap")),
        ):
            if getattr(self, name) not in choices:
                raise ParameterError(
                    name, getattr(self, name), f"{' or '.join(choices)} {condition}"
                )
        if self.algorithm != "auto":
            raise ParameterError("algorithm", self.algorithm, f"auto {condition}")

    def _algorithm_for(
        self, shape: Shape, groups: ColumnGroups, several_shards: bool
    ) -> str:
        """Return the algorithm for a path on dense data.

        "forward" stores numbers for each candidate and query, and
        updates them at each step. "on demand" computes each comparison
        from Gram matrices of the queries. "columns" and "algorithm1"
        need all documents in memory. "columns" is fastest if few
        candidates are compared, or if they are compared by
        back-fitting. With ``several_shards``, the parts of large data,
        an algorithm is preferred that does not need all documents in
        memory. ``shape`` has the numbers of documents, features and
        queries, and k. ``groups`` are features that are selected
        together.
        """
        # Algorithms that are chosen by name.
        if self.algorithm in ("columns", "algorithm1"):
            return self.algorithm
        # Otherwise the way depends on whether Gram matrices are small
        # enough for this shape.
        gram_matrices = shape.by_gram_matrices(self.algorithm)
        if self.fitting == "back":
            return "on demand" if several_shards and gram_matrices else "columns"
        if self.search == "best":
            return "on demand"
        # Trivial groups have one feature each.
        if self.search != "forward" or not groups.trivial:
            if not gram_matrices:
                return "columns"
            return "forward" if self.search == "forward" else "on demand"
        # From here on: forward search without groups.
        n_compared = (
            shape.n if self.n_candidates is None else min(self.n_candidates, shape.n)
        )
        # "rows" is a form of forward search, which computes the rows of
        # Gram matrices that it needs.
        if self.algorithm == "rows" or not shape.few_candidates(n_compared):
            return "forward"
        if gram_matrices:
            return "on demand"
        return "forward" if several_shards else "columns"

    def left_out(self, data: GivenData, columns: Sequence[int]) -> Floats:  # noqa: D102 - inherited
        return self._ranker.left_out(data, columns)

    def pair_area(  # noqa: D102 - inherited
        self, data: QueryData, columns: Sequence[int], kinds: Floats
    ) -> Waiting[float]:
        return self._ranker.pair_area(data, columns, kinds)

    def left_out_need(self, shape: DataShape) -> MemoryNeed:  # noqa: D102 - inherited
        return self._ranker.left_out_need(shape)

    def left_out_scorer(  # noqa: D102 - inherited
        self, data: TrainingData, columns: Sequence[int]
    ) -> Waiting[LeftOutScorer | None]:
        return self._ranker.left_out_scorer(data, columns)

    def paths_from_sums(self, data: TrainingData) -> Callable[[], PathsFromSums] | None:
        """Return a function that prepares paths on any subset of the queries, or None if they are not available.

        Such paths follow from the products of features and labels in
        each query, which the function computes. The result is None for
        settings that need more than these products. ``data`` are the
        training documents.
        """
        if not self._follows_from_sums(data):
            return None
        from rankstudio.engine.methods.selection.greedy_rankrls.summed_paths import (  # noqa: PLC0415 - numba
            SummedPaths,
        )

        def add_up() -> SummedPaths:
            """Compute the products of each query, and return the paths on any subset of the queries."""
            regularization = self.checked("regularization")
            # Paths from sums have no groups: each feature is one by itself.
            return SummedPaths(
                data,
                regularization,
                self.rules(ColumnGroups.of(data.X.shape[1], ())),
                self.pair_cost(),
            )

        return add_up

    def step_test(self, data: TrainingData) -> Callable[[], StepTest] | None:
        """Return a function that prepares a permutation test of the path's steps.

        The test compares how much each step reduces the error with the
        same for permuted residuals. None if paths do not follow from
        sums over queries, on which the test is based. ``data`` are the
        training documents.
        """
        add_up = self.paths_from_sums(data)
        if add_up is None:
            return None
        from rankstudio.engine.methods.selection.greedy_rankrls.step_test import (  # noqa: PLC0415 - numba
            ResidualTest,
        )

        return lambda: ResidualTest(add_up(), data, self.pair_cost())  # type: ignore[arg-type]

    def _follows_from_sums(self, data: TrainingData) -> bool:
        """Return whether paths follow from sums of per-query statistics that fit into memory."""
        # A subclass may select in another way. Preferences have other losses.
        if type(self) is not GreedyRankRLS or data.preferring:
            return False
        # Documents are left out, not queries; also if there is one query only.
        if self.pairs != "query" or data.ptr.size == 2:
            return False
        forward = (
            self.search == "forward" and self.fitting == "pre" and len(self.groups) == 0
        )
        return (
            forward
            and self.algorithm in ("auto", "statistics", "rows")
            and sums_fit(data)
        )

    def exact_exchange(self) -> ExactExchange | None:
        """Return λ, loss and rules of the exact left-out error, by which analyses exchange selected features.

        None if the method leaves out documents, not queries.
        """
        if self.pairs != "query":
            return None
        return ExactExchange(
            self.checked("regularization"),
            self.pair_cost(),
            is_criterion=True,  # the method selects by this error
            pinned=tuple(self.pinned),
            banned=tuple(self.banned),
            groups=tuple(tuple(group) for group in self.groups),
            costs=None
            if self.costs is None
            else tuple(np.asarray(self.costs, dtype=float).tolist()),
            budget=self.budget,
        )

    def paths_of_labels(self, data: QueryData) -> LabelPaths | None:
        """Return a function that computes the greedy path of each of several label vectors.

        The function gets label vectors, and returns the criteria of the
        paths' steps, for a permutation test. The paths share the
        queries' Gram matrices. None for settings or sizes for which
        these paths are not available. Also None for losses whose rows
        depend on the labels: rows are the vectors whose squared errors
        are the loss. ``data`` has the documents.
        """
        # A subclass may select in another way.
        if type(self) is not GreedyRankRLS:
            return None
        # Whether all parameters have values that these paths support.
        is_supported = has_defaults_except(self, _RELABELLED) and self.algorithm in (
            "auto",
            "statistics",
            "rows",
        )
        n = data.X.shape[1]
        n_queries = data.ptr.size - 1
        leaves_queries_out = n_queries > 1  # of a single query, documents are left out
        # Bytes for two Gram matrices of each query, and four rows of each step.
        needed = float(8 * n_queries * (n + 1) * (2 * (n + 1) + 4 * self.n_steps(n)))
        # If ties count, all pairs do. Otherwise the labels decide which pairs count.
        has_fixed_rows = self.pair_cost().ties
        if not (
            has_fixed_rows
            and is_supported
            and leaves_queries_out
            and needed <= _MOST_ROOM
        ):
            return None
        from rankstudio.engine.methods.selection.greedy_rankrls.label_paths import (  # noqa: PLC0415 - numba
            label_paths,
        )

        regularization = self.checked("regularization")
        rules = self.rules(ColumnGroups.of(n, ()))
        return label_paths(data, regularization, rules, self.pair_cost(), needed)

    def exchanged_preferences(self, data: QueryData) -> Callable[[Ints], QueryData]:
        """Return the function from an order (m,) to data whose documents take each other's preferences.

        In an order, each document has the position of the one whose
        preferences it takes. The data also have the rows whose squared
        errors are the loss, so that training need not compute them. A
        subclass may learn in another way, so its data are without them.
        """
        without_rows = super().exchanged_preferences(data)
        return (
            exchanged_rows(self.pair_cost(), data, without_rows)
            if type(self) is GreedyRankRLS
            else without_rows
        )

    @property
    def _ranker(self) -> RankRLS:
        """RankRLS with the same loss."""
        loss = {
            "cost": self.cost,
            "ties": self.ties,
            "weighting": self.weighting,
            "pairs": self.pairs,
        }
        return RankRLS(self.checked("regularization"), **loss)  # type: ignore[arg-type]

    def rules(self, groups: ColumnGroups) -> Constraints:
        """Validate the parameters and their combination, and return the constraints of a selection of groups.

        The constraints say which groups may be selected, and which and
        how many have to be. Raises a ParameterError for an invalid
        combination.
        """
        # Combinations of parameters that exclude each other are refused first.
        algorithm = self.checked("algorithm")
        if self.checked("fitting") == "back" and algorithm not in ("auto", "columns"):
            raise ParameterError(
                "algorithm", algorithm, "auto or columns with back-fitting"
            )
        if self.checked("search") != "forward":
            self._check_search()
        # Trivial groups have one feature each.
        if not groups.trivial:
            self._check_groups()
        return Constraints.of(
            groups=groups,
            n_features_to_select=self.n_features_to_select,
            pinned=self.pinned,
            banned=self.banned,
            n_candidates=self.checked("n_candidates"),
            seed=self.seed,
            costs=self.costs,
            budget=self.budget,
            size_penalty=self.checked("size_penalty"),
        )

    def _check_groups(self) -> None:
        """Raise a ParameterError for settings that cannot compare groups of several columns as a whole."""
        if self.fitting == "back":
            raise ParameterError("fitting", "back", "pre where features are grouped")
        if self.algorithm in ("algorithm1", "rows"):
            expected = "auto, statistics or columns where features are grouped"
            raise ParameterError("algorithm", self.algorithm, expected)

    def _check_search(self) -> None:
        """Raise a ParameterError for settings that only forward search supports."""
        search_text = f"{self.search} search"
        # Settings that need forward search: whether each is set, and why it needs it.
        reasons = (
            (
                self.n_candidates is not None,
                f"n_candidates is given: {search_text} compares all features",
            ),
            (
                self.costs is not None,
                f"features have costs: {search_text} compares sets of equal size",
            ),
            (
                self.fitting == "back",
                f"fitting is back: {search_text} compares exact criteria",
            ),
        )
        for is_set, reason in reasons:
            if is_set:
                raise ParameterError("search", self.search, f"forward where {reason}")
        # These algorithms cannot remove a feature from the model.
        if self.algorithm in ("algorithm1", "rows"):
            choices = (
                "auto or statistics"
                if self.search == "best"
                else "auto, statistics or columns"
            )
            expected = f"{choices} with {search_text} (only these can remove features)"
            raise ParameterError("algorithm", self.algorithm, expected)
        if self.search == "best" and self.algorithm == "columns":
            expected = f"auto or statistics with {search_text}, which needs Gram matrices of the queries"
            raise ParameterError("algorithm", self.algorithm, expected)
