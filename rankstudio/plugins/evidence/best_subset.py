"""The proved best set of features of each size, by exact leave-query-out error."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from math import inf, nan
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.pair_cost.cost import (
    CostName,
    PairCost,
    WeightingName,
)
from rankstudio.engine.arithmetic.query_data import QueryData, group, several_queries
from rankstudio.engine.errors import ParameterError
from rankstudio.engine.methods.capabilities import ExactExchange
from rankstudio.engine.methods.catalog.selectors import GREEDY_RANKRLS
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.branch_and_bound import (
    SizeSearch,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.subset_problem import (
    SubsetProblem,
)
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.subset_search import (
    search_sizes,
)
from rankstudio.engine.methods.selection.greedy_rankrls.summed_rows import summed_rows
from rankstudio.engine.methods.shards.training_data import GivenData, training_data
from rankstudio.engine.support.number_format import relative_excess
from rankstudio.plugins.evidence.partial_result import PartialResult

# Parameters of this module, by the names that errors of Constraints
# have for them.
_WRITTEN_NAMES = {
    "pinned": "required",
    "banned": "excluded",
    "n_features_to_select": "n_features",
}


@dataclass(frozen=True)
class SubsetSpace:
    """The feature sets to compare in a search for the best set, and the loss.

    Attributes
    ----------
    n_features : int
        Maximum number of features or groups per set.
    regularization : float
        λ > 0.
    required, excluded : tuple of int
        0-based columns that every set must contain, and that no set may
        contain.
    groups : tuple of tuple of int
        Columns that are selected together and count as one; ungrouped
        features are single.
    costs : tuple of float or None
        Cost of each feature.
    budget : float or None
        Maximum total cost of a set.
    cost : PairCost
        The loss of a pair.
    """

    n_features: int
    regularization: float
    required: tuple[int, ...] = ()
    excluded: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    costs: tuple[float, ...] | None = None
    budget: float | None = None
    cost: PairCost = field(default_factory=PairCost)

    @classmethod
    def of(cls, judge: ExactExchange, n_features: int) -> SubsetSpace:
        """Return the sets of up to ``n_features`` features that a method may select.

        ``judge`` has the options of the method: RankRLS or greedy
        RankRLS, whose exact left-out error compares the sets.
        """
        # Pinned columns are in every set, and banned ones in none.
        return cls(
            n_features,
            judge.regularization,
            judge.pinned,
            judge.banned,
            groups=judge.groups,
            costs=judge.costs,
            budget=judge.budget,
            cost=judge.cost,
        )

    def problem(self, data: GivenData) -> tuple[QueryData, SubsetProblem, Constraints]:
        """Validate the options for some training data, and prepare the search.

        The results are the rows of the loss (features and labels whose
        squared error is the loss of the pairs), the problem of choosing
        their columns, and the rules that a set must obey: size, pinned
        and banned columns, budget.
        """
        data = training_data(data)

        # The next two lines are called for their errors only: leaving
        # queries out takes at least two of them, and λ must be above 0.
        several_queries(data.ptr, "Best set")
        GREEDY_RANKRLS.parameter("regularization").check(self.regularization)
        groups = ColumnGroups.of(data.X.shape[1], self.groups)

        # All candidates are compared, without a penalty on the size of a set.
        try:
            rules = Constraints.of(
                groups,
                n_features_to_select=self.n_features,
                pinned=self.required,
                banned=self.excluded,
                n_candidates=None,
                seed=0,
                costs=self.costs,
                budget=self.budget,
                size_penalty=0.0,
            )
        except ParameterError as error:
            # Constraints has other names for these options; name those
            # of the caller.
            raise ParameterError(
                _WRITTEN_NAMES.get(error.name, error.name), error.value, error.expected
            ) from None
        rows = summed_rows(data, self.cost)
        return rows, SubsetProblem.of(rows, self.regularization, groups, rules), rules


@dataclass(frozen=True)
class SizedSubset:
    """The best known set of one size.

    Attributes
    ----------
    size : int
        Number of features or groups.
    features : tuple of int
        0-based columns of the set, ascending; () if no set was found.
    criterion : float
        Leave-query-out error, summed over documents; infinity if no set
        was found.
    proved : bool
        Whether no set of the size is proved to have a lower criterion.
        Among sets with the lowest criterion, this is the one with the
        lowest columns.
    gap : float
        No set has a criterion below ``criterion - gap``; 0 if proved.
    n_sets : int
        Number of sets of this size, regardless of cost.
    n_evaluated : int
        Number of sets evaluated by branch and bound; the others were
        excluded by a bound.
    greedy : float
        Criterion of the greedy set; NaN without one.
    share : float
        Share of the sets evaluated or excluded, 0 to 1.
    seconds : float
        Seconds spent in branch and bound.
    """

    size: int
    features: tuple[int, ...]
    criterion: float
    proved: bool
    gap: float
    n_sets: int
    n_evaluated: int
    greedy: float
    share: float
    seconds: float

    @property
    def greedy_gap(self) -> float:
        """Share by which the greedy set's criterion is above that of this set."""
        return relative_excess(self.greedy, self.criterion)

    @property
    def relative_gap(self) -> float:
        """The gap as a share of the criterion."""
        return self.gap / self.criterion if self.criterion > 0 else 0.0


