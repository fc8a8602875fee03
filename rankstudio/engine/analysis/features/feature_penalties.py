"""Importance and similarity of features, as FSMRank, FSMSVM and GAS weigh them on a training part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.plan.plan import Plan, estimator
from rankstudio.engine.methods.selection.fsmrank import FSMRank, weighing_features
from rankstudio.engine.methods.selection.gas import GAS
from rankstudio.engine.methods.selection.kendall import kendall_similarity
from rankstudio.engine.methods.shards.training_data import TrainingData
from rankstudio.engine.support.work import Waiting, finish, without_notes


@dataclass(frozen=True, eq=False)
class FeaturePenalties:
    """Importance s of some features, and their similarity A to others.

    Attributes
    ----------
    importance, of_negative : ndarray of shape (c,)
        Of each feature, and of its negative: s of FSMRank, w of GAS, which has one number for both.
    similarity : ndarray of shape (c, o)
        A of FSMRank, e of GAS.
    """

    importance: Floats
    of_negative: Floats
    similarity: Floats


def feature_penalties(
    plan: Plan,
    parameters: Mapping[str, Any],
    data: TrainingData,
    ids: Ints,
    columns: Sequence[int],
    others: Sequence[int],
) -> FeaturePenalties:
    """Return the importance of some features and their similarity to others.

    Parameters
    ----------
    plan : Plan
        With a method that weighs features; see ``Method.weighs_features``.
    parameters : Mapping
        One value for each parameter of the method.
    data : TrainingData
    ids : ndarray of shape (n,)
        Ids of the features.
    columns, others : sequence of int
        Columns of the features, and of those that they are compared with.

    Notes
    -----
    Correlations take O(mn²) once for some training data, Kendall's τ O(m log |q|) for a pair.
    """
    made = estimator(plan, plan.entry, parameters, ids)
    some, beside = np.asarray(columns, dtype=np.int64), np.asarray(others, dtype=np.int64)
    n = data.X.shape[1]
    if isinstance(made, GAS):
        weights = finish(made.weights(data))[0]
        both = np.concatenate((weights, weights))
    else:
        names = FSMRank().get_params()
        made = FSMRank(**{name: value for name, value in made.get_params().items() if name in names})
        both = finish(weighing_features(data, made.checked("importance")))
    similarity = finish(_similarities(made, data, some, beside))
    return FeaturePenalties(both[some], both[n:][some], similarity)


def _similarities(made: GAS | FSMRank, data: TrainingData, some: Ints, others: Ints) -> Waiting[Floats]:
    """Return the similarity of some features to others, (c, o)."""
    if (
        isinstance(made.similarity, str)
        and made.similarity == "kendall"
        and not getattr(made, "project", False)
    ):
        found = np.empty((some.size, others.size))
        with kendall_similarity(data) as between:
            for row, feature in zip(found, some.tolist(), strict=True):
                row[:] = yield from between(feature, others)
        return found
    matrix = yield from without_notes(made.similarities(data))  # the run gave them
    return np.asarray(matrix[np.ix_(some, others)])
