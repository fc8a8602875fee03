"""The sets of features that a paired test over queries cannot tell from the best one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from rankstudio.engine.arithmetic.pair_cost.cost import (
    CostName,
    PairCost,
    WeightingName,
)
from rankstudio.engine.arithmetic.query_data import group
from rankstudio.engine.arrays import Floats
from rankstudio.engine.methods.selection.greedy_rankrls.exact_subsets.near_search import (
    NearSets,
    search_near,
)
from rankstudio.engine.methods.shards.training_data import GivenData
from rankstudio.engine.support.work import Waiting, WorkProgress, finish
from rankstudio.plugins.evidence.best_subset import (
    SizedSubset,
    SubsetSpace,
    find_best_subset,
)

NORMAL = 1.96
"""Standard errors within which two sets are not distinguishable: a two-sided test at 5 %."""

# share of the best criterion by which the first sets to compare may be worse
_FIRST_WINDOW = 0.005
# sets in a window: next to fewer sets, a set far beyond the window may
# still be as good
_MIN_SETS = 1000
# the window is not doubled beyond it: each doubling multiplies the
# number of sets
_MAX_WINDOW = 0.08
# errors, one per set and query: up to this number, all sets are
# compared in seconds
_MAX_ERRORS = 1e8


@dataclass(frozen=True)
class NearBestSet:
    """A set of features that is not significantly different from the best set of its size.

    Attributes
    ----------
    features : tuple of int
        0-based columns, ascending.
    criterion : float
        Leave-query-out error of the set, summed over documents.
    difference : float
        Excess of the criterion over that of the best set.
    standard_error : float
        Standard error of the difference, from its values in each query.
    """

    features: tuple[int, ...]
    criterion: float
    difference: float
    standard_error: float


@dataclass(frozen=True, eq=False)
class SizedNearBestSets:
    """The sets of features of one size that are not significantly different from the best set.

    Attributes
    ----------
    best : SizedSubset
    sets : tuple of NearBestSet
        Near-best sets, lowest criterion first, including the best set.
    inclusion : ndarray of shape (n,)
        Share of the sets that contain each feature: 1 for a necessary
        feature, about 1/2 for each of two interchangeable ones.
    window : float
        Relative window: all sets with a criterion up to this share
        above the best one were compared; infinity for all sets.
    complete : bool
        Whether all sets were compared, or enough in the window with
        none kept in its outer half, so that none is expected beyond it.
    n_evaluated : int
        Number of sets with a computed criterion.
    """

    best: SizedSubset
    sets: tuple[NearBestSet, ...]
    inclusion: Floats
    window: float
    complete: bool
    n_evaluated: int

    @property
    def size(self) -> int:
        """Number of features or groups per set."""
        return self.best.size

    def containing(
        self, required: Collection[int] = (), excluded: Collection[int] = ()
    ) -> tuple[NearBestSet, ...]:
        """Return the sets with all columns of ``required`` and none of ``excluded``, best first."""
        inside = set(required)
        outside = set(excluded)
        return tuple(
            near_set
            for near_set in self.sets
            if inside <= set(near_set.features) and not outside & set(near_set.features)
        )


def near_best_sets(
    X: ArrayLike,
    y: ArrayLike,
    *,
    qid: ArrayLike,
    n_features: int,
    regularization: float,
    required: Sequence[int] = (),
    excluded: Sequence[int] = (),
    groups: Sequence[Sequence[int]] = (),
    cost: CostName = "magnitude",
    ties: bool | None = None,
    weighting: WeightingName = "size",
    window: float | None = None,
) -> tuple[SizedNearBestSets, ...]:
    """Find all sets of features that are not significantly different from the best one of their size.

    Parameters
    ----------
    X, y, qid, n_features, regularization, required, excluded, groups, cost, ties, weighting
        As in
        :func:`rankstudio.plugins.evidence.best_subset.best_subset`:
        data, maximum size of a set, λ, columns that every set or no set
        contains, columns selected together, and the loss.
    window : float, optional
        Sets with a criterion up to this share above the best one are
        compared. By default the window is doubled until it contains a
        thousand sets and no set in its outer half is kept. Beyond 8 %
        all sets are compared if that takes only seconds; otherwise the
        result is incomplete.

    Returns
    -------
    tuple of SizedNearBestSets
        One per size.

    Notes
    -----
    With d_q the difference between the errors of a set and of the best
    set in query q, a set is kept if sum_q d_q <= 1.96 se, where se² is
    Q times the variance of d_q. The test is not adjusted for the number
    of sets: each set is compared only with the best one.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.random((60, 4)), np.repeat(np.arange(10), 6)
    >>> y = np.round(4 * X[:, 1])
    >>> X[:, 2] = X[:, 1]
    >>> [one.features for one in near_best_sets(X, y, qid=qid, n_features=1, regularization=1.0)[0].sets]
    [(1,), (2,)]
    """
    # By default, pairs with equal labels count if errors count by the
    # difference of the labels.
    pairs = PairCost(cost, cost == "magnitude" if ties is None else ties, weighting)
    joint = tuple(tuple(members) for members in groups)
    space = SubsetSpace(
        n_features, regularization, tuple(required), tuple(excluded), joint, cost=pairs
    )
    return finish(find_near_best_sets(group(X, y, qid), space, window))


def find_near_best_sets(
    data: GivenData, space: SubsetSpace, window: float | None = None
) -> Waiting[tuple[SizedNearBestSets, ...]]:
    """Find the sets that are not significantly different from the best one of their size.

    Yield progress, and return one result per size. ``space`` says which
    sets are compared. Sets are compared up to the share ``window``
    above the best criterion (None: as far as needed). Close the
    generator to interrupt the search.
    """
    sizes: tuple[SizedSubset, ...] = ()
    with closing(find_best_subset(data, space)) as work:
        for progress in work:
            sizes = progress.found.sizes
            yield progress
    near_sets: list[SizedNearBestSets] = []

    # Some sizes may have no set within the budget.
    for best in (subset for subset in sizes if subset.features):
        sized = yield from near_sets_of_size(data, space, best, window)
        near_sets.append(sized)
    return tuple(near_sets)


def near_sets_of_size(
    data: GivenData, space: SubsetSpace, best: SizedSubset, window: float | None = None
) -> Waiting[SizedNearBestSets]:
    """Find the sets that are not significantly different from ``best``, the best one of its size.

    Yield progress, and return the sets. ``window`` is the share of the
    best criterion by which a compared set may be worse. If it is None,
    it is doubled until enough sets are compared.
    """
    _, problem, _ = space.problem(data)

    # sum of the errors of the best set, and its error in each query, (Q,)
    criterion, reference = problem.errors(best.features)
    width = _FIRST_WINDOW if window is None else window
    evaluated = 0
    remaining_share = 1.0  # of the work before each search

    while True:
        state = NearSets()
        limit = inf if width == inf else criterion * (1 + width) + problem.tie
        with closing(
            search_near(problem, best.size, reference, limit, NORMAL, state)
        ) as work:
            for _ in work:
                yield WorkProgress(
                    "near-best sets", 1.0 - remaining_share * (1.0 - state.share / 2)
                )
        evaluated += state.n_evaluated
        criteria = np.array(state.criteria)
        within_limit = criteria <= limit

        # No set in the outer half of the window is as good as the best:
        # none is expected beyond the window.
        none_outside = criteria[within_limit].max(initial=0.0) <= criterion * (
            1 + width / 2
        )
        complete = limit == inf or (
            bool(none_outside) and state.n_evaluated >= _MIN_SETS
        )
        has_too_many_sets = best.n_sets * problem.n_queries > _MAX_ERRORS
        is_last_window = window is not None or (
            has_too_many_sets and width >= _MAX_WINDOW
        )
        if complete or is_last_window:
            break

        # An infinite window compares all sets.
        width = width * 2 if width < _MAX_WINDOW else inf

        # The number of searches is not known before the last one: each
        # takes half of the remaining progress.
        remaining_share /= 2

    sets = [
        NearBestSet(columns, set_criterion, set_criterion - criterion, deviation)
        for columns, set_criterion, deviation, is_within_limit in zip(
            state.columns, state.criteria, state.deviations, within_limit, strict=True
        )
        if is_within_limit
    ]

    # The best set comes first, also before others with the same criterion.
    sets.sort(
        key=lambda near: (near.features != best.features, near.criterion, near.features)
    )
    inclusion = np.zeros(data.X.shape[1])

    for near_set in sets:
        inclusion[list(near_set.features)] += 1 / len(sets)
    return SizedNearBestSets(
        best=best,
        sets=tuple(sets),
        inclusion=inclusion,
        window=width,
        complete=complete,
        n_evaluated=evaluated,
    )
