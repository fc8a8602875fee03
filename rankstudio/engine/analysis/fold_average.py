"""Paths of several folds side by side: their mean, and how far they are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.experiment.results.results import PathResult


@dataclass(frozen=True, eq=False)
class FoldAverage:
    """A quantity along the paths of several folds.

    Attributes
    ----------
    mean : ndarray of shape (K,)
        Over the folds.
    low, high : ndarray of shape (K,)
        One standard deviation over the folds below and above; the mean where there is one fold.
    """

    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class PathAverage:
    """The paths that one combination has on several folds, averaged.

    Attributes
    ----------
    x_values : ndarray of shape (K,)
        Where on the axis the steps stand; K is the length of the shortest path.
    criterion : FoldAverage
        Per training document.
    validation : dict of str to FoldAverage
        By measure.
    """

    x_values: Ints
    criterion: FoldAverage
    validation: dict[str, FoldAverage]


def average_paths(paths: Sequence[PathResult]) -> PathAverage:
    """Average the paths of one combination over folds.

    Parameters
    ----------
    paths : sequence of PathResult
        At least one.
    """
    length = min(len(path.steps) for path in paths)
    names = [name for name in paths[0].validation if all(name in path.validation for path in paths)]
    return PathAverage(
        paths[0].x_values[:length],
        _across([path.criterion[:length] for path in paths]),
        {name: _across([path.validation[name][:length] for path in paths]) for name in names},
    )


def _across(rows: Sequence[Floats]) -> FoldAverage:
    values = np.array(rows)
    mean = values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) if len(rows) > 1 else np.zeros_like(mean)
    return FoldAverage(mean, mean - spread, mean + spread)
