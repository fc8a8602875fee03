"""Paths of greedy RankRLS for many label vectors, which share the Gram matrices of the queries."""

from __future__ import annotations

import numpy as np

from rankstudio.engine.arithmetic.pair_cost.cost import PairCost
from rankstudio.engine.arithmetic.query_data import QueryData, several_queries
from rankstudio.engine.arrays import Floats
from rankstudio.engine.errors import OutOfMemoryError
from rankstudio.engine.methods.capabilities import LabelPaths, Share
from rankstudio.engine.methods.permuted_labels import rows_and_targets
from rankstudio.engine.methods.selection.column_groups import ColumnGroups
from rankstudio.engine.methods.selection.constraints import Constraints
from rankstudio.engine.methods.selection.greedy_rankrls.forward_path import (
    KnownStatistics,
    forward_path,
    gram_statistics,
)
from rankstudio.engine.methods.shards.training_data import training_data
from rankstudio.engine.steps import Step
from rankstudio.engine.support import memory
from rankstudio.engine.support.threads import at_most


def label_paths(
    data: QueryData,
    regularization: float,
    rules: Constraints,
    cost: PairCost,
    needed: float,
) -> LabelPaths:
    """Return a function that computes the greedy path of each of several label vectors.

    The function takes label vectors (P, m) for the m documents of
    ``data``, and returns the criteria after each step of each path.
    ``rules`` limit the path, ``cost`` is the loss of pairs, and
    ``needed`` the bytes that the paths need. Raises an OutOfMemoryError
    if less memory is free. ``regularization`` is λ. The criterion is
    the leave-query-out error.
    """
    # Called for their errors only.
    several_queries(data.ptr, "GreedyRankRLS")
    _refuse_large(needed, *data.X.shape)
    groups = ColumnGroups.of(data.X.shape[1], ())
    # From here on, the data are rows whose squared errors are the loss
    # with ``cost``. So their own cost is the default. `targets`
    # converts labels of documents to targets of these rows.
    shared_cost = PairCost()
    # The Gram matrices do not depend on the labels, so they are computed once.
    data, targets = rows_and_targets(cost, data)
    known_statistics = gram_statistics(data)

    def paths(labels: Floats, share: Share) -> list[Floats]:
        """Return the criteria after each step of the path, for each label vector in ``labels`` (P, m).

        ``share`` runs the paths on threads. The rules and the documents
        are those of the enclosing function. The criterion is the
        leave-query-out error.
        """
        criteria: list[Floats] = [np.empty(0)] * labels.shape[0]

        def learn(number: int) -> None:
            """Write the criteria of the path for the label vector with a number to ``criteria``.

            Uses the ``labels`` of all paths, and the variables of the
            enclosing functions: ``data`` are rows whose squared errors
            are the loss, ``targets`` converts labels to their targets,
            and ``known_statistics`` has their products in each query.
            """
            # The path reads labels only from cached statistics. So
            # these are put into the cache of a copy of the data, whose
            # own labels are not used.
            relabelled = QueryData(data.X, data.y, data.ptr)
            relabelled.shared.of(KnownStatistics).by_layout["blocks", shared_cost] = (
                known_statistics.relabelled(
                    data.centred[0], targets(labels[number][:, None]), data.ptr
                )
            )
            # One thread per path, because the paths run side by side.
            with at_most(1):
                # Statistics are whole Gram matrices.
                path = forward_path(
                    training_data(relabelled),
                    regularization,
                    groups,
                    rules,
                    shared_cost,
                    "statistics",
                )
                criteria[number] = np.array(
                    [step.criterion for step in path if isinstance(step, Step)]
                )

        share(learn, range(labels.shape[0]))
        return criteria

    return paths


def _refuse_large(needed: float, m: int, n: int) -> None:
    """Raise an OutOfMemoryError if fewer bytes are free than are needed.

    ``m`` and ``n`` are the numbers of documents and features, for the message.
    """
    free = memory.available()
    if needed > free:
        raise OutOfMemoryError(
            f"Not enough memory for the permutation test of greedy RankRLS: {m:,} documents with {n:,} "
            f"features need {memory.size(needed)}, and {memory.size(free)} are free. Try the algorithm "
            "columns."
        )
