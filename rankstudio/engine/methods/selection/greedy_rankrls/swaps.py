"""Swaps: the exact criterion of RankRLS with one selected feature replaced by another."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.search_choice import (
    Shape,
    whole_search,
)
from rankstudio.engine.methods.selection.greedy_rankrls.search_steps import (
    FloatingSearch,
    GroupSearch,
)


def swap_criteria(
    data: QueryData, regularization: float, selected: tuple[int, ...], candidates: Ints
) -> tuple[float, Floats, Floats, Floats]:
    """Return the leave-query-out error of a selection, and after each change by one feature.

    Parameters
    ----------
    data : QueryData
        Training data.
    regularization : float
        λ > 0.
    selected : tuple of int of length k
        Columns of the model.
    candidates : ndarray of shape (c,)
        Columns of candidates, to be added or swapped in.

    Returns
    -------
    criterion : float
        Criterion of the selection, summed over documents (Pahikkala et al. 2010, eq.
        (7)).
    swapped : ndarray of shape (k, c)
        Row a has the criterion with the a-th selected feature replaced
        by each candidate.
    without : ndarray of shape (k,)
        Criterion without the a-th selected feature.
    added : ndarray of shape (c,)
        Criterion with each candidate added to all selected features.

    Notes
    -----
    No model is trained: each row is one comparison of a search at the
    selection without the feature, O(Qk⁴ + Qck³) in total from Gram
    matrices of Q queries.
    """
    swapped = np.empty((len(selected), candidates.size))
    without = np.empty(len(selected))
    # The largest compared set has one more feature than is selected.
    search = on_demand_search(data, regularization, len(selected) + 1)
    search.move_to(selected)
    criterion = search.criterion()
    added = search.costs(candidates)
    # From the last feature to the first, so that the earlier features
    # need not be selected again.
    for position in reversed(range(len(selected))):
        search.move_to(selected[:position] + selected[position + 1 :])
        without[position] = search.criterion()
        swapped[position] = search.costs(candidates)
    return criterion, swapped, without, added


def group_swap_criteria(
    data: QueryData,
    regularization: float,
    selected: tuple[int, ...],
    groups: ColumnGroups,
) -> tuple[float, dict[tuple[int, int], float]]:
    """Return the leave-query-out error of groups, and after each swap that involves several features.

    Parameters
    ----------
    data : QueryData
        Training data.
    regularization : float
        λ > 0.
    selected : tuple of int
        Columns of the model, in whole groups.
    groups : ColumnGroups
        Features that are selected together; each other feature is a group by itself.

    Returns
    -------
    criterion : float
        Criterion of the selection, summed over documents.
    swapped : dict
        Criterion after the swap, by the positions of the removed and
        the added group; at least one of the two has several features.
    """
    inside = groups.containing(selected)  # positions of groups
    is_joint = [len(group) > 1 for group in groups.groups]
    outside = [group for group in range(len(is_joint)) if group not in inside]
    swapped: dict[tuple[int, int], float] = {}
    # The search starts with all groups of the selection.
    search = GroupSearch(
        on_demand_search(data, regularization, data.X.shape[1]), groups
    )
    search.move_to(inside)
    criterion = search.criterion()
    # Without one of the groups, the cost of adding each other group is
    # the criterion of a swap. From the last group to the first, so that
    # the earlier ones need not be selected again.
    for position in reversed(range(len(inside))):
        removed = inside[position]
        # Only swaps with a group of several features are computed.
        added = [group for group in outside if is_joint[removed] or is_joint[group]]
        if added:
            search.move_to(inside[:position] + inside[position + 1 :])
            costs = search.costs(np.array(added, dtype=np.int64)).tolist()
            swapped |= {
                (removed, group): cost for group, cost in zip(added, costs, strict=True)
            }
    return criterion, swapped


def swap_seconds(n_queries: int, n_selected: int, n_candidates: int) -> float:
    """Estimate the seconds that one thread takes to compute the criteria of all swaps.

    A swap replaces one of the selected features by a candidate.
    ``n_queries`` is the number of queries that are left out in turn.
    The criterion is the leave-query-out error.
    """
    # For each query and each removed feature: k² k / 2 products for the
    # inverse without it, and k² for each candidate. A product takes
    # about a nanosecond.
    k = n_selected
    return 1e-9 * n_queries * k**3 * (0.5 * k + n_candidates)


def on_demand_search(data: QueryData, regularization: float, k: int) -> FloatingSearch:
    """Return a search among sets of up to k features, which computes criteria on training data in memory.

    The criterion is the leave-query-out error, with the
    ``regularization`` λ. The error follows from Gram matrices of the
    queries, or if these are large, from the columns of the documents.
    :class:`SummedRows` have only Gram matrices, so for them these are
    always used.
    """
    from rankstudio.engine.methods.selection.greedy_rankrls.summed_rows import (  # noqa: PLC0415
        SummedRows,
    )

    by_gram_matrices = Shape.of(data.X.shape, data.ptr, k).by_gram_matrices("auto")
    if not by_gram_matrices and not isinstance(data, SummedRows):
        return whole_search(data, regularization, k)
    from rankstudio.engine.methods.selection.greedy_rankrls.column_search import (  # noqa: PLC0415
        GramProducts,
        OnDemandSearch,
    )
    from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (  # noqa: PLC0415
        gram_statistics,
    )

    statistics = gram_statistics(data)
    return OnDemandSearch(
        GramProducts(statistics.gram, statistics.total, data.ptr.size - 1),
        regularization,
    )
