"""Where the rankings of a path's models stand among the different ones, and what is read off there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankstudio.engine.arrays import Floats
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.experiment.results.results import PathResult
from rankstudio.engine.metrics._distinct_kernel import Places
from rankstudio.engine.metrics.distinct_rankings import DistinctRankings
from rankstudio.engine.steps import Step

_VALUES = 1 << 23  # read off at a time: 64 MB


@dataclass(frozen=True, eq=False)
class RankedPath:
    """The rankings of a part by all whole steps of a path: where they stand among the different ones."""

    part: RankingDataset
    by_id: bool
    whole: NDArray[np.bool_]
    distinct: DistinctRankings
    places: Places


def together(ranked: Iterable[RankedPath]) -> Iterator[list[RankedPath]]:
    """Yield those whose rankings are kept in the same place, some at a time."""
    alike: list[RankedPath] = []
    values = 0
    for one in ranked:
        if alike and (one.distinct is not alike[0].distinct or values + one.places.size > _VALUES):
            yield alike
            alike, values = [], 0
        alike.append(one)
        values += one.places.size
    if alike:
        yield alike


def whole_steps(path: PathResult, part: RankingDataset) -> tuple[NDArray[np.bool_], Sequence[Step]]:
    """Return which steps of a path can score a part, and these."""
    whole = np.array([step.covers(part.X) for step in path.steps], dtype=np.bool_)
    return whole, path.steps if whole.all() else [
        path.steps[place] for place in np.flatnonzero(whole).tolist()
    ]


def spread(values: Floats, whole: NDArray[np.bool_]) -> Floats:
    """Return the values of whole steps, a row each, in their places; NaN in the others."""
    if whole.all():
        return values
    every = np.full((whole.size, *values.shape[1:]), np.nan)
    every[whole] = values
    return every