NO_SUBSET = SizedSubset(
    size=0,
    features=(),
    criterion=inf,
    proved=True,
    gap=0.0,
    n_sets=0,
    n_evaluated=0,
    greedy=nan,
    share=1.0,
    seconds=0.0,
)
"""Stands for the best set of a size of which there is no set."""


@dataclass(frozen=True)
class BestSubset:
    """The best set of features, and the best of every smaller size.

    Attributes
    ----------
    sizes : tuple of SizedSubset
        Sizes from the number of required features, at least 1, to the
        largest; features that are constant in every query are excluded
        unless required.
    """

    sizes: tuple[SizedSubset, ...]

    def of_size(self, size: int) -> SizedSubset:
        """Return the best set with ``size`` features or groups.

        A size that was not searched is a ParameterError.
        """
        for subset in self.sizes:
            if subset.size == size:
                return subset
        least = self.sizes[0].size
        largest = self.sizes[-1].size
        raise ParameterError("size", size, f"a whole number from {least} to {largest}")

    @property
    def features(self) -> tuple[int, ...]:
        """Columns of the best set of the largest size."""
        return self.sizes[-1].features

    @property
    def criterion(self) -> float:
        """Leave-query-out error of the best set of the largest size."""
        return self.sizes[-1].criterion

    @property
    def proved(self) -> bool:
        """Whether the set of the largest size is proved to be the best."""
        return self.sizes[-1].proved

    @property
    def gap(self) -> float:
        """By how much the error of another set of this size may be lower, at most."""
        return self.sizes[-1].gap

    @property
    def n_sets(self) -> int:
        """Number of all sets of the largest size."""
        return self.sizes[-1].n_sets

    @property
    def n_evaluated(self) -> int:
        """Number of sets of the largest size with a computed error."""
        return self.sizes[-1].n_evaluated


