"""Substitutes: which features could stand for those of a model, and what its criterion would lose."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.pair_cost.pair_rows import PairRows
from rankstudio.engine.arithmetic.query_data import QueryData
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.plan.plan import Plan
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.experiment.units.left_out_model import regularization_of
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.greedy_rankrls.swaps import (
    group_swap_criteria,
    swap_criteria,
    swap_seconds,
)
from rankstudio.engine.statistics.clusters import Clusters

MOST_SHOWN = 60
"""Maximum number of features on a map of correlations."""

_MAX_SWAP_SECONDS = 3.0  # if all swaps would take longer, fewer of them are computed
_ROUNDING = 1e-12  # relative difference up to which two criteria are equal
# Relative difference by which a swap must lower the criterion more than
# removing the feature. A swap with a constant feature differs from the
# removal only by rounding.
_MIN_RELATIVE_FALL = 1e-6

Changes = Mapping[tuple[int, int | None], float]
"""Changes of the criterion, by the removed column and the added one; the latter is None for a removal."""

NO_SWAPS = (
    "The effect of a swap is computed only if RankRLS ranks with the features; this model would have "
    "to be trained again for each swap."
)
NO_QUERIES = "The effect of a swap is computed from queries that are left out. All documents are one ranking here."
NOT_LEARNED = "This run has only given scores, so there are no features to substitute."
NOT_SWAPPED = "Too many features: computing all swaps would take too long."


@dataclass(frozen=True)
class Swap:
    """A swap of a selected feature for another one, or its removal.

    Attributes
    ----------
    removed : int
        Column of the selected feature.
    added : int or None
        Column of the other feature; None for a removal.
    correlation : float
        Pearson's correlation between the two features within queries;
        NaN for a removal.
    change : float
        Change of the criterion, comparable between folds (per
        document); NaN if not computed.
    """

    removed: int
    added: int | None
    correlation: float
    change: float


@dataclass(frozen=True)
class GroupSwap:
    """A swap of two candidates as a whole, at least one of which is a group of features.

    Attributes
    ----------
    removed, added : tuple of int
        Columns.
    change : float
        Change of the criterion, comparable between folds (per document).
    """

    removed: tuple[int, ...]
    added: tuple[int, ...]
    change: float


@dataclass(frozen=True)
class SubstituteGroup:
    """A cluster of similar features that contains a selected feature.

    Attributes
    ----------
    selected : tuple of int
        Columns of the model in the cluster, in the order of selection.
    others : tuple of int
        Other columns of the cluster, most similar to a selected one first.
    least : float
        Smallest |r| between two features of the cluster; NaN for a single feature.
    swaps : tuple of Swap
        Best replacement in the cluster for each selected feature. For a
        single feature, or a cluster with all features selected, the
        replacement with the largest correlation.
    """

    selected: tuple[int, ...]
    others: tuple[int, ...]
    least: float
    swaps: tuple[Swap, ...]


@dataclass(frozen=True, eq=False)
class Substitutes:
    """Substitutes for the features of a model.

    Attributes
    ----------
    columns : tuple of int of length s
        Features shown on the map, sorted by cluster: all, or those near the selection.
    correlations : ndarray of shape (s, s)
        Pearson's correlations between the shown features, within queries.
    selected : tuple of int
        Columns of the model, in the order of selection.
    groups : tuple of SubstituteGroup
        Clusters by their first selected feature.
    better : tuple of Swap
        Best change for each selected feature, the largest reduction of
        the criterion first: a swap with a shown feature, or a removal
        if no swap is better. Swaps with features that are constant
        within every query are no better than a removal.
    why_no_swaps : str
        Reason why changes of the criterion are missing, as a sentence; otherwise "".
    n_features : int
        Number of features of the data, shown or not.
    group_swaps : tuple of GroupSwap
        Best swap of each candidate of the model that involves a group;
        features of groups occur in no other swap.
    """

    columns: tuple[int, ...]
    correlations: Floats
    selected: tuple[int, ...]
    groups: tuple[SubstituteGroup, ...]
    better: tuple[Swap, ...]
    why_no_swaps: str
    n_features: int
    group_swaps: tuple[GroupSwap, ...] = ()


def substitutes(
    plan: Plan,
    path: PathResult,
    position: int,
    data: QueryData,
    correlations: Floats,
    clusters: Clusters,
    groups: ColumnGroups | None = None,
) -> Substitutes:
    """Find substitutes for the features of a model.

    Parameters
    ----------
    plan : Plan
        Plan of the path.
    path : PathResult
        Path of the model.
    position : int
        Position of the model on the path.
    data : QueryData
        Training data of the fold.
    correlations : ndarray of shape (n, n)
        Pearson's correlations between the features of the training
        data, within queries.
    clusters : Clusters
        Clusters of the features by these correlations.
    groups : ColumnGroups, optional
        Groups of the path, which are swapped as a whole.

    Returns
    -------
    Substitutes
        Clusters of similar features, and the swaps and removals that
        change the criterion best.
    """
    # Of very many selected features, those with the greatest weights
    # are shown. `ranked` are the shown ones, in the order of selection.
    step = path.steps[position]
    selected = step.selected
    weights = np.abs(step.coef)
    heaviest = set(sorted(selected, key=lambda column: -weights[column])[:MOST_SHOWN])
    ranked = tuple(column for column in selected if column in heaviest)
    columns = _shown_columns(correlations, clusters, ranked)
    parameters = (
        path.unit.combination.ranker if plan.ranker_entry else path.unit.parameters
    )

    # None if the ranker is not RankRLS: then the effect of a swap is not computed.
    regularization = regularization_of(plan, parameters, data)

    # Rows whose squared error is the loss of the pairs, by which
    # RankRLS is trained.
    data = PairRows.of(data, PairCost.of(parameters))
    changes: Changes = {}
    group_swaps: tuple[GroupSwap, ...] = ()

    # Columns of groups of several features, which are only swapped as a whole.
    grouped_columns = (
        {column for group in groups.groups if len(group) > 1 for column in group}
        if groups
        else set()
    )
    if regularization is not None:
        changes, reason = _criterion_changes(
            data, regularization, selected, clusters, columns
        )
        if groups is not None and not groups.trivial:
            group_swaps, group_reason = _group_swaps(
                data, regularization, selected, groups, path.divisor
            )
            reason = reason or group_reason
    elif not step.learned:
        reason = NOT_LEARNED
    else:
        has_one_query = data.ptr.size == 2
        reason = NO_QUERIES if has_one_query else NO_SWAPS

    # Per document, if the criterion is a sum over documents. Members of
    # groups are not swapped alone.
    changes = {
        swap: change / path.divisor
        for swap, change in changes.items()
        if not grouped_columns & set(swap)
    }
    return Substitutes(
        columns=columns,
        correlations=correlations[np.ix_(columns, columns)],
        selected=selected,
        groups=_substitute_groups(
            correlations, clusters, ranked, columns, changes, grouped_columns
        ),
        better=_improving_swaps(correlations, changes),
        why_no_swaps=reason,
        n_features=correlations.shape[0],
        group_swaps=group_swaps,
    )


def _shown_columns(
    correlations: Floats, clusters: Clusters, selected: Sequence[int]
) -> tuple[int, ...]:
    """Return the columns to show on a map: all, or the selected ones and the features most similar.

    The columns are in the order of the clusters, at most `MOST_SHOWN` of them.
    """
    if correlations.shape[0] <= MOST_SHOWN:
        return tuple(clusters.order.tolist())
    similarity = np.abs(correlations[:, list(selected)]).max(axis=1, initial=0.0)

    # 2 is greater than any correlation, so that selected features come first.
    similarity[list(selected)] = 2.0
    chosen = set(np.argsort(-similarity, kind="stable")[:MOST_SHOWN].tolist())
    return tuple(column for column in clusters.order.tolist() if column in chosen)


def _criterion_changes(
    data: QueryData,
    regularization: float,
    selected: tuple[int, ...],
    clusters: Clusters,
    shown_columns: Sequence[int],
) -> tuple[Changes, str]:
    """Return the change of the criterion by each swap and removal of a selected feature, and a reason.

    The reason says why changes are not computed; it is "" if changes
    are computed. Without candidates there are no changes. The added
    features are all shown features, or, if that would take too long,
    only those in the clusters of the selected features.
    """
    model_columns = set(selected)
    in_same_clusters = {
        int(other) for column in selected for other in clusters.members(column)
    } - model_columns

    # The first of the two sets of candidates whose swaps do not take too long.
    Q = data.ptr.size - 1  # number of queries
    for columns in (
        set(shown_columns) - model_columns,
        in_same_clusters & set(shown_columns),
    ):
        if swap_seconds(Q, len(selected), len(columns)) <= _MAX_SWAP_SECONDS:
            candidates: Ints = np.array(sorted(columns), dtype=np.int64)
            if not selected or not candidates.size:
                return {}, ""

            # The criterion of the model (a number), with each of k
            # features replaced by each of c candidates, (k, c), and
            # without each, (k,).
            criterion, swapped, without, _ = swap_criteria(
                data, regularization, selected, candidates
            )

            # A row per removed feature: the criterion without it in
            # column 0, and with each candidate instead in the other
            # columns.
            costs = np.column_stack((without, swapped))
            changes = costs - criterion

            # Differences by rounding are no changes.
            changes[np.abs(changes) <= _ROUNDING * criterion] = 0.0
            added = (None, *candidates.tolist())
            return {
                (removed, addition): float(changes[row, column])
                for row, removed in enumerate(selected)
                for column, addition in enumerate(added)
            }, ""
    return {}, NOT_SWAPPED


def _group_swaps(
    data: QueryData,
    regularization: float,
    selected: tuple[int, ...],
    groups: ColumnGroups,
    divisor: float,
) -> tuple[tuple[GroupSwap, ...], str]:
    """Return the best swap of each candidate of the model for another, and the reason if none is computed.

    Only swaps in which at least one of the two candidates is a group
    are returned. A candidate is a group, or a feature by itself;
    ``divisor`` makes changes comparable between folds.
    """
    # The time is estimated from the number of features that all swaps
    # add together: each candidate of the model is replaced by each
    # candidate, but not by itself. `model_groups` has the positions of
    # the model's candidates.
    model_groups = groups.containing(selected)
    n_added = len(model_groups) * sum(map(len, groups.groups)) - len(selected)
    if not swap_seconds(data.ptr.size - 1, len(selected), n_added) <= _MAX_SWAP_SECONDS:
        return (), NOT_SWAPPED
    criterion, swapped = group_swap_criteria(data, regularization, selected, groups)

    # The least cost with the added group, by the position of the removed group.
    best: dict[int, tuple[float, int]] = {}
    for (removed, added), cost in swapped.items():
        best[removed] = min(best.get(removed, (cost, added)), (cost, added))
    swaps = []
    for removed in (group for group in model_groups if group in best):
        cost, added = best[removed]
        change = (
            0.0
            if abs(cost - criterion) <= _ROUNDING * criterion
            else (cost - criterion) / divisor
        )
        swaps.append(GroupSwap(groups.groups[removed], groups.groups[added], change))
    return tuple(swaps), ""


def _substitute_groups(
    correlations: Floats,
    clusters: Clusters,
    selected: Sequence[int],
    shown_columns: Sequence[int],
    changes: Changes,
    grouped_columns: Container[int],
) -> tuple[SubstituteGroup, ...]:
    """Return the selected features by cluster, with similar unselected features and the best swaps.

    ``changes`` are those of the criterion by the removed and the added
    column, and ``grouped_columns`` contains the features of groups,
    which are not swapped one by one.
    """
    # Clusters in the order of their first selected features.
    groups = []
    model_columns = set(selected)
    for label in dict.fromkeys(clusters.labels[column] for column in selected):
        members = np.flatnonzero(clusters.labels == label)
        chosen = tuple(
            column for column in selected if clusters.labels[column] == label
        )
        similarity = np.abs(correlations[np.ix_(members, np.array(chosen))]).max(axis=1)
        outside = tuple(
            int(c)
            for c in members[np.argsort(-similarity, kind="stable")]
            if c not in model_columns
        )

        # |r| of each pair of features of the cluster: the matrix
        # above its diagonal.
        pairs = np.abs(correlations[np.ix_(members, members)])[
            np.triu_indices(members.size, 1)
        ]
        least = float(pairs.min()) if pairs.size else float("nan")

        # Without unselected features in the cluster, any shown one may
        # be the best swap, but no constant one: its correlation is 0,
        # even with itself.
        possible = outside or tuple(
            c for c in shown_columns if c not in model_columns and correlations[c, c]
        )
        possible = tuple(column for column in possible if column not in grouped_columns)
        swaps = [
            _best_swap(correlations, changes, column, possible, by_change=bool(outside))
            for column in chosen
            if column not in grouped_columns
        ]

        # A single feature of a group without similar features is
        # described by the swap of its group.
        if not outside and len(chosen) == 1 and chosen[0] in grouped_columns:
            continue
        groups.append(
            SubstituteGroup(
                chosen, outside, least, tuple(swap for swap in swaps if swap)
            )
        )
    return tuple(groups)


def _best_swap(
    correlations: Floats,
    changes: Changes,
    removed: int,
    possible: Sequence[int],
    by_change: bool,
) -> Swap | None:
    """Return the best swap for the feature in column ``removed``; None if ``possible`` is empty.

    ``possible`` are the columns of the features that may be added. The
    best of them has the least change of the criterion if ``by_change``,
    else the greatest similarity to the removed one.
    """
    if not possible:
        return None

    def change_and_similarity(added: int) -> tuple[float, float]:
        """Return the key that sorts features to add by how good a swap is.

        ``added`` is the column of the feature. The best change comes
        first, if changes count, then the greatest similarity to the
        removed feature.
        """
        change = changes.get((removed, added), float("inf")) if by_change else 0.0
        return change, -abs(correlations[removed, added])

    return _new_swap(
        correlations, changes, removed, min(possible, key=change_and_similarity)
    )


def _improving_swaps(correlations: Floats, changes: Changes) -> tuple[Swap, ...]:
    """Return the swap that lowers the criterion most for each selected feature, the greatest fall first.

    Features without a swap that lowers the criterion are left out.
    """
    # Change and added column by the removed column. The removal of a
    # feature precedes its swaps, which have to be clearly better than
    # it.
    best: dict[int, tuple[float, int | None]] = {}
    for (removed, added), change in changes.items():
        least, _ = best.get(removed, (0.0, None))
        if change < least - _MIN_RELATIVE_FALL * abs(least):
            best[removed] = change, added
    falls = sorted(best.items(), key=lambda item: item[1][0])
    return tuple(
        _new_swap(correlations, changes, removed, added)
        for removed, (_, added) in falls
    )


def _new_swap(
    correlations: Floats, changes: Changes, removed: int, added: int | None
) -> Swap:
    r = float("nan") if added is None else float(correlations[removed, added])
    return Swap(removed, added, r, changes.get((removed, added), float("nan")))
