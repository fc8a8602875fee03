"""Drift: how the features of two parts or datasets differ, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankstudio.engine.arrays import Floats, Ints
from rankstudio.engine.data.dataset import RankingDataset
from rankstudio.engine.errors import DatasetError
from rankstudio.engine.language import tr
from rankstudio.engine.metrics.conventions import DEFAULT
from rankstudio.engine.support.work import Waiting, WorkProgress

_AT_ONCE = 8  # features whose values of both datasets are in memory as columns


@dataclass(frozen=True)
class FeatureDrift:
    """How a feature differs between two datasets.

    Attributes
    ----------
    feature : int
        1-based id in the first dataset.
    name : str
    distance : float
        Kolmogorov-Smirnov distance of the values: the largest difference of their distribution functions.
    shift : float
        Difference of the means, in standard deviations of the first dataset; NaN if it is constant there.
    scale : float
        Ratio of the standard deviations; NaN if it is constant in the first dataset.
    constant : (float, float)
        Share of queries in which it is constant, in each dataset.
    correlation : (float, float)
        Kendall's τ_b of values and labels in each dataset, mean over the queries where it is defined.
    """

    feature: int
    name: str
    distance: float
    shift: float
    scale: float
    constant: tuple[float, float]
    correlation: tuple[float, float]


def feature_drift(
    first: RankingDataset, second: RankingDataset, convention: str = DEFAULT
) -> Waiting[tuple[FeatureDrift, ...]]:
    """Compare the features that two datasets share.

    Parameters
    ----------
    first, second : RankingDataset
        Features are matched by name if the names differ, otherwise by id.
    convention : str
        Convention of Kendall's τ.

    Returns
    -------
    tuple of FeatureDrift
        The largest distance first; ties go to the lowest id.

    Raises
    ------
    DatasetError
        If they share no feature.

    Notes
    -----
    O(n m log m) for n features and m documents.
    """
    pairs = _shared(first, second)
    measuring = [_Correlation(part, convention) for part in (first, second)]
    found: list[FeatureDrift] = []
    for start in range(0, len(pairs), _AT_ONCE):
        yield WorkProgress(tr("comparing features"), start / len(pairs))
        some = pairs[start : start + _AT_ONCE]
        values = [
            np.ascontiguousarray(part.X[:, list(columns)].T)
            for part, columns in zip((first, second), zip(*some, strict=True), strict=True)
        ]
        taus = [one.of(own) for one, own in zip(measuring, values, strict=True)]
        for at, (column, _) in enumerate(some):
            one, other = values[0][at], values[1][at]
            deviation = float(one.std())
            known = deviation > 0
            found.append(
                FeatureDrift(
                    int(first.feature_ids[column]),
                    first.feature_names[column],
                    distribution_distance(one, other),
                    float(other.mean() - one.mean()) / deviation if known else float("nan"),
                    float(other.std()) / deviation if known else float("nan"),
                    (_constant(one, first.query_ptr), _constant(other, second.query_ptr)),
                    (float(taus[0][at]), float(taus[1][at])),
                )
            )
    return tuple(sorted(found, key=lambda one: (-one.distance, one.feature)))


def distribution_distance(first: Floats, second: Floats) -> float:
    """Return the Kolmogorov-Smirnov distance of two samples."""
    one, other = np.sort(first), np.sort(second)
    every = np.concatenate((one, other))
    below = [np.searchsorted(sample, every, side="right") / sample.size for sample in (one, other)]
    return float(np.abs(below[0] - below[1]).max())


class _Correlation:
    """Kendall's τ_b of features and labels of a dataset."""

    def __init__(self, data: RankingDataset, convention: str) -> None:
        from rankstudio.engine.metrics.evaluator import Evaluator  # noqa: PLC0415 - numba

        self._evaluator = Evaluator(data.y, data.query_ptr, convention, ("Tau",), grading=data.grading)

    def of(self, columns: Floats) -> Floats:
        """Return the means over queries of features (c, m), shape (c,); NaN if no query has one."""
        return self._evaluator.evaluate_many(columns)["Tau"]


def _constant(values: Floats, query_ptr: Ints) -> float:
    starts = query_ptr[:-1]
    same = np.maximum.reduceat(values, starts) == np.minimum.reduceat(values, starts)
    return float(same.mean())


def _shared(first: RankingDataset, second: RankingDataset) -> Sequence[tuple[int, int]]:
    """Return the columns of the features that both have."""
    by_id = {int(i): column for column, i in enumerate(second.feature_ids)}
    pairs = [(at, by_id[int(i)]) for at, i in enumerate(first.feature_ids) if int(i) in by_id]
    if not pairs or any(first.feature_names[one] != second.feature_names[other] for one, other in pairs):
        by_name = {name: column for column, name in enumerate(second.feature_names)}
        named = [(at, by_name[name]) for at, name in enumerate(first.feature_names) if name in by_name]
        pairs = named or pairs
    if not pairs:
        raise DatasetError(tr("The two datasets share no feature, by id or by name."))
    return pairs