def best_subset(
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike,
    n_features: int,
    regularization: float,
    required: Sequence[int] = (),
    excluded: Sequence[int] = (),
    groups: Sequence[Sequence[int]] = (),
    costs: ArrayLike | None = None,
    budget: float | None = None,
    cost: CostName = "magnitude",
    ties: bool | None = None,
    weighting: WeightingName = "size",
    max_seconds: float | None = None,
) -> BestSubset:
    """Find the set of features with the lowest leave-query-out error of RankRLS, and prove it.

    Parameters
    ----------
    X : array-like of shape (m, n)
        Features.
    y : array-like of shape (m,)
        Relevance labels.
    qid : array-like of shape (m,)
        Query of each document.
    n_features : int
        Size of the set, k; all smaller sizes are searched, too.
    regularization : float
        λ > 0.
    required, excluded : sequence of int, default ()
        0-based columns that every set must contain, and that no set may
        contain.
    groups : sequence of sequence of int, default ()
        Columns that are selected together; each group counts as one
        feature of the set.
    costs : array-like of shape (n,), optional
        Cost of each feature, greater than 0.
    budget : float, optional
        Maximum total cost of a set.
    cost, ties, weighting
        Loss of a pair, as in
        :class:`rankstudio.engine.methods.rankers.rankrls.RankRLS`: whether an
        error counts by the difference of the labels, whether pairs with
        equal labels count, and whether large queries count more.
    max_seconds : float, optional
        Time limit of the search in seconds; sets not proved by then
        have a ``gap``.

    Returns
    -------
    BestSubset
        The best set of each size.

    Notes
    -----
    The algorithm is branch and bound. The leave-query-out error of a
    set is at least its training error, which follows from the products
    of the features over all queries and takes O(1) for each set of a
    prefix. Only sets with a training error below the best known
    criterion are evaluated exactly, in O(Q k³) for Q queries. The
    search starts with the greedy sets improved by swaps, uses all
    threads, and gives the same result on any number of threads. The
    number of sets grows as n^k / k!: with 40 features, sizes up to 8
    take seconds.

    The set is the best by squared error; other sets may be better by
    another measure or on other queries.

    References
    ----------
    Pahikkala et al. 2010, theorem 3.1; Furnival and Wilson 1974.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((60, 8)), np.repeat(np.arange(10), 6)
    >>> y = np.round(2 * X[:, 3] + X[:, 5])
    >>> best = best_subset(X, y, qid=qid, n_features=2, regularization=1.0)
    >>> best.features, best.proved, best.n_sets
    ((3, 5), True, 28)
    """
    # By default, pairs with equal labels count if errors count by the
    # difference of the labels.
    space = SubsetSpace(
        n_features,
        regularization,
        tuple(required),
        tuple(excluded),
        tuple(tuple(members) for members in groups),
        None if costs is None else tuple(np.asarray(costs, dtype=np.float64).tolist()),
        budget,
        PairCost(cost, cost == "magnitude" if ties is None else ties, weighting),
    )
    began = perf_counter()
    best = BestSubset(())

    # Each state of the search is a valid result, so the last one before
    # the time limit is returned.
    with closing(find_best_subset(group(X, y, qid), space)) as work:
        for progress in work:
            best = progress.found
            if max_seconds is not None and perf_counter() - began > max_seconds:
                break

    return best


def find_best_subset(
    data: GivenData, space: SubsetSpace
) -> Generator[PartialResult[BestSubset], None, None]:
    """Search for the best set of features of each size, and yield the current result.

    Parameters
    ----------
    data : QueryData or TrainingData
        Training data of any size.
    space : SubsetSpace
        The sets to compare (size, required and excluded columns,
        budget), and the loss.

    Yields
    ------
    PartialResult
        First after greedy sets and swaps, then several times a second;
        the last one has the result. Close the generator to interrupt
        the search.
    """
    rows, problem, rules = space.problem(data)

    # latest state of the search of each size, by size
    states: dict[int, SizeSearch] = {}

    # An item is a feature, or a group of features. A set has all
    # required items, at most k (`rules.k`), and no more than there are
    # (`problem.n_items`).
    least = max(1, problem.n_forced)
    largest = min(rules.k, problem.n_items)
    total = sum(problem.n_sets(size) for size in range(least, largest + 1))

    with closing(search_sizes(rows, problem, rules)) as work:
        for state in work:
            states[state.size] = state
            if len(states) <= largest - least:  # some size has no state yet
                continue
            searched = sum(search.share * search.n_sets for search in states.values())
            best = BestSubset(tuple(map(_subset_of_state, states.values())))
            yield PartialResult("best set", searched / total, best)


def _subset_of_state(state: SizeSearch) -> SizedSubset:
    """Return the best set of one size that a search knows by now.

    No set has a criterion below ``state.lower``. The gap is the
    difference between the set's criterion and this bound.
    """
    return SizedSubset(
        size=state.size,
        features=state.columns,
        criterion=state.criterion,
        proved=state.done,
        gap=0.0 if state.done else state.criterion - state.lower,
        n_sets=state.n_sets,
        n_evaluated=state.n_evaluated,
        greedy=state.greedy,  # criterion of the greedy set of this size
        share=state.share,
        seconds=state.seconds,
    )
