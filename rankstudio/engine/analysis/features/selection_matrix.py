"""Features against the folds of several runs: where each was selected, and as which one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.results.results import FoldResult


def selection_matrix(folds: Sequence[FoldResult], feature_ids: Ints) -> Floats:
    """Return as which one each fold's chosen model selected each feature.

    Parameters
    ----------
    folds : sequence of FoldResult
        F of them, of one run after the other.
    feature_ids : ndarray of shape (n,)
        1-based ids of the dataset's columns.

    Returns
    -------
    ndarray of shape (n, F)
        Ranks from 1; NaN where a model does not have the feature.
    """
    columns = {int(i): column for column, i in enumerate(feature_ids)}
    ranks = np.full((len(columns), len(folds)), np.nan)
    for place, fold in enumerate(folds):
        for rank, feature in enumerate(fold.selected, start=1):
            ranks[columns[feature], place] = rank
    return ranks
