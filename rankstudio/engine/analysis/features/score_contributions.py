"""The score of a document, split feature by feature: the parts sum to the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankstudio.engine.analysis.features.kernel_contributions import kernel_contributions
from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.export.trees import checked_trees, tree_contributions
from rankstudio.engine.steps import Step


@dataclass(frozen=True, eq=False)
class ScoreContributions:
    """What each feature adds to the scores of some documents.

    Attributes
    ----------
    columns : tuple of int
        The features that the model uses, as 0-based columns, ascending.
    values : ndarray of shape (m, s)
        What each of these s features adds to the score of each of m documents.
    constant : float
        What all documents of any query get: 0 but for trees, where it is their mean answer in training, and
        kernel models, where it is the score of the mean basis vector.
    """

    columns: tuple[int, ...]
    values: Floats
    constant: float

    @property
    def scores(self) -> Floats:
        """The scores again, shape (m,), but for rounding."""
        total: Floats = self.values.sum(axis=1) + self.constant
        return total


def score_contributions(step: Step, X: Floats, feature_ids: Ints) -> ScoreContributions:
    """Split the scores of a model feature by feature.

    A linear model adds weight times value. Thresholds (RankBoost) add up feature by feature. Trees are split
    by LightGBM into Shapley values, the mean over all orders in which features may become known of what each
    one changes (Lundberg & Lee 2017), summed over the trees.
    Kernel models are split on the line from the mean basis vector, see
    :func:`rankstudio.engine.analysis.features.kernel_contributions.kernel_contributions`.

    Parameters
    ----------
    step : Step
        The model; one that can score.
    X : ndarray of shape (m, n)
        Features of the documents.
    feature_ids : ndarray of shape (n,)
        The 1-based id of each column.

    Returns
    -------
    ScoreContributions

    Raises
    ------
    StoreError
        Where a study did not keep the model.

    Notes
    -----
    O(ms) for linear models, O(mT) for T thresholds, O(m T L d²) for T trees of L leaves and depth d.
    """
    if step.linear:
        used = np.flatnonzero(step.coef)
        return ScoreContributions(tuple(used.tolist()), X[:, used] * step.coef[used], 0.0)
    if not step.learned:  # no feature made them
        return ScoreContributions((), np.zeros((len(X), 0)), 0.0)
    beyond = step.beyond_weights(feature_ids.tolist())
    column_of = {int(feature): column for column, feature in enumerate(feature_ids)}
    if beyond["kind"] == "thresholds":
        return _of_thresholds(beyond, X, column_of)
    if beyond["kind"] == "kernel":
        columns, values, constant = kernel_contributions(beyond, X, column_of)
        return ScoreContributions(tuple(columns.tolist()), values, constant)
    return _of_trees(beyond, X, column_of, step.source)


def _of_thresholds(beyond: dict[str, Any], X: Floats, column_of: dict[int, int]) -> ScoreContributions:
    """Split the scores of weak rankers, each of one feature."""
    weak = [(column_of[t["id"]], t["above"], t["adds"]) for t in beyond["thresholds"]]
    used = sorted({column for column, _, _ in weak})
    place = {column: i for i, column in enumerate(used)}
    values = np.zeros((X.shape[0], len(used)))
    for column, above, adds in weak:
        values[:, place[column]] += adds * (X[:, column] > above)
    return ScoreContributions(tuple(used), values, 0.0)


def _of_trees(
    beyond: dict[str, Any], X: Floats, column_of: dict[int, int], source: str
) -> ScoreContributions:
    """Split the scores of LightGBM's trees."""
    trees = checked_trees(beyond["lightgbm"], len(beyond["columns"]))
    columns = np.array([column_of[beyond["columns"][c]] for c in trees.columns], dtype=np.int64)
    values, constant = tree_contributions(trees, X[:, columns], source)
    order = np.argsort(columns)
    return ScoreContributions(tuple(columns[order].tolist()), values[:, order], constant)
